// The operations the network is made of, as one table: filled once for the CPU (cpu/) and once for
// every other device (cuda/). Operations are as coarse as a GPU needs them to be.
//
// Every array an operation gets lies in the backend's memory (`memory`), weights and index arrays
// included; scalars, the structs themselves and what is marked "host" lie in the caller's. A
// vd_packed and a vd_geometry carry both: host arrays, and `rows`, where operations read them.
// Operations may still be running when they return; download, read_floats, rank,
// square_sum and last_error wait for them.
// A failed operation leaves its results undefined; the thread that called it learns of the failure
// from `last_error`.
//
// All matrices are row-major. "adds to" means that the result is added to the existing values. Rows
// of word arrays are in flat order, see packed.h. Dropout masks are functions of (key, index), so
// the backward pass needs no stored mask; rate 0 means no dropout.
#ifndef VD_BACKEND_H
#define VD_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/backend/formulas.h"
#include "engine/backend/matrix.h"
#include "engine/backend/memory.h"
#include "engine/backend/packed.h"
#include "engine/base/real.h"
#include "engine/base/token.h"

typedef struct vd_linear_weights {
    vd_matrix w; // (out, in)
    vd_real *b;  // (out)
} vd_linear_weights;

// A layer with one result, an attention's score: w . x + b.
typedef struct vd_score_weights {
    vd_real *w; // (in)
    vd_real *b; // (1)
} vd_score_weights;

// PyTorch's: gate order i, f, g, o; two bias vectors.
typedef struct vd_lstm_weights {
    vd_matrix w_ih; // (4H, in)
    vd_matrix w_hh; // (4H, H)
    vd_real *b_ih;  // (4H)
    vd_real *b_hh;  // (4H)
} vd_lstm_weights;

// One direction of one LSTM layer over packed sequences.
typedef struct vd_lstm_pass {
    const vd_packed *packed;
    const int *map; // packed->rows.forward or packed->rows.backward
    const vd_lstm_weights *weights;
    int in, hidden;
    const vd_real *x;       // (T, in) flat order; the distinct ones of them where x_row is set
    const int *x_row;       // (T) flat order: the row of x that a row reads; NULL = its own
    int x_rows;             // rows of x
    const vd_real *initial; // (S, H) hidden state before the first step, NULL = zero; cell is zero
    vd_real *y;             // (T, ...) flat order, row stride y_stride, H columns written
    int y_stride;
    // Kept for the gradient, all in step order; the layout of gates and states is up to the
    // backend. Without `keep` each step overwrites the previous one; of cells and states, two steps
    // are kept:
    bool keep;
    vd_real *gate;    // (T or widest, 4H) i, f, g, o after their activations
    vd_real *cell;    // (T or 2 widest, H)
    vd_real *before;  // (T or 2 widest, H) previous states
    vd_real *scratch; // (T or x_rows, 4H)
    vd_real *step;    // (widest, 4H) scratch
} vd_lstm_pass;

typedef struct vd_lstm_gradient {
    const vd_lstm_weights *weights; // gradients, added to
    const vd_real *dy;              // (T, ...) row stride y_stride
    vd_real *dx;                    // like x, added to; may be NULL
    vd_real *dinitial;              // (S, H), written; may be NULL
    // Scratch: (S, H); (2 widest, H) for a tree of prefixes: gradients of this step's rows, then
    // of the previous step's or sums over children.
    vd_real *dh, *dc;
} vd_lstm_gradient;

// Geometry the attention operations share: N questions over the entries and regions of B dialogs.
// In training question t of a dialog sees entries 0..t; a chat asks one question that sees all.
typedef struct vd_geometry_rows {
    const int *question_start, *entry_start, *dialog, *seen, *region_start;
} vd_geometry_rows;

typedef struct vd_geometry {
    int dialogs;               // B
    int questions;             // N
    int most;                  // row stride of attention 1, >= every seen
    const int *question_start; // (B + 1) first question of a dialog
    const int *entry_start;    // (B + 1) first history entry of a dialog
    const int *dialog;         // (N) the dialog of a question
    const int *seen;           // (N) entries of its dialog that a question sees, from the first
    const vd_packed *question, *history; // words of question n: rows start[n] .. start[n + 1]
    const int *region_start;             // (N + 1) first (question, real region) row of a question
    vd_geometry_rows rows;               // the arrays above, where operations read them
} vd_geometry;

