#include "tui/screen/replies.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char vd_replies_cell_question[] = "\033[16t";
const char vd_replies_background_question[] = "\033]11;?\033\\\033[c";

void vd_replies_question(bool tmux, bool colors, char *out, size_t size)
{
    // tmux takes kitty's question for a title of the pane; in an envelope it passes it on.
    snprintf(out, size,
             "%s%s%s"          // kitty's pictures; name and version (XTVERSION); 24-bit colour
             "\033[?1;1;0S"    // how many colours sixels have (XTSMGRAPHICS)
             "\033]11;?\033\\" // the colour of the background (OSC 11)
             "%s"              // how large a cell is
             "\033[c",         // what it is (DA1); all terminals answer that, so it comes last
             tmux ? "\033Ptmux;\033\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\033\\\033\\"
                  : "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\",
             tmux ? "\033Ptmux;\033\033[>q\033\\" : "\033[>q",
             // Sets a colour and asks which one is set (DECRQSS).
             colors ? "\033[48;2;1;2;3m\033P$qm\033\\\033[m" : "", vd_replies_cell_question);
}

// "\033[?63;1;2;4;6c": one of the numbers is 4.
static bool lists_sixel(const char *text)
{
    for (const char *at = text; (at = strpbrk(at, "?;")) != NULL; at++)
        if (at[1] == '4' && (at[2] == ';' || at[2] == 'c'))
            return true;
    return false;
}

static void read_control(vd_replies *replies, const char *text, char final)
{
    int a, b, c;
    if (text[1] == '?' && final == 'c') {
        replies->named = true;
        replies->sixel = lists_sixel(text);
    } else if (text[1] == '?' && final == 'S') {
        if (sscanf(text, "[?%d;%d;%d", &a, &b, &c) == 3 && a == 1 && b == 0 && c > 0)
            replies->sixel_colors = c;
    } else if (final == 't' && sscanf(text, "[%d;%d;%d", &a, &b, &c) == 3) {
        bool sane = a == 6 && b > 0 && b <= 256 && c > 0 && c <= 256;
        replies->cell_height = sane ? b : replies->cell_height;
        replies->cell_width = sane ? c : replies->cell_width;
    }
}

// kitty since 0.28 and ghostty; others show kitty's pictures, but not on characters.
static bool has_placeholders(const char *name)
{
    int major, minor;
    if (sscanf(name, "kitty(%d.%d", &major, &minor) == 2)
        return major > 0 || minor >= 28;
    return strncmp(name, "ghostty", 7) == 0;
}

// "]11;rgb:ffff/ffff/ffff", of each colour one to four digits. By its luma (ITU-R BT.601).
static bool is_light(const char *color)
{
    enum { DIGITS = 16, LUMA = 299 + 587 + 114 };
    static const int weights[] = {299, 587, 114};
    double luma = 0;
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long value = strtoul(color, &end, DIGITS);
        bool ends = i < 2 ? *end == '/' : iscntrl((unsigned char)*end);
        if (!isxdigit((unsigned char)*color) || end - color > 4 || !ends)
            return false;
        luma += weights[i] * (double)value / (double)((1UL << 4 * (end - color)) - 1);
        color = end + 1;
    }
    return luma > LUMA / 2.0;
}

static void read_text(vd_replies *replies, const char *text)
{
    static const char *const with_iterm_pictures[] = {"iTerm2", "WezTerm", "mintty"};
    if (strncmp(text, "_Gi=31", 6) == 0)
        replies->kitty |= strstr(text, ";OK") != NULL;
    if (strncmp(text, "P>|", 3) == 0)
        replies->placeholders = has_placeholders(text + 3);
    for (size_t i = 0; i < 3 && strncmp(text, "P>|", 3) == 0; i++)
        replies->iterm |= strstr(text, with_iterm_pictures[i]) != NULL;
    if (strncmp(text, "]11;rgb:", 8) == 0)
        replies->light = is_light(text + 8);
    // "48:2::1:2:3", "48:2:1:2:3", "48;2;1;2;3": not the nearest of a palette.
    if (strncmp(text, "P1$r", 4) == 0 && strstr(text, "48"))
        replies->direct_color = strstr(text, ":1:2:3") || strstr(text, ";1;2;3");
}

// Whether an answer may begin like this; most keys with Alt do not.
static bool begins(const char *text, int length)
{
    switch (text[0]) {
    case '[': // all of them that curses did not know: function keys that it does not know, too
        return true;
    case '_':
        return length < 2 || text[1] == 'G';
    case ']':
        return length < 2 || text[1] == '1';
    case 'P':
        return length < 2 || text[1] == '>' || text[1] == '0' || text[1] == '1';
    default:
        return false;
    }
}

vd_reply_state vd_replies_take(vd_replies *replies, uint32_t code)
{
    char *text = replies->text;
    bool first = replies->length == 0, control = !first && text[0] == '[';
    bool ended = control ? code >= 0x40 : code == '\a' || (replies->escaped && code == '\\');
    if (replies->length < (int)sizeof replies->text - 1) // of a longer one the start tells enough
        text[replies->length++] = (char)(code < 0x80 ? code : '?');
    text[replies->length] = '\0';
    replies->escaped = !first && code == '\033';
    if (!ended && begins(text, replies->length))
        return VD_REPLY_MORE;
    replies->length = 0;
    if (!ended || first)
        return VD_REPLY_NONE;
    if (control)
        read_control(replies, text, (char)code);
    else
        read_text(replies, text);
    return VD_REPLY_DONE;
}
