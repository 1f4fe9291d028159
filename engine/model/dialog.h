// A dialog: one picture, one conversation with one model, and everything that can be cached for it.
// Candidate vectors are encoded once per pool, history entries once when they are made, the image
// halves of f_v and of the topic view's first layer once per picture; a question then costs one
// question LSTM and the attention stages. Cached answers equal uncached ones to 1e-5.
// With a model that copies words, the caller gives out-of-vocabulary words in questions and entries
// ids from the vocabulary's size on, the same id for a word in the whole dialog; generated answers
// use these ids. (A pool's answers have <UNK> there.)
//
// Lifetimes: model > pool > dialog. One thread at a time per dialog; dialogs of one model and pool
// may run on different threads.
#ifndef VD_DIALOG_H
#define VD_DIALOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "engine/networks/batch.h"
#include "engine/networks/intervention.h"
#include "engine/model/pool.h"
#include "engine/networks/trace.h"

typedef struct vd_dialog vd_dialog;

// image: (regions, D) features as the extractor gave them, copied; 1 <= regions <= 1000.
// caption: history entry 0, tokens cut to 39, length >= 1. VD_USAGE: another number of regions, or
// a pool of another model.
vd_status vd_dialog_new(const vd_model *model, const vd_pool *pool, const float *image, int regions,
                        const int32_t *caption, int caption_length, vd_dialog **out, vd_error *err);
void vd_dialog_free(vd_dialog *dialog);

// Appends a history entry: question ++ <S> answer </S> ++ </S> (vd_history_entry makes it), of 1 to
// VD_MAX_HISTORY tokens. VD_USAGE: another length, or a token that is none.
vd_status vd_dialog_append(vd_dialog *dialog, const int32_t *entry, int length, vd_error *err);
// Forgets entries from index `entries` (1 or more) on; entry 0, the caption, always stays.
void vd_dialog_truncate(vd_dialog *dialog, int entries);

enum {
    VD_MOST_WORDS = VD_MAX_CANDIDATE - 2, // words without <S> and </S>
    VD_BEAMS = 5
};

typedef struct vd_generated_answer {
    int length;
    int32_t word[VD_MOST_WORDS];
    float score; // mean log-probability of its words and </S>, as answers are ranked by
} vd_generated_answer;

// The generated answers to one question.
typedef struct vd_generated_answers {
    int count; // 0: the model has no generative decoder
    // The results of a beam search with VD_BEAMS hypotheses, by decreasing score, all different;
    // the greedy answer is one of them.
    vd_generated_answer beam[VD_BEAMS];
    vd_generated_answer greedy; // greedy search: always the most probable next word
} vd_generated_answers;

// Everything the network computed for one question. Arrays belong to the answer
// (vd_answer_clear frees them).
typedef struct vd_answer {
    int candidates;         // O = pool count
    float *score;           // (O) of the decoders that the pool scores by
    float *probability;     // (O) softmax of the scores within the pool
    int32_t *order;         // (O) candidates by decreasing score; ties in pool order
    int rounds;             // entries seen: the caption and the rounds
    int question_length;    // Tq used
    int regions;            // P
    int32_t *history_start; // (rounds + 1) index of an entry's first word among the history's
    // The attentions that the network shows, in its order.
    vd_attention *attention; // (attentions)
    int attentions;
    // The answer whose words' attention over the dialog is shown, if a decoder has one
    // ("answer-words" in the list): the pool's best if that decoder ranks the pool, else the most
    // probable generated one.
    vd_generated_answer given;
    vd_generated_answers generated; // answers that a generative decoder generated
    double milliseconds;            // wall time of the call
} vd_answer;

// Answers question (1 <= length <= 19 ids, no start or end token). The dialog is unchanged.
// VD_USAGE for another length or a token that is none, VD_FORMAT when a score or an attention is
// not finite. stop may be NULL; when it becomes non-zero the call ends early with VD_INTERRUPTED.
vd_status vd_dialog_ask(vd_dialog *dialog, const int32_t *question, int length,
                        const atomic_int *stop, vd_answer *out, vd_error *err);
// The same with an intervention (NULL: none), and with the values of the stages (NULL: not needed;
// vd_trace_clear frees them). Indices of entries and regions stay those of the dialog; what was
// left out has attention zero. Only what the intervention changes is recomputed.
vd_status vd_dialog_ask_if(vd_dialog *dialog, const int32_t *question, int length,
                           const vd_intervention *what_if, const atomic_int *stop, vd_answer *out,
                           vd_trace *trace, vd_error *err);
void vd_answer_clear(vd_answer *answer);
// *to becomes a copy with arrays of its own (vd_answer_clear).
vd_status vd_answer_copy(const vd_answer *from, vd_answer *to, vd_error *err);

// Whether the shares of all its attentions are kept.
bool vd_answer_whole(const vd_answer *answer);
// The last of its attentions with these axes; NULL: there is none, or it was not kept.
const vd_attention *vd_answer_attention(const vd_answer *answer, vd_axis query, vd_axis key);
// The shares of the question's attention over this axis; NULL: none.
const float *vd_answer_shares(const vd_answer *answer, vd_axis key);

// question ++ <S> answer </S> ++ </S>, question and wrapped answer each cut to 19 first.
// answer: the wrapped `<S> answer </S>` tokens. Returns the length written to
// entry[VD_MAX_HISTORY].
int vd_history_entry(const int32_t *question, int question_length, const int32_t *answer,
                     int answer_length, int32_t entry[VD_MAX_HISTORY]);

#endif
