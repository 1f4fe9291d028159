#include "tui/screen/keymap.h"

#include <string.h>
#include <utf8proc.h>

#include "tui/screen/wrap.h"

enum {
    CHAT = 1 << VD_PLACE_CHAT,
    ZOOM = 1 << VD_PLACE_ZOOM,
    ANSWERS = 1 << VD_PLACE_ANSWERS,
    DETAIL = 1 << VD_PLACE_DETAIL,
    COMPARE = 1 << VD_PLACE_COMPARE,
    WALK = 1 << VD_PLACE_WALK,
    PICTURES = 1 << VD_PLACE_PICTURES,
    HELP = 1 << VD_PLACE_HELP,
    LINE = CHAT | ZOOM | ANSWERS | DETAIL | COMPARE | WALK | PICTURES,
    ALL = LINE | HELP,
    ASKING = CHAT | ZOOM | DETAIL | COMPARE | WALK
};

// Bindings with the same action and places that follow one another share one line of the help.
typedef struct binding {
    int places;
    uint32_t code;
    uint8_t modifiers;
    bool empty_only; // only while the line is empty
    vd_action action;
    const char *meaning; // NULL: not in the help
    const char *hint;    // short form for the last row, NULL: not there
} binding;

#define F(n) (VD_KEY_F0 + (n))

