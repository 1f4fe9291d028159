// The rounds of a conversation: forgetting, editing them, and conversations set aside.
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/chat/chat.h"

// ---- rounds ------------------------------------------------------------------------------------

void vd_take_clear(vd_take *take)
{
    vd_reply_clear(&take->reply);
    vd_free(take->was);
    vd_free(take->wanted);
    *take = (vd_take){0};
}

static void round_clear(vd_round *round)
{
    vd_free(round->typed);
    for (int i = 0; i < VD_MODELS; i++)
        vd_take_clear(&round->take[i]);
    *round = (vd_round){.human = -1};
}

// Leaves a round that can be cleared, whole or not.
static bool round_copy(const vd_round *from, vd_round *to)
{
    *to = (vd_round){.human = from->human, .typed = vd_strdup(from->typed)};
    bool whole = to->typed != NULL;
    for (int i = 0; i < VD_MODELS && whole; i++) {
        const vd_take *take = &from->take[i];
        vd_take copy = *take;
        copy.reply = (vd_reply){0};
        copy.was = NULL;
        copy.wanted = take->wanted ? vd_strdup(take->wanted) : NULL;
        copy.ready = false;
        to->take[i] = copy;
        whole = !take->wanted || copy.wanted;
        if (!take->ready || !whole)
            continue;
        whole = vd_reply_copy(&take->reply, &to->take[i].reply, NULL) == VD_OK;
        to->take[i].ready = whole;
    }
    return whole;
}

bool vd_chat_make_room(vd_chat *chat)
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

void vd_chat_drop_rounds(vd_chat *chat, size_t keep)
{
    while (chat->round_count > keep)
        round_clear(&chat->rounds[--chat->round_count]);
    if (chat->selected >= (int)chat->round_count)
        chat->selected = -1;
    if (chat->asked_again >= (int)chat->round_count)
        chat->asked_again = -1;
    for (int i = 0; i < VD_MODELS; i++)
        if (chat->lanes[i].serial && chat->lanes[i].at >= keep)
            chat->lanes[i].serial = 0;
    if (chat->editing >= (int)chat->round_count)
        vd_chat_stop_editing(chat);
}

// ---- branches ----------------------------------------------------------------------------------

// Nothing that is on its way belongs to the conversation any more.
static void leave_conversation(vd_chat *chat)
{
    for (int i = 0; i < VD_MODELS; i++) {
        chat->lanes[i].serial = 0;
        chat->lanes[i].stopped = false;
    }
    chat->selected = chat->asked_again = -1;
    chat->scroll = 0;
    vd_chat_stop_editing(chat);
}

static void put_aside(vd_chat *chat)
{
    chat->branches[chat->branch] = (vd_branch){chat->rounds, chat->round_count, chat->round_room};
    chat->rounds = NULL;
    chat->round_count = chat->round_room = 0;
    leave_conversation(chat);
}

static void take_back(vd_chat *chat, int branch)
{
    vd_branch *now = &chat->branches[branch];
    chat->rounds = now->rounds;
    chat->round_count = now->count;
    chat->round_room = now->room;
    *now = (vd_branch){0};
    chat->branch = branch;
}

static void branch_free(vd_branch *branch)
{
    while (branch->count > 0)
        round_clear(&branch->rounds[--branch->count]);
    vd_free(branch->rounds);
    *branch = (vd_branch){0};
}

// Makes a place for one more; the oldest goes when there are too many.
static void make_place(vd_chat *chat)
{
    if (chat->branch_count < VD_BRANCHES)
        return;
    int oldest = chat->branch == 0 ? 1 : 0;
    branch_free(&chat->branches[oldest]);
    memmove(&chat->branches[oldest], &chat->branches[oldest + 1],
            (size_t)(VD_BRANCHES - oldest - 1) * sizeof *chat->branches);
    chat->branches[VD_BRANCHES - 1] = (vd_branch){0};
    chat->branch_count--;
    chat->branch -= chat->branch > oldest;
}

