#include "features/dataset.h"

#include "engine/alloc.h"
#include "features/dataset_store.h"
#include "features/tokenize.h"

// ---- sequences --------------------------------------------------------------

static vd_status sequences_init(vd_sequences *s, size_t count, vd_error *err)
{
    s->first = vd_alloc(count, sizeof *s->first);
    s->length = vd_alloc(count, sizeof *s->length);
    s->ids = vd_alloc(1, sizeof *s->ids);
    s->room = s->ids ? 1 : 0;
    return s->first && s->length && s->ids ? VD_OK
                                           : vd_error_memory(err, "the tokens of a data set");
}

static vd_status sequences_add(vd_sequences *s, size_t index, const int32_t *ids, int length,
                               vd_error *err)
{
    if (s->room - s->used < (size_t)length) {
        size_t room = 2 * s->room + 4096;
        int32_t *grown = vd_grow(s->ids, s->room, room, sizeof *grown);
        if (!grown)
            return vd_error_memory(err, "the tokens of a data set");
        s->ids = grown;
        s->room = room;
    }
    memcpy(s->ids + s->used, ids, (size_t)length * sizeof *ids);
    s->first[index] = s->used;
    s->length[index] = (uint8_t)length;
    s->used += (size_t)length;
    return VD_OK;
}

static void sequences_clear(vd_sequences *s)
{
    vd_free(s->length);
    vd_free(s->first);
    vd_free(s->ids);
}

// ---- which strings the dialogs use ------------------------------------------

typedef struct uses {
    int64_t *question, *answer; // how often each string is asked or given
    bool *candidate;            // which answers are offered
} uses;

static void uses_clear(uses *u)
{
    vd_free(u->candidate);
    vd_free(u->answer);
    vd_free(u->question);
}

static vd_status count_uses(const vd_visdial *data, uses *u, vd_error *err)
{
    u->question = vd_alloc(data->question_count, sizeof *u->question);
    u->answer = vd_alloc(data->answer_count, sizeof *u->answer);
    u->candidate = vd_alloc(data->answer_count, sizeof *u->candidate);
    if (!u->question || !u->answer || !u->candidate)
        return vd_error_memory(err, "the strings of a data set");
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++) {
            const vd_visdial_round *round = &data->dialogs[d].rounds[r];
            u->question[round->question]++;
            if (round->answer >= 0)
                u->answer[round->answer]++;
            for (int32_t i = 0; i < round->option_count; i++)
                u->candidate[round->options[i]] = true;
        }
    return VD_OK;
}

// ---- the data set -----------------------------------------------------------

static vd_status in_table(const vd_visdial *data, const char *table, size_t index, vd_status status,
                          vd_error *err)
{
    if (status != VD_FORMAT)
        return status;
    vd_error inner = err ? *err : (vd_error){0};
    return vd_error_set(err, status, "%s: %s %zu: %.400s", data->path, table, index, inner.text);
}

static vd_status tokenise_tables(vd_dataset *set, const vd_vocab *vocab, const uses *u,
                                 vd_error *err)
{
    const vd_visdial *data = set->dialogs;
    int32_t ids[VD_MAX_QUESTION];
    int length = 0;
    vd_status status = sequences_init(&set->questions, data->question_count, err);
    if (status == VD_OK)
        status = sequences_init(&set->answers, data->answer_count, err);
    for (size_t i = 0; i < data->question_count && status == VD_OK; i++) {
        if (u->question[i] == 0)
            continue;
        status =
            vd_question_ids(vocab, data->questions[i], VD_CUT_QUESTION, ids, &length, NULL, err);
        if (status != VD_OK)
            return in_table(data, "question", i, status, err);
        status = sequences_add(&set->questions, i, ids, length, err);
    }
    for (size_t i = 0; i < data->answer_count && status == VD_OK; i++) {
        if (u->answer[i] == 0 && !u->candidate[i])
            continue;
        status = vd_text_ids(vocab, data->answers[i], VD_CUT_CANDIDATE, ids, &length, NULL, err);
        if (status != VD_OK)
            return in_table(data, "answer", i, status, err);
        status = sequences_add(&set->answers, i, ids, length, err);
    }
    return status;
}

static vd_status tokenise_captions(vd_dataset *set, const vd_vocab *vocab, vd_error *err)
{
    const vd_visdial *data = set->dialogs;
    vd_status status = sequences_init(&set->captions, data->dialog_count, err);
    for (size_t d = 0; d < data->dialog_count && status == VD_OK; d++) {
        int32_t ids[VD_MAX_HISTORY];
        int length = 0;
        status =
            vd_text_ids(vocab, data->dialogs[d].caption, VD_CUT_CAPTION, ids, &length, NULL, err);
        if (status != VD_OK)
            return in_table(data, "caption of dialog", d, status, err);
        if (length == 0) // the network needs a word, and a chat about the picture gives it this one
            ids[length++] = VD_UNKNOWN;
        status = sequences_add(&set->captions, d, ids, length, err);
    }
    return status;
}

