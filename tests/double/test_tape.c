// Every operation of the tape: its gradient by central differences in double precision, and what it
// computes where a formula says it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/graph/tape.h"

// Q questions of two dialogs (3 and 2), K rows they look at (4 and 3), C columns, T words of three
// sequences (3, 0, 2).
enum { Q = 5, K = 7, C = 4, T = 5, H = 2, MOST = 2000 };

typedef struct world {
    vd_layout layout;
    vd_real block[MOST], gradient[MOST];
    vd_arena arena;
    vd_tape tape;
    vd_packed packed;
    const vd_pairing *all; // questions and what their dialog has
    const vd_pairing *two; // questions and two ranges, which overlap those of others
    // Questions that share a range; the same with rows that are longer than their keys.
    const vd_pairing *rows, *apart;
} world;

static void add(world *w, const char *name, bool matrix, size_t rows, size_t columns)
{
    vd_layout_add(&w->layout, name, "", matrix, rows, columns, (vd_init){VD_INIT_NORMAL, 0.7});
}

static void declare(world *w)
{
    w->layout = (vd_layout){0};
    add(w, "q", false, Q, C);
    add(w, "k", false, K, C);
    add(w, "v", false, K, C);
    add(w, "row", false, 1, C);
    add(w, "words", false, T, C);
    add(w, "gate", false, T, 1);
    add(w, "groups", false, 2, 1);
    add(w, "table", true, 6, C);
    add(w, "layer.weight", true, 3, C);
    add(w, "layer.bias", false, 3, 0);
    add(w, "score.weight", false, 1, C);
    add(w, "norm.weight", false, C, 0);
    add(w, "norm.bias", false, C, 0);
    add(w, "memory.input.weight", true, 2 * H, C);
    add(w, "memory.input.bias", false, 2 * H, 0);
    add(w, "memory.state.weight", true, 2 * H, H);
    add(w, "memory.state.bias", false, 2 * H, 0);
    add(w, "cell.weight_ih", true, 4 * H, C);
    add(w, "cell.weight_hh", true, 4 * H, H);
    add(w, "cell.bias_ih", false, 4 * H, 0);
    add(w, "cell.bias_hh", false, 4 * H, 0);
    for (int kind = 0; kind < 2; kind++)
        for (int layer = 0; layer < 2; layer++)
            for (int d = 0; d < 2; d++) {
                size_t parts = kind ? 3 : 4;
                char name[40];
                const char *way = d ? "_reverse" : "", *of = kind ? "gru" : "lstm";
                snprintf(name, sizeof name, "%s.weight_ih_l%d%s", of, layer, way);
                add(w, name, true, parts * H, layer ? 2 * H : C);
                snprintf(name, sizeof name, "%s.weight_hh_l%d%s", of, layer, way);
                add(w, name, true, parts * H, H);
                snprintf(name, sizeof name, "%s.bias_ih_l%d%s", of, layer, way);
                add(w, name, false, parts * H, 0);
                snprintf(name, sizeof name, "%s.bias_hh_l%d%s", of, layer, way);
                add(w, name, false, parts * H, 0);
            }
    assert_true(w->layout.elements <= MOST);
}

static const vd_pairing *pairing(world *w, int keys, const vd_pair_group *list, int count)
{
    vd_pair_group *group = vd_arena_take(&w->arena, (size_t)count, sizeof *group);
    memcpy(group, list, (size_t)count * sizeof *group);
    const vd_pairing *p =
        vd_pairing_make(&w->arena, VD_AXIS_QUESTIONS, Q,
                        keys == Q ? VD_AXIS_QUESTIONS : VD_AXIS_REGIONS, keys, group, count);
    assert_non_null(p);
    return p;
}

