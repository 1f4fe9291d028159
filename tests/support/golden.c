#include "tests/support/golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/networks/positions.h"
#include "tests/support/backend.h"
#include "tests/support/must.h"
#include "tests/support/support.h"

float *golden_floats(golden *g, const char *name, size_t count)
{
    const vd_tensor *t = vd_safetensors_find(g->file, name);
    vd_error err;
    if (!t)
        fail_msg("%s has no tensor %s", g->path, name);
    assert_int_equal(t->elements, count);
    float *out = vd_alloc(count, sizeof *out);
    must(vd_tensor_floats(t, 0, count, out, &err), &err);
    return out;
}

int32_t *golden_ints(golden *g, const char *name, size_t *count)
{
    const vd_tensor *t = vd_safetensors_find(g->file, name);
    vd_error err;
    if (!t)
        fail_msg("%s has no tensor %s", g->path, name);
    int64_t *wide = vd_alloc(t->elements, sizeof *wide);
    int32_t *out = vd_alloc(t->elements, sizeof *out);
    must(vd_tensor_ints(t, 0, t->elements, wide, &err), &err);
    for (size_t i = 0; i < t->elements; i++)
        out[i] = (int32_t)wide[i];
    if (count)
        *count = t->elements;
    vd_free(wide);
    return out;
}

static const size_t *shape_of(golden *g, const char *name)
{
    const vd_tensor *t = vd_safetensors_find(g->file, name);
    if (!t)
        fail_msg("%s has no tensor %s", g->path, name);
    return t->shape;
}

static int number(golden *g, const char *key)
{
    const char *text = vd_safetensors_metadata(g->file, key);
    if (!text)
        fail_msg("%s has no metadata %s", g->path, key);
    return (int)strtol(text, NULL, 10);
}

// The golden candidates are one a (question, option): every one is its own distinct candidate.
static void load_batch(golden *g)
{
    vd_batch *b = &g->batch;
    const size_t *image = shape_of(g, "in.img_feat"), *option = shape_of(g, "in.opt");
    b->dialogs = (int)image[0];
    b->regions = (int)image[1];
    b->rounds = (int)option[1];
    b->candidates = (int)option[2];
    b->question_width = (int)shape_of(g, "in.ques")[2];
    b->history_width = (int)shape_of(g, "in.hist")[2];
    b->candidate_width = (int)option[3];
    b->distinct = b->dialogs * b->rounds * b->candidates;
    b->image = golden_floats(g, "in.img_feat", image[0] * image[1] * image[2]);
    b->question = golden_ints(g, "in.ques", NULL);
    b->question_length = golden_ints(g, "in.ques_len", NULL);
    b->history = golden_ints(g, "in.hist", NULL);
    b->history_length = golden_ints(g, "in.hist_len", NULL);
    b->candidate = golden_ints(g, "in.opt", NULL);
    b->candidate_length = golden_ints(g, "in.opt_len", NULL);
    b->candidate_in = golden_ints(g, "in.opt_in", NULL);
    b->candidate_out = golden_ints(g, "in.opt_out", NULL);
    b->truth = golden_ints(g, "in.gt_index", NULL);
    int32_t *index = vd_alloc((size_t)b->distinct, sizeof *index);
    for (int i = 0; i < b->distinct; i++)
        index[i] = i;
    b->option = index;
}

// A golden file names the discriminative decoder "decoder" although the generative one is there
// too.
static const vd_tensor *tensor_of(golden *g, const char *name)
{
    const char *single = strncmp(name, "disc_", 5) == 0 ? name + 5 : name;
    const vd_tensor *t = vd_safetensors_find(g->file, single);
    if (!t)
        fail_msg("%s has no tensor %s", g->path, single);
    return t;
}

static vd_real *numbers(size_t count)
{
    return support_backend()->memory->allocate(count * sizeof(vd_real));
}

void golden_open(golden *g, const char *name, vd_decoders decoders)
{
    vd_error err;
    char path[256];
    *g = (golden){0};
    snprintf(path, sizeof path, "tests/golden/data/%s", name);
    g->path = path;
    if (!support_exists(path)) {
        snprintf(path, sizeof path, "golden/%s", name);
        g->path = support_shared(path);
    }
    must(vd_safetensors_open(g->path, &g->file, &err), &err);
    g->path = vd_safetensors_path(g->file);
    g->config = (vd_config){.vocab = number(g, "vocab"),
                            .embed = number(g, "embed"),
                            .hidden = number(g, "hidden"),
                            .region = number(g, "img"),
                            .decoders = decoders};
    vd_weights_layout(&g->config, &g->layout, NULL, NULL);
    g->block = vd_alloc(g->layout.elements, sizeof *g->block);
    g->there = numbers(g->layout.elements);
    g->gradient = numbers(g->layout.elements);
    vd_weights_layout(&g->config, &g->layout, g->there, &g->weights);
    vd_weights_layout(&g->config, &g->layout, g->gradient, &g->dweights);
    for (int k = 0; k < g->layout.count; k++) {
        const vd_parameter *p = &g->layout.parameter[k];
        const vd_tensor *t = tensor_of(g, p->name);
        assert_int_equal(t->elements, p->elements);
        must(vd_tensor_floats(t, 0, t->elements, g->block + p->offset, &err), &err);
    }
    size_t table = (size_t)VD_MAX_HISTORY * (size_t)g->config.embed;
    vd_real *sinusoid = vd_alloc(table, sizeof *sinusoid);
    vd_words_sinusoid(sinusoid, VD_MAX_HISTORY, g->config.embed);
    g->sinusoid = numbers(table);
    const vd_memory *memory = support_backend()->memory;
    memory->upload(g->sinusoid, sinusoid, table * sizeof *sinusoid);
    memory->upload(g->there, g->block, g->layout.elements * sizeof *g->block);
    memory->zero(g->gradient, g->layout.elements * sizeof *g->gradient);
    vd_free(sinusoid);
    load_batch(g);
}

void golden_close(golden *g)
{
    const void *owned[] = {g->batch.image,
                           g->batch.question,
                           g->batch.question_length,
                           g->batch.history,
                           g->batch.history_length,
                           g->batch.candidate,
                           g->batch.candidate_length,
                           g->batch.candidate_in,
                           g->batch.candidate_out,
                           g->batch.truth,
                           g->batch.option,
                           g->block};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        vd_free((void *)owned[i]);
    const vd_memory *memory = support_backend()->memory;
    memory->release(g->there);
    memory->release(g->gradient);
    memory->release(g->sinusoid);
    vd_arena_free(&g->arena);
    vd_safetensors_close(g->file);
}

void golden_network(golden *g, vd_network *net, bool with_gradient)
{
    g->arena.memory = support_backend()->memory;
    vd_arena_reset(&g->arena);
    *net = (vd_network){.pass = {.be = support_backend(),
                                 .config = &g->config,
                                 .w = &g->weights,
                                 .dw = with_gradient ? &g->dweights : NULL,
                                 .sinusoid = g->sinusoid,
                                 .arena = &g->arena}};
}
