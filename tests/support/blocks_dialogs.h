// 5,000 dialogs of the train split for a test program, and how to read their answers.
#ifndef VD_TEST_BLOCKS_DIALOGS_H
#define VD_TEST_BLOCKS_DIALOGS_H

#include <stdbool.h>
#include <string.h>

#include "assets/blocks/dialog.h"

enum { DIALOGS = 5000, ROUNDS = DIALOGS * BLOCKS_ROUNDS };

static blocks_scene scenes[DIALOGS];
static blocks_dialog dialogs[DIALOGS];

static inline int make_dialogs(void **state)
{
    (void)state;
    for (int i = 0; i < DIALOGS; i++) {
        blocks_scene_make(5, BLOCKS_TRAIN, i, &scenes[i]);
        blocks_dialog_make(&scenes[i], &dialogs[i]);
    }
    return 0;
}

static inline const blocks_round *round_at(int index)
{
    return &dialogs[index / BLOCKS_ROUNDS].round[index % BLOCKS_ROUNDS];
}

static inline bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

// "yes", "no" or neither, as the answer's first word has it.
static inline int polarity(const char *answer)
{
    static const char *const yes[] = {"yes", "yep", "yeah", "all of them"};
    static const char *const no[] = {"no,", "no", "nope", "not that i can see"};
    for (int i = 0; i < 4; i++) {
        size_t n = strlen(yes[i]);
        if (starts(answer, yes[i]) && (!answer[n] || answer[n] == ','))
            return 1;
        n = strlen(no[i]);
        if (starts(answer, no[i]) && (!answer[n] || answer[n] == ',' || no[i][n - 1] == ','))
            return 0;
    }
    return -1;
}

#endif
