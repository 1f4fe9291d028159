#include "features/text/vocab_file.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/json_tree.h"

// ---- reading ----------------------------------------------------------------

#define MOST_BYTES ((size_t)256 << 20)

static bool is_count(const vd_json_value *value)
{
    enum { MOST_DIGITS = 18 }; // so that it is less than INT64_MAX
    return value->type == VD_JSON_NUMBER && strlen(value->text) <= MOST_DIGITS &&
           !value->text[strspn(value->text, "0123456789")];
}

static vd_status add_counts(const char *path, const vd_json_value *words, vd_word_counts *counts,
                            vd_error *err)
{
    vd_status status = VD_OK;
    if (words->type != VD_JSON_MAP)
        return vd_error_set(err, VD_FORMAT, "%s: found %s; expected one object of \"word\": count",
                            path, vd_json_type_name(words));
    for (const vd_json_value *word = words->first; word && status == VD_OK; word = word->next) {
        if (*word->key && is_count(word))
            status = vd_word_counts_add(counts, word->key, word->whole, err);
        else
            status =
                vd_error_set(err, VD_FORMAT,
                             "%s: found \"%.60s\": %.40s; expected one object of \"word\": count",
                             path, word->key, word->text ? word->text : vd_json_type_name(word));
    }
    return status;
}

static vd_status parse_counts(const char *path, const char *json, size_t size, vd_word_counts *out,
                              vd_error *err)
{
    vd_json_value *words;
    vd_status status = vd_json_value_read(path, json, size, &words, err);
    if (status == VD_OK)
        status = add_counts(path, words, out, err);
    vd_json_value_free(words);
    return status;
}

static bool starts_with(const char *json, char first)
{
    return json[strspn(json, " \t\r\n")] == first;
}

vd_status vd_word_counts_read(const char *path, vd_word_counts *out, vd_error *err)
{
    char *json;
    size_t size;
    vd_status status = vd_file_read(path, MOST_BYTES, &json, &size, err);
    if (status != VD_OK)
        return status;
    status = starts_with(json, '[')
                 ? vd_error_set(err, VD_FORMAT,
                                "%s: a list of words without counts; expected one object of "
                                "\"word\": count, as `visdial data vocab` writes",
                                path)
                 : parse_counts(path, json, size, out, err);
    vd_free(json);
    return status;
}

vd_status vd_vocab_read(const char *path, int64_t minimum, vd_vocab **out, vd_error *err)
{
    char *json;
    size_t size;
    vd_word_counts counts = {0};
    *out = NULL;
    vd_status status = vd_file_read(path, MOST_BYTES, &json, &size, err);
    if (status != VD_OK)
        return status;
    bool counted = starts_with(json, '{');
    status = counted ? parse_counts(path, json, size, &counts, err)
                     : vd_vocab_from_json(json, size, path, out, err);
    if (status == VD_OK && counted)
        status = vd_word_counts_vocab(&counts, minimum, out, err);
    vd_word_counts_clear(&counts);
    vd_free(json);
    return status;
}

// ---- writing ----------------------------------------------------------------

typedef struct counted {
    const vd_word_counts *counts;
    const vd_vocab *words; // in falling order
} counted;

static yajl_gen_status emit_counts(yajl_gen gen, void *context)
{
    const counted *c = context;
    yajl_gen_status status = vd_json_put(gen, "{");
    for (int32_t id = VD_FIRST_WORD; !status && id < vd_vocab_size(c->words); id++) {
        const char *word = vd_vocab_word(c->words, id);
        status = vd_json_put(gen, "%s: %" PRId64, word, vd_word_counts_times(c->counts, word));
    }
    return status ? status : vd_json_put(gen, "}");
}

vd_status vd_word_counts_write(const vd_word_counts *counts, const char *path, size_t *written,
                               vd_error *err)
{
    vd_vocab *words = NULL;
    vd_status status = vd_word_counts_vocab(counts, 1, &words, err);
    if (status == VD_OK)
        status = vd_json_write_file(path, emit_counts, &(counted){counts, words}, err);
    if (status == VD_OK)
        *written = (size_t)vd_vocab_size(words) - VD_FIRST_WORD;
    vd_vocab_free(words);
    return status;
}
