#include "tui/base/output.h"

#include <glib.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/append.h"
#include "tui/base/safe_output.h"

const char *vd_called = "visdial";

bool vd_output_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int vd_output_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

int vd_output_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t vd_output_first(const char *text, int columns)
{
    size_t i = 0;
    for (; text[i]; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80 && columns-- <= 0)
            break;
    return i;
}

void vd_output_row(const char *name, const char *format, ...)
{
    enum { COLUMN = 12 };
    int width = vd_output_width(name);
    printf("%s%*s", name, width < COLUMN ? COLUMN - width : 1, "");
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

const char *vd_output_bar(char out[VD_BAR_SIZE], double share, int width, bool utf8)
{
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    share = share >= 0 ? fmin(share, 1) : 0; // NaN draws nothing
    int cells = (int)lround(share * width * 8);
    if (!utf8)
        cells = (cells + 4) / 8 * 8;
    out[0] = '\0';
    for (int i = 0; i < cells / 8; i++)
        vd_append(out, VD_BAR_SIZE, utf8 ? "\u2588" : "#");
    vd_append(out, VD_BAR_SIZE, "%s%*s", eighths[cells % 8], width - cells / 8 - (cells % 8 != 0),
              "");
    return out;
}

static void *take(void *context, size_t size)
{
    (void)context;
    return g_malloc(size);
}

static void *resize(void *context, void *memory, size_t size)
{
    (void)context;
    return g_realloc(memory, size);
}

static void give_back(void *context, void *memory)
{
    (void)context;
    g_free(memory);
}

yajl_gen vd_output_object(void)
{
    yajl_alloc_funcs memory = {.malloc = take, .realloc = resize, .free = give_back};
    yajl_gen json = yajl_gen_alloc(&memory);
    yajl_gen_map_open(json);
    return json;
}

void vd_output_object_end(yajl_gen json)
{
    const unsigned char *text;
    size_t length;
    yajl_gen_map_close(json);
    if (yajl_gen_get_buf(json, &text, &length) == yajl_gen_status_ok) {
        vd_safe_output_json(stdout, (const char *)text, length);
        putchar('\n');
    }
    yajl_gen_free(json);
}
