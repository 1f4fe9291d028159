#include "tests/support/backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/backend/open.h"

const vd_backend *support_backend(void)
{
    static const vd_backend *chosen;
    const char *plugin = getenv("VISDIAL_TEST_PLUGIN");
    vd_error err;
    // Without its device no test of the program can say anything.
    if (!chosen && plugin && vd_backend_open_plugin(plugin, 0, &chosen, &err) != VD_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(SUPPORT_NO_DEVICE);
    }
    if (!chosen)
        chosen = vd_backend_cpu();
    return chosen;
}

float *support_read(const vd_real *there, size_t count)
{
    float *found = vd_alloc(count, sizeof *found);
    support_backend()->read_floats(there, found, count);
    return found;
}
