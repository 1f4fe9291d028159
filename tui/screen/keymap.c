#include "tui/screen/keymap.h"

#include <string.h>
#include <utf8proc.h>

#include "engine/base/append.h"
#include "engine/base/utf8.h"
#include "tui/base/bundled.h"
#include "tui/base/nearest.h"
#include "tui/base/options.h"
#include "tui/screen/wrap.h"

enum {
    CHAT = 1 << VD_PLACE_CHAT,
    DETAIL = 1 << VD_PLACE_DETAIL,
    COMPARE = 1 << VD_PLACE_COMPARE,
    WALK = 1 << VD_PLACE_WALK,
    CAPTION = 1 << VD_PLACE_CAPTION,
    ANSWERS = 1 << VD_PLACE_ANSWERS,
    PICTURES = 1 << VD_PLACE_PICTURES,
    HELP = 1 << VD_PLACE_HELP,
    SESSIONS = 1 << VD_PLACE_SESSIONS,
    LISTS = ANSWERS | PICTURES | SESSIONS,
    ASKING = CHAT | 1 << VD_PLACE_ZOOM | DETAIL | COMPARE | WALK | CAPTION,
    LINE = ASKING | LISTS,
    TALK = LINE | HELP,
    // The cases of a comparison: where the list is, where a case fills the screen, where one is.
    CASES = 1 << VD_PLACE_CASES | 1 << VD_PLACE_CASES_AND_CASE,
    MAPS = 1 << VD_PLACE_CASE_MAPS,
    INSIDE = 1 << VD_PLACE_CASE | MAPS | 1 << VD_PLACE_CASE_PICTURE,
    CASE = INSIDE | 1 << VD_PLACE_CASES_AND_CASE,
    COMPARISON = CASES | INSIDE,
    FIND = 1 << VD_PLACE_CASES_FIND,
    RUN = 1 << VD_PLACE_RUN,
    CURVES = 1 << VD_PLACE_CURVES,
    LOOKING = COMPARISON | CURVES | RUN, // nothing is typed there, but for
    SLASH = 1 << VD_PLACE_COMMAND,       // a command
    TYPED = LINE | FIND | SLASH,
    EVERYWHERE = TALK | LOOKING | FIND | SLASH
};

// KEYS: places, action, keys, meaning, hint. EMPTY: while the line is empty. BOTH: keys and a
// command with its argument, COMMAND: no keys. A command works in the screens of its places.
#define BINDING(where, what, ...)                                                                  \
    {                                                                                              \
        .places = (where), .action = VD_ACTION_##what, __VA_ARGS__                                 \
    }
#define KEYS(where, what, k, m, h) BINDING(where, what, .keys = (k), .meaning = (m), .hint = (h))
#define EMPTY(where, what, k, m, h)                                                                \
    BINDING(where, what, .empty = true, .keys = (k), .meaning = (m), .hint = (h))
#define EMPTY_BOTH(where, what, k, c, m, h)                                                        \
    BINDING(where, what, .empty = true, .keys = (k), .command = (c), .meaning = (m), .hint = (h))
#define BOTH(where, what, k, c, a, m, h)                                                           \
    BINDING(where, what, .keys = (k), .command = (c), .argument = (a), .meaning = (m), .hint = (h))
#define COMMAND(where, what, c, a, m)                                                              \
    BINDING(where, what, .command = (c), .argument = (a), .meaning = (m))
#define COLORS "colours: auto, light, dark, mono or safe (for colour-blind users)"

