#include "tui/screen/keymap.h"

#include <string.h>
#include <utf8proc.h>

#include "tui/screen/wrap.h"

enum {
    CHAT = 1 << VD_PLACE_CHAT,
    DETAIL = 1 << VD_PLACE_DETAIL,
    COMPARE = 1 << VD_PLACE_COMPARE,
    WALK = 1 << VD_PLACE_WALK,
    ANSWERS = 1 << VD_PLACE_ANSWERS,
    PICTURES = 1 << VD_PLACE_PICTURES,
    HELP = 1 << VD_PLACE_HELP,
    LISTS = ANSWERS | PICTURES,
    ASKING = CHAT | 1 << VD_PLACE_ZOOM | DETAIL | COMPARE | WALK,
    LINE = ASKING | LISTS,
    TALK = LINE | HELP,
    // The cases of a comparison: where the list is, where a case fills the screen, where one is.
    CASES = 1 << VD_PLACE_CASES | 1 << VD_PLACE_CASES_AND_CASE,
    MAPS = 1 << VD_PLACE_CASE_MAPS,
    INSIDE = 1 << VD_PLACE_CASE | MAPS | 1 << VD_PLACE_CASE_PICTURE,
    CASE = INSIDE | 1 << VD_PLACE_CASES_AND_CASE,
    COMPARISON = CASES | INSIDE
};

