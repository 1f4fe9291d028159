#include "tests/support/fake_caption.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/token.h"

enum { LAYERS = 2, HEADS = 2 };

static const char *const first_words[] = {"two", "red",   "balls", "are",  "left", "of",
                                          "the", "large", "metal", "cube", "(end)"};
static const char *const second_words[] = {"there", "are", "two",  "balls", "left",
                                           "of",    "the", "cube", "(end)"};
static const char *const new_words[] = {"things", "and", "more", "(end)"};
static const char *const others[VD_RUNNERS_UP - 1] = {"blue", "cubes", "things", "a"};

static float number(int *seed)
{
    *seed = (int)((unsigned)*seed * 1664525u + 1013904223u);
    return (float)((unsigned)*seed >> 20) / 4096.0f;
}

// Rows of regions, and of the history up to the word, that together are 1.
static void fill_look(vd_caption_side *c, int t, int row, const bool *left_out, int *seed)
{
    vd_caption_trace *trace = &c->trace;
    float *region = trace->region + row * trace->regions, sum = 0;
    float *history = trace->history ? trace->history + row * trace->words : NULL;
    for (int k = 0; k < trace->regions; k++)
        sum += region[k] = left_out[k] ? 0 : number(seed) * number(seed);
    for (int i = 0; i <= t && history; i++)
        sum += history[i] = number(seed) / 4;
    for (int k = 0; k < trace->regions; k++)
        region[k] /= sum;
    for (int i = 0; i <= t && history; i++)
        history[i] /= sum;
}

static const char *copy(vd_caption_side *c, const char *text)
{
    c->texts = c->texts ? c->texts : g_string_chunk_new(1024);
    return g_string_chunk_insert(c->texts, text);
}

static void fill_word(vd_caption_side *c, int t, const char *text, int *seed)
{
    vd_generated_word *w = &c->trace.word[t];
    double left = 0.9 - 0.5 * (double)number(seed);
    *w = (vd_generated_word){
        .id = 10 + t, .probability = left, .entropy = 1, .gate = -1, .chosen = -1};
    c->word[t] = copy(c, text);
    for (w->likelies = 0; w->likelies < VD_RUNNERS_UP; w->likelies++) {
        int i = w->likelies;
        w->likely[i].id = i ? 100 + i : w->id;
        w->likely[i].probability = i ? (1 - left) / (1 << i) : left;
        const char *other = i ? others[i - 1] : text;
        c->likely[t][i] = copy(c, i && strcmp(other, text) == 0 ? "red" : other);
    }
    c->trace.log_probability -= 1 - left;
}

static void fill(vd_caption_side *c, const char *const *words, int count, int regions,
                 const bool *left_out, int seed)
{
    size_t rows = (size_t)(count * LAYERS * HEADS);
    bool history = c->config.captioner == VD_CAPTIONER_CAT;
    c->place = 1;
    c->of = 5;
    c->seen = regions;
    for (int k = 0; k < regions; k++)
        c->seen -= left_out[k];
    c->trace =
        (vd_caption_trace){.words = count, .layers = LAYERS, .heads = HEADS, .regions = regions};
    c->trace.region = vd_alloc(rows * (size_t)regions, sizeof(float));
    c->trace.history = history ? vd_alloc(rows * (size_t)count, sizeof(float)) : NULL;
    assert_true(c->trace.region && (c->trace.history || !history));
    for (int t = 0; t < count; t++) {
        fill_word(c, t, words[t], &seed);
        for (int i = 0; i < LAYERS * HEADS; i++)
            fill_look(c, t, t * LAYERS * HEADS + i, left_out, &seed);
    }
}

static int count_words(const char *const *words)
{
    int count = 1;
    while (strcmp(words[count - 1], "(end)") != 0)
        count++;
    return count;
}

// The words of what is to be read, cut out of a copy of it.
static void split(vd_caption_side *c, const char *text, const char *words[VD_SIDE_WORDS])
{
    char *word = (char *)(uintptr_t)copy(c, text), *rest = NULL;
    int count = 0;
    for (word = strtok_r(word, " ", &rest); word && count < VD_MAX_CAPTION;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    words[count] = "(end)";
}

static void say(const vd_caption_wish *wish, int side, bool changed, int regions, bool history,
                vd_caption_side *out)
{
    const char *words[VD_SIDE_WORDS];
    bool left_out[64] = {false}, second = side && wish->second[0];
    const char *const *from = second ? second_words : first_words;
    int count = count_words(from), cut = -1;
    out->read = *wish->read && (side || wish->second[0]);
    memcpy(words, from, (size_t)count * sizeof *words);
    if (out->read)
        split(out, wish->read, words);
    count = count_words(words);
    for (int i = 0; changed && i < wish->switches.count; i++) {
        const vd_switch *one = &wish->switches.at[i];
        if (one->kind == VD_SWITCH_REGION)
            left_out[one->index] = true;
        history &= one->kind != VD_SWITCH_HISTORY;
        if (one->kind == VD_SWITCH_WORD) {
            words[one->index] = one->word;
            cut = out->read ? -1 : one->index + 1;
        }
    }
    if (cut > 0) {
        memcpy(words + cut, new_words, sizeof new_words);
        count = cut + (int)(sizeof new_words / sizeof *new_words);
    }
    out->name = copy(out, second ? wish->second : "captioner");
    out->changed = changed;
    if (changed)
        out->verdict = (vd_caption_verdict){VD_JUDGED_FALSE, "no object is so"};
    out->config.captioner = history || second ? VD_CAPTIONER_CAT : VD_CAPTIONER_TRANSFORMER;
    fill(out, words, count, regions, left_out, 7 + side + wish->switches.count);
    for (int t = 0; t < count && out->read; t++)
        if (strcmp(words[t], "zebra") == 0)
            out->trace.word[t].id = VD_UNKNOWN;
}

static void align(vd_caption_sheet *sheet)
{
    sheet->rows = vd_align(sheet->side[0].word, sheet->side[0].trace.words, sheet->side[1].word,
                           sheet->sides > 1 ? sheet->side[1].trace.words : 0, sheet->row);
}

vd_caption_sheet *fake_caption(const vd_caption_wish *wish, int regions, bool history)
{
    vd_caption_sheet *sheet = g_new0(vd_caption_sheet, 1);
    sheet->wish = *wish;
    bool changed = wish->switches.count > 0;
    sheet->captioners = wish->second[0] ? 2 : 1;
    sheet->sides = wish->second[0] || changed || *wish->read ? 2 : 1;
    for (int s = 0; s < sheet->sides; s++)
        say(wish, s, changed && s == (wish->second[0] ? wish->changed : 1), regions, history,
            &sheet->side[s]);
    for (int s = 0; s < sheet->sides; s++)
        sheet->side[s].under[!s] = sheet->side[s].trace.log_probability - 1;
    align(sheet);
    return sheet;
}