static void begin(world *w, bool with_gradient)
{
    static const int32_t ids[3 * 3] = {4, 1, 4, 0, 0, 0, 2, 5, 0}, lengths[3] = {3, 0, 2};
    static const vd_pair_group all[] = {{.query = {0, 3}, .key = {{0, 4}}},
                                        {.query = {3, 2}, .key = {{4, 3}}}};
    static const vd_pair_group two[] = {{.query = {0, 2}, .key = {{0, 2}, {3, 3}}},
                                        {.query = {1, 3}, .key = {{2, 2}, {5, 1}}},
                                        {.query = {4, 1}}};
    // The first three share keys 0 to 2, and so a block.
    static const vd_pair_group rows[] = {{.query = {0, 1}, .key = {{0, 3}, {3, 1}}},
                                         {.query = {1, 2}, .key = {{0, 3}, {3, 3}}},
                                         {.query = {3, 1}, .key = {{0, 3}, {5, 2}}},
                                         {.query = {4, 1}, .key = {{1, 2}, {3, 4}}}};
    vd_pair_group apart[4];
    memcpy(apart, rows, sizeof apart);
    for (int i = 0; i < 4; i++)
        apart[i].stride = 6;
    static vd_parameters parameters, gradients;
    vd_error err;
    vd_arena_reset(&w->arena);
    parameters = (vd_parameters){&w->layout, (unsigned char *)w->block, VD_REAL_TYPE, NULL, false};
    gradients =
        (vd_parameters){&w->layout, (unsigned char *)w->gradient, VD_REAL_TYPE, NULL, false};
    w->tape = (vd_tape){.be = vd_backend_cpu(),
                        .arena = &w->arena,
                        .w = &parameters,
                        .dw = with_gradient ? &gradients : NULL,
                        .key = 7};
    assert_int_equal(vd_packed_make(ids, lengths, 3, 3, &w->arena, &w->packed, &err), VD_OK);
    w->all = pairing(w, K, all, 2);
    w->two = pairing(w, K, two, 3);
    w->rows = pairing(w, K, rows, 4);
    w->apart = pairing(w, K, apart, 4);
}

static vd_value *named(world *w, const char *name)
{
    return vd_tape_vector(&w->tape, name);
}

// ---- what is tried ------------------------------------------------------------------------------

typedef vd_value *builder(world *w);

static vd_value *embedding(world *w)
{
    return vd_tape_embed(&w->tape, "table", w->packed.rows.id, T, VD_AXIS_QUESTION_WORDS);
}

static vd_value *chosen_rows(world *w)
{
    static const int index[] = {3, -1, 0, 3, 3};
    vd_value *rows = vd_tape_rows(&w->tape, named(w, "k"), index, 5, VD_AXIS_NONE);
    return vd_tape_stack(&w->tape, rows,
                         vd_tape_repeat(&w->tape, named(w, "row"), 3, VD_AXIS_NONE));
}

static vd_value *joined_columns(world *w)
{
    const vd_value *const list[] = {named(w, "k"), named(w, "v"),
                                    vd_tape_columns(&w->tape, named(w, "k"), 1, 2)};
    return vd_tape_columns(&w->tape, vd_tape_concat_all(&w->tape, list, 3), 1, 8);
}

static vd_value *window_both_ways(world *w)
{
    return vd_tape_window(&w->tape, named(w, "words"), &w->packed, 3, 1, false);
}

static vd_value *window_backwards(world *w)
{
    return vd_tape_window(&w->tape, named(w, "words"), &w->packed, 2, 2, true);
}

static vd_value *linear_layer(world *w)
{
    return vd_tape_linear(&w->tape, named(w, "q"), "layer");
}

static vd_value *functions(world *w)
{
    vd_value *y = named(w, "q");
    for (int f = VD_TANH; f <= VD_ABSOLUTE; f++)
        y = vd_tape_add(&w->tape, y, vd_tape_map(&w->tape, (vd_function)f, named(w, "q")));
    return y;
}

static vd_value *dropped(world *w)
{
    return vd_tape_dropout(&w->tape, vd_tape_scale(&w->tape, named(w, "q"), 3), 0.4);
}

