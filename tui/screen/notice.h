// A message for the person: what has happened last.
#ifndef VD_NOTICE_H
#define VD_NOTICE_H

#include <stdbool.h>

#include "tui/screen/grid.h"

typedef enum vd_notice_kind {
    VD_NOTICE_NONE, // the text says nothing
    VD_NOTICE_SAID,
    VD_NOTICE_WAIT, // holds until the question that is being answered has its answer
    VD_NOTICE_WRONG // an error
} vd_notice_kind;

typedef struct vd_notice {
    vd_notice_kind kind;
    char text[512];
} vd_notice;

#define VD_ASK_FIRST "ask something first"

// Replaces the one before; false, for who refuses something.
bool vd_notice_put(vd_notice *notice, vd_notice_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define vd_notice_say(notice, ...)      vd_notice_put(notice, VD_NOTICE_SAID, __VA_ARGS__)
#define vd_notice_wait(notice, ...)     vd_notice_put(notice, VD_NOTICE_WAIT, __VA_ARGS__)
#define vd_notice_complain(notice, ...) vd_notice_put(notice, VD_NOTICE_WRONG, __VA_ARGS__)

enum { VD_NOTICE_ROWS = 3 }; // at most
// How many rows it takes, and the drawing of it into them.
int vd_notice_rows(const vd_notice *notice, vd_grid *grid, int width);
void vd_notice_draw(const vd_notice *notice, vd_grid *grid, vd_rect at);

#endif
