#include "tui/base/table.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/base/output.h"

enum { MOST_FORMAT = 256, MOST_TEXT = 1024 };

// The tabs of a format end a cell; those in the texts, like ends of lines, are spaces: names of
// files and answers can hold any character. Returns the length of all cells, each with its NUL.
__attribute__((format(printf, 2, 0))) static size_t write_cells(char text[MOST_TEXT],
                                                                const char *format, va_list values)
{
    enum { END_OF_CELL = '\x1F' };
    char marked[MOST_FORMAT];
    snprintf(marked, sizeof marked, "%s", format);
    for (char *at = marked; *at; at++)
        *at = *at == '\t' ? END_OF_CELL : *at;
    vsnprintf(text, MOST_TEXT, marked, values);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\t' || text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
        else if (text[i] == END_OF_CELL)
            text[i] = '\0';
    }
    return length + 1;
}

static int count_cells(const char *cells, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += cells[i] == '\0';
    return count;
}

// Cells behind those of the last row; false: no memory, or no row.
__attribute__((format(printf, 2, 0))) static bool append(vd_table *table, const char *format,
                                                         va_list values)
{
    char text[MOST_TEXT];
    size_t length = write_cells(text, format, values);
    vd_table_row *row = table->rows ? &table->row[table->rows - 1] : NULL;
    char *grown = row ? vd_grow(row->text, row->size, row->size + length, 1) : NULL;
    if (!grown) {
        table->status = VD_NO_MEMORY;
        return false;
    }
    memcpy(grown + row->size, text, length);
    row->text = grown;
    row->size += length;
    row->cells += count_cells(text, length);
    if (table->rows == 1)
        table->columns = row->cells;
    return true;
}

vd_table_row *vd_table_add(vd_table *table, const char *format, ...)
{
    size_t rows = (size_t)table->rows;
    vd_table_row *grown = vd_grow(table->row, rows, rows + 1, sizeof *grown);
    if (!grown) {
        table->status = VD_NO_MEMORY;
        return NULL;
    }
    table->row = grown;
    grown[rows] = (vd_table_row){0};
    table->rows++;
    va_list values;
    va_start(values, format);
    bool done = append(table, format, values);
    va_end(values);
    table->rows -= !done;
    return done ? &grown[rows] : NULL;
}

void vd_table_more(vd_table *table, const char *format, ...)
{
    if (table->status) // the row that it belongs to may be missing
        return;
    va_list values;
    va_start(values, format);
    append(table, format, values);
    va_end(values);
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

vd_status vd_table_finish(vd_table *table, int indent, vd_error *err)
{
    vd_status status = table->status ? vd_error_memory(err, "a table") : VD_OK;
    if (status == VD_OK)
        vd_table_print(table, indent, stdout);
    vd_table_clear(table);
    return status;
}
