// A transcript read back. Every count of the file is held against the others before it is used.
#include <glib.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/json_tree.h"
#include "tui/transcript/transcript.h"

enum { MOST_BYTES = 1 << 30, MOST_ROUNDS = 100000, MOST_BRANCHES = 1000, MOST_REGIONS = 1000 };

// After the first failure everything below does nothing and gives zeros and empty lists; what was
// read before is in the file's structs, which are cleared as a whole.
typedef struct reading {
    vd_transcript_file *file;
    GHashTable *talk_of; // by picture: 1 + the index of its last conversation
    char where[320];     // "path, line 7"
    size_t line;
    vd_status status;
    vd_error *err;
} reading;

__attribute__((format(printf, 2, 3))) static void refuse(reading *r, const char *format, ...)
{
    char what[200];
    va_list values;
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    if (r->status == VD_OK)
        r->status = vd_error_set(r->err, VD_FORMAT, "%s: %s", r->where, what);
}

static void *checked(reading *r, void *memory)
{
    if (!memory && r->status == VD_OK)
        r->status = vd_error_memory(r->err, r->where);
    return memory;
}

static void *room(reading *r, size_t count, size_t size)
{
    return r->status ? NULL : checked(r, vd_alloc(count, size));
}

// A new element at the end of *list, which has room for the next power of two.
static void *add(reading *r, void *list, size_t *count, size_t size)
{
    char *old, *grown;
    memcpy(&old, list, sizeof old);
    if (*count & (*count - 1))
        grown = old;
    else
        grown = checked(r, vd_grow(old, *count, *count ? 2 * *count : 1, size));
    if (!grown)
        return NULL;
    memcpy(list, &grown, sizeof grown);
    return grown + (*count)++ * size;
}

// ---- members of a map ---------------------------------------------------------------------------

static char *copy_text(reading *r, const vd_json_value *value, const char *key)
{
    if (value && value->type == VD_JSON_TEXT)
        return r->status ? NULL : checked(r, vd_strdup(value->text));
    refuse(r, "\"%s\" is not text, or holds something that is not text", key);
    return NULL;
}

static char *read_text(reading *r, const vd_json_value *map, const char *key)
{
    return copy_text(r, vd_json_member(map, key, VD_JSON_TEXT), key);
}

static vd_fingerprint read_hash(reading *r, const vd_json_value *map, const char *key)
{
    vd_fingerprint out = {0};
    const char *text = vd_json_text(map, key);
    if (!text || strlen(text) >= sizeof out.text)
        refuse(r, "no SHA-256 \"%s\"", key);
    else
        snprintf(out.text, sizeof out.text, "%s", text);
    return out;
}

static int64_t read_whole(reading *r, const vd_json_value *map, const char *key, int64_t low,
                          int64_t high)
{
    const vd_json_value *value = vd_json_member(map, key, VD_JSON_NUMBER);
    if (value && value->whole >= low && value->whole <= high)
        return value->whole;
    refuse(r, "\"%s\" is not a whole number in its range", key);
    return 0;
}

// Never NULL.
static const vd_json_value *checked_list(reading *r, const vd_json_value *value, const char *key,
                                         size_t least, size_t most)
{
    static const vd_json_value empty = {.type = VD_JSON_LIST};
    if (!value || value->type != VD_JSON_LIST || value->count < least || value->count > most)
        refuse(r, "\"%s\" is not a list of the expected length (%zu to %zu)", key, least, most);
    return r->status ? &empty : value;
}

static const vd_json_value *read_list(reading *r, const vd_json_value *map, const char *key,
                                      size_t least, size_t most)
{
    return checked_list(r, vd_json_member(map, key, VD_JSON_LIST), key, least, most);
}

