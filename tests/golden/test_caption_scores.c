// Metrics of captions against numbers of pycocoevalcap: stored ones, and PyPI's own where a Python
// has it ($VISDIAL_PYTHON, else python3). METEOR-es against a simple implementation of its
// definition.
#include "engine/measure/caption_metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "engine/measure/cider.h"
#include "engine/measure/meteor.h"
#include "features/captions/tokens.h"
#include "tests/support/must.h"
#include "tests/support/support.h"

enum { MOST_REFERENCES = 5, MOST_PICTURES = 1000 };

typedef struct picture {
    vd_tokens hypothesis, reference[MOST_REFERENCES];
    int references;
} picture;

typedef struct corpus {
    vd_word_counts words;
    vd_string_arena arena;
    int32_t *stem;
    vd_cider cider;
    picture *picture;
    int count;
} corpus;

static vd_tokens tokens(corpus *c, const char *text)
{
    vd_tokens out;
    vd_error err = {0};
    must(vd_caption_numbers(&c->words, text, VD_CAPTION_GIVEN, &c->arena, &out, &err), &err);
    return out;
}

static corpus empty_corpus(void)
{
    corpus c = {.picture = calloc(MOST_PICTURES, sizeof *c.picture)};
    return c;
}

static void weigh(corpus *c)
{
    vd_error err = {0};
    must(vd_caption_stems(&c->words, &c->stem, &err), &err);
    for (int i = 0; i < c->count; i++)
        must(vd_cider_add(&c->cider, c->picture[i].reference, c->picture[i].references, &err),
             &err);
}

static void clear(corpus *c)
{
    vd_cider_clear(&c->cider);
    vd_free(c->stem);
    vd_word_counts_clear(&c->words);
    vd_string_arena_clear(&c->arena);
    free(c->picture);
}

// ---- stored numbers -----------------------------------------------------------------------------

static yajl_val at(yajl_val tree, const char *key)
{
    yajl_val value = yajl_tree_get(tree, (const char *[]){key, NULL}, yajl_t_any);
    if (!value)
        fail_msg("no %s in the golden captions", key);
    return value;
}

static yajl_val item(yajl_val list, int i)
{
    assert_true(YAJL_IS_ARRAY(list) && (size_t)i < YAJL_GET_ARRAY(list)->len);
    return YAJL_GET_ARRAY(list)->values[i];
}

static void is_within(double found, yajl_val expected, const char *what, int i)
{
    double number = YAJL_GET_DOUBLE(expected);
    if (!(fabs(found - number) <= 1e-9))
        fail_msg("%s of %d: found %.12f, expected %.12f", what, i, found, number);
}

static corpus read_corpus(yajl_val golden)
{
    corpus c = empty_corpus();
    yajl_val hypothesis = at(golden, "said"), references = at(golden, "references");
    c.count = (int)YAJL_GET_ARRAY(hypothesis)->len;
    for (int i = 0; i < c.count; i++) {
        picture *p = &c.picture[i];
        yajl_val list = item(references, i);
        p->hypothesis = tokens(&c, YAJL_GET_STRING(item(hypothesis, i)));
        p->references = (int)YAJL_GET_ARRAY(list)->len;
        for (int j = 0; j < p->references; j++)
            p->reference[j] = tokens(&c, YAJL_GET_STRING(item(list, j)));
    }
    weigh(&c);
    return c;
}

static void hold_bleu(const corpus *c, yajl_val golden)
{
    vd_bleu sums = {0};
    double score[VD_BLEU_ORDERS];
    for (int i = 0; i < c->count; i++) {
        const picture *p = &c->picture[i];
        vd_bleu own = {0};
        vd_bleu_add(&own, p->hypothesis, p->reference, p->references);
        vd_bleu_add(&sums, p->hypothesis, p->reference, p->references);
        vd_bleu_scores(&own, score);
        for (int n = 0; n < VD_BLEU_ORDERS; n++)
            is_within(score[n], item(item(at(golden, "bleu_each"), i), n), "BLEU", i);
    }
    vd_bleu_scores(&sums, score);
    for (int n = 0; n < VD_BLEU_ORDERS; n++)
        is_within(score[n], item(at(golden, "bleu"), n), "corpus BLEU", n + 1);
}

