// How a caption that was generated compares with the one that its picture has in the data.
#ifndef VD_SCORE_H
#define VD_SCORE_H

#include "tui/session/caption_sheet.h"

// Of both captions of two captioners, where the data have one of the picture: side[i].score.
vd_status vd_score_sheet(const vd_world *world, vd_caption_sheet *sheet, vd_error *err);

#endif
