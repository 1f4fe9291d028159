// One pass of a batch through the network: settings, geometry, and what each stage keeps for the
// gradient. Each stage is a file; the fields below are in their order.
//
// Legend: B dialogs, N questions, K (question, real region) rows, TQ / TH words of all questions /
// history entries, U distinct candidates; E, H, D, V as in batch.h.
//
// A pass with gradients (dw set) keeps what the backward pass needs and computes the topic view's
// first layer on concatenated rows, because dropout differs from row to row. One without computes
// the image's half once per region: the same sums in another order. What does not depend on the
// question (context_history.y, topic_history.y, view_image.y, view_half) is computed only when it
// is NULL, so that a dialog can pass in what it has cached.
#ifndef VD_PASS_H
#define VD_PASS_H

#include "engine/backend/arena.h"
#include "engine/backend/backend.h"
#include "engine/graph/tape.h"
#include "engine/networks/batch.h"
#include "engine/networks/decoders/source.h"
#include "engine/networks/weights.h"
#include "engine/networks/trace.h"

// Where dropout is applied; each has its own masks.
typedef enum vd_site {
    VD_SITE_QUESTION_WORDS,
    VD_SITE_HISTORY_WORDS,
    VD_SITE_CANDIDATE_WORDS,
    VD_SITE_QUESTION_LAYER,
    VD_SITE_HISTORY_LAYER,
    VD_SITE_CANDIDATE_LAYER,
    VD_SITE_ANSWER_LAYER,
    VD_SITE_CONTEXT_QUESTION,
    VD_SITE_CONTEXT_HISTORY,
    VD_SITE_CONTEXT_SCORE,
    VD_SITE_TOPIC_QUESTION,
    VD_SITE_TOPIC_HISTORY,
    VD_SITE_VIEW_IMAGE,
    VD_SITE_VIEW_TOPIC,
    VD_SITE_VIEW_LAYERS,
    VD_SITE_REGION_FUSED,
    VD_SITE_REGION_CONTEXT,
    VD_SITE_REGION_SCORE,
    VD_SITE_FUSION,
    VD_SITE_ANSWER_WORDS,
    VD_SITE_ANSWER_ATTENTION
} vd_site;

// What a GatedTrans keeps.
typedef struct vd_gated_pass {
    int rows, in;
    vd_site site;
    const vd_real *x; // (rows, in) after dropout
    vd_real *saved;   // (rows, 2H) tanh and gate
    vd_real *y;       // (rows, H)
    vd_real *dy;      // (rows, H), zero until the stages after have added theirs
} vd_gated_pass;

// What a gated pair of vectors keeps: x = [left ; right], y = sigmoid(W x + b) * x.
typedef struct vd_pair_pass {
    int rows, half;
    vd_real *x;    // (rows, 2 half)
    vd_real *gate; // (rows, 2 half)
    vd_real *y;    // (rows, 2 half)
    vd_real *dy;
} vd_pair_pass;

// What a stack of LSTM layers keeps.
typedef struct vd_recurrent_pass {
    const vd_packed *packed[VD_LAYERS];
    const int *row; // of each word of the second layer, the first's that it reads; NULL = the same
    int directions; // 1 or 2
    vd_site site;
    vd_lstm_pass part[VD_LAYERS][2];
    vd_real *dropped; // (T, directions H) input of the second layer, T as it packs words
    vd_real *y;       // (T, directions H) output of the top layer, flat order
    vd_real *dy;
} vd_recurrent_pass;