static void hold_means(const corpus *c, yajl_val golden)
{
    double rouge = 0.0, cider = 0.0;
    for (int i = 0; i < c->count; i++) {
        const picture *p = &c->picture[i];
        double own_rouge = vd_rouge_l(p->hypothesis, p->reference, p->references),
               own_cider = vd_cider_score(&c->cider, p->hypothesis, p->reference, p->references);
        is_within(own_rouge, item(at(golden, "rouge_each"), i), "ROUGE-L", i);
        is_within(own_cider, item(at(golden, "cider_each"), i), "CIDEr-D", i);
        rouge += own_rouge;
        cider += own_cider;
    }
    is_within(rouge / c->count, at(golden, "rouge"), "mean ROUGE-L", 0);
    is_within(cider / c->count, at(golden, "cider"), "mean CIDEr-D", 0);
}

static void hold_meteor(const corpus *c, yajl_val golden)
{
    vd_meteor sums = {0};
    for (int i = 0; i < c->count; i++) {
        const picture *p = &c->picture[i];
        vd_meteor own = vd_meteor_best(p->hypothesis, p->reference, p->references, c->stem);
        is_within(vd_meteor_score(&own), item(at(golden, "meteor_es_each"), i), "METEOR-es", i);
        sums.weight += own.weight;
        sums.matches += own.matches;
        sums.chunks += own.chunks;
        sums.hypothesis += own.hypothesis;
        sums.reference += own.reference;
    }
    is_within(vd_meteor_score(&sums), at(golden, "meteor_es"), "corpus METEOR-es", 0);
}

static yajl_val golden_captions(void)
{
    char *text = support_read_file("tests/golden/data/caption_scores.json", NULL),
         message[200] = "";
    yajl_val golden = yajl_tree_parse(text, message, sizeof message);
    assert_string_equal(message, "");
    free(text);
    return golden;
}

static void stored_corpora_give_the_stored_numbers(void **state)
{
    (void)state;
    yajl_val golden = golden_captions(), corpora = at(golden, "corpora");
    for (int k = 0; k < (int)YAJL_GET_ARRAY(corpora)->len; k++) {
        corpus c = read_corpus(item(corpora, k));
        hold_bleu(&c, item(corpora, k));
        hold_means(&c, item(corpora, k));
        hold_meteor(&c, item(corpora, k));
        clear(&c);
    }
    yajl_tree_free(golden);
}

static void words_are_of_one_stem_by_porter2(void **state)
{
    (void)state;
    yajl_val golden = golden_captions(), stems = at(golden, "stems");
    size_t count = YAJL_GET_OBJECT(stems)->len;
    vd_word_counts words = {0};
    int32_t *number;
    vd_error err;
    assert_true(count > 100);
    for (size_t i = 0; i < count; i++)
        must(vd_word_counts_add(&words, YAJL_GET_OBJECT(stems)->keys[i], 1, &err), &err);
    must(vd_caption_stems(&words, &number, &err), &err);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const char *stem[2] = {YAJL_GET_STRING(YAJL_GET_OBJECT(stems)->values[i]),
                                   YAJL_GET_STRING(YAJL_GET_OBJECT(stems)->values[j])};
            assert_int_equal(number[i] == number[j], strcmp(stem[0], stem[1]) == 0);
        }
    vd_free(number);
    vd_word_counts_clear(&words);
    yajl_tree_free(golden);
}

// ---- pycocoevalcap itself -----------------------------------------------------------------------

static const char *python(void)
{
    const char *given = getenv("VISDIAL_PYTHON");
    return given ? given : "python3";
}

// Words that make n-grams meet, and sentences of all lengths from 0 on.
static void random_sentence(vd_rng *rng, char *out, size_t size)
{
    int words = vd_rng_below(rng, 4) ? vd_rng_below(rng, 16) : vd_rng_below(rng, 3);
    size_t used = 0;
    out[0] = 0;
    for (int w = 0; w < words; w++)
        used += (size_t)snprintf(out + used, size - used, "%sw%d", w ? " " : "",
                                 (int)(vd_rng_uniform(rng) * vd_rng_uniform(rng) * 30));
}

