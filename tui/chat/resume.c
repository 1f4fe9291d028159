// A conversation as a transcript keeps it, with all that is open beside it, and taken up again.
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/chat/recorder.h"

// ---- how it stands ------------------------------------------------------------------------------

// The answer that a lane's conversation goes on with; NULL while it is not known.
static const char *goes_on_with(const vd_take *take)
{
    return take->ready ? vd_take_answer(take, take->chosen) : take->wanted;
}

static const vd_round *rounds_of(const vd_chat *chat, int branch, size_t *count)
{
    bool here = branch == chat->branch;
    *count = here ? chat->round_count : chat->branches[branch].count;
    return here ? chat->rounds : chat->branches[branch].rounds;
}

static bool describe_branch(const vd_chat *chat, int index, vd_chat_record_branch *out)
{
    size_t count, width = (size_t)chat->lane_count + 1;
    const vd_round *rounds = rounds_of(chat, index, &count);
    out->text = vd_alloc(count, width * sizeof *out->text);
    out->count = out->text ? (int)count : 0;
    for (int i = 0; i < out->count; i++) {
        char **to = out->text + (size_t)i * width;
        *to++ = rounds[i].typed;
        for (int lane = 0; lane < chat->lane_count; lane++)
            *to++ = (char *)goes_on_with(&rounds[i].take[lane]);
    }
    return out->text != NULL;
}

// The first model's choice may differ from what it hears, too, when that is people's.
static bool says_more(const vd_chat *chat)
{
    return chat->branch_count > 1 || chat->lane_count > 1 ||
           chat->lanes[0].follow != VD_FOLLOW_SHARED;
}

bool vd_chat_describe(const vd_chat *chat, vd_chat_record *out)
{
    void *context = chat->source.context;
    *out = (vd_chat_record){.image_id = chat->source.image_id(context, chat->index),
                            .caption = (char *)chat->source.caption(context, chat->index),
                            .count = (int)chat->round_count,
                            .lane_count = chat->lane_count,
                            .branch = chat->branch};
    out->rounds = vd_alloc(chat->round_count, sizeof *out->rounds);
    out->lanes = vd_alloc((size_t)chat->lane_count, sizeof *out->lanes);
    bool whole = out->rounds && out->lanes;
    for (int i = 0; whole && i < out->count; i++) {
        const char *heard = vd_chat_heard(chat, 0, (size_t)i);
        whole = heard != NULL;
        out->rounds[i] = (vd_turn){chat->rounds[i].typed, (char *)heard};
    }
    for (int i = 0; whole && i < chat->lane_count; i++)
        out->lanes[i] = (vd_chat_record_lane){chat->lanes[i].name,
                                              (char *)vd_follow_name(chat->lanes[i].follow)};
    if (whole && says_more(chat)) {
        out->branches = vd_alloc((size_t)chat->branch_count, sizeof *out->branches);
        whole = out->branches != NULL;
        while (whole && out->branch_count < chat->branch_count) {
            int at = out->branch_count++;
            whole = describe_branch(chat, at, &out->branches[at]);
        }
    }
    if (!whole)
        vd_chat_describe_free(out);
    return whole;
}

void vd_chat_describe_free(vd_chat_record *talk)
{
    for (int i = 0; talk->branches && i < talk->branch_count; i++)
        vd_free(talk->branches[i].text);
    vd_free(talk->branches);
    vd_free(talk->lanes);
    vd_free(talk->rounds);
    *talk = (vd_chat_record){0};
}

// ---- taking it up -------------------------------------------------------------------------------

static vd_follow follow_named(const char *name)
{
    vd_follow follow = VD_FOLLOW_SHARED;
    while (follow < VD_FOLLOWS && strcmp(vd_follow_name(follow), name) != 0)
        follow++;
    return follow < VD_FOLLOWS ? follow : VD_FOLLOW_SHARED;
}

// Lanes of the chat that stand for those of the talk, -1: could not be opened.
static void open_lanes(vd_chat *chat, const vd_chat_record *talk, int *lane_of)
{
    if (talk->lane_count)
        chat->lanes[0].follow = follow_named(talk->lanes[0].follow);
    for (int i = 1; i < talk->lane_count; i++) {
        int lane = chat->lane_count;
        vd_chat_compare_with(chat, talk->lanes[i].name);
        lane_of[i] = chat->lane_count > lane ? lane : -1;
        if (lane_of[i] > 0)
            chat->lanes[lane].follow = follow_named(talk->lanes[i].follow);
    }
}

static bool restore_round(vd_round *round, char *const *text, int lanes, const int *lane_of)
{
    *round = (vd_round){.human = -1, .typed = vd_strdup(text[0])};
    bool whole = round->typed != NULL;
    for (int i = 0; i < lanes && whole; i++) {
        if (lane_of[i] < 0 || !text[1 + i])
            continue;
        vd_take *take = &round->take[lane_of[i]];
        take->wanted = vd_strdup(text[1 + i]);
        whole = take->wanted != NULL;
    }
    return whole;
}

static bool restore_branch(vd_branch *to, const vd_chat_record *talk, int index, const int *lane_of)
{
    int lanes = talk->branch_count ? talk->lane_count : 1;
    size_t count = (size_t)(talk->branch_count ? talk->branches[index].count : talk->count);
    to->rounds = vd_alloc(count, sizeof *to->rounds);
    to->room = to->rounds ? count : 0;
    bool whole = to->rounds != NULL;
    while (whole && to->count < count) {
        const vd_turn *said = talk->branch_count ? NULL : &talk->rounds[to->count];
        char *const plain[2] = {said ? said->question : NULL, said ? said->answer : NULL};
        char *const *text =
            said ? plain : talk->branches[index].text + to->count * ((size_t)lanes + 1);
        whole = restore_round(&to->rounds[to->count++], text, lanes, lane_of);
    }
    return whole;
}

bool vd_chat_take_up(vd_chat *chat, const vd_chat_record *talk)
{
    int lane_of[VD_MOST_RECORDED_LANES] = {0};
    int count = talk->branch_count ? talk->branch_count : 1;
    int first = count > VD_BRANCHES ? count - VD_BRANCHES : 0;
    first = talk->branch < first ? talk->branch : first; // the one in use is among them
    count = count - first > VD_BRANCHES ? VD_BRANCHES : count - first;
    open_lanes(chat, talk, lane_of);
    vd_chat_drop_branches(chat);
    bool whole = true;
    for (int i = 0; i < count && whole; i++) {
        chat->branch_count = i + 1;
        whole = restore_branch(&chat->branches[i], talk, first + i, lane_of);
    }
    if (!whole) {
        vd_chat_drop_branches(chat);
        return false;
    }
    chat->branch = talk->branch - first;
    vd_branch *now = &chat->branches[chat->branch];
    vd_free(chat->rounds);
    chat->rounds = now->rounds;
    chat->round_count = now->count;
    chat->round_room = now->room;
    *now = (vd_branch){0};
    vd_chat_pump(chat);
    return true;
}
