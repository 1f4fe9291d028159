// A transcript read back. Every count of the file is held against the others before it is used.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "tui/transcript/lines.h"

enum { MOST_BYTES = 1 << 30 };

vd_status vd_reading_refuse(const vd_reading *r, const char *what)
{
    return vd_error_set(r->err, VD_FORMAT, "%s: %s", r->where, what);
}

static vd_status no_memory(const vd_reading *r)
{
    return vd_error_memory(r->err, r->where);
}

// ---- members ------------------------------------------------------------------------------------

vd_status vd_reading_text(const vd_reading *r, const vd_json_value *map, const char *key,
                          char **out)
{
    const char *text = vd_json_text(map, key);
    if (!text)
        return vd_error_set(r->err, VD_FORMAT, "%s: no text \"%s\"", r->where, key);
    *out = vd_strdup(text);
    return *out ? VD_OK : no_memory(r);
}

static vd_status read_hash(const vd_reading *r, const vd_json_value *map, const char *key,
                           vd_fingerprint *out)
{
    const char *text = vd_json_text(map, key);
    if (!text || strlen(text) >= sizeof out->text)
        return vd_error_set(r->err, VD_FORMAT, "%s: no SHA-256 \"%s\"", r->where, key);
    snprintf(out->text, sizeof out->text, "%s", text);
    return VD_OK;
}

vd_status vd_reading_whole(const vd_reading *r, const vd_json_value *map, const char *key,
                           int64_t low, int64_t high, int64_t *out)
{
    const vd_json_value *value = vd_json_member(map, key, VD_JSON_NUMBER);
    if (!value || value->whole < low || value->whole > high)
        return vd_error_set(r->err, VD_FORMAT, "%s: \"%s\" is not a whole number in its range",
                            r->where, key);
    *out = value->whole;
    return VD_OK;
}

vd_status vd_reading_numbers(const vd_reading *r, const vd_json_value *list, const char *key,
                             size_t expected, float **out, size_t *count)
{
    if (!list || list->type != VD_JSON_LIST || (expected != SIZE_MAX && list->count != expected))
        return vd_error_set(r->err, VD_FORMAT,
                            "%s: \"%s\" is not a list of as many numbers as expected", r->where,
                            key);
    *out = vd_alloc(list->count, sizeof **out);
    if (!*out)
        return no_memory(r);
    size_t at = 0;
    for (const vd_json_value *value = list->first; value; value = value->next) {
        if (value->type == VD_JSON_NULL)
            (*out)[at++] = NAN; // how a number that is none is written
        else if (value->type == VD_JSON_NUMBER)
            (*out)[at++] = (float)value->number;
        else
            return vd_error_set(r->err, VD_FORMAT,
                                "%s: \"%s\" holds something that is not a number", r->where, key);
    }
    *count = at;
    return VD_OK;
}

vd_status vd_reading_said(const vd_reading *r, const vd_json_value *map, const char *key,
                          vd_turn **out, int *count)
{
    const vd_json_value *list = vd_json_member(map, key, VD_JSON_LIST);
    if (!list || list->count > 100000)
        return vd_error_set(r->err, VD_FORMAT, "%s: no list \"%s\"", r->where, key);
    *out = vd_alloc(list->count, sizeof **out);
    if (!*out)
        return no_memory(r);
    for (const vd_json_value *pair = list->first; pair; pair = pair->next) {
        if (pair->type != VD_JSON_LIST || pair->count != 2 || pair->first->type != VD_JSON_TEXT ||
            pair->last->type != VD_JSON_TEXT)
            return vd_error_set(r->err, VD_FORMAT,
                                "%s: \"%s\" holds something that is not [question, answer]",
                                r->where, key);
        vd_turn *to = &(*out)[(*count)++];
        to->question = vd_strdup(pair->first->text);
        to->answer = vd_strdup(pair->last->text);
        if (!to->question || !to->answer)
            return no_memory(r);
    }
    return VD_OK;
}

// ---- pools --------------------------------------------------------------------------------------