// Segments of an array: `length[s]` numbers from `start[s]` on.
typedef struct vd_segments {
    int count, longest;
    const int *start, *length;
} vd_segments;

// One direction of a GRU over packed sequences, from a state of zero (Cho et al. 2014; PyTorch's
// order r, z, n, with the reset after the product): r = sigmoid(x_r + s_r), z likewise,
// n = tanh(x_n + r s_n), h' = (1 - z) n + z h, with x the input's products and s = W h + b. With
// gates, gate g replaces 1 - z (Xiong et al. 2016), there is no z, and K = 2 instead of 3.
typedef struct vd_gru_pass {
    const vd_packed *packed;          // no tree of prefixes
    const int *map;                   // packed->rows.forward or packed->rows.backward
    const vd_linear_weights *weights; // (K H, H), (K H): W, b
    int hidden;
    const vd_real *input; // (T, K H) x, flat order
    const vd_real *gate;  // (T) flat order, or NULL
    vd_real *y;           // (T, ...) flat order, row stride y_stride, H columns written
    int y_stride;
    // Kept for the gradient, in step order:
    vd_real *state;  // (T, K H) s, of step 0 b
    vd_real *before; // (T, H) previous states
    vd_real *values; // (T, K H) r, z, n
} vd_gru_pass;

typedef struct vd_gru_gradient {
    const vd_linear_weights *weights; // gradients, added to
    const vd_real *dy;                // (T, ...) row stride y_stride
    vd_real *dinput;                  // (T, K H) flat order, added to
    vd_real *dgate;                   // (T), added to; NULL without gates
    vd_real *dstate;                  // (T, K H) scratch
    vd_real *dh;                      // (S, H) scratch
} vd_gru_gradient;

// Words of answers, generated from the vocabulary or copied; a pair is a word and a word that it
// attends to (engine/networks/decoders/copying.c).
typedef struct vd_copied_words {
    vd_segments pairs; // of each word, in the words' order
    // (pairs) pointer (gate set): attention to the word; copynet (gate NULL): score of copying the
    // word, which its softmax replaces.
    vd_real *share;
    // (words) pointer: logits of G, which is 1 for a word without pairs. copynet: NULL, and log_sum
    // (words) is the logarithm of the sum of e^score over the vocabulary, as one softmax covers
    // both.
    const vd_real *gate, *log_sum;
    // (pairs) 1: the word attended to is the target. NULL: no targets; G and shares only.
    const uint8_t *hit;
    const uint8_t *known; // (words) 1: the vocabulary has the target
    vd_copied_word *word; // (words) written
} vd_copied_words;

// c (m, n) = op(a) op(b) + beta c with beta 0 or 1, op = transpose where asked.
typedef struct vd_product {
    int m, n, k;
    const vd_real *a, *b;
    vd_real *c;
    int lda, ldb, ldc;
} vd_product;

// A product of matrices without gaps between their rows.
static inline vd_product vd_product_of(bool ta, bool tb, int m, int n, int k, const vd_real *a,
                                       const vd_real *b, vd_real *c)
{
    vd_product p = {m, n, k, a, b, c, ta ? m : k, tb ? k : n, n};
    return p;
}

// Cross entropy of every question's O candidates, with a margin on the target's score
// (formulas.h).
typedef struct vd_candidate_loss {
    int questions, candidates, hidden; // N, O, H
    int margin;
    double lambda;
    double scale;         // of the sum over questions
    const int32_t *truth; // (N) -1 = unknown: no loss, no gradient
    // (N, O) how relevant each candidate is: the target is its share of the row's sum; a row
    // without any has the truth as its target. NULL: every row has. Not with a margin.
    const float *relevance;
    const vd_real *scores; // (N, O)
    // Read with a margin only:
    const int32_t *option;       // (N, O) row of `vector`
    const vd_real *vector;       // (U, H)
    const vd_real *encoded;      // (N, H)
    vd_real *dscores;            // (N, O) zero where nothing is known; NULL = no gradient
    vd_real *dvector, *dencoded; // added to, with a margin only
    double *loss;                // (1) written: scale * sum
} vd_candidate_loss;

