// Gradients of all captioners and their losses by central differences in double precision, with
// dropout (whose masks are functions of the key).
#include <math.h>
#include <string.h>

#include "engine/networks/positions.h"
#include "tests/support/caption_cases.h"
#include "tests/support/must.h"

enum { MOST = 8000 };

typedef struct world {
    const caption_case *which;
    vd_layout layout;
    vd_real block[MOST], gradient[MOST], sinusoid[VD_MAX_HISTORY * 6];
    vd_parameters w, dw;
    vd_arena arena;
} world;

static double loss_of(world *w, const vd_batch *batch, bool with_gradient)
{
    vd_error err;
    vd_caption_words words;
    vd_caption_loss loss;
    // Twice as many words and captions are said to be in the step as there are.
    const vd_totals of = {.questions = 6, .words = 20};
    vd_arena_reset(&w->arena);
    vd_caption_pass pass = {.tape = {.be = vd_backend_cpu(),
                                     .arena = &w->arena,
                                     .w = &w->w,
                                     .dw = with_gradient ? &w->dw : NULL,
                                     .key = 11},
                            .config = &w->which->config,
                            .sinusoid = w->sinusoid,
                            .dropout = 0.3};
    must(vd_caption_encode(&pass, batch, &err), &err);
    must(vd_caption_words_all(&pass, batch->captions, &words, &err), &err);
    must(vd_caption_read(&pass, &words, &err), &err);
    must(vd_caption_compute_loss(&pass, &of, &loss, &err), &err);
    return loss.loss;
}

static void check_number(world *w, const vd_batch *batch, const vd_parameter *p, size_t i)
{
    const double step = 1e-5;
    vd_real *at = &w->block[p->offset + i], kept = *at;
    double found = w->gradient[p->offset + i];
    *at = kept + step;
    double above = loss_of(w, batch, false);
    *at = kept - step;
    double below = loss_of(w, batch, false);
    *at = kept;
    double expected = (above - below) / (2 * step);
    if (fabs(found - expected) > 1e-8 + 1e-5 * fabs(expected))
        fail_msg("%s, %s[%zu]: gradient %.10g, finite difference %.10g", w->which->name, p->name, i,
                 found, expected);
}

// A key's bias adds the same to all scores of a softmax, unless only some keys have it.
static bool is_idle(const char *name)
{
    return strstr(name, "attn.k.bias") || strstr(name, "attn2.k.bias");
}

static void check_case(world *w, const vd_batch *batch, const caption_case *which)
{
    vd_rng rng = vd_rng_seed(3, 4);
    w->which = which;
    vd_caption_layout(&which->config, &w->layout);
    assert_true(w->layout.elements <= MOST);
    for (size_t i = 0; i < w->layout.elements; i++)
        w->block[i] = 0.4 * vd_rng_normal(&rng);
    memset(w->gradient, 0, sizeof w->gradient);
    w->w = (vd_parameters){&w->layout, (unsigned char *)w->block, VD_REAL_TYPE, NULL, false};
    w->dw = (vd_parameters){&w->layout, (unsigned char *)w->gradient, VD_REAL_TYPE, NULL, false};
    double loss = loss_of(w, batch, true);
    assert_true(fabs(loss - loss_of(w, batch, false)) < 1e-12);
    for (int k = 0; k < w->layout.count; k++) {
        const vd_parameter *p = &w->layout.parameter[k];
        double any = 0;
        for (size_t i = 0; i < p->elements; i++) {
            any += fabs(w->gradient[p->offset + i]);
            if (p->elements < 8 || i % 13 == 0)
                check_number(w, batch, p, i);
        }
        if (any == 0 && !is_idle(p->name))
            fail_msg("%s: %s has no gradient", which->name, p->name);
    }
}

static void gradients_are_slopes(void **state)
{
    static world w;
    (void)state;
    vd_batch batch = caption_batch();
    vd_words_sinusoid(w.sinusoid, VD_MAX_HISTORY, 6);
    for (int i = 0; i < CAPTION_CASES; i++)
        check_case(&w, &batch, &caption_cases[i]);
    vd_arena_free(&w.arena);
}

static double share_of(const vd_value *look, int head, int query, int key, vd_arena *arena)
{
    const vd_pairing *p = look->pairing;
    const vd_pair_lists *lists = vd_pairing_lists(p, arena);
    for (int i = 0; i < p->pairs; i++)
        if (lists->query[i] == query && lists->key[i] == key)
            return look->x[head * p->pairs + i];
    fail_msg("word %d does not attend to region %d", query, key);
    return NAN;
}

// Regions are the first rows of its keys.
static void check_second_look(const caption_case *which, const vd_caption_layer *layer, int regions,
                              vd_arena *arena)
{
    const vd_pairing *p = layer->second->pairing;
    const vd_pair_lists *lists = vd_pairing_lists(p, arena);
    const int heads = layer->given->columns;
    for (int head = 0; head < heads; head++)
        for (int i = 0; i < p->pairs; i++) {
            const int word = lists->query[i], region = lists->key[i];
            if (region < 0 || region >= regions)
                continue;
            double expected = share_of(layer->look, head, word, region, arena) *
                              (1 - layer->given->x[word * heads + head]);
            if (fabs(layer->second->x[head * p->pairs + i] - expected) > 1e-14)
                fail_msg("%s: region %d of word %d has %g, expected %g", which->name, region, word,
                         layer->second->x[head * p->pairs + i], expected);
        }
}

// With the weights of the first look, CAT's second one has its shares of the regions times 1 - w:
// it need not be computed from them again.
static void a_second_look_keeps_the_proportions_of_regions(void **state)
{
    static world w;
    const vd_batch batch = caption_batch();
    vd_error err;
    int checked = 0;
    (void)state;
    vd_words_sinusoid(w.sinusoid, VD_MAX_HISTORY, 6);
    for (int i = CAPTION_COMPLETE; i < CAPTION_CASES; i++) {
        const vd_caption_config *c = &caption_cases[i].config;
        if (!c->shared || c->history == VD_HISTORY_ONLY || c->history == VD_HISTORY_LIGHT)
            continue;
        vd_caption_words words;
        vd_rng rng = vd_rng_seed(7, 4);
        vd_caption_layout(c, &w.layout);
        for (size_t k = 0; k < w.layout.elements; k++)
            w.block[k] = vd_rng_normal(&rng);
        w.w = (vd_parameters){&w.layout, (unsigned char *)w.block, VD_REAL_TYPE, NULL, false};
        vd_arena_reset(&w.arena);
        vd_caption_pass pass = {.tape = {.be = vd_backend_cpu(), .arena = &w.arena, .w = &w.w},
                                .config = c,
                                .sinusoid = w.sinusoid};
        must(vd_caption_encode(&pass, &batch, &err), &err);
        must(vd_caption_words_all(&pass, batch.captions, &words, &err), &err);
        must(vd_caption_read(&pass, &words, &err), &err);
        for (int l = 0; l < c->layers; l++, checked++)
            check_second_look(&caption_cases[i], &pass.layer[l], pass.region_start[pass.pictures],
                              &w.arena);
    }
    assert_true(checked >= 8);
    vd_arena_free(&w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_slopes),
        cmocka_unit_test(a_second_look_keeps_the_proportions_of_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
