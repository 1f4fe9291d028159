// What keys and commands do to the chat: asking, choosing, pictures, searching, suggesting.
#include "tui/chat/chat.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "engine/base/alloc.h"

// ---- rounds ------------------------------------------------------------------------------------

bool vd_chat_busy(const vd_chat *chat)
{
    return chat->round_count > 0 && !chat->rounds[chat->round_count - 1].take[0].ready;
}

const vd_round *vd_chat_shown(const vd_chat *chat)
{
    if (chat->selected >= 0 && chat->selected < (int)chat->round_count &&
        chat->rounds[chat->selected].take[chat->lane].ready)
        return &chat->rounds[chat->selected];
    for (size_t i = chat->round_count; i > 0; i--)
        if (chat->rounds[i - 1].take[chat->lane].ready)
            return &chat->rounds[i - 1];
    return NULL;
}

const vd_take *vd_chat_take(const vd_chat *chat)
{
    const vd_round *round = vd_chat_shown(chat);
    return round ? &round->take[chat->lane] : NULL;
}

const char *vd_take_answer(const vd_take *take, int pool_index)
{
    if (pool_index < 0 || pool_index >= take->answer_count || !take->answers)
        return "?";
    return take->answers[pool_index];
}

int vd_clamp(int value, int most)
{
    return value < 0 || most < 0 ? 0 : value > most ? most : value;
}

// ---- what keys and commands do -----------------------------------------------------------------

void vd_chat_ask(vd_chat *chat, const char *typed)
{
    if (vd_chat_busy(chat)) {
        vd_chat_say(chat, "still answering; Ctrl-C stops it");
        return;
    }
    const vd_lane *lane = &chat->lanes[0];
    if (lane->failed && !lane->model[0] && !lane->loading[0]) {
        vd_chat_complain(chat, "no model is loaded: /model base, /model improved or /model FILE");
        return;
    }
    char *copy = vd_strdup(typed);
    if (!copy || !vd_chat_make_room(chat)) {
        vd_free(copy);
        return;
    }
    chat->rounds[chat->round_count++] = (vd_round){.typed = copy, .human = -1};
    for (int i = 0; i < chat->lane_count; i++)
        chat->lanes[i].stopped = false;
    vd_chat_pump(chat);
    if (!vd_chat_busy(chat))
        return; // it could not be asked and is gone again
    vd_line_remember(&chat->line, typed, NULL);
    vd_line_clear(&chat->line);
    chat->selected = -1;
    chat->scroll = 0;
}

void vd_chat_again(vd_chat *chat)
{
    if (chat->round_count == 0 || vd_chat_busy(chat)) {
        vd_chat_say(chat, "%s",
                    chat->round_count ? "still answering; Ctrl-C stops it"
                                      : "nothing was asked yet");
        return;
    }
    size_t last = chat->round_count - 1;
    chat->asked_again = (int)last;
    for (int i = 0; i < chat->lane_count; i++)
        vd_chat_forget(chat, i, last);
    vd_chat_pump(chat);
}

void vd_chat_choose(vd_chat *chat, int place)
{
    const vd_round *shown = vd_chat_shown(chat);
    if (!shown || vd_chat_busy(chat)) {
        vd_chat_say(chat, "%s", shown ? "still answering; Ctrl-C stops it" : "ask something first");
        return;
    }
    size_t at = (size_t)(shown - chat->rounds);
    bool last = at + 1 == chat->round_count;
    const vd_take *take = &shown->take[chat->lane];
    if (place < 0 || place >= take->reply.answer.candidates)
        return;
    if (!vd_chat_hears_itself(chat, chat->lane, at)) {
        vd_chat_say(chat, "%s continues from %s answers here; /history own lets it go its own way",
                    take->model, vd_follow_name(chat->lanes[chat->lane].follow));
        return;
    }
    if (!last && !vd_chat_fork(chat, chat->round_count)) // what comes after it will change
        return;
    vd_take *own = &chat->rounds[at].take[chat->lane];
    own->chosen = own->reply.answer.order[place];
    if (!last) {
        chat->selected = (int)at;
        chat->asked_again = (int)at + 1;
    }
    vd_chat_say(chat, "the conversation continues with \"%s\"", vd_take_answer(own, own->chosen));
    vd_chat_rechosen(chat, chat->lane, at);
}

// False when it cannot be asked for.
static bool ask_picture(vd_chat *chat, size_t index)
{
    return (!vd_chat_busy(chat) || vd_chat_post(chat, VD_REQUEST_STOP, 0, NULL, 0)) &&
           vd_chat_post(chat, VD_REQUEST_PICTURE, 0, NULL, index);
}

