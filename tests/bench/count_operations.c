#include "tests/bench/count_operations.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum family {
    LAYERS,
    LAYERS_BACKWARD,
    SMALL_PRODUCTS,
    LSTM,
    LSTM_BACKWARD,
    ATTENTIONS,
    GATES,
    ROWS,
    LOSS,
    OPTIMISER,
    UPLOADS,
    FAMILIES
};

static const char *const names[FAMILIES] = {[LAYERS] = "layers, forward",
                                            [LAYERS_BACKWARD] = "layers, backward",
                                            [SMALL_PRODUCTS] = "small products",
                                            [LSTM] = "LSTMs, forward",
                                            [LSTM_BACKWARD] = "LSTMs, backward",
                                            [ATTENTIONS] = "attentions",
                                            [GATES] = "gates and dropout",
                                            [ROWS] = "rows moved, zeroed",
                                            [LOSS] = "loss",
                                            [OPTIMISER] = "optimiser",
                                            [UPLOADS] = "indices sent"};

static const vd_backend *inner;
static double operations, spent[FAMILIES], started;
static bool waits;

static double now(void) // milliseconds
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void enter(void)
{
    started = now();
}

static void leave(enum family family, double count)
{
    operations += count;
    if (waits)
        inner->last_error();
    spent[family] += now() - started;
}

// An operation without matrix products: its parameters, and their names.
#define TIMED(family, name, parameters, arguments)                                                 \
    static void timed_##name parameters                                                            \
    {                                                                                              \
        enter();                                                                                   \
        inner->name arguments;                                                                     \
        leave(family, 0);                                                                          \
    }

// NOLINTBEGIN(bugprone-macro-parentheses)
TIMED(GATES, gated, (vd_gate gate, vd_real *pre, vd_real *y, int rows, int hidden),
      (gate, pre, y, rows, hidden))
TIMED(GATES, gated_backward,
      (vd_gate gate, vd_real *saved, const vd_real *dy, int rows, int hidden),
      (gate, saved, dy, rows, hidden))
TIMED(GATES, sigmoid_gate, (vd_real * pre, const vd_real *x, vd_real *y, size_t n), (pre, x, y, n))
TIMED(GATES, sigmoid_gate_backward,
      (vd_real * saved, const vd_real *x, const vd_real *dy, vd_real *dx, size_t n),
      (saved, x, dy, dx, n))
TIMED(GATES, map, (vd_function f, const vd_real *x, vd_real *y, size_t n), (f, x, y, n))
TIMED(GATES, relu_backward, (const vd_real *y, vd_real *dy, size_t n), (y, dy, n))
TIMED(GATES, add_scaled, (vd_real * y, vd_real a, const vd_real *x, size_t n), (y, a, x, n))
TIMED(GATES, dropout, (const vd_real *x, vd_real *y, size_t n, vd_real rate, uint64_t key),
      (x, y, n, rate, key))
TIMED(ATTENTIONS, context_attention,
      (const vd_geometry *span, int hidden, const vd_real *fq, const vd_real *fh, const vd_real *h,
       const vd_score_weights *score, vd_real rate, uint64_t key, vd_real *a, vd_real *c),
      (span, hidden, fq, fh, h, score, rate, key, a, c))
TIMED(ATTENTIONS, context_attention_backward,
      (const vd_geometry *span, int hidden, const vd_real *fq, const vd_real *fh, const vd_real *h,
       const vd_score_weights *score, const vd_score_weights *dscore, vd_real rate, uint64_t key,
       const vd_real *a, vd_real *da, const vd_real *dc, vd_real *dfq, vd_real *dfh, vd_real *dh),
      (span, hidden, fq, fh, h, score, dscore, rate, key, a, da, dc, dfq, dfh, dh))
TIMED(ATTENTIONS, topic_attention,
      (const vd_geometry *span, const size_t *start, const vd_real *a, vd_real *s,
       vd_real *weighted),
      (span, start, a, s, weighted))