// what: names the two texts.
static void read_pair(reading *r, const vd_json_value *pair, const char *key, const char *what,
                      char **first, char **second)
{
    if (pair->type != VD_JSON_LIST || pair->count != 2 || pair->first->type != VD_JSON_TEXT ||
        pair->last->type != VD_JSON_TEXT)
        refuse(r, "\"%s\" holds something that is not [%s]", key, what);
    *first = r->status ? NULL : copy_text(r, pair->first, key);
    *second = r->status ? NULL : copy_text(r, pair->last, key);
}

static vd_turn *read_turns(reading *r, const vd_json_value *map, const char *key, int *count)
{
    const vd_json_value *list = read_list(r, map, key, 0, MOST_ROUNDS);
    vd_turn *turns = room(r, list->count, sizeof *turns);
    for (const vd_json_value *pair = list->first; pair && r->status == VD_OK; pair = pair->next) {
        vd_turn *to = &turns[(*count)++];
        read_pair(r, pair, key, "question, answer", &to->question, &to->answer);
    }
    return turns;
}

static void copy_numbers(reading *r, const vd_json_value *list, const char *key, float *out)
{
    for (const vd_json_value *value = list->first; value; value = value->next) {
        if (value->type != VD_JSON_NUMBER && value->type != VD_JSON_NULL)
            refuse(r, "\"%s\" holds something that is not a number", key);
        *out++ = value->type == VD_JSON_NUMBER ? (float)value->number : NAN; // NaN is written null
    }
}

static float *read_numbers(reading *r, const vd_json_value *map, const char *key, size_t least,
                           size_t most, int *count)
{
    const vd_json_value *list = read_list(r, map, key, least, most);
    float *out = room(r, list->count, sizeof *out);
    if (out)
        copy_numbers(r, list, key, out);
    *count = (int)list->count;
    return out;
}

// A list of lists of numbers.
static float *read_matrix(reading *r, const vd_json_value *map, const char *key, int rows,
                          int columns)
{
    size_t wide = (size_t)columns;
    const vd_json_value *list = read_list(r, map, key, (size_t)rows, (size_t)rows);
    float *out = room(r, list->count, wide * sizeof *out), *to = out;
    for (const vd_json_value *row = list->first; row && out; row = row->next, to += wide)
        copy_numbers(r, checked_list(r, row, key, wide, wide), key, to);
    return out;
}

static vd_region_name *read_names(reading *r, const vd_json_value *map, int count)
{
    static const char key[] = "names";
    const vd_json_value *list = read_list(r, map, key, (size_t)count, (size_t)count);
    vd_region_name *out = room(r, list->count, sizeof *out), *to = out;
    for (const vd_json_value *name = list->first; name && out; name = name->next, to++) {
        if (name->type != VD_JSON_TEXT || strlen(name->text) >= sizeof to->text)
            refuse(r, "\"%s\" holds something that is not the name of a region", key);
        else
            memcpy(to->text, name->text, strlen(name->text) + 1);
    }
    return out;
}

// ---- pools --------------------------------------------------------------------------------------

static void read_pool(reading *r, const vd_json_value *map)
{
    const vd_json_value *list = read_list(r, map, "answers", 1, INT32_MAX);
    vd_recorded_pool *pool = add(r, &r->file->pools, &r->file->pool_count, sizeof *pool);
    if (!pool)
        return;
    pool->hash = read_hash(r, map, "hash");
    pool->answers = room(r, list->count, sizeof *pool->answers);
    for (const vd_json_value *text = list->first; text && r->status == VD_OK; text = text->next)
        pool->answers[pool->count++] = copy_text(r, text, "answers");
}

