// A table of texts: printed here, and shown by pages (tui/page).
#ifndef VD_TABLE_H
#define VD_TABLE_H

#include <stdio.h>

// A difference with its interval, for pages that draw it on a scale of -reach .. reach; 0: none.
typedef struct vd_table_range {
    double estimate, low, high, reach;
} vd_table_range;

typedef struct vd_table_row {
    char **cell; // owned, ends with NULL
    vd_table_range range;
} vd_table_row;

// Zero-initialise. The first row names the columns. Texts start at the left of their column,
// numbers end at its right.
typedef struct vd_table {
    int columns, rows;
    vd_table_row *row; // (rows), owned
} vd_table;

// One more row: cells with tabs between them in the format. In what is put into it tabs and ends of
// lines become spaces. The row is valid until the next one is added.
vd_table_row *vd_table_add(vd_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Further cells of the last row, with tabs between them likewise.
void vd_table_more(vd_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *vd_table_cell(const vd_table *table, int row, int column); // "" where there is none
void vd_table_print(const vd_table *table, int indent, FILE *out);     // indent: columns
void vd_table_clear(vd_table *table);
void vd_table_finish(vd_table *table, int indent); // prints it to stdout and clears it

#endif
