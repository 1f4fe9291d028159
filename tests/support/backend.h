// The backend that tests of the network run on.
#ifndef TESTS_SUPPORT_BACKEND_H
#define TESTS_SUPPORT_BACKEND_H

#include "engine/backend/backend.h"

// How a program ends, with a line that says why, whose plugin does not open.
enum { SUPPORT_NO_DEVICE = 77 };

// The CPU, or with $VISDIAL_TEST_PLUGIN the plugin of that path.
const vd_backend *support_backend(void);
// Numbers of that backend's memory; vd_free.
float *support_read(const vd_real *there, size_t count);

#endif
