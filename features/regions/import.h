// Region features of any format (features/regions/regions.h) as one safetensors file, made picture
// by picture. A stopped import can be continued: OUT.part holds the data, OUT.part.state the source
// and the progress, written every few seconds. Missing regions of pictures with fewer than P are
// holes in the file, if the file system supports them.
#ifndef VD_IMPORT_H
#define VD_IMPORT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "features/regions/regions.h"

typedef struct vd_import {
    const vd_regions *from;
    const char *source; // for the metadata
    const char *out;    // path
    bool full;          // F32 instead of F16
    // Feature columns to keep, from 0, increasing; NULL: all.
    const int *column;
    int columns;
    const atomic_int *stop; // not 0: stop after this picture (VD_INTERRUPTED); may be NULL
    // May be NULL; called after every picture.
    void (*progress)(void *context, size_t done);
    void *context;
} vd_import;

// "0-15,100,270-271" as a list of columns of D numbers, increasing, freed with vd_free.
vd_status vd_import_columns(const char *text, int size, int **column, int *columns, vd_error *err);

// How many pictures are done already; 0: no import of this source was started.
vd_status vd_import_resumed(const vd_import *import, size_t *done, vd_error *err);
// A number that half precision cannot hold is VD_FORMAT with its image, region and place.
vd_status vd_import_run(const vd_import *import, vd_error *err);

#endif
