// A conversation as the record of a transcript, and taken up again.
#include "tui/chat/lanes/lanes.h"

// ---- how it stands ------------------------------------------------------------------------------

static vd_chat_record_branch describe_branch(const vd_branch *branch, int lanes)
{
    char **text = g_new(char *, branch->count *((size_t)lanes + 1)), **to = text;
    for (size_t i = 0; i < branch->count; i++) {
        const vd_round *round = &branch->rounds[i];
        *to++ = round->typed;
        for (int lane = 0; lane < lanes; lane++) {
            const vd_response *response = &round->response[lane];
            *to++ = response->ready ? (char *)vd_response_text(response, response->chosen)
                                    : response->wanted; // NULL while it is not known
        }
    }
    return (vd_chat_record_branch){(int)branch->count, text};
}

// Questions may wait, and the first model's choice may differ from its history, too, when that is
// of answers in the data.
static bool says_more(const vd_lanes *lanes, const vd_chat_record *record)
{
    const vd_conversation *conversation = lanes->conversation;
    return conversation->branches.count > 1 || lanes->count > 1 ||
           (size_t)record->count < conversation->branch->count ||
           lanes->lane[0].follow != VD_FOLLOW_SHARED;
}

// The rounds up to the first one that the history has no answer to.
static void describe_rounds(const vd_lanes *lanes, vd_chat_record *out)
{
    const vd_branch *branch = lanes->conversation->branch;
    for (size_t i = 0; i < branch->count; i++) {
        const char *answer = vd_lanes_answer(lanes, 0, i);
        if (!answer)
            return;
        out->rounds[out->count++] = (vd_turn){branch->rounds[i].typed, (char *)answer};
    }
}

static void describe_branches(const vd_lanes *lanes, vd_chat_record *out)
{
    const vd_branches *branches = &lanes->conversation->branches;
    out->branch_count = branches->count;
    out->branches = g_new(vd_chat_record_branch, branches->count);
    for (int i = 0; i < branches->count; i++)
        out->branches[i] = describe_branch(&branches->at[i], lanes->count);
}

static void describe_asides(const vd_branches *branches, vd_chat_record *out)
{
    size_t count = 0;
    for (int b = 0; b < branches->count; b++)
        count += branches->at[b].aside_count;
    out->asides = g_new(vd_chat_record_aside, count);
    for (int b = 0; b < branches->count; b++)
        for (size_t i = 0; i < branches->at[b].aside_count; i++) {
            const vd_aside *from = &branches->at[b].asides[i];
            out->asides[out->aside_count++] =
                (vd_chat_record_aside){b, (int)from->before, from->typed, from->reply};
        }
}

vd_chat_record vd_lanes_describe(const vd_lanes *lanes)
{
    const vd_conversation *conversation = lanes->conversation;
    vd_chat_record out = {
        .image_id = vd_conversation_image_id(conversation),
        .picture = (char *)vd_world_own_path(conversation->world, conversation->branches.picture),
        .caption = (char *)vd_conversation_caption(conversation).text,
        .caption_by = vd_conversation_caption(conversation).by,
        .rounds = g_new(vd_turn, conversation->branch->count),
        .lanes = g_new(vd_chat_record_lane, lanes->count),
        .lane_count = lanes->count,
        .returned = conversation->branches.returned,
        .branch = conversation->branches.used};
    describe_asides(&conversation->branches, &out);
    describe_rounds(lanes, &out);
    for (int i = 0; i < lanes->count; i++)
        out.lanes[i] = (vd_chat_record_lane){(char *)vd_lane_name(&lanes->lane[i]),
                                             (char *)vd_follow_name(lanes->lane[i].follow)};
    if (says_more(lanes, &out))
        describe_branches(lanes, &out);
    return out;
}

void vd_lanes_describe_free(vd_chat_record *record)
{
    for (int i = 0; i < record->branch_count; i++)
        g_free(record->branches[i].text);
    g_free(record->asides);
    g_free(record->branches);
    g_free(record->lanes);
    g_free(record->rounds);
    *record = (vd_chat_record){0};
}

