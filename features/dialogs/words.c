// The words of the texts of dialogs: as token ids, and how often people say each; and the
// vocabularies made of that.
#include "engine/base/alloc.h"
#include "features/dialogs/pack.h"
#include "features/dialogs/store.h"
#include "features/text/tokenize.h"

const struct vd_text_kind vd_text_kinds[VD_TEXTS] = {{"question", VD_MAX_QUESTION - 1},
                                                     {"answer", VD_CUT_CANDIDATE},
                                                     {"caption", VD_MAX_HISTORY - 1}};

size_t vd_visdial_text_count(const vd_visdial *data, int kind)
{
    return kind == VD_QUESTIONS ? data->question_count
           : kind == VD_ANSWERS ? data->answer_count
                                : data->dialog_count;
}

const char *vd_visdial_text(const vd_visdial *data, int kind, size_t index)
{
    return kind == VD_QUESTIONS ? data->questions[index]
           : kind == VD_ANSWERS ? data->answers[index]
                                : data->dialogs[index].caption;
}

// ---- sequences --------------------------------------------------------------

static vd_status sequences_init(vd_token_table *s, size_t count, size_t room, vd_error *err)
{
    s->first = vd_alloc(count, sizeof *s->first);
    s->length = vd_alloc(count, sizeof *s->length);
    s->ids = vd_alloc(room, sizeof *s->ids);
    s->room = room;
    return s->first && s->length && s->ids ? VD_OK
                                           : vd_error_memory(err, "the tokens of a data set");
}

static vd_status sequences_add(vd_token_table *s, size_t index, const int32_t *ids, int length,
                               vd_error *err)
{
    if (!vd_make_room(&s->ids, &s->room, s->used + (size_t)length, sizeof *s->ids))
        return vd_error_memory(err, "the tokens of a data set");
    memcpy(s->ids + s->used, ids, (size_t)length * sizeof *ids);
    s->first[index] = s->used;
    s->length[index] = (uint8_t)length;
    s->used += (size_t)length;
    return VD_OK;
}

void vd_tokens_clear(vd_token_table tokens[VD_TEXTS])
{
    for (int kind = 0; kind < VD_TEXTS; kind++) {
        vd_free(tokens[kind].length);
        vd_free(tokens[kind].first);
        vd_free(tokens[kind].ids);
    }
}

// ---- which texts the dialogs use --------------------------------------------

typedef struct uses {
    int64_t *question, *answer; // how often each is asked or given
    bool *candidate;            // which answers are offered
    vd_string_arena arena;      // of these
} uses;

