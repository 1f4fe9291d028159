// The LSTM of the backend under test against the CPU's: chains in one direction and in two, with
// and without initial states, trees of prefixes, shared inputs, with and without a gradient; and
// with bfloat16 factors, roughly. And the GRU, with gates of its own and from outside.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/backend/backend.h"
#include "engine/base/rng.h"
#include "engine/graph/tape.h"
#include "tests/support/backend.h"
#include "tests/support/support.h"

enum { WIDTH = 9, WORDS = 12, MOST = 330 };

// What is run; weights, inputs and gradients follow from the seed.
typedef struct lstm_case {
    int sequences, in, hidden, directions;
    bool tree, shared, initial, gradient;
    bool alike; // all begin with the same word, and go on with any
    uint64_t seed;
} lstm_case;

typedef struct lstm_result {
    size_t count;
    float *at; // y, then what the gradient gave
} lstm_result;

typedef struct lstm_room {
    const vd_backend *be;
    vd_arena arena;
    vd_rng rng;
    vd_packed packed;
    vd_distinct_words words;
    vd_lstm_pass pass[2];
    vd_lstm_gradient gradient[2];
    vd_lstm_weights weights[2], dweights[2];
} lstm_room;

static vd_real *random_reals(lstm_room *r, size_t n, double most)
{
    float *host = vd_alloc(n, sizeof *host);
    vd_real *there = vd_arena_reals(&r->arena, n);
    for (size_t i = 0; i < n; i++)
        host[i] = (float)vd_rng_range(&r->rng, -most, most);
    r->be->load_floats(host, there, n);
    vd_free(host);
    return there;
}

static vd_lstm_weights random_weights(lstm_room *r, const lstm_case *c)
{
    size_t g = 4 * (size_t)c->hidden, in = (size_t)c->in, h = (size_t)c->hidden;
    vd_lstm_weights w = {0};
    w.w_ih = vd_matrix_of(random_reals(r, g * in, 0.4), 4 * c->hidden, c->in);
    w.w_hh = vd_matrix_of(random_reals(r, g * h, 0.4), 4 * c->hidden, c->hidden);
    w.b_ih = random_reals(r, g, 0.4);
    w.b_hh = random_reals(r, g, 0.4);
    return w;
}

// Sequences of few words, which share words and beginnings; one in five is empty.
static void pack(lstm_room *r, const lstm_case *c)
{
    static int32_t ids[MOST * WIDTH], lengths[MOST];
    static int order[MOST], last[MOST];
    vd_error err;
    for (int s = 0; s < c->sequences; s++) {
        lengths[s] = s % 5 == 4 ? 0 : 1 + vd_rng_below(&r->rng, WIDTH);
        for (int i = 0; i < lengths[s]; i++)
            ids[s * WIDTH + i] = vd_rng_below(&r->rng, i > 0 ? WORDS : c->alike ? 1 : 3);
    }
    if (c->tree) {
        assert_int_equal(vd_packed_sort(ids, lengths, WIDTH, c->sequences, order, &err), VD_OK);
        assert_int_equal(vd_packed_prefixes(ids, lengths, WIDTH, order, c->sequences, &r->arena,
                                            &r->packed, last, &err),
                         VD_OK);
    } else {
        assert_int_equal(
            vd_packed_make(ids, lengths, c->sequences, WIDTH, &r->arena, &r->packed, &err), VD_OK);
    }
    assert_int_equal(vd_packed_distinct(&r->packed, WORDS, false, &r->arena, &r->words, &err),
                     VD_OK);
}

static void prepare(lstm_room *r, const lstm_case *c)
{
    r->arena.memory = r->be->memory;
    r->rng = vd_rng_seed(c->seed, 5);
    pack(r, c);
    size_t tokens = (size_t)r->packed.tokens, h = (size_t)c->hidden, in = (size_t)c->in;
    size_t widest = (size_t)r->packed.widest, rows = c->shared ? (size_t)r->words.count : tokens;
    size_t kept = c->gradient ? tokens : widest, s = (size_t)c->sequences;
    size_t states = c->tree ? 2 * widest : s;
    int stride = c->directions * c->hidden;
    const vd_real *x = random_reals(r, rows * in, 1);
    const vd_real *initial = c->initial ? random_reals(r, s * h, 1) : NULL;
    vd_real *y = random_reals(r, tokens * (size_t)stride, 1);
    const vd_real *dy = random_reals(r, tokens * (size_t)stride, 1);
    vd_real *dx = random_reals(r, rows * in, 1);
    const int *x_row =
        c->shared ? vd_arena_upload(&r->arena, r->words.word, tokens, sizeof(int)) : NULL;
    for (int d = 0; d < c->directions; d++) {
        r->weights[d] = random_weights(r, c);
        r->dweights[d] = random_weights(r, c);
        r->pass[d] = (vd_lstm_pass){
            .packed = &r->packed,
            .map = d ? r->packed.rows.backward : r->packed.rows.forward,
            .weights = &r->weights[d],
            .in = c->in,
            .hidden = c->hidden,
            .x = x,
            .x_row = x_row,
            .x_rows = (int)rows,
            .initial = initial,
            .y = y + (size_t)d * h,
            .y_stride = stride,
            .keep = c->gradient,
            .gate = vd_arena_reals(&r->arena, kept * 4 * h),
            .cell = vd_arena_reals(&r->arena, (c->gradient ? kept : 2 * kept) * h),
            .before = vd_arena_reals(&r->arena, (c->gradient ? kept : 2 * kept) * h),
            .scratch = vd_arena_reals(&r->arena, (c->gradient ? tokens : rows) * 4 * h),
            .step = vd_arena_reals(&r->arena, widest * 4 * h)};
        r->gradient[d] =
            (vd_lstm_gradient){.weights = &r->dweights[d],
                               .dy = dy + (size_t)d * h,
                               .dx = dx,
                               .dinitial = initial ? vd_arena_reals(&r->arena, s * h) : NULL,
                               .dh = vd_arena_reals(&r->arena, states * h),
                               .dc = vd_arena_reals(&r->arena, states * h)};
    }
    assert_false(r->arena.failed);
}