static const binding table[] = {
    {WALK, VD_KEY_ENTER, 0, true, VD_ACTION_PICK,
     "what-if: leave this out, or put it back; else the next stage", NULL},
    {ASKING, VD_KEY_ENTER, 0, false, VD_ACTION_ASK, "ask; run a /command", NULL},
    {ASKING, VD_KEY_TAB, 0, false, VD_ACTION_COMPLETE,
     "empty line: a question people asked about this picture; else complete a /command",
     "Tab suggests"},
    {ALL, F(1), 0, false, VD_ACTION_HELP, "the keys that work here", "F1 help"},
    {ASKING, '?', 0, true, VD_ACTION_HELP, "the keys that work here", NULL},
    {ANSWERS, VD_KEY_ENTER, 0, false, VD_ACTION_PICK, "continue with this answer",
     "Enter takes it"},
    {ANSWERS | PICTURES, VD_KEY_UP, 0, false, VD_ACTION_LINE_UP, "move through the list", NULL},
    {ANSWERS | PICTURES, VD_KEY_DOWN, 0, false, VD_ACTION_LINE_DOWN, "move through the list", NULL},
    {PICTURES, VD_KEY_ENTER, 0, false, VD_ACTION_PICK, "go to this picture", "Enter goes there"},
    {WALK, VD_KEY_LEFT, 0, true, VD_ACTION_LEFT, "the stage before", NULL},
    {WALK, VD_KEY_RIGHT, 0, true, VD_ACTION_RIGHT, "the next stage; last the what-ifs",
     "Left/Right stage"},
    {WALK, VD_KEY_UP, 0, true, VD_ACTION_LINE_UP, "what-if: another one; else scroll", NULL},
    {WALK, VD_KEY_DOWN, 0, true, VD_ACTION_LINE_DOWN, "what-if: another one; else scroll", NULL},
    {WALK, ' ', 0, true, VD_ACTION_PICK,
     "what-if: leave this out, or put it back; else to the what-ifs", "Space what-if"},
    {WALK, VD_KEY_DELETE, 0, true, VD_ACTION_ALL_BACK, "put everything back", "Del all back"},
    {DETAIL, VD_KEY_LEFT, 0, true, VD_ACTION_LEFT, "another word of the question", NULL},
    {DETAIL, VD_KEY_RIGHT, 0, true, VD_ACTION_RIGHT, "another word of the question",
     "Left/Right word"},
    {COMPARE, VD_KEY_LEFT, 0, true, VD_ACTION_LEFT, "another model: whose answers F4 and F5 show",
     NULL},
    {COMPARE, VD_KEY_RIGHT, 0, true, VD_ACTION_RIGHT, "another model: whose answers F4 and F5 show",
     "Left/Right model"},
    {COMPARE, 'h', VD_ALT, false, VD_ACTION_FOLLOW,
     "the answers this model's conversation continues from: shared, its own, people's",
     "Alt-h history"},
    {ZOOM | ANSWERS | DETAIL | COMPARE | WALK | PICTURES | HELP, VD_KEY_ESCAPE, 0, false,
     VD_ACTION_BACK, "back to where you were", "Esc back"},
    {HELP, 'q', 0, false, VD_ACTION_BACK, "back to where you were", NULL},
    {HELP, '?', 0, false, VD_ACTION_BACK, "back to where you were", NULL},
    {HELP, VD_KEY_ENTER, 0, false, VD_ACTION_BACK, "back to where you were", NULL},
    {LINE, F(2), 0, false, VD_ACTION_ZOOM, "picture full screen and back", "F2 zoom"},
    {LINE, 'o', VD_ALT, false, VD_ACTION_OUTLINES, "outlines of the regions on and off", NULL},
    {LINE, F(3), 0, false, VD_ACTION_SWITCH_MODEL,
     "the other model (base, improved); of two that are compared the other one's conversation",
     "F3 model"},
    {LINE, F(4), 0, false, VD_ACTION_ANSWERS, "every answer of the pool, ranked; typing filters",
     "F4 answers"},
    {LINE, 'a', VD_ALT, false, VD_ACTION_FOLD,
     "answers that say the same (yes, yes it is) as one, or each by itself", NULL},
    {LINE, F(5), 0, false, VD_ACTION_DETAIL,
     "attention word by word: history words, regions, question words", "F5 attention"},
    {LINE, F(10), 0, false, VD_ACTION_COMPARE, "models side by side, and back", "F10 compare"},
    {LINE, 'c', VD_ALT, false, VD_ACTION_COMPARE, "models side by side, and back", NULL},
    {LINE, F(6), 0, false, VD_ACTION_AGAIN, "ask the last question again (with this model)", NULL},
    {LINE, VD_KEY_RIGHT, VD_ALT, false, VD_ACTION_NEXT_PICTURE, "next picture", NULL},
    {LINE, F(8), 0, false, VD_ACTION_NEXT_PICTURE, "next picture", "F8 next"},
    {LINE, VD_KEY_LEFT, VD_ALT, false, VD_ACTION_PREVIOUS_PICTURE, "previous picture", NULL},
    {LINE, F(7), 0, false, VD_ACTION_PREVIOUS_PICTURE, "previous picture", NULL},
    {LINE, F(12), 0, false, VD_ACTION_WALK, "a walk through the answer, stage by stage; what if",
     "F12 walk"},
    {LINE, 'w', VD_ALT, false, VD_ACTION_WALK, "a walk through the answer, stage by stage; what if",
     NULL},
    {LINE, F(9), 0, false, VD_ACTION_RANDOM_PICTURE, "any picture", NULL},
    {LINE, 'p', VD_ALT, false, VD_ACTION_PICTURES, "find a picture by caption, id or what is in it",
     "Alt-p find"},
    {LINE, VD_KEY_UP, VD_ALT, false, VD_ACTION_OLDER_ROUND,
     "look at an earlier round: its ranking and attention", "Alt-Up/Down round"},
    {LINE, VD_KEY_DOWN, VD_ALT, false, VD_ACTION_NEWER_ROUND, "look at a later round", NULL},
    {ASKING, '1', VD_ALT, false, VD_ACTION_CHOOSE_ANSWER, NULL, "Alt-1..9 choose"},
    {ASKING, 'u', VD_ALT, false, VD_ACTION_UNDO, "forget the last round", NULL},
    {ASKING, 'e', VD_ALT, false, VD_ACTION_EDIT_ROUND,
     "edit the selected round's question; all after it is asked again", "Alt-e edit"},
    {ASKING, 'n', VD_ALT, false, VD_ACTION_NEXT_BRANCH,
     "the next branch: a conversation that was set aside (/branch)", NULL},
    {CHAT, VD_KEY_ESCAPE, 0, false, VD_ACTION_BACK, "leave the edited question as it was", NULL},
    {ASKING, VD_KEY_PAGE_UP, 0, false, VD_ACTION_SCROLL_UP, "scroll", NULL},
    {ANSWERS | PICTURES | HELP, VD_KEY_PAGE_UP, 0, false, VD_ACTION_SCROLL_UP, "scroll", NULL},
    {ALL, VD_KEY_WHEEL_UP, 0, false, VD_ACTION_SCROLL_UP, NULL, NULL},
    {ALL, VD_KEY_PAGE_DOWN, 0, false, VD_ACTION_SCROLL_DOWN, "scroll", "PgUp/PgDn scroll"},
    {ALL, VD_KEY_WHEEL_DOWN, 0, false, VD_ACTION_SCROLL_DOWN, NULL, NULL},
    {HELP, VD_KEY_UP, 0, false, VD_ACTION_LINE_UP, "scroll by a line", NULL},
    {HELP, VD_KEY_DOWN, 0, false, VD_ACTION_LINE_DOWN, "scroll by a line", NULL},
    {ALL, VD_KEY_HOME, VD_CTRL, false, VD_ACTION_SCROLL_TOP, "scroll to the start", NULL},
    {ALL, VD_KEY_END, VD_CTRL, false, VD_ACTION_SCROLL_BOTTOM, "scroll to the end", NULL},
    {ASKING, 's', VD_CTRL, false, VD_ACTION_SEARCH,
     "search the dialog for what the line says (or for the last search)", NULL},
    {ALL, 'c', VD_CTRL, false, VD_ACTION_STOP, "stop a running answer; else clear the line", NULL},
    {ALL, 'd', VD_CTRL, true, VD_ACTION_LEAVE, "leave (on an empty line; also /quit)",
     "Ctrl-D leaves"},
    {ALL, 'l', VD_CTRL, false, VD_ACTION_REDRAW, "draw the screen again", NULL},
    {ALL, 'z', VD_CTRL, false, VD_ACTION_SUSPEND, "back to the shell; `fg` returns", NULL},
    // ---- the line ----
    {LINE, 'a', VD_CTRL, false, VD_ACTION_EDIT_START, "start of the line", NULL},
    {LINE, VD_KEY_HOME, 0, false, VD_ACTION_EDIT_START, "start of the line", NULL},
    {LINE, 'e', VD_CTRL, false, VD_ACTION_EDIT_END, "end of the line", NULL},
    {LINE, VD_KEY_END, 0, false, VD_ACTION_EDIT_END, "end of the line", NULL},
    {LINE, 'b', VD_CTRL, false, VD_ACTION_EDIT_LEFT, "a character to the left", NULL},
    {LINE, VD_KEY_LEFT, 0, false, VD_ACTION_EDIT_LEFT, "a character to the left", NULL},
    {LINE, 'f', VD_CTRL, false, VD_ACTION_EDIT_RIGHT, "a character to the right", NULL},
    {LINE, VD_KEY_RIGHT, 0, false, VD_ACTION_EDIT_RIGHT, "a character to the right", NULL},
    {LINE, 'b', VD_ALT, false, VD_ACTION_EDIT_WORD_LEFT, "a word to the left", NULL},
    {LINE, VD_KEY_LEFT, VD_CTRL, false, VD_ACTION_EDIT_WORD_LEFT, "a word to the left", NULL},
    {LINE, 'f', VD_ALT, false, VD_ACTION_EDIT_WORD_RIGHT, "a word to the right", NULL},
    {LINE, VD_KEY_RIGHT, VD_CTRL, false, VD_ACTION_EDIT_WORD_RIGHT, "a word to the right", NULL},
    {LINE, VD_KEY_BACKSPACE, 0, false, VD_ACTION_EDIT_BACKSPACE, "delete to the left", NULL},
    {LINE, 'h', VD_CTRL, false, VD_ACTION_EDIT_BACKSPACE, "delete to the left", NULL},
    {LINE, VD_KEY_DELETE, 0, false, VD_ACTION_EDIT_DELETE, "delete under the cursor", NULL},
    {LINE, 'd', VD_CTRL, false, VD_ACTION_EDIT_DELETE, "delete under the cursor", NULL},
    {LINE, 'k', VD_CTRL, false, VD_ACTION_EDIT_KILL_END, "cut to the end", NULL},
    {LINE, 'u', VD_CTRL, false, VD_ACTION_EDIT_KILL_START, "cut to the start", NULL},
    {LINE, 'w', VD_CTRL, false, VD_ACTION_EDIT_KILL_WORD, "cut the word to the left", NULL},
    {LINE, VD_KEY_BACKSPACE, VD_ALT, false, VD_ACTION_EDIT_KILL_WORD, "cut the word to the left",
     NULL},
    {LINE, 'd', VD_ALT, false, VD_ACTION_EDIT_KILL_WORD_RIGHT, "cut the word to the right", NULL},
    {LINE, 'y', VD_CTRL, false, VD_ACTION_EDIT_YANK, "put back what was cut", NULL},
    {LINE, 't', VD_CTRL, false, VD_ACTION_EDIT_SWAP, "swap two characters", NULL},
    {ASKING, VD_KEY_UP, 0, false, VD_ACTION_EDIT_OLDER, "an earlier question", NULL},
    {ASKING, 'p', VD_CTRL, false, VD_ACTION_EDIT_OLDER, "an earlier question", NULL},
    {ASKING, VD_KEY_DOWN, 0, false, VD_ACTION_EDIT_NEWER, "a later question", NULL},
    {ASKING, 'n', VD_CTRL, false, VD_ACTION_EDIT_NEWER, "a later question", NULL},
};
enum { BINDINGS = sizeof table / sizeof *table };

