// Small files of captions, whole, and readers that ask for all that is in one.
#ifndef VD_TEST_CAPTION_FILES_H
#define VD_TEST_CAPTION_FILES_H

#include "engine/base/error.h"

// Their texts, for tests that change something in them. Images 7 (train), 9 (restval), 4 (val);
// in COCO's file the annotations come before the images.
extern const char caption_karpathy[], caption_coco[], caption_results[];
extern const char caption_scenes[]; // of Blocks: images 7 and 4

void caption_files_karpathy(const char *path);
void caption_files_coco(const char *path);
void caption_files_results(const char *path);
void caption_files_scenes(const char *path);

vd_status caption_files_read(const char *path, vd_error *err);
vd_status caption_files_read_results(const char *path, vd_error *err);
vd_status caption_files_read_scenes(const char *path, vd_error *err);

#endif