static const vd_recorded_pool *find_pool(reading *r, const char *hash)
{
    static const vd_recorded_pool none;
    for (size_t i = r->file->pool_count; i-- > 0;)
        if (strcmp(r->file->pools[i].hash.text, hash) == 0)
            return &r->file->pools[i];
    refuse(r, "the pool of its answers was not written before it");
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

static void rank_scores(reading *r, vd_answer *answer)
{
    size_t n = (size_t)answer->candidates;
    answer->order = room(r, n, sizeof *answer->order);
    ranked *list = room(r, n, sizeof *list);
    for (size_t i = 0; list && i < n; i++) // what is no number comes last
        list[i] = (ranked){isnan(answer->score[i]) ? -INFINITY : answer->score[i], (int32_t)i};
    if (list)
        qsort(list, n, sizeof *list, compare_ranked);
    for (size_t i = 0; list && i < n; i++)
        answer->order[i] = list[i].index;
    vd_free(list);
}

// Probabilities follow from the scores; log_sum: NAN where that is of the scores at hand.
static void compute_probabilities(reading *r, vd_answer *answer, double log_sum)
{
    int n = answer->candidates;
    answer->probability = room(r, (size_t)n, sizeof *answer->probability);
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
static float *spread_best(reading *r, const vd_json_value *best, size_t count, const float *score)
{
    float *all = room(r, count, sizeof *all);
    for (size_t i = 0; all && i < count; i++)
        all[i] = -INFINITY;
    const vd_json_value *place = best->first;
    for (; all && place && r->status == VD_OK; place = place->next, score++)
        if (place->type != VD_JSON_NUMBER || place->whole < 0 || place->whole >= (int64_t)count)
            refuse(r, "\"best\" holds something that is not a place in the pool");
        else
            all[place->whole] = *score;
    return all;
}

// All scores, or those of the best of a large pool. Ranking and probabilities follow from them.
static void read_scores(reading *r, const vd_json_value *map, size_t pool, vd_answer *answer)
{
    const vd_json_value *best = vd_json_member(map, "best", VD_JSON_LIST);
    const vd_json_value *log_sum = vd_json_member(map, "log_sum", VD_JSON_NUMBER);
    size_t expected = best ? best->count : pool;
    if (best && (!log_sum || expected > pool))
        refuse(r, "\"best\" without \"log_sum\", or more than the pool has");
    answer->score = read_numbers(r, map, "scores", expected, expected, &answer->candidates);
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

static void read_words(reading *r, const vd_json_value *map, vd_reply *reply)
{
    const vd_json_value *words = read_list(r, map, "words", 1, VD_MAX_QUESTION);
    const vd_json_value *flag = read_list(r, map, "unknown", words->count, words->count)->first;
    for (const vd_json_value *word = words->first; word && flag;
         word = word->next, flag = flag->next) {
        if (flag->type != VD_JSON_TRUTH)
            refuse(r, "\"unknown\" holds something else than true and false");
        reply->unknown[reply->words] = flag->number != 0;
        reply->word[reply->words++] = copy_text(r, word, "words");
    }
    reply->cut = (int)read_whole(r, map, "cut", 0, 1000000);
    const char *decoder = vd_json_text(map, "decoder");
    reply->ranked.made = decoder && vd_decoders_parse(decoder, &reply->ranked.by);
    if (decoder && !reply->ranked.made)
        refuse(r, "an unknown \"decoder\"");
}

static void read_answer(reading *r, const vd_json_value *map)
{
    vd_record *to = add(r, &r->file->records, &r->file->record_count, sizeof *to);
    if (!to)
        return;
    vd_sheet *sheet = &to->sheet;
    vd_sheet_side *side = &sheet->side[0];
    vd_answer *answer = &to->reply.answer;
    to->line = r->line;
    sheet->sides = 1;
    side->human = side->chosen = -1;
    side->lane = (int)read_whole(r, map, "lane", 0, VD_MOST_RECORDED_LANES);
    side->name = read_text(r, map, "name");
    side->model = read_text(r, map, "model");
    side->model_hash = read_hash(r, map, "model_hash");
    side->pool_hash = read_hash(r, map, "pool_hash");
    sheet->features_hash = read_hash(r, map, "features_hash");
    sheet->image_id = read_whole(r, map, "image_id", INT64_MIN, INT64_MAX);
    sheet->picture = vd_json_text(map, "picture") ? read_text(r, map, "picture") : NULL;
    sheet->caption = read_text(r, map, "caption");
    sheet->said = read_turns(r, map, "history", &sheet->rounds);
    to->reply.typed = read_text(r, map, "typed");
    to->reply.question = read_text(r, map, "question");
    read_words(r, map, &to->reply);
    const vd_recorded_pool *pool = find_pool(r, side->pool_hash.text);
    side->texts = (const char *const *)pool->answers;
    read_scores(r, map, pool->count, answer);
    size_t entries = (size_t)sheet->rounds + 1;
    answer->context_attention = read_numbers(r, map, "rounds", entries, entries, &answer->rounds);
    answer->region_attention = read_numbers(r, map, "regions", 1, MOST_REGIONS, &answer->regions);
    answer->question_length = to->reply.words;
    answer->word_attention =
        read_matrix(r, map, "region_words", answer->regions, answer->question_length);
    if (vd_json_member(map, "boxes", VD_JSON_LIST)) {
        sheet->boxes = read_matrix(r, map, "boxes", answer->regions, 4);
        sheet->regions = answer->regions;
    }
    if (vd_json_member(map, "names", VD_JSON_LIST)) {
        sheet->names = read_names(r, map, answer->regions);
        sheet->regions = answer->regions;
    }
}

// ---- conversations ------------------------------------------------------------------------------

static void read_branch(reading *r, const vd_json_value *list, vd_chat_record *record)
{
    static const char key[] = "branches";
    size_t width = (size_t)record->lane_count + 1;
    list = checked_list(r, list, key, 0, MOST_ROUNDS);
    vd_chat_record_branch *branch = &record->branches[record->branch_count++];
    branch->text = room(r, list->count, width * sizeof *branch->text);
    char **to = branch->text;
    for (const vd_json_value *round = list->first; round && r->status == VD_OK;
         round = round->next) {
        branch->count++;
        const vd_json_value *text = checked_list(r, round, key, width, width)->first;
        if (text && text->type == VD_JSON_NULL)
            refuse(r, "\"%s\" holds a round without a question", key);
        for (; text; text = text->next, to++) // null: that model's answer is not known
            *to = text->type == VD_JSON_NULL ? NULL : copy_text(r, text, key);
    }
}

static void read_record(reading *r, const vd_json_value *map, vd_chat_record *out)
{
    *out = (vd_chat_record){.image_id = read_whole(r, map, "image_id", INT64_MIN, INT64_MAX),
                            .caption = read_text(r, map, "caption")};
    out->picture = vd_json_text(map, "picture") ? read_text(r, map, "picture") : NULL;
    out->rounds = read_turns(r, map, "rounds", &out->count);
    out->returned = vd_json_member(map, "returned", VD_JSON_TRUTH) != NULL;
    if (vd_json_member(map, "models", VD_JSON_LIST)) {
        const vd_json_value *list = read_list(r, map, "models", 1, VD_MOST_RECORDED_LANES);
        out->lanes = room(r, list->count, sizeof *out->lanes);
        for (const vd_json_value *pair = list->first; pair && out->lanes; pair = pair->next) {
            vd_chat_record_lane *lane = &out->lanes[out->lane_count++];
            read_pair(r, pair, "models", "model, history", &lane->name, &lane->follow);
        }
    }
    if (vd_json_member(map, "branches", VD_JSON_LIST)) {
        const vd_json_value *list = read_list(r, map, "branches", 1, MOST_BRANCHES);
        out->branch = (int)read_whole(r, map, "branch", 0, (int64_t)list->count - 1);
        out->branches = room(r, list->count, sizeof *out->branches);
        for (const vd_json_value *rounds = list->first; rounds && r->status == VD_OK;
             rounds = rounds->next)
            read_branch(r, rounds, out);
    }
}

static void free_branches(vd_chat_record *record)
{
    size_t width = (size_t)record->lane_count + 1;
    for (int b = 0; b < record->branch_count; b++) {
        for (size_t i = 0; i < (size_t)record->branches[b].count * width; i++)
            vd_free(record->branches[b].text[i]);
        vd_free(record->branches[b].text);
    }
    for (int i = 0; i < record->lane_count; i++) {
        vd_free(record->lanes[i].name);
        vd_free(record->lanes[i].follow);
    }
    vd_free(record->branches);
    vd_free(record->lanes);
}

static void clear_record(vd_chat_record *record)
{
    free_branches(record);
    vd_turns_free(record->rounds, record->count);
    vd_free(record->picture);
    vd_free(record->caption);
    *record = (vd_chat_record){0};
}

// Gives `record` the models and branches of `from`, which is cleared.
static void move_branches(vd_chat_record *record, vd_chat_record *from)
{
    free_branches(record);
    record->lanes = from->lanes;
    record->lane_count = from->lane_count;
    record->branches = from->branches;
    record->branch_count = from->branch_count;
    record->branch = from->branch;
    from->lanes = NULL;
    from->branches = NULL;
    from->lane_count = from->branch_count = 0;
    clear_record(from);
}

static bool same_turns(const vd_turn *a, const vd_turn *b, int count, bool answers)
{
    for (int i = 0; i < count; i++)
        if (strcmp(a[i].question, b[i].question) != 0 ||
            (answers && strcmp(a[i].answer, b[i].answer) != 0))
            return false;
    return true;
}

static size_t talk_of(const reading *r, int64_t image_id)
{
    return GPOINTER_TO_SIZE(g_hash_table_lookup(r->talk_of, &image_id));
}

static void set_talk_of(const reading *r, int64_t image_id, size_t talk)
{
    int64_t *key = g_new(int64_t, 1);
    *key = image_id;
    g_hash_table_insert(r->talk_of, key, GSIZE_TO_POINTER(talk));
}

// The conversation that this line continues: the last one, or an earlier one about the same picture
// that this line begins with (another beginning is another conversation). NULL: none, or it has
// ended.
static vd_chat_record *find_open(const reading *r, const vd_chat_record *record)
{
    size_t at = talk_of(r, record->image_id);
    vd_chat_record *found = at > 0 ? &r->file->talks[at - 1] : NULL;
    bool goes_on = found && (at == r->file->talk_count || record->count == 0 ||
                             (record->count >= found->count &&
                              same_turns(record->rounds, found->rounds, found->count, true)));
    return goes_on && (!found->closed || record->returned) ? found : NULL;
}

// Replaces the conversation about the same picture that it continues, unless that one has ended: a
// line without rounds ends it. The last line's conversation is the last of the list: the place that
// it had before stays empty until drop_empty.
static void read_conversation(reading *r, const vd_json_value *map)
{
    vd_chat_record record;
    read_record(r, map, &record);
    vd_chat_record *before = r->status ? NULL : find_open(r, &record);
    bool given_up = record.count == 0 && (!before || record.branch_count < 2);
    if (before && given_up)
        before->closed = true;
    if (r->status || given_up) {
        clear_record(&record);
        return;
    }
    if (before && record.count == 0) {
        move_branches(before, &record); // an empty branch: other branches have rounds
        record = *before;
        *before = (vd_chat_record){0};
    } else if (before) {
        clear_record(before);
    }
    vd_chat_record *to = before;
    if (!before || before != &r->file->talks[r->file->talk_count - 1])
        to = add(r, &r->file->talks, &r->file->talk_count, sizeof *to);
    if (!to) {
        clear_record(&record);
        return;
    }
    *to = record;
    set_talk_of(r, record.image_id, r->file->talk_count);
}

// Also marks the conversations about one picture.
static void drop_empty(const reading *r)
{
    vd_transcript_file *file = r->file;
    size_t kept = 0;
    g_hash_table_remove_all(r->talk_of);
    for (size_t i = 0; i < file->talk_count; i++) {
        if (!file->talks[i].caption)
            continue;
        vd_chat_record *talk = &file->talks[kept++];
        *talk = file->talks[i];
        size_t earlier = talk_of(r, talk->image_id);
        talk->again = earlier > 0;
        if (earlier > 0)
            file->talks[earlier - 1].later = true;
        set_talk_of(r, talk->image_id, kept);
    }
    file->talk_count = kept;
}

// ---- finding answers ----------------------------------------------------------------------------

static size_t hash_place(const vd_transcript_file *file, int64_t image_id, const vd_turn *said,
                         int rounds, const char *typed)
{
    uint64_t hash = (uint64_t)image_id * 31 + g_str_hash(typed);
    for (int i = 0; i < rounds; i++) // not their answers: models may hear others
        hash = hash * 31 + g_str_hash(said[i].question);
    return (size_t)(hash ^ hash >> 29) & (file->newest_count - 1);
}

// The last answer whose question has this hash, and the one before each: 0 at the end.
static void index_records(reading *r)
{
    vd_transcript_file *file = r->file;
    for (file->newest_count = 1; file->newest_count < file->record_count;)
        file->newest_count *= 2;
    file->newest = room(r, file->newest_count, sizeof *file->newest);
    for (size_t i = 0; i < file->record_count && file->newest; i++) {
        vd_record *record = &file->records[i];
        const vd_sheet *sheet = &record->sheet;
        record->sheet.side[0].reply = &record->reply; // they moved while it grew
        size_t *place = &file->newest[hash_place(file, sheet->image_id, sheet->said, sheet->rounds,
                                                 record->reply.typed)];
        record->earlier = *place;
        *place = i + 1;
    }
}

// ---- file ---------------------------------------------------------------------------------------

static void read_files(reading *r, const vd_json_value *map)
{
    vd_recorded_files_clear(&r->file->files);
    for (int i = 0; i < VD_RECORDED_FILES && r->status == VD_OK; i++)
        if (vd_json_member(map, vd_recorded_file_names[i], VD_JSON_TEXT))
            r->file->files.path[i] = read_text(r, map, vd_recorded_file_names[i]);
}

static bool is_head(const vd_json_value *line)
{
    const vd_json_value *version = vd_json_member(line, "transcript", VD_JSON_NUMBER);
    return version && version->whole == 1;
}

static void read_line(reading *r, const char *text, size_t length)
{
    vd_json_value *value;
    r->status = vd_json_value_read(r->where, text, length, &value, r->err);
    if (r->status)
        return;
    const vd_json_value *files = vd_json_member(value, "files", VD_JSON_MAP);
    const vd_json_value *pool = vd_json_member(value, "pool", VD_JSON_MAP);
    const vd_json_value *answer = vd_json_member(value, "answer", VD_JSON_MAP);
    const vd_json_value *conversation = vd_json_member(value, "conversation", VD_JSON_MAP);
    if (r->line == 1 && !is_head(value))
        refuse(r, "this is not a transcript of version 1; expected {\"transcript\": 1, ...}");
    else if (files)
        read_files(r, files);
    else if (pool)
        read_pool(r, pool);
    else if (answer)
        read_answer(r, answer);
    else if (conversation)
        read_conversation(r, conversation);
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
    reading r = {.file = out,
                 .talk_of = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                 .err = err};
    snprintf(r.where, sizeof r.where, "%.280s", path);
    out->path = checked(&r, vd_strdup(path));
    char *at = data, *end = data + size;
    while (r.status == VD_OK && at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        r.line++;
        if (!stop && r.line > 1)
            break; // the program was killed while it wrote this
        snprintf(r.where, sizeof r.where, "%.280s, line %zu", path, r.line);
        size_t length = (size_t)((stop ? stop : end) - at);
        read_line(&r, at, length);
        at += length + 1;
    }
    if (r.line == 0)
        refuse(&r, "empty; expected a transcript");
    drop_empty(&r);
    index_records(&r);
    g_hash_table_destroy(r.talk_of);
    vd_free(data);
    if (r.status)
        vd_transcript_clear(out);
    return r.status;
}

void vd_transcript_clear(vd_transcript_file *file)
{
    for (size_t i = 0; i < file->record_count; i++) {
        vd_record *record = &file->records[i];
        vd_reply_clear(&record->reply);
        vd_turns_free((vd_turn *)record->sheet.said, record->sheet.rounds);
        vd_free((char *)record->sheet.side[0].name);
        vd_free((char *)record->sheet.side[0].model);
        vd_free((char *)record->sheet.picture);
        vd_free((char *)record->sheet.caption);
        vd_free((float *)record->sheet.boxes);
        vd_free((vd_region_name *)record->sheet.names);
    }
    for (size_t i = 0; i < file->talk_count; i++)
        clear_record(&file->talks[i]);
    for (size_t i = 0; i < file->pool_count; i++) {
        for (size_t k = 0; k < file->pools[i].count; k++)
            vd_free(file->pools[i].answers[k]);
        vd_free(file->pools[i].answers);
    }
    vd_recorded_files_clear(&file->files);
    vd_free(file->newest);
    vd_free(file->records);
    vd_free(file->talks);
    vd_free(file->pools);
    vd_free(file->path);
    *file = (vd_transcript_file){0};
}

// 1 + the index of the last answer that may be to this question, 0 when there is none.
static size_t first_of(const vd_transcript_file *file, int64_t image_id, const vd_turn *said,
                       int rounds, const char *typed)
{
    return file->newest ? file->newest[hash_place(file, image_id, said, rounds, typed)] : 0;
}

const vd_record *vd_transcript_find(const vd_transcript_file *file, const vd_chat_record *talk,
                                    int round, int lane)
{
    size_t at = first_of(file, talk->image_id, talk->rounds, round, talk->rounds[round].question);
    for (; at > 0; at = file->records[at - 1].earlier) {
        const vd_sheet *sheet = &file->records[at - 1].sheet;
        if (sheet->side[0].lane == lane && sheet->image_id == talk->image_id &&
            sheet->rounds == round &&
            strcmp(sheet->side[0].reply->typed, talk->rounds[round].question) == 0 &&
            same_turns(sheet->said, talk->rounds, round, lane == 0)) // others may hear others
            return &file->records[at - 1];
    }
    return NULL;
}

// Earlier programs left the hash empty where the answer came before the picture's regions.
static bool same_features(const vd_sheet *recorded, const vd_sheet *like)
{
    return !recorded->features_hash.text[0] ||
           strcmp(recorded->features_hash.text, like->features_hash.text) == 0;
}

const vd_record *vd_transcript_find_same(const vd_transcript_file *file, const vd_sheet *like)
{
    size_t at =
        first_of(file, like->image_id, like->said, like->rounds, like->side[0].reply->typed);
    for (; at > 0; at = file->records[at - 1].earlier) {
        const vd_sheet *sheet = &file->records[at - 1].sheet;
        const vd_sheet_side *own = &sheet->side[0], *other = &like->side[0];
        if (sheet->image_id == like->image_id && sheet->rounds == like->rounds &&
            strcmp(own->model_hash.text, other->model_hash.text) == 0 &&
            strcmp(own->pool_hash.text, other->pool_hash.text) == 0 && same_features(sheet, like) &&
            strcmp(own->reply->typed, other->reply->typed) == 0 &&
            same_turns(sheet->said, like->said, like->rounds, true))
            return &file->records[at - 1];
    }
    return NULL;
}
