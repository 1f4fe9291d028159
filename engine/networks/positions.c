#include "engine/networks/positions.h"

#include <math.h>

#include "engine/base/alloc.h"
#include "engine/networks/batch.h"

void vd_words_sinusoid(vd_real *table, int rows, int embed)
{
    for (int p = 0; p < rows; p++)
        for (int i = 0; i < embed; i++) {
            double angle = p / pow(10000.0, (double)(i - i % 2) / embed);
            table[(size_t)p * (size_t)embed + (size_t)i] =
                (vd_real)(i % 2 ? cos(angle) : sin(angle));
        }
}

vd_status vd_words_table(const vd_backend *backend, int embed, vd_real **out, vd_error *err)
{
    size_t n = (size_t)VD_MAX_HISTORY * (size_t)embed;
    vd_real *table = vd_alloc(n, sizeof *table);
    *out = backend->memory->allocate(n * sizeof *table);
    if (table && *out) {
        vd_words_sinusoid(table, VD_MAX_HISTORY, embed);
        backend->memory->upload(*out, table, n * sizeof *table);
    }
    vd_status status =
        table && *out ? vd_backend_status(backend, err) : vd_error_memory(err, "positions");
    vd_free(table);
    return status;
}
