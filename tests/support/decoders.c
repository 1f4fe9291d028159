#include "tests/support/decoders.h"

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "features/pictures/image_file.h"

static const char *find(const char *bytes, const char *end, const char *what)
{
    size_t length = strlen(what);
    for (; bytes + length <= end; bytes++)
        if (memcmp(bytes, what, length) == 0)
            return bytes;
    return NULL;
}

static shown_image *add(shown_images *out)
{
    assert_true(out->count < MOST_SHOWN);
    out->sent++;
    out->at[out->count] = (shown_image){0};
    return &out->at[out->count++];
}

static void decode_png(const char *base64, vd_image *out)
{
    gsize size;
    guchar *png = g_base64_decode(base64, &size);
    vd_error err = {0};
    if (vd_image_from_png("sent", png, size, false, out, &err))
        fail_msg("%s", err.text);
    g_free(png);
}

// ---- kitty --------------------------------------------------------------------------------------

static int number_of(const char *keys, char key, int otherwise)
{
    for (const char *at = keys; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (at[0] == key && at[1] == '=')
            return (int)strtol(at + 2, NULL, 10);
    return otherwise;
}

static bool has(const char *keys, const char *pair)
{
    const char *at = strstr(keys, pair);
    return at && (at == keys || at[-1] == ',') && strchr(",", at[strlen(pair)]);
}

static void forget(shown_images *out, unsigned id)
{
    for (int i = 0; i < out->count; i++)
        if (out->at[i].id == id) {
            vd_image_clear(&out->at[i].image);
            out->at[i] = out->at[--out->count];
            i--;
        }
}

static void begin_kitty(const char *keys, bool tmux, shown_images *out)
{
    assert_true(has(keys, "a=T") && has(keys, "f=100"));
    assert_true(has(keys, "q=2"));                     // an answer would be typed into the line
    assert_true(has(keys, "C=1") || has(keys, "U=1")); // the cursor stays
    unsigned id = (unsigned)number_of(keys, 'i', 0);
    assert_true(id > 0);
    forget(out, id);
    shown_image *image = add(out);
    image->id = id;
    image->columns = number_of(keys, 'c', 0);
    image->rows = number_of(keys, 'r', 0);
    image->virtual = has(keys, "U=1");
    image->tmux = tmux;
}

static void do_kitty(const char *command, bool tmux, GString *data, shown_images *out)
{
    const char *colon = strchr(command, ';');
    assert_non_null(colon);
    char *keys = g_strndup(command, (gsize)(colon - command));
    assert_true(strlen(colon + 1) <= 4096);
    if (has(keys, "a=d")) {
        assert_true(has(keys, "d=I"));
        forget(out, (unsigned)number_of(keys, 'i', 0));
    } else if (!has(keys, "a=q")) {
        if (strstr(keys, "a="))
            begin_kitty(keys, tmux, out);
        g_string_append(data, colon + 1);
        if (number_of(keys, 'm', 0) == 0) {
            decode_png(data->str, &out->at[out->count - 1].image);
            g_string_truncate(data, 0);
        }
    }
    g_free(keys);
}

void decode_kitty(const char *bytes, size_t length, shown_images *out)
{
    const char *end = bytes + length;
    GString *data = g_string_new(NULL);
    for (const char *at = bytes; (at = find(at, end, "\033_G")) != NULL;) {
        bool tmux = at - bytes >= 8 && memcmp(at - 8, "\033Ptmux;\033", 8) == 0;
        const char *stop = find(at, end, tmux ? "\033\033\\\033\\" : "\033\\");
        assert_non_null(stop);
        char *command = g_strndup(at + 3, (gsize)(stop - at - 3));
        do_kitty(command, tmux, data, out);
        g_free(command);
        at = stop;
    }
    assert_int_equal(data->len, 0); // all were sent to the end
    g_string_free(data, TRUE);
}

// ---- iTerm2 -------------------------------------------------------------------------------------

void decode_iterm(const char *bytes, size_t length, shown_images *out)
{
    const char *end = bytes + length;
    for (const char *at = bytes; (at = find(at, end, "\033]1337;File=")) != NULL;) {
        const char *stop = memchr(at, '\a', (size_t)(end - at));
        assert_non_null(stop);
        char *command = g_strndup(at, (gsize)(stop - at));
        const char *colon = strchr(command, ':'), *width = strstr(command, ";width=");
        const char *height = strstr(command, ";height=");
        assert_true(colon && width && height && strstr(command, "inline=1"));
        assert_non_null(strstr(command, "doNotMoveCursor=1"));
        shown_image *image = add(out);
        image->columns = (int)strtol(width + 7, NULL, 10);
        image->rows = (int)strtol(height + 8, NULL, 10);
        decode_png(colon + 1, &image->image);
        g_free(command);
        at = stop;
    }
}

// ---- sixel --------------------------------------------------------------------------------------

typedef struct sixels {
    vd_image *image;
    uint8_t palette[1024][3];
    int color, x, y;
} sixels;

static void put_sixel(sixels *s, int bits, int times)
{
    for (; times > 0; times--, s->x++)
        for (int i = 0; i < 6; i++)
            if (bits >> i & 1) {
                assert_in_range(s->x, 0, s->image->width - 1);
                assert_in_range(s->y + i, 0, s->image->height - 1);
                memcpy(s->image->rgb + 3 * ((s->y + i) * s->image->width + s->x),
                       s->palette[s->color], 3);
            }
}

// "#1;2;100;0;0": a colour in percent; "#1": from now on this one.
static const char *take_color(sixels *s, const char *at)
{
    char *next;
    long number = strtol(at, &next, 10);
    assert_in_range(number, 0, 1023);
    s->color = (int)number;
    if (*next != ';')
        return next;
    assert_int_equal(strtol(next + 1, &next, 10), 2); // RGB
    for (int c = 0; c < 3; c++)
        s->palette[number][c] = (uint8_t)((strtol(next + 1, &next, 10) * 255 + 50) / 100);
    return next;
}

// Raster attributes: aspect, width, height.
static const char *take_size(sixels *s, const char *at)
{
    char *next = (char *)at;
    long values[4];
    for (int i = 0; i < 4; i++)
        values[i] = strtol(next + (i > 0), &next, 10);
    assert_int_equal(vd_image_new((int)values[2], (int)values[3], s->image, NULL), VD_OK);
    return next;
}

static void take_sixels(sixels *s, const char *at, const char *end)
{
    int times = 1;
    while (at < end) {
        char c = *at++;
        if (c == '"')
            at = take_size(s, at);
        else if (c == '#')
            at = take_color(s, at);
        else if (c == '!')
            times = (int)strtol(at, (char **)&at, 10);
        else if (c == '$')
            s->x = 0;
        else if (c == '-')
            s->x = 0, s->y += 6;
        else if (c >= '?' && c <= '~') {
            put_sixel(s, c - '?', times);
            times = 1;
        } else {
            assert_true(c == '\n' || c == '\r');
        }
    }
}

void decode_sixel(const char *bytes, size_t length, shown_images *out)
{
    const char *end = bytes + length;
    for (const char *at = bytes; (at = find(at, end, "\033P")) != NULL; at += 2) {
        const char *body = at + 2 + strspn(at + 2, "0123456789;");
        if (*body != 'q')
            continue;
        const char *stop = find(body, end, "\033\\");
        assert_non_null(stop);
        sixels *s = vd_alloc(1, sizeof *s);
        assert_non_null(s);
        s->image = &add(out)->image;
        take_sixels(s, body + 1, stop);
        vd_free(s);
    }
}

void shown_images_clear(shown_images *images)
{
    for (int i = 0; i < images->count; i++)
        vd_image_clear(&images->at[i].image);
    *images = (shown_images){0};
}