static void take(lstm_room *r, lstm_result *out, const vd_real *there, size_t n)
{
    out->at = vd_grow(out->at, out->count, out->count + n, sizeof *out->at);
    assert_non_null(out->at);
    r->be->read_floats(there, out->at + out->count, n);
    out->count += n;
}

static lstm_result run(const vd_backend *be, const lstm_case *c)
{
    lstm_room r = {.be = be};
    lstm_result out = {0};
    size_t h = (size_t)c->hidden, g = 4 * h, in = (size_t)c->in;
    prepare(&r, c);
    be->lstm(r.pass, c->directions);
    take(&r, &out, r.pass[0].y, (size_t)r.packed.tokens * h * (size_t)c->directions);
    if (c->gradient)
        be->lstm_backward(r.pass, r.gradient, c->directions);
    for (int d = 0; c->gradient && d < c->directions; d++) {
        take(&r, &out, vd_matrix_reals(&r.dweights[d].w_ih), g * in);
        take(&r, &out, vd_matrix_reals(&r.dweights[d].w_hh), g * h);
        take(&r, &out, r.dweights[d].b_ih, g);
        take(&r, &out, r.dweights[d].b_hh, g);
        take(&r, &out, r.gradient[d].dx, (size_t)r.pass[d].x_rows * in);
        if (c->initial)
            take(&r, &out, r.gradient[d].dinitial, (size_t)c->sequences * h);
    }
    const char *error = be->last_error();
    if (error)
        fail_msg("%s", error);
    vd_arena_free(&r.arena);
    return out;
}

static void compare(const lstm_case *c, double tolerance)
{
    lstm_result expected = run(vd_backend_cpu(), c), found = run(support_backend(), c);
    assert_int_equal(expected.count, found.count);
    for (size_t i = 0; i < expected.count; i++) {
        double x = (double)expected.at[i], y = (double)found.at[i];
        if (!(fabs(x - y) <= tolerance * (1 + fabs(x))))
            fail_msg("%d sequences, hidden %d, directions %d, tree %d, shared %d, initial %d, "
                     "gradient %d: number %zu is %.9g on the CPU, %.9g on %s",
                     c->sequences, c->hidden, c->directions, c->tree, c->shared, c->initial,
                     c->gradient, i, x, y, support_backend()->name);
    }
    vd_free(expected.at);
    vd_free(found.at);
}

// Every kind; few sequences too, for these have a way of their own.
static void compare_all(int hidden, double tolerance)
{
    static const int sequences[] = {3, 45};
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
        for (int kind = 0; kind < 32; kind++) {
            lstm_case c = {.sequences = sequences[i],
                           .in = 7,
                           .hidden = hidden,
                           .directions = 1 + (kind & 1),
                           .tree = kind & 2,
                           .shared = kind & 4,
                           .initial = kind & 8,
                           .gradient = kind & 16,
                           .seed = i * 32 + (size_t)kind};
            if (!c.tree || (c.directions == 1 && !c.initial)) // a tree is read one way
                compare(&c, tolerance);
        }
}

// A chain with a gradient: the size decides whether a GPU computes a step or a sequence at a time,
// and how many sequences together.
static void compare_chains(int hidden, int sequences, double tolerance)
{
    for (int directions = 1; directions <= 2; directions++)
        compare(&(lstm_case){.sequences = sequences,
                             .in = 7,
                             .hidden = hidden,
                             .directions = directions,
                             .initial = directions == 2,
                             .gradient = true,
                             .seed = (uint64_t)hidden},
                tolerance);
}

// Trees whose first row has more children than one block of a GPU adds up.
static void compare_bushes(int hidden, double tolerance)
{
    compare(&(lstm_case){.sequences = MOST,
                         .in = 7,
                         .hidden = hidden,
                         .directions = 1,
                         .tree = true,
                         .gradient = true,
                         .alike = true,
                         .seed = (uint64_t)hidden},
            tolerance);
}

