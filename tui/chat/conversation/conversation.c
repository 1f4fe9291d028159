#include "tui/chat/conversation/conversation.h"

#include <string.h>

#include "engine/base/alloc.h"

static void contents_clear(void *contents)
{
    vd_free(((vd_contents *)contents)->things);
}

void vd_conversation_init(vd_conversation *conversation, const vd_world *world, size_t picture)
{
    *conversation = (vd_conversation){.world = world, .asked_again = -1};
    conversation->branches = (vd_branches){.picture = picture, .count = 1};
    conversation->branch = conversation->branches.at;
    conversation->contents = g_array_new(FALSE, TRUE, sizeof(vd_contents));
    g_array_set_clear_func(conversation->contents, contents_clear);
}

// ---- rounds ------------------------------------------------------------------------------------

static void round_clear(vd_round *round)
{
    g_free(round->typed);
    for (int i = 0; i < VD_MODELS; i++)
        vd_response_clear(&round->response[i]);
    *round = (vd_round){.human = -1};
}

// What is asked for is copied, not what it was before. False: memory is out; what there is can be
// cleared.
static bool response_copy(const vd_response *from, vd_response *to)
{
    *to = *from;
    to->reply = (vd_reply){0};
    to->before = (vd_replaced){0};
    to->wanted = g_strdup(from->wanted);
    to->ready = from->ready && vd_reply_copy(&from->reply, &to->reply, NULL) == VD_OK;
    return to->ready == from->ready;
}

// Their number is doubled in memory whenever it is a power of two.
static vd_round *put_round(vd_branch *branch, vd_round round)
{
    if ((branch->count & (branch->count - 1)) == 0)
        branch->rounds = g_renew(vd_round, branch->rounds, 2 * branch->count + 1);
    branch->rounds[branch->count] = round;
    return &branch->rounds[branch->count++];
}

vd_round *vd_branch_add(vd_branch *branch, const char *typed)
{
    for (size_t i = 0; i < branch->aside_count; i++) // said behind a round that was forgotten
        if (branch->asides[i].before > branch->count)
            branch->asides[i].before = branch->count;
    return put_round(branch, (vd_round){.typed = g_strdup(typed), .human = -1});
}

static void aside_clear(vd_aside *aside)
{
    g_free(aside->typed);
    g_free(aside->reply);
}

void vd_branch_add_aside(vd_branch *branch, size_t before, const char *typed, const char *reply)
{
    if (!branch->asides)
        branch->asides = g_new(vd_aside, VD_ASIDES);
    if (branch->aside_count == VD_ASIDES) {
        aside_clear(&branch->asides[0]);
        memmove(&branch->asides[0], &branch->asides[1], --branch->aside_count * sizeof(vd_aside));
    }
    branch->asides[branch->aside_count++] = (vd_aside){before, g_strdup(typed), g_strdup(reply)};
}

size_t vd_conversation_pending(const vd_conversation *conversation)
{
    const vd_branch *branch = conversation->branch;
    size_t answered = branch->count;
    while (answered > 0 && !branch->rounds[answered - 1].response[0].ready)
        answered--;
    return branch->count - answered;
}

bool vd_conversation_waits(const vd_conversation *conversation)
{
    return vd_conversation_pending(conversation) > 0;
}

void vd_conversation_remove(vd_conversation *conversation, size_t at)
{
    vd_branch *branch = conversation->branch;
    round_clear(&branch->rounds[at]);
    branch->count--;
    memmove(&branch->rounds[at], &branch->rounds[at + 1],
            (branch->count - at) * sizeof *branch->rounds);
    for (size_t i = 0; i < branch->aside_count; i++)
        if (branch->asides[i].before > at)
            branch->asides[i].before--;
}

void vd_conversation_drop(vd_conversation *conversation, size_t keep)
{
    vd_branch *branch = conversation->branch;
    while (branch->count > keep)
        round_clear(&branch->rounds[--branch->count]);
    if (conversation->asked_again >= (int)branch->count)
        conversation->asked_again = -1;
}