static vd_status read_pool(vd_reading *r, const vd_json_value *map)
{
    vd_transcript_file *file = r->file;
    vd_recorded_pool *grown =
        vd_grow(file->pools, file->pool_count, file->pool_count + 1, sizeof *grown);
    if (!grown)
        return no_memory(r);
    file->pools = grown;
    vd_recorded_pool *pool = &grown[file->pool_count++];
    vd_status status = read_hash(r, map, "hash", &pool->hash);
    const vd_json_value *list = vd_json_member(map, "answers", VD_JSON_LIST);
    if (status || !list || list->count == 0 || list->count > INT32_MAX)
        return status ? status : vd_reading_refuse(r, "a pool without answers");
    pool->answers = vd_alloc(list->count, sizeof *pool->answers);
    if (!pool->answers)
        return no_memory(r);
    for (const vd_json_value *text = list->first; text; text = text->next) {
        if (text->type != VD_JSON_TEXT)
            return vd_reading_refuse(r, "an answer of the pool is not text");
        pool->answers[pool->count] = vd_strdup(text->text);
        if (!pool->answers[pool->count++])
            return no_memory(r);
    }
    return VD_OK;
}

// ---- answers ------------------------------------------------------------------------------------

static vd_status read_words(const vd_reading *r, const vd_json_value *map, vd_reply *reply)
{
    const vd_json_value *words = vd_json_member(map, "words", VD_JSON_LIST);
    const vd_json_value *unknown = vd_json_member(map, "unknown", VD_JSON_LIST);
    int64_t cut = 0;
    if (!words || !unknown || words->count != unknown->count || words->count == 0 ||
        words->count > VD_MAX_QUESTION)
        return vd_reading_refuse(r, "\"words\" and \"unknown\" are not lists of the same length");
    const vd_json_value *flag = unknown->first;
    for (const vd_json_value *word = words->first; word; word = word->next, flag = flag->next) {
        if (word->type != VD_JSON_TEXT || flag->type != VD_JSON_TRUTH)
            return vd_reading_refuse(r, "\"words\" or \"unknown\" holds something else");
        reply->unknown[reply->words] = flag->number != 0;
        reply->word[reply->words] = vd_strdup(word->text);
        if (!reply->word[reply->words++])
            return no_memory(r);
    }
    vd_status status = vd_reading_whole(r, map, "cut", 0, 1000000, &cut);
    reply->cut = (int)cut;
    return status;
}

static vd_status read_decoder(const vd_reading *r, const vd_json_value *map, vd_decoder_choice *out)
{
    const char *name = vd_json_text(map, "decoder");
    if (!name)
        return VD_OK;
    out->made = vd_decoders_parse(name, &out->by);
    return out->made ? VD_OK : vd_reading_refuse(r, "an unknown \"decoder\"");
}

static vd_status read_region_words(const vd_reading *r, const vd_json_value *map, vd_answer *answer)
{
    const vd_json_value *list = vd_json_member(map, "region_words", VD_JSON_LIST);
    size_t words = (size_t)answer->question_length, regions = (size_t)answer->regions;
    if (!list || list->count != regions)
        return vd_reading_refuse(r, "\"region_words\" is not a list with a row for each region");
    answer->word_attention = vd_alloc(regions * words, sizeof *answer->word_attention);
    if (!answer->word_attention)
        return no_memory(r);
    float *to = answer->word_attention;
    for (const vd_json_value *row = list->first; row; row = row->next, to += words) {
        float *values = NULL;
        size_t count = 0;
        vd_status status = vd_reading_numbers(r, row, "region_words", words, &values, &count);
        if (status == VD_OK)
            memcpy(to, values, words * sizeof *to);
        vd_free(values);
        if (status)
            return status;
    }
    return VD_OK;
}

