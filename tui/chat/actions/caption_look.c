// The caption word by word: which of its words and looks is shown, and how it goes on by itself.
#include "tui/chat/actions/actions.h"

enum { WORD_MS = 900, FADE_MS = 70 }; // that a word stays, that a step of fading takes

int vd_chat_words_last(const vd_chat *chat)
{
    const vd_caption_sheet *sheet = vd_lanes_captioned(&chat->lanes);
    return sheet ? sheet->rows - 1 : 0;
}

int vd_chat_words_shown(const vd_chat *chat, const vd_caption_sheet *sheet)
{
    return vd_clamp(chat->nav.caption.side, sheet->sides - 1);
}

static void select_column(vd_chat *chat, int column)
{
    const vd_caption_sheet *sheet = vd_lanes_captioned(&chat->lanes);
    vd_caption_look *look = &chat->nav.caption;
    look->column = vd_clamp(column, vd_chat_words_last(chat));
    look->fade = 0;
    look->word =
        sheet ? vd_caption_sheet_word(sheet, vd_chat_words_shown(chat, sheet), look->column) : 0;
}

void vd_chat_words_settle(vd_chat *chat)
{
    const vd_caption_sheet *sheet = vd_lanes_captioned(&chat->lanes);
    vd_caption_look *look = &chat->nav.caption;
    if (!sheet || look->stamp == chat->lanes.caption.stamp)
        return;
    look->stamp = chat->lanes.caption.stamp;
    look->side = vd_clamp(look->side, sheet->sides - 1);
    int column = look->column;
    for (int i = 0; i < sheet->rows && look->word >= 0; i++)
        if (vd_caption_sheet_word(sheet, look->side, i) == look->word)
            column = i;
    select_column(chat, column);
}

// ---- playing ------------------------------------------------------------------------------------

int vd_chat_pause(const vd_chat *chat)
{
    bool moves = chat->nav.places.now == VD_PLACE_CAPTION && chat->nav.caption.playing &&
                 vd_lanes_captioned(&chat->lanes);
    return !moves ? -1 : chat->nav.caption.fade ? FADE_MS : WORD_MS;
}

void vd_chat_tick(vd_chat *chat)
{
    vd_caption_look *look = &chat->nav.caption;
    if (vd_chat_pause(chat) < 0)
        return;
    if (look->fade) {
        look->fade--;
    } else {
        select_column(chat, look->column + 1);
        look->fade = VD_FADES - 1;
    }
    look->playing = look->fade || look->column < vd_chat_words_last(chat);
}

void vd_chat_words_start(vd_chat *chat)
{
    chat->nav.caption.at = 0;
    select_column(chat, 0);
    chat->nav.caption.playing = !chat->still;
}

void vd_chat_words_go(vd_chat *chat, int column)
{
    select_column(chat, column);
    chat->nav.caption.playing = false;
}

void vd_chat_words_side(vd_chat *chat, int side)
{
    const vd_caption_sheet *sheet = vd_lanes_captioned(&chat->lanes);
    chat->nav.caption.side = sheet ? side % sheet->sides : 0;
    select_column(chat, chat->nav.caption.column);
    if (sheet && sheet->sides == 1)
        vd_notice_say(&chat->notice, "there is one caption; /captioner FILE shows another beside "
                                     "it, Alt-t the dialog's, Enter changes something");
}

void vd_chat_words_flip(vd_chat *chat, const vd_switch *one)
{
    vd_caption_look *look = &chat->nav.caption;
    const vd_caption_sheet *sheet = vd_lanes_captioned(&chat->lanes);
    if (!sheet)
        return;
    if (one && sheet->captioners == 1 && *sheet->wish.read && look->side == 0) {
        vd_notice_say(&chat->notice, "what-if works on the caption that is read; Tab selects it");
        return;
    }
    if (sheet->captioners == 1) // beside the caption as it is
        look->side = 1;
    look->playing = false;
    vd_lanes_caption_flip(&chat->lanes, look->side, one);
}

int vd_chat_look_layer(const vd_chat *chat, const vd_caption_side *caption)
{
    int layer = chat->nav.caption.layer, layers = caption->trace.layers;
    return layer >= 0 && layer < layers ? layer : layers - 1;
}

int vd_chat_look_head(const vd_chat *chat, const vd_caption_side *caption)
{
    int head = chat->nav.caption.head;
    return head < caption->trace.heads ? head : -1;
}