// Of the factors of matrix products: float; TF32 (10 bits of mantissa); bfloat16 (7 bits).
typedef enum vd_precision { VD_PRECISION_FP32, VD_PRECISION_TF32, VD_PRECISION_BF16 } vd_precision;

// Decay rates of Adam and AdaMax (beta 1, beta 2), and the number added to the denominator.
typedef struct vd_moments {
    double first, second, epsilon;
} vd_moments;
static const vd_moments vd_moments_usual = {0.9, 0.999, 1e-8};

enum { VD_DEVICES_ID = 128 };

// How long to wait for other processes: called after `waited` seconds, it returns the reason to
// give up (host text), or NULL to keep waiting.
typedef struct vd_wait_limit {
    const char *(*over)(void *context, double waited);
    void *context;
} vd_wait_limit;

// Several processes with one device each sum arrays of the backend's memory without copying them to
// the host. Functions in the order of their calls; each returns an error (host text), or NULL.
typedef struct vd_devices {
    const char *(*open)(void); // loads the library; call it first
    // One process creates an id, all join with it; 0 <= rank < size.
    const char *(*make_id)(unsigned char id[VD_DEVICES_ID]);
    const char *(*join)(const unsigned char id[VD_DEVICES_ID], int rank, int size);
    void (*wait_with)(const vd_wait_limit *limit); // from now on; borrowed
    const char *(*sum)(vd_real *x, size_t n);      // in place; waits until it is done
    void (*leave)(void);                           // also after a failure
    const char *(*name)(void);                     // for messages: "NCCL 2.27.3"
} vd_devices;

// Increased whenever the table or a struct it uses changes: a plugin with another number is not
// used.
enum { VD_BACKEND_ABI = 14 };

