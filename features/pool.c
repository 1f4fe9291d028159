#include "features/pool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/alloc.h"
#include "engine/batch.h"
#include "engine/file.h"
#include "features/tokenize.h"

enum { MAX_FILE = 1 << 30 };

void vd_answer_pool_clear(vd_answer_pool *pool)
{
    for (size_t i = 0; pool->answer && i < pool->count; i++)
        vd_free(pool->answer[i]);
    vd_free(pool->answer);
    vd_free(pool->times);
    *pool = (vd_answer_pool){0};
}

static vd_status read_line(const char *path, size_t number, char *line, vd_answer_pool *pool,
                           vd_error *err)
{
    char *tab = strchr(line, '\t'), *end;
    errno = 0;
    int64_t times = strtoll(line, &end, 10);
    if (!tab || end != tab || end == line || errno || times < 0 || !tab[1])
        return vd_error_set(err, VD_FORMAT,
                            "%s, line %zu: expected a count, a tab and an answer, found \"%.40s\"",
                            path, number, line);
    pool->answer[pool->count] = vd_strdup(tab + 1);
    if (!pool->answer[pool->count])
        return vd_error_memory(err, "the answer pool");
    pool->times[pool->count++] = times;
    return VD_OK;
}

vd_status vd_answer_pool_read(const char *path, vd_answer_pool *out, vd_error *err)
{
    char *text = NULL;
    size_t size, lines = 1;
    vd_answer_pool pool = {0};
    *out = pool;
    vd_status status = vd_file_read(path, MAX_FILE, &text, &size, err);
    if (status != VD_OK)
        return status;
    if (memchr(text, 0, size)) {
        status = vd_error_set(err, VD_FORMAT, "%s: found a NUL byte, expected lines of text", path);
        goto fail;
    }
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    pool.answer = vd_alloc(lines, sizeof *pool.answer);
    pool.times = vd_alloc(lines, sizeof *pool.times);
    if (!pool.answer || !pool.times) {
        status = vd_error_memory(err, "the answer pool");
        goto fail;
    }
    size_t number = 1;
    for (char *line = text, *next; line && *line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        status = read_line(path, number, line, &pool, err);
        if (status != VD_OK)
            goto fail;
    }
    if (pool.count == 0) {
        status = vd_error_set(err, VD_FORMAT, "%s: no answers, expected at least one line", path);
        goto fail;
    }
    vd_free(text);
    *out = pool;
    return VD_OK;

fail:
    vd_answer_pool_clear(&pool);
    vd_free(text);
    return status;
}

vd_status vd_answer_pool_write(const vd_answer_pool *pool, const char *path, vd_error *err)
{
    vd_output *output;
    vd_status status = vd_output_create(path, &output, err);
    if (status != VD_OK)
        return status;
    for (size_t i = 0; status == VD_OK && i < pool->count; i++) {
        char count[24];
        int n = snprintf(count, sizeof count, "%" PRId64 "\t", pool->times[i]);
        status = vd_output_write(output, count, (size_t)n, err);
        if (status == VD_OK)
            status = vd_output_write(output, pool->answer[i], strlen(pool->answer[i]), err);
        if (status == VD_OK)
            status = vd_output_write(output, "\n", 1, err);
    }
    if (status == VD_OK)
        return vd_output_commit(output, err);
    vd_output_abort(output);
    return status;
}

vd_status vd_answer_pool_tokens(const vd_answer_pool *pool, const vd_vocab *vocab, int32_t **tokens,
                                int32_t **lengths, vd_error *err)
{
    vd_status status = VD_OK;
    int32_t *ids = vd_alloc(pool->count, VD_MAX_CANDIDATE * sizeof *ids);
    int32_t *length = vd_alloc(pool->count, sizeof *length);
    *tokens = *lengths = NULL;
    if (!ids || !length)
        status = vd_error_memory(err, "the answer pool's tokens");
    for (size_t i = 0; status == VD_OK && i < pool->count; i++) {
        int n = 0;
        status = vd_answer_ids(vocab, pool->answer[i], VD_MAX_CANDIDATE - 1,
                               ids + i * VD_MAX_CANDIDATE, &n, err);
        length[i] = n;
    }
    if (status != VD_OK) {
        vd_free(ids);
        vd_free(length);
        return status;
    }
    *tokens = ids;
    *lengths = length;
    return VD_OK;
}
