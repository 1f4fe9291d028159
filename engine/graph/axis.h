// What the rows or columns of numbers stand for.
#ifndef VD_AXIS_H
#define VD_AXIS_H

#include <stdbool.h>

// With their names in files. Entries are the history: the caption, then the rounds; history words
// those of all entries, one entry after another. Answers are the candidates; the words of one are
// those that are generated, then its end. Dialog words are those of the history, then the
// question's.
#define VD_AXES(X)                                                                                 \
    X(VD_AXIS_NONE, "")                                                                            \
    X(VD_AXIS_DIALOGS, "dialogs")                                                                  \
    X(VD_AXIS_QUESTIONS, "question")                                                               \
    X(VD_AXIS_QUESTION_WORDS, "question words")                                                    \
    X(VD_AXIS_ENTRIES, "entries")                                                                  \
    X(VD_AXIS_HISTORY_WORDS, "history words")                                                      \
    X(VD_AXIS_REGIONS, "regions")                                                                  \
    X(VD_AXIS_ANSWERS, "answers")                                                                  \
    X(VD_AXIS_ANSWER_WORDS, "answer words")                                                        \
    X(VD_AXIS_DIALOG_WORDS, "dialog words")                                                        \
    X(VD_AXIS_PAIRS, "pairs")
#define VD_AXIS_OF(axis, name) axis,
typedef enum vd_axis { VD_AXES(VD_AXIS_OF) VD_AXIS_COUNT } vd_axis;
#undef VD_AXIS_OF

const char *vd_axis_name(vd_axis axis);
bool vd_axis_parse(const char *name, vd_axis *out); // false: there is none of this name

#endif