bool vd_chat_fork(vd_chat *chat, size_t keep)
{
    vd_branch copy = {.rounds = vd_alloc(keep ? keep : 1, sizeof(vd_round)),
                      .room = keep ? keep : 1};
    bool whole = copy.rounds != NULL;
    while (whole && copy.count < keep) {
        whole = round_copy(&chat->rounds[copy.count], &copy.rounds[copy.count]);
        copy.count++;
    }
    if (!whole) {
        branch_free(&copy);
        vd_chat_complain(chat, "out of memory: the conversation stays as it is");
        return false;
    }
    make_place(chat);
    put_aside(chat);
    chat->branch = chat->branch_count++;
    chat->rounds = copy.rounds;
    chat->round_count = copy.count;
    chat->round_room = copy.room;
    return true;
}

void vd_chat_use_branch(vd_chat *chat, int branch)
{
    if (chat->branch_count < 2 || branch < 0 || branch >= chat->branch_count) {
        vd_chat_say(chat, "there is one conversation; /branch starts another from here");
        return;
    }
    if (vd_chat_busy(chat)) {
        vd_chat_say(chat, "still answering; Ctrl-C stops it");
        return;
    }
    put_aside(chat);
    take_back(chat, branch);
    vd_chat_say(chat, "branch %d of %d: %zu rounds", branch + 1, chat->branch_count,
                chat->round_count);
    vd_chat_pump(chat);
}

static void forget_lane(vd_branch *branches, int count, int lane)
{
    for (int b = 0; b < count; b++)
        for (size_t i = 0; i < branches[b].count; i++)
            vd_take_clear(&branches[b].rounds[i].take[lane]);
}

void vd_chat_forget_aside(vd_chat *chat, int lane)
{
    forget_lane(chat->branches, chat->branch_count, lane);
    for (int p = 0; p < chat->page_count; p++)
        forget_lane(chat->pages[p].branches, chat->pages[p].branch_count, lane);
}

void vd_chat_drop_branches(vd_chat *chat)
{
    vd_chat_drop_rounds(chat, 0);
    for (int i = 0; i < chat->branch_count; i++)
        branch_free(&chat->branches[i]);
    chat->branch_count = 1;
    chat->branch = 0;
    leave_conversation(chat);
}

// ---- pictures ----------------------------------------------------------------------------------

static void page_free(vd_page *page)
{
    for (int i = 0; i < page->branch_count; i++)
        branch_free(&page->branches[i]);
}

static void remove_page(vd_chat *chat, int at)
{
    chat->page_count--;
    memmove(&chat->pages[at], &chat->pages[at + 1],
            (size_t)(chat->page_count - at) * sizeof *chat->pages);
}

static bool nothing_was_said(const vd_chat *chat)
{
    size_t rounds = chat->round_count;
    for (int i = 0; i < chat->branch_count; i++)
        rounds += chat->branches[i].count;
    return rounds == 0;
}

// Keeps the conversations about the picture that is left.
static void leave_page(vd_chat *chat)
{
    if (!chat->pages && !nothing_was_said(chat)) {
        chat->pages = vd_alloc(VD_PAGES, sizeof *chat->pages);
        if (!chat->pages)
            vd_chat_complain(chat, "out of memory: what was said before is not kept");
    }
    if (!chat->pages || nothing_was_said(chat)) {
        vd_chat_drop_branches(chat);
        return;
    }
    put_aside(chat);
    vd_page *page = &chat->pages[chat->page_count++];
    *page =
        (vd_page){.index = chat->index, .branch_count = chat->branch_count, .branch = chat->branch};
    memcpy(page->branches, chat->branches, sizeof page->branches);
    memset(chat->branches, 0, sizeof chat->branches);
    chat->branch_count = 1;
    chat->branch = 0;
}

