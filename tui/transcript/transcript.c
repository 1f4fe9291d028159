// What writes a transcript.
#include "tui/transcript/transcript.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/json_tree.h"
#include "tui/answer/json.h"
#include "tui/session/history.h"
#include "tui/base/output.h"
#include "tui/base/shares.h"

enum { MOST_POOLS = 16, SHOWN_ANSWERS = 10 };

struct vd_transcript {
    char *path;
    int file;                       // -1: nothing was written yet
    bool begun;                     // its first line is there
    const vd_recorded_files *files; // to be written with the next line; NULL: not
    bool elsewhere;                 // another chat writes the file that was named
    char remark[800];
    bool told; // the remark
    vd_fingerprint pool[MOST_POOLS];
    int pools;
    char *last; // the conversation's line that was written last
};

// ---- taking a file over -------------------------------------------------------------------------

// Moves a last line that was cut off, because the disk was full or the program was killed, to a
// file beside the transcript: what is written behind it would belong to it.
static vd_status mend(vd_transcript *transcript, const char *text, size_t size, vd_error *err)
{
    size_t end = size; // of the last whole line
    while (end > 0 && text[end - 1] != '\n')
        end--;
    if (end == size)
        return VD_OK;
    g_autofree char *aside = g_strconcat(transcript->path, ".torn", NULL);
    int file;
    vd_status status = vd_file_extend(aside, 0600, &file, err);
    if (status == VD_OK)
        status = vd_file_append(file, aside, text + end, size - end, err);
    if (status == VD_OK && ftruncate(transcript->file, (off_t)end) != 0)
        status = vd_error_set(err, VD_IO, "%.400s: %s", transcript->path, strerror(errno));
    if (status == VD_OK)
        snprintf(transcript->remark, sizeof transcript->remark,
                 "the last line of the transcript was cut off and is now in %.300s", aside);
    if (file >= 0)
        close(file);
    return status;
}

// That the file is empty or a transcript, so that lines may be added to it.
static vd_status check(const vd_transcript *transcript, const char *text, size_t size,
                       vd_error *err)
{
    enum { FIRST_LINE = 1024 };
    static const char start[] = "{\"transcript\":1";
    size = MIN(size, FIRST_LINE);
    if (size == 0)
        return VD_OK;
    const char *end = memchr(text, '\n', size);
    vd_json_value *value = NULL;
    vd_status status =
        vd_json_value_read(transcript->path, text, end ? (size_t)(end - text) : size, &value, err);
    const vd_json_value *version = vd_json_member(value, "transcript", VD_JSON_NUMBER);
    bool ours = version && version->whole == 1;
    vd_json_value_free(value);
    if (status == VD_NO_MEMORY)
        return status;
    // The first line may be one that was cut off.
    if (ours || (!end && memcmp(text, start, size < sizeof start ? size : sizeof start - 1) == 0))
        return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%.400s: exists and is not a transcript; name a new file with --transcript",
                        transcript->path);
}

// Opens the file and locks it; *busy: another chat has.
static vd_status take(vd_transcript *transcript, bool *busy, vd_error *err)
{
    struct stat about;
    *busy = false;
    vd_status status = vd_file_extend(transcript->path, 0600, &transcript->file, err);
    if (status != VD_OK || fstat(transcript->file, &about) != 0 || !S_ISREG(about.st_mode))
        return status;
    *busy = flock(transcript->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (*busy)
        return VD_OK;
    g_autoptr(GError) why = NULL;
    g_autoptr(GMappedFile) map = g_mapped_file_new_from_fd(transcript->file, FALSE, &why);
    if (!map)
        return vd_error_set(err, VD_IO, "%.400s: %.300s", transcript->path, why->message);
    const char *text = g_mapped_file_get_contents(map);
    size_t size = g_mapped_file_get_length(map);
    status = check(transcript, text, size, err);
    return status != VD_OK ? status : mend(transcript, text, size, err);
}

static void drop_file(vd_transcript *transcript)
{
    if (transcript->file >= 0)
        close(transcript->file);
    transcript->file = -1;
}

// Goes on in a new file beside the one that is busy: talk.jsonl, talk-2.jsonl.
static vd_status go_elsewhere(vd_transcript *transcript, vd_error *err)
{
    static const char suffix[] = ".jsonl";
    g_autofree char *busy = transcript->path;
    size_t stem = strlen(busy) - (g_str_has_suffix(busy, suffix) ? strlen(suffix) : 0);
    bool taken = true;
    vd_status status = VD_OK;
    for (int number = 2; status == VD_OK && taken; number++) {
        drop_file(transcript);
        transcript->path = g_strdup_printf("%.*s-%d%s", (int)stem, busy, number, busy + stem);
        if (access(transcript->path, F_OK) != 0)
            status = take(transcript, &taken, err);
        if (status != VD_OK || !taken)
            break;
        g_free(transcript->path);
    }
    transcript->elsewhere = true;
    snprintf(transcript->remark, sizeof transcript->remark,
             "another chat writes to this transcript; this one writes to %.300s", transcript->path);
    return status;
}

// ---- file ---------------------------------------------------------------------------------------

static vd_status open_file(vd_transcript *transcript, vd_error *err)
{
    if (transcript->file >= 0)
        return VD_OK;
    bool busy;
    vd_status status = take(transcript, &busy, err);
    if (status == VD_OK && busy)
        status = go_elsewhere(transcript, err);
    if (status != VD_OK)
        drop_file(transcript);
    return status;
}

static char *new_path(void)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *stamp = g_date_time_format(now, "%Y-%m-%dT%H%M%SZ");
    g_autofree char *name = g_strdup_printf("transcripts/%s-%ld.jsonl", stamp, (long)getpid());
    return vd_state_path(name);
}