void vd_conversation_change(vd_conversation *conversation, size_t at, const char *typed)
{
    vd_round *round = &conversation->branch->rounds[at];
    g_free(round->typed);
    round->typed = g_strdup(typed);
    round->human = -1;
}

// ---- branches ----------------------------------------------------------------------------------

static void branch_free(vd_branch *branch)
{
    while (branch->count > 0)
        round_clear(&branch->rounds[--branch->count]);
    while (branch->aside_count > 0)
        aside_clear(&branch->asides[--branch->aside_count]);
    g_free(branch->rounds);
    g_free(branch->asides);
    *branch = (vd_branch){0};
}

void vd_branches_free(vd_branches *branches)
{
    for (int i = 0; i < branches->count; i++)
        branch_free(&branches->at[i]);
}

void vd_conversation_use(vd_conversation *conversation, int branch)
{
    conversation->branches.used = branch;
    conversation->branch = &conversation->branches.at[branch];
    conversation->asked_again = -1;
    conversation->edition++;
}

// A place for one more; the oldest branch that is not in use goes when there are too many.
static int make_place(vd_branches *branches)
{
    if (branches->count == VD_BRANCHES) {
        int oldest = branches->used == 0 ? 1 : 0;
        branch_free(&branches->at[oldest]);
        memmove(&branches->at[oldest], &branches->at[oldest + 1],
                (size_t)(VD_BRANCHES - oldest - 1) * sizeof *branches->at);
        branches->count--;
    }
    return branches->count++;
}

static void copy_asides(const vd_branch *from, size_t keep, vd_branch *to)
{
    for (size_t i = 0; i < from->aside_count; i++) {
        const vd_aside *one = &from->asides[i];
        if (one->before <= keep)
            vd_branch_add_aside(to, one->before, one->typed, one->reply);
    }
}

bool vd_conversation_fork(vd_conversation *conversation, size_t keep)
{
    vd_branch copy = {0};
    bool whole = true;
    for (size_t i = 0; whole && i < keep; i++) {
        const vd_round *from = &conversation->branch->rounds[i];
        vd_round *to = vd_branch_add(&copy, from->typed);
        for (int lane = 0; whole && lane < VD_MODELS; lane++)
            whole = response_copy(&from->response[lane], &to->response[lane]);
        to->human = from->human;
    }
    if (!whole) {
        branch_free(&copy);
        return false;
    }
    copy_asides(conversation->branch, keep, &copy);
    int place = make_place(&conversation->branches);
    conversation->branches.at[place] = copy;
    vd_conversation_use(conversation, place);
    return true;
}

void vd_conversation_restart(vd_conversation *conversation)
{
    vd_branches_free(&conversation->branches);
    conversation->branches.count = 1;
    conversation->branches.returned = false;
    vd_conversation_use(conversation, 0);
}

// ---- forgotten, and brought back ----------------------------------------------------------------

static bool is_forgotten_here(const vd_conversation *conversation)
{
    return conversation->forgotten_edition == conversation->edition &&
           conversation->forgotten_at == conversation->branch->count;
}

void vd_conversation_forget_last(vd_conversation *conversation)
{
    vd_branch *branch = conversation->branch, *to = &conversation->forgotten;
    if (!is_forgotten_here(conversation))
        branch_free(to);
    vd_round *last = &branch->rounds[branch->count - 1];
    put_round(to, *last);
    *last = (vd_round){0};
    vd_conversation_drop(conversation, branch->count - 1);
    conversation->forgotten_edition = conversation->edition;
    conversation->forgotten_at = branch->count;
}

bool vd_conversation_bring_back(vd_conversation *conversation)
{
    vd_branch *branch = conversation->branch, *from = &conversation->forgotten;
    if (!is_forgotten_here(conversation) || from->count == 0)
        return false;
    vd_round *round = put_round(branch, from->rounds[--from->count]);
    for (int lane = 1; lane < VD_MODELS; lane++) // others may be compared now
        vd_response_clear(&round->response[lane]);
    conversation->forgotten_at = branch->count;
    return true;
}

