#include "tui/screen/shown.h"

#include <string.h>

#include "tui/screen/pixels.h"
#include "tui/screen/tmux.h"

static bool has(const vd_grid_image *images, int count, const vd_grid_image *image)
{
    for (int i = 0; i < count; i++)
        if (images[i].id == image->id &&
            memcmp(&images[i].place, &image->place, sizeof image->place) == 0)
            return true;
    return false;
}

static void take_away(const vd_grid_image *image, FILE *out)
{
    char removal[64];
    vd_pixels_removal(image, removal, sizeof removal);
    fputs(removal, out);
}

// To its place on tmux's terminal, which is not the pane's. tmux sends on the cells that it has so
// far when the scrolling region is set (to all), so that they do not come behind the image.
static void send_over_tmux(const vd_grid_image *image, FILE *out)
{
    enum { MOST = 1000000 }; // tmux drops what is longer than 1 MiB
    int x, y;
    if (image->length > MOST || !vd_tmux_place(&x, &y))
        return;
    fprintf(out, "\0337\033[r\0338\033Ptmux;\033\033[%d;%dH", y + image->place.y + 1,
            x + image->place.x + 1);
    fwrite(image->bytes, 1, image->length, out);
    fputs("\033\\", out);
}

static void send(const vd_grid_image *image, FILE *out)
{
    if (vd_pixels_over_cells(&image->look)) {
        send_over_tmux(image, out);
        return;
    }
    if (!image->look.tmux) // the cursor goes there and back
        fprintf(out, "\0337\033[%d;%dH", image->place.y + 1, image->place.x + 1);
    fwrite(image->bytes, 1, image->length, out);
    if (!image->look.tmux)
        fputs("\0338", out);
}

void vd_shown_forget(vd_placed_pictures *shown, FILE *out)
{
    for (int i = 0; i < shown->count; i++)
        take_away(&shown->image[i], out);
    shown->count = 0;
    shown->gone = false;
    fflush(out);
}

void vd_shown_update(vd_placed_pictures *shown, const vd_grid *grid, FILE *out)
{
    if (shown->gone)
        vd_shown_forget(shown, out);
    for (int i = 0; i < grid->images; i++)
        if (!has(shown->image, shown->count, &grid->image[i]))
            send(&grid->image[i], out);
    for (int i = 0; i < shown->count; i++) // after the new ones: nothing is empty for a moment
        if (!vd_grid_has_image(grid, shown->image[i].id)) // sent again it has left its old place
            take_away(&shown->image[i], out);
    fflush(out);
    memcpy(shown->image, grid->image, sizeof shown->image);
    shown->count = grid->images;
}
