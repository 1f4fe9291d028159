#include "assets/blocks/phrase.h"

#include <ctype.h>
#include <stdarg.h>

#include "engine/base/append.h"

typedef struct sink {
    vd_rng *rng;
    const char *const *text; // (26) of the letters
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

// What is behind "the", where that can be left out.
static const char *without_article(const char *text)
{
    bool whole = strncmp(text, "the ", 4) != 0 || !strncmp(text, "the one ", 8) ||
                 !strncmp(text, "the previous ", 13);
    return whole ? text : text + 4;
}

static void expand(sink *s, const char *p, const char *end)
{
    while (p < end) {
        if (*p == '(') {
            p = choose(s, p + 1);
        } else if (*p == '%' && p + 1 < end && isalpha((unsigned char)p[1])) {
            const char *text = s->text[tolower((unsigned char)p[1]) - 'a'];
            if (text && isupper((unsigned char)p[1]))
                text = without_article(text);
            for (; text && *text; text++)
                put(s, *text);
            p += 2;
        } else {
            put(s, *p++);
        }
    }
}

void blocks_expand_words(vd_rng *rng, char *out, size_t size, const char *pattern,
                         const char *const text[26])
{
    sink s = {.rng = rng, .text = text, .out = out, .size = size};
    expand(&s, pattern, pattern + strlen(pattern));
    while (s.used && out[s.used - 1] == ' ')
        s.used--;
    out[s.used] = 0;
}

void blocks_expand(vd_rng *rng, char *out, size_t size, const char *pattern, const char *letters,
                   ...)
{
    const char *text[26] = {NULL};
    va_list texts;
    va_start(texts, letters);
    for (; *letters; letters++)
        text[*letters - 'a'] = va_arg(texts, const char *);
    va_end(texts);
    blocks_expand_words(rng, out, size, pattern, text);
}

blocks_phrase blocks_expansion(vd_rng *rng, const char *pattern)
{
    blocks_phrase phrase;
    blocks_expand(rng, phrase.text, sizeof phrase.text, pattern, "");
    return phrase;
}

static bool starts_with_vowel(const char *text)
{
    return *text && strchr("aeiou", *text);
}

// ---- noun phrases -----------------------------------------------------------------------------

static const char *const size_words[] = {"(8:small|3:little|tiny)", "(6:big|6:large|huge)"};
static const char *const material_words[] = {"(6:rubber|3:matte|dull|matt)",
                                             "(12:metal|4:metallic|6:shiny|glossy)"};
static const char *const shape_words[] = {"(8:cube|box)", "(9:ball|6:sphere|orb)", "cylinder",
                                          "cone"};
// A block is a cube, but blocks are all that lie there.
static const char *const one_shape_words[] = {"(16:cube|2:box|block)", "(9:ball|6:sphere|orb)",
                                              "cylinder", "cone"};
static const char *const shapes_words[] = {"(8:cubes|boxes)", "(9:balls|6:spheres|orbs)",
                                           "cylinders", "cones"};

blocks_phrase blocks_noun(vd_rng *rng, blocks_kind kind, blocks_article article)
{
    int color = kind.value[BLOCKS_COLOR], shape = kind.value[BLOCKS_SHAPE];
    int material = kind.value[BLOCKS_MATERIAL], size = kind.value[BLOCKS_SIZE];
    bool many = article == BLOCKS_PLURAL || article == BLOCKS_THE_MANY;
    bool definite = article == BLOCKS_THE || article == BLOCKS_THAT || article == BLOCKS_THE_MANY;
    const char *noun;
    if (shape >= 0)
        noun = many                    ? shapes_words[shape]
               : article == BLOCKS_THE ? one_shape_words[shape]
                                       : shape_words[shape];
    else if (definite && blocks_kind_mask(kind))
        noun = many ? "(2:ones|2:things|objects)" : "(3:one|3:thing|2:object)";
    else
        noun = many ? "(5:things|4:objects|items|shapes)" : "(5:thing|4:object|item|shape)";
    char body[256], pattern[256];
    // "the red cube made of metal"
    bool behind = article == BLOCKS_THE && material >= 0 && vd_rng_uniform(rng) < 0.1;
    // "a big metal red cube" is heard too, but this order is the usual one.
    snprintf(pattern, sizeof pattern, "%s %s %s %s", size >= 0 ? size_words[size] : "",
             color >= 0 ? blocks_color_names[color] : "",
             material >= 0 && !behind ? material_words[material] : "", noun);
    if (behind)
        vd_append(pattern, sizeof pattern, " (2:made of|that is) %s",
                  blocks_material_names[material]);
    blocks_expand(rng, body, sizeof body, pattern, "");
    const char *before = article == BLOCKS_A      ? (starts_with_vowel(body) ? "an " : "a ")
                         : article == BLOCKS_THAT ? "that "
                         : definite               ? "the "
                                                  : "";
    blocks_phrase phrase;
    snprintf(phrase.text, sizeof phrase.text, "%s%.50s", before, body);
    return phrase;
}

blocks_phrase blocks_attribute_word(vd_rng *rng, blocks_attribute attribute)
{
    static const char *const words[BLOCKS_ATTRIBUTES] = {"(3:color|colour)", "shape", "material",
                                                         "size"};
    return blocks_expansion(rng, words[attribute]);
}

static const char *predicate_pattern(blocks_attribute attribute, int value)
{
    static const char *const shapes[] = {"a (8:cube|box)", "a (6:ball|4:sphere)", "a cylinder",
                                         "a cone"};
    static const char *const materials[] = {
        "(6:rubber|6:made of rubber|of rubber|4:matte|2:dull|matt|soft)",
        "(8:metal|6:made of metal|of metal|6:shiny|2:metallic|glossy|hard)"};
    const char *const *const patterns[BLOCKS_ATTRIBUTES] = {blocks_color_names, shapes, materials,
                                                            size_words};
    return patterns[attribute][value];
}

blocks_phrase blocks_predicate(vd_rng *rng, blocks_attribute attribute, int value)
{
    return blocks_expansion(rng, predicate_pattern(attribute, value));
}

blocks_phrase blocks_predicate_many(vd_rng *rng, blocks_attribute attribute, int value)
{
    return attribute == BLOCKS_SHAPE ? blocks_expansion(rng, shapes_words[value])
                                     : blocks_predicate(rng, attribute, value);
}

// ---- reading ------------------------------------------------------------------------------------

// A part of a pattern, and what comes behind it.
typedef struct part {
    const char *at, *end;
    const struct part *next;
} part;

typedef struct reader {
    const char *text;
    blocks_letter *letters; // (26)
} reader;

static bool match(const reader *r, const char *at, part p);

static bool match_choice(const reader *r, const char *at, part p)
{
    const char *end = alternative_end(p.at), *close = end;
    while (*close == '|')
        close = alternative_end(close + 1);
    const part behind = {close + 1, p.end, p.next};
    for (const char *q = p.at;; q = end + 1) {
        alternative_weight(&q);
        end = alternative_end(q);
        if (match(r, at, (part){q, end, &behind}))
            return true;
        if (*end != '|')
            return false;
    }
}

// The value of a list of patterns of which the word is a reading, -1: none.
static int find_value(const char *word, const char *const *patterns, int count)
{
    for (int i = 0; i < count; i++)
        if (blocks_read(word, patterns[i], NULL))
            return i;
    return -1;
}

// The word at `at` into word; its length with the blank behind it, 0: none, or too long a one.
static size_t next_word(const char *at, char word[16])
{
    size_t length = strcspn(at, " ,");
    if (length == 0 || length >= 16)
        return 0;
    memcpy(word, at, length);
    word[length] = 0;
    return length + (at[length] == ' ');
}

// The noun phrase (BARE, A or PLURAL) that the text starts with: its length and kind; 0: none.
// "thing", "object", "item", "shape", "block" and "solid" are any; "a" and "an" are not
// distinguished.
static size_t read_noun(const char *text, blocks_article article, blocks_kind *kind)
{
    static const char *const any[] = {"(thing|object|item|shape|block|solid)"};
    static const char *const all[] = {"(things|objects|items|shapes|blocks|solids)"};
    const bool many = article == BLOCKS_PLURAL;
    const char *at = text;
    char word[16];
    size_t length = next_word(at, word);
    *kind = blocks_anything;
    if (article == BLOCKS_A) {
        const bool an = strcmp(word, "an") == 0;
        if (!length || (!an && strcmp(word, "a") != 0))
            return 0;
        length = next_word(at += length, word);
        if (an != starts_with_vowel(word))
            return 0;
    }
    static const struct {
        blocks_attribute attribute;
        const char *const *words;
        int count;
    } before[] = {{BLOCKS_SIZE, size_words, BLOCKS_SIZES},
                  {BLOCKS_COLOR, blocks_color_names, BLOCKS_COLORS},
                  {BLOCKS_MATERIAL, material_words, BLOCKS_MATERIALS}};
    for (int i = 0; i < 3 && length; i++) {
        int value = find_value(word, before[i].words, before[i].count);
        kind->value[before[i].attribute] = (int8_t)value;
        if (value >= 0)
            length = next_word(at += length, word);
    }
    if (!length)
        return 0;
    int shape = find_value(word, many ? shapes_words : shape_words, BLOCKS_SHAPES);
    kind->value[BLOCKS_SHAPE] = (int8_t)shape;
    if (shape < 0 && find_value(word, many ? all : any, 1) < 0)
        return 0;
    return (size_t)(at - text) + strlen(word);
}

// The text is what follows "is it", to its end, or starts with a noun phrase with "a".
static size_t read_predicate(const char *text, blocks_kind *kind)
{
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        for (int v = 0; v < blocks_values((blocks_attribute)a); v++)
            if (blocks_read(text, predicate_pattern((blocks_attribute)a, v), NULL)) {
                *kind = blocks_anything;
                kind->value[a] = (int8_t)v;
                return strlen(text);
            }
    return read_noun(text, BLOCKS_A, kind);
}

static size_t read_letter(const char *at, blocks_letter *letter)
{
    switch (letter->slot) {
    case BLOCKS_NOUN:
        return read_noun(at, letter->article, &letter->kind);
    case BLOCKS_PREDICATE:
        return read_predicate(at, &letter->kind);
    default:
        letter->number = 0;
        size_t digits = strspn(at, "0123456789");
        for (size_t i = 0; i < digits && digits < 4; i++)
            letter->number = 10 * letter->number + (at[i] - '0');
        return digits < 4 ? digits : 0;
    }
}

static bool match_letter(const reader *r, const char *at, part p)
{
    blocks_letter *letter = &r->letters[*p.at - 'a'];
    p.at++;
    if (letter->slot == BLOCKS_PATTERN)
        return match(r, at, (part){letter->pattern, letter->pattern + strlen(letter->pattern), &p});
    size_t length = letter->slot == BLOCKS_NOTHING ? 0 : read_letter(at, letter);
    letter->read = length && match(r, at + length, p);
    return letter->read;
}

// Whether the text from `at` on is a reading of the part and of all behind it. Runs of blanks are
// one, at the ends none, as blocks_expand writes them.
static bool match(const reader *r, const char *at, part p)
{
    for (;; p.at++) {
        if (p.at == p.end) {
            if (!p.next)
                return *at == 0;
            return match(r, at, *p.next);
        }
        if (*p.at == '(' || *p.at == '%') {
            bool choice = *p.at++ == '(';
            return choice ? match_choice(r, at, p) : match_letter(r, at, p);
        }
        if (*p.at == ' ' && (at == r->text || at[-1] == ' ' || *at == 0))
            continue;
        if (*at++ != *p.at)
            return false;
    }
}

bool blocks_read(const char *text, const char *pattern, blocks_letter letters[26])
{
    const reader r = {text, letters};
    for (int i = 0; letters && i < 26; i++)
        letters[i].read = false;
    return match(&r, text, (part){pattern, pattern + strlen(pattern), NULL});
}
