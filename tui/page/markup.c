#include "tui/page/markup.h"

#include <errno.h>
#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/utf8.h"
#include "engine/base/file.h"

struct vd_markup {
    vd_markup_kind kind;
    vd_output *output; // NULL: standard output
    vd_error error;    // of the first failure
};

// ---- text ---------------------------------------------------------------------------------------

void vd_markup_bytes(vd_markup *m, const void *bytes, size_t size)
{
    if (!m->output)
        fwrite(bytes, 1, size, stdout);
    else if (m->error.status == VD_OK)
        vd_output_write(m->output, bytes, size, &m->error);
}

// The escape of a character that would be markup; NULL: none is needed.
static const char *escaped(vd_markup_kind kind, int32_t code, char out[3])
{
    static const char marks[] = "&<>\"'";
    static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    if (kind == VD_MARKUP_HTML) {
        const char *mark = code < 128 ? strchr(marks, code) : NULL;
        return mark ? escapes[mark - marks] : NULL;
    }
    if (kind == VD_MARKUP_TEXT || code >= 128 || !strchr("\\`*_{}[]<>#|&~", code))
        return NULL;
    out[0] = '\\';
    out[1] = (char)code;
    out[2] = '\0';
    return out;
}

// Invalid UTF-8 and control characters become U+FFFD, white space a space.
static void put_text(vd_markup *m, const char *text)
{
    for (size_t left = strlen(text), bytes; left > 0; left -= bytes, text += bytes) {
        int32_t code = vd_utf8_next(text, left, &bytes);
        char two[3];
        const char *instead;
        if (code < ' ' || (code >= 0x7F && code < 0xA0))
            instead = code == '\n' || code == '\t' ? " " : "\xEF\xBF\xBD";
        else
            instead = escaped(m->kind, code, two);
        if (instead)
            vd_markup_bytes(m, instead, strlen(instead));
        else
            vd_markup_bytes(m, text, bytes);
    }
}

// One directive: its length in the format. Numbers have no markup in them.
static size_t put_directive(vd_markup *m, const char *format, va_list *values)
{
    char text[64], directive[16];
    size_t length = 1 + strspn(format + 1, "0123456789.+-lz") + 1;
    snprintf(directive, sizeof directive, "%.*s", (int)length, format);
    char kind = format[length - 1];
    if (kind == 's') {
        const char *string = va_arg(*values, const char *);
        put_text(m, string ? string : "");
        return length;
    }
    if (kind == '%')
        snprintf(text, sizeof text, "%%");
    else if (kind == 'f')
        snprintf(text, sizeof text, directive, va_arg(*values, double));
    else if (strchr(directive, 'z'))
        snprintf(text, sizeof text, "%zu", va_arg(*values, size_t));
    else if (strstr(directive, "ll"))
        snprintf(text, sizeof text, "%lld", va_arg(*values, long long));
    else if (strchr(directive, 'l'))
        snprintf(text, sizeof text, "%ld", va_arg(*values, long));
    else
        snprintf(text, sizeof text, "%d", va_arg(*values, int));
    vd_markup_bytes(m, text, strlen(text));
    return length;
}

void vd_markup_put(vd_markup *m, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    while (*format) {
        size_t plain = strcspn(format, "%");
        vd_markup_bytes(m, format, plain);
        format += plain;
        if (*format)
            format += put_directive(m, format, &values);
    }
    va_end(values);
}

// ---- file ---------------------------------------------------------------------------------------

vd_status vd_markup_create(const char *path, vd_markup_kind kind, vd_markup **out, vd_error *err)
{
    *out = g_new0(vd_markup, 1);
    (*out)->kind = kind;
    vd_status status = path ? vd_output_create(path, &(*out)->output, err) : VD_OK;
    if (status) {
        g_free(*out);
        *out = NULL;
    }
    return status;
}

void vd_markup_fail(vd_markup *m, const vd_error *why)
{
    if (m->error.status == VD_OK)
        m->error = *why;
}

vd_status vd_markup_commit(vd_markup *m, vd_error *err)
{
    vd_status status = m->error.status;
    if (status) {
        vd_error_set(err, status, "%s", m->error.text);
        vd_output_abort(m->output);
    } else if (m->output) {
        status = vd_output_commit(m->output, err);
    } else if (fflush(stdout) != 0) {
        status = vd_error_set(err, VD_IO, "writing standard output: %s", strerror(errno));
    }
    g_free(m);
    return status;
}

void vd_markup_abort(vd_markup *m)
{
    if (!m)
        return;
    vd_output_abort(m->output);
    g_free(m);
}
