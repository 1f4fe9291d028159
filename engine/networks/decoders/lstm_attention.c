// Generative decoder that looks at the dialog (Luong et al. 2015, global attention). x_j are the
// words of the entries 0..t, then of the question: the encoder's word states, or word vectors where
// it has none (dialog-transformer; memn2n and dmn's entries, with their own text encoder; entries
// of lf, lf-att and lf-bu, with one that is not one-way), under a linear layer for entries and one
// for questions. After word i:
//   s_i = state of the top layer, a_i = softmax_j(score(s_i, x_j)), c_i = sum_j a_ij x_j
//   P(next word) = softmax(W_v tanh(W [s_i ; c_i] + b) + b')
// score is bilinear (the paper's "general") unless score-words says otherwise; it cannot be
// multi-head, since a copied word needs one share for each x_j. c_i is not fed to the next step as
// in the paper, so that all words of all answers are computed in one pass.
// Attention: a, "answer-words", answer words -> words of the dialog.
#include "engine/networks/decoders/source.h"

#include "engine/networks/decoders/copying.h"
#include "engine/networks/pass.h"
#include "engine/networks/parts.h"

static vd_scoring score_of(const vd_config *c)
{
    // Literals: vd_scoring keeps the pointer.
    return vd_scoring_of(c, c->score_words, VD_SCORE_BILINEAR,
                         c->decoders == VD_BOTH ? "gen_decoder.attention.score"
                                                : "decoder.attention.score");
}

void vd_lstm_attention_declare(const vd_config *c, vd_layout *layout)
{
    vd_score_declare(layout, score_of(c));
    vd_source_declare(c, layout);
    vd_layout_linear(layout, vd_source_name(c, "attention.out").text, 2 * c->hidden, c->hidden,
                     true);
    vd_copying_declare(c, layout);
}

const vd_value *vd_lstm_attention_keys(vd_tape *tape, const vd_config *c, const vd_value *x)
{
    return vd_score_keys(tape, score_of(c), x);
}

vd_status vd_lstm_attention(vd_pass *pass, const vd_packed *answers, const int *question,
                            const vd_real *s, vd_real *ds, vd_attended *attended, vd_error *err)
{
    const vd_config *c = pass->config;
    const vd_source *source = &pass->source;
    vd_tape *tape = attended->tape = vd_source_tape(pass, err);
    if (!tape)
        return VD_NO_MEMORY;
    const vd_value *state =
        vd_source_outside(tape, VD_AXIS_ANSWER_WORDS, s, ds, answers->tokens, c->hidden);
    const vd_pairing *p = vd_source_pairing(tape, source, answers, question);
    const vd_value *scores = vd_score_queries(tape, score_of(c), p, state, source->keys, 0);
    const vd_value *a = vd_tape_attend(tape, scores, "answer-words", 0);
    const vd_value *found = vd_tape_mix(tape, a, source->words);
    if (vd_copies(c))
        vd_copying_score(pass, answers, state, found, a, attended);
    attended->out = vd_tanh_layer(tape, vd_tape_concat(tape, state, found),
                                  vd_source_name(c, "attention.out").text, 0);
    return vd_tape_status(tape, err);
}
