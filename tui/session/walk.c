#include "tui/session/walk.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "features/text/tokenize.h"
#include "tui/base/shares.h"

// ---- history in words ---------------------------------------------------------------------------

static vd_status list_history(const vd_session *session, vd_walk *walk, vd_error *err)
{
    walk->entries = session->turns + 1;
    walk->entry = g_new0(vd_walk_entry, (gsize)walk->entries);
    vd_walk_entry *caption = &walk->entry[0];
    snprintf(caption->label, sizeof caption->label, "caption");
    vd_status status = vd_entry_words_caption(
        &caption->words, vd_world_caption(session->world, session->index), err);
    for (int i = 1; i < walk->entries && status == VD_OK; i++) {
        const vd_turn *turn = &session->turn[i - 1];
        snprintf(walk->entry[i].label, sizeof walk->entry[i].label, "round %d: %.70s", i,
                 turn->question);
        char *question;
        status = vd_normalise_typed(turn->question, &question, err);
        if (status == VD_OK)
            status = vd_entry_words_turn(&walk->entry[i].words, question, turn->answer, err);
        vd_free(question);
    }
    return status;
}

// ---- asking with switches -----------------------------------------------------------------------

static const char *attention_of(const vd_walk *walk, const vd_switch *one, vd_error *err)
{
    const vd_answer *answer = &walk->reply.answer;
    char all[160] = "";
    const char *name;
    for (int i = 0; vd_attention_named(answer->attention, answer->attentions, i, &name); i++) {
        if (one->index < 0 ? strcmp(one->word, name) == 0 : one->index == i)
            return name;
        vd_append(all, sizeof all, "%s%d %s", i ? ", " : "", i + 1, name);
    }
    char asked[64];
    vd_switch_name(one, asked, sizeof asked);
    vd_error_set(err, VD_USAGE, "what-if '%s': the network's attentions are: %s", asked,
                 *all ? all : "none");
    return NULL;
}

static vd_status check_switch(const vd_walk *walk, const vd_switch *one, vd_error *err)
{
    int there = one->kind == VD_SWITCH_ENTRY    ? walk->entries
                : one->kind == VD_SWITCH_REGION ? walk->regions
                : one->kind == VD_SWITCH_WORD   ? walk->reply.words
                                                : 1;
    char name[64];
    if (one->kind == VD_SWITCH_ATTENTION)
        return attention_of(walk, one, err) ? VD_OK : VD_USAGE;
    if (one->kind == VD_SWITCH_HISTORY)
        return vd_error_set(err, VD_USAGE,
                            "what-if 'history' is for captions only; for an answer, leave out "
                            "caption or round N");
    if (one->index < there)
        return VD_OK;
    vd_switch_name(one, name, sizeof name);
    there -= one->kind == VD_SWITCH_ENTRY; // the caption
    if (there == 0)
        return vd_error_set(err, VD_USAGE, "what-if '%s': nothing was asked before", name);
    return vd_error_set(err, VD_USAGE, "what-if '%s': there %s only %d %s", name,
                        there == 1 ? "is" : "are", there,
                        one->kind == VD_SWITCH_ENTRY ? there == 1 ? "round before" : "rounds before"
                        : one->kind == VD_SWITCH_REGION ? there == 1 ? "region" : "regions"
                        : there == 1                    ? "word in the question"
                                                        : "words in the question");
}

// Drops or replaces words of the question in `reply`.
static vd_status change_words(const vd_switches *switches, const vd_vocab *vocab, vd_reply *reply,
                              vd_error *err)
{
    bool drop[VD_MAX_QUESTION] = {false};
    for (int i = 0; i < switches->count; i++) {
        const vd_switch *one = &switches->at[i];
        if (one->kind != VD_SWITCH_WORD)
            continue;
        drop[one->index] = !one->word[0];
        if (!one->word[0])
            continue;
        g_free(reply->word[one->index]);
        reply->word[one->index] = g_strdup(one->word);
        reply->ids[one->index] = vd_vocab_id(vocab, one->word);
        reply->unknown[one->index] = reply->ids[one->index] == VD_UNKNOWN;
    }
    int left = 0;
    for (int i = 0; i < reply->words; i++) {
        if (drop[i]) {
            g_free(reply->word[i]);
            continue;
        }
        reply->word[left] = reply->word[i];
        reply->ids[left] = reply->ids[i];
        reply->unknown[left++] = reply->unknown[i];
    }
    reply->words = left;
    return left ? VD_OK
                : vd_error_set(err, VD_USAGE,
                               "every word of the question is left out: one must stay");
}

