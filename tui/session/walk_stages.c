// What each stage shows: the network's tables, with names for the things that it computed.
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/append.h"
#include "tui/base/shares.h"
#include "tui/session/walk.h"

// What tables are made from: the answer as it is, or the changed one.
typedef struct walk_view {
    const vd_walk *walk;
    const vd_reply *reply;
    const char *const *answers;
} walk_view;

enum { MOST_WORDS = 3, SHOWN_ANSWERS = 8, SHOWN_WORDS = 12 };

static void name_dialog_word(const walk_view *v, int word, char *out, size_t size)
{
    int entry = vd_answer_entry(&v->reply->answer, word);
    const vd_entry_words *words = entry < 0 ? NULL : &v->walk->entry[entry].words;
    vd_reply_dialog_word(v->reply, word, words, out, size);
}

static void name_region(const walk_view *v, int region, char *out, size_t size)
{
    snprintf(out, size, "%s%.40s", v->walk->names ? "" : "region ",
             vd_region_label(v->walk->names, region).text);
}

// Of the index-th row or column of an axis; regions are in the order of their shares in the answer
// as it is, whatever is switched.
static void name_of(const walk_view *v, vd_axis axis, int index, const char *const *names,
                    char *out, size_t size)
{
    if (axis == VD_AXIS_QUESTION_WORDS)
        snprintf(out, size, v->reply->unknown[index] ? "<UNK:%s>" : "%s", v->reply->word[index]);
    else if (axis == VD_AXIS_REGIONS)
        name_region(v, v->walk->region[index], out, size);
    else if (axis == VD_AXIS_ENTRIES)
        g_strlcpy(out, v->walk->entry[index].label, size);
    else if (axis == VD_AXIS_HISTORY_WORDS || axis == VD_AXIS_DIALOG_WORDS)
        name_dialog_word(v, index, out, size);
    else if (axis == VD_AXIS_ANSWER_WORDS)
        vd_reply_given_word(v->reply, index, out, size);
    else if (axis == VD_AXIS_ANSWERS)
        snprintf(out, size, "%d %.38s", index + 1, v->answers[v->reply->answer.order[index]]);
    else
        g_strlcpy(out, names ? names[index] : "question", size);
}

// Where the network has the index-th.
static int place_of(const walk_view *v, vd_axis axis, int index)
{
    return axis == VD_AXIS_REGIONS   ? v->walk->region[index]
           : axis == VD_AXIS_ANSWERS ? v->reply->answer.order[index]
                                     : index;
}

static void new_table(const vd_trace_table *from, int rows, int columns, vd_walk_table *t)
{
    *t = (vd_walk_table){.share = from->share, .rows = rows, .columns = columns};
    g_strlcpy(t->title, from->title, sizeof t->title);
    t->row = g_malloc0_n((gsize)rows, sizeof *t->row);
    t->column = g_malloc0_n((gsize)columns, sizeof *t->column);
    t->value = g_new0(double, (gsize)rows *(gsize)columns);
}

// The words of the history that each row has most of.
static void list_strongest(const walk_view *v, const vd_trace_table *from, vd_walk_table *t)
{
    vd_share top[MOST_WORDS];
    float *share = g_new(float, (gsize)from->columns);
    t->text = g_malloc0_n((gsize)t->rows * MOST_WORDS, sizeof *t->text);
    for (int i = 0; i < MOST_WORDS; i++)
        g_strlcpy(t->column[i], i ? "then" : "most", sizeof t->column[i]);
    for (int r = 0; r < t->rows; r++) {
        const double *row =
            from->value + (size_t)place_of(v, from->row_axis, r) * (size_t)from->columns;
        for (int c = 0; c < from->columns; c++)
            share[c] = (float)row[c];
        int count = vd_shares_top(share, from->columns - from->nothing, 2, top, MOST_WORDS);
        for (int n = 0; n < count; n++) {
            int at = r * MOST_WORDS + n;
            char word[36];
            name_dialog_word(v, top[n].index, word, sizeof word);
            snprintf(t->text[at], sizeof t->text[at], "%.38s %.8s", word,
                     vd_percent(top[n].share).text);
            t->value[at] = top[n].share;
        }
    }
    g_free(share);
}

static void list_cells(const walk_view *v, const vd_trace_table *from, vd_walk_table *t)
{
    int columns = t->columns - from->nothing;
    for (int c = 0; c < columns; c++)
        name_of(v, from->column_axis, c, from->column, t->column[c], sizeof t->column[c]);
    if (from->nothing)
        g_strlcpy(t->column[columns], "nothing", sizeof t->column[columns]);
    for (int r = 0; r < t->rows; r++)
        for (int c = 0; c < t->columns; c++)
            t->value[r * t->columns + c] =
                from->value[place_of(v, from->row_axis, r) * t->columns +
                            (c < columns ? place_of(v, from->column_axis, c) : c)];
}

