#include "tui/base/align.h"

#include <glib.h>
#include <string.h>

enum { WIDE = VD_ALIGN_MOST + 1 };

// least[i][j]: differences between the words of both lists from i and j on.
static void count_differences(const char *const *first, int n, const char *const *second, int m,
                              int least[WIDE][WIDE])
{
    for (int i = n; i >= 0; i--)
        for (int j = m; j >= 0; j--) {
            if (i == n || j == m) {
                least[i][j] = (n - i) + (m - j);
                continue;
            }
            int beside = least[i + 1][j + 1] + (strcmp(first[i], second[j]) != 0);
            int without = least[i + 1][j] + 1, added = least[i][j + 1] + 1;
            least[i][j] = MIN(beside, MIN(without, added));
        }
}

int vd_align(const char *const *first, int first_count, const char *const *second, int second_count,
             vd_aligned *out)
{
    int least[WIDE][WIDE] = {{0}}, rows = 0;
    count_differences(first, first_count, second, second_count, least);
    for (int i = 0, j = 0; i < first_count || j < second_count; rows++) {
        bool both = i < first_count && j < second_count;
        if (both && least[i][j] == least[i + 1][j + 1] + (strcmp(first[i], second[j]) != 0))
            out[rows] = (vd_aligned){i++, j++};
        else if (i < first_count && least[i][j] == least[i + 1][j] + 1)
            out[rows] = (vd_aligned){i++, -1};
        else
            out[rows] = (vd_aligned){-1, j++};
    }
    return rows;
}

bool vd_aligned_same(const vd_aligned *row, const char *const *first, const char *const *second)
{
    return row->first >= 0 && row->second >= 0 &&
           strcmp(first[row->first], second[row->second]) == 0;
}