// The first binding of a key for a place counts. A name in small letters in `keys` ("click") is
// only shown, not looked up: views know what lies where the mouse is.
static const vd_binding table[] = {
    EMPTY(WALK, PICK, "Enter",
          "empty line: the next stage; at a what-if: leave out or restore this", NULL),
    EMPTY(CAPTION, PICK, "Enter",
          "empty line: use this word instead, or leave out or restore this region",
          "Enter what-if"),
    EMPTY_BOTH(CAPTION, PLAY, "Space", "/play",
               "play the caption word by word, or pause; at its end from the start", "Space plays"),
    EMPTY(CAPTION, SWITCH_MODEL, "Tab",
          "empty line: the other caption, where there are two: its words can be changed", NULL),
    KEYS(CAPTION, SWITCH_MODEL, "F3, click", "the other caption, where there are two", NULL),
    EMPTY(WALK, COMPLETE, "Tab", "empty line: a question from the data", NULL),
    KEYS(ASKING, ASK, "Enter", "ask; run a /command", NULL),
    KEYS(ASKING, COMPLETE, "Tab",
         "complete a question, its last word or a /command; empty line: a question from the data",
         "Tab suggests"),
    KEYS(SLASH, ASK, "Enter", "run the command", NULL),
    KEYS(SLASH, COMPLETE, "Tab", "complete the command", NULL),
    KEYS(SLASH, BACK, "Esc, Ctrl-C", "run nothing", NULL),
    BOTH(CURVES, LEAVE, "q, Esc, Ctrl-C, Ctrl-D", "/quit", NULL, "leave", "q leaves"),
    BOTH(RUN, LEAVE, "q, Ctrl-C, Ctrl-D", "/quit", NULL,
         "stop the run after this step, with a checkpoint", "q saves and stops"),
    BOTH(ASKING | LOOKING, HELP, "F1, ?", "/help", NULL, "the keys that work here", "F1 help"),
    KEYS(FIND, LEAVE, "Ctrl-C", "leave", NULL),
    KEYS(LISTS | HELP | FIND | SLASH, HELP, "F1", "the keys that work here", "F1 help"),
    BOTH((LINE & ~CHAT) | INSIDE, BACK, "Esc", "/back", NULL, "back to where you were", "Esc back"),
    KEYS(HELP, BACK, "Esc, q, ?, Enter", "back to where you were", "Esc back"),
    BOTH(COMPARISON, LEAVE, "q, Ctrl-C, Ctrl-D", "/quit", NULL, "leave", "q leaves"),
    KEYS(ANSWERS, PICK, "Enter", "continue with this answer", "Enter takes it"),
    KEYS(PICTURES, PICK, "Enter", "go to this picture", "Enter goes there"),
    KEYS(SESSIONS, PICK, "Enter", "continue this session", "Enter continues it"),
    KEYS(FIND, PICK, "Enter", "only these cases", "Enter takes them"),
    KEYS(CASES, BACK, "Esc", "show all cases", NULL),
    KEYS(FIND, BACK, "Esc", "clear the search", NULL),
    BOTH(CASES, PICK, "Enter, click", "/pick", NULL, "the case in full screen", "Enter case"),
    KEYS(INSIDE, PICK, "Enter", "back to the list", NULL),
    KEYS(LISTS | FIND, LINE_UP, "Up", "the entry above", NULL),
    KEYS(LISTS | FIND, LINE_DOWN, "Down", "the entry below", NULL),
    EMPTY(WALK, LEFT, "Left", "the previous stage", NULL),
    EMPTY(WALK, RIGHT, "Right", "the next stage; the what-ifs come last", "Left/Right stage"),
    EMPTY(WALK, LINE_UP, "Up", "what-if: the entry above; else scroll", NULL),
    EMPTY(WALK, LINE_DOWN, "Down", "what-if: the entry below; else scroll", "Up/Down scroll"),
    EMPTY(WALK, SCROLL_TOP, "Home", "scroll to the start of the stage", NULL),
    EMPTY(WALK, SCROLL_BOTTOM, "End", "scroll to the end of the stage", NULL),
    EMPTY(WALK, PICK, "Space", "what-if: leave out or restore this; else go to the what-ifs",
          "Space what-if"),
    EMPTY(CAPTION, ALL_BACK, "Del", "what-if: restore everything", NULL),
    EMPTY_BOTH(WALK, ALL_BACK, "Del", "/all-back", "what-if: restore everything", "Del reset"),
    EMPTY(CAPTION, LEFT, "Left", "the previous word", NULL),
    EMPTY(CAPTION, RIGHT, "Right, click",
          "the next word: its regions, and the words it could have been", "Left/Right word"),
    EMPTY(CAPTION, FIRST, "Home", "the first word", NULL),
    EMPTY(CAPTION, LAST, "End", "the end of the caption", NULL),
    COMMAND(LINE, WORD, "/word", "N", "word N of the caption word by word"),
    EMPTY(CAPTION, LINE_UP, "Up", "the line above: words, regions, history", NULL),
    EMPTY(CAPTION, LINE_DOWN, "Down", "the line below", NULL),
    EMPTY(DETAIL | MAPS, LEFT, "Left", "the previous word", NULL),
    EMPTY(DETAIL | MAPS, RIGHT, "Right",
          "the next word of the question, and its attention over the history", "Left/Right word"),
    EMPTY(COMPARE, LEFT, "Left", "the previous model", NULL),
    EMPTY(COMPARE, RIGHT, "Right, click", "the next model: whose answers F4 and F5 show",
          "Left/Right model"),
    BOTH(COMPARE, FOLLOW, "Alt-h", "/history", "WHOSE",
         "the answers this model's conversation continues from: shared, own, those in the data",
         "Alt-h history"),
    BOTH(CAPTION, LAYER, "Alt-l", "/layer", "N", "attention of the next layer, or layer N",
         "Alt-l layer"),
    BOTH(CAPTION, HEAD, "Alt-h", "/head", "N",
         "attention of the next head, or head N; after the last, the mean", "Alt-h head"),
    BOTH(CAPTION, READ, "Alt-t", "/read", "TEXT|off",
         "the captioner reads the dialog's caption, or TEXT, word by word; again: off",
         "Alt-t read"),
    BOTH(MAPS, LINE_DOWN, "Down, WheelDown", "/line-down", NULL, "scroll down", "Up/Down scroll"),
    BOTH(MAPS, LINE_UP, "Up, WheelUp", "/line-up", NULL, "scroll up", NULL),
    BOTH(COMPARISON, NEXT_CASE, "n, j, Down, WheelDown", "/next", NULL, "the next case", "n next"),
    BOTH(COMPARISON, PREVIOUS_CASE, "p, k, Up, WheelUp", "/prev", NULL, "the previous case", NULL),
    BOTH(COMPARISON, SCROLL_DOWN, "PgDn", "/down", NULL, "a page down", NULL),
    BOTH(COMPARISON, SCROLL_UP, "PgUp", "/up", NULL, "a page up", NULL),
    BOTH(COMPARISON, SCROLL_TOP, "Home", "/top", NULL, "to the start", NULL),
    BOTH(COMPARISON, SCROLL_BOTTOM, "End", "/bottom", NULL, "to the end", NULL),
    BOTH(CASE, SWITCH_MODEL, "Tab, click", "/switch", NULL, "the next model: its regions, its page",
         "Tab model"),
    BOTH(COMPARISON, DETAIL, "a, F5", "/attention", NULL, "attention word by word, and back",
         "a attention"),
    BOTH(COMPARISON, ZOOM, "z, F2", "/zoom", NULL, "picture full screen and back", "z picture"),
    BOTH(COMPARISON, GROUP, "1..4, click", "/group", "N", "hide or show a group of cases",
         "1-4 groups"),
    BOTH(COMPARISON, SEARCH, "s, Ctrl-S", "/find", "TEXT",
         "only cases that contain a text, or of one picture (its id)", "s find"),
    BOTH(COMPARISON, FAMILY, "f", "/family", NULL, "only the next family of questions", "f family"),
    BOTH(COMPARISON, ORDER, "o", "/order", NULL,
         "order by how far the models differ, or by picture and round", "o order"),
    BOTH(COMPARISON, JUDGE, "r", "/judge", NULL,
         "what counts as right: the human answer, or relevance 1", NULL),
    KEYS(LOOKING, COMMAND, "/", "type a /command; Tab completes it", "/ commands"),
    BOTH(COMPARISON, NEXT_THEME, "t", "/colours", NULL, "the next theme", NULL),
    COMMAND(TALK | LOOKING, THEME, "/theme", "NAME", COLORS),
    BOTH(LINE, ZOOM, "F2, click", "/zoom", NULL, "picture full screen and back", "F2 zoom"),
    BOTH(LINE, OUTLINES, "Alt-o", "/outlines", NULL, "outlines of the regions on and off", NULL),
    BOTH(LINE, SWITCH_MODEL, "F3", "/switch", NULL,
         "the next model (" VD_MODEL_NAMES
         "), which answers the last question again; side by side: "
         "the other model's conversation",
         "F3 model"),
    COMMAND(LINE, MODEL, "/model", "NAME",
            VD_MODEL_NAMES " or a model file; the conversation stays"),
    BOTH(LINE, ANSWERS, "F4", "/answers", NULL, "the whole pool, ranked; type to filter",
         "F4 answers"),
    BOTH(LINE, FOLD, "Alt-a", "/fold", "on|off",
         "group answers with the same meaning (yes, yes it is), or list each", NULL),
    BOTH(LINE, DETAIL, "F5", "/attention", NULL,
         "attention word by word: history words, regions, question words", "F5 attention"),
    BOTH(LINE, COMPARE, "F10, Alt-c", "/compare", "MODEL|off",
         "models side by side, and back; MODEL: add a model; off: stop comparing", "F10 compare"),
    BOTH(LINE, AGAIN, "F6", "/again", NULL, "ask the last question again (with this model)", NULL),
    BOTH(LINE, NEXT_PICTURE, "F8, Alt-Right", "/next", NULL, "next picture", "F8 next"),
    BOTH(LINE, PREVIOUS_PICTURE, "F7, Alt-Left", "/prev", NULL, "previous picture", NULL),
    BOTH(LINE, WALK, "F12, Alt-w", "/walk", NULL,
         "a walk through the answer, stage by stage; what if", "F12 walk"),
    COMMAND(LINE, WHAT_IF, "/what-if", "CHANGE",
            "leave out: caption, round N, region N (or click it), word N, word N=OTHER, attention "
            "N, positions, picture; of a caption: region N, word N=OTHER, history"),
    BOTH(LINE, RANDOM_PICTURE, "F9", "/random", NULL, "a random picture", NULL),
    BOTH(LINE, PICTURES, "Alt-p", "/pictures", "TEXT", "find a picture by caption, id or content",
         "Alt-p find"),
    COMMAND(LINE, OPEN, "/open", "FILE", "open your own picture, or a folder; or drag it here"),
    BOTH(LINE, NEW_PICTURE, "Alt-g", "/new-picture", "SEED", "make a new picture", NULL),
    COMMAND(LINE, CAPTION, "/caption", "TEXT",
            "another caption for your own picture: next, edit or your words; all questions are "
            "asked again"),
    BOTH(LINE, WORDS, "F11, Alt-v", "/words", NULL,
         "the caption word by word, with the regions of each word; what if", "F11 words"),
    COMMAND(LINE, CAPTIONER, "/captioner", "FILE|off", "show a second captioner beside the first"),
    COMMAND(LINE, PICTURE, "/picture", "ID or #N", "a picture by its image id or by its number"),
    COMMAND(
        LINE, SAVE, "/save", "NAME",
        "name this session; if it has a name, a copy of it gets the new one; FILE.png: save the "
        "picture"),
    COMMAND(LINE, LOAD, "/load", "NAME",
            "continue the session with this name; without NAME: choose one"),
    BOTH(LINE, SESSIONS, "Alt-s", "/sessions", NULL, "list the sessions; continue one", NULL),
    COMMAND(LINE, NEW, "/new", NULL, "start over with this picture; Alt-u undoes it"),
    BOTH(LINE, OLDER_ROUND, "Alt-Up", "/older", NULL,
         "look at an earlier round: its ranking and attention", "Alt-Up/Down round"),
    BOTH(LINE, NEWER_ROUND, "Alt-Down", "/newer", NULL, "look at a later round", NULL),
    COMMAND(LINE, ROUND, "/round", "N", "look at round N"),
    BOTH(ASKING, CHOOSE_ANSWER, "Alt-1..9, click", "/choose", "N",
         "continue with the answer at rank N", "Alt-1..9 choose"),
    BOTH(ASKING, UNDO, "Alt-u", "/undo", NULL, "undo the last round, or /new", NULL),
    BOTH(ASKING, REDO, "Alt-r", "/redo", NULL, "redo the round that was undone", NULL),
    BOTH(ASKING, EDIT_ROUND, "Alt-e", "/edit", NULL,
         "edit the selected round's question; all later ones are asked again", "Alt-e edit"),
    BOTH(ASKING, NEXT_BRANCH, "Alt-n", "/next-branch", NULL,
         "the next branch of the conversation (made by /branch)", NULL),
    COMMAND(LINE, BRANCH, "/branch", "N",
            "start a new branch after the selected round; N: go to branch N"),
    KEYS(CHAT, BACK, "Esc", "cancel the edit, or reading a picture; back to the last round", NULL),
    BOTH(TALK | FIND, SCROLL_UP, "PgUp, WheelUp", "/up", NULL, "scroll up", NULL),
    BOTH(TALK | FIND, SCROLL_DOWN, "PgDn, WheelDown", "/down", NULL, "scroll down",
         "PgUp/PgDn scroll"),
    KEYS(HELP, SCROLL_TOP, "Home", "scroll to the start", NULL),
    KEYS(HELP, SCROLL_BOTTOM, "End", "scroll to the end", NULL),
    KEYS(HELP, LINE_UP, "Up", "scroll up by a line", NULL),
    KEYS(HELP, LINE_DOWN, "Down", "scroll down by a line", NULL),
    BOTH(TALK, SCROLL_TOP, "Ctrl-Home", "/top", NULL, "scroll to the start", NULL),
    BOTH(TALK, SCROLL_BOTTOM, "Ctrl-End", "/bottom", NULL, "scroll to the end", NULL),
    COMMAND(LINE, LINE_UP, "/line-up", NULL, "the what-if above; else scroll up by a line"),
    COMMAND(LINE, LINE_DOWN, "/line-down", NULL, "the what-if below; else scroll down by a line"),
    COMMAND(LINE | COMPARISON, LEFT, "/left", NULL, "the previous stage, word or model"),
    COMMAND(LINE | COMPARISON, RIGHT, "/right", NULL, "the next stage, word or model"),
    COMMAND(LINE, PICK, "/pick", NULL, "what-if: leave out or restore this; else the next stage"),
    COMMAND(LINE, COMPLETE, "/suggest", NULL, "a question from the data about this picture"),
    BOTH(ASKING, SEARCH, "Ctrl-S", "/find", "TEXT",
         "search the dialog for the typed text (or the last search)", NULL),
    BOTH(TALK, STOP, "Ctrl-C", "/stop", NULL,
         "stop a running answer, or reading a picture; else clear the line", NULL),
    COMMAND(LINE | COMPARISON, PICTURE_MODE, "/picture-mode", "MODE",
            "how to draw the picture: auto, kitty, sixel, iterm, cells or none"),
    COMMAND(LINE, COPY, "/copy", "WHAT",
            "copy the answer, the round or the conversation to the terminal's clipboard"),
    COMMAND(LINE, EXPORT, "/export", "FORMAT FILE",
            "write the conversation as html, md or json (VisDial); add --force to overwrite"),
    COMMAND(LINE | COMPARISON, MOUSE, "/mouse", "on|off",
            "use the mouse here or leave it to the terminal"),
    BINDING(TALK | FIND, LEAVE, .empty = true, .keys = "Ctrl-D", .command = "/quit",
            .meaning = "leave (Ctrl-D: on an empty line)", .hint = "Ctrl-D leaves"),
    BOTH(EVERYWHERE, REDRAW, "Ctrl-L", "/redraw", NULL, "draw the screen again", NULL),
    BOTH(EVERYWHERE, SUSPEND, "Ctrl-Z", "/suspend", NULL, "back to the shell; `fg` returns", NULL),
    // ---- the line ----
    KEYS(TYPED, EDIT_START, "Ctrl-A, Home", "start of the line", NULL),
    KEYS(TYPED, EDIT_END, "Ctrl-E, End", "end of the line", NULL),
    KEYS(TYPED, EDIT_LEFT, "Ctrl-B, Left", "a character to the left", NULL),
    KEYS(TYPED, EDIT_RIGHT, "Ctrl-F, Right", "a character to the right", NULL),
    KEYS(TYPED, EDIT_WORD_LEFT, "Alt-b, Ctrl-Left", "a word to the left", NULL),
    KEYS(TYPED, EDIT_WORD_RIGHT, "Alt-f, Ctrl-Right", "a word to the right", NULL),
    KEYS(TYPED, EDIT_BACKSPACE, "Backspace, Ctrl-H", "delete to the left", NULL),
    KEYS(TYPED, EDIT_DELETE, "Del, Ctrl-D", "delete under the cursor", NULL),
    KEYS(TYPED, EDIT_KILL_END, "Ctrl-K", "cut to the end", NULL),
    KEYS(TYPED, EDIT_KILL_START, "Ctrl-U", "cut to the start", NULL),
    KEYS(TYPED, EDIT_KILL_WORD, "Ctrl-W, Alt-Backspace", "cut the word to the left", NULL),
    KEYS(TYPED, EDIT_KILL_WORD_RIGHT, "Alt-d", "cut the word to the right", NULL),
    KEYS(TYPED, EDIT_YANK, "Ctrl-Y", "put back what was cut", NULL),
    KEYS(TYPED, EDIT_SWAP, "Ctrl-T", "swap two characters", NULL),
    KEYS(ASKING | SLASH, EDIT_OLDER, "Up, Ctrl-P", "an earlier question or command", NULL),
    KEYS(ASKING | SLASH, EDIT_NEWER, "Down, Ctrl-N", "a later one", NULL),
    KEYS(ASKING, EDIT_SEARCH, "Ctrl-R", "search earlier questions as you type", NULL),
};
enum { BINDINGS = sizeof table / sizeof *table };

