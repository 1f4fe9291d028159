#include "tui/answer/columns.h"

#include <glib.h>

vd_columns vd_columns_choose(vd_rect at, int gap, int least, int fewest, int models, int looked_at)
{
    vd_columns columns = {.at = at, .gap = gap};
    int most = (at.width + gap) / (least + gap);
    most = CLAMP(MAX(most, fewest), 1, models);
    // After the first model come most - 1 others, the one looked at among them.
    int from = CLAMP(looked_at - (most - 2), 1, models - most + 1);
    columns.side[columns.count++] = most == 1 ? looked_at : 0;
    while (columns.count < most)
        columns.side[columns.count++] = from++;
    return columns;
}

vd_rect vd_columns_place(const vd_columns *columns, int index)
{
    vd_rect at = columns->at;
    int width = (at.width - columns->gap * (columns->count - 1)) / columns->count;
    return (vd_rect){at.x + index * (width + columns->gap), at.y, width, at.height};
}

int vd_columns_side(const vd_columns *columns, int x, int y)
{
    for (int i = 0; i < columns->count; i++)
        if (vd_rect_has(vd_columns_place(columns, i), x, y))
            return columns->side[i];
    return -1;
}
