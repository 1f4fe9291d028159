#include "tests/support/attentions.h"

#include <stdio.h>

vd_attention support_attention(const char *name, vd_axis query, vd_axis key, int rows, int columns,
                               float *share)
{
    vd_attention out = {
        .of = 1, .query = query, .key = key, .rows = rows, .columns = columns, .share = share};
    snprintf(out.name, sizeof out.name, "%s", name);
    return out;
}

int support_mvan(const vd_answer *answer, float *rounds, float *history_words,
                 float *question_words, float *regions, vd_attention *list)
{
    int words = answer->question_length;
    int all = answer->history_start ? answer->history_start[answer->rounds] : 0;
    list[0] =
        support_attention("rounds", VD_AXIS_QUESTIONS, VD_AXIS_ENTRIES, 1, answer->rounds, rounds);
    list[1] = support_attention("history-words", VD_AXIS_QUESTION_WORDS, VD_AXIS_HISTORY_WORDS,
                                words, all, history_words);
    list[1].by_entry = true;
    list[2] = support_attention("question-words", VD_AXIS_REGIONS, VD_AXIS_QUESTION_WORDS,
                                answer->regions, words, question_words);
    list[3] = support_attention("regions", VD_AXIS_QUESTIONS, VD_AXIS_REGIONS, 1, answer->regions,
                                regions);
    return 4;
}

int support_steps(const vd_answer *answer, float *rounds, float *first, float *second,
                  vd_attention *list)
{
    float *const regions[2] = {first, second};
    list[0] =
        support_attention("rounds", VD_AXIS_QUESTIONS, VD_AXIS_ENTRIES, 1, answer->rounds, rounds);
    for (int i = 0; i < 2; i++) {
        list[1 + i] = support_attention("regions", VD_AXIS_QUESTIONS, VD_AXIS_REGIONS, 1,
                                        answer->regions, regions[i]);
        snprintf(list[1 + i].part, sizeof list[1 + i].part, "step");
        list[1 + i].index = i;
        list[1 + i].of = 2;
    }
    return 3;
}

float support_topic(const vd_answer *answer, int entry, int word, int at)
{
    const vd_attention *topic =
        vd_answer_attention(answer, VD_AXIS_QUESTION_WORDS, VD_AXIS_HISTORY_WORDS);
    return topic->share[word * topic->columns + answer->history_start[entry] + at];
}

int support_entry_length(const vd_answer *answer, int entry)
{
    return answer->history_start[entry + 1] - answer->history_start[entry];
}
