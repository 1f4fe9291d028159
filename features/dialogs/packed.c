// Opening packed dialogs (features/dialogs/pack.h): all that is small is checked at once, the
// candidates when a dialog is used (vd_visdial_check_options), the ids of words when they become
// those of a vocabulary (features/dialogs/words.c).
#include <inttypes.h>

#include "engine/base/alloc.h"
#include "engine/base/utf8.h"
#include "features/dialogs/store.h"

typedef struct opening {
    vd_visdial_store *store;
    vd_packed_file *packed;
    vd_status status; // the first failure; what comes after it does nothing
    vd_error *err;
    size_t rounds, ranked, candidate_count;
    const int64_t *first_round;
    const int32_t *column[VD_COLUMNS]; // NULL where the file has none
    const int32_t *candidates;
    const char **families, **captions;
    size_t family_count;
} opening;

static void refuse(opening *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refuse(opening *o, const char *format, ...)
{
    char words[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (o->status == VD_OK)
        o->status = vd_error_set(o->err, VD_FORMAT, "%s: %s", o->store->data.path, words);
}

static void refuse_dialog(opening *o, size_t dialog, int32_t round, const char *words)
{
    char location[96];
    vd_visdial_location(location, sizeof location, dialog, o->store->data.dialogs[dialog].image_id,
                        round);
    refuse(o, "%s: %s; pack the dialogs again", location, words);
}

static void *allocate(opening *o, size_t count, size_t size)
{
    void *memory = o->status == VD_OK ? vd_alloc(count, size) : NULL;
    if (o->status == VD_OK && !memory)
        o->status = vd_error_memory(o->err, "a file of dialogs");
    return memory;
}

// ---- tensors ----------------------------------------------------------------

// A tensor of that kind, usable where it lies; rows 0: any number. An empty one after a failure.
static vd_tensor tensor(opening *o, const char *name, const char *suffix, vd_dtype dtype, int dims,
                        size_t rows)
{
    char whole[32];
    const vd_tensor *found = NULL;
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    if (o->status == VD_OK)
        o->status = vd_safetensors_require(o->packed->file, whole, dims, (size_t[]){rows, 0},
                                           &found, o->err);
    if (o->status == VD_OK && found->dtype != dtype)
        refuse(o, "tensor \"%s\" has dtype %s; %s is expected", whole, vd_dtype_name(found->dtype),
               vd_dtype_name(dtype));
    else if (o->status == VD_OK && (uintptr_t)found->data % vd_dtype_size(dtype) != 0)
        refuse(o, "tensor \"%s\" does not start at a multiple of %zu bytes; pack the dialogs again",
               whole, vd_dtype_size(dtype));
    return o->status == VD_OK ? *found : (vd_tensor){0};
}

// Where things start: numbers from 0 to `end`, each at least `least` and at most `most` more than
// the one before.
static void check_starts(opening *o, const vd_tensor *tensor, int64_t least, int64_t most,
                         size_t end)
{
    const int64_t *start = tensor->data;
    if (o->status != VD_OK)
        return;
    if (start[0] != 0)
        refuse(o, "%s[0] is %" PRId64 "; expected 0", tensor->name, start[0]);
    for (size_t i = 1; i < tensor->shape[0] && o->status == VD_OK; i++)
        // The difference cannot overflow: the number before is in 0..end.
        if (start[i] < 0 || start[i] - start[i - 1] < least || start[i] - start[i - 1] > most ||
            (uint64_t)start[i] > end)
            refuse(o,
                   "%s[%zu] is %" PRId64 "; expected %" PRId64 " to %" PRId64
                   " more than the %" PRId64 " before, up to %zu",
                   tensor->name, i, start[i], least, most, start[i - 1], end);
    if (o->status == VD_OK && (uint64_t)start[tensor->shape[0] - 1] != end)
        refuse(o, "%s ends with %" PRId64 "; expected %zu", tensor->name,
               start[tensor->shape[0] - 1], end);
}

// ---- texts ------------------------------------------------------------------

// Each text has its NUL at its end, no other, and all is UTF-8.
static void check_texts(opening *o, const char *name, const unsigned char *bytes,
                        const int64_t *start, size_t count)
{
    size_t size = (size_t)start[count], ends = 0, good = vd_utf8_valid(bytes, size), index = 0;
    for (size_t i = 0; i < size; i++)
        ends += bytes[i] == 0;
    for (size_t i = 0; i < count; i++)
        if (bytes[start[i + 1] - 1] != 0 ||
            (ends != count && memchr(bytes + start[i], 0, (size_t)(start[i + 1] - start[i] - 1))))
            refuse(o, "%s %zu is not one text that ends with a NUL; pack the dialogs again", name,
                   i);
    while (good < size && start[index + 1] <= (int64_t)good)
        index++;
    if (good < size)
        refuse(o, "%s %zu is not valid UTF-8; pack the dialogs again", name, index);
}

// The result is the caller's.
static const char **open_texts(opening *o, const char *name, size_t *count)
{
    vd_tensor text = tensor(o, name, "_text", VD_U8, 1, 0);
    vd_tensor start = tensor(o, name, "_start", VD_I64, 1, 0);
    if (o->status == VD_OK && (start.shape[0] < 1 || start.shape[0] > INT32_MAX))
        refuse(o, "%s has %zu elements; expected 1 to %d", start.name, start.shape[0], INT32_MAX);
    check_starts(o, &start, 1, INT32_MAX, text.shape[0]);
    const char **texts = allocate(o, start.shape[0] - 1, sizeof *texts);
    if (!texts || !start.data)
        return texts;
    *count = start.shape[0] - 1;
    for (size_t i = 0; i < *count; i++)
        texts[i] = (const char *)text.data + ((const int64_t *)start.data)[i];
    check_texts(o, name, text.data, start.data, *count);
    return texts;
}

static void open_tokens(opening *o)
{
    for (int kind = 0; kind < VD_TEXTS; kind++) {
        const struct vd_text_kind *text = &vd_text_kinds[kind];
        size_t count = vd_visdial_text_count(&o->store->data, kind);
        vd_tensor ids = tensor(o, text->name, "_ids", VD_I32, 1, 0);
        vd_tensor first = tensor(o, text->name, "_first", VD_I64, 1, count + 1);
        check_starts(o, &first, 0, text->most, ids.shape[0]);
        o->packed->tokens[kind] = (vd_packed_tokens){ids.data, first.data, count};
    }
}

static void open_words(opening *o)
{
    vd_packed_file *packed = o->packed;
    packed->words = open_texts(o, "word", &packed->word_count);
    packed->counts = tensor(o, "word_count", "", VD_I64, 1, packed->word_count).data;
    for (size_t i = 0; o->status == VD_OK && i < packed->word_count; i++)
        if (packed->counts[i] < 0 || (i > 0 && packed->counts[i] > packed->counts[i - 1]))
            refuse(o, "word_count[%zu] is %" PRId64 "; counts fall and end at 0", i,
                   packed->counts[i]);
}

// ---- dialogs ----------------------------------------------------------------

static void open_columns(opening *o)
{
    o->rounds = tensor(o, "question", "", VD_I32, 1, 0).shape[0];
    for (int c = 0; c < VD_COLUMNS; c++)
        if (c < VD_COLUMN_FAMILY || vd_safetensors_find(o->packed->file, vd_column_names[c]))
            o->column[c] = tensor(o, vd_column_names[c], "", VD_I32, 1, o->rounds).data;
    vd_tensor candidates = tensor(o, "candidates", "", VD_I32, 2, 0);
    o->candidates = candidates.data;
    o->ranked = candidates.shape[0];
    o->candidate_count = candidates.shape[1];
    if (o->ranked > 0 && (o->candidate_count < 2 || o->candidate_count > INT32_MAX))
        refuse(o, "%zu candidates a round; expected 2 or more (100 in VisDial)",
               o->candidate_count);
    vd_tensor first = tensor(o, "first_round", "", VD_I64, 1, o->store->data.dialog_count + 1);
    check_starts(o, &first, 1, INT32_MAX - 1, o->rounds);
    o->first_round = first.data;
}

static int32_t cell(const opening *o, int column, size_t round)
{
    return o->column[column] ? o->column[column][round] : -1;
}

static void fill_round(opening *o, size_t d, int32_t r)
{
    const vd_visdial *data = &o->store->data;
    size_t at = (size_t)(o->first_round[d] + r);
    vd_visdial_round *round = &data->dialogs[d].rounds[r];
    char words[400];
    *round = (vd_visdial_round){.question = cell(o, VD_COLUMN_QUESTION, at),
                                .answer = cell(o, VD_COLUMN_ANSWER, at),
                                .truth = cell(o, VD_COLUMN_TRUTH, at),
                                .coreference = cell(o, VD_COLUMN_COREFERENCE, at)};
    int32_t row = cell(o, VD_COLUMN_OPTIONS, at), family = cell(o, VD_COLUMN_FAMILY, at);
    if (row >= 0 && (size_t)row < o->ranked) {
        round->options = o->candidates + (size_t)row * o->candidate_count;
        round->option_count = (int32_t)o->candidate_count;
    }
    if (family >= 0 && (size_t)family < o->family_count)
        round->family = o->families[family];
    const char *wrong = NULL;
    if (row >= 0 && !round->options)
        wrong = "its row of candidates is not in the table";
    else if (family >= 0 && !round->family)
        wrong = "its family is not in the table";
    else if (round->coreference > r + 1)
        wrong = "\"coreference\" lies before the caption";
    else if (!vd_visdial_round_fits(data, &data->dialogs[d], r, words, sizeof words))
        wrong = words;
    else if (round->truth >= 0 && round->truth >= round->option_count)
        wrong = "gt_index points past its candidates";
    if (wrong)
        refuse_dialog(o, d, r + 1, wrong);
}

static void fill_dialogs(opening *o, const int64_t *ids)
{
    vd_visdial *data = &o->store->data;
    if (o->status != VD_OK || !ids)
        return;
    data->dialogs = allocate(o, data->dialog_count, sizeof *data->dialogs);
    vd_visdial_round *rounds = vd_string_arena_take(&o->store->arena, o->rounds, sizeof *rounds);
    if (o->status == VD_OK && !rounds)
        o->status = vd_error_memory(o->err, "the dialogs");
    for (size_t d = 0; o->status == VD_OK && d < data->dialog_count; d++) {
        data->dialogs[d] =
            (vd_visdial_dialog){.image_id = ids[d],
                                .caption = o->captions[d],
                                .round_count = (int32_t)(o->first_round[d + 1] - o->first_round[d]),
                                .rounds = rounds + o->first_round[d]};
        if (ids[d] < 0)
            refuse_dialog(o, d, 0, "its image_id is negative");
        for (int32_t r = 0; o->status == VD_OK && r < data->dialogs[d].round_count; r++)
            fill_round(o, d, r);
    }
    size_t first = 0, second = 0;
    if (o->status != VD_OK)
        return;
    o->status = vd_visdial_index(o->store, &first, &second, o->err);
    if (o->status != VD_MISMATCH)
        return;
    o->status = VD_OK;
    refuse_dialog(o, second, 0, "the image has a dialog already; one is expected");
}

// -----------------------------------------------------------------------------

static void open_metadata(opening *o)
{
    vd_visdial *data = &o->store->data;
    const char *value[3];
    static const char *const keys[3] = {"format", "version", "split"};
    for (int i = 0; i < 3; i++)
        value[i] = o->status ? NULL : vd_safetensors_metadata(o->packed->file, keys[i]);
    if (!value[0] || strcmp(value[0], "visdial dialogs 1") != 0 || !value[1] || !value[2]) {
        refuse(o,
               "a safetensors file, but not one of packed dialogs (its \"format\" is \"%.60s\"); "
               "expected what `visdial data pack` writes, or JSON",
               value[0] ? value[0] : "");
        return;
    }
    const char *words = vd_safetensors_metadata(o->packed->file, "words");
    o->packed->given = words && strcmp(words, "given") == 0;
    data->version = vd_string_arena_text(&o->store->arena, value[1], strlen(value[1]));
    data->split = vd_string_arena_text(&o->store->arena, value[2], strlen(value[2]));
    if (!data->version || !data->split)
        o->status = vd_error_memory(o->err, "dialogs");
}

static void open_all(opening *o)
{
    vd_visdial *data = &o->store->data;
    size_t captions = 0;
    open_metadata(o);
    vd_tensor ids = tensor(o, "image_id", "", VD_I64, 1, 0);
    data->dialog_count = ids.shape[0];
    if (data->dialog_count == 0)
        refuse(o, "there are no dialogs in it");
    data->questions = open_texts(o, "question", &data->question_count);
    data->answers = open_texts(o, "answer", &data->answer_count);
    o->captions = open_texts(o, "caption", &captions);
    o->families = open_texts(o, "family", &o->family_count);
    if (captions != data->dialog_count)
        refuse(o, "%zu captions for %zu dialogs", captions, data->dialog_count);
    open_words(o);
    open_tokens(o);
    open_columns(o);
    fill_dialogs(o, ids.data);
}

vd_status vd_packed_open(const char *path, vd_visdial **out, vd_error *err)
{
    opening o = {
        .store = vd_alloc(1, sizeof *o.store), .packed = vd_alloc(1, sizeof *o.packed), .err = err};
    *out = NULL;
    if (!o.store || !o.packed || !(o.store->data.path = vd_strdup(path)))
        o.status = vd_error_memory(err, "dialogs");
    if (o.store)
        o.store->packed = o.packed;
    if (o.status == VD_OK)
        o.status = vd_safetensors_open(path, &o.packed->file, err);
    if (o.status == VD_OK)
        open_all(&o);
    vd_free(o.captions);
    vd_free(o.families);
    if (o.status == VD_OK)
        *out = &o.store->data;
    else if (o.store)
        vd_visdial_free(&o.store->data);
    else
        vd_packed_free(o.packed);
    return o.status;
}

void vd_packed_free(vd_packed_file *packed)
{
    if (!packed)
        return;
    vd_safetensors_close(packed->file);
    vd_free(packed->words);
    vd_free(packed);
}
