// The caption word by word: playing, and what of it is looked at.
#include <stdlib.h>
#include <string.h>

#include "tui/chat/actions/actions.h"

enum { WORD_MS = 900, FADE_MS = 70 }; // that a word stays, that a step of fading takes

// ---- playing ------------------------------------------------------------------------------------

static bool is_open(const vd_chat *chat)
{
    return chat->nav.place == VD_PLACE_CAPTION;
}

static int last_column(const vd_chat *chat)
{
    const vd_caption_walk *walk = vd_lanes_captioned(&chat->lanes);
    return walk ? walk->columns - 1 : 0;
}

int vd_chat_words_shown(const vd_chat *chat, const vd_caption_walk *walk)
{
    return vd_clamp(chat->nav.caption.side, walk->sides - 1);
}

static void select_column(vd_chat *chat, int column)
{
    const vd_caption_walk *walk = vd_lanes_captioned(&chat->lanes);
    vd_caption_look *look = &chat->nav.caption;
    look->column = vd_clamp(column, last_column(chat));
    look->fade = 0;
    look->word =
        walk ? vd_caption_walk_word(walk, vd_chat_words_shown(chat, walk), look->column) : 0;
}

void vd_chat_words_settle(vd_chat *chat)
{
    const vd_caption_walk *walk = vd_lanes_captioned(&chat->lanes);
    vd_caption_look *look = &chat->nav.caption;
    if (!walk || look->stamp == chat->lanes.caption.stamp)
        return;
    look->stamp = chat->lanes.caption.stamp;
    look->side = vd_clamp(look->side, walk->sides - 1);
    int column = look->column;
    for (int i = 0; i < walk->columns; i++)
        if (vd_caption_walk_word(walk, look->side, i) == look->word)
            column = i;
    select_column(chat, column);
}

int vd_chat_pause(const vd_chat *chat)
{
    bool moves = is_open(chat) && chat->nav.caption.playing && vd_lanes_captioned(&chat->lanes);
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
    look->playing = look->fade || look->column < last_column(chat);
}

void vd_chat_words_start(vd_chat *chat)
{
    chat->nav.caption.at = 0;
    select_column(chat, 0);
    chat->nav.caption.playing = !chat->still;
}

void vd_chat_words_play(vd_chat *chat)
{
    vd_caption_look *look = &chat->nav.caption;
    if (!is_open(chat)) {
        vd_chat_open(chat, VD_PLACE_CAPTION);
        return;
    }
    if (chat->still) {
        vd_notice_say(&chat->notice, "nothing moves by itself (motion = off): Left and Right go "
                                     "from word to word");
        return;
    }
    look->playing = !look->playing;
    look->fade = 0;
    if (look->playing && look->column >= last_column(chat))
        select_column(chat, 0);
}

void vd_chat_words_go(vd_chat *chat, int column)
{
    select_column(chat, column);
    chat->nav.caption.playing = false;
}

void vd_chat_words_side(vd_chat *chat, int side)
{
    const vd_caption_walk *walk = vd_lanes_captioned(&chat->lanes);
    chat->nav.caption.side = walk ? side % walk->sides : 0;
    select_column(chat, chat->nav.caption.column);
    if (walk && walk->sides == 1)
        vd_notice_say(&chat->notice, "there is one caption; /captioner FILE shows another beside "
                                     "it, Enter changes something");
}

void vd_chat_words_flip(vd_chat *chat, const vd_switch *one)
{
    vd_caption_look *look = &chat->nav.caption;
    const vd_caption_walk *walk = vd_lanes_captioned(&chat->lanes);
    if (!walk)
        return;
    if (!walk->wish.second[0]) // beside the caption as it is
        look->side = 1;
    look->playing = false;
    vd_lanes_caption_flip(&chat->lanes, look->side, one);
}

// ---- commands -----------------------------------------------------------------------------------

// A number from 1 to most; else a notice.
static bool read_place(vd_chat *chat, const char *command, const char *text, int most, int *out)
{
    char *end;
    long number = strtol(text, &end, 10);
    *out = (int)number - 1;
    if (*text && !*end && number >= 1 && number <= most)
        return true;
    vd_notice_complain(&chat->notice, "%s %s: expected a number from 1 to %d", command, text, most);
    return false;
}

// The caption that is looked at; NULL (and a notice): none.
static const vd_walked_caption *looked_at(vd_chat *chat)
{
    const vd_caption_walk *walk = is_open(chat) ? vd_lanes_captioned(&chat->lanes) : NULL;
    if (!walk)
        vd_notice_complain(&chat->notice, "F11 (or /words) shows the caption word by word first");
    return walk ? &walk->side[vd_chat_words_shown(chat, walk)] : NULL;
}

void vd_chat_word(vd_chat *chat, const char *text)
{
    int column;
    if (looked_at(chat) && read_place(chat, "/word", text, last_column(chat) + 1, &column))
        vd_chat_words_go(chat, column);
}

int vd_chat_look_layer(const vd_chat *chat, const vd_walked_caption *caption)
{
    int layer = chat->nav.caption.layer, layers = caption->trace.layers;
    return layer >= 0 && layer < layers ? layer : layers - 1;
}

int vd_chat_look_head(const vd_chat *chat, const vd_walked_caption *caption)
{
    int head = chat->nav.caption.head;
    return head < caption->trace.heads ? head : -1;
}

void vd_chat_layer(vd_chat *chat, const char *text)
{
    const vd_walked_caption *caption = looked_at(chat);
    int layer;
    if (caption && !*text)
        chat->nav.caption.layer = (vd_chat_look_layer(chat, caption) + 1) % caption->trace.layers;
    else if (caption && read_place(chat, "/layer", text, caption->trace.layers, &layer))
        chat->nav.caption.layer = layer;
}

void vd_chat_head(vd_chat *chat, const char *text)
{
    const vd_walked_caption *caption = looked_at(chat);
    int head;
    if (caption && !*text) {
        head = vd_chat_look_head(chat, caption) + 1;
        chat->nav.caption.head = head < caption->trace.heads ? head : -1;
    } else if (caption && read_place(chat, "/head", text, caption->trace.heads, &head)) {
        chat->nav.caption.head = head;
    }
}

void vd_chat_captioner(vd_chat *chat, const char *text)
{
    if (!*text) {
        vd_notice_complain(&chat->notice,
                           "/captioner takes the file of a second captioner, or off");
        return;
    }
    vd_lanes_captioner(&chat->lanes, strcmp(text, "off") == 0 ? "" : text);
    if (!is_open(chat))
        vd_chat_open(chat, VD_PLACE_CAPTION);
}