const char *vd_keymap_title(vd_place place)
{
    static const char *const titles[VD_ALL_PLACES] = {
#define X(name, view, title) [VD_PLACE_##name] = (title),
        VD_PLACE_LIST(X)
#undef X
            [VD_PLACE_CASES] = "Keys in the list",
        [VD_PLACE_CASES_AND_CASE] = "Keys in the list and the case",
        [VD_PLACE_CASE] = "Keys in the case",
        [VD_PLACE_CASE_MAPS] = "Keys in the attentions",
        [VD_PLACE_CASE_PICTURE] = "Keys in the picture",
        [VD_PLACE_CASES_FIND] = "Keys while cases are searched",
        [VD_PLACE_CURVES] = "Keys of the curves",
        [VD_PLACE_RUN] = "Keys while a run is watched",
        [VD_PLACE_COMMAND] = "Keys while a command is typed"};
    return titles[place];
}

// ---- keys --------------------------------------------------------------------------------------

static const vd_rebinding *rebound; // (rebound_count) what the person wants instead, borrowed
static int rebound_count;

void vd_keymap_rebind(const vd_rebinding *rebindings, int count)
{
    rebound = rebindings;
    rebound_count = count;
}

// The keys of a binding in a place as a list "F10, Alt-c"; "": it has none there.
static const char *keys_of(const vd_binding *b, vd_place place)
{
    return b->keys && b->places >> place & 1 ? b->keys : "";
}

