// Opening packed dialogs (features/dialogs/pack.h): all that is small is checked at once, the
// candidates when a dialog is used (vd_visdial_check_options), the ids of words when they become
// those of a vocabulary (features/dialogs/token_tables.c).
#include <inttypes.h>

#include <utf8proc.h>

#include "engine/base/alloc.h"
#include "features/dialogs/dataset_store.h"
#include "features/dialogs/pack.h"
#include "features/dialogs/store.h"

typedef struct opening {
    vd_visdial_store *store;
    vd_packed_file *packed;
    size_t rounds;
    const int64_t *first_round;
    const int32_t *question, *answer, *truth, *options, *family,
        *coreference; // the last two or NULL
    const int32_t *candidates;
    size_t ranked, candidate_count;
    const char **families;
    size_t family_count;
} opening;

// ---- tensors ----------------------------------------------------------------

// A tensor of that kind, usable where it lies. *count: its first dimension.
static vd_status tensor(const opening *o, const char *name, vd_dtype dtype, int dims,
                        const size_t *shape, const void **data, size_t *count, vd_error *err)
{
    const char *path = vd_safetensors_path(o->packed->file);
    const vd_tensor *found;
    vd_status status = vd_safetensors_require(o->packed->file, name, dims, shape, &found, err);
    if (status != VD_OK)
        return status;
    if (found->dtype != dtype)
        return vd_error_set(err, VD_FORMAT, "%s: tensor \"%s\" has dtype %s; %s is expected", path,
                            name, vd_dtype_name(found->dtype), vd_dtype_name(dtype));
    if ((uintptr_t)found->data % vd_dtype_size(dtype) != 0)
        return vd_error_set(
            err, VD_FORMAT,
            "%s: tensor \"%s\" does not start at a multiple of %zu bytes; pack the dialogs again",
            path, name, vd_dtype_size(dtype));
    *data = found->data;
    if (count)
        *count = found->shape[0];
    return VD_OK;
}

static vd_status column(const opening *o, const char *name, const int32_t **out, vd_error *err)
{
    const void *data = NULL;
    vd_status status = tensor(o, name, VD_I32, 1, &o->rounds, &data, NULL, err);
    if (status == VD_OK)
        *out = data;
    return status;
}

// Where things start: count + 1 numbers from 0 to `end`, each at least `least` and at most `most`
// more than the one before.
static vd_status check_starts(const opening *o, const char *name, const int64_t *start,
                              size_t count, int64_t least, int64_t most, size_t end, vd_error *err)
{
    const char *path = vd_safetensors_path(o->packed->file);
    if (start[0] != 0)
        return vd_error_set(err, VD_FORMAT, "%s: %s[0] is %" PRId64 "; expected 0", path, name,
                            start[0]);
    for (size_t i = 0; i < count; i++) {
        // The difference cannot overflow: start[i] is in 0..end.
        if (start[i + 1] < 0 || start[i + 1] - start[i] < least || start[i + 1] - start[i] > most ||
            (uint64_t)start[i + 1] > end)
            return vd_error_set(err, VD_FORMAT,
                                "%s: %s[%zu] is %" PRId64 "; expected %" PRId64 " to %" PRId64
                                " more than the %" PRId64 " before, up to %zu",
                                path, name, i + 1, start[i + 1], least, most, start[i], end);
    }
    if ((uint64_t)start[count] != end)
        return vd_error_set(err, VD_FORMAT, "%s: %s ends with %" PRId64 "; expected %zu", path,
                            name, start[count], end);
    return VD_OK;
}

// ---- texts ------------------------------------------------------------------

static vd_status refuse_text(const opening *o, const char *name, size_t index, const char *wrong,
                             vd_error *err)
{
    return vd_error_set(err, VD_FORMAT, "%s: %s %zu %s; pack the dialogs again",
                        vd_safetensors_path(o->packed->file), name, index, wrong);
}