static vd_value *sums_and_products(world *w)
{
    vd_value *k = named(w, "k"), *row = named(w, "row");
    vd_value *y = vd_tape_multiply(&w->tape, vd_tape_add(&w->tape, k, row), named(w, "v"));
    y = vd_tape_multiply(&w->tape, row, y);
    return vd_tape_multiply(&w->tape, y, y); // both are the same
}

static vd_value *normalised(world *w)
{
    return vd_tape_unit(&w->tape, vd_tape_layer_norm(&w->tape, named(w, "k"), "norm"));
}

static vd_value *sentences(world *w, bool gru, const int *row)
{
    static const int32_t id[] = {4, 1, 2, 5};
    vd_sequences s = {&w->packed, named(w, "words"), NULL, VD_AXIS_QUESTION_WORDS};
    if (row) {
        s.x = vd_tape_embed(&w->tape, "table", id, 4, VD_AXIS_NONE);
        s.row = row;
    }
    vd_value *y = gru ? vd_tape_gru(&w->tape, &s, "gru", 2, 2, 0.3)
                      : vd_tape_lstm(&w->tape, &s, "lstm", 2, 2, 0.3);
    return vd_tape_concat(&w->tape, vd_tape_repeat(&w->tape, named(w, "row"), 3, VD_AXIS_NONE),
                          vd_tape_last_states(&w->tape, y, &w->packed, 2, VD_AXIS_QUESTIONS));
}

static const int distinct[] = {0, 1, 0, 2, 3};

static vd_value *lstm_layers(world *w)
{
    return sentences(w, false, NULL);
}

static vd_value *lstm_of_distinct_words(world *w)
{
    return sentences(w, false, distinct);
}

// Two steps.
static vd_value *lstm_cell(world *w)
{
    vd_lstm_state s = {vd_tape_columns(&w->tape, named(w, "q"), 0, H),
                       vd_tape_columns(&w->tape, named(w, "q"), H, H)};
    vd_tape_lstm_cell(&w->tape, named(w, "words"), &s, "cell");
    vd_tape_lstm_cell(&w->tape, named(w, "q"), &s, "cell");
    return vd_tape_concat(&w->tape, s.h, s.c);
}

static vd_value *gru_layers(world *w)
{
    return sentences(w, true, NULL);
}

static vd_value *gru_of_distinct_words(world *w)
{
    return sentences(w, true, distinct);
}

static vd_value *gru_with_gates(world *w)
{
    return vd_tape_gated_gru(&w->tape, named(w, "words"),
                             vd_tape_map(&w->tape, VD_SIGMOID, named(w, "gate")), &w->packed,
                             "memory");
}

static vd_value *rows_of_pairs(world *w)
{
    vd_value *y = vd_tape_products(&w->tape, w->two, named(w, "q"), named(w, "k"));
    y = vd_tape_add(&w->tape, y, vd_tape_queries(&w->tape, w->two, named(w, "q")));
    y = vd_tape_add(&w->tape, y, vd_tape_keys(&w->tape, w->two, named(w, "v")));
    return vd_tape_mix(&w->tape, vd_tape_softmax(&w->tape, vd_tape_linear(&w->tape, y, "score")),
                       named(w, "v"));
}

static vd_value *dot(world *w, const vd_pairing *p, int heads)
{
    return vd_tape_dot(&w->tape, p, named(w, "q"), named(w, p->key_rows == Q ? "q" : "k"), heads);
}

static vd_value *attention_of_two_heads(world *w)
{
    return vd_tape_mix(&w->tape, vd_tape_softmax(&w->tape, dot(w, w->two, 2)), named(w, "v"));
}

static vd_value *attention_with(world *w, const vd_pairing *p)
{
    vd_value *a = vd_tape_softmax(&w->tape, vd_tape_scale(&w->tape, dot(w, p, 2), 0.7));
    return vd_tape_mix(&w->tape, a, named(w, "v"));
}

static vd_value *attention_with_rows_apart(world *w)
{
    return attention_with(w, w->apart);
}

