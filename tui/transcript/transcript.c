#include "tui/transcript/lines.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/json.h"
#include "tui/base/version.h"
#include "tui/session/history.h"
#include "tui/base/output.h"
#include "tui/base/shares.h"

enum { MOST_POOLS = 16, SHOWN_ANSWERS = 10, FIRST_LINE = 1024 }; // bytes of that

struct vd_transcript {
    char *path;
    int file; // -1: nothing was written yet
    vd_fingerprint pool[MOST_POOLS];
    int pools;
    char *last; // the conversation's line that was written last
};

// ---- file ---------------------------------------------------------------------------------------

// Only a file that is new, empty or a transcript may get lines. Devices take them as they come.
static vd_status check_place(const char *path, vd_error *err)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0)
        return VD_OK;
    FILE *file = fopen(path, "re");
    if (!file)
        return vd_error_set(err, VD_IO, "%.400s: cannot be opened: %s", path, strerror(errno));
    char head[FIRST_LINE];
    vd_json_value *value = NULL;
    vd_status status = VD_FORMAT;
    if (fgets(head, sizeof head, file))
        status = vd_json_value_read(path, head, strlen(head), &value, err);
    bool ours = status == VD_OK && vd_transcript_is_head(value);
    vd_json_value_free(value);
    fclose(file);
    if (ours || status == VD_NO_MEMORY)
        return status;
    return vd_error_set(err, VD_FORMAT,
                        "%.400s: exists and is not a transcript; name a new file with --transcript",
                        path);
}

vd_status vd_transcript_start(const char *path, vd_transcript **out, vd_error *err)
{
    *out = NULL;
    vd_status status = path ? check_place(path, err) : VD_OK;
    if (status)
        return status;
    *out = vd_alloc(1, sizeof **out);
    if (!*out)
        return vd_error_memory(err, "a transcript");
    (*out)->file = -1;
    if (path) {
        (*out)->path = vd_strdup(path);
    } else {
        char name[64], stamp[32];
        time_t now = time(NULL);
        struct tm parts;
        gmtime_r(&now, &parts);
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H%M%SZ", &parts);
        snprintf(name, sizeof name, "transcripts/%s-%ld.jsonl", stamp, (long)getpid());
        (*out)->path = vd_state_path(name);
    }
    if ((*out)->path)
        return VD_OK;
    vd_transcript_close(*out);
    *out = NULL;
    return vd_error_set(err, VD_UNAVAILABLE,
                        "neither XDG_STATE_HOME nor HOME is a directory that can be written to; "
                        "name a file with --transcript FILE");
}

void vd_transcript_close(vd_transcript *transcript)
{
    if (!transcript)
        return;
    if (transcript->file >= 0)
        close(transcript->file);
    vd_free(transcript->last);
    vd_free(transcript->path);
    vd_free(transcript);
}

const char *vd_transcript_path(const vd_transcript *transcript)
{
    return transcript->path;
}

static int is_transcript(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 6 && strcmp(entry->d_name + length - 6, ".jsonl") == 0;
}

vd_status vd_transcript_newest(char **out, vd_error *err)
{
    *out = NULL;
    char *directory = vd_state_path("transcripts");
    struct dirent **names = NULL;
    int count = directory ? scandir(directory, &names, is_transcript, alphasort) : -1;
    if (count > 0) {
        size_t size = strlen(directory) + strlen(names[count - 1]->d_name) + 2;
        *out = vd_alloc(size, 1);
        if (*out)
            snprintf(*out, size, "%s/%s", directory, names[count - 1]->d_name);
        else
            vd_error_memory(err, "a path");
    }
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    vd_status status = *out ? VD_OK
                       : count > 0
                           ? VD_NO_MEMORY
                           : vd_error_set(err, VD_NOT_FOUND, "%.400s: there is no transcript yet",
                                          directory ? directory : "XDG_STATE_HOME");
    vd_free(directory);
    return status;
}

// ---- lines --------------------------------------------------------------------------------------

static vd_status write_line(vd_transcript *transcript, char *text, size_t length, vd_error *err)
{
    text[length] = '\n'; // in place of the zero byte, so that the line goes in one write
    ssize_t written;
    do
        written = write(transcript->file, text, length + 1);
    while (written < 0 && errno == EINTR);
    int reason = errno;
    text[length] = '\0';
    if (written == (ssize_t)length + 1)
        return VD_OK;
    return vd_error_set(err, VD_IO, "%.400s: %s", transcript->path,
                        written < 0 ? strerror(reason) : "the disk is full");
}

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
    status = write_line(transcript, text, length, err);
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
    char stamp[32];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &parts);
    yajl_gen_map_open(json);
    vd_member_integer(json, "transcript", 1);
    vd_member_string(json, "program", "visdial " VD_VERSION);
    vd_member_string(json, "started", stamp);
    return yajl_gen_map_close(json);
}

// With the first line, so that a chat in which nothing is asked leaves no file.
static vd_status open_file(vd_transcript *transcript, vd_error *err)
{
    if (transcript->file >= 0)
        return VD_OK;
    int file = open(transcript->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) {
        vd_status status =
            vd_error_set(err, VD_IO, "%.400s: %s", transcript->path, strerror(errno));
        if (file >= 0)
            close(file);
        return status;
    }
    transcript->file = file;
    return about.st_size == 0 ? emit_line(transcript, emit_head, NULL, NULL, err) : VD_OK;
}

// ---- answers ------------------------------------------------------------------------------------

void vd_output_said(yajl_gen json, const vd_turn *rounds, int count)
{
    yajl_gen_array_open(json);
    for (int i = 0; i < count; i++) {
        yajl_gen_array_open(json);
        vd_output_string(json, rounds[i].question);
        vd_output_string(json, rounds[i].answer);
        yajl_gen_array_close(json);
    }
    yajl_gen_array_close(json);
}

