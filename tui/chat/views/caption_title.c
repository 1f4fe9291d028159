// Above the words of a caption: who says or reads it, and how likely it is; what the dialog begins
// with instead.
#include <stdio.h>
#include <string.h>

#include "engine/base/append.h"
#include "tui/chat/views/draw.h"
#include "tui/screen/wrap.h"

enum { ROOMY = 60 }; // columns

const char *vd_caption_letter(int side)
{
    return side ? "B" : "A";
}

// Whether what is shown is another caption than the one that the dialog begins with.
static bool is_own(const vd_chat *chat)
{
    return vd_conversation_caption(&chat->conversation).by != VD_CAPTION_CAPTIONER;
}

// ", by B -9.12 (2 words unknown)": how the other side reads these words.
static void add_under(const vd_caption_side *c, int other, char *out, size_t size)
{
    int unknown = c->unknown[other];
    vd_append(out, size, ", by %s %.2f", vd_caption_letter(other), c->under[other]);
    if (unknown)
        vd_append(out, size, " (%d word%s unknown)", unknown, unknown == 1 ? "" : "s");
}

// " reads the human caption": the dialog's, or another one.
static void write_read(const vd_chat *chat, const vd_caption_sheet *sheet, bool roomy, char *out,
                       size_t size)
{
    static const char *const whose[VD_CAPTION_BYS] = {"the human caption", "the dialog's caption",
                                                      "the scene's caption", "the detected objects",
                                                      "the typed caption"};
    const vd_picture_caption caption = vd_conversation_caption(&chat->conversation);
    size_t length = strlen(sheet->wish.read);
    bool dialog = strncmp(caption.text, sheet->wish.read, length) == 0 &&
                  (!caption.text[length] || sheet->wish.read_cut);
    snprintf(out, size, " reads%s%s", roomy ? " " : "",
             !roomy   ? ""
             : dialog ? whose[caption.by]
                      : "your caption");
}

// "captioner, caption 2 of 5: log-probability -8.31"; "captioner's own caption, 1 of 5: ...";
// "captioner reads people's caption: ..."; of two "A captioner, ...".
static void write_title(const vd_chat *chat, const vd_caption_sheet *sheet, int side, bool roomy,
                        char *out, size_t size)
{
    const vd_caption_side *c = &sheet->side[side];
    bool two = sheet->sides > 1;
    char what[240] = "", names[160];
    vd_switches_text(&sheet->wish.switches, names, sizeof names);
    if (c->read)
        write_read(chat, sheet, roomy, what, sizeof what);
    if (c->changed)
        vd_append(what, sizeof what, ", changed (%s)", names);
    else if (!c->read)
        snprintf(what, sizeof what, "%s%s%s %d of %d", is_own(chat) ? "'s own" : ",",
                 roomy ? " caption" : "", is_own(chat) ? "," : "", c->place, c->of);
    snprintf(out, size, "%s%s%s%s: %s %.2f", two ? vd_caption_letter(side) : "", two ? " " : "",
             c->name, what, roomy ? "log-probability" : "log p", c->trace.log_probability);
    bool same = *sheet->wish.read && sheet->wish.switches.count == 0; // of both sides
    if (two && roomy && !same)
        add_under(c, !side, out, size);
}

// What the dialog begins with instead; "" nothing.
static void write_other(const vd_chat *chat, char *out, size_t size)
{
    static const char *const who[VD_CAPTION_BYS] = {"in the data", "", "the scene says", "found",
                                                    "typed"};
    const vd_picture_caption caption = vd_conversation_caption(&chat->conversation);
    out[0] = '\0';
    if (is_own(chat) && *caption.text)
        snprintf(out, size, "%s: %.200s", who[caption.by], caption.text);
}

int vd_draw_caption_title(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_caption_sheet *sheet,
                          int side)
{
    enum { GAP = 2 };
    char text[400], other[256];
    bool shown = side == vd_chat_words_shown(chat, sheet) && sheet->sides > 1;
    write_title(chat, sheet, side, at.width >= ROOMY, text, sizeof text);
    if (vd_text_width(text, strlen(text)) > at.width)
        write_title(chat, sheet, side, false, text, sizeof text);
    int used = GAP + vd_grid_text(grid, at.x, at.y, at.width, text,
                                  shown ? VD_ROLE_SELECTED : VD_ROLE_TITLE);
    if (sheet->sides > 1 && !shown)
        vd_spot_add(&chat->nav, (vd_rect){at.x, at.y, at.width, 1}, "/switch");
    if (side > 0 || sheet->side[0].changed || *sheet->wish.read)
        return 1;
    write_other(chat, other, sizeof other);
    if (at.height > 1 && used + vd_text_width(other, strlen(other)) > at.width)
        return 1 + vd_grid_wrapped(grid, (vd_rect){at.x, at.y + 1, at.width, at.height - 1}, other,
                                   VD_ROLE_NOTE);
    vd_grid_text(grid, at.x + used, at.y, at.width - used, other, VD_ROLE_NOTE);
    return 1;
}
