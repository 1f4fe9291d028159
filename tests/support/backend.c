#include "tests/support/backend.h"

#include "engine/alloc.h"

const vd_backend *support_backend(void)
{
    return vd_backend_cpu();
}

float *support_read(const vd_real *there, size_t count)
{
    float *found = vd_alloc(count, sizeof *found);
    support_backend()->read_floats(there, found, count);
    return found;
}
