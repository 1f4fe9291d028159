#include "assets/blocks/phrase.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct sink {
    vd_rng *rng;
    const char *text[26]; // of the letters
    char *out;
    size_t size, used;
} sink;

static void put(sink *s, char c)
{
    bool blank = c == ' ';
    if (blank && (s->used == 0 || s->out[s->used - 1] == ' '))
        return;
    if (s->used + 1 < s->size)
        s->out[s->used++] = c;
}

// The ')' or '|' that ends the alternative starting at p, nested ones skipped.
static const char *alternative_end(const char *p)
{
    for (int depth = 0; *p; p++) {
        if (*p == '(')
            depth++;
        else if (depth == 0 && (*p == '|' || *p == ')'))
            return p;
        else if (*p == ')')
            depth--;
    }
    return p;
}

static int alternative_weight(const char **p)
{
    const char *q = *p;
    int weight = 0;
    while (*q >= '0' && *q <= '9')
        weight = weight * 10 + (*q++ - '0');
    if (q == *p || *q != ':')
        return 1;
    *p = q + 1;
    return weight;
}

static void expand(sink *s, const char *p, const char *end);

// p is just behind a '('; returns what is behind its ')'.
static const char *choose(sink *s, const char *p)
{
    int total = 0;
    for (const char *q = p;; q++) {
        total += alternative_weight(&q);
        q = alternative_end(q);
        if (*q != '|')
            break;
    }
    int draw = vd_rng_below(s->rng, total);
    const char *q = p;
    bool done = false;
    for (;; q++) {
        draw -= alternative_weight(&q);
        const char *end = alternative_end(q);
        if (draw < 0 && !done) {
            expand(s, q, end);
            done = true;
        }
        q = end;
        if (*q != '|')
            break;
    }
    return *q ? q + 1 : q;
}

static void expand(sink *s, const char *p, const char *end)
{
    while (p < end) {
        if (*p == '(') {
            p = choose(s, p + 1);
        } else if (*p == '%' && p + 1 < end && p[1] >= 'a' && p[1] <= 'z') {
            const char *text = s->text[p[1] - 'a'];
            for (; text && *text; text++)
                put(s, *text);
            p += 2;
        } else {
            put(s, *p++);
        }
    }
}

void blocks_say(vd_rng *rng, char *out, size_t size, const char *pattern, const char *letters, ...)
{
    sink s = {.rng = rng, .out = out, .size = size};
    va_list texts;
    va_start(texts, letters);
    for (; *letters; letters++)
        s.text[*letters - 'a'] = va_arg(texts, const char *);
    va_end(texts);
    expand(&s, pattern, pattern + strlen(pattern));
    while (s.used && out[s.used - 1] == ' ')
        s.used--;
    out[s.used] = 0;
}

// ---- noun phrases -----------------------------------------------------------------------------

static const char *const size_words[BLOCKS_SIZES] = {"(8:small|3:little|tiny)",
                                                     "(6:big|6:large|huge)"};
static const char *const material_words[BLOCKS_MATERIALS] = {"(6:rubber|3:matte|dull)",
                                                             "(6:metal|2:metallic|3:shiny)"};
static const char *const shape_words[BLOCKS_SHAPES] = {"(8:cube|box)", "(3:ball|2:sphere)",
                                                       "cylinder", "cone"};
static const char *const shapes_words[BLOCKS_SHAPES] = {"(8:cubes|boxes)", "(3:balls|2:spheres)",
                                                        "cylinders", "cones"};

void blocks_noun(vd_rng *rng, blocks_kind kind, blocks_article article, char out[BLOCKS_PHRASE])
{
    int color = kind.value[BLOCKS_COLOR], shape = kind.value[BLOCKS_SHAPE];
    int material = kind.value[BLOCKS_MATERIAL], size = kind.value[BLOCKS_SIZE];
    bool many = article == BLOCKS_PLURAL || article == BLOCKS_THE_MANY;
    bool definite = article == BLOCKS_THE || article == BLOCKS_THAT || article == BLOCKS_THE_MANY;
    const char *noun;
    if (shape >= 0)
        noun = many ? shapes_words[shape] : shape_words[shape];
    else if (definite && blocks_kind_mask(kind))
        noun = many ? "(2:ones|2:things|objects)" : "(3:one|3:thing|2:object)";
    else
        noun = many ? "(5:things|4:objects|items|shapes)" : "(5:thing|4:object|item|shape)";
    char body[256], pattern[256];
    snprintf(pattern, sizeof pattern, "%s %s %s %s", size >= 0 ? size_words[size] : "",
             color >= 0 ? blocks_color_names[color] : "",
             material >= 0 ? material_words[material] : "", noun);
    blocks_say(rng, body, sizeof body, pattern, "");
    // "a big metal red cube" is heard too, but the order above is the usual one.
    const char *before = "";
    if (article == BLOCKS_A)
        before = strchr("aeiou", body[0]) ? "an " : "a ";
    else if (article == BLOCKS_THE || article == BLOCKS_THE_MANY)
        before = "the ";
    else if (article == BLOCKS_THAT)
        before = "that ";
    snprintf(out, BLOCKS_PHRASE, "%s%.50s", before, body);
}

void blocks_predicate(vd_rng *rng, blocks_attribute attribute, int value, char out[BLOCKS_PHRASE])
{
    static const char *const shapes[BLOCKS_SHAPES] = {"a (8:cube|box)", "a (3:ball|2:sphere)",
                                                      "a cylinder", "a cone"};
    static const char *const materials[BLOCKS_MATERIALS] = {
        "(3:rubber|3:made of rubber|2:matte|dull)", "(4:metal|3:made of metal|3:shiny|metallic)"};
    static const char *const sizes[BLOCKS_SIZES] = {"(8:small|3:little|tiny)",
                                                    "(6:big|6:large|huge)"};
    const char *pattern = attribute == BLOCKS_COLOR      ? blocks_color_names[value]
                          : attribute == BLOCKS_SHAPE    ? shapes[value]
                          : attribute == BLOCKS_MATERIAL ? materials[value]
                                                         : sizes[value];
    blocks_say(rng, out, BLOCKS_PHRASE, pattern, "");
}

void blocks_predicate_many(vd_rng *rng, blocks_attribute attribute, int value,
                           char out[BLOCKS_PHRASE])
{
    if (attribute == BLOCKS_SHAPE)
        blocks_say(rng, out, BLOCKS_PHRASE, shapes_words[value], "");
    else
        blocks_predicate(rng, attribute, value, out);
}