// "Alt-1..9" holds "Alt-1" to "Alt-9".
static bool holds(const char *name, size_t length, const char *key)
{
    size_t own = strlen(key);
    if (length < 4 || length != own + 3 || name[own] != '.')
        return length == own && memcmp(name, key, own) == 0;
    return memcmp(name, key, own - 1) == 0 && key[own - 1] >= name[own - 1] &&
           key[own - 1] <= name[length - 1];
}

// What a person made of a key; NULL: nothing.
static const vd_rebinding *rebinding_of(vd_key key)
{
    for (int i = 0; i < rebound_count; i++)
        if (rebound[i].key.code == key.code && rebound[i].key.modifiers == key.modifiers)
            return &rebound[i];
    return NULL;
}

// The places of the screen that one is of: its commands are the same in all of them.
static uint32_t screen_of(vd_place place)
{
    uint32_t own = 1u << place;
    return own & TALK ? TALK : own & (COMPARISON | FIND) ? COMPARISON : own;
}

// The row of the /command that a line begins with, in these places; NULL: none has this name.
static const vd_binding *command_of(uint32_t places, const char *line)
{
    size_t length = strcspn(line, " ");
    for (const vd_binding *b = table; b < table + BINDINGS; b++)
        if (b->command && b->places & places && strlen(b->command) == length &&
            memcmp(b->command, line, length) == 0)
            return b;
    return NULL;
}

