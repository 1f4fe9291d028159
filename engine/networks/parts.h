// Building blocks shared by several networks.
#ifndef VD_PARTS_H
#define VD_PARTS_H

#include "engine/networks/encoder.h"

// ---- texts --------------------------------------------------------------------------------------

// Questions, entries, or all entries of a dialog concatenated.
typedef struct vd_text {
    const char *name; // encoder.ques_rnn or encoder.hist_rnn: what its parameters lie below
    const vd_packed *packed;
    vd_axis words, sentences;
} vd_text;

vd_text vd_text_questions(const vd_inputs *in);
vd_text vd_text_entries(const vd_inputs *in);

// Word vectors, with positions and dropout where the configuration has them, a row a word.
vd_value *vd_text_all_words(vd_tape *tape, const vd_inputs *in, vd_text text);

// The text encoder of the configuration (engine/networks/text/) below `name`, of words `in` wide;
// and those of questions and entries, of words as they are.
void vd_text_declare(vd_layout *layout, const vd_config *config, const char *name, int in);
void vd_texts_declare(const vd_config *config, vd_layout *layout);
// The same where sentence vectors are not wanted.
void vd_text_declare_states(vd_layout *layout, const vd_config *config, const char *name, int in);
// Its word states (T, W), which are in->states from then on. dropout: of the words.
vd_value *vd_text_states(vd_tape *tape, const vd_inputs *in, vd_text text, vd_real dropout);
// The sentence vectors (S, W) of word states.
vd_value *vd_text_pool_states(vd_tape *tape, const vd_inputs *in, vd_text text,
                              const vd_value *states);
// Both in one.
vd_value *vd_text_sentences(vd_tape *tape, const vd_inputs *in, vd_text text, vd_real dropout);
// The same of words that a network made itself: x, a row a word.
vd_value *vd_text_sentences_of(vd_tape *tape, const vd_inputs *in, vd_text text, const vd_value *x);
// Widths of word states: H; H rounded up to even; E or, with a text encoder, H; for a history read
// as one text, H if the encoder is unidirectional, else E.
vd_width vd_width_hidden, vd_width_even, vd_width_summed, vd_width_concatenated;

// 1 for each pair: a mix by these is a sum.
const vd_value *vd_ones(vd_tape *tape, const vd_pairing *p);

// Sums of sentences' words, each number weighted by the position of its word (Sukhbaatar et al.
// 2015, as in the released code, but J the sentence's own length):
//   sum_j l_j o x_j, l_ij = 1 + 4 (i - (E+1)/2) (j - (J+1)/2) / (E J), i = 1..E, j = 1..J
typedef struct vd_sums {
    vd_text text;
    const vd_value *position; // l (T, E)
    const vd_value *all;      // 1 for each word, in pairs of sentences and words
} vd_sums;

vd_sums vd_sums_of(vd_tape *tape, const vd_inputs *in, vd_text text);
// x from the rows of `table`, with positions where the configuration has them.
vd_value *vd_sums_take(vd_tape *tape, const vd_inputs *in, const vd_sums *sums, const char *table);

// Rows of entries as each question sees them (pairs of VD_SEES_OWN_ROUNDS), with a row of the table
// `ages` for how many rounds ago each was; its last row is for all that are older. random: among n
// entries none to n random, rounded up, empty ones are inserted at random places, which only make
// the others older; drawn for each question, the same in every call on a tape (Sukhbaatar et al.
// 2015, released code); 0: none.
vd_value *vd_aged_entries(vd_tape *tape, vd_inputs *in, const vd_value *entries, const char *ages,
                          vd_real random);

// The newest entry that each question sees.
vd_value *vd_newest_entries(vd_tape *tape, const vd_inputs *in, const vd_value *entries);
// The sentence vector of each question and, *history, that of entries 0..t concatenated. Of an
// encoder that reads one way it is one run over the dialog, read at the end of each entry; others
// run once a question.
vd_value *vd_read_concatenated(vd_tape *tape, vd_inputs *in, vd_value **history);

// ---- scores -------------------------------------------------------------------------------------

// Scores of pairs of queries and keys, `own` where the configuration does not say which; parameters
// below `name`.
//   additive   v . tanh(W_q x + b + W_k y)      dot       x . y
//   bilinear   (W x) . y                        scaled    x . y / sqrt(d)
//   product    w . (x o y)                      sum       w_q . x + w_k . y + b
// multi-head: vd_heads_attend (text/layers.h), whose values are W_v y; it is no score alone.
// Matrices and w start uniform in +-1/sqrt(columns), v zero, so additive attention starts flat.
typedef struct vd_scoring {
    vd_score kind, own;
    const char *name;
    int query, key, hidden; // sizes; hidden: of the additive one
    int heads, found;       // of multi-head: heads, the size of what is found
} vd_scoring;

// All sizes are those of an LSTM state.
vd_scoring vd_scoring_of(const vd_config *config, vd_score kind, vd_score own, const char *name);
void vd_score_declare(vd_layout *layout, vd_scoring s);
bool vd_score_by_heads(vd_scoring s); // multi-head, which has a stage of its own in the walk
// Its formula; NULL: it has none.
const char *vd_score_formula(vd_scoring s);
// What queries find: rows of `values`, a key each, mixed by the softmax of the scores (multi-head:
// what its heads find in the keys), an attention that is shown.
vd_value *vd_score_find(vd_tape *tape, vd_scoring s, const vd_pairing *p, const vd_value *query,
                        const vd_value *key, const vd_value *values, vd_real dropout,
                        const char *shown);
vd_value *vd_score_pairs(vd_tape *tape, vd_scoring s, const vd_pairing *p, const vd_value *query,
                         const vd_value *key, vd_real dropout);
// The same in two steps, where keys meet queries more than once: what depends on the keys alone,
// and what is left.
const vd_value *vd_score_keys(vd_tape *tape, vd_scoring s, const vd_value *key);
vd_value *vd_score_queries(vd_tape *tape, vd_scoring s, const vd_pairing *p, const vd_value *query,
                           const vd_value *key, vd_real dropout);

// ---- memory -------------------------------------------------------------------------------------

// One look back (Das et al. 2017): s_r = score(u_t, h_r) for entries r <= t, c = sum_r a_r h_r;
// the result is tanh(W_e (tanh(W_c c + b) + u_t) + b). Shown as "rounds". Parameters
// encoder.{ques_rnn,hist_rnn}.rnn_model, encoder.rounds.score, encoder.memory, encoder.out.
void vd_memory_declare(vd_layout *layout, const vd_config *config);
vd_value *vd_memory_look(vd_tape *tape, vd_inputs *in, const vd_value *u);

// ---- regions ------------------------------------------------------------------------------------

// Attention over the regions (Yang et al. 2016): y_k = tanh(W_i v_k + b), s_k = score(u, y_k), e =
// tanh(W_o (sum_k p_k y_k + u) + b). Shown as "regions". Parameters below encoder.regions.
void vd_glimpse_declare(vd_layout *layout, const vd_config *config);
vd_value *vd_glimpse(vd_tape *tape, vd_inputs *in, const vd_value *u);

// tanh(W dropout(x) + b).
vd_value *vd_tanh_layer(vd_tape *tape, const vd_value *x, const char *name, vd_real dropout);

// ---- stages (vd_tape_explain) -------------------------------------------------------------------

// The last one: e, of the question q (NULL: not of it) and what was found.
void vd_explain_vector(vd_tape *tape, const char *formula, const vd_value *q, vd_named found,
                       const vd_value *e);

#endif
