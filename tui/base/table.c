#include "tui/base/table.h"

#include <ctype.h>
#include <glib.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "tui/base/output.h"

static const char END_OF_CELL[] = "\xFF"; // in no UTF-8

// Cells with their ends between them (g_free). The tabs of a format end a cell; those in the
// texts, like ends of lines, are spaces: names of files and answers can hold any character.
__attribute__((format(printf, 1, 0))) static char *write_cells(const char *format, va_list values)
{
    char *marked = g_strdelimit(g_strdup(format), "\t", *END_OF_CELL);
    char *text = g_strdup_vprintf(marked, values);
    g_free(marked);
    return g_strdelimit(text, "\t\n\r", ' ');
}

// Of the last row; frees the text.
static void set_cells(vd_table *table, char *text)
{
    char **cell = g_strsplit(text, END_OF_CELL, -1);
    table->row[table->rows - 1].cell = cell;
    if (table->rows == 1)
        table->columns = MAX(1, (int)g_strv_length(cell));
    g_free(text);
}

vd_table_row *vd_table_add(vd_table *table, const char *format, ...)
{
    table->row = g_renew(vd_table_row, table->row, table->rows + 1);
    vd_table_row *row = &table->row[table->rows++];
    *row = (vd_table_row){0};
    va_list values;
    va_start(values, format);
    set_cells(table, write_cells(format, values));
    va_end(values);
    return row;
}

void vd_table_more(vd_table *table, const char *format, ...)
{
    char **before = table->row[table->rows - 1].cell;
    va_list values;
    va_start(values, format);
    char *first = g_strjoinv(END_OF_CELL, before), *more = write_cells(format, values);
    va_end(values);
    set_cells(table, g_strconcat(first, END_OF_CELL, more, NULL));
    g_strfreev(before);
    g_free(first);
    g_free(more);
}

const char *vd_table_cell(const vd_table *table, int row, int column)
{
    char **cell = table->row[row].cell;
    return column < (int)g_strv_length(cell) ? cell[column] : "";
}

// "3 red cubes" are words, "62 %" and "0.1 to 0.2" are numbers.
static bool is_words(const char *cell)
{
    size_t length = strlen(cell);
    return length > 0 &&
           (isalpha((unsigned char)cell[0]) || isalpha((unsigned char)cell[length - 1]));
}

// Whether a column has words below its name; the first one always counts as such.
static bool has_words(const vd_table *table, int column)
{
    bool words = column == 0;
    for (int row = 1; row < table->rows; row++)
        words = words || is_words(vd_table_cell(table, row, column));
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
        g_strfreev(table->row[row].cell);
    g_free(table->row);
    *table = (vd_table){0};
}

void vd_table_finish(vd_table *table, int indent)
{
    vd_table_print(table, indent, stdout);
    vd_table_clear(table);
}
