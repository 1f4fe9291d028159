// Metrics of captions over a data set: BLEU, ROUGE-L, CIDEr-D and METEOR-es against human captions;
// with the scenes of Blocks pictures also what each caption claims and whether it is true.
#ifndef VD_MEASURE_CAPTIONS_H
#define VD_MEASURE_CAPTIONS_H

#include <yajl/yajl_gen.h>

#include "assets/blocks/claim.h"
#include "engine/measure/cider.h"
#include "engine/measure/meteor.h"
#include "engine/measure/statistics.h"
#include "features/captions/captions.h"
#include "features/captions/results.h"

// name (JSON), label and scale (tables), digits behind the point
#define VD_CAPTION_METRIC_LIST(X)                                                                  \
    X(VD_CAPTION_BLEU_1, "bleu_1", "BLEU-1", 100, 2)                                               \
    X(VD_CAPTION_BLEU_2, "bleu_2", "BLEU-2", 100, 2)                                               \
    X(VD_CAPTION_BLEU_3, "bleu_3", "BLEU-3", 100, 2)                                               \
    X(VD_CAPTION_BLEU_4, "bleu_4", "BLEU-4", 100, 2)                                               \
    X(VD_CAPTION_ROUGE_L, "rouge_l", "ROUGE-L", 100, 2)                                            \
    X(VD_CAPTION_CIDER_D, "cider_d", "CIDEr-D", 100, 2)                                            \
    X(VD_CAPTION_METEOR, "meteor", "METEOR", 100, 2)                                               \
    X(VD_CAPTION_METEOR_ES, "meteor_es", "METEOR-es", 100, 2)                                      \
    X(VD_CAPTION_LENGTH, "length", "words", 1, 2)                                                  \
    X(VD_CAPTION_NOVEL, "novel", "novel", 1, 4)                                                    \
    X(VD_CAPTION_READ, "read", "read", 1, 4)                                                       \
    X(VD_CAPTION_FAITHFUL, "faithful", "faithful", 1, 4)                                           \
    X(VD_CAPTION_DOUBTFUL, "doubtful", "doubtful", 1, 4)                                           \
    X(VD_CAPTION_BITS, "true_bits", "true bits", 1, 3)                                             \
    X(VD_CAPTION_CHAIR_I, "chair_i", "CHAIR_i", 1, 4)                                              \
    X(VD_CAPTION_CHAIR_S, "chair_s", "CHAIR_s", 1, 4)                                              \
    X(VD_CAPTION_ATTRIBUTES, "attribute_hallucination", "attribute hallucination", 1, 4)

typedef enum vd_caption_metric {
#define X(id, name, label, scale, digits) id,
    VD_CAPTION_METRIC_LIST(X)
#undef X
        VD_CAPTION_METRICS
} vd_caption_metric;

typedef struct vd_caption_metric_name {
    const char *name, *label;
    double scale;
    int digits;
} vd_caption_metric_name;
extern const vd_caption_metric_name vd_caption_metric_names[VD_CAPTION_METRICS];

// Of one picture's caption, and summed over pictures: what the metrics are made of. Only doubles.
typedef struct vd_caption_sums {
    vd_bleu bleu;
    vd_meteor meteor;
    double rouge, cider;
    double pictures, words;
    double compared, novel;                        // with training captions; unlike all of them
    double judged, read, faithful, doubtful, bits; // with a scene
    double mentions, absent, hallucinating;        // CHAIR_i = absent / mentions; CHAIR_s
    double attributes, wrong;
} vd_caption_sums;
void vd_caption_sums_add(vd_caption_sums *into, const vd_caption_sums *from);
// metric: (VD_CAPTION_METRICS), NaN for those that are not known, such as METEOR, which is no
// function of them.
void vd_caption_sums_metrics(const vd_caption_sums *sums, double *metric);

typedef struct vd_caption_paths {
    const char *references; // any file of features/captions/captions.h
    const char *split;      // of it; NULL: all pictures
    const char *scenes;     // of Blocks (assets/blocks/world.h); NULL: no verdicts
    const char *training;   // captions a captioner was trained on; NULL: novelty is not known
    bool tokens_given; // both sides are cut at blanks, not tokenised; a Karpathy split's references
                       // are its tokens
    const char *meteor_jar; // meteor-1.5.jar (meteor_jar.h); NULL: METEOR is not known
    // Pictures without features here are an error or left out, with a message on standard error;
    // NULL: features are not needed.
    const vd_regions *regions;
    vd_missing missing;
    bool told;    // the message has been printed
    size_t limit; // only so many of the first pictures; 0: all
} vd_caption_paths;

// References and scenes, loaded once for any number of captioners and epochs.
typedef struct vd_caption_judge vd_caption_judge;
// VD_MISMATCH when a picture has no scene.
vd_status vd_caption_judge_open(const vd_caption_paths *paths, vd_caption_judge **out,
                                vd_error *err);
void vd_caption_judge_close(vd_caption_judge *judge); // NULL is fine
const vd_captions *vd_caption_judge_references(const vd_caption_judge *judge);

typedef struct vd_caption_measure {
    size_t pictures, distinct;     // distinct: different captions
    vd_caption_sums all, *picture; // (pictures) in the order of the references
    double metric[VD_CAPTION_METRICS];
    // With scenes, by what is claimed: captions, and how many of them are false.
    size_t claimed[BLOCKS_CLAIM_SORTS], false_claims[BLOCKS_CLAIM_SORTS];
} vd_caption_measure;

// results: a caption of every picture of the references and of no other; VD_MISMATCH with the
// number of pictures without and the first, or the first that is too much.
vd_status vd_caption_measure_run(vd_caption_judge *judge, const vd_results *results,
                                 vd_caption_measure *out, vd_error *err);
void vd_caption_measure_clear(vd_caption_measure *measure);

// out: (VD_CAPTION_METRICS) by a bootstrap over pictures; with `other`, of other - measure,
// measured on the same pictures. Document frequencies stay as they are.
vd_status vd_caption_intervals(const vd_caption_measure *measure, const vd_caption_measure *other,
                               const vd_bootstrap_options *options, vd_interval *out,
                               vd_error *err);

// Two captioners side by side, or one (other and difference NULL); intervals NULL: none.
typedef struct vd_caption_report {
    const vd_caption_measure *measure, *other;
    const vd_captions *references;
    const vd_results *generated[2]; // the captions of both
    // How many of the pictures are shown on which they differ most: in the true bits of their
    // captions where there are scenes, else in CIDEr-D.
    size_t cases;
    const vd_interval *interval, *difference;
    double level;
} vd_caption_report;
// To standard output.
void vd_caption_print(const vd_caption_report *report);
// Keys and values into the object that is open.
void vd_caption_json(yajl_gen json, const vd_caption_report *report);

#endif
