// Whether the captions of a walk are true, where the picture's scene is known.
#ifndef VD_WALK_VERDICT_H
#define VD_WALK_VERDICT_H

#include "tui/session/caption_walk.h"

// Fills in `verdict` of each side; "" if the scene is not known: for opened pictures, and for data
// given by --data, whose scenes would be read again for every caption.
void vd_walk_judge(const vd_world *world, vd_caption_walk *walk);

#endif
