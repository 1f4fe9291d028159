// Captions and dialogs about a scene, after CLEVR-Dialog (Kottur et al. 2019), in our own words.
#ifndef BLOCKS_DIALOG_H
#define BLOCKS_DIALOG_H

#include "assets/blocks/scene.h"

enum { BLOCKS_ROUNDS = 10, BLOCKS_CANDIDATES = 100, BLOCKS_TEXT = 160 };

typedef struct blocks_round {
    char question[BLOCKS_TEXT]; // lower case, no "?"
    const char *family; // "count", "exist", "verify", "attribute", "relation", "comparison",
                        // "superlative", "choice", "another", "absent"
    int coreference;    // rounds back to what is referred to (caption = round 0); 0 = none
    int answer;         // index into the answer table (answers.h)
    int options[BLOCKS_CANDIDATES];
    int truth;                          // index into options
    float relevance[BLOCKS_CANDIDATES]; // 1 for every true phrase, between for partly true
} blocks_round;

typedef struct blocks_dialog {
    char caption[BLOCKS_TEXT];
    blocks_round round[BLOCKS_ROUNDS];
} blocks_dialog;

// Every answer the world can give, in a fixed order.
int blocks_answer_count(void);
const char *blocks_answer_text(int index);

// Deterministic in (scene->dialog_seed, scene->image_id).
void blocks_dialog_make(const blocks_scene *scene, blocks_dialog *dialog);
// The dialog's caption, then count - 1 more about the same scene, each sampled independently (two
// may be equal), from a random stream of their own: the dialog stays as it is. caption: (count).
void blocks_captions_make(const blocks_scene *scene, int count, char (*caption)[BLOCKS_TEXT]);

#endif
