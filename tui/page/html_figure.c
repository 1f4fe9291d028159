// A picture with the regions that something looked at outlined, and their shares below it.
#include <math.h>

#include "tui/base/shares.h"
#include "tui/page/html.h"

enum { MOST_REGIONS = 9 };

// A share as a number with a bar behind it (the style sheet draws it from --w).
void vd_html_share(vd_markup *html, const char *tag, double share, int side)
{
    char text[16];
    vd_percent(text, sizeof text, share);
    vd_markup_put(html, "<%s class=\"share side-%d\" style=\"--w:%.4f\">%s</%s>", tag, side,
                  fmin(fmax(share, 0), 1), text, tag);
}

typedef struct label_box {
    double x, y;
} label_box;

// A corner of the box where the label covers no other; the first when there is none.
static label_box place_label(const vd_region_look *look, const double box[4], double size,
                             const label_box *taken, int count)
{
    double right = fmax(0, fmin(box[2], look->width) - size);
    double bottom = fmax(0, fmin(box[3], look->height) - size);
    double left = fmin(fmax(0, box[0]), look->width - size);
    double top = fmin(fmax(0, box[1]), look->height - size);
    const label_box corners[] = {{left, top}, {right, top}, {left, bottom}, {right, bottom}};
    for (int i = 0; i < 4; i++) {
        bool free_here = true;
        for (int j = 0; j < count && free_here; j++)
            free_here =
                fabs(corners[i].x - taken[j].x) >= size || fabs(corners[i].y - taken[j].y) >= size;
        if (free_here)
            return corners[i];
    }
    return corners[0];
}

static void put_outlines(vd_markup *html, const vd_region_look *look, const vd_share *top,
                         int count)
{
    double size = fmax(look->width, look->height) / 24.0;
    label_box taken[MOST_REGIONS];
    double box[MOST_REGIONS][4] = {{0}};
    for (int i = 0; i < count; i++) {
        const float *from = look->boxes + (size_t)4 * (size_t)top[i].index;
        for (int k = 0; k < 4; k++)
            box[i][k] = (double)from[k] * (k % 2 ? look->height : look->width);
        taken[i] = place_label(look, box[i], size, taken, i);
    }
    for (int i = count - 1; i >= 0; i--) { // the strongest lies on top
        const char *weight = top[i].share >= 0.25  ? "heavy"
                             : top[i].share >= 0.1 ? "thin"
                                                   : "faint";
        double x = box[i][0], y = box[i][1];
        double width = fmax(0, box[i][2] - x), height = fmax(0, box[i][3] - y);
        vd_markup_put(html, "<g class=\"region %s\" data-region=\"%d\">", weight, top[i].index + 1);
        for (int under = 1; under >= 0; under--)
            vd_markup_put(html,
                          "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                          "rx=\"2\"/>",
                          under ? "under" : "line", x, y, width, height);
        vd_markup_put(html, "</g>");
    }
    for (int i = 0; i < count; i++)
        vd_markup_put(html,
                      "<g class=\"label\" data-region=\"%d\"><rect x=\"%.1f\" y=\"%.1f\" "
                      "width=\"%.1f\" height=\"%.1f\" rx=\"2\"/><text x=\"%.1f\" y=\"%.1f\" "
                      "font-size=\"%.1f\">%d</text></g>",
                      top[i].index + 1, taken[i].x, taken[i].y, size, size, taken[i].x + size / 2,
                      taken[i].y + size * 0.54, size * (top[i].index < 99 ? 0.8 : 0.55),
                      top[i].index + 1);
}

void vd_html_figure(vd_markup *html, const vd_region_look *look)
{
    vd_share top[MOST_REGIONS];
    int count = look->share ? vd_shares_top(look->share, look->regions, 0.9, top, MOST_REGIONS) : 0;
    double rest = 1;
    for (int i = 0; i < count; i++)
        rest -= top[i].share;
    bool outlines = look->boxes && look->regions <= look->known;
    vd_markup_put(html, "<figure>");
    if (look->width > 0) {
        vd_markup_put(
            html,
            "<svg class=\"picture\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Picture "
            "%lld with the regions %s looked at\"><use href=\"#pic-%lld\"/>",
            look->width, look->height, (long long)look->image_id, look->by,
            (long long)look->image_id);
        if (outlines)
            put_outlines(html, look, top, count);
        vd_markup_put(html, "</svg>");
    }
    if (!look->share) {
        vd_markup_put(html, "<figcaption>It " VD_NO_REGIONS "</figcaption></figure>\n");
        return;
    }
    vd_markup_put(html, "<figcaption>%s<ol class=\"regions\">",
                  outlines ? "Where it looked" : "Where it looked (no boxes known)");
    for (int i = 0; i < count; i++) {
        bool named = look->names && top[i].index < look->known;
        vd_markup_put(html, "<li data-region=\"%d\" tabindex=\"0\"><b>%d</b> %s ", top[i].index + 1,
                      top[i].index + 1, named ? look->names[top[i].index].text : "");
        vd_html_share(html, "span", top[i].share, look->side);
        vd_markup_put(html, "</li>");
    }
    vd_markup_put(html, "</ol>");
    if (look->regions > count && rest > 0.0005) {
        char text[16];
        vd_percent(text, sizeof text, rest);
        vd_markup_put(html, "<span class=\"rest\">%d more: %s</span>", look->regions - count, text);
    }
    vd_markup_put(html, "</figcaption></figure>\n");
}
