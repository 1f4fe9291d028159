// What keys and commands do to the chat: rounds, pictures, models, searching, suggesting.
#include "tui/view_chat.h"

#include <string.h>
#include <strings.h>

#include "engine/alloc.h"

// ---- rounds ------------------------------------------------------------------------------------

static void round_clear(vd_round *round)
{
    vd_free(round->typed);
    for (int i = 0; i < VD_LANES; i++)
        vd_reply_clear(&round->take[i].reply);
    *round = (vd_round){.human = -1};
}

void vd_chat_drop_rounds(vd_chat *chat, size_t keep)
{
    while (chat->round_count > keep)
        round_clear(&chat->rounds[--chat->round_count]);
    if (chat->selected >= (int)chat->round_count)
        chat->selected = -1;
}

bool vd_chat_busy(const vd_chat *chat)
{
    return chat->round_count > 0 && chat->rounds[chat->round_count - 1].take[0].pending;
}

const vd_round *vd_chat_shown(const vd_chat *chat)
{
    if (chat->selected >= 0 && chat->selected < (int)chat->round_count &&
        !chat->rounds[chat->selected].take[chat->lane].pending)
        return &chat->rounds[chat->selected];
    size_t last = chat->round_count;
    if (vd_chat_busy(chat))
        last--;
    return last > 0 ? &chat->rounds[last - 1] : NULL;
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

static bool make_room(vd_chat *chat)
{
    if (chat->round_count < chat->round_room)
        return true;
    size_t room = chat->round_room ? chat->round_room * 2 : 16;
    vd_round *grown = vd_grow(chat->rounds, chat->round_count, room, sizeof *grown);
    if (!grown) {
        vd_chat_complain(chat, "out of memory: the question was not asked");
        return false;
    }
    chat->rounds = grown;
    chat->round_room = room;
    return true;
}

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
    if (!copy || !make_room(chat)) {
        vd_free(copy);
        return;
    }
    if (!vd_chat_post(chat, VD_REQUEST_ASK, typed, 0)) {
        vd_free(copy);
        return;
    }
    chat->rounds[chat->round_count++] = (vd_round){
        .typed = copy, .human = -1, .take[0] = {.pending = true, .serial = chat->serial}};
    vd_line_remember(&chat->line, typed, NULL);
    vd_line_clear(&chat->line);
    chat->selected = -1;
    chat->scroll = 0;
    chat->before[0] = '\0';
}

void vd_chat_undo(vd_chat *chat)
{
    if (vd_chat_busy(chat))
        vd_chat_say(chat, "still answering; Ctrl-C stops it");
    else if (chat->round_count == 0)
        vd_chat_say(chat, "nothing to forget: no question was asked yet");
    else if (vd_chat_post(chat, VD_REQUEST_UNDO, NULL, 0)) {
        vd_chat_drop_rounds(chat, chat->round_count - 1);
        vd_chat_say(chat, "the last round is forgotten");
    }
}

void vd_chat_again(vd_chat *chat)
{
    if (chat->round_count == 0 || vd_chat_busy(chat) ||
        chat->request_count + 2 > VD_CHAT_REQUESTS) {
        vd_chat_say(chat, "%s",
                    chat->round_count ? "still answering; Ctrl-C stops it"
                                      : "nothing was asked yet");
        return;
    }
    const vd_round *last = &chat->rounds[chat->round_count - 1];
    char before[sizeof chat->before], percent[16] = "?";
    const vd_take *take = &last->take[0];
    if (take->chosen >= 0 && take->chosen < take->reply.answer.candidates)
        vd_percent(percent, sizeof percent, take->reply.answer.probability[take->chosen]);
    snprintf(before, sizeof before, "before: %s (%s, %s)", vd_take_answer(take, take->chosen),
             percent, take->model);
    char *typed = vd_strdup(last->typed);
    if (!typed || !vd_chat_post(chat, VD_REQUEST_UNDO, NULL, 0)) {
        vd_free(typed);
        return;
    }
    vd_chat_drop_rounds(chat, chat->round_count - 1);
    char draft[VD_LINE_MAX + 1]; // asking clears the line; what is being typed stays
    memcpy(draft, chat->line.text, sizeof draft);
    vd_chat_ask(chat, typed);
    vd_line_set(&chat->line, draft);
    memcpy(chat->before, before, sizeof before);
    vd_free(typed);
}