// Words of one kind of text, from ids to sentence vectors.
typedef struct vd_text_pass {
    const vd_packed *packed;
    // If texts share rows of the first layer but not dropout masks: the packing that the second
    // layer reads, and the first layer's row of each word there. NULL = the same.
    const vd_packed *apart;
    const int *apart_row; // where operations read it
    vd_real *embedding;   // (T, E) word embeddings, what topic aggregation pools; NULL = not pooled
    vd_real *dembedding;
    // The LSTM's inputs: embeddings with positions. An input that occurs more than once is stored
    // once, unless dropout makes each different.
    vd_real *input;              // (inputs, wide)
    const int *input_row;        // (T) flat order, a token's input; NULL = its own; as `id`
    const int32_t *id;           // (inputs), where operations read them
    const int *position;         // (inputs), the same
    int inputs, wide;            // wide: numbers of an input, E unless more was appended to it
    bool has_positions;          // positions were added
    vd_recurrent_pass recurrent; // y: word states (T, 2H)
    vd_real *sentence;           // (S, 2H) [forward state at the last word ; backward at the first]
    vd_real *dsentence;
} vd_text_pass;

typedef struct vd_pass {
    // Settings, filled by the caller.
    const vd_backend *be;
    const vd_config *config;
    const vd_weights *w;
    const vd_weights *dw;    // gradients, added to; NULL = no gradient wanted
    const vd_real *sinusoid; // (VD_MAX_HISTORY, E) table, when positions are sinusoidal
    vd_real dropout, lstm_dropout, position_dropout, text_dropout; // rates; all 0 when answering
    vd_real random_time; // of memn2n's ages (networks/memn2n.c), 0 when answering
    bool linear;         // memn2n's hops are without softmax
    // Whether every candidate of every question that the discriminative decoder reads has its own
    // dropout masks; else equal candidates, and equal prefixes, share masks.
    bool own_masks;
    vd_real coverage;           // weight of the coverage loss (decoders/copying.c)
    double next_word;           // what each next word counts in the loss (dialog_transformer.c)
    double next_word_loss;      // their sum, which the network sets
    uint64_t key;               // of this step's dropout masks
    const char *const *uniform; // attentions made uniform, as in vd_intervention, when answering
    struct vd_memo *memo;       // of networks on the tape (networks/encoder.h), when answering
    vd_arena *arena;

    // Geometry.
    vd_packed question_words, history_words;
    vd_geometry span;
    int image_rows; // B P
    int regions;    // P
    int rows;       // K
    struct {
        const int *row, *start; // (B P), (B + 1) host: image rows of each picture's real regions
    } real;
    int *row_image; // (K) image row of a (question, region) row
    struct {
        const int *image, *question; // (K) the same and the question, where operations read them
    } rows_at;

    // Image and text.
    vd_real *image; // (B P, D) normalised, by other networks than MVAN by themselves
    vd_text_pass question, history;

    // Context matching.
    vd_gated_pass context_question, context_history; // (N, H), (entries, H)
    vd_real *context;                                // (N, most) attention 1
    vd_real *dcontext;
    vd_real *matched;          // (N, 2H) c
    vd_pair_pass context_pair; // (N, 4H) [q ; c], e_ctx

    // Topic aggregation.
    vd_gated_pass topic_question, topic_history; // (TQ, H), (TH, H)
    size_t *topic_start;                         // (B + 1) where a dialog's score matrix begins
    const size_t *topic_start_at;                // the same, where operations read it
    vd_real *topic;    // attention 2, a matrix per dialog: (its question words, its entry words)
    vd_real *weighted; // a_r S
    vd_real *gathered; // (TQ, E) u
    vd_pair_pass topic_pair; // (TQ, 2E) [word ; u], e_top

    // Topic view.
    vd_gated_pass view_image, view_topic; // (B P, H), (TQ, H)
    vd_real *word;                        // attention 3, a matrix per dialog: (P, question words)
    vd_real *region_topic;                // (K, 2E) t
    vd_real *view_half;                   // (B P, D+2E) W1 img + b1 (without gradients)
    vd_real *view_input;                  // (K, D+2E) [img ; t] after dropout (with gradients)
    vd_real *view_hidden;                 // (K, D+2E)
    vd_real *view;                        // (K, D) m
    vd_real *dview;

    // Context view.
    vd_gated_pass region_fused, region_context; // (K, H), (N, H)
    vd_real *fused;                             // (K, H) z
    vd_real *fused_norm;                        // (K)
    vd_real *region;                            // (K) attention 4
    vd_real *pooled;                            // (N, D+4H) y
    vd_real *dpooled;

    // Of networks other than MVAN: everything between the words and e.
    vd_tape *tape;

    // Fusion.
    const vd_real *fusion_input; // (N, D+4H) after dropout
    vd_real *encoded;            // (N, H) e
    vd_real *dencoded;

    vd_source source; // what a generative decoder attends to
} vd_pass;

