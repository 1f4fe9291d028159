// VisDial dialogs (JSON, v1.0 and v0.9) and dense annotations, streamed, any key order.
//
// {"version": "1.0", "split": "val2018",
//  "data": {"questions": [str], "answers": [str],
//           "dialogs": [{"image_id", "caption", "dialog": [{"question": i, "answer": i,
//                        "answer_options": [100 i], "gt_index": 0..99}, ...]}]}}
// Test splits hold 1 to 10 rounds and the last has neither answer nor gt_index.
// Every index is checked against its table; errors name file, image and round.
#ifndef VD_VISDIAL_H
#define VD_VISDIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef struct vd_visdial_round {
    int32_t question; // index into questions
    int32_t answer;   // index into answers, -1 unknown (test)
    int32_t truth;    // index into options, -1 unknown
    int32_t option_count;
    const int32_t *options; // (option_count) indices into answers; NULL when none
    const float *relevance; // (option_count), NULL when not annotated
    // Blocks only: what kind of question ("count", ...) and how many rounds back its reference
    // lies (0 = none, distance otherwise); NULL and -1 when the file does not say.
    const char *family;
    int32_t coreference;
} vd_visdial_round;

typedef struct vd_visdial_dialog {
    int64_t image_id;
    const char *caption;
    int32_t round_count;
    vd_visdial_round *rounds;
} vd_visdial_dialog;

typedef struct vd_visdial {
    char *path;
    const char *version, *split;
    size_t question_count, answer_count, dialog_count;
    const char **questions, **answers;
    vd_visdial_dialog *dialogs;
} vd_visdial;

// Whether the file is one of vd_visdial_pack, by how it begins.
vd_status vd_visdial_is_packed(const char *path, bool *packed, vd_error *err);
// path: JSON, or what vd_visdial_pack made of it. All of it is read and checked.
vd_status vd_visdial_read(const char *path, vd_visdial **out, vd_error *err);
// The same, but a packed file is mapped and its candidates are not looked at: `options` must not be
// used before vd_visdial_check_options (vd_loader_batch calls it) has accepted the dialog.
vd_status vd_visdial_open(const char *path, vd_visdial **out, vd_error *err);
vd_status vd_visdial_check_options(const vd_visdial *data, size_t dialog, vd_error *err);
// Adds relevance from [{"image_id", "round_id": 1.., "gt_relevance" or "relevance": [..]}].
vd_status vd_visdial_read_dense(vd_visdial *data, const char *path, vd_error *err);
void vd_visdial_free(vd_visdial *data);
// NULL when there is no such image.
const vd_visdial_dialog *vd_visdial_find(const vd_visdial *data, int64_t image_id);

#endif
