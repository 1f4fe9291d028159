// Region features of any format (features/regions/regions.h) as one safetensors file, made picture
// by picture. The work goes on where it was: OUT.part holds the data, OUT.part.state says of which
// source and how far it is on the disk, every few seconds. What a picture has fewer of than P
// regions is a hole in the file, where the file system has holes.
#ifndef VD_IMPORT_H
#define VD_IMPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "features/regions/regions.h"

typedef struct vd_import {
    const vd_regions *from;
    const char *source; // for people, into the metadata
    const char *out;    // path
    bool full;          // F32 instead of F16
    // Numbers of a region that are kept, from 0, rising; NULL: all.
    const int *column;
    int columns;
    const atomic_int *stop; // not 0: stop after this picture (VD_INTERRUPTED); may be NULL
    // May be NULL; called after every picture.
    void (*progress)(void *context, size_t done);
    void *context;
} vd_import;

// "0-15,100,270-271" as a list of columns of D numbers, rising, to be freed with vd_free.
vd_status vd_import_columns(const char *text, int size, int **column, int *columns, vd_error *err);

// How many pictures are done already, 0 when nothing of this source is there.
vd_status vd_import_resumed(const vd_import *import, size_t *done, vd_error *err);
// A number that half precision cannot hold is VD_FORMAT with its image, region and place.
vd_status vd_import_run(const vd_import *import, vd_error *err);

#endif