TIMED(ATTENTIONS, topic_attention_backward,
      (const vd_geometry *span, const size_t *start, const vd_real *a, const vd_real *s,
       vd_real *ds, vd_real *da),
      (span, start, a, s, ds, da))
TIMED(ATTENTIONS, word_attention, (const vd_geometry *span, int regions, vd_real *m),
      (span, regions, m))
TIMED(ATTENTIONS, word_attention_backward,
      (const vd_geometry *span, int regions, const vd_real *m, vd_real *dm), (span, regions, m, dm))
TIMED(ATTENTIONS, region_attention,
      (const vd_geometry *span, int hidden, const vd_real *fm, const vd_real *fc,
       const vd_score_weights *score, vd_real rate, uint64_t key, vd_real *z, vd_real *norm,
       vd_real *g),
      (span, hidden, fm, fc, score, rate, key, z, norm, g))
TIMED(ATTENTIONS, region_attention_backward,
      (const vd_geometry *span, int hidden, const vd_real *fm, const vd_real *fc,
       const vd_score_weights *score, const vd_score_weights *dscore, vd_real rate, uint64_t key,
       const vd_real *z, const vd_real *norm, const vd_real *g, vd_real *dg, vd_real *dfm,
       vd_real *dfc),
      (span, hidden, fm, fc, score, dscore, rate, key, z, norm, g, dg, dfm, dfc))
TIMED(ATTENTIONS, region_pool,
      (const vd_geometry *span, const vd_real *g, const vd_real *m, int size, vd_real *y,
       int stride),
      (span, g, m, size, y, stride))
TIMED(ATTENTIONS, region_pool_backward,
      (const vd_geometry *span, const vd_real *g, const vd_real *m, int size, const vd_real *dy,
       int stride, vd_real *dg, vd_real *dm),
      (span, g, m, size, dy, stride, dg, dm))
TIMED(ROWS, copy_rows,
      (const vd_real *x, int x_stride, const int *index, int rows, int width, vd_real *y,
       int y_stride),
      (x, x_stride, index, rows, width, y, y_stride))
TIMED(ROWS, scatter_rows,
      (const vd_real *x, int x_stride, const int *index, int rows, int width, vd_real *y,
       int y_stride),
      (x, x_stride, index, rows, width, y, y_stride))
TIMED(ROWS, embed, (const vd_matrix *table, const int32_t *id, int rows, vd_real *y),
      (table, id, rows, y))
TIMED(ROWS, embed_backward,
      (const vd_matrix *dtable, const int32_t *id, int rows, const vd_real *dy),
      (dtable, id, rows, dy))
TIMED(ROWS, normalise_regions, (const vd_real *x, vd_real *y, int dialogs, int regions, int size),
      (x, y, dialogs, regions, size))
TIMED(ROWS, load_floats, (const float *host, vd_real *y, size_t n), (host, y, n))
TIMED(LOSS, gather,
      (const vd_real *products, const int32_t *option, int questions, int candidates, int distinct,
       vd_real *scores),
      (products, option, questions, candidates, distinct, scores))
TIMED(LOSS, gather_backward,
      (const vd_real *dscores, const int32_t *option, int questions, int candidates, int distinct,
       vd_real *dproducts),
      (dscores, option, questions, candidates, distinct, dproducts))
TIMED(LOSS, candidate_loss, (const vd_candidate_loss *loss), (loss))
TIMED(OPTIMISER, adam,
      (vd_real * w, const vd_real *g, vd_real *m, vd_real *v, size_t n, vd_real scale, double rate,
       const vd_moments *moments, int64_t step),
      (w, g, m, v, n, scale, rate, moments, step))
// NOLINTEND(bugprone-macro-parentheses)

static double timed_square_sum(const vd_real *x, size_t n)
{
    enter();
    double sum = inner->square_sum(x, n);
    leave(OPTIMISER, 0);
    return sum;
}

static void timed_zero(void *memory, size_t bytes)
{
    enter();
    inner->memory->zero(memory, bytes);
    leave(ROWS, 0);
}