// Where the bytes stop being UTF-8; `size` when they do not. Most are ASCII, eight at a time.
static size_t utf8_end(const unsigned char *bytes, size_t size)
{
    size_t i = 0;
    while (i < size) {
        uint64_t eight;
        for (; size - i >= sizeof eight; i += sizeof eight) {
            memcpy(&eight, bytes + i, sizeof eight);
            if (eight & UINT64_C(0x8080808080808080))
                break;
        }
        for (int k = 0; k < 8 && i < size; k++) {
            utf8proc_int32_t rune;
            utf8proc_ssize_t used =
                bytes[i] < 0x80 ? 1
                                : utf8proc_iterate(bytes + i, (utf8proc_ssize_t)(size - i), &rune);
            if (used <= 0)
                return i;
            i += (size_t)used;
        }
    }
    return i;
}

// Each text has its NUL at its end, no other, and all is UTF-8.
static vd_status check_texts(const opening *o, const char *name, const unsigned char *bytes,
                             const int64_t *start, size_t count, vd_error *err)
{
    size_t size = (size_t)start[count], ends = 0, good = utf8_end(bytes, size), index = 0;
    for (size_t i = 0; i < size; i++)
        ends += bytes[i] == 0;
    for (size_t i = 0; i < count; i++)
        if (bytes[start[i + 1] - 1] != 0 ||
            (ends != count && memchr(bytes + start[i], 0, (size_t)(start[i + 1] - start[i] - 1))))
            return refuse_text(o, name, i, "is not one text that ends with a NUL", err);
    while (good < size && start[index + 1] <= (int64_t)good)
        index++;
    return good < size ? refuse_text(o, name, index, "is not valid UTF-8", err) : VD_OK;
}

static vd_status open_texts(const opening *o, const char *name, const char ***out, size_t *count,
                            vd_error *err)
{
    char whole[32];
    const void *start_data = NULL, *text_data = NULL;
    size_t starts = 0, bytes = 0;
    snprintf(whole, sizeof whole, "%s_text", name);
    vd_status status = tensor(o, whole, VD_U8, 1, (size_t[]){0}, &text_data, &bytes, err);
    snprintf(whole, sizeof whole, "%s_start", name);
    if (status == VD_OK)
        status = tensor(o, whole, VD_I64, 1, (size_t[]){0}, &start_data, &starts, err);
    if (status == VD_OK && (starts < 1 || starts > INT32_MAX))
        status = vd_error_set(err, VD_FORMAT, "%s: %s has %zu elements; expected 1 to %d",
                              vd_safetensors_path(o->packed->file), whole, starts, INT32_MAX);
    const int64_t *start = start_data;
    if (status == VD_OK)
        status = check_starts(o, whole, start, starts - 1, 1, INT32_MAX, bytes, err);
    const char **texts = status == VD_OK ? vd_alloc(starts - 1, sizeof *texts) : NULL;
    if (status == VD_OK && !texts)
        status = vd_error_memory(err, "the texts of a file of dialogs");
    for (size_t i = 0; status == VD_OK && i + 1 < starts; i++)
        texts[i] = (const char *)text_data + start[i];
    if (status == VD_OK)
        status = check_texts(o, name, text_data, start, starts - 1, err);
    *out = texts; // the caller's, failed or not
    if (status == VD_OK)
        *count = starts - 1;
    return status;
}

static vd_status open_tokens(const opening *o, const char *name, size_t count, int64_t most,
                             vd_packed_tokens *out, vd_error *err)
{
    char whole[32];
    const void *ids = NULL, *first = NULL;
    size_t all = 0;
    snprintf(whole, sizeof whole, "%s_ids", name);
    vd_status status = tensor(o, whole, VD_I32, 1, (size_t[]){0}, &ids, &all, err);
    snprintf(whole, sizeof whole, "%s_first", name);
    if (status == VD_OK)
        status = tensor(o, whole, VD_I64, 1, (size_t[]){count + 1}, &first, NULL, err);
    if (status == VD_OK)
        status = check_starts(o, whole, first, count, 0, most, all, err);
    if (status == VD_OK)
        *out = (vd_packed_tokens){.ids = ids, .first = first, .count = count};
    return status;
}

