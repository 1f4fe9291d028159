// Recurrent text encoders, two layers with dropout between them; the sentence is the last state.
//   lstm    one way, W wide (Hochreiter, Schmidhuber 1997)
//   bilstm  W/2 wide each way, joined: the sentence is [forward at the last word ; backward at the
//           first]
//   gru     one way, W wide (Cho et al. 2014), r = sigmoid(W_r x + b + U_r h + b'), z likewise,
//           n = tanh(W_n x + b + r o (U_n h + b')), h' = (1 - z) o n + z o h
// The gru is PyTorch's, with its names and the order r, z, n: it resets after the product. Cho et
// al. reset before it, U(r o h); Bahdanau's z is our 1 - z. Some networks' own have one layer.
#include "engine/networks/text/text.h"

enum { LAYERS = 2, OF_LSTM = 4, OF_GRU = 3 };

static void declare(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    const vd_text_encoder *e = vd_text_encoder_of(config);
    vd_layout_recurrent(layout, vd_name_of("%s.rnn_model", name).text, e->gates, e->layers,
                        e->directions, in, vd_states_width(config) / e->directions);
}

static vd_value *run(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                     const char *name)
{
    const vd_text_encoder *e = vd_text_encoder_of(in->config);
    return (e->gates == OF_GRU ? vd_tape_gru
                               : vd_tape_lstm)(tape, words, vd_name_of("%s.rnn_model", name).text,
                                               e->layers, e->directions, in->lstm_dropout);
}

#define RECURRENT(name, of, count, ways)                                                           \
    const vd_text_encoder vd_text_##name = {                                                       \
        .directions = (ways), .layers = (count), .gates = (of), .declare = declare, .states = run}
RECURRENT(lstm, OF_LSTM, LAYERS, 1);
RECURRENT(bilstm, OF_LSTM, LAYERS, 2);
RECURRENT(gru, OF_GRU, LAYERS, 1);
RECURRENT(bilstm_layer, OF_LSTM, 1, 2);
RECURRENT(gru_layer, OF_GRU, 1, 1);
