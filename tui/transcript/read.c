// A transcript read back. Every count of the file is held against the others before it is used.
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/json_tree.h"
#include "tui/transcript/reading.h"

enum { MOST_BYTES = 1 << 30, MOST_REGIONS = 1000, MOST_ATTENTIONS = 1000 };

static vd_region_name *read_names(vd_reading *r, const vd_json_value *map, int count)
{
    static const char key[] = "names";
    const vd_json_value *list = vd_reading_list(r, map, key, (size_t)count, (size_t)count);
    vd_region_name *out = g_new0(vd_region_name, list->count), *to = out;
    for (const vd_json_value *name = list->first; name; name = name->next, to++) {
        if (name->type != VD_JSON_TEXT || strlen(name->text) >= sizeof to->text)
            vd_reading_refuse(r, "\"%s\" holds something that is not the name of a region", key);
        else
            memcpy(to->text, name->text, strlen(name->text) + 1);
    }
    return out;
}

// ---- pools --------------------------------------------------------------------------------------

static void read_pool(vd_reading *r, const vd_json_value *map)
{
    const vd_json_value *list = vd_reading_list(r, map, "answers", 1, INT32_MAX);
    vd_recorded_pool *pool = vd_reading_add(&r->file->pools, &r->file->pool_count, sizeof *pool);
    pool->hash = vd_reading_hash(r, map, "hash");
    pool->answers = g_new(char *, list->count);
    for (const vd_json_value *text = list->first; text; text = text->next)
        pool->answers[pool->count++] = vd_reading_copy(r, text, "answers");
}

static const vd_recorded_pool *find_pool(vd_reading *r, const char *hash)
{
    static const vd_recorded_pool none;
    for (size_t i = r->file->pool_count; i-- > 0;)
        if (strcmp(r->file->pools[i].hash.text, hash) == 0)
            return &r->file->pools[i];
    vd_reading_refuse(r, "the pool of its answers was not written before it");
    return &none;
}

// ---- scores -------------------------------------------------------------------------------------

typedef struct ranked {
    float score;
    int32_t index;
} ranked;

// Equal ones stay in the pool's order, as the engine has it.
static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->score > y->score ? -1 : x->score < y->score ? 1 : x->index - y->index;
}

static void rank_scores(vd_reading *r, vd_answer *answer)
{
    size_t n = (size_t)answer->candidates;
    answer->order = vd_reading_room(r, n, sizeof *answer->order);
    ranked *list = vd_reading_room(r, n, sizeof *list);
    for (size_t i = 0; list && i < n; i++) // what is no number comes last
        list[i] = (ranked){isnan(answer->score[i]) ? -INFINITY : answer->score[i], (int32_t)i};
    if (list)
        qsort(list, n, sizeof *list, compare_ranked);
    for (size_t i = 0; list && i < n; i++)
        answer->order[i] = list[i].index;
    vd_free(list);
}

// Probabilities follow from the scores; log_sum: NAN where that is of the scores at hand.
static void compute_probabilities(vd_reading *r, vd_answer *answer, double log_sum)
{
    int n = answer->candidates;
    answer->probability = vd_reading_room(r, (size_t)n, sizeof *answer->probability);
    if (!answer->probability)
        return;
    if (isnan(log_sum)) {
        float most = n ? answer->score[answer->order[0]] : 0;
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += exp((double)(answer->score[i] - most));
        log_sum = (double)most + log(sum);
    }
    for (int i = 0; i < n; i++)
        answer->probability[i] = (float)exp((double)answer->score[i] - log_sum);
}

// The scores of the best of a large pool become as many as the pool has answers.
static float *spread_best(vd_reading *r, const vd_json_value *best, size_t count,
                          const float *score)
{
    float *all = vd_reading_room(r, count, sizeof *all);
    for (size_t i = 0; all && i < count; i++)
        all[i] = -INFINITY;
    const vd_json_value *place = best->first;
    for (; all && place && r->status == VD_OK; place = place->next, score++)
        if (place->type != VD_JSON_NUMBER || place->whole < 0 || place->whole >= (int64_t)count)
            vd_reading_refuse(r, "\"best\" holds something that is not a place in the pool");
        else
            all[place->whole] = *score;
    return all;
}

