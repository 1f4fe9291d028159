// A picture in the terminal's pixels, with outlines and numbers at their resolution, as escape
// sequences of one of three protocols:
//
//   kitty   an image of PNG with a number, placed over a rectangle of cells, until it is deleted
//           (https://sw.kovidgoyal.net/kitty/graphics-protocol/). tmux passes it on where
//           `allow-passthrough` is on; the image then stands on placeholders, characters that tmux
//           moves about like any others.
//   iTerm2  a PNG over a rectangle of cells (https://iterm2.com/documentation-images.html). Where
//           tmux passes it on, it knows nothing of it: the picture in cells stands below, which it
//           shows when it draws the pane again.
//   sixel   the pixels themselves, in 256 colours (VT340)
//
// Images of the last two vanish when something else is written into their cells.
#ifndef VD_PIXELS_H
#define VD_PIXELS_H

#include <stdbool.h>

#include "features/pictures/image.h"
#include "tui/screen/grid.h"
#include "tui/screen/picture.h"

// Whether pictures of this look are pixels; width and height: cells that there are for one.
bool vd_pixels_wanted(const vd_look *look, int width, int height);
// Whether the picture in cells stands below the image.
bool vd_pixels_over_cells(const vd_look *look);
// Fills the cells below any other image.
void vd_pixels_fill_cells(vd_grid *grid, vd_rect place, unsigned id);

// The picture over width x height cells with its outlines, as pixels.
vd_status vd_pixels_compose(const vd_image *picture, int width, int height, vd_look look,
                            const vd_outline *outlines, int count, vd_image *out, vd_error *err);
// Sets the bytes, their length and a new id.
vd_status vd_pixels_encode(const vd_image *composed, vd_picture_pixels *to, vd_error *err);
// The sequence that deletes an image; "" for protocols whose images vanish by themselves. out of 64
// bytes.
void vd_pixels_removal(const vd_grid_image *image, char *out, size_t size);

#endif