// As the table has it.
static const vd_binding *first_binding(vd_place place, vd_key key, bool line_empty)
{
    char wanted[24];
    vd_key_name(key, wanted, sizeof wanted);
    for (const vd_binding *b = table; b < table + BINDINGS; b++) {
        const char *at = line_empty || !b->empty ? keys_of(b, place) : "", *name;
        size_t length;
        while ((name = vd_choice_next(&at, &length)) != NULL)
            if (holds(name, length, wanted))
                return b;
    }
    return NULL;
}

static const vd_binding *binding_of(vd_place place, vd_key key, bool line_empty)
{
    if (vd_key_is_typed(key) && !line_empty)
        return NULL;
    const vd_rebinding *mine = rebinding_of(key);
    if (!mine)
        return first_binding(place, key, line_empty);
    if (!mine->line[0])
        return mine->as.code == VD_KEY_NONE ? NULL : first_binding(place, mine->as, line_empty);
    if (strchr(mine->line, ' ')) // shown as it is (help_of_lines)
        return NULL;
    const vd_binding *command = command_of(screen_of(place), mine->line);
    for (const vd_binding *b = table; command && b < table + BINDINGS; b++)
        if (b->action == command->action && b->places >> place & 1)
            return b;
    return NULL;
}

vd_action vd_keymap_action(vd_place place, vd_key key, bool line_empty)
{
    const vd_binding *binding = binding_of(place, key, line_empty);
    return binding ? binding->action : VD_ACTION_NONE;
}

