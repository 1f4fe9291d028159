// What models are measured and compared on: dialogs with human answers, the regions of their
// pictures, the relevance of the candidates, and the pictures; from the options or bundled.
#ifndef VD_CORPUS_H
#define VD_CORPUS_H

#include <stdbool.h>

#include "engine/model/model.h"
#include "features/captions/captions.h"
#include "features/regions/regions.h"
#include "features/dialogs/dataset.h"
#include "tui/base/options.h"

// As the options give them; NULL: left out. Without data the bundled files are taken.
typedef struct vd_corpus_paths {
    const char *data, *features; // go together
    const char *dense;
    const char *pictures;  // a directory of files whose names end in the picture's number
    const char *assets;    // where the bundled files and models are (vd_world_directory)
    bool ranked;           // rankings are measured, not a model: features may be NULL
    bool without_pictures; // they are not looked for
    vd_missing missing;
} vd_corpus_paths;

// clang-format off
#define VD_MISSING_OPTION(type, member)                                                            \
    {"missing", "WHAT", VD_HELP_MISSING, VD_INTO(type, member), .choices = "skip or refuse"}
// The options of a type of settings with such a member `paths`.
#define VD_CORPUS_OPTIONS(type)                                                                    \
    {"data", "FILE", VD_HELP_DATA, VD_INTO(type, paths.data)},                                     \
    {"features", "FILE", VD_HELP_FEATURES, VD_INTO(type, paths.features)},                         \
    {"dense", "FILE", VD_HELP_DENSE, VD_INTO(type, paths.dense)},                                  \
    {"pictures", "DIR", "directory of the pictures (default: \"pictures\" beside the data)",       \
     VD_INTO(type, paths.pictures)},                                                               \
    {"assets", "DIR", VD_HELP_ASSETS, VD_INTO(type, paths.assets)},                                \
    VD_MISSING_OPTION(type, paths.missing)
// clang-format on

typedef struct vd_corpus {
    char *directory;       // of the bundled files; NULL when there is none
    char *data, *features; // features NULL when they are not needed
    char *dense;           // NULL: no relevance
    char *pictures;        // NULL: no pictures
    vd_visdial *dialogs;
    vd_regions *regions;
} vd_corpus;

// pictures NULL: "pictures" beside the data, if there is such a directory. A named directory must
// exist, and an existing one must be readable. On failure *out is zero.
vd_status vd_corpus_open(const vd_corpus_paths *paths, vd_corpus *out, vd_error *err);
void vd_corpus_close(vd_corpus *corpus);

// vd_visdial_match; say: prints to standard error how many dialogs were left out.
vd_status vd_corpus_match(vd_visdial *dialogs, const vd_regions *regions, vd_missing missing,
                          bool say, vd_error *err);
// The same for captions.
vd_status vd_corpus_match_captions(vd_captions *captions, const vd_regions *regions,
                                   vd_missing missing, bool say, vd_error *err);

// Loads a model by its bundled name ("base") or path. VD_MISMATCH when it wants other regions than
// the corpus has, if it has any. err: not NULL.
vd_status vd_corpus_model(const vd_corpus *corpus, const char *name, vd_model **out, vd_error *err);

// The file of a picture (g_free): <id>.png, <id>.jpg, or COCO's names with the number in twelve
// digits; NULL when there is none.
char *vd_corpus_picture(const vd_corpus *corpus, int64_t image_id);

#endif