vd_status vd_transcript_start(const char *path, vd_transcript **out, vd_error *err)
{
    vd_transcript *transcript = g_new0(vd_transcript, 1);
    *out = NULL;
    transcript->file = -1;
    transcript->path = path ? g_strdup(path) : new_path();
    vd_status status = VD_OK;
    if (!transcript->path)
        status =
            vd_error_set(err, VD_UNAVAILABLE, VD_NO_STATE "; name a file with --transcript FILE");
    else if (access(transcript->path, F_OK) == 0)
        status = open_file(transcript, err);
    else if (path)
        status = vd_output_try(path, err);
    if (status == VD_OK)
        *out = transcript;
    else
        vd_transcript_close(transcript);
    return status;
}

const char *vd_transcript_remark(vd_transcript *transcript)
{
    if (transcript->told || !transcript->remark[0])
        return NULL;
    transcript->told = true;
    return transcript->remark;
}

bool vd_transcript_elsewhere(const vd_transcript *transcript)
{
    return transcript->elsewhere;
}

void vd_transcript_close(vd_transcript *transcript)
{
    if (!transcript)
        return;
    if (transcript->elsewhere && transcript->file >= 0 && !transcript->begun)
        unlink(transcript->path);
    drop_file(transcript);
    vd_free(transcript->last);
    g_free(transcript->path);
    g_free(transcript);
}

// ---- names --------------------------------------------------------------------------------------

const char *vd_transcript_path(const vd_transcript *transcript)
{
    return transcript->path;
}

bool vd_transcript_begun(const vd_transcript *transcript)
{
    return transcript->begun;
}