// ---- parts the stages share ---------------------------------------------------------------------

// Memory for n numbers that a stage computes and, with gradients, for these, which start as zero.
// NULL, and pass->arena->failed, when memory is out.
void vd_pass_take(vd_pass *pass, size_t n, vd_real **y, vd_real **dy);
// x itself when rate is 0, else a dropped copy; NULL when memory is out.
const vd_real *vd_pass_drop(vd_pass *pass, const vd_real *x, size_t n, vd_real rate, vd_site site);
// The same mask on a gradient, in place.
void vd_pass_drop_backward(vd_pass *pass, vd_real *dx, size_t n, vd_real rate, vd_site site);
uint64_t vd_pass_key(const vd_pass *pass, vd_site site);
// A tape of the pass, in its arena; NULL when memory is out. key: of its dropout masks.
vd_tape *vd_pass_tape(const vd_pass *pass, uint64_t key);

// An attention is flattened by taking all its scores as zero.
// Its score layer (H -> 1), or one of zeros in *flat; its .w is NULL when memory is out.
const vd_score_weights *vd_pass_score(vd_pass *pass, const char *attention,
                                      const vd_score_weights *score, vd_score_weights *flat);
// Its n scores as products a b^T, or zeros.
void vd_pass_scores(const vd_pass *pass, const char *attention, const vd_product *list, int count,
                    vd_real *scores, size_t n);

// GatedTrans: f(x) = tanh(Wy x + by) * g(Wg x + bg). dx (may be NULL) is added to.
vd_status vd_gated_forward(vd_pass *pass, vd_gated_pass *gated, const vd_gated_weights *w,
                           const vd_real *x, int rows, int in, vd_site site, vd_error *err);
vd_status vd_gated_backward(vd_pass *pass, vd_gated_pass *gated, const vd_gated_weights *w,
                            const vd_gated_weights *dw, vd_real *dx, vd_error *err);

// left, right: (rows, half). dleft is added to; *dright: memory of the pass with the other
// gradient.
vd_status vd_pair_forward(vd_pass *pass, vd_pair_pass *pair, const vd_linear_weights *w,
                          const vd_real *left, const vd_real *right, int rows, int half,
                          vd_error *err);
vd_status vd_pair_backward(vd_pass *pass, vd_pair_pass *pair, const vd_linear_weights *w,
                           const vd_linear_weights *dw, vd_real *dleft, vd_real **dright,
                           vd_error *err);

// Two LSTM layers over a text's inputs: text->recurrent; weights[layer][direction] at weights +
// layer * directions + direction.
vd_status vd_recurrent_forward(vd_pass *pass, vd_text_pass *text, const vd_lstm_weights *weights,
                               int directions, const vd_real *initial, vd_site site, vd_error *err);
// dx (inputs, wide) is added to; dinitial (S, H), when not NULL, gets the sum over layers.
vd_status vd_recurrent_backward(vd_pass *pass, vd_recurrent_pass *r,
                                const vd_lstm_weights *gradients, vd_real *dx, vd_real *dinitial,
                                vd_error *err);

// text->embedding, before the LSTM's inputs.
vd_status vd_words_embed(vd_pass *pass, vd_text_pass *text, const vd_packed *packed, vd_error *err);
// The LSTM's inputs.
vd_status vd_words_forward(vd_pass *pass, vd_text_pass *text, const vd_packed *packed, vd_site site,
                           vd_error *err);