// Asks walk->reply's question with the switches into *reply (zeroed) and *trace (NULL: not wanted).
static vd_status ask_switched(vd_session *session, const vd_walk *walk, const vd_switches *switches,
                              const atomic_int *stop, vd_reply *reply, vd_trace *trace,
                              vd_error *err)
{
    bool *drop = g_new0(bool, (gsize)walk->entries), *mask = g_new0(bool, (gsize)walk->regions);
    const char *names[VD_SWITCHES + 1] = {NULL}, **flat = names;
    vd_intervention what_if = {.uniform = names};
    vd_status status = VD_OK;
    for (int i = 0; i < switches->count && status == VD_OK; i++) {
        const vd_switch *one = &switches->at[i];
        status = check_switch(walk, one, err);
        if (status)
            break;
        if (one->kind == VD_SWITCH_ENTRY)
            what_if.drop_entry = drop, drop[one->index] = true;
        else if (one->kind == VD_SWITCH_REGION)
            what_if.mask_region = mask, mask[one->index] = true;
        else if (one->kind == VD_SWITCH_ATTENTION)
            *flat++ = attention_of(walk, one, NULL);
        else if (one->kind == VD_SWITCH_POSITIONS)
            what_if.swap_positions = true;
        else if (one->kind == VD_SWITCH_PICTURE)
            what_if.blank = true;
    }
    vd_reply asked = walk->reply;
    asked.answer = (vd_answer){0};
    asked.given = NULL;
    if (status == VD_OK)
        status = vd_reply_copy(&asked, reply, err);
    if (status == VD_OK)
        status = change_words(switches, vd_model_vocab(session->model), reply, err);
    if (status == VD_OK)
        status = vd_reply_number(reply, session->model, &session->words, err);
    if (status == VD_OK)
        status = vd_session_ask_if(session, reply->ids, reply->words, &what_if, stop,
                                   &reply->answer, trace, err);
    if (status == VD_OK && walk->reply.given)
        status = vd_session_given(session, reply, err);
    if (status)
        vd_reply_clear(reply);
    g_free(drop);
    g_free(mask);
    return status;
}

// ---- every switch alone -------------------------------------------------------------------------

// Whether it is one of the question's attentions over the axis: one for each step that looks there.
static bool looks_at(const vd_attention *a, vd_axis axis)
{
    return a->query == VD_AXIS_QUESTIONS && a->key == axis && a->share && !a->derived;
}

int vd_walk_looks(const vd_walk *walk, vd_axis axis)
{
    const vd_answer *answer = &walk->reply.answer;
    int count = 0;
    for (int i = 0; i < answer->attentions; i++)
        count += looks_at(&answer->attention[i], axis);
    return count;
}

// The largest of them; negative: there is none.
static double share_of(const vd_answer *answer, vd_axis axis, int index)
{
    double most = -1;
    for (const vd_attention *a = answer->attention; a < answer->attention + answer->attentions; a++)
        if (looks_at(a, axis) && index < a->columns)
            most = fmax(most, (double)a->share[index]);
    return most;
}

// The share of attention that something got; negative: it gets none.
static double attention_to(const vd_walk *walk, const vd_switch *what)
{
    const vd_answer *answer = &walk->reply.answer;
    if (what->kind == VD_SWITCH_REGION)
        return share_of(answer, VD_AXIS_REGIONS, what->index);
    if (what->kind == VD_SWITCH_ENTRY)
        return share_of(answer, VD_AXIS_ENTRIES, what->index);
    if (what->kind != VD_SWITCH_WORD)
        return -1;
    double own = share_of(answer, VD_AXIS_QUESTION_WORDS, what->index);
    return own >= 0 ? own : vd_word_share(answer, what->index);
}

static vd_status add_effect(vd_session *session, vd_walk *walk, vd_switch what,
                            const atomic_int *stop, vd_error *err)
{
    vd_switches one = {.count = 1, .at = {what}};
    vd_reply reply = {0};
    vd_status status = ask_switched(session, walk, &one, stop, &reply, NULL, err);
    if (status)
        return status;
    int first = walk->reply.answer.order[0];
    walk->effect[walk->effects++] = (vd_effect){.what = what,
                                                .attention = attention_to(walk, &what),
                                                .left = (double)reply.answer.probability[first],
                                                .first = reply.answer.order[0]};
    vd_reply_clear(&reply);
    return VD_OK;
}

static vd_switch switch_of(const vd_walk *walk, vd_switch_kind kind, int index)
{
    vd_switch one = {kind, kind == VD_SWITCH_REGION ? walk->region[index] : index, ""};
    if (kind == VD_SWITCH_ATTENTION)
        snprintf(one.word, sizeof one.word, "%s", attention_of(walk, &one, NULL));
    return one;
}

