#include "engine/networks/mvan/trace.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "engine/networks/mvan/pass.h"

// Rows that a stage computed, and where they go: row r to row place[r] of `all`, r itself with
// NULL.
typedef struct trace_part {
    float **to;
    const vd_real *from;
    size_t rows, all, columns;
    const int *place;
} trace_part;

vd_status vd_trace_take(const vd_pass *pass, const int *entry, int entries, vd_trace *out,
                        vd_error *err)
{
    const vd_config *c = pass->config;
    size_t e = (size_t)c->embed, h = (size_t)c->hidden, d = (size_t)c->region;
    size_t words = (size_t)pass->question_words.tokens,
           seen = (size_t)pass->history_words.sequences;
    size_t real = (size_t)pass->rows, regions = (size_t)pass->regions, all = 0, most = 0;
    const int *region = pass->row_image;
    const trace_part part[] = {
        {&out->word, pass->question.embedding, words, words, e, NULL},
        {&out->state, pass->question.recurrent.y, words, words, 2 * h, NULL},
        {&out->question, pass->question.sentence, 1, 1, 2 * h, NULL},
        {&out->history, pass->history.sentence, seen, (size_t)entries, 2 * h, entry},
        {&out->matched, pass->matched, 1, 1, 2 * h, NULL},
        {&out->context_gate, pass->context_pair.gate, 1, 1, 4 * h, NULL},
        {&out->context, pass->context_pair.y, 1, 1, 4 * h, NULL},
        {&out->gathered, pass->gathered, words, words, e, NULL},
        {&out->topic_gate, pass->topic_pair.gate, words, words, 2 * e, NULL},
        {&out->topic, pass->topic_pair.y, words, words, 2 * e, NULL},
        {&out->region_topic, pass->region_topic, real, regions, 2 * e, region},
        {&out->view, pass->view, real, regions, d, region},
        {&out->fused, pass->fused, real, regions, h, region},
        {&out->pooled, pass->pooled, 1, 1, d + 4 * h, NULL},
        {&out->encoded, pass->encoded, 1, 1, h, NULL},
    };
    const size_t count = sizeof part / sizeof *part;
    for (size_t i = 0; i < count; i++) {
        all += part[i].all * part[i].columns;
        most = part[i].rows * part[i].columns > most ? part[i].rows * part[i].columns : most;
    }
    *out = (vd_trace){.embed = c->embed,
                      .hidden = c->hidden,
                      .region = c->region,
                      .words = (int)words,
                      .rounds = entries,
                      .regions = pass->regions};
    float *at = out->memory = vd_alloc(all, sizeof *at), *rows = vd_alloc(most, sizeof *rows);
    for (size_t i = 0; at && rows && i < count; i++) {
        const trace_part *p = &part[i];
        pass->be->read_floats(p->from, rows, p->rows * p->columns);
        for (size_t r = 0; r < p->rows; r++)
            memcpy(at + (p->place ? (size_t)p->place[r] : r) * p->columns, rows + r * p->columns,
                   p->columns * sizeof *at);
        *p->to = at;
        at += p->all * p->columns;
    }
    vd_status status = at && rows ? VD_OK : vd_error_memory(err, "what the stages computed");
    vd_free(rows);
    if (status != VD_OK)
        vd_trace_clear(out);
    return status;
}

void vd_trace_clear(vd_trace *trace)
{
    vd_free(trace->memory);
    *trace = (vd_trace){0};
}
