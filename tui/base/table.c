#include "tui/base/table.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/base/output.h"

vd_table_row *vd_table_add(vd_table *table, const char *format, ...)
{
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    size_t rows = (size_t)table->rows;
    vd_table_row *grown = vd_grow(table->row, rows, rows + 1, sizeof *grown);
    table->row = grown ? grown : table->row;
    char *copy = grown ? vd_strdup(text) : NULL;
    if (!copy) {
        table->status = VD_NO_MEMORY;
        return NULL;
    }
    vd_table_row *row = &table->row[table->rows++];
    *row = (vd_table_row){.cells = 1, .text = copy};
    for (char *tab = copy; (tab = strchr(tab, '\t')) != NULL; row->cells++)
        *tab++ = '\0';
    if (rows == 0)
        table->columns = row->cells;
    return row;
}

const char *vd_table_cell(const vd_table *table, int row, int column)
{
    const char *cell = table->row[row].text;
    if (column >= table->row[row].cells)
        return "";
    while (column-- > 0)
        cell += strlen(cell) + 1;
    return cell;
}

// Whether a column has words below its name; the first one always counts as such.
static bool has_words(const vd_table *table, int column)
{
    bool words = column == 0;
    for (int row = 1; row < table->rows; row++)
        words = words || isalpha((unsigned char)*vd_table_cell(table, row, column));
    return words;
}

static int width_of(const vd_table *table, int column)
{
    int width = 0;
    for (int row = 0; row < table->rows; row++) {
        int own = vd_output_width(vd_table_cell(table, row, column));
        width = own > width ? own : width;
    }
    return width;
}

void vd_table_print(const vd_table *table, int indent, FILE *out)
{
    enum { BETWEEN = 2 };
    for (int row = 0; row < table->rows; row++) {
        int blank = indent; // not printed yet: nothing stands at the end of a line
        for (int column = 0; column < table->columns; column++) {
            const char *cell = vd_table_cell(table, row, column);
            int own = vd_output_width(cell), rest = width_of(table, column) - own;
            bool left = has_words(table, column);
            blank += (column ? BETWEEN : 0) + (left ? 0 : rest);
            if (*cell)
                fprintf(out, "%*s", blank, "");
            fputs(cell, out);
            blank = (*cell ? 0 : blank + own) + (left ? rest : 0);
        }
        fputc('\n', out);
    }
}

void vd_table_clear(vd_table *table)
{
    for (int row = 0; row < table->rows; row++)
        vd_free(table->row[row].text);
    vd_free(table->row);
    *table = (vd_table){0};
}