void vd_conversation_clear_undone(vd_conversation *conversation)
{
    branch_free(&conversation->forgotten);
}

static size_t round_count(const vd_branches *branches)
{
    size_t rounds = 0;
    for (int i = 0; i < branches->count; i++)
        rounds += branches->at[i].count;
    return rounds;
}

void vd_conversation_leave(vd_conversation *conversation)
{
    if (round_count(&conversation->branches) > 0) {
        vd_branches_free(&conversation->left);
        conversation->left = conversation->branches;
        conversation->branches = (vd_branches){.picture = conversation->left.picture, .count = 1};
    }
    vd_conversation_restart(conversation);
}

bool vd_conversation_return(vd_conversation *conversation)
{
    vd_branches *left = &conversation->left;
    if (left->count == 0 || left->picture != conversation->branches.picture ||
        round_count(&conversation->branches) > 0)
        return false;
    vd_branches_free(&conversation->branches);
    conversation->branches = *left;
    *left = (vd_branches){0};
    vd_conversation_use(conversation, conversation->branches.used);
    conversation->branches.returned = true;
    return true;
}

// ---- other pictures ----------------------------------------------------------------------------

// Those about a picture, which are none of the earlier ones then; new ones where there are none.
static vd_branches take_earlier(vd_conversation *conversation, size_t picture)
{
    vd_branches *all = conversation->earlier, found = {.picture = picture, .count = 1};
    for (int i = conversation->earlier_count; i-- > 0;)
        if (all[i].picture == picture) {
            found = all[i];
            memmove(&all[i], &all[i + 1],
                    (size_t)(--conversation->earlier_count - i) * sizeof *all);
        }
    return found;
}

// To or from the words of the history, which become many.
static bool is_large(const vd_attention *attention)
{
    return attention->key == VD_AXIS_HISTORY_WORDS || attention->query == VD_AXIS_HISTORY_WORDS ||
           attention->key == VD_AXIS_DIALOG_WORDS;
}

static size_t topic_bytes(const vd_response *response)
{
    const vd_answer *answer = &response->reply.answer;
    size_t bytes = 0;
    for (int i = 0; i < answer->attentions && response->ready; i++) {
        const vd_attention *a = &answer->attention[i];
        if (is_large(a) && a->share)
            bytes += sizeof(float) * (size_t)a->rows * (size_t)a->columns;
    }
    return bytes;
}

static size_t response_bytes(const vd_response *response)
{
    size_t candidates = response->ready ? (size_t)response->reply.answer.candidates : 0;
    return topic_bytes(response) + candidates * (2 * sizeof(float) + sizeof(int32_t));
}

static size_t branches_bytes(const vd_branches *branches)
{
    size_t bytes = 0;
    for (int b = 0; b < branches->count; b++)
        for (size_t i = 0; i < branches->at[b].count; i++)
            for (int lane = 0; lane < VD_MODELS; lane++)
                bytes += response_bytes(&branches->at[b].rounds[i].response[lane]);
    return bytes;
}

// The oldest go when they are too many or too large; the one left last stays.
static void trim_earlier(vd_conversation *conversation)
{
    size_t bytes = 0;
    if (conversation->leaving)
        return;
    for (int i = 0; i < conversation->earlier_count; i++)
        bytes += branches_bytes(&conversation->earlier[i]);
    while (conversation->earlier_count == VD_EARLIER ||
           (conversation->earlier_count > 1 && bytes > VD_EARLIER_BYTES)) {
        vd_branches oldest = take_earlier(conversation, conversation->earlier[0].picture);
        bytes -= branches_bytes(&oldest);
        vd_branches_free(&oldest);
    }
}

bool vd_conversation_show(vd_conversation *conversation, size_t index)
{
    if (index == conversation->branches.picture)
        return false;
    vd_branches now = take_earlier(conversation, index);
    if (round_count(&conversation->branches) > 0)
        conversation->earlier[conversation->earlier_count++] = conversation->branches;
    else
        vd_branches_free(&conversation->branches);
    conversation->branches = now;
    vd_conversation_use(conversation, now.used);
    trim_earlier(conversation);
    return round_count(&now) > 0;
}