static void show_picture(vd_chat *chat, size_t index)
{
    chat->index = index;
    chat->scroll = 0;
    chat->suggestion = 0;
    vd_free(chat->boxes);
    chat->boxes = NULL;
    chat->regions = 0;
    vd_image image = {0};
    vd_error error = {0};
    vd_status status = chat->source.picture(chat->source.context, index, &image, &error);
    vd_picture_set(&chat->picture, &image);
    snprintf(chat->picture_error, sizeof chat->picture_error, "%s", status ? error.text : "");
}

void vd_chat_go_picture(vd_chat *chat, size_t index)
{
    if (!ask_picture(chat, index))
        return;
    bool again = vd_chat_turn_page(chat, index);
    show_picture(chat, index);
    if (again)
        vd_chat_say(chat, "the conversation about this picture goes on; /new starts over");
    vd_chat_pump(chat);
}

void vd_chat_start_over(vd_chat *chat)
{
    if (!ask_picture(chat, chat->index))
        return;
    vd_chat_drop_branches(chat);
    show_picture(chat, chat->index);
}

void vd_chat_random_picture(vd_chat *chat)
{
    size_t count = chat->source.count(chat->source.context);
    // Marsaglia's xorshift64 ("Xorshift RNGs", 2003): never the same picture again when there are
    // others.
    chat->random ^= chat->random << 13;
    chat->random ^= chat->random >> 7;
    chat->random ^= chat->random << 17;
    size_t step = count > 1 ? 1 + (size_t)(chat->random % (count - 1)) : 0;
    vd_chat_go_picture(chat, (chat->index + step) % count);
}

bool vd_text_contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    char first[3] = {(char)tolower((unsigned char)*part), (char)toupper((unsigned char)*part), 0};
    if (length == 0)
        return true;
    while ((text = strpbrk(text, first)) != NULL && strncasecmp(text, part, length) != 0)
        text++;
    return text != NULL;
}

void vd_chat_find(vd_chat *chat, const char *text)
{
    if (text[0])
        snprintf(chat->search, sizeof chat->search, "%s", text);
    if (!chat->search[0]) {
        vd_chat_say(chat, "search: type what to look for, then Ctrl-S (or /find TEXT)");
        return;
    }
    int count = (int)chat->round_count, from = chat->selected >= 0 ? chat->selected : count;
    for (int i = 1; i <= count; i++) {
        int at = ((from - i) % count + count) % count;
        const vd_round *round = &chat->rounds[at];
        const vd_take *take = &round->take[chat->lane];
        if (!take->ready || (!vd_text_contains(round->typed, chat->search) &&
                             !vd_text_contains(vd_take_answer(take, take->chosen), chat->search)))
            continue;
        chat->selected = at;
        chat->follow = true;
        vd_chat_say(chat, "round %d has \"%s\"; Ctrl-S looks further up", at + 1, chat->search);
        return;
    }
    vd_chat_say(chat, "\"%s\" is not in the dialog", chat->search);
}

void vd_chat_step_round(vd_chat *chat, int step)
{
    int last = (int)chat->round_count - 1 - (vd_chat_busy(chat) ? 1 : 0);
    if (last < 0)
        return;
    int at = (chat->selected < 0 ? last : chat->selected) + step;
    chat->selected = at >= last ? -1 : at < 0 ? 0 : at;
    chat->follow = true;
}

void vd_chat_open(vd_chat *chat, vd_place place)
{
    const vd_view *view = vd_view_of(place);
    if (view->of_round && !vd_chat_shown(chat)) {
        vd_chat_say(chat, "ask something first");
        return;
    }
    // A place that lies on the way here is gone back to, not opened again.
    int depth = 0;
    while (depth <= chat->depth && chat->stack[depth] != place)
        depth++;
    chat->depth = depth;
    chat->stack[depth] = chat->place = place;
    if (place == VD_PLACE_CHAT)
        chat->lane = 0;
    if (view->filter) {
        vd_line_clear(&chat->filter);
        chat->list_at = 0;
    }
    chat->top[place] = 0;
    if (view->open)
        view->open(chat);
}

void vd_chat_back(vd_chat *chat)
{
    chat->depth = vd_clamp(chat->depth - 1, VD_PLACES - 1);
    chat->place = chat->stack[chat->depth];
    if (chat->place == VD_PLACE_CHAT)
        chat->lane = 0;
}

void vd_chat_toggle(vd_chat *chat, vd_place place)
{
    if (chat->place == place)
        vd_chat_back(chat);
    else
        vd_chat_open(chat, place);
}
