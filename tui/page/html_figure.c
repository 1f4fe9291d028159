// A picture with the regions that something looked at outlined, and their shares below it.
#include <math.h>
#include <stdio.h>

#include "tui/base/shares.h"
#include "tui/page/html.h"

enum { MOST_REGIONS = 9 };

// A share as a number with a bar behind it (the style sheet draws it from --w).
void vd_html_share(vd_markup *html, const char *tag, double share, int side)
{
    vd_markup_put(html, "<%s class=\"share side-%d\" style=\"--w:%.4f\">%s</%s>", tag, side,
                  fmin(fmax(share, 0), 1), vd_percent(share).text, tag);
}

static double label_size(const vd_region_look *look)
{
    return fmax(look->width, look->height) / 24.0;
}

// In pixels.
static void box_of(const vd_region_look *look, int region, double out[4])
{
    for (int k = 0; k < 4; k++)
        out[k] = (double)look->boxes[4 * (size_t)region + (size_t)k] *
                 (k % 2 ? look->height : look->width);
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

// The boxes of the regions in pixels, and where their labels lie.
static void place(const vd_region_look *look, const vd_share *top, int count,
                  double box[MOST_REGIONS][4], label_box *labels)
{
    for (int i = 0; i < count; i++) {
        box_of(look, top[i].index, box[i]);
        labels[i] = place_label(look, box[i], label_size(look), labels, i);
    }
}

static const char *weight_of(double share)
{
    return share >= 0.25 ? "heavy" : share >= 0.1 ? "thin" : "faint";
}

static void put_outline(vd_markup *html, int region, const double box[4], const char *weight)
{
    vd_markup_put(html, "<g class=\"region%s%s\" data-region=\"%d\">", *weight ? " " : "", weight,
                  region + 1);
    for (int under = 1; under >= 0; under--)
        vd_markup_put(html,
                      "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                      "rx=\"2\"/>",
                      under ? "under" : "line", box[0], box[1], fmax(0, box[2] - box[0]),
                      fmax(0, box[3] - box[1]));
    vd_markup_put(html, "</g>");
}

static void put_label(vd_markup *html, const vd_region_look *look, int region, label_box at)
{
    double size = label_size(look);
    vd_markup_put(html,
                  "<g class=\"label\" data-region=\"%d\" transform=\"translate(%.1f %.1f)\">"
                  "<rect width=\"%.1f\" height=\"%.1f\" rx=\"2\"/><text x=\"%.1f\" y=\"%.1f\" "
                  "font-size=\"%.1f\">%d</text></g>",
                  region + 1, at.x, at.y, size, size, size / 2, size * 0.54,
                  size * (region < 99 ? 0.8 : 0.55), region + 1);
}

static void put_entry(vd_markup *html, const vd_region_look *look, int region, double share)
{
    bool named = look->names && region < look->known;
    vd_markup_put(html, "<li data-region=\"%d\" tabindex=\"0\"><b>%d</b> %s ", region + 1,
                  region + 1, named ? look->names[region].text : "");
    vd_html_share(html, "span", share, look->side);
    vd_markup_put(html, "</li>");
}

static bool has_outlines(const vd_region_look *look)
{
    return look->width > 0 && look->boxes && look->regions <= look->known;
}

// The regions that are shown; returns how many.
static int shown(const vd_region_look *look, const float *share, vd_share top[MOST_REGIONS])
{
    return share ? vd_shares_top(share, look->regions, 0.9, top, MOST_REGIONS) : 0;
}

// "7 more: 3.1 %"; "" none to speak of.
static void rest_text(const vd_region_look *look, const vd_share *top, int count, char *out,
                      size_t size)
{
    double rest = 1;
    for (int i = 0; i < count; i++)
        rest -= top[i].share;
    out[0] = '\0';
    if (look->regions > count && rest > 0.0005)
        snprintf(out, size, "%d more: %s", look->regions - count, vd_percent(rest).text);
}

// ---- other looks --------------------------------------------------------------------------------

// What the script makes a figure of: looks with "|" between them, each "REST;REGION,WEIGHT,SHARE,
// X,Y,PERCENT;...", places those of labels.
static void put_looks(vd_markup *html, const vd_region_look *look)
{
    for (int i = 0; i < look->others; i++) {
        vd_share top[MOST_REGIONS];
        label_box labels[MOST_REGIONS];
        double box[MOST_REGIONS][4] = {{0}};
        char text[40];
        int count = shown(look, look->other + (size_t)i * (size_t)look->regions, top);
        if (has_outlines(look))
            place(look, top, count, box, labels);
        rest_text(look, top, count, text, sizeof text);
        vd_markup_put(html, "%s%s", i ? "|" : "", text);
        for (int k = 0; k < count; k++) {
            label_box at = has_outlines(look) ? labels[k] : (label_box){0, 0};
            vd_markup_put(html, ";%d,%s,%.4f,%.1f,%.1f,%s", top[k].index + 1,
                          weight_of(top[k].share), top[k].share, at.x, at.y,
                          vd_percent(top[k].share).text);
        }
    }
}

void vd_html_region_parts(vd_markup *html, const vd_region_look *look)
{
    double box[4];
    vd_markup_put(html, "<template class=\"parts\"><svg>");
    for (int k = 0; k < look->regions && has_outlines(look); k++) {
        box_of(look, k, box);
        put_outline(html, k, box, "");
        put_label(html, look, k, (label_box){0, 0});
    }
    vd_markup_put(html, "</svg><ol>");
    for (int k = 0; k < look->regions; k++)
        put_entry(html, look, k, 0);
    vd_markup_put(html, "</ol></template>\n");
}

// ---- the figure ---------------------------------------------------------------------------------

static void put_picture(vd_markup *html, const vd_region_look *look, const vd_share *top, int count)
{
    label_box labels[MOST_REGIONS];
    double box[MOST_REGIONS][4] = {{0}};
    vd_markup_put(html,
                  "<svg class=\"picture\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Picture "
                  "%lld with the regions %s looked at\"><use href=\"#pic-%lld\"/>",
                  look->width, look->height, (long long)look->image_id, look->by,
                  (long long)look->image_id);
    if (has_outlines(look)) {
        place(look, top, count, box, labels);
        for (int i = count - 1; i >= 0; i--) // the strongest lies on top
            put_outline(html, top[i].index, box[i], weight_of(top[i].share));
        for (int i = 0; i < count; i++)
            put_label(html, look, top[i].index, labels[i]);
    }
    vd_markup_put(html, "</svg>");
}

void vd_html_figure(vd_markup *html, const vd_region_look *look)
{
    vd_share top[MOST_REGIONS];
    char rest[40];
    int count = shown(look, look->share, top);
    vd_markup_put(html, "<figure");
    if (look->others > 0) {
        vd_markup_put(html, " data-looks=\"");
        put_looks(html, look);
        vd_markup_put(html, "\"");
    }
    vd_markup_put(html, ">");
    if (look->width > 0)
        put_picture(html, look, top, count);
    if (!look->share) {
        vd_markup_put(html, "<figcaption>It " VD_NO_REGIONS "</figcaption></figure>\n");
        return;
    }
    vd_markup_put(html, "<figcaption>%s<ol class=\"regions\">",
                  look->boxes && look->regions <= look->known ? "Where it looked"
                                                              : "Where it looked (no boxes known)");
    for (int i = 0; i < count; i++)
        put_entry(html, look, top[i].index, top[i].share);
    rest_text(look, top, count, rest, sizeof rest);
    vd_markup_put(html, "</ol>");
    if (*rest || look->others > 0)
        vd_markup_put(html, "<span class=\"rest\">%s</span>", rest);
    vd_markup_put(html, "</figcaption></figure>\n");
}