// dinput: (inputs, E), overwritten.
void vd_words_backward(vd_pass *pass, vd_text_pass *text, vd_real *dinput, vd_site site);

// pass->span: `rounds` questions a dialog over its `entries` history entries; the last question
// sees them all, each one before it an entry less. Their words are pass->question_words,
// history_words.
vd_status vd_pass_geometry(vd_pass *pass, int dialogs, int rounds, int entries, vd_error *err);
// Texts as numbers: ids (count, width).
typedef struct vd_texts {
    const int32_t *ids, *lengths;
    int count, width;
} vd_texts;

// pass->question_words, history_words.
vd_status vd_pass_texts(vd_pass *pass, const vd_texts *questions, const vd_texts *entries,
                        vd_error *err);
// Lists the rows of real regions of image (B, P, D); span must be set.
vd_status vd_pass_regions(vd_pass *pass, const float *image, int regions, vd_error *err);
// The same, and normalises the pictures into pass->image.
vd_status vd_pass_image(vd_pass *pass, const float *image, int regions, vd_error *err);
// Where question n's block (P, Tq) of attention 3 begins in pass->word, and its row stride.
size_t vd_pass_word_start(const vd_pass *pass, int n, int *stride);
// The stages from context matching to fusion, after the texts and the image are set.
vd_status vd_pass_answer(vd_pass *pass, vd_error *err);
// A network other than MVAN (engine/networks/encoder.h), after the words are packed and pass->image
// holds the extractor's features. Backward: vd_tape_backward(pass->tape), from pass->dencoded to
// the weights.
vd_status vd_encoder_run(vd_pass *pass, vd_error *err);

// Of a pass of one question: the attentions that it shows, in the pass's arena; NULL when memory is
// out.
const vd_attention_at *vd_pass_shown(const vd_pass *pass, int *count);
// Those that a tape shows, of its last query, in its arena; NULL when memory is out. part: what the
// index counts where there are several of a name, "step" or "layer".
const vd_attention_at *vd_tape_shown(const vd_tape *tape, const char *part, int *count);
vd_status vd_encoder_trace(const vd_pass *pass, const vd_axis_subsets *subsets,
                           const vd_outcome *outcome, vd_trace *out, vd_error *err);
// MVAN on the tape shows a stage with the texts of the fused one, and values of its own.
typedef enum vd_mvan_stage {
    VD_MVAN_CONTEXT_MATCHING = 1, // behind the word states
    VD_MVAN_TOPIC_AGGREGATION,
    VD_MVAN_TOPIC_VIEW,
    VD_MVAN_CONTEXT_VIEW,
    VD_MVAN_FUSION
} vd_mvan_stage;
void vd_mvan_explain(vd_tape *tape, vd_mvan_stage which, vd_gate gate, vd_explained values);
// Copies what the stages computed, with the outcome.
vd_status vd_trace_take(const vd_pass *pass, const vd_axis_subsets *subsets,
                        const vd_outcome *outcome, vd_trace *out, vd_error *err);

// ---- stages, in data order ----------------------------------------------------------------------

vd_status vd_sentences_forward(vd_pass *pass, vd_text_pass *text, const vd_packed *packed,
                               const vd_lstm_weights weights[VD_LAYERS][2], vd_site words,
                               vd_site layer, vd_error *err);
vd_status vd_sentences_backward(vd_pass *pass, vd_text_pass *text,
                                const vd_lstm_weights gradients[VD_LAYERS][2], vd_site words,
                                vd_error *err);
vd_status vd_topic_view_half(vd_pass *pass, vd_error *err); // view_half

typedef vd_status vd_stage(vd_pass *pass, vd_error *err);
vd_stage vd_context_matching_forward, vd_context_matching_backward;
vd_stage vd_topic_aggregation_forward, vd_topic_aggregation_backward;
vd_stage vd_topic_view_forward, vd_topic_view_backward;
vd_stage vd_context_view_forward, vd_context_view_backward;
vd_stage vd_fusion_forward, vd_fusion_backward;

#endif