static vd_value *attention_of_additive_scores(world *w)
{
    vd_value *s = vd_tape_additive(&w->tape, w->all, named(w, "q"), named(w, "k"), named(w, "row"));
    return vd_tape_mix(&w->tape, vd_tape_attend(&w->tape, s, "regions", 0), named(w, "v"));
}

static vd_value *largest_scores(world *w)
{
    return vd_tape_max(&w->tape, dot(w, w->two, 1));
}

static vd_value *counting(world *w)
{
    vd_value *a = vd_tape_map(&w->tape, VD_SIGMOID, dot(w, w->all, 1));
    return vd_tape_mix(&w->tape, vd_tape_weigh(&w->tape, a, named(w, "groups")), named(w, "v"));
}

static const struct {
    const char *name;
    builder *build;
} cases[] = {
    {"embedding", embedding},
    {"chosen rows", chosen_rows},
    {"joined columns", joined_columns},
    {"window both ways", window_both_ways},
    {"window backwards", window_backwards},
    {"linear layer", linear_layer},
    {"functions", functions},
    {"dropped", dropped},
    {"sums and products", sums_and_products},
    {"normalised", normalised},
    {"LSTM layers", lstm_layers},
    {"LSTM of distinct words", lstm_of_distinct_words},
    {"LSTM cell", lstm_cell},
    {"GRU layers", gru_layers},
    {"GRU of distinct words", gru_of_distinct_words},
    {"GRU with gates", gru_with_gates},
    {"rows of pairs", rows_of_pairs},
    {"attention of two heads", attention_of_two_heads},
    {"attention with rows apart", attention_with_rows_apart},
    {"attention of additive scores", attention_of_additive_scores},
    {"largest scores", largest_scores},
    {"counting", counting},
};

// ---- gradients ----------------------------------------------------------------------------------

static double weight_of(size_t i)
{
    return sin(1.0 + 1.7 * (double)i);
}

static double loss_of(world *w, builder *build, bool with_gradient)
{
    double loss = 0;
    vd_error err;
    begin(w, with_gradient);
    vd_value *y = build(w);
    if (vd_tape_status(&w->tape, &err) != VD_OK)
        fail_msg("%s", err.text);
    size_t n = (size_t)y->rows * (size_t)y->columns;
    for (size_t i = 0; i < n; i++)
        loss += weight_of(i) * y->x[i];
    if (!with_gradient)
        return loss;
    for (size_t i = 0; i < n; i++)
        y->dx[i] += weight_of(i);
    memset(w->gradient, 0, sizeof w->gradient);
    vd_tape_backward(&w->tape, NULL);
    assert_int_equal(vd_tape_status(&w->tape, &err), VD_OK);
    return loss;
}

static int check(world *w, const char *name, builder *build)
{
    const double step = 1e-5;
    int reached = 0;
    double loss = loss_of(w, build, true);
    // What is kept for the gradient changes nothing.
    assert_true(fabs(loss - loss_of(w, build, false)) < 1e-12);
    for (int k = 0; k < w->layout.count; k++) {
        const vd_parameter *p = &w->layout.parameter[k];
        bool any = false;
        for (size_t i = 0; i < p->elements; i++) {
            vd_real *at = &w->block[p->offset + i], kept = *at;
            double found = w->gradient[p->offset + i];
            *at = kept + step;
            double above = loss_of(w, build, false);
            *at = kept - step;
            double below = loss_of(w, build, false);
            *at = kept;
            double expected = (above - below) / (2 * step);
            any |= expected != 0;
            if (fabs(found - expected) > 1e-7 + 1e-5 * fabs(expected))
                fail_msg("%s, %s[%zu]: gradient %.10g, finite difference %.10g", name, p->name, i,
                         found, expected);
        }
        reached += any;
    }
    return reached;
}

static void gradients_are_slopes(void **state)
{
    static world w;
    vd_rng rng = vd_rng_seed(3, 4);
    (void)state;
    declare(&w);
    vd_layout_init(&w.layout, w.block, &rng);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (check(&w, cases[i].name, cases[i].build) == 0)
            fail_msg("%s: no parameter is reached", cases[i].name);
    vd_arena_free(&w.arena);
}

