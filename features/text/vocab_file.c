#include "features/text/vocab_file.h"

#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/json.h"

// ---- reading ----------------------------------------------------------------

#define MOST_BYTES ((size_t)256 << 20)

typedef struct counts_file {
    const char *path;
    vd_word_counts *counts;
    char *word; // of the key just read
    int depth;
    vd_status refused;
    vd_error *err;
} counts_file;

static int refuse(void *context, const char *found)
{
    counts_file *f = context;
    f->refused =
        vd_error_set(f->err, VD_FORMAT, "%s: found %s%.60s; expected one object of \"word\": count",
                     f->path, found, f->word ? f->word : "");
    return 0;
}

static int on_key(void *context, const unsigned char *text, size_t length)
{
    counts_file *f = context;
    if (length == 0)
        return refuse(f, "an empty word after ");
    vd_free(f->word);
    f->word = vd_strndup((const char *)text, length);
    if (!f->word)
        f->refused = vd_error_memory(f->err, "a word");
    return f->word != NULL;
}

static int on_integer(void *context, long long count)
{
    counts_file *f = context;
    if (!f->word || count < 0)
        return refuse(f, "a number that is no count at ");
    f->refused = vd_word_counts_add(f->counts, f->word, count, f->err);
    return f->refused == VD_OK;
}

static int on_double(void *context, double value)
{
    (void)value;
    return refuse(context, "a fraction at ");
}

static int on_null(void *context)
{
    return refuse(context, "null at ");
}

static int on_boolean(void *context, int value)
{
    (void)value;
    return refuse(context, "true or false at ");
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
    (void)text;
    (void)length;
    return refuse(context, "a string at ");
}

static int on_open(void *context)
{
    counts_file *f = context;
    return f->depth++ == 0 ? 1 : refuse(f, "an object at ");
}

static int on_array(void *context)
{
    return refuse(context, "a list at ");
}

static vd_status parse_counts(const char *path, const char *json, size_t size, vd_word_counts **out,
                              vd_error *err)
{
    static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                             .yajl_boolean = on_boolean,
                                             .yajl_integer = on_integer,
                                             .yajl_double = on_double,
                                             .yajl_string = on_string,
                                             .yajl_start_map = on_open,
                                             .yajl_map_key = on_key,
                                             .yajl_start_array = on_array};
    counts_file f = {.path = path, .err = err};
    vd_status status = vd_word_counts_new(&f.counts, err);
    if (status == VD_OK)
        status = vd_json_read(path, json, size, &callbacks, &f, &f.refused, err);
    vd_free(f.word);
    if (status == VD_OK)
        *out = f.counts;
    else
        vd_word_counts_free(f.counts);
    return status;
}

static vd_status counts_to_vocab(const char *path, const char *json, size_t size, int64_t minimum,
                                 vd_vocab **out, vd_error *err)
{
    vd_word_counts *counts;
    vd_status status = parse_counts(path, json, size, &counts, err);
    if (status != VD_OK)
        return status;
    status = vd_word_counts_vocab(counts, minimum, out, err);
    vd_word_counts_free(counts);
    return status;
}

static bool starts_with(const char *json, char first)
{
    return json[strspn(json, " \t\r\n")] == first;
}

vd_status vd_word_counts_read(const char *path, vd_word_counts **out, vd_error *err)
{
    char *json;
    size_t size;
    *out = NULL;
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
    *out = NULL;
    vd_status status = vd_file_read(path, MOST_BYTES, &json, &size, err);
    if (status != VD_OK)
        return status;
    status = starts_with(json, '{') ? counts_to_vocab(path, json, size, minimum, out, err)
                                    : vd_vocab_from_json(json, size, path, out, err);
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
    yajl_gen_status status = yajl_gen_map_open(gen);
    for (int32_t id = VD_FIRST_WORD; !status && id < vd_vocab_size(c->words); id++) {
        const char *word = vd_vocab_word(c->words, id);
        status = yajl_gen_string(gen, (const unsigned char *)word, strlen(word));
        if (!status)
            status = yajl_gen_integer(gen, vd_word_counts_times(c->counts, word));
    }
    return status ? status : yajl_gen_map_close(gen);
}

vd_status vd_word_counts_write(const vd_word_counts *counts, const char *path, size_t *written,
                               vd_error *err)
{
    char *json = NULL;
    size_t length = 0;
    vd_vocab *words = NULL;
    vd_output *output = NULL;
    vd_status status = vd_word_counts_vocab(counts, 1, &words, err);
    if (status == VD_OK)
        status = vd_json_write(path, emit_counts, &(counted){counts, words}, &json, &length, err);
    if (status == VD_OK)
        status = vd_output_create(path, &output, err);
    if (status == VD_OK)
        status = vd_output_write(output, json, length, err);
    if (status == VD_OK)
        status = vd_output_write(output, "\n", 1, err);
    if (status == VD_OK)
        status = vd_output_commit(output, err);
    else
        vd_output_abort(output);
    if (status == VD_OK)
        *written = (size_t)vd_vocab_size(words) - VD_FIRST_WORD;
    vd_vocab_free(words);
    vd_free(json);
    return status;
}