const char *vd_keymap_line(vd_place place, vd_key key)
{
    const vd_rebinding *mine = place != VD_PLACE_HELP ? rebinding_of(key) : NULL;
    bool runs = mine && mine->line[0] && command_of(screen_of(place), mine->line);
    return runs ? mine->line : NULL;
}

const char *vd_keymap_says(vd_key key, char text[2])
{
    const vd_rebinding *mine = rebinding_of(key);
    if (mine && mine->as.code != VD_KEY_NONE)
        key = mine->as;
    if (key.code == VD_KEY_WHEEL_UP || key.code == VD_KEY_WHEEL_DOWN)
        return "3";
    bool said = key.code == ' ' || (key.code >= '1' && key.code <= '9');
    text[0] = said ? (char)key.code : '\0';
    text[1] = '\0';
    return text;
}

// The key of a name in a list, the first of "Alt-1..9"; VD_KEY_NONE: "click" is none.
static vd_key key_of(const char *name, size_t length)
{
    char text[24];
    vd_key key;
    bool range = length > 3 && memcmp(name + length - 3, "..", 2) == 0;
    snprintf(text, sizeof text, "%.*s", (int)(range ? length - 3 : length), name);
    if (!vd_key_parse(text, &key))
        key.code = VD_KEY_NONE;
    return key;
}

// Whether a name of a binding's list means it somewhere: no binding before it takes the key.
static bool is_in_use(const vd_binding *b, vd_place place, const char *name, size_t length)
{
    vd_key key = key_of(name, length);
    return key.code == VD_KEY_NONE || binding_of(place, key, true) == b ||
           binding_of(place, key, false) == b;
}

// ---- their texts -------------------------------------------------------------------------------

static void add_name(char *out, size_t size, const char *name, size_t length)
{
    vd_append(out, size, "%s%.*s", *out ? ", " : "", (int)length, name);
}