typedef struct vd_backend {
    int abi;     // VD_BACKEND_ABI
    size_t size; // sizeof(vd_backend)

    const char *name;        // "cpu"
    const char *description; // of the device, for messages; may be NULL
    int device;              // which of several
    const vd_memory *memory;
    const vd_devices *devices; // NULL = only through the host (group.h)
    // Waits until all operations of this thread are done, so that other threads may use the
    // results. Returns the error since the last call (host text, valid until the next one); NULL =
    // none.
    const char *(*last_error)(void);
    // Conversion from and to host floats; read_floats waits for the result.
    void (*load_floats)(const float *host, vd_real *y, size_t n);
    void (*read_floats)(const vd_real *x, float *host, size_t n);
    // y (rows, n): the first n numbers of rows row[0], row[1], ... of an array in half precision,
    // whose rows are `stride` apart.
    void (*load_halves)(const uint16_t *halves, size_t stride, const int32_t *row, int rows,
                        size_t n, vd_real *y);
    // How matrix products are computed from now on; sums are always kept in float.
    void (*precision)(vd_precision precision);

    // Matrix products, one or several in one call. Their results do not overlap; where
    // `adds_overlapping`, they may with beta 1.
    bool adds_overlapping;
    void (*products)(bool ta, bool tb, vd_real beta, const vd_product *list, int count);
    // Every row of y (rows, w->rows) = w x + b; x (rows, w->columns), b (w->rows) or NULL.
    void (*linear)(const vd_real *x, const vd_matrix *w, const vd_real *b, vd_real *y, int rows);
    // dx (rows, w->columns), row stride dx_stride, gets (beta 0) or adds (beta 1) dy w, NULL = not
    // wanted; dw, of the shape of w, and db are added to, NULL = not wanted.
    void (*linear_backward)(const vd_real *x, const vd_matrix *w, const vd_real *dy, vd_real *dx,
                            int dx_stride, vd_real beta, const vd_matrix *dw, vd_real *db,
                            int rows);
    // Makes w->packed, a copy of w that `linear` reads faster for a few dozen rows (the regions of
    // a picture); w->packed stays NULL if there is no memory for it. unpack frees it. Both are NULL
    // if a backend has no packed weights.
    void (*pack)(vd_matrix *w);
    void (*unpack)(vd_matrix *w);

    // GatedTrans: pre (rows, 2H) becomes (tanh, gate), y = tanh * gate.
    void (*gated)(vd_gate gate, vd_real *pre, vd_real *y, int rows, int hidden);
    // saved (rows, 2H), as gated left it, becomes the gradient of pre.
    void (*gated_backward)(vd_gate gate, vd_real *saved, const vd_real *dy, int rows, int hidden);
    // pre becomes sigmoid(pre); y = that * x.
    void (*sigmoid_gate)(vd_real *pre, const vd_real *x, vd_real *y, size_t n);
    // saved becomes the gradient of pre; dx is added to.
    void (*sigmoid_gate_backward)(vd_real *saved, const vd_real *x, const vd_real *dy, vd_real *dx,
                                  size_t n);
    // The gradient of y = relu(x), in place.
    void (*relu_backward)(const vd_real *y, vd_real *dy, size_t n);
    // y = x with a fraction `rate` dropped and the rest scaled by 1 / (1 - rate); y may be x.
    void (*dropout)(const vd_real *x, vd_real *y, size_t n, vd_real rate, uint64_t key);

    // y (rows, table->columns) = the rows id[0], id[1], ... of table; and the gradient, which
    // leaves out the row VD_PAD.
    void (*embed)(const vd_matrix *table, const int32_t *id, int rows, vd_real *y);
    void (*embed_backward)(const vd_matrix *dtable, const int32_t *id, int rows, const vd_real *dy);

    // Row r of y (rows, width) = row index[r] of x, zeros where that is -1; a NULL list means row r
    // itself. The strides are distances between rows (0: always the first).
    void (*copy_rows)(const vd_real *x, int x_stride, const int *index, int rows, int width,
                      vd_real *y, int y_stride);
    // Row index[r] of y += row r of x (rows, width), none where that is -1: the gradient of
    // copy_rows.
    void (*scatter_rows)(const vd_real *x, int x_stride, const int *index, int rows, int width,
                         vd_real *y, int y_stride);
    // x (rows, width) += table[index]
    void (*add_rows)(const vd_real *table, const int *index, int rows, int width, vd_real *x);

    // The directions of one layer: passes (and gradients) that read the same x and packing.
    void (*lstm)(const vd_lstm_pass *pass, int directions);
    void (*lstm_backward)(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                          int directions);

    // Image: y = x / max(norm, 1e-12), the norm over a picture's regions, one per channel.
    void (*normalise_regions)(const vd_real *x, vd_real *y, int dialogs, int regions, int size);

    // Attention 1. a (N, most), c (N, 2H) = sum_r a_r h_r; drop is on f_q * f_h.
    void (*context_attention)(const vd_geometry *span, int hidden, const vd_real *fq,
                              const vd_real *fh, const vd_real *h, const vd_score_weights *score,
                              vd_real rate, uint64_t key, vd_real *a, vd_real *c);
    // da (N, most): in, the part of the gradient of a that topic_attention_backward wrote; then
    // memory for what is computed.
    void (*context_attention_backward)(const vd_geometry *span, int hidden, const vd_real *fq,
                                       const vd_real *fh, const vd_real *h,
                                       const vd_score_weights *score,
                                       const vd_score_weights *dscore, vd_real rate, uint64_t key,
                                       const vd_real *a, vd_real *da, const vd_real *dc,
                                       vd_real *dfq, vd_real *dfh, vd_real *dh);

    // Attention 2. s holds a matrix per dialog (its question words, its entry words), dialog b's
    // from start[b] on: scores become the attention, zero for entries not yet seen; weighted =
    // a_r * s.
    void (*topic_attention)(const vd_geometry *span, const size_t *start, const vd_real *a,
                            vd_real *s, vd_real *weighted);
    // ds: on input the gradient of weighted, on output that of the scores; da is added to.
    void (*topic_attention_backward)(const vd_geometry *span, const size_t *start, const vd_real *a,
                                     const vd_real *s, vd_real *ds, vd_real *da);

    // Attention 3. m holds a matrix per dialog (its `regions` regions, its question words), dialog
    // b's at regions * the first of its words: softmax over the words of each question.
    void (*word_attention)(const vd_geometry *span, int regions, vd_real *m);
    void (*word_attention_backward)(const vd_geometry *span, int regions, const vd_real *m,
                                    vd_real *dm); // in place

    // Softmax of `columns` of each row.
    void (*softmax)(vd_real *x, int rows, int columns, int stride);

    // Attention 4. fm (K, H), fc (N, H): z = l2norm(fm * fc), g = softmax_k(w . drop(z) + b) over
    // a round's real regions; z (K, H), norm (K) and g (K) are kept.
    void (*region_attention)(const vd_geometry *span, int hidden, const vd_real *fm,
                             const vd_real *fc, const vd_score_weights *score, vd_real rate,
                             uint64_t key, vd_real *z, vd_real *norm, vd_real *g);
    void (*region_attention_backward)(const vd_geometry *span, int hidden, const vd_real *fm,
                                      const vd_real *fc, const vd_score_weights *score,
                                      const vd_score_weights *dscore, vd_real rate, uint64_t key,
                                      const vd_real *z, const vd_real *norm, const vd_real *g,
                                      vd_real *dg, vd_real *dfm, vd_real *dfc);
    // y (N, size) row stride y_stride: sum_k g_k m_k; and the gradient, dg and dm added to.
    void (*region_pool)(const vd_geometry *span, const vd_real *g, const vd_real *m, int size,
                        vd_real *y, int y_stride);
    void (*region_pool_backward)(const vd_geometry *span, const vd_real *g, const vd_real *m,
                                 int size, const vd_real *dy, int y_stride, vd_real *dg,
                                 vd_real *dm);

    // Operations for networks on the tape (engine/graph/). Gradients are added to.
    //
    // y = f(x); y may be x where no gradient is wanted.
    void (*map)(vd_function f, const vd_real *x, vd_real *y, size_t n);
    void (*map_backward)(vd_function f, const vd_real *x, const vd_real *y, const vd_real *dy,
                         vd_real *dx, size_t n);
    // y += a x; y may be x.
    void (*add_scaled)(vd_real *y, vd_real a, const vd_real *x, size_t n);
    // Row r of z (rows, width) = row x_row[r] of x times row y_row[r] of y, elementwise; a NULL
    // list means row r itself. The gradient is that for x; for y, exchange the two.
    void (*multiply_rows)(const vd_real *x, const int *x_row, const vd_real *y, const int *y_row,
                          int rows, int width, vd_real *z);
    void (*multiply_rows_backward)(const vd_real *dz, const vd_real *y, const int *y_row, int rows,
                                   int width, vd_real *dx, const int *x_row);
    // Softmax of every segment; empty ones are skipped. y may be x.
    void (*softmax_segments)(const vd_segments *segments, const vd_real *x, vd_real *y);
    void (*softmax_segments_backward)(const vd_segments *segments, const vd_real *y,
                                      const vd_real *dy, vd_real *dx);
    // y (segments) = the largest number of a segment, at[s] its index in x; 0 and -1 for an empty
    // segment.
    void (*max_segments)(const vd_segments *segments, const vd_real *x, vd_real *y, int *at);
    void (*max_segments_backward)(int segments, const int *at, const vd_real *dy, vd_real *dx);
    // Additive scores (Bahdanau et al. 2015) of pairs of rows: s (pairs) = v . tanh(q of row
    // query[p] + k of row key[p]). dq, dk, dv may be NULL.
    void (*additive_scores)(const int *query, const int *key, int pairs, int hidden,
                            const vd_real *q, const vd_real *k, const vd_real *v, vd_real *s);
    void (*additive_scores_backward)(const int *query, const int *key, int pairs, int hidden,
                                     const vd_real *q, const vd_real *k, const vd_real *v,
                                     const vd_real *ds, vd_real *dq, vd_real *dk, vd_real *dv);
    // log (words): on input of the target's p in the vocabulary, on output of its P; NULL without
    // targets.
    void (*copy_log)(const vd_copied_words *copies, vd_real *log);
    // The gradients of scale * sum of -log P, dgate NULL without a gate. Also writes whole and hit
    // (words), factors of word_gradient.
    void (*copy_gradient)(const vd_copied_words *copies, vd_real scale, vd_real *dshare,
                          vd_real *dgate, vd_real *whole, vd_real *hit);
    // x (pairs): shares. *sum (1), written, NULL = not wanted: vd_cover of all answers' words and
    // all words that they attend to, which are the same for an answer's words; and scale times its
    // gradient, dx NULL = not wanted.
    void (*coverage)(const vd_packed *answers, const vd_segments *pairs, const vd_real *x,
                     vd_real scale, vd_real *dx, double *sum);
    // y = (x - mean) / sqrt(variance + 1e-5) of each row, which is kept in `normal`, times gain,
    // plus bias (Ba et al. 2016); inverse (rows): 1 / sqrt(variance + 1e-5).
    void (*layer_norm)(const vd_real *x, const vd_real *gain, const vd_real *bias, int rows,
                       int width, vd_real *normal, vd_real *inverse, vd_real *y);
    void (*layer_norm_backward)(const vd_real *dy, const vd_real *gain, const vd_real *normal,
                                const vd_real *inverse, int rows, int width, vd_real *dx,
                                vd_real *dgain, vd_real *dbias);
    // y = x / norm of each row, norm (rows) = max(|x|, 1e-12).
    void (*unit_rows)(const vd_real *x, int rows, int width, vd_real *y, vd_real *norm);
    void (*unit_rows_backward)(const vd_real *dy, const vd_real *y, const vd_real *norm, int rows,
                               int width, vd_real *dx);
    // The directions of one layer.
    void (*gru)(const vd_gru_pass *pass, int directions);
    void (*gru_backward)(const vd_gru_pass *pass, const vd_gru_gradient *gradient, int directions);

    // scores (N, O) = products[n, option[n, o]] of products (N, U); and dproducts, written.
    void (*gather)(const vd_real *products, const int32_t *option, int questions, int candidates,
                   int distinct, vd_real *scores);
    void (*gather_backward)(const vd_real *dscores, const int32_t *option, int questions,
                            int candidates, int distinct, vd_real *dproducts);
    // word_log: out (rows) = log of p (rows, words) at each row's target (words 0: its index in all
    // of p). word_gradient: p becomes the gradient of the scores, scale * (whole[row] p - hit[row]
    // at the target); whole or hit NULL: ones.
    void (*word_log)(const vd_real *p, const int32_t *target, int rows, int words, vd_real *out);
    void (*word_gradient)(vd_real *p, const int32_t *target, const vd_real *whole,
                          const vd_real *hit, int rows, int words, vd_real scale);
    void (*candidate_loss)(const vd_candidate_loss *loss);
    // Ranks n scores; all but z is host memory. score = z, probability = softmax of z, order = the
    // candidates by decreasing score, ties by index; scratch (4 n).
    void (*rank)(const vd_real *z, int n, float *score, float *probability, int32_t *order,
                 int32_t *scratch);

    // Optimiser steps over a whole block (Kingma, Ba 2015, alg. 1 and 2; Hinton 2012, as PyTorch):
    // w (n) and the state m, v, u (n) are updated by the gradients scale * g; step counts from 1.
    void (*adam)(vd_real *w, const vd_real *g, vd_real *m, vd_real *v, size_t n, vd_real scale,
                 double rate, const vd_moments *moments, int64_t step);
    void (*rmsprop)(vd_real *w, const vd_real *g, vd_real *v, size_t n, vd_real scale, double rate);
    void (*adamax)(vd_real *w, const vd_real *g, vd_real *m, vd_real *u, size_t n, vd_real scale,
                   double rate, const vd_moments *moments, int64_t step);
    double (*square_sum)(const vd_real *x, size_t n);
} vd_backend;