static vd_status open_tables(opening *o, vd_error *err)
{
    vd_packed_file *packed = o->packed;
    vd_visdial *data = &o->store->data;
    const void *counts = NULL;
    const char **questions = NULL, **answers = NULL;
    vd_status status = open_texts(o, "question", &questions, &data->question_count, err);
    data->questions = (char **)questions;
    if (status == VD_OK)
        status = open_texts(o, "answer", &answers, &data->answer_count, err);
    data->answers = (char **)answers;
    if (status == VD_OK)
        status = open_texts(o, "word", &packed->words, &packed->word_count, err);
    if (status == VD_OK)
        status = open_texts(o, "family", &o->families, &o->family_count, err);
    if (status == VD_OK)
        status = tensor(o, "word_count", VD_I64, 1, &packed->word_count, &counts, NULL, err);
    if (status != VD_OK)
        return status;
    packed->counts = counts;
    for (size_t i = 0; i < packed->word_count; i++)
        if (packed->counts[i] < 0 || (i > 0 && packed->counts[i] > packed->counts[i - 1]))
            return vd_error_set(err, VD_FORMAT,
                                "%s: word_count[%zu] is %" PRId64 "; counts fall and end at 0",
                                vd_safetensors_path(packed->file), i, packed->counts[i]);
    status =
        open_tokens(o, "question", data->question_count, VD_CUT_QUESTION, &packed->questions, err);
    return status ? status
                  : open_tokens(o, "answer", data->answer_count, VD_CUT_CANDIDATE, &packed->answers,
                                err);
}

// ---- dialogs ----------------------------------------------------------------

static vd_status open_columns(opening *o, vd_error *err)
{
    const void *candidates = NULL, *first = NULL;
    vd_visdial *data = &o->store->data;
    vd_safetensors *file = o->packed->file;
    const vd_tensor *shape;
    vd_status status =
        tensor(o, "question", VD_I32, 1, (size_t[]){0}, &candidates, &o->rounds, err);
    if (status == VD_OK)
        status = column(o, "question", &o->question, err);
    if (status == VD_OK)
        status = column(o, "answer", &o->answer, err);
    if (status == VD_OK)
        status = column(o, "truth", &o->truth, err);
    if (status == VD_OK)
        status = column(o, "options", &o->options, err);
    if (status == VD_OK && vd_safetensors_find(file, "family"))
        status = column(o, "family", &o->family, err);
    if (status == VD_OK && vd_safetensors_find(file, "coreference"))
        status = column(o, "coreference", &o->coreference, err);
    if (status == VD_OK)
        status = tensor(o, "candidates", VD_I32, 2, (size_t[]){0, 0}, &candidates, &o->ranked, err);
    if (status == VD_OK)
        status = tensor(o, "first_round", VD_I64, 1, (size_t[]){data->dialog_count + 1}, &first,
                        NULL, err);
    if (status != VD_OK)
        return status;
    shape = vd_safetensors_find(file, "candidates");
    o->candidate_count = shape->shape[1];
    o->candidates = candidates;
    o->first_round = first;
    if (o->ranked > 0 && (o->candidate_count < 2 || o->candidate_count > INT32_MAX))
        return vd_error_set(err, VD_FORMAT,
                            "%s: %zu candidates a round; expected 2 or more (100 in VisDial)",
                            vd_safetensors_path(file), o->candidate_count);
    return check_starts(o, "first_round", o->first_round, data->dialog_count, 1, INT32_MAX - 1,
                        o->rounds, err);
}

static vd_status refuse(const opening *o, size_t dialog, int32_t round, vd_error *err,
                        const char *words)
{
    char place[96];
    vd_visdial_place(place, sizeof place, dialog, o->store->data.dialogs[dialog].image_id, round);
    return vd_error_set(err, VD_FORMAT, "%s: %s: %s; pack the dialogs again", o->store->data.path,
                        place, words);
}

static vd_status fill_round(const opening *o, size_t d, int32_t r, vd_error *err)
{
    const vd_visdial *data = &o->store->data;
    size_t at = (size_t)(o->first_round[d] + r);
    vd_visdial_round *round = &data->dialogs[d].rounds[r];
    char words[400];
    *round = (vd_visdial_round){.question = o->question[at],
                                .answer = o->answer[at],
                                .truth = o->truth[at],
                                .coreference = o->coreference ? o->coreference[at] : -1};
    int32_t row = o->options[at], family = o->family ? o->family[at] : -1;
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
    return wrong ? refuse(o, d, r + 1, err, wrong) : VD_OK;
}