// The keys of a binding that mean it in a place, "" when there are none.
static void keys_in_use(const vd_binding *b, vd_place place, char *out, size_t size)
{
    const char *at = keys_of(b, place), *name;
    size_t length;
    bool any = false;
    out[0] = '\0';
    while ((name = vd_choice_next(&at, &length)) != NULL) {
        if (!is_in_use(b, place, name, length))
            continue;
        any |= key_of(name, length).code != VD_KEY_NONE;
        add_name(out, size, name, length);
    }
    for (int i = 0; i < rebound_count; i++) {
        if (binding_of(place, rebound[i].key, true) != b &&
            binding_of(place, rebound[i].key, false) != b)
            continue;
        char mine[24];
        vd_key_name(rebound[i].key, mine, sizeof mine);
        add_name(out, size, mine, strlen(mine));
        any = true;
    }
    if (!any)
        out[0] = '\0';
}

// The keys that run a /command with something after it, or one that has no keys of its own here.
static bool help_of_lines(vd_place place, size_t index, char *keys, size_t size,
                          const char **meaning)
{
    for (int i = 0; i < rebound_count; i++) {
        if (!vd_keymap_line(place, rebound[i].key) || binding_of(place, rebound[i].key, true) ||
            index-- > 0)
            continue;
        vd_key_name(rebound[i].key, keys, size);
        *meaning = rebound[i].line;
        return true;
    }
    return false;
}

bool vd_keymap_help(vd_place place, size_t index, char *keys, size_t keys_size,
                    const char **meaning)
{
    for (const vd_binding *b = table; b < table + BINDINGS; b++) {
        keys_in_use(b, place, keys, keys_size);
        if (!keys[0] || index-- > 0)
            continue;
        *meaning = b->meaning;
        return true;
    }
    return help_of_lines(place, index, keys, keys_size, meaning);
}

void vd_keymap_where(vd_place place, vd_action action, char *out, size_t size)
{
    uint32_t screen = screen_of(place), places = 0;
    screen &= screen & ASKING ? ASKING : screen;
    for (const vd_binding *b = table; b < table + BINDINGS; b++)
        places |= b->action == action && b->keys ? b->places & screen : 0;
    out[0] = '\0';
    for (; places; places &= places - 1)
        vd_append(out, size, "%s%s", *out ? " or " : "",
                  vd_keymap_title((vd_place)__builtin_ctz(places)) + strlen("Keys "));
}

const vd_binding *vd_keymap_command(vd_place place, size_t index)
{
    uint32_t screen = screen_of(place);
    const vd_binding *found = NULL, *next;
    for (size_t i = 0; i <= index; i++, found = next) {
        next = NULL;
        for (const vd_binding *b = table; b < table + BINDINGS; b++)
            if (b->command && b->places & screen &&
                (!found || strcmp(b->command, found->command) > 0) &&
                (!next || strcmp(b->command, next->command) < 0))
                next = b;
        if (!next)
            return NULL;
    }
    return found;
}

// The key that a hint is about: the first one of its binding.
static vd_key hinted_key(const vd_binding *b)
{
    const char *at = b->keys;
    size_t length;
    const char *name = vd_choice_next(&at, &length);
    return key_of(name, length);
}

// The next binding at or after `b` whose hint is shown and fits `width` columns, NULL at the end.
static const vd_binding *next_hint(const vd_binding *b, vd_place place, int width)
{
    for (; b < table + BINDINGS; b++)
        if (b->hint && vd_text_width(b->hint, strlen(b->hint)) <= width &&
            binding_of(place, hinted_key(b), true) == b)
            return b;
    return NULL;
}

enum { BETWEEN = 2 }; // columns between two hints

void vd_keymap_hints(vd_place place, int width, char *out, size_t size)
{
    out[0] = '\0';
    for (const vd_binding *b = table; (b = next_hint(b, place, width)) != NULL; b++) {
        if (strlen(out) + strlen(b->hint) + BETWEEN >= size)
            continue;
        vd_append(out, size, "%*s%s", *out ? BETWEEN : 0, "", b->hint);
        width -= vd_text_width(b->hint, strlen(b->hint)) + BETWEEN;
    }
}

vd_key vd_keymap_hint_key(vd_place place, int width, int column)
{
    int x = 0;
    for (const vd_binding *b = table; (b = next_hint(b, place, width - x)) != NULL; b++) {
        int end = x + vd_text_width(b->hint, strlen(b->hint));
        if (column >= x && column < end)
            return hinted_key(b);
        x = end + BETWEEN;
    }
    return (vd_key){.code = VD_KEY_NONE};
}

// ---- names -------------------------------------------------------------------------------------

static const struct {
    uint32_t code;
    const char *name;
} names[] = {
#define X(key, name) {VD_KEY_##key, name},
    VD_KEY_LIST(X)
#undef X
        {' ', "Space"},
};

