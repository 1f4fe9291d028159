// JSON for machines without yajl: what tests and benchmarks of the GPU backend need to read models
// and fixtures of this project and to write them. No surrogate pairs, no checks of UTF-8.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

#include "engine/base/utf8.h"

size_t vd_utf8_valid(const void *text, size_t length) // without utf8proc: not checked
{
    (void)text;
    return length;
}

// ---- reading ------------------------------------------------------------------------------------

struct yajl_handle_t {
    const yajl_callbacks *calls;
    yajl_alloc_funcs *memory;
    void *ctx;
    const char *at, *end, *text;
    bool cancelled;
};

yajl_handle yajl_alloc(const yajl_callbacks *callbacks, yajl_alloc_funcs *memory, void *ctx)
{
    yajl_handle h = memory->malloc(memory->ctx, sizeof *h);
    *h = (struct yajl_handle_t){.calls = callbacks, .memory = memory, .ctx = ctx};
    return h;
}

static bool said(yajl_handle h, int answer)
{
    h->cancelled |= !answer;
    return answer;
}

static void skip_space(yajl_handle h)
{
    while (h->at < h->end && strchr(" \t\r\n", *h->at))
        h->at++;
}

static bool literal(yajl_handle h, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(h->end - h->at) < length || memcmp(h->at, word, length) != 0)
        return false;
    h->at += length;
    return true;
}

static size_t put_code(char *out, unsigned long code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

typedef int (*text_call)(void *ctx, const unsigned char *text, size_t length);

static bool string(yajl_handle h, text_call call)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *from = ++h->at;
    while (h->at < h->end && *h->at != '"')
        h->at += *h->at == '\\' ? 2 : 1;
    if (h->at >= h->end)
        return false;
    char *copy = h->memory->malloc(h->memory->ctx, (size_t)(h->at - from) + 4);
    size_t length = 0;
    for (const char *p = from; p < h->at; p++) {
        if (*p != '\\') {
            copy[length++] = *p;
        } else if (*++p == 'u') {
            char digits[5] = {0};
            memcpy(digits, p + 1, (size_t)(h->at - p) > 4 ? 4 : 0);
            length += put_code(copy + length, strtoul(digits, NULL, 16));
            p += 4;
        } else {
            const char *name = strchr(names, *p);
            copy[length++] = name ? values[name - names] : *p;
        }
    }
    h->at++;
    bool good = said(h, call ? call(h->ctx, (const unsigned char *)copy, length) : 1);
    h->memory->free(h->memory->ctx, copy);
    return good;
}

static bool value(yajl_handle h);

static bool members(yajl_handle h, bool map)
{
    char close = map ? '}' : ']';
    h->at++;
    for (bool first = true;; first = false) {
        skip_space(h);
        if (h->at < h->end && *h->at == close) {
            h->at++;
            return true;
        }
        if (!first && !(h->at < h->end && *h->at++ == ','))
            return false;
        skip_space(h);
        if (map) {
            if (h->at >= h->end || *h->at != '"' || !string(h, h->calls->yajl_map_key))
                return false;
            skip_space(h);
            if (h->at >= h->end || *h->at++ != ':')
                return false;
        }
        if (!value(h))
            return false;
    }
}

static bool number_text(yajl_handle h)
{
    const char *from = h->at;
    while (h->at < h->end && strchr("+-0123456789.eE", *h->at))
        h->at++;
    return h->at > from && said(h, h->calls->yajl_number
                                       ? h->calls->yajl_number(h->ctx, from, (size_t)(h->at - from))
                                       : 1);
}

static bool value(yajl_handle h)
{
    const yajl_callbacks *c = h->calls;
    skip_space(h);
    if (h->at >= h->end)
        return false;
    if (*h->at == '{')
        return said(h, c->yajl_start_map ? c->yajl_start_map(h->ctx) : 1) && members(h, true) &&
               said(h, c->yajl_end_map ? c->yajl_end_map(h->ctx) : 1);
    if (*h->at == '[')
        return said(h, c->yajl_start_array ? c->yajl_start_array(h->ctx) : 1) &&
               members(h, false) && said(h, c->yajl_end_array ? c->yajl_end_array(h->ctx) : 1);
    if (*h->at == '"')
        return string(h, c->yajl_string);
    if (literal(h, "null"))
        return said(h, c->yajl_null ? c->yajl_null(h->ctx) : 1);
    if (literal(h, "true"))
        return said(h, c->yajl_boolean ? c->yajl_boolean(h->ctx, 1) : 1);
    if (literal(h, "false"))
        return said(h, c->yajl_boolean ? c->yajl_boolean(h->ctx, 0) : 1);
    return number_text(h);
}

