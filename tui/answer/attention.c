#include "tui/answer/attention.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "features/text/tokenize.h"
#include "tui/base/shares.h"

// Names of words that are missing for want of memory would be other names.
static bool is_done(vd_status status)
{
    if (status == VD_NO_MEMORY)
        g_error("out of memory: the words of the history");
    return status == VD_OK;
}

static void turn_words(const vd_turn *turn, int length, vd_entry_words *out)
{
    char *question = NULL;
    is_done(vd_entry_words_turn(out, turn->question, turn->answer, NULL));
    if (out->count != length && is_done(vd_normalise_typed(turn->question, &question, NULL)))
        is_done(vd_entry_words_turn(out, question, turn->answer, NULL));
    vd_free(question);
}

void vd_sheet_entry_words(const vd_sheet *sheet, const vd_answer *answer, int entry,
                          vd_entry_words *out)
{
    int length = answer->history_start[entry + 1] - answer->history_start[entry];
    out->count = 0;
    if (entry == 0 && sheet->caption)
        is_done(vd_entry_words_caption(out, sheet->caption, NULL));
    else if (entry > 0 && entry <= sheet->rounds && sheet->history[entry - 1].answer)
        turn_words(&sheet->history[entry - 1], length, out);
    out->count = out->count == length ? length : 0;
}

static void name_dialog_word(const vd_sheet *sheet, const vd_reply *reply, int word, char *out,
                             size_t size)
{
    vd_entry_words words = {0};
    int entry = vd_answer_entry(&reply->answer, word);
    if (entry >= 0)
        vd_sheet_entry_words(sheet, &reply->answer, entry, &words);
    vd_reply_dialog_word(reply, word, &words, out, size);
}

void vd_sheet_item(const vd_sheet *sheet, int side, vd_axis axis, int index, char *out, size_t size)
{
    const vd_reply *reply = sheet->side[side].reply;
    if (axis == VD_AXIS_QUESTIONS)
        snprintf(out, size, "question");
    else if (axis == VD_AXIS_QUESTION_WORDS && index < reply->words)
        snprintf(out, size, "%s", reply->word[index]);
    else if (axis == VD_AXIS_ANSWER_WORDS)
        vd_reply_given_word(reply, index, out, size);
    else if ((axis == VD_AXIS_DIALOG_WORDS || axis == VD_AXIS_HISTORY_WORDS) &&
             reply->answer.history_start)
        name_dialog_word(sheet, reply, index, out, size);
    else if (axis == VD_AXIS_ENTRIES && index == 0)
        snprintf(out, size, "caption");
    else if (axis == VD_AXIS_ENTRIES)
        snprintf(out, size, "round %d", index);
    else if (axis == VD_AXIS_REGIONS)
        snprintf(out, size, "%s%s", sheet->names ? "" : "region ",
                 vd_sheet_region(sheet, index).text);
    else
        snprintf(out, size, "#%d", index + 1);
}

const vd_attention *vd_answer_further(const vd_answer *answer, int index)
{
    const vd_attention *regions = vd_answer_attention(answer, VD_AXIS_QUESTIONS, VD_AXIS_REGIONS);
    const vd_attention *entries = vd_answer_attention(answer, VD_AXIS_QUESTIONS, VD_AXIS_ENTRIES);
    for (int i = 0; i < answer->attentions; i++) {
        const vd_attention *a = &answer->attention[i];
        if (a->share && a != regions && a != entries && index-- == 0)
            return a;
    }
    return NULL;
}

static void add_share(const vd_sheet *sheet, int side, vd_axis axis, vd_share one, char *out,
                      size_t size)
{
    char name[64];
    vd_sheet_item(sheet, side, axis, one.index, name, sizeof name);
    vd_append(out, size, "%s%s %s", *out ? ", " : "", name, vd_percent(one.share).text);
}

// The largest share of each entry.
static void add_entries(const vd_sheet *sheet, int side, const vd_attention *attention,
                        const float *share, char *out, size_t size)
{
    const vd_answer *answer = &sheet->side[side].reply->answer;
    for (int e = 0; answer->history_start && e < answer->rounds; e++) {
        vd_share top;
        int first = answer->history_start[e];
        if (vd_shares_top(share + first, answer->history_start[e + 1] - first, 1, &top, 1)) {
            top.index += first;
            add_share(sheet, side, attention->key, top, out, size);
        }
    }
}

void vd_sheet_largest(const vd_sheet *sheet, int side, const vd_attention *attention, int row,
                      char *out, size_t size)
{
    const float *share = attention->share + (size_t)row * (size_t)attention->columns;
    enum { MOST = 5 };
    vd_share top[MOST];
    int count = attention->by_entry ? 0 : vd_shares_top(share, attention->columns, 0.9, top, MOST);
    *out = '\0';
    if (attention->query != VD_AXIS_QUESTIONS) {
        vd_sheet_item(sheet, side, attention->query, row, out, size);
        vd_append(out, size, " -> ");
    }
    char *list = out + strlen(out);
    size -= (size_t)(list - out);
    for (int i = 0; i < count; i++)
        add_share(sheet, side, attention->key, top[i], list, size);
    if (attention->by_entry)
        add_entries(sheet, side, attention, share, list, size);
    if (!*list)
        *out = '\0';
}

void vd_answer_step(const vd_answer *answer, vd_axis key, char *out, size_t size)
{
    const vd_attention *a = vd_answer_attention(answer, VD_AXIS_QUESTIONS, key);
    out[0] = '\0';
    if (a && a->of > 1)
        snprintf(out, size, ", %s %d of %d", a->part, a->index + 1, a->of);
}