static void timed_upload(void *to, const void *from, size_t bytes)
{
    enter();
    inner->memory->upload(to, from, bytes);
    leave(UPLOADS, 0);
}

// ---- matrix products ----------------------------------------------------------------------------

static void counted_products(bool ta, bool tb, vd_real beta, const vd_product *list, int count)
{
    double flops = 0;
    for (int i = 0; i < count; i++)
        flops += 2.0 * list[i].m * list[i].n * list[i].k;
    enter();
    inner->products(ta, tb, beta, list, count);
    leave(count == 1 ? LAYERS : SMALL_PRODUCTS, flops);
}

static void counted_linear(const vd_real *x, const vd_matrix *w, const vd_real *b, vd_real *y,
                           int rows)
{
    enter();
    inner->linear(x, w, b, y, rows);
    leave(LAYERS, 2.0 * rows * w->rows * w->columns);
}

static void counted_linear_backward(const vd_real *x, const vd_matrix *w, const vd_real *dy,
                                    vd_real *dx, int dx_stride, vd_real beta, const vd_matrix *dw,
                                    vd_real *db, int rows)
{
    enter();
    inner->linear_backward(x, w, dy, dx, dx_stride, beta, dw, db, rows);
    leave(LAYERS_BACKWARD, 2.0 * rows * w->rows * w->columns * ((dx != NULL) + (dw != NULL)));
}

// The multiplications that are done, without those saved because rows are shared.
static void counted_lstm(const vd_lstm_pass *p, int directions)
{
    enter();
    inner->lstm(p, directions);
    leave(LSTM, 8.0 * directions * p->hidden *
                    ((double)p->x_rows * p->in + (double)p->packed->tokens * p->hidden));
}

static void counted_lstm_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q, int directions)
{
    enter();
    inner->lstm_backward(p, q, directions);
    leave(LSTM_BACKWARD, 16.0 * directions * p->packed->tokens * p->hidden * (p->in + p->hidden));
}

// ---- the table ----------------------------------------------------------------------------------

const vd_backend *count_on(const vd_backend *be)
{
    static vd_memory memory;
    static vd_backend table;
    inner = be;
    table = *be;
    memory = *be->memory;
    memory.upload = timed_upload;
    memory.zero = timed_zero;
    table.memory = &memory;
    table.products = counted_products;
    table.linear = counted_linear;
    table.linear_backward = counted_linear_backward;
    table.lstm = counted_lstm;
    table.lstm_backward = counted_lstm_backward;
    table.square_sum = timed_square_sum;
#define USE(name) table.name = timed_##name
    USE(gated);
    USE(gated_backward);
    USE(sigmoid_gate);
    USE(sigmoid_gate_backward);
    USE(map);
    USE(relu_backward);
    USE(add_scaled);
    USE(dropout);
    USE(context_attention);
    USE(context_attention_backward);
    USE(topic_attention);
    USE(topic_attention_backward);
    USE(word_attention);
    USE(word_attention_backward);
    USE(region_attention);
    USE(region_attention_backward);
    USE(region_pool);
    USE(region_pool_backward);
    USE(copy_rows);
    USE(scatter_rows);
    USE(embed);
    USE(embed_backward);
    USE(normalise_regions);
    USE(load_floats);
    USE(gather);
    USE(gather_backward);
    USE(candidate_loss);
    USE(adam);
#undef USE
    return &table;
}

void count_begin(bool timed)
{
    inner->last_error();
    waits = timed;
    operations = 0;
    memset(spent, 0, sizeof spent);
}

double count_operations(void)
{
    return operations;
}

void count_print(double whole)
{
    double rest = whole;
    for (int i = 0; i < FAMILIES; i++) {
        printf("    %-20s %8.3f ms %5.1f %%\n", names[i], spent[i], 100 * spent[i] / whole);
        rest -= spent[i];
    }
    printf("    %-20s %8.3f ms %5.1f %%\n", "everything else", rest, 100 * rest / whole);
}
