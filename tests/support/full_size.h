// The network at its public size (V 11,322, E 300, H 512, D 2048, P 36) with random weights,
// dialogs for it, and a directory of pictures' features that the program can be pointed at.
//
// Candidate answers are random but made like VisDial's. Per dialog, mean over 97 dialogs of v1.0
// val and of what is made here: 1,000 candidates, 704 / 703 of them distinct, with 5,132 / 5,133
// words, 3,386 / 3,384 distinct beginnings and 772 / 741 distinct words.
#ifndef VD_TEST_FULL_SIZE_H
#define VD_TEST_FULL_SIZE_H

#include "engine/networks/batch.h"
#include "engine/train/trainer.h"

enum {
    FULL_VOCAB = 11322,
    FULL_EMBED = 300,
    FULL_HIDDEN = 512,
    FULL_REGION = 2048,
    FULL_REGIONS = 36,
    FULL_DIALOGS = 4,
    FULL_MOST_DIALOGS = 8, // the picture of the last one has only 30 regions
    FULL_ROUNDS = 10,
    FULL_CANDIDATES = 100
};

// Word `id` of the random vocabulary is "w<id>".
vd_status full_size_vocab(vd_vocab **out, vd_error *err);
vd_config full_size_config(void);

// The first so many of FULL_MOST_DIALOGS dialogs; the same every time.
vd_batch full_size_batch(int dialogs);
// Them as tensors, every candidate of every round written out.
vd_status full_size_write_batch(const char *path, int dialogs, vd_error *err);

// `count` answers of a pool: tokens (count, VD_MAX_CANDIDATE) and lengths, vd_free.
// repeat: only so many different ones.
vd_status full_size_pool(int count, int repeat, int32_t **tokens, int32_t **lengths, vd_error *err);

// Writes directory/world/: dialogs.json, features.safetensors and pool.txt with `pool` answers, for
// `visdial ask --assets`.
vd_status full_size_world(const char *directory, int pool, vd_error *err);

// Writes that, model.safetensors (float32), half.safetensors (the same in 16 bits) and at last
// batch.safetensors (FULL_DIALOGS of them as tensors).
vd_status full_size_write(const char *directory, int pool, vd_error *err);

#endif