// All scores, or those of the best of a large pool. Ranking and probabilities follow from them.
static void read_scores(vd_reading *r, const vd_json_value *map, size_t pool, vd_answer *answer)
{
    const vd_json_value *best = vd_json_member(map, "best", VD_JSON_LIST);
    const vd_json_value *log_sum = vd_json_member(map, "log_sum", VD_JSON_NUMBER);
    size_t expected = best ? best->count : pool;
    if (best && (!log_sum || expected > pool))
        vd_reading_refuse(r, "\"best\" without \"log_sum\", or more than the pool has");
    answer->score = vd_reading_numbers(r, map, "scores", expected);
    if (best) {
        float *all = spread_best(r, best, pool, answer->score);
        vd_free(answer->score);
        answer->score = all;
    }
    answer->candidates = r->status ? 0 : (int)pool;
    rank_scores(r, answer);
    compute_probabilities(r, answer, best && log_sum ? log_sum->number : (double)NAN);
}

// ---- answers ------------------------------------------------------------------------------------

static void read_words(vd_reading *r, const vd_json_value *map, vd_reply *reply)
{
    const vd_json_value *words = vd_reading_list(r, map, "words", 1, VD_MAX_QUESTION);
    const vd_json_value *flag =
        vd_reading_list(r, map, "unknown", words->count, words->count)->first;
    for (const vd_json_value *word = words->first; word && flag;
         word = word->next, flag = flag->next) {
        if (flag->type != VD_JSON_TRUTH)
            vd_reading_refuse(r, "\"unknown\" holds something else than true and false");
        reply->unknown[reply->words] = flag->number != 0;
        reply->word[reply->words++] = vd_reading_copy(r, word, "words");
    }
    reply->cut = (int)vd_reading_whole(r, map, "cut", 0, 1000000);
    const char *decoder = vd_json_text(map, "decoder");
    reply->ranked.made = decoder && vd_decoders_parse(decoder, &reply->ranked.by);
    if (decoder && !reply->ranked.made)
        vd_reading_refuse(r, "an unknown \"decoder\"");
}

// How long an axis is; 0 of those that are not read back.
static int axis_size(const vd_answer *answer, vd_axis axis)
{
    switch ((int)axis) {
    case VD_AXIS_QUESTIONS:
        return 1;
    case VD_AXIS_QUESTION_WORDS:
        return answer->question_length;
    case VD_AXIS_ENTRIES:
        return answer->rounds;
    case VD_AXIS_REGIONS:
        return answer->regions;
    default:
        return 0;
    }
}

static vd_axis read_axis(vd_reading *r, const vd_json_value *map, const char *key)
{
    vd_axis axis = VD_AXIS_NONE;
    const char *name = vd_json_text(map, key);
    if (!name || !vd_axis_parse(name, &axis))
        vd_reading_refuse(r, "an unknown \"%s\" of an attention", key);
    return axis;
}

static void read_attention(vd_reading *r, const vd_json_value *map, vd_answer *answer)
{
    vd_attention *to = &answer->attention[answer->attentions];
    const char *name = vd_json_text(map, "name"), *part = vd_json_text(map, "part");
    *to = (vd_attention){
        .of = 1, .query = read_axis(r, map, "query"), .key = read_axis(r, map, "key")};
    if (!name || !*name || strlen(name) >= sizeof to->name ||
        (part && strlen(part) >= sizeof to->part))
        vd_reading_refuse(r, "an attention without \"name\", or with one that is too long");
    to->nothing = vd_json_true(map, "nothing");
    to->rows = axis_size(answer, to->query);
    to->columns = axis_size(answer, to->key);
    if (r->status || to->rows == 0 || to->columns == 0)
        return;
    g_strlcpy(to->name, name, sizeof to->name);
    if (part) {
        g_strlcpy(to->part, part, sizeof to->part);
        to->of = (int)vd_reading_whole(r, map, "of", 2, MOST_ATTENTIONS);
        to->index = (int)vd_reading_whole(r, map, "index", 0, to->of - 1);
    }
    to->share = vd_reading_matrix(r, map, "shares", to->rows, to->columns);
    answer->attentions++;
}

static void read_attentions(vd_reading *r, const vd_json_value *map, vd_answer *answer)
{
    const vd_json_value *list = vd_reading_list(r, map, "attentions", 0, MOST_ATTENTIONS);
    answer->regions = (int)vd_reading_whole(r, map, "region_count", 1, MOST_REGIONS);
    answer->attention = vd_reading_room(r, list->count, sizeof *answer->attention);
    for (const vd_json_value *one = list->first; one && answer->attention; one = one->next)
        read_attention(r, one, answer);
}

