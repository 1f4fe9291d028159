// Recurrent text encoders, two layers with dropout between them; the sentence is the last state.
//   lstm    one way, H wide (Hochreiter, Schmidhuber 1997)
//   bilstm  H/2 wide each way, joined: the sentence is [forward at the last word ; backward at the
//           first]
//   gru     one way, H wide (Cho et al. 2014), r = sigmoid(W_r x + b + U_r h + b'), z likewise,
//           n = tanh(W_n x + b + r o (U_n h + b')), h' = (1 - z) o n + z o h
// The gru is PyTorch's, with its names and the order r, z, n: it resets after the product. Cho et
// al. reset before it, U(r o h); Bahdanau's z is our 1 - z.
#include "engine/networks/text/text.h"

#include <stdio.h>

enum { LAYERS = 2, LSTM_PARTS = 4, GRU_PARTS = 3, LONGEST_NAME = 64 };

static void declare(vd_layout *layout, const vd_config *config, const char *name, int in, int parts,
                    int directions)
{
    char whole[LONGEST_NAME];
    snprintf(whole, sizeof whole, "%s.rnn_model", name);
    vd_layout_recurrent(layout, whole, parts, LAYERS, directions, in, config->hidden / directions);
}

static void declare_lstm(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    declare(layout, config, name, in, LSTM_PARTS, 1);
}

static void declare_bilstm(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    declare(layout, config, name, in, LSTM_PARTS, 2);
}

static void declare_gru(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    declare(layout, config, name, in, GRU_PARTS, 1);
}

typedef vd_value *layers(vd_tape *tape, const vd_sequences *sequences, const char *name, int layers,
                         int directions, vd_real dropout);

static vd_value *run(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                     const char *name, layers *of, int directions)
{
    char whole[LONGEST_NAME];
    snprintf(whole, sizeof whole, "%s.rnn_model", name);
    return of(tape, words, whole, LAYERS, directions, in->lstm_dropout);
}

static vd_value *run_lstm(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                          const char *name)
{
    return run(tape, in, words, name, vd_tape_lstm, 1);
}

static vd_value *run_bilstm(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                            const char *name)
{
    return run(tape, in, words, name, vd_tape_lstm, 2);
}

static vd_value *run_gru(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                         const char *name)
{
    return run(tape, in, words, name, vd_tape_gru, 1);
}

const vd_text_encoder vd_text_lstm = {.directions = 1, .declare = declare_lstm, .states = run_lstm};
const vd_text_encoder vd_text_bilstm = {
    .directions = 2, .declare = declare_bilstm, .states = run_bilstm};
const vd_text_encoder vd_text_gru = {.directions = 1, .declare = declare_gru, .states = run_gru};
