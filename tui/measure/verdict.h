// Whether a caption of a Blocks picture is true, in words: the objects of its scene that decide it.
#ifndef VD_VERDICT_H
#define VD_VERDICT_H

#include "assets/blocks/claim.h"
#include "tui/session/caption_sheet.h"

// Where the scenes of a data file are by default: "train.json" and "train_captions.json" ->
// "train_scenes.json", "dialogs.json" -> "scenes.json".
void vd_scenes_beside(const char *data, char *out, size_t size);

// The scene of a picture: from the file of scenes, from the one beside the world's dialogs if none
// is named, or generated (blocks:7). *found: false if it is not known. VD_MISMATCH: the named file
// has no scene of the picture.
vd_status vd_verdict_scene(const vd_world *world, size_t picture, const char *scenes,
                           blocks_scene *out, bool *found, vd_error *err);
// why: "1 of 5 objects is a red cube: the large red rubber cube (region 3); it says exactly 1".
// Objects have the numbers of the regions with the same place (intersection over union of their
// boxes at least 0.5); regions without boxes: none.
void vd_verdict_make(const char *caption, const blocks_scene *scene,
                     const vd_picture_regions *regions, vd_caption_verdict *out);

// Of all captions of a sheet, where the scene is known.
vd_status vd_verdict_sheet(const vd_world *world, const char *scenes, vd_caption_sheet *sheet,
                           vd_error *err);

#endif
