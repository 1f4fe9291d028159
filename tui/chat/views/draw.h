// The views of the chat, and the parts that they share, each drawn into a rectangle.
#ifndef VD_CHAT_DRAW_H
#define VD_CHAT_DRAW_H

#include "tui/base/shares.h"
#include "tui/chat/actions/actions.h"

enum { VD_OUTLINES = 9 }; // regions outlined at most

#define X(name, view) extern const vd_view vd_view_##view;
VD_PLACE_LIST(X)
#undef X

// The picture with the regions that an answer looked at, NULL: without.
void vd_draw_picture(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_response *response);
void vd_draw_caption(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_draw_attention(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_draw_words(vd_grid *grid, vd_rect at, const vd_response *response);
void vd_draw_answers(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_draw_dialog(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_draw_ranking_title(const vd_chat *chat, vd_grid *grid, vd_rect at);
// One row of a ranking: place (from 0), text, bar, share.
void vd_draw_candidate(vd_grid *grid, vd_rect at, const vd_response *response, const vd_folded *row,
                       bool selected);
// The answer's text and how many are alike: "yes (+3 alike)", "yes +3" where that does not fit.
void vd_draw_alike(vd_grid *grid, vd_rect at, const char *text, int alike, vd_style style);
// Text over several lines, the last one cut with an ellipsis; returns the rows used.
int vd_draw_wrapped(vd_grid *grid, vd_rect at, const char *text, vd_style style);
// Marks that more lies above (first row > 0) and below (first row < most).
void vd_draw_more(vd_grid *grid, vd_rect at, int first, int most);

#endif
