// What a network on the tape shows of an answer: its attentions, and the stages that it explains.

#include <stdio.h>
#include <string.h>

#include "engine/base/append.h"
#include "engine/networks/encoder.h"
#include "engine/networks/pass.h"

// ---- attentions ---------------------------------------------------------------------------------

// How many of the list have this name, heads apart.
static int count_named(const vd_shown *list, const char *name)
{
    int count = 0;
    for (; list; list = list->next)
        count += !list->heads && strcmp(list->name, name) == 0;
    return count;
}

// The numbers of the last query: of its pairs those of the last group, or of that its last row.
static vd_attention_at attention_of(const vd_tape *tape, const vd_shown *shown, const char *part)
{
    const vd_pairing *p = shown->value->pairing;
    const vd_pair_group *g = &p->group[p->count - 1];
    int columns = g->key[0].count + g->key[1].count;
    int rows = p->query_axis == VD_AXIS_QUESTIONS ? 1 : g->query.count;
    int of = shown->heads ? shown->heads : count_named(tape->shown, shown->name);
    return (vd_attention_at){.name = shown->name,
                             .part = shown->heads ? VD_ATTENTION_HEAD
                                     : of > 1     ? part
                                                  : NULL,
                             .index = shown->index,
                             .of = of,
                             .by_entry = p->by_entry,
                             .nothing = p->sentinel,
                             .derived = p->derived,
                             .query = p->query_axis,
                             .key = p->key_axis,
                             .rows = rows,
                             .columns = columns,
                             .share = shown->value->x + g->at + (g->query.count - rows) * columns};
}

const vd_attention_at *vd_tape_shown(const vd_tape *tape, const char *part, int *count)
{
    *count = 0;
    for (const vd_shown *s = tape->shown; s; s = s->next)
        (*count)++;
    vd_attention_at *list = vd_arena_take_raw(tape->arena, (size_t)*count, sizeof *list),
                    *at = list;
    for (const vd_shown *s = tape->shown; s && list; s = s->next)
        *at++ = attention_of(tape, s, part);
    return list;
}

// ---- stages -------------------------------------------------------------------------------------

// The rows of a value that belong to the last question.
static int rows_of(const vd_value *x)
{
    return x->axis == VD_AXIS_QUESTIONS || x->axis == VD_AXIS_DIALOGS ? 1 : x->rows;
}

// The letters of engine/networks/batch.h: of what there is a row each, then their size. What has no
// letter is a number.
static void name_axes(const vd_pass *pass, const vd_value *x, char *out, size_t size)
{
    typedef struct axis_letter {
        const char *letter;
        int size;
    } axis_letter;
    const vd_config *c = pass->config;
    const int *region = pass->span.region_start, h = c->hidden, e = c->embed;
    const axis_letter
        of[VD_AXIS_COUNT] = {[VD_AXIS_REGIONS] = {"P", region[1] - region[0]},
                             [VD_AXIS_ENTRIES] = {"R", pass->history_words.sequences},
                             [VD_AXIS_QUESTION_WORDS] = {"Tq", pass->question_words.tokens},
                             [VD_AXIS_HISTORY_WORDS] = {"Th", pass->history_words.tokens}},
        wide[] = {{"H", h},      {"D", c->region},           {"E", e}, {"2H", 2 * h}, {"2E", 2 * e},
                  {"4H", 4 * h}, {"D+4H", c->region + 4 * h}};
    const axis_letter *rows = &of[x->pairing ? x->pairing->key_axis : x->axis];
    size_t i = 0, sizes = sizeof wide / sizeof *wide;
    while (i < sizes && wide[i].size != x->columns)
        i++;
    *out = '\0';
    if (rows_of(x) > 1 && rows->letter && rows->size == x->rows)
        vd_append(out, size, "%s, ", rows->letter);
    else if (rows_of(x) > 1)
        vd_append(out, size, "%d, ", x->rows);
    if (i < sizes)
        vd_append(out, size, "%s", wide[i].letter);
    else
        vd_append(out, size, "%d", x->columns);
}

static int copy_values(const vd_pass *pass, const vd_named *from, vd_trace *trace,
                       vd_trace_value *to)
{
    int i = 0;
    for (; i < VD_EXPLAINED_VALUES && from[i].value; i++) {
        const vd_value *x = from[i].value;
        int rows = rows_of(x), columns = x->columns;
        size_t n = (size_t)rows * (size_t)columns, skipped = (size_t)(x->rows - rows);
        float *value = vd_arena_take_raw(&trace->memory, n, sizeof *value);
        if (value)
            pass->be->read_floats(x->x + skipped * (size_t)columns, value, n);
        to[i] = (vd_trace_value){.name = from[i].name,
                                 .is = from[i].is,
                                 .dims = rows == 1 ? 1 : 2,
                                 .shape = {rows == 1 ? columns : rows, columns},
                                 .value = value};
        name_axes(pass, x, to[i].axes, sizeof to[i].axes);
    }
    return i;
}