static void write_list(FILE *file, const char *name, const double *value, int count)
{
    fprintf(file, ",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s%.17g", i ? "," : "", value[i]);
    fprintf(file, "]");
}

// 1,000 captions with 5 references each, some of them equal to one.
static corpus random_corpus(FILE *file)
{
    static char hypothesis[MOST_PICTURES][200];
    vd_rng rng = vd_rng_seed(18, 6);
    corpus c = empty_corpus();
    c.count = MOST_PICTURES;
    fprintf(file, "{\"corpora\":[{\"references\":[");
    for (int i = 0; i < c.count; i++) {
        char text[200];
        c.picture[i].references = MOST_REFERENCES;
        random_sentence(&rng, hypothesis[i], sizeof hypothesis[i]);
        for (int j = 0; j < MOST_REFERENCES; j++) {
            random_sentence(&rng, text, sizeof text);
            c.picture[i].reference[j] = tokens(&c, text);
            if (j == i % 25)
                snprintf(hypothesis[i], sizeof hypothesis[i], "%s", text);
            fprintf(file, "%s\"%s\"", j ? "," : i ? "],[" : "[", text);
        }
        c.picture[i].hypothesis = tokens(&c, hypothesis[i]);
    }
    fprintf(file, "]],\"said\":[");
    for (int i = 0; i < c.count; i++)
        fprintf(file, "%s\"%s\"", i ? "," : "", hypothesis[i]);
    fprintf(file, "]");
    weigh(&c);
    return c;
}

static void write_scores(const corpus *c, FILE *file)
{
    static double rouge[MOST_PICTURES], cider[MOST_PICTURES];
    double score[VD_BLEU_ORDERS], mean[2] = {0};
    vd_bleu sums = {0};
    fprintf(file, ",\"bleu_each\":[");
    for (int i = 0; i < c->count; i++) {
        const picture *p = &c->picture[i];
        vd_bleu own = {0};
        vd_bleu_add(&own, p->hypothesis, p->reference, p->references);
        vd_bleu_add(&sums, p->hypothesis, p->reference, p->references);
        vd_bleu_scores(&own, score);
        fprintf(file, "%s[%.17g,%.17g,%.17g,%.17g]", i ? "," : "", score[0], score[1], score[2],
                score[3]);
        rouge[i] = vd_rouge_l(p->hypothesis, p->reference, p->references);
        cider[i] = vd_cider_score(&c->cider, p->hypothesis, p->reference, p->references);
        mean[0] += rouge[i] / c->count;
        mean[1] += cider[i] / c->count;
    }
    fprintf(file, "]");
    vd_bleu_scores(&sums, score);
    write_list(file, "bleu", score, VD_BLEU_ORDERS);
    write_list(file, "rouge_each", rouge, c->count);
    write_list(file, "cider_each", cider, c->count);
    fprintf(file, ",\"rouge\":%.17g,\"cider\":%.17g}]}\n", mean[0], mean[1]);
}

static void pycocoevalcap_finds_the_same(void **state)
{
    (void)state;
    char command[1200], line[200] = "";
    snprintf(command, sizeof command, "%s -c 'import pycocoevalcap' 2>/dev/null", python());
    if (system(command) != 0)
        support_skip("a Python with pycocoevalcap (VISDIAL_PYTHON)");
    char *directory = support_temp_dir(), *path = support_join(directory, "scores.json");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    corpus c = random_corpus(file);
    write_scores(&c, file);
    fclose(file);
    snprintf(command, sizeof command, "%s tests/golden/caption_scores.py --check %s", python(),
             path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    assert_int_equal(pclose(pipe), 0);
    print_message("%s", line);
    double worst = 1.0;
    assert_int_equal(sscanf(line, "1000 captions, largest difference %lf", &worst), 1);
    assert_true(worst <= 1e-6);
    clear(&c);
    support_remove_tree(directory);
    free(path);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_corpora_give_the_stored_numbers),
        cmocka_unit_test(words_are_of_one_stem_by_porter2),
        cmocka_unit_test(pycocoevalcap_finds_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
