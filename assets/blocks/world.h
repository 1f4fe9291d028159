// A split of the Blocks world as files in the public formats (VisDial v1.0 JSON, dense annotations,
// PNG), plus what the world knows beyond them (scenes; family and coreference of every round).
//
// dialogs: {"version": "1.0", "split": "train", "data": {"questions", "answers", "dialogs":
//   [{"image_id", "caption", "dialog": [{"question", "answer", "answer_options", "gt_index",
//     "family": "count", "coreference": rounds back, 0 = none}, ... 10]}]}}
// dense: [{"image_id", "round_id": 1..10, "gt_relevance": [100]}] for every round.
// scenes: [{"image_id", "seed", "objects": [{"shape", "color", "material", "size", "position":
//   [x, y], "rotation", "box": [x1, y1, x2, y2], "visible", "total"}], "camera": {...}, "light":
//   {...}, "table": [r, g, b]}]
// captions: Karpathy's layout (features/captions/captions.h): {"dataset": "blocks", "images":
//   [{"cocoid", "filepath": "pictures", "filename": "1.png", "imgid", "split", "sentids": [int],
//     "sentences": [{"tokens": [str], "raw", "imgid", "sentid"}]}]}; the dialog's caption is the
//   first sentence of each picture.
// Test splits keep all rounds and answers: they are ours to measure on.
#ifndef BLOCKS_WORLD_H
#define BLOCKS_WORLD_H

#include "assets/blocks/scene.h"
#include "engine/base/parallel.h"
#include "features/regions/regions.h"

extern const char *const blocks_split_names[BLOCKS_SPLITS]; // "train", "val", "test"

typedef struct blocks_world {
    uint64_t seed, dialog_seed; // of pictures, of dialogs
    blocks_split split;
    size_t count;
    blocks_scene *scene; // (count)
} blocks_world;

// The dialogs have the seed of the pictures, unless another is set before blocks_world_fill. Scenes
// are zeroed until that has made them.
vd_status blocks_world_new(uint64_t seed, blocks_split split, size_t count, blocks_world *out,
                           vd_error *err);
void blocks_world_clear(blocks_world *world);
// Makes scenes first .. first + count - 1. Threads may fill different ones at once.
void blocks_world_fill(blocks_world *world, size_t first, size_t count);

// Each writes a file that is complete or absent. Dialogs are generated again from the scenes.
vd_status blocks_world_write_dialogs(const blocks_world *world, const char *path, vd_error *err);
vd_status blocks_world_write_dense(const blocks_world *world, const char *path, vd_error *err);
vd_status blocks_world_write_scenes(const blocks_world *world, const char *path, vd_error *err);
// each: captions of a picture, 1 .. BLOCKS_MOST_CAPTIONS.
enum { BLOCKS_MOST_CAPTIONS = 100 };
vd_status blocks_world_write_captions(const blocks_world *world, int each, const char *path,
                                      vd_error *err);
// What was written as scenes: the objects with their boxes where those are there, not camera and
// light. *out: new (vd_free), (*count), by rising image id. VD_FORMAT names what is no such scene.
vd_status blocks_scenes_read(const char *path, blocks_scene **out, size_t *count, vd_error *err);
// NULL when there is none of that image.
const blocks_scene *blocks_scenes_find(const blocks_scene *scenes, size_t count, int64_t image_id);
// How often each answer was given, in the format of features/dialogs/answer_pool.h.
vd_status blocks_world_write_pool(const blocks_world *world, const char *path, vd_error *err);
// The picture of one scene as PNG.
vd_status blocks_world_write_picture(const blocks_scene *scene, const char *path, vd_error *err);

// Region features of a whole split without picture files: each scene is rendered and the extractor
// looks at the pixels.
// extractor: path of its weights, loaded once for each thread. The set has room for as many
// regions as the fullest picture needs. Where pictures is not NULL, picture i < picture_count is
// written as DIR/<image_id>.png on the way.
typedef struct blocks_extract_options {
    const char *extractor;
    int threads;
    const char *pictures;
    size_t picture_count;
    const atomic_int *stop;
    vd_parallel_report report; // may be NULL
    void *user;
} blocks_extract_options;

vd_status blocks_extract_regions(const blocks_world *world, const blocks_extract_options *options,
                                 vd_region_set *out, vd_error *err);

#endif