static vd_status copy_file(const char *from, const char *to, vd_error *err)
{
    enum { MOST = 1 << 30 };
    char *text;
    size_t size;
    vd_status status = vd_file_read(from, MOST, &text, &size, err);
    int file = -1;
    if (status == VD_OK) { // for its owner alone, as all transcripts; writes over nothing
        file = open(to, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
        if (file < 0)
            status = vd_error_set(err, VD_IO, "%.400s: %s", to, strerror(errno));
        else if ((status = vd_file_append(file, to, text, size, err)))
            unlink(to);
    }
    if (file >= 0)
        close(file);
    vd_free(text);
    return status;
}

// The file itself, locked and open, under its new name: link() writes over nothing.
static vd_status move_file(const char *from, const char *to, vd_error *err)
{
    if (link(from, to) != 0)
        return vd_error_set(err, VD_IO, "%.400s: %s", to, strerror(errno));
    unlink(from);
    return VD_OK;
}

vd_status vd_transcript_rename(vd_transcript *transcript, const char *path, vd_error *err)
{
    char name[VD_SAVED_NAME];
    bool unnamed = vd_saved_name(transcript->path, name) && vd_saved_unnamed(name);
    vd_status status = VD_OK;
    if (access(path, F_OK) == 0)
        status = vd_error_set(err, VD_USAGE, "there is a session of this name");
    else if (transcript->file >= 0)
        status = unnamed ? move_file(transcript->path, path, err)
                         : copy_file(transcript->path, path, err);
    if (status)
        return status;
    g_free(transcript->path);
    transcript->path = g_strdup(path);
    if (unnamed || transcript->file < 0)
        return VD_OK;
    drop_file(transcript); // the copy is written from now on
    return open_file(transcript, err);
}

// ---- lines --------------------------------------------------------------------------------------

static vd_status emit_line(vd_transcript *transcript, vd_json_emit emit, const void *context,
                           char **kept, vd_error *err)
{
    char *text;
    size_t length;
    vd_status status = vd_json_write(transcript->path, emit, (void *)context, &text, &length, err);
    if (status)
        return status;
    if (kept && *kept && strcmp(*kept, text) == 0) {
        vd_free(text);
        return VD_OK;
    }
    text[length] = '\n'; // in place of the zero byte, so that the line goes in one write
    status = vd_file_append(transcript->file, transcript->path, text, length + 1, err);
    text[length] = '\0';
    if (kept && status == VD_OK) {
        vd_free(*kept);
        *kept = text;
    } else {
        vd_free(text);
    }
    return status;
}

static yajl_gen_status emit_head(yajl_gen json, void *context)
{
    (void)context;
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *stamp = g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
    return vd_json_put(json, "{transcript: %d, program: %s, started: %s}", 1, "visdial " VD_VERSION,
                       stamp);
}

static void put_path(yajl_gen json, const char *key, const char *path)
{
    g_autofree char *text = vd_recorded_path(path);
    vd_json_put(json, "%s: %s", key, text);
}

static yajl_gen_status emit_files(yajl_gen json, void *context)
{
    const vd_recorded_files *files = context;
    vd_json_put(json, "{files: {");
    for (int i = 0; i < VD_RECORDED_FILES; i++)
        if (files->path[i])
            put_path(json, vd_recorded_file_names[i], files->path[i]);
    return vd_json_put(json, "}}");
}

void vd_transcript_about(vd_transcript *transcript, const vd_recorded_files *files)
{
    transcript->files = files;
}

// The file is created with its first line: a chat without a question leaves none.
static vd_status begin(vd_transcript *transcript, vd_error *err)
{
    vd_status status = open_file(transcript, err);
    if (status == VD_OK && lseek(transcript->file, 0, SEEK_END) <= 0 && !transcript->begun)
        status = emit_line(transcript, emit_head, NULL, NULL, err);
    if (status == VD_OK && transcript->files)
        status = emit_line(transcript, emit_files, transcript->files, NULL, err);
    if (status == VD_OK)
        transcript->files = NULL;
    transcript->begun = transcript->begun || status == VD_OK;
    return status;
}

// ---- answers ------------------------------------------------------------------------------------

static void emit_turns(yajl_gen json, const char *key, const vd_turn *turns, int count)
{
    vd_json_put(json, "%s: [", key);
    for (int i = 0; i < count; i++)
        vd_json_put(json, "[%s, %s]", turns[i].question, turns[i].answer);
    vd_json_put(json, "]");
}

static void emit_matrix(yajl_gen json, const char *key, const float *values, int rows, int columns)
{
    vd_json_put(json, "%s: [", key);
    for (int row = 0; row < rows; row++, values += columns)
        vd_json_put_numbers(json, values, (size_t)columns);
    vd_json_put(json, "]");
}

static bool has_words(const vd_attention *attention)
{
    return attention->query == VD_AXIS_HISTORY_WORDS || attention->key == VD_AXIS_HISTORY_WORDS;
}

// Of the words of the history those of an entry, as a matrix.
static void emit_entry(yajl_gen json, const vd_attention *a, const int32_t start[2])
{
    int row = 0, rows = a->rows, column = 0, columns = a->columns;
    if (a->query == VD_AXIS_HISTORY_WORDS)
        row = start[0], rows = start[1] - start[0];
    if (a->key == VD_AXIS_HISTORY_WORDS)
        column = start[0], columns = start[1] - start[0];
    vd_json_put(json, "[");
    for (int i = row; i < row + rows; i++)
        vd_json_put_numbers(json, a->share + (size_t)i * (size_t)a->columns + column,
                            (size_t)columns);
    vd_json_put(json, "]");
}

// Limited to the strongest entries, or the last: at 3 kB an entry, a long history would take
// megabytes.
static void emit_entries(yajl_gen json, const vd_answer *answer, const vd_attention *a)
{
    vd_share top[VD_TOPIC_ENTRIES];
    const float *rounds = vd_answer_shares(answer, VD_AXIS_ENTRIES);
    int count = rounds ? vd_shares_top(rounds, answer->rounds, 2, top, VD_TOPIC_ENTRIES) : 0;
    vd_json_put(json, "entries: [");
    for (int r = 0; r < answer->rounds; r++) {
        bool strong = !rounds && r + VD_TOPIC_ENTRIES >= answer->rounds;
        for (int i = 0; i < count && !strong; i++)
            strong = top[i].index == r;
        if (strong && a->share && answer->history_start)
            emit_entry(json, a, answer->history_start + r);
        else
            vd_json_put(json, "null");
    }
    vd_json_put(json, "]");
}

static void emit_attentions(yajl_gen json, const vd_answer *answer)
{
    vd_json_put(json, "region_count: %d, attentions: [", answer->regions);
    for (int i = 0; i < answer->attentions; i++) {
        const vd_attention *a = &answer->attention[i];
        vd_json_put(json, "{");
        vd_json_attention_name(json, a);
        vd_json_put(json, "query: %s, key: %s", vd_axis_name(a->query), vd_axis_name(a->key));
        if (a->nothing)
            vd_json_put(json, "nothing: %hhd", a->nothing);
        if (has_words(a))
            emit_entries(json, answer, a);
        else if (a->share)
            emit_matrix(json, "shares", a->share, a->rows, a->columns);
        vd_json_put(json, "}");
    }
    vd_json_put(json, "]");
}

// All scores, or those of the best of a large pool.
static void emit_scores(yajl_gen json, const vd_answer *answer)
{
    if (answer->candidates <= VD_RECORDED_SCORES) {
        vd_json_put(json, "scores:");
        vd_json_put_numbers(json, answer->score, (size_t)answer->candidates);
        return;
    }
    int first = answer->order[0];
    vd_json_put(json, "best: [");
    for (int i = 0; i < VD_RECORDED_SCORES; i++)
        vd_json_put(json, "%d", answer->order[i]);
    vd_json_put(json, "], log_sum: %.9g, scores: [",
                (double)answer->score[first] - log((double)answer->probability[first]));
    for (int i = 0; i < VD_RECORDED_SCORES; i++)
        vd_json_put(json, "%.9g", (double)answer->score[answer->order[i]]);
    vd_json_put(json, "]");
}

static void emit_reply(yajl_gen json, const vd_reply *reply, const char *const *texts)
{
    const vd_answer *answer = &reply->answer;
    vd_json_put(json, "typed: %s, question: %s, words:", reply->typed, reply->question);
    vd_json_put_texts(json, (const char *const *)reply->word, (size_t)reply->words);
    vd_json_put(json, "unknown: [");
    for (int i = 0; i < reply->words; i++)
        vd_json_put(json, "%hhd", reply->unknown[i]);
    vd_json_put(json, "], cut: %d, milliseconds: %.9g", reply->cut, answer->milliseconds);
    if (reply->ranked.made)
        vd_json_put(json, "decoder: %s", vd_decoders_name(reply->ranked.by));
    vd_json_put(json, "answers: [");
    for (int i = 0; i < answer->candidates && i < SHOWN_ANSWERS; i++)
        vd_json_put(json, "[%s, %.9g]", texts[answer->order[i]],
                    (double)answer->probability[answer->order[i]]);
    vd_json_put(json, "]");
    emit_scores(json, answer);
    emit_attentions(json, answer);
}

static void emit_caption_by(yajl_gen json, vd_caption_by by)
{
    if (by != VD_CAPTION_PEOPLE)
        vd_json_put(json, "caption_by: %s", vd_caption_by_names[by]);
}

static yajl_gen_status emit_answer(yajl_gen json, void *context)
{
    const vd_sheet *sheet = context;
    const vd_sheet_side *side = &sheet->side[0];
    vd_json_put(json, "{answer: {lane: %d, name: %s, model: %s, image_id: %" PRId64, side->lane,
                side->name, side->model, sheet->image_id);
    if (sheet->picture)
        put_path(json, "picture", sheet->picture);
    vd_json_put(json, "caption: %s", sheet->caption);
    emit_caption_by(json, sheet->caption_by);
    emit_turns(json, "history", sheet->history, sheet->rounds);
    vd_json_put(json, "model_hash: %s, pool_hash: %s, features_hash: %s", side->model_hash.text,
                side->pool_hash.text, sheet->features_hash.text);
    emit_reply(json, side->reply, side->texts);
    if (sheet->boxes)
        emit_matrix(json, "boxes", sheet->boxes, sheet->regions, 4);
    if (sheet->names)
        vd_json_put(json, "names: [");
    for (int i = 0; sheet->names && i < sheet->regions; i++)
        vd_json_put(json, "%s", sheet->names[i].text);
    return vd_json_put(json, sheet->names ? "]}}" : "}}");
}

static yajl_gen_status emit_pool(yajl_gen json, void *context)
{
    const vd_sheet *sheet = context;
    vd_json_put(json, "{pool: {hash: %s, answers:", sheet->side[0].pool_hash.text);
    vd_json_put_texts(json, sheet->side[0].texts, (size_t)sheet->side[0].reply->answer.candidates);
    return vd_json_put(json, "}}");
}

static vd_status pool_once(vd_transcript *transcript, const vd_sheet *sheet, vd_error *err)
{
    for (int i = 0; i < transcript->pools; i++)
        if (strcmp(transcript->pool[i].text, sheet->side[0].pool_hash.text) == 0)
            return VD_OK;
    if (transcript->pools < MOST_POOLS)
        transcript->pool[transcript->pools++] = sheet->side[0].pool_hash;
    return emit_line(transcript, emit_pool, sheet, NULL, err);
}

vd_status vd_transcript_answer(vd_transcript *transcript, const vd_sheet *sheet, vd_error *err)
{
    vd_status status = begin(transcript, err);
    if (status == VD_OK)
        status = pool_once(transcript, sheet, err);
    if (status == VD_OK)
        status = emit_line(transcript, emit_answer, sheet, NULL, err);
    return status;
}

// ---- conversations ------------------------------------------------------------------------------

static void emit_branch(yajl_gen json, const vd_chat_record_branch *branch, size_t width)
{
    char *const *text = branch->text;
    vd_json_put(json, "[");
    for (int i = 0; i < branch->count; i++) {
        vd_json_put(json, "[");
        for (size_t k = 0; k < width; k++, text++)
            if (*text)
                vd_json_put(json, "%s", *text);
            else
                vd_json_put(json, "null");
        vd_json_put(json, "]");
    }
    vd_json_put(json, "]");
}

static yajl_gen_status emit_conversation(yajl_gen json, void *context)
{
    const vd_chat_record *record = context;
    vd_json_put(json, "{conversation: {image_id: %" PRId64, record->image_id);
    if (record->picture)
        put_path(json, "picture", record->picture);
    vd_json_put(json, "caption: %s", record->caption);
    emit_caption_by(json, record->caption_by);
    emit_turns(json, "rounds", record->rounds, record->count);
    if (record->lane_count > 0)
        vd_json_put(json, "models: [");
    for (int i = 0; i < record->lane_count; i++)
        vd_json_put(json, "[%s, %s]", record->lanes[i].name, record->lanes[i].follow);
    if (record->lane_count > 0)
        vd_json_put(json, "]");
    if (record->branch_count > 0)
        vd_json_put(json, "branch: %d, branches: [", record->branch);
    for (int i = 0; i < record->branch_count; i++)
        emit_branch(json, &record->branches[i], (size_t)record->lane_count + 1);
    if (record->branch_count > 0)
        vd_json_put(json, "]");
    if (record->aside_count > 0)
        vd_json_put(json, "asides: [");
    for (int i = 0; i < record->aside_count; i++) {
        const vd_chat_record_aside *a = &record->asides[i];
        vd_json_put(json, "[%d, %d, %s, %s]", a->branch, a->before, a->typed, a->reply);
    }
    if (record->aside_count > 0)
        vd_json_put(json, "]");
    if (record->returned)
        vd_json_put(json, "returned: %hhd", record->returned);
    return vd_json_put(json, "}}");
}

vd_status vd_transcript_conversation(vd_transcript *transcript, const vd_chat_record *dialog,
                                     vd_error *err)
{
    if (!transcript->begun && dialog->count == 0)
        return VD_OK;
    vd_status status = begin(transcript, err);
    if (status == VD_OK)
        status = emit_line(transcript, emit_conversation, dialog, &transcript->last, err);
    return status;
}
