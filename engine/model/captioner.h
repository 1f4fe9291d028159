// A captioner: a model that describes pictures (networks/captions/), which generates captions word
// by word. One thread at a time per captioner.
#ifndef VD_CAPTIONER_H
#define VD_CAPTIONER_H

#include "engine/backend/arena.h"
#include "engine/model/model.h"
#include "engine/networks/batch.h"
#include "engine/networks/captions/config.h"

typedef struct vd_captioner {
    vd_model *model; // to be used: for vd_model_use, which moves it, and for its configuration
    // For engine/model/ only, zero at first.
    vd_arena arena;
    vd_hard hard;
    uint64_t seed; // of its draws
} vd_captioner;

// VD_MISMATCH: the file is of another task; else as vd_model_load.
vd_status vd_captioner_load(const char *path, vd_captioner **out, vd_error *err);
// With its model. One more of a model, for another thread, is a struct with the same model; of it
// the arena is to be freed.
void vd_captioner_free(vd_captioner *captioner); // NULL is fine

// Sets how hard attention selects its region (at first VD_HARD_LARGEST). seed: for
// VD_HARD_DRAW. VD_USAGE: no hard attention, and how is neither VD_HARD_OWN nor
// VD_HARD_LARGEST.
vd_status vd_captioner_look(vd_captioner *captioner, vd_hard how, uint64_t seed, vd_error *err);

// What if: captions are generated, or read, with something changed. All zero: nothing is.
typedef struct vd_caption_what_if {
    // (regions) left out, as if the detector had not found them: the numbers are those of a picture
    // without them, to the bit. One must stay. NULL: none.
    const bool *mask_region;
    // The first `places` words of a caption, whatever the other settings allow; VD_PAD: any word.
    // The caption does not end before them, unless the last one is VD_END. Ignored by
    // vd_captioner_trace.
    int32_t forced[VD_MAX_CAPTION];
    int places;
    // The weight w of the history is 0 in every head: the second attention covers only the regions.
    // With shared weights cat then equals the Transformer with the same weights. VD_USAGE: no
    // history, or a second attention that covers nothing else.
    bool no_history;
} vd_caption_what_if;

enum { VD_MOST_BEAMS = 32 };

// How a caption is generated: never empty, and without <PAD>, <S> and <UNK>.
typedef struct vd_generation {
    int beam;    // 1 to VD_MOST_BEAMS hypotheses; 1: greedy
    int longest; // words, 1 to VD_MAX_CAPTION
    // Instead of a search each word is drawn from p^(1 / temperature), by random numbers of the
    // seed; 0: not drawn.
    double temperature;
    uint64_t seed;
    // drawn: with a temperature, `beam` independent samples, in the order of sampling. anything:
    // every word of the vocabulary and the empty caption may be generated, so that samples follow
    // the network's own distribution.
    bool drawn, anything;
    // Last order: log-probability / length^length_power, length with </S>.
    double length_power;
    // Off unless asked for: no word twice running, no three words in a row twice, no end on "a",
    // "the", "of" and their like.
    bool no_repeat, no_trigram, no_dangling;
    bool merge_repeats;                // of the result, runs of a word become one (M2's evaluation)
    const vd_caption_what_if *what_if; // NULL: nothing is changed
} vd_generation;

// Greedy with all else off.
vd_generation vd_generation_greedy(void);
// "beam=5 longest=20 length-power=0 no-repeat", "temperature=1 seed=3 longest=20": what a result
// should name.
void vd_generation_text(const vd_generation *how, char *out, size_t size);

typedef struct vd_generated_caption {
    int length;
    int32_t word[VD_MAX_CAPTION];
    bool ended;             // with </S>; else it was cut
    double log_probability; // the network's, of all words and </S>
} vd_generated_caption;

// Describes a picture of (regions, D) features; rows of zeros are no regions. out: (beam), the best
// first; *count: how many. Beam search is by sums of log-probabilities; a finished hypothesis keeps
// its place. It ends when all are finished, at the longest caption, or, with length_power 0, when
// no open sum exceeds that of the best finished one and only that is wanted (most 1). Ties: the
// earlier hypothesis, the lower id. most: 1 to beam captions are wanted. A captioner that draws
// where it looks has no beam: VD_USAGE.
vd_status vd_captioner_generate(vd_captioner *captioner, const float *image, int regions,
                                const vd_generation *how, vd_generated_caption *out, int most,
                                int *count, vd_error *err);

enum { VD_RUNNERS_UP = 5 };

// One word of a caption, or </S>.
typedef struct vd_generated_word {
    int32_t id;
    double probability, entropy; // entropy of all words there could be, in nats
    struct {
        int32_t id;
        double probability;
    } likely[VD_RUNNERS_UP]; // the likeliest words, the first of them first
    int likelies;
    double gate; // of sat: how much of what is found is let in, 0..1; of others -1
    int chosen;  // hard attention: the region that was looked at; -1: all were, weighed
} vd_generated_word;

// What the network looked at, word by word: T words, </S> included, N layers, h heads, P regions.
// Memory belongs to it (vd_caption_trace_clear).
typedef struct vd_caption_trace {
    int words, layers, heads, regions;
    vd_generated_word word[VD_MAX_CAPTION + 1];
    double log_probability;
    // Shares of the last look of a layer: of regions, and (NULL: there is no history) of the
    // history's entries, from that of the first word to its own; both together are 1.
    float *region;  // (T, N, h, P)
    float *history; // (T, N, h, T)
} vd_caption_trace;

// Of words that were generated, or any others: with their log-probability. ended: whether </S>
// follows. what_if: NULL, or what is changed; its forced words are ignored.
vd_status vd_captioner_trace(vd_captioner *captioner, const float *image, int regions,
                             const int32_t *word, int length, bool ended,
                             const vd_caption_what_if *what_if, vd_caption_trace *out,
                             vd_error *err);
void vd_caption_trace_clear(vd_caption_trace *trace);
// The attention of a word: of a layer (-1: the top one) and a head of it (-1: the mean over them),
// to regions (P) and history (T), zeros where there is none; NULL: not wanted.
void vd_caption_trace_look(const vd_caption_trace *trace, int word, int layer, int head,
                           float *regions, float *history);

#endif