static vd_status read_boxes(const vd_reading *r, const vd_json_value *map, vd_sheet *sheet)
{
    const vd_json_value *list = vd_json_member(map, "boxes", VD_JSON_LIST);
    if (!list)
        return VD_OK;
    if (list->count != (size_t)sheet->side[0].reply->answer.regions)
        return vd_reading_refuse(r, "\"boxes\" is not a list with a box for each region");
    float *boxes = vd_alloc(list->count, 4 * sizeof *boxes);
    sheet->boxes = boxes;
    if (!boxes)
        return no_memory(r);
    for (const vd_json_value *row = list->first; row; row = row->next) {
        float *values = NULL;
        size_t count = 0;
        vd_status status = vd_reading_numbers(r, row, "boxes", 4, &values, &count);
        if (status == VD_OK)
            memcpy(boxes + (size_t)4 * (size_t)sheet->regions++, values, 4 * sizeof *values);
        vd_free(values);
        if (status)
            return status;
    }
    return VD_OK;
}

static vd_status read_numbers_of_answer(const vd_reading *r, const vd_json_value *map,
                                        vd_record *to)
{
    vd_answer *answer = &to->reply.answer;
    size_t count = 0;
    answer->question_length = to->reply.words;
    const vd_recorded_pool *pool = NULL;
    for (size_t i = 0; i < r->file->pool_count; i++)
        if (strcmp(r->file->pools[i].hash.text, to->sheet.side[0].pool_hash.text) == 0)
            pool = &r->file->pools[i];
    to->sheet.side[0].texts = pool ? (const char *const *)pool->answers : NULL;
    vd_status status =
        pool ? vd_scores_read(r, map, pool->count, answer)
             : vd_reading_refuse(r, "the pool of its answers was not written before it");
    if (status == VD_OK)
        status =
            vd_reading_numbers(r, vd_json_member(map, "rounds", VD_JSON_LIST), "rounds",
                               (size_t)to->sheet.rounds + 1, &answer->context_attention, &count);
    if (status == VD_OK) {
        answer->rounds = (int)count;
        status = vd_reading_numbers(r, vd_json_member(map, "regions", VD_JSON_LIST), "regions",
                                    SIZE_MAX, &answer->region_attention, &count);
    }
    if (status == VD_OK && (count == 0 || count > 1000))
        status = vd_reading_refuse(r, "\"regions\" holds no number, or more than 1000");
    if (status)
        return status;
    answer->regions = (int)count;
    status = read_region_words(r, map, answer);
    return status ? status : read_boxes(r, map, &to->sheet);
}

static vd_status read_answer(vd_reading *r, const vd_json_value *map)
{
    vd_transcript_file *file = r->file;
    vd_record *grown =
        vd_grow(file->records, file->record_count, file->record_count + 1, sizeof *grown);
    if (!grown)
        return no_memory(r);
    for (size_t i = 0; i < file->record_count; i++)
        grown[i].sheet.side[0].reply = &grown[i].reply; // they moved
    file->records = grown;
    vd_record *to = &grown[file->record_count++];
    to->line = r->line;
    to->sheet.sides = 1;
    to->sheet.side[0].reply = &to->reply;
    to->sheet.side[0].human = to->sheet.side[0].chosen = -1;
    int64_t lane = 0;
    vd_status status = vd_reading_whole(r, map, "lane", 0, VD_MOST_RECORDED_LANES, &lane);
    to->sheet.side[0].lane = (int)lane;
    if (status == VD_OK)
        status = vd_reading_whole(r, map, "image_id", INT64_MIN, INT64_MAX, &to->sheet.image_id);
    char **texts[] = {(char **)&to->sheet.side[0].name, (char **)&to->sheet.side[0].model,
                      (char **)&to->sheet.caption, &to->reply.typed, &to->reply.question};
    static const char *const keys[] = {"name", "model", "caption", "typed", "question"};
    for (int i = 0; i < 5 && status == VD_OK; i++)
        status = vd_reading_text(r, map, keys[i], texts[i]);
    if (status == VD_OK)
        status = read_hash(r, map, "model_hash", &to->sheet.side[0].model_hash);
    if (status == VD_OK)
        status = read_hash(r, map, "pool_hash", &to->sheet.side[0].pool_hash);
    if (status == VD_OK)
        status = read_hash(r, map, "features_hash", &to->sheet.features_hash);
    if (status == VD_OK)
        status = vd_reading_said(r, map, "history", (vd_turn **)&to->sheet.said, &to->sheet.rounds);
    if (status == VD_OK)
        status = read_words(r, map, &to->reply);
    if (status == VD_OK)
        status = read_decoder(r, map, &to->reply.ranked);
    return status ? status : read_numbers_of_answer(r, map, to);
}