void vd_key_name(vd_key key, char *out, size_t size)
{
    char name[16] = "none";
    if (key.code > VD_KEY_F0 && key.code <= VD_KEY_F0 + 63)
        snprintf(name, sizeof name, "F%d", (int)(key.code - VD_KEY_F0));
    else if (key.code < VD_KEY_NONE && key.code > ' ')
        name[utf8proc_encode_char((utf8proc_int32_t)key.code, (utf8proc_uint8_t *)name)] = '\0';
    else
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (names[i].code == key.code)
                snprintf(name, sizeof name, "%s", names[i].name);
    if (key.modifiers & VD_CTRL && key.code >= 'a' && key.code <= 'z')
        name[0] = (char)(name[0] - 'a' + 'A'); // as it stands on the keyboard
    snprintf(out, size, "%s%s%s%s", key.modifiers & VD_CTRL ? "Ctrl-" : "",
             key.modifiers & VD_ALT ? "Alt-" : "", key.modifiers & VD_SHIFT ? "Shift-" : "", name);
}

bool vd_key_parse(const char *name, vd_key *out)
{
    static const struct {
        const char *prefix;
        uint8_t bit;
    } prefixes[] = {{"Ctrl-", VD_CTRL}, {"Alt-", VD_ALT}, {"Shift-", VD_SHIFT},
                    {"C-", VD_CTRL},    {"M-", VD_ALT},   {"S-", VD_SHIFT}};
    *out = (vd_key){.code = VD_KEY_NONE};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i].prefix);
        if (strncmp(name, prefixes[i].prefix, length) == 0 && name[length]) {
            out->modifiers |= prefixes[i].bit;
            name += length;
            i = (size_t)-1; // there may be more
        }
    }
    bool upper = out->modifiers & VD_CTRL && name[0] >= 'A' && name[0] <= 'Z' && !name[1];
    if (upper) {
        out->code = (uint32_t)(name[0] - 'A' + 'a');
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, name))
            out->code = names[i].code;
    if (out->code != VD_KEY_NONE)
        return true;
    if (name[0] == 'F' && name[1] >= '1' && name[1] <= '9') {
        char *end;
        long number = strtol(name + 1, &end, 10);
        if (*end != '\0' || number > 63)
            return false;
        out->code = (uint32_t)(VD_KEY_F0 + number);
        return true;
    }
    size_t used;
    int32_t code = vd_utf8_next(name, strlen(name), &used);
    if (code < ' ' || name[used] != '\0')
        return false;
    out->code = (uint32_t)code;
    return true;
}

// ---- rebinding ---------------------------------------------------------------------------------

static vd_status refuse_command(const char *line, size_t length, vd_error *err)
{
    char typed[32];
    snprintf(typed, sizeof typed, "%.*s", (int)(length < 30 ? length : 30), line);
    vd_nearest nearest = {.typed = typed, .most = VD_EDITS_OF_NAMES};
    for (const vd_binding *b = table; b < table + BINDINGS; b++)
        if (b->command)
            vd_nearest_try(&nearest, b->command);
    return vd_error_set(err, VD_FORMAT, "there is no command %s%s%s%s", typed,
                        nearest.name ? "; did you mean " : "", nearest.name ? nearest.name : "",
                        nearest.name ? "?" : "");
}

static vd_status read_line(const char *line, vd_rebinding *out, vd_error *err)
{
    size_t length = strcspn(line, " ");
    const vd_binding *command = command_of(~0u, line);
    if (!command)
        return refuse_command(line, length, err);
    if (line[length] && !command->argument)
        return vd_error_set(err, VD_FORMAT, "%s takes no argument, found '%.60s'", command->command,
                            line + length + 1);
    if (strlen(line) >= sizeof out->line)
        return vd_error_set(err, VD_FORMAT, "a command of %zu bytes; expected at most %zu",
                            strlen(line), sizeof out->line - 1);
    snprintf(out->line, sizeof out->line, "%s", line);
    return VD_OK;
}

static bool is_pressed(vd_key key)
{
    return key.code < VD_KEY_NONE || key.code >= VD_KEY_F0 ||
           (key.code > VD_KEY_NONE && key.code < VD_KEY_CLICK);
}

vd_status vd_rebinding_read(const char *key, const char *to, vd_rebinding *out, vd_error *err)
{
    *out = (vd_rebinding){.as = {.code = VD_KEY_NONE}};
    if (!vd_key_parse(key, &out->key) || !is_pressed(out->key))
        return vd_error_set(err, VD_FORMAT,
                            "there is no key '%.40s'; keys are called Ctrl-G, Alt-g, F9, PgUp",
                            key);
    if (vd_key_is_typed(out->key))
        return vd_error_set(err, VD_FORMAT,
                            "'%.40s' is typed in questions; expected a key such as Ctrl-G or F9",
                            key);
    if (to[0] == '/')
        return read_line(to, out, err);
    if (strcmp(to, "none") != 0 && (!vd_key_parse(to, &out->as) || !is_pressed(out->as)))
        return vd_error_set(err, VD_FORMAT,
                            "found '%.40s', expected a /command, another key or none", to);
    return VD_OK;
}