// ---- values -------------------------------------------------------------------------------------

static void start(world *w)
{
    vd_rng rng = vd_rng_seed(3, 4);
    declare(w);
    vd_layout_init(&w->layout, w->block, &rng);
    begin(w, false);
}

static void attention_of_each_query_sums_to_one(void **state)
{
    static world w;
    (void)state;
    start(&w);
    vd_value *a = vd_tape_softmax(&w.tape, dot(&w, w.two, 2));
    const vd_segments *s = &w.two->queries;
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < s->count; i++) {
            double sum = 0;
            for (int k = 0; k < s->length[i]; k++)
                sum += a->x[h * w.two->pairs + s->start[i] + k];
            assert_true(s->length[i] == 0 || fabs(sum - 1) < 1e-12);
        }
    vd_arena_free(&w.arena);
}

static void rows_apart_change_no_result_and_make_larger_blocks(void **state)
{
    (void)state;
    static world w;
    start(&w);
    const vd_value *tight = attention_with(&w, w.rows), *apart = attention_with(&w, w.apart);
    assert_int_equal(w.rows->blocks, 8);
    assert_int_equal(w.apart->blocks, 5);
    assert_true(w.apart->padded && !w.rows->padded);
    assert_int_equal(w.apart->pairs, 30);
    for (int i = 0; i < tight->rows * tight->columns; i++)
        assert_true(fabs(tight->x[i] - apart->x[i]) < 1e-14);
    vd_arena_free(&w.arena);
}

static void flattened_attention_is_uniform_and_still_shown(void **state)
{
    static world w;
    static const char *const flat[] = {"regions", NULL};
    (void)state;
    start(&w);
    w.tape.uniform = flat;
    vd_value *a = vd_tape_attend(&w.tape, dot(&w, w.all, 1), "regions", 2);
    vd_value *b = vd_tape_attend(&w.tape, dot(&w, w.all, 1), "rounds", 0);
    for (int i = 0; i < w.all->pairs; i++)
        assert_true(fabs(a->x[i] - (i < 12 ? 0.25 : 1.0 / 3)) < 1e-12);
    assert_true(fabs(b->x[0] - 0.25) > 1e-3);
    assert_string_equal(w.tape.shown->name, "regions");
    assert_int_equal(w.tape.shown->index, 2);
    assert_string_equal(w.tape.shown->next->name, "rounds");
    assert_null(w.tape.shown->next->next);
    vd_arena_free(&w.arena);
}

static void failure_is_remembered_and_asked_for_once(void **state)
{
    static world w;
    vd_error err;
    (void)state;
    start(&w);
    vd_value *y = vd_tape_linear(&w.tape, named(&w, "q"), "nowhere");
    y = vd_tape_map(&w.tape, VD_TANH, vd_tape_concat(&w.tape, y, named(&w, "k")));
    vd_tape_show(&w.tape, vd_tape_attend(&w.tape, y, "rounds", 0), "rounds", 0);
    assert_int_equal(vd_tape_status(&w.tape, &err), VD_USAGE);
    assert_string_equal(err.text, "nowhere.weight is not declared as a matrix");
    begin(&w, true);
    vd_tape_linear(&w.tape, named(&w, "gate"), "layer");
    vd_tape_backward(&w.tape, NULL);
    assert_int_equal(vd_tape_status(&w.tape, &err), VD_USAGE);
    assert_string_equal(err.text, "layer of 5 x 1 and 3 x 4 numbers: their shapes do not match");
    vd_arena_free(&w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_slopes),
        cmocka_unit_test(attention_of_each_query_sums_to_one),
        cmocka_unit_test(rows_apart_change_no_result_and_make_larger_blocks),
        cmocka_unit_test(flattened_attention_is_uniform_and_still_shown),
        cmocka_unit_test(failure_is_remembered_and_asked_for_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
