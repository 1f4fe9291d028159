// A model with random weights, loaded from a file as any other.
#ifndef VD_TEST_RANDOM_MODEL_H
#define VD_TEST_RANDOM_MODEL_H

#include "engine/model/model.h"

// Of these sizes; config->vocab ids, the special ones included. The same weights every time.
// vd_model_free.
vd_model *support_random_model(const vd_config *config);
// The same as a file.
void support_write_random_model(const vd_config *config, const char *path);

#endif
