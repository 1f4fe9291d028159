#include "features/dialogs/answer_pool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include <glib.h>

#include "engine/base/alloc.h"
#include "engine/base/parallel.h"
#include "engine/networks/batch.h"
#include "engine/base/file.h"
#include "features/text/characters.h"
#include "features/text/tokenize.h"

enum { MAX_FILE = 1 << 30 };

void vd_answer_pool_clear(vd_answer_pool *pool)
{
    for (size_t i = 0; pool->answer && i < pool->count; i++)
        vd_free(pool->answer[i]);
    vd_free(pool->answer);
    vd_free(pool->times);
    *pool = (vd_answer_pool){0};
}

// ---- counting -----------------------------------------------------------------------------------

typedef struct counted {
    const char *answer;
    size_t order; // in the table
    int64_t times;
} counted;

static int by_text(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    int order = strcmp(x->answer, y->answer);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_times(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->times != y->times)
        return x->times < y->times ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

// Answers that were given and that a line of a pool can hold; how many there are.
static size_t sort_answers(const char *const *answers, const int64_t *times, size_t count,
                           counted *list)
{
    size_t n = 0, distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (times[i] > 0 && *answers[i] && !strpbrk(answers[i], "\t\r\n"))
            list[n++] = (counted){answers[i], i, times[i]};
    // A table may hold an answer twice.
    qsort(list, n, sizeof *list, by_text);
    for (size_t i = 0; i < n; i++) {
        if (distinct > 0 && strcmp(list[distinct - 1].answer, list[i].answer) == 0)
            list[distinct - 1].times += list[i].times;
        else
            list[distinct++] = list[i];
    }
    qsort(list, distinct, sizeof *list, by_times);
    return distinct;
}

vd_status vd_answer_pool_from_counts(const char *const *answers, const int64_t *times, size_t count,
                                     size_t top, vd_answer_pool *out, vd_error *err)
{
    *out = (vd_answer_pool){0};
    counted *list = vd_alloc(count, sizeof *list);
    size_t n = list ? sort_answers(answers, times, count, list) : 0;
    n = top && top < n ? top : n;
    out->answer = vd_alloc(n, sizeof *out->answer);
    out->times = vd_alloc(n, sizeof *out->times);
    bool enough = list && out->answer && out->times;
    for (; enough && out->count < n; out->count += enough) {
        out->times[out->count] = list[out->count].times;
        out->answer[out->count] = vd_strdup(list[out->count].answer);
        enough = out->answer[out->count] != NULL;
    }
    vd_free(list);
    if (enough)
        return VD_OK;
    vd_answer_pool_clear(out);
    return vd_error_memory(err, "the answers");
}

vd_status vd_answer_pool_count(const vd_visdial *data, size_t top, vd_answer_pool *out,
                               vd_error *err)
{
    *out = (vd_answer_pool){0};
    int64_t *times = vd_alloc(data->answer_count, sizeof *times);
    if (!times)
        return vd_error_memory(err, "the answers");
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++)
            if (data->dialogs[d].rounds[r].answer >= 0)
                times[data->dialogs[d].rounds[r].answer]++;
    vd_status status =
        vd_answer_pool_from_counts(data->answers, times, data->answer_count, top, out, err);
    vd_free(times);
    if (status == VD_OK && out->count == 0) {
        vd_answer_pool_clear(out);
        status = vd_error_set(err, VD_FORMAT, "%.300s: it holds no answers", data->path);
    }
    return status;
}

// ---- files --------------------------------------------------------------------------------------

// line: one line without its end.
static vd_status read_line(const char *path, size_t number, const char *line, vd_answer_pool *pool,
                           vd_error *err)
{
    char *tab;
    vd_error why = {0};
    errno = 0;
    int64_t times = strtoll(line, &tab, 10); // which would take signs and spaces, too
    if (!isdigit((unsigned char)*line) || errno || *tab != '\t' || !tab[1] || strchr(tab + 1, '\t'))
        return vd_error_set(err, VD_FORMAT,
                            "%s, line %zu: expected a count, a tab and an answer, found \"%.40s\"",
                            path, number, line);
    if (pool->count > 0 && times > pool->times[pool->count - 1])
        return vd_error_set(err, VD_FORMAT,
                            "%s, line %zu: count %" PRId64 " after %" PRId64 "; the most frequent "
                            "answers come first (`sort -rn` puts them so)",
                            path, number, times, pool->times[pool->count - 1]);
    if (vd_text_check(tab + 1, &why))
        return vd_error_set(err, VD_FORMAT, "%s, line %zu: %s", path, number, why.text);
    if (!(pool->answer[pool->count] = vd_strdup(tab + 1)))
        return vd_error_memory(err, "the answer pool");
    pool->times[pool->count++] = times;
    return VD_OK;
}

