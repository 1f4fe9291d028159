// A self-contained HTML page: it contains style, script and pictures and loads nothing.
#ifndef VD_HTML_H
#define VD_HTML_H

#include "features/pictures/image.h"
#include "tui/base/table.h"
#include "tui/page/markup.h"
#include "tui/answer/sheet.h"

// Starts the page: head, style, <body>. kind: class of the body, "compare" or "transcript".
// vd_markup_abort discards it.
vd_status vd_html_create(const char *path, const char *title, const char *kind, vd_markup **out,
                         vd_error *err);

// Adds the picture that sheets with this image id show; called once per picture.
void vd_html_picture(vd_markup *html, int64_t image_id, const vd_image *image);
// A share (0..1) as a number with a bar behind it, in the colour of a side.
void vd_html_share(vd_markup *html, const char *tag, double share, int side);

// Attention to regions. All borrowed.
typedef struct vd_region_look {
    int64_t image_id;            // of a picture added to the page
    int width, height;           // its pixels; 0: there is none
    const float *boxes;          // (known, 4) in 0..1, NULL: none
    const vd_region_name *names; // (known) or NULL
    int known;
    const float *share; // (regions); NULL: the model has no attention to regions
    int regions;
    const float *other; // (others, regions) of other heads, which the script can show; NULL: none
    int others;
    const char *by; // the model's name
    int side;
} vd_region_look;
// A <figure>: the picture with the regions of nine tenths of the shares, at most nine, outlined and
// listed.
void vd_html_figure(vd_markup *html, const vd_region_look *look);
// What the script makes the other looks of figures from: every region's outline, label and line. It
// stands before those figures, in the same <section>.
void vd_html_region_parts(vd_markup *html, const vd_region_look *look);

// An <article> with picture and outlines, dialog, rankings and attentions.
void vd_html_sheet(vd_markup *html, const vd_sheet *sheet);
// A <table>; where rows have a range, it is drawn at their end.
void vd_html_table(vd_markup *html, const vd_table *table);

// Ends the page and creates the file. Frees html whether it succeeds or not.
vd_status vd_html_commit(vd_markup *html, vd_error *err);

#endif
