// What the extractor found in a picture, in words, read back from its features
// (features/extract/extract.h).
#ifndef VD_CONTENTS_H
#define VD_CONTENTS_H

#include "tui/session/session.h"

// The names of the 16 attributes in the order of the channels: colours, shapes, materials, sizes.
extern const char *const vd_attribute_names[];

// "large blue metal cube; small ...", cut to size. "" when the features are of another kind.
void vd_contents_of(const vd_world *world, size_t index, char *out, size_t size);

#endif