// Each line is an answer.
static vd_status refuse_repeated(const char *path, const vd_answer_pool *pool, vd_error *err)
{
    counted *list = vd_alloc(pool->count, sizeof *list);
    if (!list)
        return vd_error_memory(err, "the answer pool");
    for (size_t i = 0; i < pool->count; i++)
        list[i] = (counted){pool->answer[i], i, 0};
    qsort(list, pool->count, sizeof *list, by_text);
    vd_status status = VD_OK;
    for (size_t i = 1; i < pool->count && status == VD_OK; i++)
        if (strcmp(list[i - 1].answer, list[i].answer) == 0)
            status = vd_error_set(err, VD_FORMAT, "%s, line %zu: \"%.40s\" is in line %zu already",
                                  path, list[i].order + 1, list[i].answer, list[i - 1].order + 1);
    vd_free(list);
    return status;
}

// text: the whole file.
static vd_status read_lines(const char *path, char *text, size_t size, vd_answer_pool *pool,
                            vd_error *err)
{
    size_t lines = 1, number = 0;
    vd_status status = VD_OK;
    if (memchr(text, 0, size))
        return vd_error_set(err, VD_FORMAT, "%s: found a NUL byte, expected lines of text", path);
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    pool->answer = vd_alloc(lines, sizeof *pool->answer);
    pool->times = vd_alloc(lines, sizeof *pool->times);
    if (!pool->answer || !pool->times)
        return vd_error_memory(err, "the answer pool");
    for (char *line; status == VD_OK && text && *text;) {
        line = strsep(&text, "\n");
        size_t length = strlen(line);
        if (length > 0 && line[length - 1] == '\r')
            line[length - 1] = '\0';
        status = read_line(path, ++number, line, pool, err);
    }
    if (status == VD_OK && pool->count == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: no answers, expected at least one line", path);
    return status ? status : refuse_repeated(path, pool, err);
}

vd_status vd_answer_pool_read(const char *path, vd_answer_pool *out, vd_error *err)
{
    char *text = NULL;
    size_t size;
    *out = (vd_answer_pool){0};
    vd_status status = vd_file_read(path, MAX_FILE, &text, &size, err);
    if (status == VD_OK)
        status = read_lines(path, text, size, out, err);
    if (status != VD_OK)
        vd_answer_pool_clear(out);
    vd_free(text);
    return status;
}

vd_status vd_answer_pool_write(const vd_answer_pool *pool, const char *path, vd_error *err)
{
    vd_status status = VD_OK;
    GString *text = g_string_new(NULL);
    for (size_t i = 0; status == VD_OK && i < pool->count; i++) {
        g_string_append_printf(text, "%" PRId64 "\t%s\n", pool->times[i], pool->answer[i]);
        if (!*pool->answer[i] || strpbrk(pool->answer[i], "\t\r\n") || pool->times[i] < 0 ||
            (i > 0 && pool->times[i] > pool->times[i - 1]))
            status = vd_error_set(err, VD_USAGE,
                                  "%s: answer %zu, \"%.40s\" given %" PRId64 " times, cannot be a "
                                  "line: text without tabs, most frequent first",
                                  path, i, pool->answer[i], pool->times[i]);
    }
    if (status == VD_OK)
        status = vd_output_file(path, text->str, text->len, err);
    g_string_free(text, TRUE);
    return status;
}

enum { TOKENS_CHUNK = 4096 }; // answers whose tokens are found on one thread

typedef struct wording {
    const vd_answer_pool *pool;
    const vd_vocab *vocab;
    int32_t *ids, *length;
} wording;

static vd_status find_tokens(void *context, int worker, size_t index, vd_error *err)
{
    const wording *w = context;
    size_t first = index * TOKENS_CHUNK, left = w->pool->count - first;
    size_t end = first + (left < TOKENS_CHUNK ? left : TOKENS_CHUNK);
    vd_status status = VD_OK;
    (void)worker;
    for (size_t i = first; status == VD_OK && i < end; i++) {
        int n = 0;
        status = vd_answer_ids(w->vocab, w->pool->answer[i], VD_MAX_CANDIDATE,
                               w->ids + i * VD_MAX_CANDIDATE, &n, err);
        w->length[i] = n;
    }
    return status;
}

vd_status vd_answer_pool_tokens(const vd_answer_pool *pool, const vd_vocab *vocab, int32_t **tokens,
                                int32_t **lengths, vd_error *err)
{
    size_t chunks = (pool->count + TOKENS_CHUNK - 1) / TOKENS_CHUNK;
    wording w = {pool, vocab, vd_alloc(pool->count, VD_MAX_CANDIDATE * sizeof *w.ids),
                 vd_alloc(pool->count, sizeof *w.length)};
    vd_status status = VD_OK;
    *tokens = *lengths = NULL;
    if (!w.ids || !w.length)
        status = vd_error_memory(err, "the answer pool's tokens");
    else if (chunks == 1)
        status = find_tokens(&w, 0, 0, err);
    else if (chunks > 1)
        status = vd_parallel(chunks, vd_parallel_threads(), find_tokens, &w, NULL, NULL, NULL, err);
    if (status != VD_OK) {
        vd_free(w.ids);
        vd_free(w.length);
        return status;
    }
    *tokens = w.ids;
    *lengths = w.length;
    return VD_OK;
}
