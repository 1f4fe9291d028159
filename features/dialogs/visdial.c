#include "features/dialogs/visdial.h"

#include <inttypes.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/file.h"
#include "engine/base/json_stream.h"
#include "features/dialogs/store.h"

// ---- the form of the file ---------------------------------------------------

// Containers, then values of the file, of a dialog and of a round.
enum { ROOT = 1, DATA, QUESTIONS, ANSWERS, DIALOGS, DIALOG, ROUNDS, ROUND, OPTIONS };
enum { VERSION = OPTIONS + 1, SPLIT, QUESTION_TEXT, ANSWER_TEXT, IMAGE_ID, CAPTION };
enum { QUESTION = CAPTION + 1, ANSWER, TRUTH, FAMILY, COREFERENCE, OPTION };

static const vd_json_rule rules[] = {
    {0, NULL, VD_JSON_OBJECT, ROOT, true},
    {ROOT, "version", VD_JSON_STRING, VERSION, true},
    {ROOT, "split", VD_JSON_STRING, SPLIT, true},
    {ROOT, "data", VD_JSON_OBJECT, DATA, true},
    {DATA, "questions", VD_JSON_ARRAY, QUESTIONS, true},
    {DATA, "answers", VD_JSON_ARRAY, ANSWERS, true},
    {DATA, "dialogs", VD_JSON_ARRAY, DIALOGS, true},
    {QUESTIONS, NULL, VD_JSON_STRING, QUESTION_TEXT, false},
    {ANSWERS, NULL, VD_JSON_STRING, ANSWER_TEXT, false},
    {DIALOGS, NULL, VD_JSON_OBJECT, DIALOG, false},
    {DIALOG, "image_id", VD_JSON_INTEGER, IMAGE_ID, true},
    {DIALOG, "caption", VD_JSON_STRING, CAPTION, true},
    {DIALOG, "dialog", VD_JSON_ARRAY, ROUNDS, true},
    {ROUNDS, NULL, VD_JSON_OBJECT, ROUND, false},
    {ROUND, "question", VD_JSON_INTEGER, QUESTION, true},
    {ROUND, "answer", VD_JSON_INTEGER, ANSWER, false},
    {ROUND, "answer_options", VD_JSON_ARRAY, OPTIONS, false},
    {ROUND, "gt_index", VD_JSON_INTEGER, TRUTH, false},
    {ROUND, "family", VD_JSON_STRING, FAMILY, false},
    {ROUND, "coreference", VD_JSON_INTEGER, COREFERENCE, false},
    {OPTIONS, NULL, VD_JSON_INTEGER, OPTION, false},
};

enum { MOST_FAMILIES = 256 };

typedef struct loading {
    vd_visdial_store *store;
    size_t question_room, answer_room, dialog_room, start_room;
    size_t *start; // (start_room) byte where each dialog starts

    bool in_dialog, in_round;
    vd_visdial_dialog dialog; // that is being read; its rounds so far are in `rounds`
    vd_visdial_round *rounds;
    size_t round_room;
    vd_visdial_round round; // that is being read
    int32_t *options;
    size_t option_room;
    bool has_options;
    int32_t option_count; // of every round that has options; 0 before the first

    const char *family[MOST_FAMILIES];
    int family_count;
} loading;

void vd_visdial_location(char *text, size_t size, size_t dialog, int64_t image, int32_t round)
{
    if (image >= 0)
        snprintf(text, size, "image %" PRId64, image);
    else
        snprintf(text, size, "dialog %zu", dialog + 1);
    if (round > 0)
        vd_append(text, size, ", round %" PRId32, round);
}

static void where(const void *context, char *text, size_t size)
{
    const loading *l = context;
    if (l->in_dialog)
        vd_visdial_location(text, size, l->store->data.dialog_count, l->dialog.image_id,
                            l->in_round ? l->dialog.round_count + 1 : 0);
}

// ---- reading ----------------------------------------------------------------