vd_action vd_keymap_action(vd_place place, vd_key key, bool line_empty)
{
    // M-1 .. M-9 are one binding, listed under M-1.
    if (key.modifiers == VD_ALT && key.code >= '2' && key.code <= '9')
        key.code = '1';
    for (int i = 0; i < BINDINGS; i++)
        if (table[i].places & (1 << place) && table[i].code == key.code &&
            table[i].modifiers == key.modifiers && (line_empty || !table[i].empty_only))
            return table[i].action;
    return VD_ACTION_NONE;
}

static bool same_line(const binding *a, const binding *b)
{
    return a->action == b->action && a->meaning && b->meaning && !strcmp(a->meaning, b->meaning);
}

bool vd_keymap_help(vd_place place, size_t index, char *keys, size_t keys_size,
                    const char **meaning)
{
    size_t found = 0;
    for (int i = 0; i < BINDINGS; i++) {
        const binding *first = &table[i];
        if (!(first->places & (1 << place)))
            continue;
        const char *text = first->meaning;
        if (first->action == VD_ACTION_CHOOSE_ANSWER)
            text = "continue with answer 1..9 instead";
        bool repeats = false;
        for (int j = 0; j < i && !repeats; j++)
            repeats = table[j].places & (1 << place) && same_line(&table[j], first);
        if (!text || repeats || found++ < index)
            continue;
        *meaning = text;
        keys[0] = '\0';
        for (int j = i; j < BINDINGS; j++) {
            if (j != i && (!(table[j].places & (1 << place)) || !same_line(first, &table[j])))
                continue;
            char name[24];
            vd_key_name((vd_key){.code = table[j].code, .modifiers = table[j].modifiers}, name,
                        sizeof name);
            size_t used = strlen(keys);
            snprintf(keys + used, keys_size - used, "%s%s", used ? ", " : "",
                     first->action == VD_ACTION_CHOOSE_ANSWER ? "Alt-1 .. Alt-9" : name);
        }
        return true;
    }
    return false;
}

void vd_keymap_hints(vd_place place, int width, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < BINDINGS; i++) {
        const char *hint = table[i].hint;
        if (!hint || !(table[i].places & (1 << place)))
            continue;
        int columns = vd_text_width(hint, strlen(hint)) + (used ? 2 : 0);
        size_t bytes = strlen(hint) + (used ? 2 : 0);
        if (columns > width || used + bytes + 1 > size)
            continue;
        snprintf(out + used, size - used, "%s%s", used ? "  " : "", hint);
        used += bytes;
        width -= columns;
    }
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