// Of many answers only the first are shown, and the last, or the rest of the shares.
static void cut_answers(const walk_view *v, vd_walk_table *t)
{
    int last = SHOWN_ANSWERS, all = t->rows;
    double others = 1;
    t->rows = last + 1;
    if (!t->share) {
        name_of(v, VD_AXIS_ANSWERS, all - 1, NULL, t->row[last], sizeof t->row[last]);
        t->value[last] = t->value[all - 1];
        return;
    }
    for (int i = 0; i < last; i++)
        others -= t->value[i];
    snprintf(t->row[last], sizeof t->row[last], "the other %d", all - last);
    t->value[last] = fmax(others, 0);
}

// The rows with the largest numbers in the first columns, in their order.
static int strongest_rows(const vd_walk_table *t, int columns, vd_share top[SHOWN_WORDS])
{
    float *most = g_new0(float, (gsize)t->rows);
    for (int at = 0; at < t->rows * t->columns; at++)
        if (at % t->columns < columns)
            most[at / t->columns] = fmaxf(most[at / t->columns], (float)t->value[at]);
    int count = vd_shares_top(most, t->rows, 2, top, SHOWN_WORDS);
    vd_shares_by_index(top, count);
    g_free(most);
    return count;
}

// Of many words of the history only those with the largest shares are shown.
static void cut_words(vd_walk_table *t, bool nothing)
{
    vd_share top[SHOWN_WORDS];
    int all = t->rows, count = strongest_rows(t, t->columns - nothing, top);
    double others = 1;
    for (int i = 0; i < count; i++) {
        memmove(t->row[i], t->row[top[i].index], sizeof *t->row);
        memmove(t->value + i * t->columns, t->value + top[i].index * t->columns,
                (size_t)t->columns * sizeof *t->value);
        others -= t->value[i * t->columns];
    }
    t->rows = count;
    vd_append(t->title, sizeof t->title, ": %d of %d words", count, all);
    if (t->columns > 1)
        return;
    snprintf(t->row[t->rows], sizeof *t->row, "the other %d", all - count);
    t->value[t->rows++] = fmax(others, 0);
}

static void make_table(const walk_view *v, const vd_trace_table *from, vd_walk_table *t)
{
    bool words =
        from->column_axis == VD_AXIS_HISTORY_WORDS || from->column_axis == VD_AXIS_DIALOG_WORDS;
    new_table(from, from->rows, words ? MOST_WORDS : from->columns, t);
    for (int r = 0; r < t->rows; r++)
        name_of(v, from->row_axis, r, from->row, t->row[r], sizeof t->row[r]);
    if (words)
        list_strongest(v, from, t);
    else
        list_cells(v, from, t);
    if (from->row_axis == VD_AXIS_ANSWERS && t->rows > SHOWN_ANSWERS)
        cut_answers(v, t);
    if (from->row_axis == VD_AXIS_HISTORY_WORDS && t->rows > SHOWN_WORDS && !t->text)
        cut_words(t, from->nothing);
}

// ---- stages -------------------------------------------------------------------------------------

void vd_walk_cell(const vd_walk_table *table, int at, bool narrow, char *out, size_t size)
{
    double value = table->value[at];
    if (table->text)
        snprintf(out, size, "%s", table->text[at]);
    else if (table->share && narrow)
        snprintf(out, size, "%.0f", 100 * value);
    else if (table->share)
        snprintf(out, size, "%s", vd_percent(value).text);
    else if (value == floor(value) && fabs(value) < 1e6)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, "%.3f", value);
}

void vd_walk_stage_make(const vd_walk *walk, bool changed, int index, const char *const *answers,
                        vd_walk_stage *out)
{
    const walk_view v = {walk, changed ? &walk->changed : &walk->reply, answers};
    *out = (vd_walk_stage){.of = &(changed ? &walk->changed_trace : &walk->trace)->stage[index]};
    for (; out->tables < out->of->tables; out->tables++)
        make_table(&v, &out->of->table[out->tables], &out->table[out->tables]);
}

void vd_walk_stage_clear(vd_walk_stage *stage)
{
    for (int i = 0; i < stage->tables; i++) {
        g_free(stage->table[i].row);
        g_free(stage->table[i].column);
        g_free(stage->table[i].value);
        g_free(stage->table[i].text);
    }
    *stage = (vd_walk_stage){0};
}