// The gate as a table, like an attention whose shares need not sum to one.
static vd_status add_gate(const vd_pass *pass, const vd_explained *e,
                          const vd_axis_subsets *subsets, vd_trace *trace, vd_trace_stage *stage,
                          vd_error *err)
{
    static const char *const column[] = {"part"};
    const vd_shown gate = {.name = e->gate.name, .value = e->gate.value};
    vd_attention_at from = attention_of(pass->tape, &gate, NULL);
    char title[sizeof stage->table->title];
    vd_attention *table;
    size_t n = (size_t)from.rows * (size_t)from.columns;
    float *part = vd_arena_take_raw(&trace->memory, n, sizeof *part);
    if (!part)
        return vd_error_memory(err, "what the stages computed");
    from.of = 1;
    pass->be->read_floats(from.share, part, n);
    vd_status status = vd_attentions_spread(&from, 1, part, subsets, &table, err);
    if (status)
        return status;
    snprintf(title, sizeof title, "%s: %s", e->gate.name, e->gate.is);
    vd_trace_add_attention(trace, stage, title, table, column);
    vd_attentions_free(table, 1);
    return VD_OK;
}

// Stages of the same title are numbered: "Regions, step 2 of 4".
static void put_title(const vd_pass *pass, const vd_explained *e, vd_trace_stage *stage)
{
    int of = 0, index = 0;
    for (const vd_explained *other = pass->tape->explained; other; other = other->next) {
        of += strcmp(other->title, e->title) == 0;
        index = other == e ? of : index;
    }
    const char *part = vd_encoder_of(pass->config)->part;
    if (of > 1 && part)
        snprintf(stage->title, sizeof stage->title, "%s, %s %d of %d", e->title, part, index, of);
    else
        snprintf(stage->title, sizeof stage->title, "%s", e->title);
}

// *first: the first attention that belongs to the stage. The gate's table has room whatever there
// is.
static void fill_stage(const vd_pass *pass, const vd_explained *e, const vd_outcome *outcome,
                       int *first, vd_trace *trace, vd_trace_stage *stage)
{
    static const char *const column[] = {"share"};
    put_title(pass, e, stage);
    stage->why = e->why;
    memcpy(stage->formula, e->formula, sizeof stage->formula);
    stage->ins = copy_values(pass, e->in, trace, stage->in);
    stage->outs = copy_values(pass, e->out, trace, stage->out);
    for (; *first < e->shown; (*first)++)
        if (stage->tables < VD_STAGE_TABLES - (e->gate.value != NULL) &&
            strcmp(outcome->attention[*first].part, VD_ATTENTION_HEAD) !=
                0) // their mean is among them
            vd_trace_add_attention(trace, stage, NULL, &outcome->attention[*first], column);
}

vd_status vd_encoder_trace(const vd_pass *pass, const vd_axis_subsets *subsets,
                           const vd_outcome *outcome, vd_trace *out, vd_error *err)
{
    int wide = vd_encoded_width(pass->config), stages = VD_DECODER_STAGES, first = 0;
    for (const vd_explained *e = pass->tape->explained; e; e = e->next)
        stages++;
    vd_status status = vd_trace_make(stages, out, err);
    vd_trace_stage *stage = out->stage;
    for (const vd_explained *e = pass->tape->explained; e && status == VD_OK; e = e->next) {
        fill_stage(pass, e, outcome, &first, out, stage);
        if (e->gate.value)
            status = add_gate(pass, e, subsets, out, stage, err);
        stage++;
    }
    float *value = vd_arena_take_raw(&out->memory, (size_t)wide, sizeof *value);
    if (status) {
        vd_trace_clear(out);
        return status;
    }
    vd_trace_value encoded = {"e", "the encoder's vector", "H", 1, {wide}, value};
    if (!vd_encodes(pass->config)) {
        encoded.is = "the dialog so far; the answers attend to all its tokens";
        encoded.axes[0] = 'E';
    }
    if (value)
        pass->be->read_floats(pass->encoded, value, (size_t)wide);
    vd_decoder_stages(outcome, &encoded, out);
    return vd_trace_status(out, err);
}