// The first binding of a key that is about where the person is counts. A name in small letters in
// `keys` ("click") is said and not looked up: views know what lies where the mouse is.
static const vd_binding table[] = {
    {WALK, VD_ACTION_PICK, true, "Enter", NULL, NULL,
     "what-if: leave this out, or put it back; else the next stage", NULL},
    {ASKING, VD_ACTION_ASK, false, "Enter", NULL, NULL, "ask; run a /command", NULL},
    {ASKING, VD_ACTION_COMPLETE, false, "Tab", NULL, NULL,
     "empty line: a question people asked about this picture; else complete a /command",
     "Tab suggests"},
    {ASKING | COMPARISON, VD_ACTION_HELP, false, "F1, ?", "/help", NULL, "the keys that work here",
     "F1 help"},
    {LISTS | HELP, VD_ACTION_HELP, false, "F1", NULL, NULL, "the keys that work here", "F1 help"},
    {COMPARISON, VD_ACTION_LEAVE, false, "q, Ctrl-C, Ctrl-D", NULL, NULL, "leave", "q leaves"},
    {ANSWERS, VD_ACTION_PICK, false, "Enter", NULL, NULL, "continue with this answer",
     "Enter takes it"},
    {PICTURES, VD_ACTION_PICK, false, "Enter", NULL, NULL, "go to this picture",
     "Enter goes there"},
    {CASES, VD_ACTION_BACK, false, "Esc", NULL, NULL, "all cases again", NULL},
    {CASES, VD_ACTION_PICK, false, "Enter, click", NULL, NULL, "the case on the whole screen",
     "Enter case"},
    {INSIDE, VD_ACTION_PICK, false, "Enter", NULL, NULL, "the list", NULL},
    {LISTS, VD_ACTION_LINE_UP, false, "Up", NULL, NULL, "the entry above", NULL},
    {LISTS, VD_ACTION_LINE_DOWN, false, "Down", NULL, NULL, "the entry below", NULL},
    {WALK, VD_ACTION_LEFT, true, "Left", NULL, NULL, "the stage before", NULL},
    {WALK, VD_ACTION_RIGHT, true, "Right", NULL, NULL, "the next stage; the what-ifs come last",
     "Left/Right stage"},
    {WALK, VD_ACTION_LINE_UP, true, "Up", NULL, NULL, "what-if: the one above; else scroll", NULL},
    {WALK, VD_ACTION_LINE_DOWN, true, "Down", NULL, NULL, "what-if: the one below; else scroll",
     NULL},
    {WALK, VD_ACTION_PICK, true, "Space", NULL, NULL,
     "what-if: leave this out, or put it back; else to the what-ifs", "Space what-if"},
    {WALK, VD_ACTION_ALL_BACK, true, "Del", NULL, NULL, "put everything back", "Del all back"},
    {DETAIL | MAPS, VD_ACTION_LEFT, true, "Left", NULL, NULL, "the word before", NULL},
    {DETAIL | MAPS, VD_ACTION_RIGHT, true, "Right", NULL, NULL,
     "the next word of the question: where it looked in the history", "Left/Right word"},
    {COMPARE, VD_ACTION_LEFT, true, "Left", NULL, NULL, "the model before", NULL},
    {COMPARE, VD_ACTION_RIGHT, true, "Right, click", NULL, NULL,
     "the next model: whose answers F4 and F5 show", "Left/Right model"},
    {COMPARE, VD_ACTION_FOLLOW, false, "Alt-h", "/history", "WHOSE",
     "the answers this model's conversation continues from: shared, own, people's",
     "Alt-h history"},
    {(LINE & ~CHAT) | INSIDE, VD_ACTION_BACK, false, "Esc", NULL, NULL, "back to where you were",
     "Esc back"},
    {HELP, VD_ACTION_BACK, false, "Esc, q, ?, Enter", NULL, NULL, "back to where you were",
     "Esc back"},
    {MAPS, VD_ACTION_LINE_DOWN, false, "Down, WheelDown", NULL, NULL, "scroll down",
     "Up/Down scroll"},
    {MAPS, VD_ACTION_LINE_UP, false, "Up, WheelUp", NULL, NULL, "scroll up", NULL},
    {COMPARISON, VD_ACTION_NEXT_CASE, false, "n, j, Down, WheelDown", NULL, NULL, "the next case",
     "n next"},
    {COMPARISON, VD_ACTION_PREVIOUS_CASE, false, "p, k, Up, WheelUp", NULL, NULL, "the case before",
     NULL},
    {COMPARISON, VD_ACTION_SCROLL_DOWN, false, "PgDn", NULL, NULL, "a page on", NULL},
    {COMPARISON, VD_ACTION_SCROLL_UP, false, "PgUp", NULL, NULL, "a page back", NULL},
    {COMPARISON, VD_ACTION_SCROLL_TOP, false, "Home", NULL, NULL, "to the start", NULL},
    {COMPARISON, VD_ACTION_SCROLL_BOTTOM, false, "End", NULL, NULL, "to the end", NULL},
    {CASE, VD_ACTION_SWITCH_MODEL, false, "Tab, click", NULL, NULL,
     "the next model: its regions, its page", "Tab model"},
    {COMPARISON, VD_ACTION_DETAIL, false, "a, F5", NULL, NULL, "attention word by word, and back",
     "a attention"},
    {COMPARISON, VD_ACTION_ZOOM, false, "z, F2", NULL, NULL, "picture full screen and back",
     "z picture"},
    {COMPARISON, VD_ACTION_GROUP, false, "1..4, click", NULL, NULL, "a group of cases off and on",
     "1-4 groups"},
    {COMPARISON, VD_ACTION_SEARCH, false, "/", NULL, NULL,
     "only cases with some text, or of a picture's number", "/ find"},
    {COMPARISON, VD_ACTION_FAMILY, false, "f", NULL, NULL, "only the next family of questions",
     "f family"},
    {COMPARISON, VD_ACTION_ORDER, false, "o", NULL, NULL,
     "by how far the models differ, or by picture and round", "o order"},
    {COMPARISON, VD_ACTION_JUDGE, false, "r", NULL, NULL, "right: the human answer, or relevance 1",
     NULL},
    {COMPARISON, VD_ACTION_THEME, false, "t", "/theme", "NAME",
     "colours: dark, light, mono, safe (for the colour-blind)", NULL},
    {LINE, VD_ACTION_ZOOM, false, "F2", "/zoom", NULL, "picture full screen and back", "F2 zoom"},
    {LINE, VD_ACTION_OUTLINES, false, "Alt-o", NULL, NULL, "outlines of the regions on and off",
     NULL},
    {LINE, VD_ACTION_SWITCH_MODEL, false, "F3", NULL, NULL,
     "the other model (base, improved); while comparing, the other one's conversation", "F3 model"},
    {0, VD_ACTION_MODEL, false, NULL, "/model", "NAME",
     "base, improved or a model file; the conversation stays", NULL},
    {LINE, VD_ACTION_ANSWERS, false, "F4", "/answers", NULL,
     "every answer of the pool, ranked; typing filters", "F4 answers"},
    {LINE, VD_ACTION_FOLD, false, "Alt-a", "/fold", "on|off",
     "answers that mean the same (yes, yes it is) as one, or each alone", NULL},
    {LINE, VD_ACTION_DETAIL, false, "F5", "/attention", NULL,
     "attention word by word: history words, regions, question words", "F5 attention"},
    {LINE, VD_ACTION_COMPARE, false, "F10, Alt-c", "/compare", "MODEL|off",
     "models side by side, and back; one more, or none", "F10 compare"},
    {LINE, VD_ACTION_AGAIN, false, "F6", "/again", NULL,
     "ask the last question again (with this model)", NULL},
    {LINE, VD_ACTION_NEXT_PICTURE, false, "F8, Alt-Right", "/next", NULL, "next picture",
     "F8 next"},
    {LINE, VD_ACTION_PREVIOUS_PICTURE, false, "F7, Alt-Left", "/prev", NULL, "previous picture",
     NULL},
    {LINE, VD_ACTION_WALK, false, "F12, Alt-w", "/walk", NULL,
     "a walk through the answer, stage by stage; what if", "F12 walk"},
    {0, VD_ACTION_WHAT_IF, false, NULL, "/what-if", "CHANGE",
     "leave out: caption, round N, region N, word N, word N=OTHER, attention N, positions, picture",
     NULL},
    {LINE, VD_ACTION_RANDOM_PICTURE, false, "F9", "/random", NULL, "any picture", NULL},
    {LINE, VD_ACTION_PICTURES, false, "Alt-p", "/pictures", "TEXT",
     "find a picture by caption, id or what is in it", "Alt-p find"},
    {0, VD_ACTION_PICTURE, false, NULL, "/picture", "ID or #N",
     "a picture by its image id or by its number", NULL},
    {0, VD_ACTION_NEW, false, NULL, "/new", NULL, "start over with this picture", NULL},
    {LINE, VD_ACTION_OLDER_ROUND, false, "Alt-Up", NULL, NULL,
     "look at an earlier round: its ranking and attention", "Alt-Up/Down round"},
    {LINE, VD_ACTION_NEWER_ROUND, false, "Alt-Down", NULL, NULL, "look at a later round", NULL},
    {ASKING, VD_ACTION_CHOOSE_ANSWER, false, "Alt-1..9", "/choose", "N",
     "continue with the answer at place 1..9 instead", "Alt-1..9 choose"},
    {ASKING, VD_ACTION_UNDO, false, "Alt-u", "/undo", NULL, "forget the last round", NULL},
    {ASKING, VD_ACTION_EDIT_ROUND, false, "Alt-e", "/edit", NULL,
     "edit the selected round's question; all after it is asked again", "Alt-e edit"},
    {ASKING, VD_ACTION_NEXT_BRANCH, false, "Alt-n", NULL, NULL,
     "the next branch: a conversation that was set aside (/branch)", NULL},
    {0, VD_ACTION_BRANCH, false, NULL, "/branch", "N",
     "another conversation from the selected round on; or go to number N", NULL},
    {CHAT, VD_ACTION_BACK, false, "Esc", NULL, NULL, "leave the edited question as it was", NULL},
    {TALK, VD_ACTION_SCROLL_UP, false, "PgUp, WheelUp", NULL, NULL, "scroll up", NULL},
    {TALK, VD_ACTION_SCROLL_DOWN, false, "PgDn, WheelDown", NULL, NULL, "scroll down",
     "PgUp/PgDn scroll"},
    {HELP, VD_ACTION_LINE_UP, false, "Up", NULL, NULL, "scroll up by a line", NULL},
    {HELP, VD_ACTION_LINE_DOWN, false, "Down", NULL, NULL, "scroll down by a line", NULL},
    {TALK, VD_ACTION_SCROLL_TOP, false, "Ctrl-Home", NULL, NULL, "scroll to the start", NULL},
    {TALK, VD_ACTION_SCROLL_BOTTOM, false, "Ctrl-End", NULL, NULL, "scroll to the end", NULL},
    {ASKING, VD_ACTION_SEARCH, false, "Ctrl-S", "/find", "TEXT",
     "search the dialog for the text of the line (or for the last search)", NULL},
    {TALK, VD_ACTION_STOP, false, "Ctrl-C", NULL, NULL,
     "stop a running answer; else clear the line", NULL},
    {0, VD_ACTION_MOUSE, false, NULL, "/mouse", "on|off",
     "use the mouse here or leave it to the terminal", NULL},
    {TALK, VD_ACTION_LEAVE, true, "Ctrl-D", "/quit", NULL, "leave (on an empty line)",
     "Ctrl-D leaves"},
    {TALK | COMPARISON, VD_ACTION_REDRAW, false, "Ctrl-L", NULL, NULL, "draw the screen again",
     NULL},
    {TALK | COMPARISON, VD_ACTION_SUSPEND, false, "Ctrl-Z", NULL, NULL,
     "back to the shell; `fg` returns", NULL},
    // ---- the line ----
    {LINE, VD_ACTION_EDIT_START, false, "Ctrl-A, Home", NULL, NULL, "start of the line", NULL},
    {LINE, VD_ACTION_EDIT_END, false, "Ctrl-E, End", NULL, NULL, "end of the line", NULL},
    {LINE, VD_ACTION_EDIT_LEFT, false, "Ctrl-B, Left", NULL, NULL, "a character to the left", NULL},
    {LINE, VD_ACTION_EDIT_RIGHT, false, "Ctrl-F, Right", NULL, NULL, "a character to the right",
     NULL},
    {LINE, VD_ACTION_EDIT_WORD_LEFT, false, "Alt-b, Ctrl-Left", NULL, NULL, "a word to the left",
     NULL},
    {LINE, VD_ACTION_EDIT_WORD_RIGHT, false, "Alt-f, Ctrl-Right", NULL, NULL, "a word to the right",
     NULL},
    {LINE, VD_ACTION_EDIT_BACKSPACE, false, "Backspace, Ctrl-H", NULL, NULL, "delete to the left",
     NULL},
    {LINE, VD_ACTION_EDIT_DELETE, false, "Del, Ctrl-D", NULL, NULL, "delete under the cursor",
     NULL},
    {LINE, VD_ACTION_EDIT_KILL_END, false, "Ctrl-K", NULL, NULL, "cut to the end", NULL},
    {LINE, VD_ACTION_EDIT_KILL_START, false, "Ctrl-U", NULL, NULL, "cut to the start", NULL},
    {LINE, VD_ACTION_EDIT_KILL_WORD, false, "Ctrl-W, Alt-Backspace", NULL, NULL,
     "cut the word to the left", NULL},
    {LINE, VD_ACTION_EDIT_KILL_WORD_RIGHT, false, "Alt-d", NULL, NULL, "cut the word to the right",
     NULL},
    {LINE, VD_ACTION_EDIT_YANK, false, "Ctrl-Y", NULL, NULL, "put back what was cut", NULL},
    {LINE, VD_ACTION_EDIT_SWAP, false, "Ctrl-T", NULL, NULL, "swap two characters", NULL},
    {ASKING, VD_ACTION_EDIT_OLDER, false, "Up, Ctrl-P", NULL, NULL, "an earlier question", NULL},
    {ASKING, VD_ACTION_EDIT_NEWER, false, "Down, Ctrl-N", NULL, NULL, "a later question", NULL},
};
enum { BINDINGS = sizeof table / sizeof *table };

