#include "engine/networks/mvan/trace.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "engine/networks/mvan/pass.h"

// NULL when memory is out.
static float *trace_rows(const vd_backend *be, const vd_real *from, size_t rows, size_t columns)
{
    float *to = vd_alloc(rows * columns, sizeof *to);
    if (to)
        be->read_floats(from, to, rows * columns);
    return to;
}

// Rows of what is there, each to its own place among `all`; the other rows stay zero.
static float *spread_rows(const vd_backend *be, const vd_real *from, const int *place, int rows,
                          int all, size_t columns)
{
    float *there = trace_rows(be, from, (size_t)rows, columns);
    float *to = vd_alloc((size_t)all * columns, sizeof *to);
    for (int row = 0; there && to && row < rows; row++)
        memcpy(to + (size_t)place[row] * columns, there + (size_t)row * columns,
               columns * sizeof *to);
    if (!there) {
        vd_free(to);
        to = NULL;
    }
    vd_free(there);
    return to;
}

vd_status vd_trace_take(const vd_pass *pass, const int *entry, int entries, vd_trace *out,
                        vd_error *err)
{
    const vd_backend *be = pass->be;
    const vd_config *c = pass->config;
    size_t e = (size_t)c->embed, h = (size_t)c->hidden, d = (size_t)c->region;
    size_t words = (size_t)pass->question_words.tokens;
    int regions = pass->regions;
    *out = (vd_trace){.embed = c->embed,
                      .hidden = c->hidden,
                      .region = c->region,
                      .words = (int)words,
                      .rounds = entries,
                      .regions = regions};
    out->word = trace_rows(be, pass->question.embedding, words, e);
    out->state = trace_rows(be, pass->question.recurrent.y, words, 2 * h);
    out->question = trace_rows(be, pass->question.sentence, 1, 2 * h);
    out->history = spread_rows(be, pass->history.sentence, entry, pass->history_words.sequences,
                               entries, 2 * h);
    out->matched = trace_rows(be, pass->matched, 1, 2 * h);
    out->context_gate = trace_rows(be, pass->context_gate, 1, 4 * h);
    out->context = trace_rows(be, pass->e_context, 1, 4 * h);
    out->gathered = trace_rows(be, pass->gathered, words, e);
    out->topic_gate = trace_rows(be, pass->topic_gate, words, 2 * e);
    out->topic = trace_rows(be, pass->e_topic, words, 2 * e);
    out->region_topic =
        spread_rows(be, pass->region_topic, pass->row_image, pass->rows, regions, 2 * e);
    out->view = spread_rows(be, pass->view, pass->row_image, pass->rows, regions, d);
    out->fused = spread_rows(be, pass->fused, pass->row_image, pass->rows, regions, h);
    out->pooled = trace_rows(be, pass->pooled, 1, d + 4 * h);
    out->encoded = trace_rows(be, pass->encoded, 1, h);
    if (out->word && out->state && out->question && out->history && out->matched &&
        out->context_gate && out->context && out->gathered && out->topic_gate && out->topic &&
        out->region_topic && out->view && out->fused && out->pooled && out->encoded)
        return VD_OK;
    vd_trace_clear(out);
    return vd_error_memory(err, "what the stages computed");
}

void vd_trace_clear(vd_trace *trace)
{
    float *owned[] = {trace->word,       trace->state,        trace->question,     trace->history,
                      trace->matched,    trace->context_gate, trace->context,      trace->gathered,
                      trace->topic_gate, trace->topic,        trace->region_topic, trace->view,
                      trace->fused,      trace->pooled,       trace->encoded};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        vd_free(owned[i]);
    *trace = (vd_trace){0};
}