static vd_status count_uses(const vd_visdial *data, uses *u, vd_error *err)
{
    u->question = vd_string_arena_take(&u->arena, data->question_count, sizeof *u->question);
    u->answer = vd_string_arena_take(&u->arena, data->answer_count, sizeof *u->answer);
    u->candidate = vd_string_arena_take(&u->arena, data->answer_count, sizeof *u->candidate);
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

// ---- ids of texts -----------------------------------------------------------

static bool is_used(const uses *u, int kind, size_t i)
{
    return kind == VD_QUESTIONS ? u->question[i] > 0
           : kind == VD_ANSWERS ? u->answer[i] > 0 || u->candidate[i]
                                : true;
}

static vd_status tokenise(const vd_visdial *data, vd_oov_words *own, const uses *u, int kind,
                          vd_token_table *out, vd_error *err)
{
    size_t count = vd_visdial_text_count(data, kind);
    int most = vd_text_kinds[kind].most, length = 0;
    vd_status status = sequences_init(out, count, 1, err);
    for (size_t i = 0; i < count && status == VD_OK; i++) {
        int32_t ids[VD_MAX_HISTORY];
        vd_error why = {0};
        if (!is_used(u, kind, i))
            continue;
        status = vd_text_oov_ids(own, vd_visdial_text(data, kind, i), kind == VD_QUESTIONS, most,
                                 ids, &length, &why);
        if (status != VD_OK)
            return vd_error_set(err, status, "%s: %s %zu: %.400s", data->path,
                                vd_text_kinds[kind].name, i, why.text);
        // The network needs a word of a caption; a chat about the picture gives it this one, too.
        if (kind == VD_CAPTIONS && length == 0)
            ids[length++] = VD_UNKNOWN;
        status = sequences_add(out, i, ids, length, err);
    }
    return status;
}

// ---- ids of packed tokens ---------------------------------------------------

static vd_status translate(const vd_packed_file *packed, int kind, const int32_t *map,
                           vd_token_table *s, vd_error *err)
{
    const vd_packed_tokens *tokens = &packed->tokens[kind];
    size_t all = (size_t)tokens->first[tokens->count];
    vd_status status = sequences_init(s, tokens->count, all, err);
    if (status != VD_OK)
        return status;
    s->used = all;
    for (size_t i = 0; i < tokens->count; i++) {
        s->first[i] = (size_t)tokens->first[i];
        s->length[i] = (uint8_t)(tokens->first[i + 1] - tokens->first[i]);
    }
    for (size_t i = 0; i < all; i++) {
        if (tokens->ids[i] < -1 || tokens->ids[i] >= (int64_t)packed->word_count)
            return vd_error_set(
                err, VD_FORMAT,
                "%s: %s_ids[%zu] is word %d; there are %zu words; pack the dialogs again",
                vd_safetensors_path(packed->file), vd_text_kinds[kind].name, i, (int)tokens->ids[i],
                packed->word_count);
        s->ids[i] = tokens->ids[i] < 0 ? VD_UNKNOWN : map[tokens->ids[i]];
    }
    return VD_OK;
}

static vd_status translate_all(const vd_packed_file *packed, const vd_vocab *vocab,
                               vd_token_table *tokens, vd_error *err)
{
    int32_t *map = vd_alloc(packed->word_count, sizeof *map); // the vocabulary's id of each word
    if (!map)
        return vd_error_memory(err, "the words of a data set");
    vd_oov_words own = {.vocab = vocab};
    vd_status status = VD_OK;
    for (size_t i = 0; i < packed->word_count && status == VD_OK; i++)
        status = vd_oov_words_id(&own, packed->words[i], &map[i], err);
    for (int kind = 0; kind < VD_TEXTS && status == VD_OK; kind++)
        status = translate(packed, kind, map, &tokens[kind], err);
    vd_word_counts_clear(&own.more);
    vd_free(map);
    return status;
}

vd_status vd_tokens_fill(const vd_visdial *data, const vd_vocab *vocab,
                         vd_token_table tokens[VD_TEXTS], vd_error *err)
{
    const vd_packed_file *packed = vd_visdial_packed(data);
    if (packed)
        return translate_all(packed, vocab, tokens, err);
    uses u = {0};
    vd_oov_words own = {.vocab = vocab};
    vd_status status = count_uses(data, &u, err);
    for (int kind = 0; kind < VD_TEXTS && status == VD_OK; kind++)
        status = tokenise(data, &own, &u, kind, &tokens[kind], err);
    vd_string_arena_clear(&u.arena);
    vd_word_counts_clear(&own.more);
    return status;
}

// ---- counts -----------------------------------------------------------------

// Words in the order of the dialogs, so that ties keep it. A string that comes again was counted
// with its first use.
static vd_status count_dialog(const vd_visdial *data, const vd_visdial_dialog *dialog, uses *u,
                              vd_word_counts *counts, vd_error *err)
{
    vd_status status = vd_text_count_words(counts, dialog->caption, false, 1, err);
    for (int32_t r = 0; r < dialog->round_count && status == VD_OK; r++) {
        const vd_visdial_round *round = &dialog->rounds[r];
        int64_t *times = &u->question[round->question];
        if (*times > 0)
            status =
                vd_text_count_words(counts, data->questions[round->question], true, *times, err);
        *times = 0;
        if (round->answer < 0 || status != VD_OK)
            continue;
        times = &u->answer[round->answer];
        if (*times > 0)
            status = vd_text_count_words(counts, data->answers[round->answer], false, *times, err);
        *times = 0;
    }
    return status;
}

// Answers that nobody gives but that are to be ranked.
static vd_status count_candidates(const vd_visdial *data, const uses *u, vd_word_counts *counts,
                                  vd_error *err)
{
    vd_status status = VD_OK;
    for (size_t i = 0; i < data->answer_count && status == VD_OK; i++)
        if (u->candidate[i])
            status = vd_text_count_words(counts, data->answers[i], false, 0, err);
    return status;
}

static vd_status count_texts(const vd_visdial *data, bool candidates, vd_word_counts *counts,
                             vd_error *err)
{
    uses u = {0};
    vd_status status = count_uses(data, &u, err);
    for (size_t d = 0; d < data->dialog_count && status == VD_OK; d++)
        status = count_dialog(data, &data->dialogs[d], &u, counts, err);
    if (status == VD_OK && candidates)
        status = count_candidates(data, &u, counts, err);
    vd_string_arena_clear(&u.arena);
    return status;
}

static vd_status take_packed(const vd_packed_file *packed, bool candidates, vd_word_counts *counts,
                             vd_error *err)
{
    vd_status status = VD_OK;
    for (size_t i = 0; i < packed->word_count && status == VD_OK; i++)
        if (candidates || packed->counts[i] > 0)
            status = vd_word_counts_add(counts, packed->words[i], packed->counts[i], err);
    return status;
}

// packed: its counts are taken; NULL: they are found in the texts.
static vd_status words_of(const vd_visdial *data, const vd_packed_file *packed, bool candidates,
                          vd_word_counts *counts, vd_error *err)
{
    return packed ? take_packed(packed, candidates, counts, err)
                  : count_texts(data, candidates, counts, err);
}

// What is packed, if its counts are those of the dialogs.
static const vd_packed_file *own_counts(const vd_visdial *data)
{
    const vd_packed_file *packed = vd_visdial_packed(data);
    return packed && !packed->given ? packed : NULL;
}

vd_status vd_visdial_count_words(const vd_visdial *data, bool candidates, vd_word_counts *counts,
                                 vd_error *err)
{
    return words_of(data, own_counts(data), candidates, counts, err);
}

static vd_status vocab_of(const vd_visdial *data, const vd_packed_file *packed, int64_t minimum,
                          vd_vocab **out, vd_error *err)
{
    vd_word_counts counts = {0};
    *out = NULL;
    vd_status status = words_of(data, packed, false, &counts, err);
    if (status == VD_OK)
        status = vd_word_counts_vocab(&counts, minimum, out, err);
    vd_word_counts_clear(&counts);
    return status;
}

vd_status vd_dataset_own_vocab(const vd_visdial *dialogs, int64_t minimum, vd_vocab **out,
                               vd_error *err)
{
    return vocab_of(dialogs, own_counts(dialogs), minimum, out, err);
}

// Given counts hold where dialogs were left out, too: they are not theirs.
vd_status vd_dataset_vocab(const vd_visdial *dialogs, int64_t minimum, vd_vocab **out,
                           vd_error *err)
{
    const vd_packed_file *packed = ((const vd_visdial_store *)dialogs)->packed;
    return vocab_of(dialogs, packed && packed->given ? packed : own_counts(dialogs), minimum, out,
                    err);
}