const char *vd_keymap_title(vd_place place)
{
    static const char *const titles[VD_ALL_PLACES] = {
        [VD_PLACE_CHAT] = "Keys in the chat",
        [VD_PLACE_ZOOM] = "Keys while the picture fills the screen",
        [VD_PLACE_ANSWERS] = "Keys in the list of answers",
        [VD_PLACE_DETAIL] = "Keys in the attention view",
        [VD_PLACE_PICTURES] = "Keys in the list of pictures",
        [VD_PLACE_COMPARE] = "Keys while models are compared",
        [VD_PLACE_WALK] = "Keys in the walk through an answer",
        [VD_PLACE_HELP] = "Keys of the help",
        [VD_PLACE_CASES] = "Keys of the list",
        [VD_PLACE_CASES_AND_CASE] = "Keys of the list and the case",
        [VD_PLACE_CASE] = "Keys of the case",
        [VD_PLACE_CASE_MAPS] = "Keys of the attentions",
        [VD_PLACE_CASE_PICTURE] = "Keys of the picture"};
    return titles[place];
}

// ---- keys --------------------------------------------------------------------------------------

// The next name of a list "F10, Alt-c": its start, NULL at the end; *at moves behind it.
static const char *next_name(const char **at, size_t *length)
{
    const char *name = *at;
    if (!name || !*name)
        return NULL;
    *length = strcspn(name, ",");
    *at = name + *length + strspn(name + *length, ", ");
    return name;
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

static bool is_typed(vd_key key)
{
    return key.code < VD_KEY_NONE && !(key.modifiers & (VD_ALT | VD_CTRL));
}

static const vd_binding *binding_of(vd_place place, vd_key key, bool line_empty)
{
    char wanted[24];
    if (is_typed(key) && !line_empty)
        return NULL;
    vd_key_name(key, wanted, sizeof wanted);
    for (const vd_binding *b = table; b < table + BINDINGS; b++) {
        const char *at = b->places >> place & 1 && (line_empty || !b->empty) ? b->keys : NULL;
        const char *name;
        size_t length;
        while ((name = next_name(&at, &length)) != NULL)
            if (holds(name, length, wanted))
                return b;
    }
    return NULL;
}

vd_action vd_keymap_action(vd_place place, vd_key key, bool line_empty)
{
    const vd_binding *binding = binding_of(place, key, line_empty);
    return binding ? binding->action : VD_ACTION_NONE;
}

// The key of a name in a list, the first of "Alt-1..9"; VD_KEY_NONE: "click" is none.
static vd_key key_of(const char *name, size_t length)
{
    char text[24];
    vd_key key;
    bool range = length > 4 && memcmp(name + length - 3, "..", 2) == 0;
    bool one = length == 4 && memcmp(name + 1, "..", 2) == 0;
    snprintf(text, sizeof text, "%.*s", (int)(range || one ? length - 3 : length), name);
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

// ---- what is said of them ----------------------------------------------------------------------

// The keys of a binding that mean it in a place, "" when there are none.
static void keys_in_use(const vd_binding *b, vd_place place, char *out, size_t size)
{
    const char *at = b->places >> place & 1 ? b->keys : NULL, *name;
    size_t length, used = 0;
    bool any = false;
    out[0] = '\0';
    while ((name = next_name(&at, &length)) != NULL) {
        if (!is_in_use(b, place, name, length) || used >= size)
            continue;
        any |= key_of(name, length).code != VD_KEY_NONE;
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? ", " : "", (int)length,
                                 name);
    }
    if (!any)
        out[0] = '\0';
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
    return false;
}

const vd_binding *vd_keymap_command(size_t index)
{
    for (const vd_binding *b = table; b < table + BINDINGS; b++)
        if (b->command && index-- == 0)
            return b;
    return NULL;
}

// The key that a hint is about: the first one of its binding.
static vd_key hinted_key(const vd_binding *b)
{
    const char *at = b->keys;
    size_t length;
    const char *name = next_name(&at, &length);
    return name ? key_of(name, length) : (vd_key){.code = VD_KEY_NONE};
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
    size_t used = 0;
    out[0] = '\0';
    for (const vd_binding *b = table; (b = next_hint(b, place, width)) != NULL; b++) {
        size_t bytes = strlen(b->hint) + (used ? BETWEEN : 0);
        if (used + bytes + 1 > size)
            continue;
        snprintf(out + used, size - used, "%*s%s", used ? BETWEEN : 0, "", b->hint);
        used += bytes;
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
    {VD_KEY_UP, "Up"},
    {VD_KEY_DOWN, "Down"},
    {VD_KEY_LEFT, "Left"},
    {VD_KEY_RIGHT, "Right"},
    {VD_KEY_HOME, "Home"},
    {VD_KEY_END, "End"},
    {VD_KEY_PAGE_UP, "PgUp"},
    {VD_KEY_PAGE_DOWN, "PgDn"},
    {VD_KEY_INSERT, "Ins"},
    {VD_KEY_DELETE, "Del"},
    {VD_KEY_BACKSPACE, "Backspace"},
    {VD_KEY_ENTER, "Enter"},
    {VD_KEY_TAB, "Tab"},
    {VD_KEY_BACK_TAB, "BackTab"},
    {VD_KEY_ESCAPE, "Esc"},
    {VD_KEY_WHEEL_UP, "WheelUp"},
    {VD_KEY_WHEEL_DOWN, "WheelDown"},
    {VD_KEY_CLICK, "Click"},
    {VD_KEY_PASTE_BEGIN, "PasteBegin"},
    {VD_KEY_PASTE_END, "PasteEnd"},
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
        out->code = (uint32_t)(VD_KEY_F0 + number);
        return *end == '\0' && number <= 63;
    }
    utf8proc_int32_t code;
    utf8proc_ssize_t length = (utf8proc_ssize_t)strlen(name);
    utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)name, length, &code);
    if (length == 0 || used != length || code < ' ')
        return false;
    out->code = (uint32_t)code;
    return true;
}