// ---- conversations ------------------------------------------------------------------------------

static bool begins_with(const vd_chat_record *talk, const vd_chat_record *before)
{
    if (talk->count < before->count)
        return false;
    for (int i = 0; i < before->count; i++)
        if (strcmp(talk->rounds[i].question, before->rounds[i].question) != 0 ||
            strcmp(talk->rounds[i].answer, before->rounds[i].answer) != 0)
            return false;
    return true;
}

// The conversation that this line goes on with, unless it was given up: the last one, or one about
// a picture that is looked at again, all of which is there again (a later chat's is another one).
// NULL: there is none.
static vd_chat_record *open_talk(const vd_transcript_file *file, const vd_chat_record *talk)
{
    size_t at = file->talk_count;
    while (at > 0 && file->talks[at - 1].image_id != talk->image_id)
        at--;
    vd_chat_record *found = at > 0 ? &file->talks[at - 1] : NULL;
    bool goes_on =
        found && (at == file->talk_count || talk->count == 0 || begins_with(talk, found));
    return goes_on && !found->closed ? found : NULL;
}

static void move_to_end(const vd_transcript_file *file, vd_chat_record *talk)
{
    vd_chat_record moved = *talk, *last = &file->talks[file->talk_count - 1];
    memmove(talk, talk + 1, (size_t)(last - talk) * sizeof moved);
    *last = moved;
}

static vd_status add_talk(vd_reading *r, vd_chat_record *talk)
{
    vd_transcript_file *file = r->file;
    vd_chat_record *grown =
        vd_grow(file->talks, file->talk_count, file->talk_count + 1, sizeof *grown);
    if (!grown) {
        vd_chat_record_clear(talk);
        return no_memory(r);
    }
    file->talks = grown;
    grown[file->talk_count++] = *talk;
    return VD_OK;
}

// Takes the place of the picture's line before it, unless that conversation was given up, which a
// line without rounds says.
static vd_status read_conversation(vd_reading *r, const vd_json_value *map)
{
    vd_chat_record talk;
    vd_status status = vd_chat_record_read(r, map, &talk);
    if (status)
        return status;
    vd_chat_record *before = open_talk(r->file, &talk);
    if (talk.count == 0 && (!before || talk.branch_count < 2)) {
        vd_chat_record_clear(&talk);
        if (before)
            before->closed = true;
        return VD_OK;
    }
    if (!before)
        return add_talk(r, &talk);
    if (talk.count == 0) {
        vd_chat_record_reopen(before, &talk); // an empty branch: what was said elsewhere was said
    } else {
        vd_chat_record_clear(before);
        *before = talk;
    }
    move_to_end(r->file, before);
    return VD_OK;
}

// ---- file ---------------------------------------------------------------------------------------

bool vd_transcript_is_head(const vd_json_value *line)
{
    const vd_json_value *version = vd_json_member(line, "transcript", VD_JSON_NUMBER);
    return version && version->whole == 1;
}

static vd_status read_line(vd_reading *r, const char *text, size_t length)
{
    vd_json_value *value;
    vd_status status = vd_json_value_read(r->where, text, length, &value, r->err);
    if (status)
        return status;
    const vd_json_value *pool = vd_json_member(value, "pool", VD_JSON_MAP);
    const vd_json_value *answer = vd_json_member(value, "answer", VD_JSON_MAP);
    const vd_json_value *conversation = vd_json_member(value, "conversation", VD_JSON_MAP);
    if (r->line == 1 && !vd_transcript_is_head(value))
        status = vd_reading_refuse(
            r, "this is not a transcript of version 1; expected {\"transcript\": 1, ...}");
    else if (pool)
        status = read_pool(r, pool);
    else if (answer)
        status = read_answer(r, answer);
    else if (conversation)
        status = read_conversation(r, conversation);
    vd_json_value_free(value);
    return status;
}

