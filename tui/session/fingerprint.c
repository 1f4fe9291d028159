#include "tui/session/fingerprint.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/file.h"

static void finish(GChecksum *sum, vd_fingerprint *out)
{
    snprintf(out->text, sizeof out->text, "%s", g_checksum_get_string(sum));
    g_checksum_free(sum);
}

vd_status vd_fingerprint_file(const char *path, vd_fingerprint *out, vd_error *err)
{
    int file;
    size_t size;
    *out = (vd_fingerprint){0};
    vd_status status = vd_file_open(path, &file, &size, err);
    if (status)
        return status;
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    unsigned char piece[65536];
    ssize_t got;
    while ((got = read(file, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            g_checksum_update(sum, piece, got);
    if (got < 0)
        status = vd_error_set(err, VD_IO, "%.400s: %s", path, strerror(errno));
    close(file);
    if (status)
        g_checksum_free(sum);
    else
        finish(sum, out);
    return status;
}

void vd_fingerprint_bytes(const void *a, size_t a_size, const void *b, size_t b_size,
                          vd_fingerprint *out)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, a, (gssize)a_size);
    if (b)
        g_checksum_update(sum, b, (gssize)b_size);
    finish(sum, out);
}

void vd_fingerprint_pool(const vd_answer_pool *pool, vd_fingerprint *out)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (size_t i = 0; i < pool->count; i++) // each with its zero byte
        g_checksum_update(sum, (const guchar *)pool->answer[i],
                          (gssize)(strlen(pool->answer[i]) + 1));
    finish(sum, out);
}
