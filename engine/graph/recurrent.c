// Sequences: layers of LSTMs and GRUs over packed words, and where they end.
#include "engine/graph/tape_private.h"

enum { MOST_DIRECTIONS = 2 };

// The two matrices and two vectors of a direction of an LSTM, all with as many rows: weight_ih and
// its like, with `end` behind them.
static bool find_weights(vd_tape *tape, const char *name, const char *end, vd_lstm_weights *w,
                         vd_lstm_weights *dw)
{
    return vd_tape_matrix(tape, name, vd_name_of(".weight_ih%s", end).text, &w->w_ih, &dw->w_ih) &&
           vd_tape_matrix(tape, name, vd_name_of(".weight_hh%s", end).text, &w->w_hh, &dw->w_hh) &&
           vd_tape_numbers(tape, name, vd_name_of(".bias_ih%s", end).text, false, &w->b_ih,
                           &dw->b_ih, NULL) &&
           vd_tape_numbers(tape, name, vd_name_of(".bias_hh%s", end).text, false, &w->b_hh,
                           &dw->b_hh, NULL);
}

static bool find_direction(vd_tape *tape, const char *name, int layer, int direction,
                           vd_lstm_weights *w, vd_lstm_weights *dw)
{
    const vd_name end = vd_name_of("_l%d%s", layer, direction ? "_reverse" : ""); // PyTorch's
    return find_weights(tape, name, end.text, w, dw);
}

static const int *map_of(const vd_packed *packed, int direction)
{
    return direction ? packed->rows.backward : packed->rows.forward;
}

// ---- LSTM ---------------------------------------------------------------------------------------

typedef struct lstm_kept {
    int directions;
    vd_lstm_pass pass[MOST_DIRECTIONS];
    vd_lstm_weights w[MOST_DIRECTIONS], dw[MOST_DIRECTIONS];
} lstm_kept;

static void lstm_backward(vd_tape *tape, const vd_node *node)
{
    const lstm_kept *k = node->kept;
    const vd_lstm_pass *p = k->pass;
    size_t n = (size_t)p->packed->sequences * (size_t)p->hidden;
    vd_real *state = vd_tape_zeros(tape, 2 * (size_t)k->directions * n);
    vd_lstm_gradient q[MOST_DIRECTIONS];
    if (!state)
        return;
    for (int d = 0; d < k->directions; d++, state += 2 * n)
        q[d] = (vd_lstm_gradient){.weights = &k->dw[d],
                                  .dy = node->y->dx + (size_t)d * (size_t)p->hidden,
                                  .dx = node->x[0]->dx,
                                  .dh = state,
                                  .dc = state + n};
    tape->be->lstm_backward(p, q, k->directions);
}

// Memory of one direction (vd_lstm_pass).
static void take_pass(vd_tape *tape, vd_lstm_pass *p)
{
    size_t h = (size_t)p->hidden, widest = (size_t)p->packed->widest;
    size_t n = (p->keep ? (size_t)p->packed->tokens : widest) * h;
    size_t inputs = p->keep ? (size_t)p->packed->tokens : (size_t)p->x_rows;
    p->gate = vd_tape_reals(tape, 4 * n);
    p->cell = vd_tape_reals(tape, p->keep ? n : 2 * n);
    p->before = vd_tape_reals(tape, p->keep ? n : 2 * n);
    p->scratch = vd_tape_reals(tape, inputs * 4 * h);
    p->step = vd_tape_reals(tape, 4 * widest * h);
}

static vd_value *lstm_layer(vd_tape *tape, const vd_sequences *s, const char *name, int layer,
                            int directions)
{
    lstm_kept *k = vd_tape_kept(tape, 1, sizeof *k);
    for (int d = 0; d < directions && d < MOST_DIRECTIONS && k; d++)
        if (!find_direction(tape, name, layer, d, &k->w[d], &k->dw[d]))
            return &tape->nothing;
    bool rows = s->row || s->x->rows == s->packed->tokens;
    if (!k || !vd_tape_fits(tape, rows && k->w[0].w_ih.columns == s->x->columns, name, s->x, NULL))
        return &tape->nothing;
    int h = k->w[0].w_hh.columns;
    vd_value *y = vd_tape_take(tape, s->axis, s->packed->tokens, directions * h, true);
    if (tape->status != VD_OK)
        return y;
    k->directions = directions;
    for (int d = 0; d < directions; d++) {
        k->pass[d] = (vd_lstm_pass){.packed = s->packed,
                                    .map = map_of(s->packed, d),
                                    .weights = &k->w[d],
                                    .in = s->x->columns,
                                    .hidden = h,
                                    .x = s->x->x,
                                    .x_row = s->row,
                                    .x_rows = s->x->rows,
                                    .y = y->x + (size_t)d * (size_t)h,
                                    .y_stride = directions * h,
                                    .keep = tape->dw != NULL};
        take_pass(tape, &k->pass[d]);
    }
    if (tape->status != VD_OK)
        return &tape->nothing;
    tape->be->lstm(k->pass, directions);
    return vd_tape_record(tape, y, (vd_node){lstm_backward, .x = {s->x}, .kept = k});
}

