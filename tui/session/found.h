// What was found in a picture, in words. Inside of tui/session/.
#ifndef VD_FOUND_H
#define VD_FOUND_H

#include "tui/session/session.h"

// Sets regions->names, where the features are the extractor's.
void vd_found_names(vd_picture_regions *regions);

// What vd_world_contents returns, of these regions.
vd_region_name *vd_found_contents(const vd_picture_regions *regions, int *count);

// A caption of the picture: "I see 2 blue balls, a yellow cone" of the regions that the extractor
// is sure of. NULL, or features of another detector: "a picture".
enum { VD_FOUND_CAPTION = 512 };
void vd_found_caption(const vd_picture_regions *regions, char out[VD_FOUND_CAPTION]);

#endif