static vd_status set_text(loading *l, vd_json_reader *reader, const char **out,
                          const vd_json_scalar *value)
{
    *out = vd_string_arena_text(&l->store->arena, value->text, value->length);
    return *out ? VD_OK : vd_json_no_memory(reader);
}

static vd_status add_text(loading *l, vd_json_reader *reader, const char ***table, size_t *count,
                          size_t *room, const vd_json_scalar *value)
{
    if (*count == INT32_MAX)
        return vd_json_refuse(reader, VD_FORMAT, "more than %d strings in a table", INT32_MAX);
    if (!vd_make_room(table, room, *count + 1, sizeof **table))
        return vd_json_no_memory(reader);
    return set_text(l, reader, &(*table)[(*count)++], value);
}

static vd_status set_index(vd_json_reader *reader, const char *key, int32_t *out,
                           const vd_json_scalar *value)
{
    int64_t index = 0;
    vd_status status = vd_json_whole(reader, key, value, INT32_MAX, &index);
    *out = (int32_t)index;
    return status;
}

static vd_status add_option(loading *l, vd_json_reader *reader, const vd_json_scalar *value)
{
    if (l->round.option_count == INT32_MAX)
        return vd_json_refuse(reader, VD_FORMAT, "too many answer_options");
    if (!vd_make_room(&l->options, &l->option_room, (size_t)l->round.option_count + 1,
                      sizeof *l->options))
        return vd_json_no_memory(reader);
    return set_index(reader, "answer_options", &l->options[l->round.option_count++], value);
}

static vd_status set_family(loading *l, vd_json_reader *reader, const vd_json_scalar *value)
{
    int i = 0;
    while (i < l->family_count && (strlen(l->family[i]) != value->length ||
                                   memcmp(l->family[i], value->text, value->length) != 0))
        i++;
    if (i == MOST_FAMILIES)
        return vd_json_refuse(reader, VD_FORMAT, "more than %d different families", MOST_FAMILIES);
    if (i == l->family_count) {
        if (set_text(l, reader, &l->family[i], value) != VD_OK)
            return VD_NO_MEMORY;
        l->family_count++;
    }
    l->round.family = l->family[i];
    return VD_OK;
}

static vd_status on_value(void *context, vd_json_reader *reader, int id,
                          const vd_json_scalar *value)
{
    loading *l = context;
    vd_visdial *data = &l->store->data;
    switch (id) {
    case VERSION:
        return set_text(l, reader, &data->version, value);
    case SPLIT:
        return set_text(l, reader, &data->split, value);
    case QUESTION_TEXT:
        return add_text(l, reader, &data->questions, &data->question_count, &l->question_room,
                        value);
    case ANSWER_TEXT:
        return add_text(l, reader, &data->answers, &data->answer_count, &l->answer_room, value);
    case IMAGE_ID:
        return vd_json_whole(reader, "image_id", value, INT64_MAX, &l->dialog.image_id);
    case CAPTION:
        return set_text(l, reader, &l->dialog.caption, value);
    case QUESTION:
        return set_index(reader, "question", &l->round.question, value);
    case ANSWER:
        return set_index(reader, "answer", &l->round.answer, value);
    case TRUTH:
        return set_index(reader, "gt_index", &l->round.truth, value);
    case FAMILY:
        return set_family(l, reader, value);
    case COREFERENCE:
        return set_index(reader, "coreference", &l->round.coreference, value);
    default: // OPTION
        return add_option(l, reader, value);
    }
}

static vd_status begin_dialog(loading *l, vd_json_reader *reader)
{
    vd_visdial *data = &l->store->data;
    size_t count = data->dialog_count + 1;
    if (!vd_make_room(&l->start, &l->start_room, count, sizeof *l->start) ||
        !vd_make_room(&data->dialogs, &l->dialog_room, count, sizeof *data->dialogs))
        return vd_json_no_memory(reader);
    l->start[data->dialog_count] = vd_json_byte(reader);
    l->dialog = (vd_visdial_dialog){.image_id = -1};
    l->in_dialog = true;
    return VD_OK;
}

