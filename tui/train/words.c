#include "tui/train/words.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "features/text/vocab_file.h"

static vd_status read_words(const char *vocab, const vd_run_data *data, int64_t minimum,
                            vd_vocab **out, vd_error *err)
{
    if (vocab)
        return vd_vocab_read(vocab, minimum, out, err);
    return data->captions ? vd_captions_vocab(data->captions, minimum, 0, out, err)
                          : vd_dataset_vocab(data->dialogs, minimum, out, err);
}

vd_status vd_run_words(const char *vocab, const vd_run_data *data, int64_t minimum, vd_vocab **out,
                       vd_error *err)
{
    const char *path = vocab ? vocab : data->path;
    vd_vocab *all;
    vd_status status = read_words(vocab, data, minimum, out, err);
    if (status || vd_vocab_size(*out) > VD_FIRST_WORD)
        return status;
    vd_vocab_free(*out);
    *out = NULL;
    status = read_words(vocab, data, 1, &all, err);
    if (status)
        return status;
    bool any = vd_vocab_size(all) > VD_FIRST_WORD;
    vd_vocab_free(all);
    if (any)
        return vd_error_set(err, VD_FORMAT,
                            "no word occurs %" PRId64 " times in %.300s; lower --min-count",
                            minimum, path);
    return vd_error_set(err, VD_FORMAT, "%.300s: there are no words in it%s", path,
                        vocab ? "; leave --vocab out to take the data's own" : "");
}

vd_status vd_run_more_words(const vd_vocab *known, const vd_run_data *data, int64_t minimum,
                            vd_vocab **out, vd_error *err)
{
    *out = NULL;
    vd_vocab *found;
    vd_status status = data->captions ? vd_captions_vocab(data->captions, minimum, 0, &found, err)
                                      : vd_dataset_own_vocab(data->dialogs, minimum, &found, err);
    if (status)
        return status;
    int old = vd_vocab_size(known), new = vd_vocab_size(found);
    const char **words = g_new(const char *, old + new);
    size_t count = 0;
    for (int id = VD_FIRST_WORD; id < old; id++)
        words[count++] = vd_vocab_word(known, id);
    for (int id = VD_FIRST_WORD; id < new; id++)
        if (vd_vocab_id(known, vd_vocab_word(found, id)) == VD_UNKNOWN)
            words[count++] = vd_vocab_word(found, id);
    status = vd_vocab_from_words(words, count, out, err);
    g_free(words);
    vd_vocab_free(found);
    return status;
}

// The index of the first difference, or the end of the shorter one.
static int32_t first_other_word(const vd_vocab *a, const vd_vocab *b)
{
    int32_t id = 0;
    while (id < vd_vocab_size(a) && id < vd_vocab_size(b) &&
           strcmp(vd_vocab_word(a, id), vd_vocab_word(b, id)) == 0)
        id++;
    return id;
}

vd_status vd_run_words_check(const char *vocab, int64_t minimum, const vd_vocab *kept,
                             vd_error *err)
{
    vd_vocab *given;
    vd_status status = vd_vocab_read(vocab, minimum, &given, err);
    if (status)
        return status;
    int32_t words = vd_vocab_size(kept), id = first_other_word(given, kept);
    if (vd_vocab_size(given) != words)
        status = vd_error_set(err, VD_MISMATCH,
                              "--vocab %.300s: %d words, not the %d the run was started with; "
                              "leave it out to continue",
                              vocab, vd_vocab_size(given) - VD_FIRST_WORD, words - VD_FIRST_WORD);
    else if (id < words)
        status = vd_error_set(err, VD_MISMATCH,
                              "--vocab %.300s: word %d is \"%.40s\", the run was started with "
                              "\"%.40s\" there; leave it out to continue",
                              vocab, id - VD_FIRST_WORD + 1, vd_vocab_word(given, id),
                              vd_vocab_word(kept, id));
    vd_vocab_free(given);
    return status;
}