vd_status vd_transcript_read(const char *path, vd_transcript_file *out, vd_error *err)
{
    *out = (vd_transcript_file){0};
    char *data;
    size_t size;
    vd_status status = vd_file_read(path, MOST_BYTES, &data, &size, err);
    if (status)
        return status;
    vd_reading r = {.file = out, .err = err};
    out->path = vd_strdup(path);
    if (!out->path)
        status = vd_error_memory(err, path);
    char *at = data, *end = data + size;
    while (status == VD_OK && at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        r.line++;
        if (!stop && r.line > 1)
            break; // the program was killed while it wrote this
        snprintf(r.where, sizeof r.where, "%.280s, line %zu", path, r.line);
        size_t length = (size_t)((stop ? stop : end) - at);
        status = read_line(&r, at, length);
        at += length + 1;
    }
    if (status == VD_OK && r.line == 0)
        status = vd_error_set(err, VD_FORMAT, "%.400s: empty; expected a transcript", path);
    vd_free(data);
    if (status)
        vd_transcript_clear(out);
    return status;
}

void vd_transcript_clear(vd_transcript_file *file)
{
    for (size_t i = 0; i < file->record_count; i++) {
        vd_record *record = &file->records[i];
        vd_reply_clear(&record->reply);
        vd_turns_free((vd_turn *)record->sheet.said, record->sheet.rounds);
        vd_free((char *)record->sheet.side[0].name);
        vd_free((char *)record->sheet.side[0].model);
        vd_free((char *)record->sheet.caption);
        vd_free((float *)record->sheet.boxes);
    }
    for (size_t i = 0; i < file->talk_count; i++)
        vd_chat_record_clear(&file->talks[i]);
    for (size_t i = 0; i < file->pool_count; i++) {
        for (size_t k = 0; k < file->pools[i].count; k++)
            vd_free(file->pools[i].answers[k]);
        vd_free(file->pools[i].answers);
    }
    vd_free(file->records);
    vd_free(file->talks);
    vd_free(file->pools);
    vd_free(file->path);
    *file = (vd_transcript_file){0};
}

static bool same_said(const vd_turn *a, const vd_turn *b, int count, bool answers)
{
    for (int i = 0; i < count; i++)
        if (strcmp(a[i].question, b[i].question) != 0 ||
            (answers && strcmp(a[i].answer, b[i].answer) != 0))
            return false;
    return true;
}

const vd_record *vd_transcript_find(const vd_transcript_file *file, const vd_chat_record *talk,
                                    int round, int lane)
{
    for (size_t i = file->record_count; i-- > 0;) {
        const vd_sheet *sheet = &file->records[i].sheet;
        if (sheet->side[0].lane == lane && sheet->image_id == talk->image_id &&
            sheet->rounds == round &&
            strcmp(sheet->side[0].reply->typed, talk->rounds[round].question) == 0 &&
            same_said(sheet->said, talk->rounds, round, lane == 0)) // others may hear others
            return &file->records[i];
    }
    return NULL;
}

// Earlier programs recorded none of an answer that came before the picture's regions.
static bool same_features(const vd_sheet *recorded, const vd_sheet *like)
{
    return !recorded->features_hash.text[0] ||
           strcmp(recorded->features_hash.text, like->features_hash.text) == 0;
}

const vd_record *vd_transcript_find_same(const vd_transcript_file *file, const vd_sheet *like)
{
    for (size_t i = file->record_count; i-- > 0;) {
        const vd_sheet *sheet = &file->records[i].sheet;
        if (sheet->image_id == like->image_id && sheet->rounds == like->rounds &&
            strcmp(sheet->side[0].model_hash.text, like->side[0].model_hash.text) == 0 &&
            strcmp(sheet->side[0].pool_hash.text, like->side[0].pool_hash.text) == 0 &&
            same_features(sheet, like) &&
            strcmp(sheet->side[0].reply->typed, like->side[0].reply->typed) == 0 &&
            same_said(sheet->said, like->said, like->rounds, true))
            return &file->records[i];
    }
    return NULL;
}
