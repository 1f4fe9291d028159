#include "features/text/characters.h"

#include <string.h>

#include "engine/base/utf8.h"

// ---- patterns -----------------------------------------------------------------------------------

static void *take(size_t size, void *unused)
{
    (void)unused;
    return g_malloc(size);
}

static void give_back(void *memory, void *unused)
{
    (void)unused;
    g_free(memory);
}

static pcre2_general_context *glib_memory(void)
{
    static pcre2_general_context *memory;
    if (g_once_init_enter(&memory))
        g_once_init_leave(&memory, pcre2_general_context_create(take, give_back, NULL));
    return memory;
}

static pcre2_code *compile(const char *pattern)
{
    int error;
    PCRE2_SIZE at;
    pcre2_compile_context *context = pcre2_compile_context_create(glib_memory());
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_UCP, &error, &at, context);
    pcre2_compile_context_free(context);
    g_assert(code); // the patterns are the program's
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    return code;
}

pcre2_code *vd_pattern(pcre2_code **compiled, const char *pattern)
{
    if (g_once_init_enter(compiled))
        g_once_init_leave(compiled, compile(pattern));
    return *compiled;
}

bool vd_match_next(const pcre2_code *pattern, const char *text, size_t length, size_t start,
                   uint32_t options, vd_match *out)
{
    pcre2_match_data *data = pcre2_match_data_create(VD_MATCH_GROUPS, glib_memory());
    int groups = pcre2_match(pattern, (PCRE2_SPTR)text, length, start, options | PCRE2_NO_UTF_CHECK,
                             data, NULL);
    const PCRE2_SIZE *span = pcre2_get_ovector_pointer(data);
    for (int i = 0; i < VD_MATCH_GROUPS; i++) {
        bool is_part = i < groups && span[2 * i] != PCRE2_UNSET;
        out->group[i].start = is_part ? (gssize)span[2 * i] : -1;
        out->group[i].stop = is_part ? (gssize)span[2 * i + 1] : -1;
    }
    pcre2_match_data_free(data);
    return groups > 0;
}

// The text with `by` for each match (g_free).
static char *substitute(const pcre2_code *pattern, const char *text, const char *by)
{
    size_t length = strlen(text);
    PCRE2_SIZE room = 2 * length + 64, size = room;
    char *out = g_malloc(room);
    pcre2_match_data *data = pcre2_match_data_create_from_pattern(pattern, glib_memory());
    for (int tries = 0; tries < 2; tries++) {
        int done = pcre2_substitute(pattern, (PCRE2_SPTR)text, length, 0,
                                    PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_UNSET_EMPTY |
                                        PCRE2_SUBSTITUTE_OVERFLOW_LENGTH | PCRE2_NO_UTF_CHECK,
                                    data, NULL, (PCRE2_SPTR)by, PCRE2_ZERO_TERMINATED,
                                    (PCRE2_UCHAR *)out, &size);
        if (done != PCRE2_ERROR_NOMEMORY) {
            g_assert(done >= 0);
            break;
        }
        out = g_realloc(out, size); // so much is needed
    }
    pcre2_match_data_free(data);
    return out;
}

char *vd_text_replace(const pcre2_code *pattern, const char *text,
                      const char *(*other)(const char *match, const void *context),
                      const void *context)
{
    GString *out = g_string_new(NULL);
    size_t length = strlen(text), at = 0;
    for (vd_match match; vd_match_next(pattern, text, length, at, 0, &match);) {
        char *word = g_strndup(text + match.group[0].start,
                               (gsize)(match.group[0].stop - match.group[0].start));
        g_string_append_len(out, text + at, match.group[0].start - (gssize)at);
        g_string_append(out, other(word, context));
        at = (size_t)match.group[0].stop;
        g_free(word);
    }
    g_string_append(out, text + at);
    return g_string_free(out, FALSE);
}

void vd_text_rules(const vd_text_rule *rules, pcre2_code **compiled, size_t count, char **text)
{
    for (size_t i = 0; i < count; i++) {
        if (rules[i].needs && !strpbrk(*text, rules[i].needs))
            continue;
        char *other = substitute(vd_pattern(&compiled[i], rules[i].pattern), *text, rules[i].by);
        g_free(*text);
        *text = other;
    }
}

// ---- characters ---------------------------------------------------------------------------------

bool vd_is_space(gunichar c)
{
    return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

vd_status vd_text_check(const char *text, vd_error *err)
{
    size_t length = strlen(text), valid = vd_utf8_valid(text, length);
    return valid == length
               ? VD_OK
               : vd_error_set(err, VD_FORMAT,
                              "text is not valid UTF-8: byte %zu is 0x%02x; save it as UTF-8",
                              valid + 1, (unsigned char)text[valid]);
}
