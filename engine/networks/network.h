// The whole network over one batch: encoder, decoders, losses, gradients.
//
// Use: zero a vd_network, fill the settings of `pass` (pass.h), vd_network_encode, then a decoder's
// forward pass or loss, then read what is wanted, then (with pass.dw set) the decoder's backward
// pass and vd_network_encode_backward. Everything lives in pass.arena until it is reset.
#ifndef VD_NETWORK_H
#define VD_NETWORK_H

#include "engine/networks/decoders/copying.h"
#include "engine/networks/pass.h"

// Answers that the discriminative decoder reads, as a tree of their prefixes (packed.h).
typedef struct vd_prefixes {
    vd_packed packed;
    vd_packed apart; // with masks of their own: every candidate of every question by itself
    vd_text_pass text;
    int ends;            // answers that have words
    const int *end_row;  // (ends) row of the last word
    const int *answer;   // (ends) which answer it is
    vd_real *end_vector; // (ends, H) scratch
} vd_prefixes;

// Answers that the generative decoder reads, one sequence each.
typedef struct vd_given_answers {
    vd_packed packed;
    vd_text_pass text;
    vd_copying copying;   // zero unless words are copied
    const int *question;  // (sequences) the question with the encoder vector e that starts it
    vd_attended attended; // zero without attention
    // (words, H) what the scores of the next word are made of: the LSTM's states, or with
    // attention; of answer sequence (words, E) the network's, as wide as w->words.w.columns
    const vd_real *output;
    vd_real *doutput;
    const int32_t *target; // (words) the words to predict
    vd_real *logits;       // (words, V), after the forward pass probabilities
} vd_given_answers;

// The scores of the words that may follow rows `output`, as probabilities p (rows, V). Of
// copynet *log_sum (rows), in the arena, is the logarithm of the sum of their exponentials; else
// NULL.
vd_status vd_given_words(vd_pass *pass, const vd_real *output, int rows, vd_real *p,
                         const vd_real **log_sum, vd_error *err);

typedef struct vd_network {
    vd_pass pass;
    const vd_batch *batch;

    // Discriminative decoder: z_c = o_c . e
    const vd_matrix *kept; // (U, H) o, where the caller has them already; NULL = encode them
    vd_prefixes candidate;
    // C: U, equal candidates are one; N O where every one of every question has dropout masks, and
    // so a vector, of its own.
    int vectors;           // C
    const int32_t *option; // (N, O) the vector of each, where operations read it
    vd_real *vector;       // (C, H) o: last state of the top layer
    vd_real *dvector;
    vd_real *products; // (N, C)
    vd_real *scores;   // (N, O)
    vd_real *dscores;  // (N, O)

    // Generative decoder
    vd_given_answers given;
    vd_real word_share; // of one word in the loss: 1 / words of the step
} vd_network;

// Checks the batch (vd_batch_check). Geometry and encoder: fills pass.encoded and the four
// attentions.
vd_status vd_network_encode(vd_network *net, const vd_batch *batch, vd_error *err);
// Back from pass.dencoded to the weights.
vd_status vd_network_encode_backward(vd_network *net, vd_error *err);

// Vectors of the answers order[0..count-1] (vd_packed_sort, packed.h): prefixes that they share are
// computed once. vector: (all answers, H); the vector of an answer is added to its row, nothing for
// an empty one.
vd_status vd_prefixes_encode(vd_pass *pass, vd_prefixes *prefixes, const int32_t *ids,
                             const int32_t *lengths, int width, const int *order, int count,
                             vd_real *vector, vd_error *err);
// Scores of every question's candidates: net->scores.
vd_status vd_discriminative_forward(vd_network *net, vd_error *err);
// From net->dscores, with net->dvector and pass.dencoded as a loss left them.
vd_status vd_discriminative_backward(vd_network *net, vd_error *err);

// Encoder and decoders without a gradient: scores (N, O) of the discriminative decoder (products),
// of the generative one (mean log-probabilities), or the mean of the two.
vd_status vd_network_scores(vd_network *net, const vd_batch *batch, vd_decoders by, float *scores,
                            vd_error *err);

// Loss of the discriminative decoder: cross entropy over the O candidates, mean over the questions
// with a known answer (the batch's share of the mean over `of` when that is not NULL), and with
// margin > 1 the large-margin softmax (Liu et al. 2016, eq. 7) with lambda annealing: the target's
// score is (lambda z_y + |o_y||e| psi) / (1 + lambda). Fills dscores, dvector, dencoded when
// gradients are wanted.
vd_status vd_discriminative_loss(vd_network *net, int margin, double lambda, const vd_totals *of,
                                 double *loss, vd_error *err);

// Generative decoder over the human answers: mean next-word cross entropy over the words of the
// batch (its share of the mean over `of` when that is not NULL). The batch needs candidate_in and
// candidate_out. Backward follows a loss of the same pass.
vd_status vd_generative_loss(vd_network *net, const vd_totals *of, double *loss, vd_error *err);
vd_status vd_generative_backward(vd_network *net, vd_error *err);
// given->output over sequences ids (count, width), unknown words with extended ids where they are
// copied; sequence s starts from the encoder's vector of question[s].
vd_status vd_given_read(vd_pass *pass, vd_given_answers *given, const int32_t *ids,
                        const int32_t *lengths, const int *question, int count, int width,
                        vd_error *err);
// scores (count), host: mean log-probability of the words out (count, width) that are to follow
// those of in.
vd_status vd_given_scores(vd_pass *pass, const int32_t *in, const int32_t *out,
                          const int32_t *lengths, const int *question, int count, int width,
                          float *scores, vd_error *err);
// scores (N, O): mean log-probability of a candidate's words. What the decoder computed is not
// kept.
vd_status vd_generative_scores(vd_network *net, float *scores, vd_error *err);

#endif