static size_t page_bytes(const vd_page *page)
{
    size_t bytes = 0;
    for (int b = 0; b < page->branch_count; b++)
        for (size_t i = 0; i < page->branches[b].count; i++)
            for (int lane = 0; lane < VD_MODELS; lane++) {
                const vd_take *take = &page->branches[b].rounds[i].take[lane];
                bytes += vd_chat_topic_bytes(take) +
                         (take->ready ? (size_t)take->reply.answer.candidates : 0) *
                             (2 * sizeof(float) + sizeof(int32_t));
            }
    return bytes;
}

// The oldest go when they are too many or too large; the one left last stays.
static void trim_pages(vd_chat *chat)
{
    size_t bytes = 0;
    for (int p = 0; p < chat->page_count; p++)
        bytes += page_bytes(&chat->pages[p]);
    while (chat->page_count == VD_PAGES || (chat->page_count > 1 && bytes > VD_PAGE_BYTES)) {
        bytes -= page_bytes(&chat->pages[0]);
        page_free(&chat->pages[0]);
        remove_page(chat, 0);
    }
}

bool vd_chat_turn_page(vd_chat *chat, size_t index)
{
    vd_page page = {0};
    for (int p = chat->page_count; p-- > 0;)
        if (chat->pages[p].index == index && index != chat->index) {
            page = chat->pages[p];
            remove_page(chat, p);
        }
    if (index != chat->index)
        leave_page(chat);
    if (page.branch_count > 0) {
        vd_free(chat->rounds);
        memcpy(chat->branches, page.branches, sizeof chat->branches);
        chat->branch_count = page.branch_count;
        take_back(chat, page.branch);
    }
    trim_pages(chat);
    return page.branch_count > 0;
}

void vd_chat_drop_pages(vd_chat *chat)
{
    while (chat->page_count > 0)
        page_free(&chat->pages[--chat->page_count]);
    vd_free(chat->pages);
    chat->pages = NULL;
}

// ---- changing what was said --------------------------------------------------------------------

void vd_chat_undo(vd_chat *chat)
{
    if (vd_chat_busy(chat)) {
        vd_chat_say(chat, "still answering; Ctrl-C stops it");
    } else if (chat->round_count == 0) {
        vd_chat_say(chat, "nothing to forget: no question was asked yet");
    } else {
        vd_chat_drop_rounds(chat, chat->round_count - 1);
        vd_chat_say(chat, "the last round is forgotten");
    }
}

void vd_chat_edit(vd_chat *chat)
{
    const vd_round *round = vd_chat_shown(chat);
    if (!round || vd_chat_busy(chat)) {
        vd_chat_say(chat, "%s",
                    round ? "still answering; Ctrl-C stops it" : "nothing was asked yet");
        return;
    }
    chat->editing = (int)(round - chat->rounds);
    vd_line_set(&chat->line, round->typed);
    vd_chat_say(chat, "Enter asks it instead of round %d, and all after it again; Esc leaves it",
                chat->editing + 1);
}

void vd_chat_stop_editing(vd_chat *chat)
{
    if (chat->editing >= 0)
        vd_line_clear(&chat->line);
    chat->editing = -1;
}

void vd_chat_change(vd_chat *chat, size_t at, const char *typed)
{
    char *copy = vd_strdup(typed);
    if (!copy || !vd_chat_fork(chat, chat->round_count)) {
        vd_free(copy);
        return;
    }
    vd_round *round = &chat->rounds[at];
    vd_free(round->typed);
    round->typed = copy;
    round->laid = (vd_laid){0};
    round->human = -1;
    for (int lane = 0; lane < chat->lane_count; lane++)
        vd_chat_forget(chat, lane, at);
    chat->asked_again = (int)at;
    chat->selected = at + 1 < chat->round_count ? (int)at : -1;
    chat->follow = true;
    vd_line_remember(&chat->line, typed, NULL);
    vd_line_clear(&chat->line);
    vd_chat_pump(chat);
}