// VD_OK, or VD_UNAVAILABLE with the backend's error since the last call.
vd_status vd_backend_status(const vd_backend *backend, vd_error *err);

// Made of its operations: c (m, n) = op(a) op(b) + beta c of matrices without gaps, as in products.
void vd_multiply(const vd_backend *backend, bool ta, bool tb, int m, int n, int k, const vd_real *a,
                 const vd_real *b, vd_real beta, vd_real *c);
// y (rows, left_size + right_size) = [left of row left_row[k] ; right of row right_row[k]], lists
// as for copy_rows.
void vd_concat(const vd_backend *backend, const vd_real *left, const int *left_row, int left_size,
               const vd_real *right, const int *right_row, int right_size, vd_real *y, int rows);
// Sentence vectors (S, directions H) of word states y (T, directions H): the forward state of the
// last word, then the backward state of the first; zero for empty sequences. And the gradient,
// which is added to dy.
void vd_last_states(const vd_backend *backend, const vd_packed *packed, int directions, int hidden,
                    const vd_real *y, vd_real *sentence);
void vd_last_states_backward(const vd_backend *backend, const vd_packed *packed, int directions,
                             int hidden, const vd_real *dsentence, vd_real *dy);

const vd_backend *vd_backend_cpu(void);

const char *vd_backend_cpu_library(void); // for large products

#endif
