#include "tui/train/words.h"

#include <inttypes.h>

#include "engine/base/alloc.h"
#include "features/dialogs/dataset.h"
#include "features/text/vocab_file.h"

static vd_status read_words(const char *vocab, const vd_visdial *dialogs, int64_t minimum,
                            vd_vocab **out, vd_error *err)
{
    return vocab ? vd_vocab_read(vocab, minimum, out, err)
                 : vd_dataset_vocab(dialogs, minimum, out, err);
}

vd_status vd_run_words(const char *vocab, const char *data, const vd_visdial *dialogs,
                       int64_t minimum, vd_vocab **out, vd_error *err)
{
    const char *path = vocab ? vocab : data;
    vd_vocab *all;
    vd_status status = read_words(vocab, dialogs, minimum, out, err);
    if (status || vd_vocab_size(*out) > VD_FIRST_WORD)
        return status;
    vd_vocab_free(*out);
    *out = NULL;
    status = read_words(vocab, dialogs, 1, &all, err);
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

vd_status vd_run_more_words(const vd_vocab *known, const vd_visdial *dialogs, int64_t minimum,
                            vd_vocab **out, vd_error *err)
{
    *out = NULL;
    vd_vocab *found;
    vd_status status = vd_dataset_vocab(dialogs, minimum, &found, err);
    if (status)
        return status;
    int old = vd_vocab_size(known), new = vd_vocab_size(found);
    const char **words = vd_alloc((size_t)(old + new), sizeof *words);
    size_t count = 0;
    for (int id = VD_FIRST_WORD; words && id < old; id++)
        words[count++] = vd_vocab_word(known, id);
    for (int id = VD_FIRST_WORD; words && id < new; id++)
        if (vd_vocab_id(known, vd_vocab_word(found, id)) == VD_UNKNOWN)
            words[count++] = vd_vocab_word(found, id);
    status = words ? vd_vocab_from_words(words, count, out, err)
                   : vd_error_memory(err, "the words of a run");
    vd_free(words);
    vd_vocab_free(found);
    return status;
}
