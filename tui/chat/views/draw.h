// The views of the chat, and the parts that they share, each drawn into a rectangle.
#ifndef VD_CHAT_DRAW_H
#define VD_CHAT_DRAW_H

#include "tui/answer/panels.h"
#include "tui/answer/ranking.h"
#include "tui/base/shares.h"
#include "tui/chat/actions/actions.h"

#define X(name, view, title) extern const vd_view vd_view_##view;
VD_PLACE_LIST(X)
#undef X

// The answer that is looked at, as a sheet of one side; of none while there is no answer.
vd_sheet vd_chat_sheet(vd_chat *chat);
// The boxes that answers are outlined with; NULL: none are known, or wanted.
const float *vd_chat_boxes(const vd_chat *chat);

// The text below the picture: its caption and author, or the warning that it is unlike Blocks.
enum { VD_CAPTION_LINE = 1024 };
void vd_caption_line(const vd_chat *chat, char out[VD_CAPTION_LINE]);
void vd_draw_caption(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_draw_attention(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_sheet *sheet);
void vd_draw_answers(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_sheet *sheet);
void vd_draw_dialog(vd_chat *chat, vd_grid *grid, vd_rect at);
// "START of 312 in assets/pool.txt": a softmax over a pool is no confidence, so the pool is named
// wherever its probabilities stand; with less of its path where it is longer than `room`.
void vd_ranking_title(const vd_response *response, const char *start, int room, char *out,
                      size_t size);
// The words of a caption, or of two beside each other, with what each got from the history above
// and what the selected one got from each word below, over at most at.height rows: how many
// (caption_words.c).
int vd_draw_caption_words(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_caption_sheet *sheet);
// Who says or reads a side's caption, and how likely it is; behind or below it the dialog's other
// caption. Over at most at.height rows: how many (caption_title.c).
int vd_draw_caption_title(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_caption_sheet *sheet,
                          int side);
const char *vd_caption_letter(int side); // "A", "B"
void vd_draw_ranking_title(const vd_chat *chat, vd_grid *grid, vd_rect at, const vd_sheet *sheet);
// Marks the words of a text, which is drawn at (x, y) already, that the test takes.
void vd_mark_words(vd_grid *grid, int x, int y, int width, const char *text, size_t length,
                   bool (*test)(const void *context, const char *word), const void *context);

#endif
