#include "tui/page/html.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "features/pictures/resample.h"

// The style sheet and the script are files of their own, taken in by the assembler.
extern const char vd_page_css[], vd_page_css_end[], vd_page_js[], vd_page_js_end[];
#define EMBED(symbol, file)                                                                        \
    __asm__(".section .rodata\n" symbol ":\n.incbin \"" file "\"\n" symbol "_end:\n.byte 0\n"      \
            ".previous\n")
EMBED("vd_page_css", "tui/page/page.css");
EMBED("vd_page_js", "tui/page/page.js");

// ---- page ---------------------------------------------------------------------------------------

vd_status vd_html_create(const char *path, const char *title, const char *kind, vd_markup **out,
                         vd_error *err)
{
    vd_markup *html;
    vd_status status = vd_markup_create(path, VD_MARKUP_HTML, &html, err);
    *out = html;
    if (status)
        return status;
    // The policy keeps the page from loading anything, whatever is in it.
    vd_markup_put(html,
                  "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>%s</title>\n<style>\n",
                  title);
    vd_markup_bytes(html, vd_page_css, (size_t)(vd_page_css_end - vd_page_css));
    vd_markup_put(html, "</style>\n</head>\n<body class=\"%s\">\n", kind);
    return VD_OK;
}

vd_status vd_html_commit(vd_markup *html, vd_error *err)
{
    vd_markup_put(html, "<script>\n");
    vd_markup_bytes(html, vd_page_js, (size_t)(vd_page_js_end - vd_page_js));
    vd_markup_put(html, "</script>\n</body>\n</html>\n");
    return vd_markup_commit(html, err);
}

// ---- pictures -----------------------------------------------------------------------------------

void vd_html_picture(vd_markup *html, int64_t image_id, const vd_image *image)
{
    enum { MOST_SIDE = 1280 }; // of what is stored: photos have ten times as many pixels
    int side = image->width > image->height ? image->width : image->height;
    double by = side > MOST_SIDE ? (double)MOST_SIDE / side : 1;
    unsigned char *data = NULL;
    size_t size = 0;
    vd_image smaller = {0};
    vd_error error = {0};
    vd_status status = by < 1 ? vd_image_scale(image, (int)ceil(image->width * by),
                                               (int)ceil(image->height * by), &smaller, &error)
                              : VD_OK;
    if (!status)
        status = vd_image_to_png(by < 1 ? &smaller : image, false, &data, &size, &error);
    if (status)
        vd_markup_fail(html, &error);
    vd_markup_put(html,
                  "<svg class=\"store\" aria-hidden=\"true\"><defs><image id=\"pic-%lld\" "
                  "width=\"%d\" height=\"%d\" href=\"data:image/png;base64,",
                  (long long)image_id, image->width, image->height);
    g_autofree char *text = g_base64_encode(data, size);
    vd_markup_bytes(html, text, strlen(text));
    vd_markup_put(html, "\"/></defs></svg>\n");
    vd_free(data);
    vd_image_clear(&smaller);
}

// ---- tables -------------------------------------------------------------------------------------

// A difference with its interval as a line on a scale.
static void put_range(vd_markup *html, const vd_table_range *range)
{
    enum { HALF = 60 };
    if (!(range->reach > 0))
        return;
    double scale = HALF / range->reach;
    bool sure = range->low > 0 || range->high < 0;
    vd_markup_put(
        html,
        "<svg class=\"interval%s\" viewBox=\"-64 -6 128 12\" aria-hidden=\"true\"><line "
        "class=\"zero\" x1=\"0\" y1=\"-6\" x2=\"0\" y2=\"6\"/><line class=\"range\" x1=\"%.1f\" "
        "y1=\"0\" x2=\"%.1f\" y2=\"0\"/><circle cx=\"%.1f\" cy=\"0\" r=\"3\"/></svg>",
        sure ? " sure" : "", range->low * scale, range->high * scale, range->estimate * scale);
}

static void put_row(vd_markup *html, const vd_table *table, int row)
{
    vd_markup_put(html, "<tr>");
    for (int column = 0; column < table->columns; column++) {
        const char *cell = vd_table_cell(table, row, column);
        if (row && column)
            vd_markup_put(html, "<td>%s</td>", cell);
        else
            vd_markup_put(html, row ? "<th scope=\"row\">%s</th>" : "<th>%s</th>", cell);
    }
    vd_markup_put(html, row ? "<td>" : "<th>");
    put_range(html, &table->row[row].range);
    vd_markup_put(html, row ? "</td></tr>\n" : "</th></tr>\n");
}

void vd_html_table(vd_markup *html, const vd_table *table)
{
    vd_markup_put(html, "<div class=\"scroll\"><table class=\"numbers\"><thead>");
    for (int row = 0; row < table->rows; row++) {
        put_row(html, table, row);
        if (row == 0)
            vd_markup_put(html, "</thead><tbody>\n");
    }
    vd_markup_put(html, "</tbody></table></div>\n");
}