static vd_status fill_dialogs(opening *o, vd_error *err)
{
    vd_visdial *data = &o->store->data;
    const void *ids = NULL;
    const char **captions = NULL;
    size_t count = 0;
    vd_status status =
        tensor(o, "image_id", VD_I64, 1, (size_t[]){0}, &ids, &data->dialog_count, err);
    if (status == VD_OK && data->dialog_count == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: there are no dialogs in it", data->path);
    if (status == VD_OK)
        status = open_columns(o, err);
    if (status == VD_OK)
        status = open_texts(o, "caption", &captions, &count, err);
    if (status == VD_OK && count != data->dialog_count)
        status = vd_error_set(err, VD_FORMAT, "%s: %zu captions for %zu dialogs", data->path, count,
                              data->dialog_count);
    if (status == VD_OK)
        status = open_tokens(o, "caption", count, VD_CUT_CAPTION, &o->packed->captions, err);
    vd_visdial_round *rounds = NULL;
    if (status == VD_OK) {
        data->dialogs = vd_alloc(data->dialog_count, sizeof *data->dialogs);
        rounds = vd_string_arena_take(&o->store->pieces, o->rounds, sizeof *rounds);
        if (!data->dialogs || !rounds)
            status = vd_error_memory(err, "the dialogs");
    }
    for (size_t d = 0; status == VD_OK && d < data->dialog_count; d++) {
        data->dialogs[d] =
            (vd_visdial_dialog){.image_id = ((const int64_t *)ids)[d],
                                .caption = captions[d],
                                .round_count = (int32_t)(o->first_round[d + 1] - o->first_round[d]),
                                .rounds = rounds + o->first_round[d]};
        if (data->dialogs[d].image_id < 0)
            status = refuse(o, d, 0, err, "its image_id is negative");
        for (int32_t r = 0; status == VD_OK && r < data->dialogs[d].round_count; r++)
            status = fill_round(o, d, r, err);
    }
    vd_free(captions);
    return status;
}

// -----------------------------------------------------------------------------

static vd_status open_metadata(opening *o, vd_error *err)
{
    vd_visdial *data = &o->store->data;
    const vd_safetensors *file = o->packed->file;
    const char *format = vd_safetensors_metadata(file, "format"),
               *version = vd_safetensors_metadata(file, "version"),
               *split = vd_safetensors_metadata(file, "split");
    if (!format || strcmp(format, "visdial dialogs 1") != 0 || !version || !split)
        return vd_error_set(err, VD_FORMAT,
                            "%s: a safetensors file, but not one of packed dialogs (its \"format\" "
                            "is \"%.60s\"); expected what `visdial data pack` writes, or JSON",
                            data->path, format ? format : "");
    data->version = vd_string_arena_text(&o->store->pieces, version, strlen(version));
    data->split = vd_string_arena_text(&o->store->pieces, split, strlen(split));
    return data->version && data->split ? VD_OK : vd_error_memory(err, "dialogs");
}

static vd_status index_dialogs(opening *o, vd_error *err)
{
    size_t first = 0, second = 0;
    vd_status status = vd_visdial_index(o->store, &first, &second, err);
    return status == VD_MISMATCH
               ? refuse(o, second, 0, err, "the image has a dialog already; one is expected")
               : status;
}

vd_status vd_packed_open(const char *path, vd_visdial **out, vd_error *err)
{
    *out = NULL;
    opening o = {.store = vd_alloc(1, sizeof *o.store), .packed = vd_alloc(1, sizeof *o.packed)};
    vd_status status = VD_OK;
    if (!o.store || !o.packed || !(o.store->data.path = vd_strdup(path)))
        status = vd_error_memory(err, "dialogs");
    if (o.store)
        o.store->packed = o.packed;
    if (status == VD_OK)
        status = vd_safetensors_open(path, &o.packed->file, err);
    if (status == VD_OK)
        status = open_metadata(&o, err);
    if (status == VD_OK)
        status = open_tables(&o, err);
    if (status == VD_OK)
        status = fill_dialogs(&o, err);
    if (status == VD_OK)
        status = index_dialogs(&o, err);
    vd_free(o.families);
    if (status == VD_OK) {
        *out = &o.store->data;
        return VD_OK;
    }
    if (o.store)
        vd_visdial_free(&o.store->data);
    else
        vd_packed_free(o.packed);
    return status;
}

void vd_packed_free(vd_packed_file *packed)
{
    if (!packed)
        return;
    vd_safetensors_close(packed->file);
    vd_free(packed->words);
    vd_free(packed);
}