static vd_status on_open(void *context, vd_json_reader *reader, int container)
{
    loading *l = context;
    if (container == DIALOG)
        return begin_dialog(l, reader);
    if (container == ROUND) {
        l->round = (vd_visdial_round){.answer = -1, .truth = -1, .coreference = -1};
        l->in_round = true;
        l->has_options = false;
    } else if (container == OPTIONS) {
        l->has_options = true;
    }
    return VD_OK;
}

static vd_status check_options(loading *l, vd_json_reader *reader)
{
    int32_t count = l->round.option_count;
    if (count < 2)
        return vd_json_refuse(reader, VD_FORMAT,
                              "%" PRId32 " answer_options; expected 2 or more (100 in VisDial)",
                              count);
    if (l->option_count == 0)
        l->option_count = count;
    if (count != l->option_count)
        return vd_json_refuse(reader, VD_FORMAT,
                              "%" PRId32 " answer_options; expected %" PRId32
                              ", as in the rounds before",
                              count, l->option_count);
    return VD_OK;
}

// A copy in the store; NULL when memory is out.
static void *keep(loading *l, const void *list, int32_t count, size_t size)
{
    void *kept = vd_string_arena_take(&l->store->arena, (size_t)count, size);
    return kept ? memcpy(kept, list, (size_t)count * size) : NULL;
}

static vd_status end_round(loading *l, vd_json_reader *reader)
{
    vd_visdial_round *round = &l->round;
    if (l->has_options && check_options(l, reader) != VD_OK)
        return VD_FORMAT;
    if (!l->has_options && round->truth >= 0)
        return vd_json_refuse(reader, VD_FORMAT,
                              "there is no \"answer_options\", but \"gt_index\" is %" PRId32,
                              round->truth);
    if (round->truth >= round->option_count)
        return vd_json_refuse(reader, VD_FORMAT,
                              "\"gt_index\" is %" PRId32 ", but there are %" PRId32
                              " answer_options",
                              round->truth, round->option_count);
    if (round->coreference > l->dialog.round_count + 1)
        return vd_json_refuse(reader, VD_FORMAT,
                              "\"coreference\" is %" PRId32 " rounds back, before the caption",
                              round->coreference);
    if (l->dialog.round_count == INT32_MAX - 1)
        return vd_json_refuse(reader, VD_FORMAT, "too many rounds");
    if (l->has_options)
        round->options = keep(l, l->options, round->option_count, sizeof *l->options);
    if ((l->has_options && !round->options) ||
        !vd_make_room(&l->rounds, &l->round_room, (size_t)l->dialog.round_count + 1,
                      sizeof *l->rounds))
        return vd_json_no_memory(reader);
    l->rounds[l->dialog.round_count++] = *round;
    l->in_round = false;
    return VD_OK;
}

static vd_status end_dialog(loading *l, vd_json_reader *reader)
{
    vd_visdial *data = &l->store->data;
    if (l->dialog.round_count == 0)
        return vd_json_refuse(reader, VD_FORMAT, "the dialog has no rounds; expected 1 or more");
    l->dialog.rounds = keep(l, l->rounds, l->dialog.round_count, sizeof *l->rounds);
    if (!l->dialog.rounds)
        return vd_json_no_memory(reader);
    data->dialogs[data->dialog_count++] = l->dialog;
    l->in_dialog = false;
    return VD_OK;
}

static vd_status on_close(void *context, vd_json_reader *reader, int container)
{
    loading *l = context;
    if (container == ROUND)
        return end_round(l, reader);
    return container == DIALOG ? end_dialog(l, reader) : VD_OK;
}

static const vd_json_form form = {rules, sizeof rules / sizeof *rules, on_open, on_close, on_value,
                                  where};

// ---- what can only be checked when all is read ------------------------------

