// What the person says of the caption word by word: keys that are no step, and /commands.
#include <stdlib.h>
#include <string.h>

#include "tui/chat/actions/actions.h"

void vd_chat_words_play(vd_chat *chat)
{
    vd_caption_look *look = &chat->nav.caption;
    if (chat->nav.places.now != VD_PLACE_CAPTION) {
        vd_chat_open(chat, VD_PLACE_CAPTION);
        return;
    }
    if (chat->still) {
        vd_notice_say(&chat->notice, "animation is off (motion = off): Left and Right go from "
                                     "word to word");
        return;
    }
    look->playing = !look->playing;
    look->fade = 0;
    if (look->playing && look->column >= vd_chat_words_last(chat))
        vd_chat_words_start(chat);
}

// A number from 1 to most; else a notice.
static bool read_place(vd_chat *chat, const char *command, const char *text, int most, int *out)
{
    char *end;
    long number = strtol(text, &end, 10);
    *out = (int)number - 1;
    if (*text && !*end && number >= 1 && number <= most)
        return true;
    return vd_notice_complain(&chat->notice, "%s %s: expected a number from 1 to %d", command, text,
                              most);
}

// The caption that is looked at; NULL (and a notice): none.
static const vd_caption_side *looked_at(vd_chat *chat)
{
    const vd_caption_sheet *sheet =
        chat->nav.places.now == VD_PLACE_CAPTION ? vd_lanes_captioned(&chat->lanes) : NULL;
    if (!sheet)
        vd_notice_complain(&chat->notice, "F11 (or /words) shows the caption word by word first");
    return sheet ? &sheet->side[vd_chat_words_shown(chat, sheet)] : NULL;
}

void vd_chat_word(vd_chat *chat, const char *text)
{
    int column;
    if (looked_at(chat) && read_place(chat, "/word", text, vd_chat_words_last(chat) + 1, &column))
        vd_chat_words_go(chat, column);
}

void vd_chat_layer(vd_chat *chat, const char *text)
{
    const vd_caption_side *caption = looked_at(chat);
    int layer;
    if (caption && !*text)
        chat->nav.caption.layer = (vd_chat_look_layer(chat, caption) + 1) % caption->trace.layers;
    else if (caption && read_place(chat, "/layer", text, caption->trace.layers, &layer))
        chat->nav.caption.layer = layer;
}

void vd_chat_head(vd_chat *chat, const char *text)
{
    const vd_caption_side *caption = looked_at(chat);
    int head;
    if (caption && !*text) {
        head = vd_chat_look_head(chat, caption) + 1;
        chat->nav.caption.head = head < caption->trace.heads ? head : -1;
    } else if (caption && read_place(chat, "/head", text, caption->trace.heads, &head)) {
        chat->nav.caption.head = head;
    }
}

static bool has_caption_to_read(vd_chat *chat)
{
    const vd_picture_caption caption = vd_conversation_caption(&chat->conversation);
    if (!*caption.text)
        vd_notice_say(&chat->notice, "the dialog has no caption; /read TEXT reads one of yours");
    else if (caption.by == VD_CAPTION_CAPTIONER)
        vd_notice_say(&chat->notice, "the dialog's caption is the captioner's own; /read TEXT "
                                     "reads one of yours");
    return *caption.text && caption.by != VD_CAPTION_CAPTIONER;
}

void vd_chat_read(vd_chat *chat, const char *text)
{
    bool dialog = !*text && !vd_lanes_reads(&chat->lanes),
         off = strcmp(text, "off") == 0 || (!*text && !dialog);
    if (dialog && !has_caption_to_read(chat))
        return;
    if (chat->nav.places.now != VD_PLACE_CAPTION)
        vd_chat_open(chat, VD_PLACE_CAPTION);
    vd_lanes_read(&chat->lanes, dialog ? NULL : off ? "" : text);
    if (!*chat->lanes.caption.wanted.second)
        chat->nav.caption.side = !off; // what is read stands below the captioner's own
    vd_chat_words_start(chat);
}

void vd_chat_captioner(vd_chat *chat, const char *text)
{
    if (!*text) {
        vd_notice_complain(&chat->notice,
                           "/captioner takes the file of a second captioner, or off");
        return;
    }
    vd_lanes_captioner(&chat->lanes, strcmp(text, "off") == 0 ? "" : text);
    if (chat->nav.places.now != VD_PLACE_CAPTION)
        vd_chat_open(chat, VD_PLACE_CAPTION);
}
