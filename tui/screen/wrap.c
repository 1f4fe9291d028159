#include "tui/screen/wrap.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>
#include <wchar.h>

#include "engine/base/utf8.h"

// Columns on which both tables agree, or -1.
static int agreed_width(utf8proc_int32_t code)
{
    int width = wcwidth((wchar_t)code);
    return width == utf8proc_charwidth(code) ? width : -1;
}

static bool is_variation_selector(utf8proc_int32_t code)
{
    return code >= 0xFE00 && code <= 0xFE0F;
}

// Marks with a width of their own (Indic vowel signs) get their own cell, as terminals do it.
static bool spacing_letter(utf8proc_int32_t code)
{
    utf8proc_category_t category = utf8proc_category(code);
    return category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_LO ||
           category == UTF8PROC_CATEGORY_LM;
}

static void replace(vd_cluster *out)
{
    out->width = 1;
    out->count = 1;
    out->code[0] = VD_REPLACEMENT;
}

void vd_cluster_next(const char *text, size_t length, vd_cluster *out)
{
    size_t bytes;
    utf8proc_int32_t base = vd_utf8_next(text, length, &bytes);
    *out = (vd_cluster){.bytes = bytes, .width = 1, .count = 1, .code = {' '}};
    if (base == '\t' || base == '\n')
        return;
    if (base < 0x20 || (base >= 0x7F && base < 0xA0)) {
        replace(out);
        return;
    }
    out->code[0] = (uint32_t)base;
    if (base < 0x7F && (length == bytes || (unsigned char)text[bytes] < 0x80))
        return;

    bool bad = base >= 0x7F && agreed_width(base) < 1;
    if (!bad && base >= 0x7F)
        out->width = agreed_width(base);
    utf8proc_int32_t state = 0, before = base;
    while (out->bytes < length) {
        utf8proc_int32_t code = vd_utf8_next(text + out->bytes, length - out->bytes, &bytes);
        if (code < 0 || utf8proc_grapheme_break_stateful(before, code, &state))
            break;
        int width = agreed_width(code);
        if (width > 0 && spacing_letter(code))
            break;
        if (width > 0 || utf8proc_category(code) == UTF8PROC_CATEGORY_SO)
            bad = true; // joined pictographs: terminals differ in how wide they are together
        else if (width == 0 && !is_variation_selector(code) && out->count < VD_CLUSTER_CODES)
            out->code[out->count++] = (uint32_t)code;
        out->bytes += bytes;
        before = code;
    }
    if (bad)
        replace(out);
}

int vd_text_width(const char *text, size_t length)
{
    int width = 0;
    for (size_t at = 0; at < length;) {
        vd_cluster cluster;
        vd_cluster_next(text + at, length - at, &cluster);
        width += cluster.width;
        at += cluster.bytes;
    }
    return width;
}

size_t vd_text_fit(const char *text, size_t length, int width)
{
    size_t at = 0;
    while (at < length) {
        vd_cluster cluster;
        vd_cluster_next(text + at, length - at, &cluster);
        if (cluster.width > width)
            break;
        width -= cluster.width;
        at += cluster.bytes;
    }
    return at;
}

bool vd_wrap_next(const char *text, size_t length, int width, size_t *offset, vd_text_line *line)
{
    size_t at = *offset;
    // White space at a soft break is dropped; after a line feed it is indentation.
    if (at > 0 && text[at - 1] != '\n')
        while (at < length && isblank((unsigned char)text[at]))
            at++;
    if (at >= length) {
        *offset = length;
        return false;
    }
    *line = (vd_text_line){.start = at};
    size_t break_end = at, here = at; // the line could end at break_end
    int break_width = 0, columns = 0;
    while (here < length && text[here] != '\n') {
        vd_cluster cluster;
        vd_cluster_next(text + here, length - here, &cluster);
        if (isblank((unsigned char)text[here])) {
            if (here > at && !isblank((unsigned char)text[here - 1])) {
                break_end = here;
                break_width = columns;
            }
        } else if (columns + cluster.width > width && here > at) {
            if (break_end == at) { // one word wider than the line
                break_end = here;
                break_width = columns;
            }
            line->length = break_end - at;
            line->width = break_width;
            *offset = break_end;
            return true;
        }
        columns += cluster.width;
        here += cluster.bytes;
    }
    size_t end = here;
    while (end > at && isblank((unsigned char)text[end - 1])) {
        end--;
        columns--;
    }
    line->length = end - at;
    line->width = columns;
    *offset = here < length ? here + 1 : here;
    return true;
}

const char *vd_text_find(const char *text, const char *part)
{
    size_t length = strlen(part);
    char first[3] = {(char)tolower((unsigned char)*part), (char)toupper((unsigned char)*part), 0};
    while (length && (text = strpbrk(text, first)) != NULL && strncasecmp(text, part, length) != 0)
        text++;
    return text;
}