static void read_answer(vd_reading *r, const vd_json_value *map)
{
    vd_record *to = vd_reading_add(&r->file->records, &r->file->record_count, sizeof *to);
    vd_sheet *sheet = &to->sheet;
    vd_sheet_side *side = &sheet->side[0];
    vd_answer *answer = &to->reply.answer;
    to->line = r->line;
    sheet->sides = 1;
    side->human = side->chosen = -1;
    side->lane = (int)vd_reading_whole(r, map, "lane", 0, VD_MOST_RECORDED_LANES);
    side->name = vd_reading_text(r, map, "name");
    side->model = vd_reading_text(r, map, "model");
    side->model_hash = vd_reading_hash(r, map, "model_hash");
    side->pool_hash = vd_reading_hash(r, map, "pool_hash");
    sheet->features_hash = vd_reading_hash(r, map, "features_hash");
    sheet->image_id = vd_reading_whole(r, map, "image_id", INT64_MIN, INT64_MAX);
    sheet->picture = vd_reading_path(map, "picture");
    sheet->caption = vd_reading_text(r, map, "caption");
    sheet->caption_by = vd_reading_caption_by(r, map);
    sheet->history = vd_reading_turns(r, map, "history", &sheet->rounds);
    to->reply.typed = vd_reading_text(r, map, "typed");
    to->reply.question = vd_reading_text(r, map, "question");
    read_words(r, map, &to->reply);
    const vd_recorded_pool *pool = find_pool(r, side->pool_hash.text);
    side->texts = (const char *const *)pool->answers;
    read_scores(r, map, pool->count, answer);
    size_t entries = (size_t)sheet->rounds + 1;
    answer->rounds = r->status ? 0 : (int)entries;
    answer->question_length = to->reply.words;
    read_attentions(r, map, answer);
    if (vd_json_member(map, "boxes", VD_JSON_LIST)) {
        sheet->boxes = vd_reading_matrix(r, map, "boxes", answer->regions, 4);
        sheet->regions = answer->regions;
    }
    if (vd_json_member(map, "names", VD_JSON_LIST)) {
        sheet->names = read_names(r, map, answer->regions);
        sheet->regions = answer->regions;
    }
}

// ---- finding answers ----------------------------------------------------------------------------

static gpointer hash_question(int64_t image_id, const vd_turn *said, int rounds, const char *typed)
{
    uint64_t hash = (uint64_t)image_id * 31 + g_str_hash(typed);
    for (int i = 0; i < rounds; i++) // not their answers: models may hear others
        hash = hash * 31 + g_str_hash(said[i].question);
    return GSIZE_TO_POINTER(hash);
}

// The last answer whose question has this hash, and the one before each.
static void index_records(vd_transcript_file *file)
{
    file->newest = g_hash_table_new(NULL, NULL);
    for (size_t i = 0; i < file->record_count; i++) {
        vd_record *record = &file->records[i];
        vd_sheet *sheet = &record->sheet;
        sheet->side[0].reply = &record->reply; // they moved while it grew
        gpointer hash =
            hash_question(sheet->image_id, sheet->history, sheet->rounds, record->reply.typed);
        record->earlier = g_hash_table_lookup(file->newest, hash);
        g_hash_table_insert(file->newest, hash, record);
    }
}

// ---- file ---------------------------------------------------------------------------------------

static void read_files(vd_reading *r, const vd_json_value *map)
{
    vd_recorded_files_clear(&r->file->files);
    for (int i = 0; i < VD_RECORDED_FILES; i++)
        r->file->files.path[i] = vd_reading_path(map, vd_recorded_file_names[i]);
}

static bool is_head(const vd_json_value *line)
{
    const vd_json_value *version = vd_json_member(line, "transcript", VD_JSON_NUMBER);
    return version && version->whole == 1;
}

static void read_line(vd_reading *r, const char *text, size_t length)
{
    static const struct {
        const char *key;
        void (*read)(vd_reading *r, const vd_json_value *map);
    } kinds[] = {{"files", read_files},
                 {"pool", read_pool},
                 {"answer", read_answer},
                 {"conversation", vd_reading_conversation}};
    vd_json_value *value;
    r->status = vd_json_value_read(r->where, text, length, &value, r->err);
    if (r->status)
        return;
    if (r->line == 1 && !is_head(value))
        vd_reading_refuse(
            r, "this is not a transcript of version 1; expected {\"transcript\": 1, ...}");
    const vd_json_value *map = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds) && !map && r->status == VD_OK; i++)
        if ((map = vd_json_member(value, kinds[i].key, VD_JSON_MAP)) != NULL)
            kinds[i].read(r, map);
    vd_json_value_free(value);
}