static void the_lstm_is_the_same(void **state)
{
    (void)state;
    compare_all(1, 2e-5);
    compare_all(33, 5e-5);
    compare_all(36, 5e-5);
    compare_chains(33, MOST, 5e-5);
    compare_bushes(33, 1e-4);
    compare_bushes(36, 1e-4);
    compare_chains(70, 45, 5e-5);
    compare_chains(101, 45, 5e-5);
}

// Seven bits of mantissa: a number in a sum of forty such is known to some 2 %.
static void the_lstm_is_nearly_the_same_with_narrow_factors(void **state)
{
    (void)state;
    support_backend()->precision(VD_PRECISION_BF16);
    compare_all(10, 4e-2);
    compare_chains(10, MOST, 4e-2);
    compare_chains(101, 45, 8e-2);
    support_backend()->precision(VD_PRECISION_FP32);
}

// ---- GRU ----------------------------------------------------------------------------------------

static void declare_gru(vd_layout *layout, bool gated, size_t in, size_t h)
{
    static const char *const way[] = {"", "_reverse"};
    vd_init start = {VD_INIT_UNIFORM, 0.4};
    if (gated) {
        vd_layout_add(layout, "gru.input", ".weight", true, 2 * h, in, start);
        vd_layout_add(layout, "gru.input", ".bias", false, 2 * h, 0, start);
        vd_layout_add(layout, "gru.state", ".weight", true, 2 * h, h, start);
        vd_layout_add(layout, "gru.state", ".bias", false, 2 * h, 0, start);
    }
    for (int d = 0; d < 2 && !gated; d++) {
        vd_layout_add(layout, "gru.weight_ih_l0", way[d], true, 3 * h, in, start);
        vd_layout_add(layout, "gru.weight_hh_l0", way[d], true, 3 * h, h, start);
        vd_layout_add(layout, "gru.bias_ih_l0", way[d], false, 3 * h, 0, start);
        vd_layout_add(layout, "gru.bias_hh_l0", way[d], false, 3 * h, 0, start);
    }
}

static lstm_result run_gru(const vd_backend *be, const lstm_case *c, bool gated)
{
    static vd_layout layout;
    lstm_room r = {.be = be};
    lstm_result out = {0};
    vd_error err;
    layout = (vd_layout){0};
    declare_gru(&layout, gated, (size_t)c->in, (size_t)c->hidden);
    r.arena.memory = be->memory;
    r.rng = vd_rng_seed(c->seed, 5);
    pack(&r, c);
    size_t tokens = (size_t)r.packed.tokens;
    vd_parameters w = {&layout, (void *)random_reals(&r, layout.elements, 0.4), VD_F32, NULL,
                       false},
                  dw = {&layout, (void *)random_reals(&r, layout.elements, 1), VD_F32, NULL, false};
    vd_tape tape = {.be = be, .arena = &r.arena, .w = &w, .dw = &dw};
    vd_value *x = vd_tape_constant(&tape, VD_AXIS_NONE, random_reals(&r, tokens * (size_t)c->in, 1),
                                   r.packed.tokens, c->in);
    vd_value *gate =
        vd_tape_constant(&tape, VD_AXIS_NONE, random_reals(&r, tokens, 1), r.packed.tokens, 1);
    x->dx = random_reals(&r, tokens * (size_t)c->in, 1);
    gate->dx = random_reals(&r, tokens, 1);
    const vd_sequences s = {&r.packed, x, NULL, VD_AXIS_NONE};
    vd_value *y = gated ? vd_tape_gated_gru(&tape, x, gate, &r.packed, "gru")
                        : vd_tape_gru(&tape, &s, "gru", 1, 2, 0);
    assert_int_equal(vd_tape_status(&tape, &err), VD_OK);
    size_t n = (size_t)y->rows * (size_t)y->columns;
    be->add_scaled(y->dx, 1, random_reals(&r, n, 1), n);
    vd_tape_backward(&tape, NULL);
    take(&r, &out, y->x, n);
    take(&r, &out, (vd_real *)(void *)dw.block, layout.elements);
    take(&r, &out, x->dx, tokens * (size_t)c->in);
    take(&r, &out, gate->dx, tokens);
    assert_null(be->last_error());
    vd_arena_free(&r.arena);
    return out;
}

static void the_gru_is_the_same(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        const lstm_case c = {
            .sequences = kind / 2 ? 45 : 3, .in = 7, .hidden = 33, .seed = (uint64_t)kind};
        lstm_result expected = run_gru(vd_backend_cpu(), &c, kind % 2),
                    found = run_gru(support_backend(), &c, kind % 2);
        for (size_t i = 0; i < expected.count; i++) {
            double x = (double)expected.at[i], y = (double)found.at[i];
            if (!(fabs(x - y) <= 5e-5 * (1 + fabs(x))))
                fail_msg("kind %d: number %zu is %.9g on the CPU, %.9g on %s", kind, i, x, y,
                         support_backend()->name);
        }
        vd_free(expected.at);
        vd_free(found.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lstm_is_the_same),
        cmocka_unit_test(the_gru_is_the_same),
        cmocka_unit_test(the_lstm_is_nearly_the_same_with_narrow_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
