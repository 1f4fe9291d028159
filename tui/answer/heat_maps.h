// The four attentions for one question as heat maps with numbers, word by word: what the chat's
// attention view and the cases of a comparison show. No terminal here.
//   1 question -> history rounds      2 question word -> words of each round
//   3 regions -> question words       4 the answer's regions
#ifndef VD_HEAT_MAPS_H
#define VD_HEAT_MAPS_H

#include "tui/screen/grid.h"
#include "tui/session/session.h"

// The words of a history entry as the engine makes it, for people. Cut where the engine cuts.
typedef struct vd_entry_words {
    int count;
    char word[VD_MAX_HISTORY][32];
} vd_entry_words;

void vd_entry_words_caption(vd_entry_words *out, const char *caption);
// question: its words, "?" included.
void vd_entry_words_round(vd_entry_words *out, const char *const *question, int words,
                          const char *answer);

typedef struct vd_heat_maps {
    const vd_reply *reply;
    int word; // of the question (< answer.question_length), whose attention 2 is shown
    // The words of an entry, 0 the caption; none where they are not known, numbers stand for them.
    void (*words_of)(const void *context, int entry, vd_entry_words *out);
    const void *context;
    bool pending; // attention 2 is missing, but on its way
} vd_heat_maps;

// Without attention 2 its place says so. Where the question has more words than columns fit, those
// around `word` are shown and numbered.
// Draws the page from its row `top` on into `at`. Returns how many rows the page has.
int vd_heat_maps_draw(const vd_heat_maps *maps, vd_grid *grid, vd_rect at, int top);

#endif
