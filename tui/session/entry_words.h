// The words of a history entry as the engine makes it, for people. Cut where the engine cuts.
#ifndef VD_ENTRY_WORDS_H
#define VD_ENTRY_WORDS_H

#include "engine/base/error.h"
#include "engine/networks/batch.h"

typedef struct vd_entry_words {
    int count; // 0: not known
    char word[VD_MAX_HISTORY][32];
} vd_entry_words;

// Text that is no UTF-8, or no memory: none.
vd_status vd_entry_words_caption(vd_entry_words *out, const char *caption, vd_error *err);
// question ++ <S> answer </S> ++ </S>. question: as the training text has it, without "?".
vd_status vd_entry_words_turn(vd_entry_words *out, const char *question, const char *answer,
                              vd_error *err);

#endif