// ---- GRU ----------------------------------------------------------------------------------------

typedef struct gru_kept {
    int directions;
    vd_gru_pass pass[MOST_DIRECTIONS];
    vd_linear_weights w[MOST_DIRECTIONS], dw[MOST_DIRECTIONS];
    const vd_value *input[MOST_DIRECTIONS], *gate;
} gru_kept;

static void gru_backward(vd_tape *tape, const vd_node *node)
{
    const gru_kept *k = node->kept;
    vd_gru_gradient q[MOST_DIRECTIONS];
    for (int d = 0; d < k->directions; d++) {
        const vd_gru_pass *p = &k->pass[d];
        size_t h = (size_t)p->hidden;
        q[d] = (vd_gru_gradient){.weights = &k->dw[d],
                                 .dy = node->y->dx + (size_t)d * h,
                                 .dinput = k->input[d]->dx,
                                 .dgate = k->gate ? k->gate->dx : NULL,
                                 .dstate = vd_tape_reals(tape, vd_value_size(k->input[d])),
                                 .dh = vd_tape_reals(tape, (size_t)p->packed->sequences * h)};
    }
    if (tape->status == VD_OK)
        tape->be->gru_backward(k->pass, q, k->directions);
}

// Runs the directions whose weights and inputs are in k.
static vd_value *run_gru(vd_tape *tape, gru_kept *k, const vd_packed *packed, vd_axis axis)
{
    int h = k->w[0].w.columns;
    vd_value *y = vd_tape_take(tape, axis, packed->tokens, k->directions * h, true);
    if (tape->status != VD_OK)
        return y;
    for (int d = 0; d < k->directions; d++) {
        size_t n = vd_value_size(k->input[d]);
        k->pass[d] =
            (vd_gru_pass){.packed = packed,
                          .map = map_of(packed, d),
                          .weights = &k->w[d],
                          .hidden = h,
                          .input = k->input[d]->x,
                          .gate = k->gate ? k->gate->x : NULL,
                          .y = y->x + (size_t)d * (size_t)h,
                          .y_stride = k->directions * h,
                          .state = vd_tape_reals(tape, n),
                          .before = vd_tape_reals(tape, (size_t)packed->tokens * (size_t)h),
                          .values = vd_tape_reals(tape, n)};
    }
    if (tape->status != VD_OK)
        return &tape->nothing;
    tape->be->gru(k->pass, k->directions);
    return vd_tape_record(tape, y, (vd_node){gru_backward, .kept = k});
}

// The inputs' products are a linear layer of its own, so that its gradient is one too.
static vd_value *gru_layer(vd_tape *tape, const vd_sequences *s, const char *name, int layer,
                           int directions)
{
    gru_kept *k = vd_tape_kept(tape, 1, sizeof *k);
    for (int d = 0; d < directions && d < MOST_DIRECTIONS && k; d++) {
        vd_lstm_weights w, dw;
        if (!find_direction(tape, name, layer, d, &w, &dw))
            return &tape->nothing;
        k->w[d] = (vd_linear_weights){w.w_hh, w.b_hh};
        k->dw[d] = (vd_linear_weights){dw.w_hh, dw.b_hh};
        k->input[d] = vd_tape_layer(tape, s->x, &(vd_linear_weights){w.w_ih, w.b_ih},
                                    &(vd_linear_weights){dw.w_ih, dw.b_ih}, name);
        if (s->row)
            k->input[d] = vd_tape_rows(tape, k->input[d], s->row, s->packed->tokens, s->axis);
    }
    if (!k || directions > MOST_DIRECTIONS ||
        !vd_tape_fits(tape, k->input[0]->rows == s->packed->tokens, name, s->x, NULL))
        return &tape->nothing;
    k->directions = directions;
    return run_gru(tape, k, s->packed, s->axis);
}