static vd_status refuse_round(const loading *l, size_t d, int32_t round, const char *words,
                              vd_error *err)
{
    char location[96];
    vd_visdial_location(location, sizeof location, d, l->store->data.dialogs[d].image_id, round);
    return vd_error_set(err, VD_FORMAT, "%s: %s (dialog %zu, from byte %zu on): %s",
                        l->store->data.path, location, d + 1, l->start[d], words);
}

static vd_status check(loading *l, vd_error *err)
{
    const vd_visdial *data = &l->store->data;
    if (strcmp(data->version, "1.0") != 0 && strcmp(data->version, "0.9") != 0)
        return vd_error_set(err, VD_FORMAT,
                            "%s: \"version\" is \"%.40s\"; this program reads VisDial 1.0 and 0.9",
                            data->path, data->version);
    if (data->dialog_count == 0)
        return vd_error_set(err, VD_FORMAT, "%s: there are no dialogs in \"dialogs\"", data->path);
    char words[400];
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++)
            if (!vd_visdial_round_fits(data, &data->dialogs[d], r, words, sizeof words) ||
                !vd_visdial_options_fit(data, &data->dialogs[d].rounds[r], words, sizeof words))
                return refuse_round(l, d, r + 1, words, err);
    size_t first = 0, second = 0;
    vd_status status = vd_visdial_index(l->store, &first, &second, err);
    if (status != VD_MISMATCH)
        return status;
    snprintf(words, sizeof words, "the image has a dialog already (dialog %zu); one is expected",
             first + 1);
    return refuse_round(l, second, 0, words, err);
}

static vd_status read_json(const char *path, vd_visdial **out, vd_error *err)
{
    loading l = {.store = vd_alloc(1, sizeof *l.store)};
    vd_status status = VD_OK;
    if (!l.store || !(l.store->data.path = vd_strdup(path)))
        status = vd_error_memory(err, "dialogs");
    if (status == VD_OK)
        status = vd_json_stream(path, &form, &l, err);
    if (status == VD_OK)
        status = check(&l, err);
    vd_free(l.options);
    vd_free(l.rounds);
    vd_free(l.start);
    if (status == VD_OK)
        *out = &l.store->data;
    else
        vd_visdial_free((vd_visdial *)l.store);
    return status;
}

// JSON has no NUL; a safetensors file starts with its header's length in eight bytes, of which the
// last is 0, and the header is JSON.
vd_status vd_visdial_is_packed(const char *path, bool *packed, vd_error *err)
{
    char start[9] = "";
    int file;
    size_t size;
    vd_status status = vd_file_open(path, &file, &size, err);
    if (status != VD_OK)
        return status;
    *packed = pread(file, start, sizeof start, 0) == sizeof start && !start[7] && start[8] == '{';
    close(file);
    return VD_OK;
}

vd_status vd_visdial_open(const char *path, vd_visdial **out, vd_error *err)
{
    *out = NULL;
    bool packed = false;
    vd_status status = vd_visdial_is_packed(path, &packed, err);
    if (status != VD_OK)
        return status;
    return packed ? vd_packed_open(path, out, err) : read_json(path, out, err);
}

vd_status vd_visdial_read(const char *path, vd_visdial **out, vd_error *err)
{
    vd_status status = vd_visdial_open(path, out, err);
    for (size_t d = 0; status == VD_OK && d < (*out)->dialog_count; d++)
        status = vd_visdial_check_options(*out, d, err);
    if (status != VD_OK) {
        vd_visdial_free(*out);
        *out = NULL;
    }
    return status;
}

void vd_visdial_free(vd_visdial *data)
{
    if (!data)
        return;
    vd_visdial_store *store = (vd_visdial_store *)data;
    vd_packed_free(store->packed);
    vd_free(store->images);
    vd_free(data->dialogs);
    vd_free(data->answers);
    vd_free(data->questions);
    vd_free(data->path);
    vd_string_arena_clear(&store->arena);
    vd_free(store);
}