// Of every entry of a long history this would be megabytes an answer: 3 kB an entry.
static void emit_topic(yajl_gen json, const vd_answer *answer)
{
    vd_share top[VD_TOPIC_ENTRIES];
    size_t words = (size_t)answer->question_length, width = (size_t)answer->history_width;
    int count = vd_shares_top(answer->context_attention, answer->rounds, 2, top, VD_TOPIC_ENTRIES);
    vd_member_list(json, "topic");
    for (int r = 0; r < answer->rounds; r++) {
        bool strong = false;
        for (int i = 0; i < count && !strong; i++)
            strong = top[i].index == r;
        if (!strong || !answer->topic_attention) {
            yajl_gen_null(json);
            continue;
        }
        yajl_gen_array_open(json);
        for (size_t w = 0; w < words; w++)
            vd_output_numbers(json, answer->topic_attention + ((size_t)r * words + w) * width,
                              (size_t)answer->history_length[r]);
        yajl_gen_array_close(json);
    }
    yajl_gen_array_close(json);
}

static void emit_attentions(yajl_gen json, const vd_sheet *sheet)
{
    const vd_answer *answer = &sheet->side[0].reply->answer;
    size_t rounds = (size_t)answer->rounds, words = (size_t)answer->question_length;
    size_t regions = (size_t)answer->regions;
    vd_member_numbers(json, "rounds", answer->context_attention, rounds);
    emit_topic(json, answer);
    vd_member_numbers(json, "regions", answer->region_attention, regions);
    vd_member_list(json, "region_words");
    for (size_t p = 0; p < regions; p++)
        vd_output_numbers(json, answer->word_attention + p * words, words);
    yajl_gen_array_close(json);
    if (sheet->boxes) {
        vd_member_list(json, "boxes");
        for (int p = 0; p < sheet->regions; p++)
            vd_output_numbers(json, sheet->boxes + (size_t)4 * (size_t)p, 4);
        yajl_gen_array_close(json);
    }
}

static void emit_seen(yajl_gen json, const vd_reply *reply)
{
    vd_member_string(json, "typed", reply->typed);
    vd_member_string(json, "question", reply->question);
    vd_member_list(json, "words");
    for (int i = 0; i < reply->words; i++)
        vd_output_string(json, reply->word[i]);
    yajl_gen_array_close(json);
    vd_member_list(json, "unknown");
    for (int i = 0; i < reply->words; i++)
        yajl_gen_bool(json, reply->unknown[i]);
    yajl_gen_array_close(json);
    vd_member_integer(json, "cut", reply->cut);
    vd_member_number(json, "milliseconds", reply->answer.milliseconds);
}

static yajl_gen_status emit_answer(yajl_gen json, void *context)
{
    const vd_sheet *sheet = context;
    const vd_answer *answer = &sheet->side[0].reply->answer;
    yajl_gen_map_open(json);
    vd_member_map(json, "answer");
    vd_member_integer(json, "lane", sheet->side[0].lane);
    vd_member_string(json, "name", sheet->side[0].name);
    vd_member_string(json, "model", sheet->side[0].model);
    vd_member_integer(json, "image_id", sheet->image_id);
    vd_member_string(json, "caption", sheet->caption);
    vd_output_string(json, "history");
    vd_output_said(json, sheet->said, sheet->rounds);
    emit_seen(json, sheet->side[0].reply);
    if (sheet->side[0].reply->ranked.made)
        vd_member_string(json, "decoder", vd_decoders_name(sheet->side[0].reply->ranked.by));
    vd_member_string(json, "model_hash", sheet->side[0].model_hash.text);
    vd_member_string(json, "pool_hash", sheet->side[0].pool_hash.text);
    vd_member_string(json, "features_hash", sheet->features_hash.text);
    vd_member_list(json, "answers");
    for (int i = 0; i < answer->candidates && i < SHOWN_ANSWERS; i++) {
        yajl_gen_array_open(json);
        vd_output_string(json, sheet->side[0].texts[answer->order[i]]);
        vd_output_number(json, (double)answer->probability[answer->order[i]]);
        yajl_gen_array_close(json);
    }
    yajl_gen_array_close(json);
    vd_scores_emit(json, answer);
    emit_attentions(json, sheet);
    yajl_gen_map_close(json);
    return yajl_gen_map_close(json);
}

static yajl_gen_status emit_pool(yajl_gen json, void *context)
{
    const vd_sheet *sheet = context;
    yajl_gen_map_open(json);
    vd_member_map(json, "pool");
    vd_member_string(json, "hash", sheet->side[0].pool_hash.text);
    vd_member_list(json, "answers");
    for (int i = 0; i < sheet->side[0].reply->answer.candidates; i++)
        vd_output_string(json, sheet->side[0].texts[i]);
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
    return yajl_gen_map_close(json);
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
    vd_status status = open_file(transcript, err);
    if (status == VD_OK)
        status = pool_once(transcript, sheet, err);
    if (status == VD_OK)
        status = emit_line(transcript, emit_answer, sheet, NULL, err);
    return status;
}

// ---- conversations ------------------------------------------------------------------------------

vd_status vd_transcript_conversation(vd_transcript *transcript, const vd_chat_record *talk,
                                     vd_error *err)
{
    if (transcript->file < 0 && talk->count == 0)
        return VD_OK;
    vd_status status = open_file(transcript, err);
    if (status == VD_OK)
        status = emit_line(transcript, vd_chat_record_emit, talk, &transcript->last, err);
    return status;
}
