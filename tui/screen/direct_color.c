#include "tui/screen/direct_color.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <term.h>

enum { COLORS_OF_RGB = 1 << 24, PAIRS = 1 << 16, MAGIC_32_BITS = 01036 };

// Capabilities that are not in the tables of term(5) and that curses asks for by name, in the order
// of the alphabet. Of those that are missing here define_keys() (screen.c) knows what matters.
static const char *const own_flags[] = {"AX", "RGB", "XT"};
static const char *const own_strings[] = {"XM"};

// Numbers and strings that the description has otherwise, or not at all (NULL).
static const struct {
    const char *name;
    int number;
} own_numbers[] = {{"colors", COLORS_OF_RGB}, {"pairs", PAIRS}, {"ncv", -1}};
static const struct {
    const char *name, *text;
} changed[] = {
    {"setaf", "\033[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;"
              "%p1%{255}%&%d%;m"},
    {"setab", "\033[%?%p1%{8}%<%t4%p1%d%e48;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;"
              "%p1%{255}%&%d%;m"},
    {"setf", NULL},
    {"setb", NULL},
    {"initc", NULL},
    {"initp", NULL},
    {"oc", NULL},
};

static void put(GString *out, int value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        g_string_append_c(out, (char)((unsigned)value >> 8 * i & 255));
}

static void put_flag(GString *out, const char *name)
{
    bool refused = strcmp(name, "ccc") == 0; // colours are not redefined, they are there
    put(out, strcmp(name, "RGB") == 0 || (!refused && tigetflag(name) > 0), 1);
}

static int number_of(const char *name)
{
    for (size_t i = 0; i < sizeof own_numbers / sizeof *own_numbers; i++)
        if (strcmp(own_numbers[i].name, name) == 0)
            return own_numbers[i].number;
    int number = tigetnum(name);
    return number < 0 ? -1 : number;
}

static const char *text_of(const char *name)
{
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        if (strcmp(changed[i].name, name) == 0)
            return changed[i].text;
    const char *text = tigetstr(name);
    return text == (const char *)-1 ? NULL : text;
}

// The offset of a string that is added to a table, -1 for one that is not there.
static int add_text(GString *table, const char *text)
{
    if (!text)
        return -1;
    int at = (int)table->len;
    g_string_append_len(table, text, (gssize)strlen(text) + 1);
    return at;
}

static void put_even(GString *out)
{
    if (out->len % 2)
        put(out, 0, 1);
}

// The capabilities of the tables, which end with a NULL.
static void put_tables(GString *out, const char *term)
{
    g_autoptr(GString) offsets = g_string_new(NULL), table = g_string_new(NULL);
    int flags = (int)g_strv_length((gchar **)boolnames);
    int numbers = (int)g_strv_length((gchar **)numnames);
    int texts = (int)g_strv_length((gchar **)strnames);
    for (int i = 0; i < texts; i++)
        put(offsets, add_text(table, text_of(strnames[i])), 2);
    const int header[] = {MAGIC_32_BITS, (int)strlen(term) + 1, flags, numbers,
                          texts,         (int)table->len};
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        put(out, header[i], 2);
    g_string_append_len(out, term, (gssize)strlen(term) + 1);
    for (int i = 0; i < flags; i++)
        put_flag(out, boolnames[i]);
    put_even(out);
    for (int i = 0; i < numbers; i++)
        put(out, number_of(numnames[i]), 4);
    g_string_append_len(out, offsets->str, (gssize)offsets->len);
    g_string_append_len(out, table->str, (gssize)table->len);
}

// The capabilities of our tables: values, then the offsets of texts and names.
static void put_others(GString *out)
{
    enum { FLAGS = sizeof own_flags / sizeof *own_flags };
    enum { TEXTS = sizeof own_strings / sizeof *own_strings };
    g_autoptr(GString) offsets = g_string_new(NULL), table = g_string_new(NULL);
    g_autoptr(GString) names = g_string_new(NULL);
    for (int i = 0; i < TEXTS; i++)
        put(offsets, add_text(table, text_of(own_strings[i])), 2);
    for (int i = 0; i < FLAGS; i++)
        put(offsets, add_text(names, own_flags[i]), 2);
    for (int i = 0; i < TEXTS; i++)
        put(offsets, add_text(names, own_strings[i]), 2);
    const int header[] = {FLAGS, 0, TEXTS, FLAGS + 2 * TEXTS, (int)(table->len + names->len)};
    put_even(out);
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        put(out, header[i], 2);
    for (int i = 0; i < FLAGS; i++)
        put_flag(out, own_flags[i]);
    put_even(out);
    g_string_append_len(out, offsets->str, (gssize)offsets->len);
    g_string_append_len(out, table->str, (gssize)table->len);
    g_string_append_len(out, names->str, (gssize)names->len);
}

char *vd_direct_color_describe(const char *term)
{
    g_autoptr(GString) entry = g_string_new(NULL);
    put_tables(entry, term);
    put_others(entry);
    g_autofree char *text = g_base64_encode((const guchar *)entry->str, entry->len);
    return g_strconcat("b64:", text, NULL);
}
