// Texts of a conversation as a model's tokens and as words, and back.
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/utf8.h"
#include "features/text/tokenize.h"
#include "tui/session/session.h"

// Own numbers are for models that copy.
static void fit_ids(const vd_model *model, int32_t *ids, int length)
{
    const vd_config *config = vd_model_config(model);
    if (!vd_copies(config))
        vd_batch_known(ids, (size_t)length, config->vocab);
}

vd_status vd_caption_ids(const vd_model *model, vd_oov_words *own, const char *caption,
                         int32_t ids[VD_MAX_HISTORY], int *length, vd_error *err)
{
    vd_status status = vd_text_oov_ids(own, caption, false, VD_MAX_HISTORY - 1, ids, length, err);
    if (status != VD_OK)
        return status;
    if (*length == 0)
        ids[(*length)++] = VD_UNKNOWN;
    fit_ids(model, ids, *length);
    return VD_OK;
}

vd_status vd_turn_ids(const vd_model *model, vd_oov_words *own, const char *question,
                      const char *answer, int32_t ids[VD_MAX_HISTORY], int *length, vd_error *err)
{
    int32_t asked[VD_MAX_QUESTION], said[VD_MAX_CANDIDATE];
    int asked_length = 0, said_length = 0;
    vd_status status =
        vd_text_oov_ids(own, question, true, VD_MAX_QUESTION - 1, asked, &asked_length, err);
    if (status == VD_OK && answer)
        status = vd_answer_oov_ids(own, answer, VD_CUT_CANDIDATE, said, &said_length, err);
    if (status != VD_OK)
        return status;
    *length = vd_history_entry(asked, asked_length, said, said_length, ids);
    fit_ids(model, ids, *length);
    return VD_OK;
}

vd_status vd_reply_number(vd_reply *reply, const vd_model *model, vd_oov_words *own, vd_error *err)
{
    vd_status status = VD_OK;
    for (int i = 0; i < reply->words && status == VD_OK; i++)
        if (reply->unknown[i] && vd_copies(vd_model_config(model)))
            status = vd_oov_words_id(own, reply->word[i], &reply->ids[i], err);
    return status;
}

char *vd_generated_answer_text(const vd_oov_words *own, const vd_generated_answer *generated)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < generated->length; i++)
        g_string_append_printf(text, "%s%s", i ? " " : "",
                               vd_oov_words_word(own, generated->word[i]));
    return g_string_free(text, FALSE);
}

// ---- the words of an entry ----------------------------------------------------------------------

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

// ---- names of words -----------------------------------------------------------------------------

static void name(const char *word, size_t length, const char *after, char *out, size_t size)
{
    length = vd_utf8_whole(word, length, size - 1 - strlen(after));
    snprintf(out, size, "%.*s%s", (int)length, word, after);
}

void vd_reply_given_word(const vd_reply *reply, int index, char *out, size_t size)
{
    const char *at = reply->given ? reply->given : "";
    for (; index > 0 && *at; index--) {
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    name(*at ? at : "(end)", *at ? strcspn(at, " ") : 5, "", out, size);
}

int vd_answer_entry(const vd_answer *answer, int word)
{
    int entry = 0;
    while (entry < answer->rounds && answer->history_start[entry + 1] <= word)
        entry++;
    return entry < answer->rounds ? entry : -1;
}

void vd_reply_dialog_word(const vd_reply *reply, int word, const vd_entry_words *words, char *out,
                          size_t size)
{
    const vd_answer *a = &reply->answer;
    int entry = vd_answer_entry(a, word), start = a->history_start[entry < 0 ? a->rounds : entry];
    const char *of = NULL;
    char after[16] = "";
    word -= start;
    if (entry >= 0)
        snprintf(after, sizeof after, "@%d", entry);
    if (entry < 0)
        of = word < reply->words ? reply->word[word] : NULL;
    else if (words->count == a->history_start[entry + 1] - start)
        of = words->word[word];
    if (of)
        name(of, strlen(of), after, out, size);
    else
        snprintf(out, size, "#%d%s", word + 1, after);
}