void vd_chat_choose(vd_chat *chat, int place)
{
    const vd_round *shown = vd_chat_shown(chat);
    if (!shown || vd_chat_busy(chat)) {
        vd_chat_say(chat, "%s", shown ? "still answering; Ctrl-C stops it" : "ask something first");
        return;
    }
    vd_round *last = &chat->rounds[chat->round_count - 1];
    if (shown != last) {
        vd_chat_say(chat,
                    "only the last answer can be replaced (Alt-Down goes there, Alt-u forgets "
                    "the last round)");
        return;
    }
    vd_take *take = &last->take[0];
    if (place < 0 || place >= take->reply.answer.candidates)
        return;
    int chosen = take->reply.answer.order[place];
    if (!vd_chat_post(chat, VD_REQUEST_CHOOSE, NULL, (size_t)chosen))
        return;
    take->chosen = chosen;
    vd_chat_say(chat, "the conversation continues with \"%s\"", vd_take_answer(take, chosen));
}

void vd_chat_go_picture(vd_chat *chat, size_t index)
{
    if (vd_chat_busy(chat) && !vd_chat_post(chat, VD_REQUEST_STOP, NULL, 0))
        return;
    if (!vd_chat_post(chat, VD_REQUEST_PICTURE, NULL, index))
        return;
    vd_chat_drop_rounds(chat, 0);
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

void vd_chat_use_model(vd_chat *chat, const char *name)
{
    if (vd_chat_busy(chat)) {
        vd_chat_say(chat, "still answering; Ctrl-C stops it");
        return;
    }
    if (vd_chat_post(chat, VD_REQUEST_MODEL, name, 0)) {
        const char *base = strrchr(name, '/');
        snprintf(chat->lanes[0].loading, sizeof chat->lanes[0].loading, "%s",
                 base ? base + 1 : name);
    }
}

void vd_chat_switch_model(vd_chat *chat)
{
    const vd_lane *lane = &chat->lanes[0];
    const char *now = lane->loading[0] ? lane->loading : lane->model;
    vd_chat_use_model(chat, strcmp(now, "improved") == 0 ? "base" : "improved");
}

bool vd_text_contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return length == 0;
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
        const vd_take *take = &round->take[0];
        if (take->pending || (!vd_text_contains(round->typed, chat->search) &&
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
    if (place == VD_PLACE_HELP && chat->place != VD_PLACE_HELP)
        chat->before_help = chat->place;
    if (view->filter) {
        vd_line_clear(&chat->filter);
        chat->list_at = 0;
    }
    chat->top[place] = 0;
    chat->place = place;
    if (view->open)
        view->open(chat);
}

void vd_chat_toggle(vd_chat *chat, vd_place place)
{
    vd_chat_open(chat, chat->place == place ? VD_PLACE_CHAT : place);
}

// ---- suggestions -------------------------------------------------------------------------------

void vd_chat_suggest(vd_chat *chat)
{
    vd_human human;
    void *context = chat->source.context;
    int round = (int)chat->round_count + chat->suggestion;
    if (!chat->source.human(context, chat->index, round, &human)) {
        chat->suggestion = -(int)chat->round_count; // from the first one again
        round = 0;
        if (!chat->source.human(context, chat->index, round, &human)) {
            vd_chat_say(chat, "nobody's questions about this picture are known");
            return;
        }
    }
    chat->suggestion++;
    snprintf(chat->suggested, sizeof chat->suggested, "%s?", human.question);
    vd_line_set(&chat->line, chat->suggested);
    vd_chat_say(chat, "people's question %d about this picture; Tab: another, Enter: ask it",
                round + 1);
}

int vd_chat_human_round(const vd_chat *chat, const char *question)
{
    vd_human human;
    for (int i = 0; chat->source.human(chat->source.context, chat->index, i, &human); i++)
        if (strcasecmp(human.question, question) == 0)
            return i;
    return -1;
}
