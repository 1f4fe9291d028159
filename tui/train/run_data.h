// Training or validation data in memory: dialogs, or captions of pictures.
#ifndef VD_RUN_DATA_H
#define VD_RUN_DATA_H

#include "engine/networks/config.h"
#include "features/captions/set.h"
#include "features/dialogs/dataset.h"

typedef struct vd_run_files {
    const char *data, *features;
    const char *dense; // relevance of the candidates; NULL: none
    // Captions: only the pictures of this split; NULL: of `usual` if the file has several splits,
    // else all.
    const char *split, *usual;
    vd_missing missing;
    bool say; // print to standard error how many pictures are left out
} vd_run_files;

typedef struct vd_run_data {
    const char *path;      // borrowed
    vd_visdial *dialogs;   // NULL: captions
    vd_captions *captions; // NULL: dialogs
    const char *split;     // whose captions; NULL: all
    vd_regions *regions;
    vd_dataset *dataset; // of the dialogs, set by vd_run_data_number
    vd_caption_set *set; // of the captions, likewise
} vd_run_data;

// VD_FORMAT if the dialogs have no human answer. To be cleared also after a failure.
vd_status vd_run_data_open(const vd_run_files *files, vd_task task, vd_run_data *out,
                           vd_error *err);
// Replaces words by their ids in a vocabulary; data and regions are kept.
vd_status vd_run_data_number(vd_run_data *data, const vd_vocab *vocab, vd_error *err);
void vd_run_data_clear(vd_run_data *data);

size_t vd_run_data_items(const vd_run_data *data); // dialogs or pictures
// Identifies the data: "dialogs=8 hash=...", "captions=40 hash=...".
void vd_run_data_describe(const vd_run_data *data, char *out, size_t size);
// Identifies the region features, by all image ids and by the numbers of a few pictures.
vd_status vd_run_data_features(const vd_run_data *data, char *out, size_t size, vd_error *err);
// For display: "train.json (1.0 train)", "dataset_coco.json (Karpathy split train)".
void vd_run_data_source(const vd_run_data *data, char *out, size_t size);

#endif