static vd_status find_images(vd_dataset *set, vd_error *err)
{
    const vd_visdial *data = set->dialogs;
    set->row = vd_alloc(data->dialog_count, sizeof *set->row);
    if (!set->row)
        return vd_error_memory(err, "the images of a data set");
    for (size_t d = 0; d < data->dialog_count; d++) {
        vd_status status =
            vd_regions_find(set->regions, data->dialogs[d].image_id, &set->row[d], err);
        if (status != VD_OK)
            return status;
    }
    return VD_OK;
}

static vd_status find_candidates(vd_dataset *set, vd_error *err)
{
    const vd_visdial *data = set->dialogs;
    for (size_t d = 0; d < data->dialog_count && set->candidates == 0; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count && set->candidates == 0; r++)
            set->candidates = data->dialogs[d].rounds[r].option_count;
    return set->candidates > 0
               ? VD_OK
               : vd_error_set(err, VD_FORMAT, "%s: no round has answer_options; nothing to rank",
                              data->path);
}

vd_status vd_dataset_new(const vd_visdial *dialogs, const vd_regions *regions,
                         const vd_vocab *vocab, vd_dataset **out, vd_error *err)
{
    *out = NULL;
    uses u = {0};
    vd_dataset *set = vd_alloc(1, sizeof *set);
    if (!set)
        return vd_error_memory(err, "a data set");
    set->dialogs = dialogs;
    set->regions = regions;
    vd_status status = find_candidates(set, err);
    if (status == VD_OK)
        status = find_images(set, err);
    if (status == VD_OK)
        status = count_uses(dialogs, &u, err);
    if (status == VD_OK)
        status = tokenise_tables(set, vocab, &u, err);
    if (status == VD_OK)
        status = tokenise_captions(set, vocab, err);
    uses_clear(&u);
    if (status != VD_OK) {
        vd_dataset_free(set);
        return status;
    }
    *out = set;
    return VD_OK;
}

void vd_dataset_free(vd_dataset *dataset)
{
    if (!dataset)
        return;
    sequences_clear(&dataset->captions);
    sequences_clear(&dataset->answers);
    sequences_clear(&dataset->questions);
    vd_free(dataset->row);
    vd_free(dataset);
}

size_t vd_dataset_count(const vd_dataset *dataset)
{
    return dataset->dialogs->dialog_count;
}

const vd_visdial_dialog *vd_dataset_dialog(const vd_dataset *dataset, size_t index)
{
    return &dataset->dialogs->dialogs[index];
}

// ---- vocabulary -------------------------------------------------------------

static vd_status count_words(vd_word_counts *counts, const char *text, int64_t times, vd_error *err)
{
    vd_words words;
    vd_status status = vd_tokenize(text, &words, err);
    for (size_t i = 0; i < words.count && status == VD_OK; i++)
        status = vd_word_counts_add(counts, words.word[i], times, err);
    vd_words_clear(&words);
    return status;
}

static vd_status count_question(vd_word_counts *counts, const char *question, int64_t times,
                                vd_error *err)
{
    size_t bytes = strlen(question);
    char *asked = vd_alloc(bytes + 2, 1);
    if (!asked)
        return vd_error_memory(err, "a question");
    memcpy(asked, question, bytes);
    asked[bytes] = '?';
    vd_status status = count_words(counts, asked, times, err);
    vd_free(asked);
    return status;
}

// Words in the order of the dialogs, so that ties keep it. A string that comes again was counted
// with its first use.
static vd_status count_dialog(const vd_visdial *data, const vd_visdial_dialog *dialog, uses *u,
                              vd_word_counts *counts, vd_error *err)
{
    vd_status status = count_words(counts, dialog->caption, 1, err);
    for (int32_t r = 0; r < dialog->round_count && status == VD_OK; r++) {
        const vd_visdial_round *round = &dialog->rounds[r];
        int64_t *times = &u->question[round->question];
        if (*times > 0)
            status = count_question(counts, data->questions[round->question], *times, err);
        *times = 0;
        if (round->answer < 0 || status != VD_OK)
            continue;
        times = &u->answer[round->answer];
        if (*times > 0)
            status = count_words(counts, data->answers[round->answer], *times, err);
        *times = 0;
    }
    return status;
}

vd_status vd_dataset_vocab(const vd_visdial *dialogs, int64_t minimum, vd_vocab **out,
                           vd_error *err)
{
    *out = NULL;
    uses u = {0};
    vd_word_counts *counts = NULL;
    vd_status status = count_uses(dialogs, &u, err);
    if (status == VD_OK)
        status = vd_word_counts_new(&counts, err);
    for (size_t d = 0; d < dialogs->dialog_count && status == VD_OK; d++)
        status = count_dialog(dialogs, &dialogs->dialogs[d], &u, counts, err);
    if (status == VD_OK)
        status = vd_word_counts_vocab(counts, minimum, out, err);
    vd_word_counts_free(counts);
    uses_clear(&u);
    return status;
}