yajl_status yajl_parse(yajl_handle h, const unsigned char *text, size_t length)
{
    h->text = h->at = (const char *)text;
    h->end = h->at + length;
    if (!value(h))
        return h->cancelled ? yajl_status_client_canceled : yajl_status_error;
    skip_space(h);
    return h->at == h->end ? yajl_status_ok : yajl_status_error;
}

yajl_status yajl_complete_parse(yajl_handle h)
{
    (void)h;
    return yajl_status_ok;
}

size_t yajl_get_bytes_consumed(yajl_handle h)
{
    return (size_t)(h->at - h->text);
}

unsigned char *yajl_get_error(yajl_handle h, int verbose, const unsigned char *text, size_t length)
{
    static unsigned char what[] = "parse error";
    (void)h, (void)verbose, (void)text, (void)length;
    return what;
}

// ---- writing ------------------------------------------------------------------------------------

struct yajl_gen_t {
    yajl_alloc_funcs *memory;
    char *text;
    size_t length, room;
    bool comma, key; // before the next value; it is a map's key
    int depth;
    bool map[32];
};

yajl_gen yajl_gen_alloc(yajl_alloc_funcs *memory)
{
    yajl_gen g = memory->malloc(memory->ctx, sizeof *g);
    *g = (struct yajl_gen_t){.memory = memory, .room = 4096};
    g->text = memory->malloc(memory->ctx, g->room);
    return g;
}

int yajl_gen_config(yajl_gen gen, yajl_gen_option option, ...)
{
    (void)gen, (void)option;
    return 1;
}

static void put(yajl_gen g, const char *text, size_t length)
{
    if (g->length + length > g->room) {
        g->room = 2 * (g->length + length);
        g->text = g->memory->realloc(g->memory->ctx, g->text, g->room);
    }
    memcpy(g->text + g->length, text, length);
    g->length += length;
}

static void begin_value(yajl_gen g)
{
    if (g->comma)
        put(g, ",", 1);
    g->comma = false;
}

// After a map's key comes a colon, after anything else perhaps a comma.
static yajl_gen_status end_value(yajl_gen g)
{
    bool was_key = g->depth > 0 && g->map[g->depth] && g->key;
    if (was_key)
        put(g, ":", 1);
    g->comma = !was_key;
    g->key = g->depth > 0 && g->map[g->depth] && !was_key;
    return yajl_gen_status_ok;
}

yajl_gen_status yajl_gen_number(yajl_gen g, const char *text, size_t length)
{
    begin_value(g);
    put(g, text, length);
    return end_value(g);
}

yajl_gen_status yajl_gen_integer(yajl_gen g, long long x)
{
    char text[32];
    return yajl_gen_number(g, text, (size_t)snprintf(text, sizeof text, "%lld", x));
}

yajl_gen_status yajl_gen_bool(yajl_gen g, int value)
{
    return value ? yajl_gen_number(g, "true", 4) : yajl_gen_number(g, "false", 5);
}

yajl_gen_status yajl_gen_null(yajl_gen g)
{
    return yajl_gen_number(g, "null", 4);
}

yajl_gen_status yajl_gen_string(yajl_gen g, const unsigned char *text, size_t length)
{
    begin_value(g);
    put(g, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        char code[8];
        if (text[i] == '"' || text[i] == '\\' || text[i] < 0x20)
            put(g, code, (size_t)snprintf(code, sizeof code, "\\u%04x", text[i]));
        else
            put(g, (const char *)text + i, 1);
    }
    put(g, "\"", 1);
    return end_value(g);
}

static yajl_gen_status open_level(yajl_gen g, const char *bracket, bool map)
{
    begin_value(g);
    put(g, bracket, 1);
    g->map[++g->depth] = map;
    g->key = map;
    return yajl_gen_status_ok;
}

static yajl_gen_status close_level(yajl_gen g, const char *bracket)
{
    put(g, bracket, 1);
    g->depth--;
    g->key = false; // what was closed is a value
    return end_value(g);
}

yajl_gen_status yajl_gen_map_open(yajl_gen g)
{
    return open_level(g, "{", true);
}

yajl_gen_status yajl_gen_map_close(yajl_gen g)
{
    return close_level(g, "}");
}

yajl_gen_status yajl_gen_array_open(yajl_gen g)
{
    return open_level(g, "[", false);
}

yajl_gen_status yajl_gen_array_close(yajl_gen g)
{
    return close_level(g, "]");
}

yajl_gen_status yajl_gen_get_buf(yajl_gen g, const unsigned char **text, size_t *length)
{
    *text = (const unsigned char *)g->text;
    *length = g->length;
    return yajl_gen_status_ok;
}
