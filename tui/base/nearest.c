#include "tui/base/nearest.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

enum { MOST_LETTERS = 40 };

int vd_edits(const char *a, const char *b)
{
    size_t n = strnlen(a, MOST_LETTERS), m = strnlen(b, MOST_LETTERS);
    int rows[3][MOST_LETTERS + 1]; // the row being filled and the two before it
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *row = rows[i % 3], *before = rows[(i + 2) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = before[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = MIN(row[j], MIN(before[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = MIN(row[j], rows[(i + 1) % 3][j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void vd_nearest_try(vd_nearest *nearest, const char *candidate)
{
    size_t typed = strnlen(nearest->typed, MOST_LETTERS), own = strnlen(candidate, MOST_LETTERS);
    int bound = nearest->name ? nearest->edits - 1 : nearest->most;
    int apart = typed > own ? (int)(typed - own) : (int)(own - typed);
    if (apart > bound)
        return; // so many letters are added or left out at least
    int edits = vd_edits(nearest->typed, candidate);
    if (edits > bound || 3 * edits > (int)own + 1)
        return; // "foo" is no "pool"
    nearest->name = candidate;
    nearest->edits = edits;
}