static vd_status add_effects(vd_session *session, vd_walk *walk, const atomic_int *stop,
                             vd_error *err)
{
    const vd_answer *answer = &walk->reply.answer;
    const char *name;
    int attentions = 0;
    while (vd_attention_named(answer->attention, answer->attentions, attentions, &name))
        attentions++;
    // The only entry cannot be left out, nor the only word.
    const struct {
        vd_switch_kind kind;
        int count;
    } all[] = {{VD_SWITCH_REGION, walk->regions},
               {VD_SWITCH_ENTRY, walk->entries > 1 ? walk->entries : 0},
               {VD_SWITCH_WORD, walk->reply.words > 1 ? walk->reply.words : 0},
               {VD_SWITCH_ATTENTION, attentions},
               {VD_SWITCH_POSITIONS, 1},
               {VD_SWITCH_PICTURE, 1}};
    size_t most = (size_t)(walk->regions + walk->entries + walk->reply.words + attentions + 2);
    walk->effect = g_new0(vd_effect, most);
    vd_status status = VD_OK;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int i = 0; i < all[k].count && status == VD_OK; i++)
            status = add_effect(session, walk, switch_of(walk, all[k].kind, i), stop, err);
    return status;
}

// ---- the walk -----------------------------------------------------------------------------------

static void list_regions(const vd_session *session, vd_walk *walk)
{
    const vd_answer *answer = &walk->reply.answer;
    gsize regions = (gsize)answer->regions;
    walk->regions = answer->regions;
    walk->region = g_new(int, regions);
    walk->names = g_memdup2(session->regions.names, regions * sizeof *walk->names);
    for (int row = 0; row < walk->regions; row++) {
        int at = row;
        double share = share_of(answer, VD_AXIS_REGIONS, row);
        for (; at > 0 && share_of(answer, VD_AXIS_REGIONS, walk->region[at - 1]) < share; at--)
            walk->region[at] = walk->region[at - 1];
        walk->region[at] = row;
    }
}

vd_status vd_walk_new(vd_session *session, const char *typed, const vd_switches *switches,
                      bool effects, const atomic_int *stop, vd_walk **out, vd_error *err)
{
    *out = NULL;
    vd_walk *walk = g_new0(vd_walk, 1);
    const vd_model *model = session->model;
    snprintf(walk->model, sizeof walk->model, "%.63s", vd_model_name(model));
    walk->config = *vd_model_config(model);
    vd_answer answer = {0};
    vd_status status = vd_session_ask(session, typed, stop, &walk->reply, err);
    if (status == VD_OK) // once more, to see what the stages compute
        status = vd_session_ask_if(session, walk->reply.ids, walk->reply.words, NULL, stop, &answer,
                                   &walk->trace, err);
    vd_answer_clear(&answer);
    if (status == VD_OK) {
        list_regions(session, walk);
        status = list_history(session, walk, err);
    }
    if (status == VD_OK && switches && switches->count > 0) {
        walk->switches = *switches;
        status =
            ask_switched(session, walk, switches, stop, &walk->changed, &walk->changed_trace, err);
    }
    if (status == VD_OK && effects)
        status = add_effects(session, walk, stop, err);
    if (status) {
        vd_walk_free(walk);
        return status;
    }
    *out = walk;
    return VD_OK;
}

void vd_walk_switch_name(const vd_walk *walk, const vd_switch *what, char *out, size_t size)
{
    char name[64];
    vd_switch_name(what, name, sizeof name);
    bool word = what->kind == VD_SWITCH_WORD && !what->word[0] && what->index < walk->reply.words;
    if (word)
        snprintf(out, size, "%.20s \"%.30s\"", name, walk->reply.word[what->index]);
    else if (what->kind == VD_SWITCH_ENTRY && what->index > 0 && what->index < walk->entries)
        snprintf(out, size, "%.90s", walk->entry[what->index].label);
    else if (what->kind == VD_SWITCH_ATTENTION)
        snprintf(out, size, "%.40s%s%s made uniform", name, what->index < 0 ? "" : ": ",
                 what->index < 0 ? "" : attention_of(walk, what, NULL));
    else if (what->kind == VD_SWITCH_POSITIONS)
        snprintf(out, size, "positions %s",
                 walk->config.positions == VD_POSITIONS_NONE ? "added" : "removed");
    else if (what->kind == VD_SWITCH_PICTURE)
        snprintf(out, size, "picture blank");
    else if (what->kind == VD_SWITCH_REGION && what->index < walk->regions)
        snprintf(out, size, "region %s", vd_region_label(walk->names, what->index).text);
    else
        snprintf(out, size, "%s", name);
}

void vd_walk_free(vd_walk *walk)
{
    if (!walk)
        return;
    vd_reply_clear(&walk->reply);
    vd_reply_clear(&walk->changed);
    vd_trace_clear(&walk->trace);
    vd_trace_clear(&walk->changed_trace);
    g_free(walk->entry);
    g_free(walk->region);
    g_free(walk->names);
    g_free(walk->effect);
    g_free(walk);
}
