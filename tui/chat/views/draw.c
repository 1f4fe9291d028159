// Parts of the screen that several views share.
#include <ctype.h>
#include <string.h>

#include "tui/chat/views/draw.h"

const float *vd_chat_boxes(const vd_chat *chat)
{
    return chat->shown.no_outlines ? NULL : chat->shown.regions.boxes;
}

vd_sheet vd_chat_sheet(vd_chat *chat)
{
    const vd_response *response = vd_chat_response(chat);
    vd_sheet sheet = {.caption = vd_conversation_caption(&chat->conversation).text,
                      .boxes = vd_chat_boxes(chat),
                      .names = chat->shown.regions.names,
                      .regions = chat->shown.regions.count};
    if (response)
        sheet.side[sheet.sides++] =
            vd_rankings_side(&chat->rankings, chat->nav.lane, response, NULL);
    return sheet;
}

// Bytes of the word at the start of a text, 0: none begins there.
static size_t word_length(const char *text, size_t length)
{
    size_t used = 0;
    while (used < length && strncmp(text + used, VD_LINE_BREAK, strlen(VD_LINE_BREAK)) != 0 &&
           (isalnum((unsigned char)text[used]) || (text[used] & 0x80) ||
            (used > 0 && strchr("'-", text[used]))))
        used++;
    return used;
}

void vd_mark_words(vd_grid *grid, int x, int y, int width, const char *text, size_t length,
                   bool (*test)(const void *context, const char *word), const void *context)
{
    for (size_t at = 0, own; at < length; at += own ? own : 1) {
        char word[64];
        own = word_length(text + at, length - at);
        snprintf(word, sizeof word, "%.*s", (int)(own < 60 ? own : 60), text + at);
        int before = own ? vd_text_width(text, at) : 0;
        if (own && before < width && test(context, word))
            vd_grid_plain(grid, x + before, y, width - before, text + at, own, VD_ROLE_UNKNOWN);
    }
}

void vd_caption_line(const vd_chat *chat, char out[VD_CAPTION_LINE])
{
    const vd_conversation *conversation = &chat->conversation;
    const char *doubt = vd_world_doubt(conversation->world, conversation->branches.picture);
    const char *why = chat->shown.no_regions;
    const vd_picture_caption caption = vd_conversation_caption(conversation);
    char mark[48];
    vd_caption_mark(&caption, mark, sizeof mark);
    bool text = *caption.text && !(doubt && caption.by == VD_CAPTION_FOUND);
    if (text)
        snprintf(out, VD_CAPTION_LINE, "%.500s%s%s%s%s%s", caption.text, *mark ? " (" : "", mark,
                 *mark ? ")" : "", doubt ? " - " : "", doubt ? doubt : "");
    else
        snprintf(out, VD_CAPTION_LINE, "%s%s",
                 doubt  ? doubt
                 : *why ? "what is in it is not known: "
                        : "looking for what is in it ...",
                 doubt ? "" : why);
}

void vd_draw_caption(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    const vd_conversation *conversation = &chat->conversation;
    bool doubt = vd_world_doubt(conversation->world, conversation->branches.picture) != NULL;
    char line[VD_CAPTION_LINE];
    vd_caption_line(chat, line);
    vd_grid_wrapped(grid, (vd_rect){at.x + 1, at.y, at.width - 1, at.height}, line,
                    doubt ? VD_ROLE_DOUBT : VD_ROLE_CAPTION);
    vd_spot_add(&chat->nav, at, "/words");
}