void vd_conversation_keep(vd_conversation *conversation, vd_branches *branches)
{
    vd_branches before = take_earlier(conversation, branches->picture);
    vd_branches_free(&before);
    conversation->earlier[conversation->earlier_count++] = *branches;
    *branches = (vd_branches){.count = 1};
    trim_earlier(conversation);
}

static void forget(vd_branches *branches, int lane, const vd_branch *but)
{
    for (int b = 0; b < branches->count; b++)
        for (size_t i = 0; &branches->at[b] != but && i < branches->at[b].count; i++)
            vd_response_clear(&branches->at[b].rounds[i].response[lane]);
}

void vd_conversation_recaption(vd_conversation *conversation)
{
    vd_branches *left = &conversation->left;
    for (int lane = 0; lane < VD_MODELS; lane++) {
        forget(&conversation->branches, lane, conversation->branch);
        if (left->picture == conversation->branches.picture)
            forget(left, lane, NULL);
    }
    vd_conversation_clear_undone(conversation);
}

void vd_conversation_forget_aside(vd_conversation *conversation, int lane)
{
    forget(&conversation->branches, lane, conversation->branch);
    forget(&conversation->left, lane, NULL);
    for (int i = 0; i < conversation->earlier_count; i++)
        forget(&conversation->earlier[i], lane, NULL);
}

static void drop_topics(vd_answer *answer)
{
    for (int i = 0; i < answer->attentions; i++)
        if (is_large(&answer->attention[i])) {
            vd_free(answer->attention[i].share);
            answer->attention[i].share = NULL;
        }
}

// Returns what is in use then.
static size_t trim_topics(vd_branch *branch, const vd_response *keep, size_t used)
{
    for (size_t i = branch->count; i-- > 0;)
        for (int lane = 0; lane < VD_MODELS; lane++) {
            vd_response *response = &branch->rounds[i].response[lane];
            size_t bytes = response == keep ? 0 : topic_bytes(response);
            if (bytes && used + bytes > VD_TOPIC_BYTES) {
                drop_topics(&response->reply.answer);
            } else {
                used += bytes;
            }
        }
    return used;
}

void vd_conversation_trim_topics(vd_conversation *conversation, const vd_response *keep)
{
    vd_branches *branches = &conversation->branches;
    size_t used = trim_topics(conversation->branch, keep, topic_bytes(keep));
    for (int b = branches->count; b-- > 0;)
        if (b != branches->used)
            used = trim_topics(&branches->at[b], keep, used);
}

// ---- the picture -------------------------------------------------------------------------------

int64_t vd_conversation_image_id(const vd_conversation *conversation)
{
    return vd_world_image_id(conversation->world, conversation->branches.picture);
}

vd_picture_caption vd_conversation_caption(const vd_conversation *conversation)
{
    return vd_world_captioned(conversation->world, conversation->branches.picture);
}

vd_contents vd_conversation_contents(vd_conversation *conversation, size_t index)
{
    if (index >= conversation->contents->len)
        g_array_set_size(conversation->contents, (guint)vd_world_count(conversation->world));
    vd_contents *own = &g_array_index(conversation->contents, vd_contents, index);
    if (!own->things)
        own->things = vd_world_contents(conversation->world, index, &own->count);
    return *own;
}

void vd_conversation_clear(vd_conversation *conversation)
{
    vd_branches_free(&conversation->branches);
    vd_branches_free(&conversation->left);
    branch_free(&conversation->forgotten);
    for (int i = 0; i < conversation->earlier_count; i++)
        vd_branches_free(&conversation->earlier[i]);
    conversation->left = (vd_branches){0};
    conversation->earlier_count = 0;
    vd_conversation_restart(conversation);
}

void vd_conversation_free(vd_conversation *conversation)
{
    vd_conversation_clear(conversation);
    g_clear_pointer(&conversation->contents, g_array_unref);
    *conversation = (vd_conversation){0};
}
