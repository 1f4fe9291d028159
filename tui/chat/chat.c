#include "tui/chat/chat.h"

#include "tui/base/shares.h"
#include "tui/chat/views/draw.h"

static const vd_view *const views[VD_PLACES] = {
#define X(name, view, title) [VD_PLACE_##name] = &vd_view_##view,
    VD_PLACE_LIST(X)
#undef X
};

vd_status vd_chat_init(vd_chat *chat, const vd_world *world, size_t index, const char *model,
                       uint64_t seed, vd_error *err)
{
    size_t count = vd_world_count(world);
    if (count <= index)
        return vd_error_set(err, VD_USAGE, "picture %zu: there are %zu", index + 1, count);
    *chat = (vd_chat){.views = views, .random = seed ? seed : 1};
    vd_conversation_init(&chat->conversation, world, index);
    vd_lanes_init(&chat->lanes, &chat->conversation, &chat->notice);
    vd_navigation_init(&chat->nav);
    vd_lanes_use_model(&chat->lanes, 0, model);
    vd_chat_go_picture(chat, index);
    return VD_OK;
}

void vd_chat_free(vd_chat *chat)
{
    vd_lanes_free(&chat->lanes);
    vd_conversation_free(&chat->conversation);
    vd_navigation_free(&chat->nav);
    vd_rankings_clear(&chat->rankings);
    vd_picture_clear(&chat->shown.picture);
    vd_picture_clear(&chat->preview.picture);
    vd_opening_clear(&chat->opening);
    vd_picture_regions_clear(&chat->shown.regions);
    g_free(chat->saved);
    *chat = (vd_chat){0};
}

static void take_regions(vd_shown_picture *shown, vd_event *event)
{
    vd_picture_regions_clear(&shown->regions);
    shown->regions = event->regions;
    event->regions = (vd_picture_regions){0};
    snprintf(shown->no_regions, sizeof shown->no_regions, "%s",
             event->status ? event->error.text : "");
}

// The answer that has come, in a view that does not show it.
static void tell_unseen(vd_chat *chat)
{
    const vd_branch *branch = chat->conversation.branch;
    if (!vd_chat_view(chat)->hides || chat->notice.kind != VD_NOTICE_NONE || !branch->count)
        return;
    const vd_response *response = &branch->rounds[branch->count - 1].response[0];
    if (response->ready)
        vd_notice_say(
            &chat->notice, "%s (%s); Esc goes back to the chat",
            vd_response_text(response, response->chosen),
            vd_percent((double)response->reply.answer.probability[response->chosen]).text);
}

void vd_chat_event(vd_chat *chat, vd_event *event)
{
    vd_navigation *nav = &chat->nav;
    if (event->kind == VD_REQUEST_PICTURE && event->serial == chat->lanes.picture)
        take_regions(&chat->shown, event);
    else if (event->kind == VD_REQUEST_IMAGE)
        vd_chat_image_came(chat, event);
    int models = chat->lanes.count;
    vd_arrival arrival = vd_lanes_event(&chat->lanes, event);
    vd_event_clear(event);
    if (arrival.question && nav->line.length == 0)
        vd_line_set(&nav->line, arrival.question);
    g_free(arrival.question);
    if (arrival.answered) {
        nav->word = 0;
        nav->scroll = 0;
        tell_unseen(chat);
    }
    if (arrival.answered && chat->lanes.compare_when_free && nav->places.now == VD_PLACE_COMPARE &&
        !vd_conversation_waits(&chat->conversation))
        vd_lanes_compare_with(&chat->lanes, "");
    if (models > 1 && chat->lanes.count == 1 && nav->places.now == VD_PLACE_COMPARE)
        vd_chat_open(chat, VD_PLACE_CHAT); // the other one could not be read
    vd_chat_settle(chat);
}
