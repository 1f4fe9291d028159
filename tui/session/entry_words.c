#include "tui/session/entry_words.h"

#include <stdio.h>

#include "features/text/tokenize.h"

static void add_word(vd_entry_words *out, const char *word, int most)
{
    if (out->count < most && out->count < VD_MAX_HISTORY)
        snprintf(out->word[out->count++], sizeof out->word[0], "%.31s", word);
}

static vd_status add_text(vd_entry_words *out, const char *text, int most, vd_error *err)
{
    vd_words words = {0};
    vd_status status = vd_tokenize(text, &words, err);
    for (size_t i = 0; status == VD_OK && i < words.count; i++)
        add_word(out, words.word[i], most);
    vd_words_clear(&words);
    return status;
}

vd_status vd_entry_words_caption(vd_entry_words *out, const char *caption, vd_error *err)
{
    out->count = 0;
    return add_text(out, caption, VD_MAX_HISTORY - 1, err);
}

// Question and wrapped answer are each cut to 19 (vd_history_entry).
vd_status vd_entry_words_turn(vd_entry_words *out, const char *question, const char *answer,
                              vd_error *err)
{
    const int most = VD_MAX_QUESTION - 1;
    out->count = 0;
    vd_status status = add_text(out, question, most, err);
    add_word(out, "?", most);
    int end = out->count + most;
    add_word(out, "<S>", end);
    if (status == VD_OK)
        status = add_text(out, answer, end, err);
    add_word(out, "</S>", end);
    add_word(out, "</S>", VD_MAX_HISTORY);
    out->count = status ? 0 : out->count;
    return status;
}