vd_status vd_transcript_read(const char *path, vd_transcript_file *out, vd_error *err)
{
    *out = (vd_transcript_file){0};
    char *data;
    size_t size;
    vd_status status = vd_file_read(path, MOST_BYTES, &data, &size, err);
    if (status)
        return status;
    vd_reading r = {.file = out,
                    .dialog_of = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                    .err = err};
    snprintf(r.where, sizeof r.where, "%.280s", path);
    out->path = g_strdup(path);
    char *at = data, *end = data + size;
    while (r.status == VD_OK && at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        r.line++;
        out->cut = !stop && r.line > 1;
        if (out->cut)
            break; // the program was killed while it wrote this
        snprintf(r.where, sizeof r.where, "%.280s, line %zu", path, r.line);
        size_t length = (size_t)((stop ? stop : end) - at);
        read_line(&r, at, length);
        at += length + 1;
    }
    if (r.line == 0)
        vd_reading_refuse(&r, "empty; expected a transcript");
    vd_reading_dialogs_end(&r);
    g_hash_table_destroy(r.dialog_of);
    vd_free(data);
    if (r.status)
        vd_transcript_clear(out);
    else
        index_records(out);
    return r.status;
}

void vd_transcript_clear(vd_transcript_file *file)
{
    for (size_t i = 0; i < file->record_count; i++) {
        vd_record *record = &file->records[i];
        vd_reply_clear(&record->reply);
        vd_turns_free((vd_turn *)record->sheet.history, record->sheet.rounds);
        g_free((char *)record->sheet.side[0].name);
        g_free((char *)record->sheet.side[0].model);
        g_free((char *)record->sheet.picture);
        g_free((char *)record->sheet.caption);
        vd_free((float *)record->sheet.boxes);
        g_free((vd_region_name *)record->sheet.names);
    }
    for (size_t i = 0; i < file->dialog_count; i++)
        vd_chat_record_clear(&file->dialogs[i]);
    for (size_t i = 0; i < file->pool_count; i++) {
        for (size_t k = 0; k < file->pools[i].count; k++)
            g_free(file->pools[i].answers[k]);
        g_free(file->pools[i].answers);
    }
    vd_recorded_files_clear(&file->files);
    g_clear_pointer(&file->newest, g_hash_table_destroy);
    g_free(file->records);
    g_free(file->dialogs);
    g_free(file->pools);
    g_free(file->path);
    *file = (vd_transcript_file){0};
}

// The last answer that may be to this question; NULL: none.
static const vd_record *first_of(const vd_transcript_file *file, int64_t image_id,
                                 const vd_turn *said, int rounds, const char *typed)
{
    gpointer hash = hash_question(image_id, said, rounds, typed);
    return file->newest ? g_hash_table_lookup(file->newest, hash) : NULL;
}

const vd_record *vd_transcript_find(const vd_transcript_file *file, const vd_chat_record *dialog,
                                    int round, int lane)
{
    const vd_record *at =
        first_of(file, dialog->image_id, dialog->rounds, round, dialog->rounds[round].question);
    for (; at; at = at->earlier) {
        const vd_sheet *sheet = &at->sheet;
        if (sheet->side[0].lane == lane && sheet->image_id == dialog->image_id &&
            sheet->rounds == round && strcmp(sheet->caption, dialog->caption) == 0 &&
            strcmp(sheet->side[0].reply->typed, dialog->rounds[round].question) == 0 &&
            vd_same_turns(sheet->history, dialog->rounds, round,
                          lane == 0)) // other lanes may have other answers
            return at;
    }
    return NULL;
}

const vd_record *vd_transcript_find_same(const vd_transcript_file *file, const vd_sheet *like,
                                         const vd_record **other)
{
    const vd_record *at =
        first_of(file, like->image_id, like->history, like->rounds, like->side[0].reply->typed);
    *other = NULL;
    for (; at; at = at->earlier) {
        const vd_sheet *sheet = &at->sheet;
        const vd_sheet_side *own = &sheet->side[0], *wanted = &like->side[0];
        if (sheet->image_id != like->image_id || sheet->rounds != like->rounds ||
            strcmp(sheet->caption, like->caption) != 0 ||
            strcmp(own->reply->typed, wanted->reply->typed) != 0 ||
            !vd_same_turns(sheet->history, like->history, like->rounds, true))
            continue;
        if (strcmp(own->model_hash.text, wanted->model_hash.text) == 0 &&
            strcmp(own->pool_hash.text, wanted->pool_hash.text) == 0 &&
            strcmp(sheet->features_hash.text, like->features_hash.text) == 0)
            return at;
        bool switched = own->lane == 0 && wanted->lane == 0; // the conversation had that one
        if (!*other && (switched || strcmp(own->name, wanted->name) == 0))
            *other = at;
    }
    return NULL;
}
