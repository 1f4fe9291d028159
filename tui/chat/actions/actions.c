// What keys and commands do to the chat.
#include "tui/chat/actions/actions.h"

#include <glib.h>
#include <string.h>

#include "tui/session/remark.h"

// ---- what is shown -----------------------------------------------------------------------------

const vd_round *vd_chat_round(const vd_chat *chat)
{
    int at = vd_navigation_round(&chat->nav, chat->conversation.branch);
    return at >= 0 ? &chat->conversation.branch->rounds[at] : NULL;
}

const vd_response *vd_chat_response(const vd_chat *chat)
{
    const vd_round *round = vd_chat_round(chat);
    return round ? &round->response[chat->nav.lane] : NULL;
}

bool vd_chat_asked(vd_chat *chat)
{
    return vd_chat_round(chat) ||
           (!vd_lanes_must_wait(&chat->lanes) && vd_notice_complain(&chat->notice, VD_ASK_FIRST));
}

void vd_chat_open(vd_chat *chat, vd_place place)
{
    const vd_view *view = chat->views[place];
    if (view->of_round && !vd_chat_asked(chat))
        return;
    vd_places_open(&chat->nav.places, place);
    if (view->filter) {
        vd_line_clear(&chat->nav.filter);
        chat->nav.list_at = 0;
    }
    if (view->open)
        view->open(chat);
}

vd_line *vd_chat_line(vd_chat *chat)
{
    return vd_chat_view(chat)->filter ? &chat->nav.filter : &chat->nav.line;
}

void vd_chat_find(vd_chat *chat, const char *text)
{
    vd_navigation *nav = &chat->nav;
    bool found = vd_navigation_find(nav, chat->conversation.branch, text);
    if (!nav->search[0])
        vd_notice_say(&chat->notice, "search: type what to look for, then Ctrl-S (or /find TEXT)");
    else if (!found)
        vd_notice_say(&chat->notice, "no question or answer has \"%s\"", nav->search);
    else
        vd_notice_say(&chat->notice, "round %d has \"%s\"; Ctrl-S looks further up",
                      nav->selected + 1, nav->search);
}

void vd_chat_fold(vd_chat *chat, bool on)
{
    chat->rankings.folded = on;
    chat->nav.list_at = 0;
    vd_notice_say(&chat->notice, "%s",
                  on ? "answers with the same meaning are grouped"
                     : "every answer is shown separately");
}

// Asks for what the open place shows, when it is not there.
static void pump_place(vd_chat *chat)
{
    vd_navigation *nav = &chat->nav;
    if (nav->places.now == VD_PLACE_CAPTION && vd_lanes_caption(&chat->lanes))
        vd_chat_words_start(chat);
    vd_chat_words_settle(chat);
    int round = vd_navigation_round(nav, chat->conversation.branch);
    if (round < 0)
        return;
    if (nav->places.now == VD_PLACE_WALK && vd_lanes_walk(&chat->lanes, nav->lane, (size_t)round))
        nav->walk_at = 0;
    if (nav->places.now == VD_PLACE_DETAIL)
        vd_lanes_recall(&chat->lanes, nav->lane, (size_t)round);
}

void vd_chat_settle(vd_chat *chat)
{
    vd_navigation_settle(&chat->nav, &chat->lanes);
    pump_place(chat);
}

// "none": all back; "": nothing.
static void what_if_of_caption(vd_chat *chat, const char *text)
{
    const vd_caption_sheet *sheet = vd_lanes_captioned(&chat->lanes);
    vd_error err;
    vd_switch one;
    bool none = strcmp(text, "none") == 0;
    if (*text && !none && vd_switch_parse(text, VD_OF_CAPTION, &one, &err))
        vd_notice_complain(&chat->notice, "%s", err.text);
    else if (*text && sheet)
        vd_chat_words_flip(chat, none ? NULL : &one);
}

void vd_chat_what_if(vd_chat *chat, const char *text)
{
    vd_error err;
    vd_switch one;
    if (chat->nav.places.now == VD_PLACE_CAPTION) {
        what_if_of_caption(chat, text);
        return;
    }
    if (!vd_chat_asked(chat))
        return;
    bool none = strcmp(text, "none") == 0;
    if (*text && !none && vd_switch_parse(text, VD_OF_ANSWER, &one, &err)) {
        vd_notice_complain(&chat->notice, "%s", err.text);
        return;
    }
    if (chat->nav.places.now != VD_PLACE_WALK)
        vd_chat_open(chat, VD_PLACE_WALK);
    pump_place(chat); // a walk through another answer begins without switches
    chat->nav.walk_page = VD_WALK_WHAT_IF;
    if (none)
        chat->lanes.walk.switches.count = 0;
    else if (*text)
        vd_lanes_flip(&chat->lanes, &one);
}

// ---- rounds ------------------------------------------------------------------------------------

