// Terminals' side of the protocols for pictures: what a program wrote is read, and the pictures are
// rebuilt from it.
#ifndef VD_TEST_DECODERS_H
#define VD_TEST_DECODERS_H

#include <stdbool.h>
#include <stddef.h>

#include "features/pictures/image.h"

// A picture that a terminal shows, or was sent to show.
typedef struct shown_image {
    vd_image image; // vd_image_clear
    unsigned id;    // kitty's number, 0: none
    int columns, rows;
    bool virtual, tmux; // on placeholders; came in tmux's envelope
} shown_image;

enum { MOST_SHOWN = 64 };
typedef struct shown_images {
    shown_image at[MOST_SHOWN];
    int count;
    int sent; // in all, deleted ones too
} shown_images;

// Reads kitty's commands among other output, and does what they say. An unknown or broken one fails
// the test.
void decode_kitty(const char *bytes, size_t length, shown_images *out);
void decode_iterm(const char *bytes, size_t length, shown_images *out);
// In pixels; those that were not written stay 0.
void decode_sixel(const char *bytes, size_t length, shown_images *out);
void shown_images_clear(shown_images *images);

#endif
