#include "tui/base/output.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "tui/base/safe_output.h"

bool vd_output_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

// Bytes of the control character at text, 0 when it is none. U+0080..U+009F control terminals too.
static int control(const unsigned char *text)
{
    if (text[0] < 0x20 || text[0] == 0x7f)
        return 1;
    return text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0 ? 2 : 0;
}

void vd_output_text(FILE *out, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int skip = control(at);
        fputc(skip ? '?' : *at, out);
        at += skip ? skip : 1;
    }
}

int vd_output_width(const char *text)
{
    int width = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int skip = control(at);
        width += skip || (*at & 0xc0) != 0x80;
        at += skip ? skip : 1;
    }
    return width;
}

void vd_output_row(const char *name, const char *format, ...)
{
    enum { COLUMN = 12 };
    char value[4600];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    int width = vd_output_width(name);
    vd_output_text(stdout, name);
    printf("%*s", width < COLUMN ? COLUMN - width : 1, "");
    vd_output_text(stdout, value);
    putchar('\n');
}

const char *vd_output_bar(char out[VD_BAR_SIZE], double share, int width, bool utf8)
{
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    share = share >= 0 ? fmin(share, 1) : 0; // NaN draws nothing
    int cells = (int)lround(share * width * 8), used = 0;
    if (!utf8)
        cells = (cells + 4) / 8 * 8;
    for (int i = 0; i < cells / 8; i++)
        used += snprintf(out + used, VD_BAR_SIZE - (size_t)used, utf8 ? "\u2588" : "#");
    snprintf(out + used, VD_BAR_SIZE - (size_t)used, "%s%*s", eighths[cells % 8],
             width - cells / 8 - (cells % 8 != 0), "");
    return out;
}

void vd_output_number(yajl_gen json, double value)
{
    char text[40];
    if (!isfinite(value)) {
        yajl_gen_null(json);
        return;
    }
    int length = snprintf(text, sizeof text, "%.9g", value);
    yajl_gen_number(json, text, (size_t)length);
}

void vd_output_string(yajl_gen json, const char *text)
{
    yajl_gen_string(json, (const unsigned char *)text, strlen(text));
}

void vd_member_string(yajl_gen json, const char *key, const char *text)
{
    vd_output_string(json, key);
    vd_output_string(json, text ? text : "");
}

void vd_member_number(yajl_gen json, const char *key, double value)
{
    vd_output_string(json, key);
    vd_output_number(json, value);
}

void vd_member_integer(yajl_gen json, const char *key, int64_t value)
{
    vd_output_string(json, key);
    yajl_gen_integer(json, value);
}

void vd_member_texts(yajl_gen json, const char *key, const char *const *texts, size_t count)
{
    vd_member_list(json, key);
    for (size_t i = 0; i < count; i++)
        vd_output_string(json, texts[i]);
    yajl_gen_array_close(json);
}

void vd_member_list(yajl_gen json, const char *key)
{
    vd_output_string(json, key);
    yajl_gen_array_open(json);
}

void vd_member_map(yajl_gen json, const char *key)
{
    vd_output_string(json, key);
    yajl_gen_map_open(json);
}

void vd_output_numbers(yajl_gen json, const float *values, size_t count)
{
    yajl_gen_array_open(json);
    for (size_t i = 0; i < count; i++)
        vd_output_number(json, (double)values[i]);
    yajl_gen_array_close(json);
}

void vd_member_numbers(yajl_gen json, const char *key, const float *values, size_t count)
{
    vd_output_string(json, key);
    vd_output_numbers(json, values, count);
}

yajl_gen vd_output_object(vd_error *err)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    if (json)
        yajl_gen_map_open(json);
    else
        vd_error_memory(err, "JSON");
    return json;
}

vd_status vd_output_object_end(yajl_gen json)
{
    const unsigned char *text;
    size_t length;
    yajl_gen_map_close(json);
    if (yajl_gen_get_buf(json, &text, &length) == yajl_gen_status_ok) {
        vd_safe_output_json(stdout, (const char *)text, length);
        putchar('\n');
    }
    yajl_gen_free(json);
    return VD_OK;
}