vd_value *vd_tape_gated_gru(vd_tape *tape, const vd_value *x, const vd_value *gate,
                            const vd_packed *packed, const char *name)
{
    gru_kept *k = vd_tape_kept(tape, 1, sizeof *k);
    if (!k || !vd_tape_matrix(tape, name, ".state.weight", &k->w[0].w, &k->dw[0].w) ||
        !vd_tape_numbers(tape, name, ".state.bias", false, &k->w[0].b, &k->dw[0].b, NULL))
        return &tape->nothing;
    k->directions = 1;
    k->gate = gate;
    k->input[0] = vd_tape_linear(tape, x, vd_name_of("%s.input", name).text);
    if (!vd_tape_fits(tape,
                      k->input[0]->columns == 2 * k->w[0].w.columns && gate->columns == 1 &&
                          gate->rows == x->rows && x->rows == packed->tokens,
                      name, x, gate))
        return &tape->nothing;
    return run_gru(tape, k, packed, x->axis);
}

// ---- layers -------------------------------------------------------------------------------------

typedef vd_value *layer_of(vd_tape *tape, const vd_sequences *s, const char *name, int layer,
                           int directions);

static vd_value *run_layers(vd_tape *tape, layer_of *run, const vd_sequences *sequences,
                            const char *name, int layers, int directions, vd_real dropout)
{
    vd_sequences s = *sequences;
    vd_value *y = &tape->nothing;
    for (int layer = 0; layer < layers; layer++) {
        y = run(tape, &s, name, layer, directions);
        s.row = NULL;
        s.x = layer + 1 < layers ? vd_tape_dropout(tape, y, dropout) : y;
    }
    return y;
}

vd_value *vd_tape_lstm(vd_tape *tape, const vd_sequences *sequences, const char *name, int layers,
                       int directions, vd_real dropout)
{
    return run_layers(tape, lstm_layer, sequences, name, layers, directions, dropout);
}

vd_value *vd_tape_gru(vd_tape *tape, const vd_sequences *sequences, const char *name, int layers,
                      int directions, vd_real dropout)
{
    return run_layers(tape, gru_layer, sequences, name, layers, directions, dropout);
}

// ---- one step -----------------------------------------------------------------------------------

static const vd_value *gate_of(vd_tape *tape, const vd_value *all, int which, vd_function f)
{
    int h = all->columns / 4;
    return vd_tape_map(tape, f, vd_tape_columns(tape, all, which * h, h));
}

void vd_tape_lstm_cell(vd_tape *tape, const vd_value *x, vd_lstm_state *state, const char *name)
{
    vd_lstm_weights w, dw;
    if (!find_weights(tape, name, "", &w, &dw)) {
        *state = (vd_lstm_state){&tape->nothing, &tape->nothing};
        return;
    }
    const vd_linear_weights w_x = {w.w_ih, w.b_ih}, w_h = {w.w_hh, w.b_hh};
    const vd_linear_weights dw_x = {dw.w_ih, dw.b_ih}, dw_h = {dw.w_hh, dw.b_hh};
    const vd_value *all = vd_tape_add(tape, vd_tape_layer(tape, x, &w_x, &dw_x, name),
                                      vd_tape_layer(tape, state->h, &w_h, &dw_h, name));
    const vd_value *i = gate_of(tape, all, 0, VD_SIGMOID), *f = gate_of(tape, all, 1, VD_SIGMOID);
    const vd_value *g = gate_of(tape, all, 2, VD_TANH), *o = gate_of(tape, all, 3, VD_SIGMOID);
    state->c = vd_tape_add(tape, vd_tape_multiply(tape, f, state->c), vd_tape_multiply(tape, i, g));
    state->h = vd_tape_multiply(tape, o, vd_tape_map(tape, VD_TANH, state->c));
}

// ---- ends ---------------------------------------------------------------------------------------

static void ends_backward(vd_tape *tape, const vd_node *node)
{
    const vd_value *x = node->x[0];
    vd_last_states_backward(tape->be, node->kept, node->count, x->columns / node->count,
                            node->y->dx, x->dx);
}

vd_value *vd_tape_last_states(vd_tape *tape, const vd_value *states, const vd_packed *packed,
                              int directions, vd_axis axis)
{
    if (!vd_tape_fits(tape, states->rows == packed->tokens && states->columns % directions == 0,
                      "sentence vectors", states, NULL))
        return &tape->nothing;
    vd_value *y = vd_tape_take(tape, axis, packed->sequences, states->columns, vd_wanted(states));
    if (tape->status != VD_OK)
        return y;
    vd_last_states(tape->be, packed, directions, states->columns / directions, states->x, y->x);
    return vd_tape_record(
        tape, y, (vd_node){ends_backward, .x = {states}, .kept = packed, .count = directions});
}