// Small talk is replied to in the dialog; where that is not seen, in the last row.
static void reply_to_talk(vd_chat *chat, const char *typed, const char *talk)
{
    enum { LEAST_ROWS = 3 };
    const vd_navigation *nav = &chat->nav;
    char reply[256];
    snprintf(reply, sizeof reply, VD_PROGRAM_SAYS "%s", talk);
    vd_branch *branch = chat->conversation.branch;
    vd_branch_add_aside(branch, branch->count, typed, reply);
    if (nav->places.now != VD_PLACE_CHAT || nav->layout.dialog.height < LEAST_ROWS)
        vd_notice_say(&chat->notice, "%s", reply);
}

void vd_chat_ask(vd_chat *chat, const char *typed)
{
    vd_navigation *nav = &chat->nav;
    const char *talk = vd_small_talk(typed);
    if (talk)
        reply_to_talk(chat, typed, talk);
    else if (!vd_lanes_ask(&chat->lanes, typed))
        return;
    vd_line_remember(&nav->line, typed);
    vd_line_clear(&nav->line);
    vd_navigation_newest(nav);
}

void vd_chat_choose(vd_chat *chat, int rank)
{
    vd_navigation *nav = &chat->nav;
    int at = vd_navigation_round(nav, chat->conversation.branch);
    if (!vd_chat_asked(chat) || !vd_lanes_choose(&chat->lanes, nav->lane, (size_t)at, rank))
        return;
    vd_navigation_settle(nav, &chat->lanes);
    if (at + 1 < (int)chat->conversation.branch->count)
        nav->selected = at;
}

void vd_chat_edit(vd_chat *chat)
{
    vd_navigation *nav = &chat->nav;
    int at = vd_navigation_round(nav, chat->conversation.branch);
    if (!vd_chat_asked(chat) || vd_lanes_must_wait(&chat->lanes))
        return;
    nav->editing = at;
    vd_line_set(&nav->line, chat->conversation.branch->rounds[at].typed);
    vd_notice_say(&chat->notice,
                  "Enter asks it instead of round %d, and all later ones again; Esc cancels",
                  at + 1);
}

void vd_chat_change(vd_chat *chat, size_t at, const char *typed)
{
    vd_navigation *nav = &chat->nav;
    if (!vd_lanes_change(&chat->lanes, at, typed))
        return;
    vd_navigation_settle(nav, &chat->lanes);
    nav->selected = at + 1 < chat->conversation.branch->count ? (int)at : -1;
    nav->reveal = true;
    vd_line_remember(&nav->line, typed);
    vd_line_clear(&nav->line);
}

void vd_chat_branch(vd_chat *chat)
{
    int selected = chat->nav.selected;
    size_t keep = selected >= 0 ? (size_t)selected + 1 : chat->conversation.branch->count;
    if (!vd_lanes_must_wait(&chat->lanes) && vd_chat_asked(chat) &&
        vd_lanes_fork(&chat->lanes, keep))
        vd_notice_say(&chat->notice,
                      "branch %d continues after round %zu; Alt-n goes to the other branches",
                      chat->conversation.branches.used + 1, keep);
}

// ---- pictures ----------------------------------------------------------------------------------

static void begin_picture(vd_chat *chat)
{
    chat->nav.scroll = 0;
    chat->nav.suggestion = 0;
    vd_picture_regions_clear(&chat->shown.regions);
    chat->shown.no_regions[0] = '\0';
}

// Takes the pixels; empty: they are being read, or are read here.
static void show_picture(vd_chat *chat, vd_image *image)
{
    vd_shown_picture *shown = &chat->shown;
    vd_error error = {0};
    begin_picture(chat);
    if (!image->rgb && !chat->lanes.image)
        vd_world_image(chat->conversation.world, chat->conversation.branches.picture, image,
                       &error);
    vd_picture_set(&shown->picture, image);
    snprintf(shown->error, sizeof shown->error, "%s",
             chat->lanes.image ? "the picture is being read; Esc stops" : error.text);
}

void vd_chat_go_image(vd_chat *chat, size_t index, vd_image *image)
{
    vd_lanes_show_picture(&chat->lanes, index, !image->rgb);
    show_picture(chat, image);
}

void vd_chat_go_picture(vd_chat *chat, size_t index)
{
    vd_chat_go_image(chat, index, &(vd_image){0});
}

bool vd_chat_leave_session(vd_chat *chat, size_t picture)
{
    if (!vd_lanes_leave_session(&chat->lanes, picture))
        return false;
    vd_lanes_stop_comparing(&chat->lanes);
    show_picture(chat, &(vd_image){0});
    return true;
}

void vd_chat_wish(vd_chat *chat, vd_wish wish, const char *name)
{
    g_strlcpy(chat->wished, name, sizeof chat->wished);
    chat->wish = wish;
}

void vd_chat_start_over(vd_chat *chat)
{
    vd_lanes_start_over(&chat->lanes);
    begin_picture(chat);
}
