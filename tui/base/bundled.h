// The models that come with the program, and their names.
#ifndef VD_BUNDLED_H
#define VD_BUNDLED_H

#include <stdbool.h>

#define VD_MODEL_NAMES "best, base, improved" // as messages list them
#define VD_NO_MODEL    "no model is loaded: /model " VD_MODEL_NAMES " or FILE"

enum { VD_BUNDLED_MODELS = 3 };
// The first one is the default.
extern const char *const vd_bundled_models[VD_BUNDLED_MODELS];

bool vd_is_bundled(const char *model);
// The next one, cyclically; the first after a model that is not bundled.
const char *vd_next_bundled(const char *model);
// The one whose name is nearest to what was typed; NULL: none is near.
const char *vd_nearest_bundled(const char *typed);

#endif