// ---- taking it up -------------------------------------------------------------------------------

static vd_follow follow_named(const char *name)
{
    vd_follow follow;
    return vd_follow_named(name, &follow) ? follow : VD_FOLLOW_SHARED;
}

// Lanes that stand for those of the record, -1: could not be opened.
static void open_lanes(vd_lanes *lanes, const vd_chat_record *record, int *lane_of)
{
    if (record->lane_count)
        lanes->lane[0].follow = follow_named(record->lanes[0].follow);
    for (int i = 1; i < record->lane_count; i++) {
        int lane = lanes->count;
        vd_lanes_compare_with(lanes, record->lanes[i].name);
        lane_of[i] = lanes->count > lane ? lane : -1;
        if (lane_of[i] > 0)
            lanes->lane[lane].follow = follow_named(record->lanes[i].follow);
    }
}

// text: the question, then what each of the record's lanes goes on with, or NULL.
static void restore_round(vd_branch *to, char *const *text, int lanes, const int *lane_of)
{
    vd_round *round = vd_branch_add(to, text[0]);
    for (int i = 0; i < lanes; i++)
        if (lane_of[i] >= 0 && text[1 + i]) {
            g_free(round->response[lane_of[i]].wanted);
            round->response[lane_of[i]].wanted = g_strdup(text[1 + i]);
        }
}

static void restore_branch(vd_branch *to, const vd_chat_record *record, int index,
                           const int *lane_of)
{
    if (record->branch_count == 0) // the rounds are all
        for (int i = 0; i < record->count; i++) {
            char *const plain[2] = {record->rounds[i].question, record->rounds[i].answer};
            restore_round(to, plain, 1, lane_of);
        }
    else
        for (int i = 0; i < record->branches[index].count; i++)
            restore_round(
                to, record->branches[index].text + (size_t)i * ((size_t)record->lane_count + 1),
                record->lane_count, lane_of);
}

// first: the record's branch that became the first one.
static void restore_asides(vd_branches *to, const vd_chat_record *record, int first)
{
    for (int i = 0; i < record->aside_count; i++) {
        const vd_chat_record_aside *from = &record->asides[i];
        int at = from->branch - first;
        if (at >= 0 && at < to->count)
            vd_branch_add_aside(&to->at[at], (size_t)from->before, from->typed, from->reply);
    }
}

// The branches of the record that have a place, the one in use among them.
static void restore_branches(vd_branches *to, const vd_chat_record *record, const int *lane_of)
{
    int count = record->branch_count ? record->branch_count : 1;
    int first = count > VD_BRANCHES ? count - VD_BRANCHES : 0;
    first = record->branch < first ? record->branch : first;
    count = count - first > VD_BRANCHES ? VD_BRANCHES : count - first;
    to->count = count;
    for (int i = 0; i < count; i++)
        restore_branch(&to->at[i], record, first + i, lane_of);
    restore_asides(to, record, first);
    to->used = record->branch - first;
    to->returned = record->returned;
}

void vd_lanes_restore(vd_lanes *lanes, const vd_chat_record *record)
{
    vd_conversation *conversation = lanes->conversation;
    int lane_of[VD_MOST_RECORDED_LANES] = {0};
    open_lanes(lanes, record, lane_of);
    vd_conversation_restart(conversation);
    restore_branches(&conversation->branches, record, lane_of);
    vd_conversation_use(conversation, conversation->branches.used);
    vd_lanes_pump(lanes);
}

void vd_lanes_restore_earlier(vd_lanes *lanes, const vd_chat_record *record, size_t picture)
{
    int lane_of[VD_MOST_RECORDED_LANES] = {0};
    vd_branches branches = {.picture = picture};
    for (int i = 1; i < record->lane_count; i++)
        lane_of[i] = vd_lanes_named(lanes, 1, record->lanes[i].name);
    restore_branches(&branches, record, lane_of);
    vd_conversation_keep(lanes->conversation, &branches);
}
