#include "assets/blocks/detector_trainer.h"

#include <math.h>

#include "assets/blocks/render.h"
#include "engine/backend/backend.h"
#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/base/parallel.h"

enum {
    PICTURE_BYTES = BLOCKS_WIDTH * BLOCKS_HEIGHT * 3,
    PICTURE_NUMBERS = BLOCKS_WIDTH * BLOCKS_HEIGHT * VD_DETECT_INPUTS,
    WARM_UP = 100
};

// Streams of the one seed.
enum { STREAM_WEIGHTS = 1, STREAM_ORDER = 2, STREAM_AUGMENT = 3 };

// ---- pictures -----------------------------------------------------------------------------------

static vd_status render_one(void *context, int worker, size_t index, vd_error *err)
{
    blocks_trainer *t = context;
    (void)worker;
    (void)err;
    blocks_scene_make(t->options->seed, BLOCKS_TRAIN, (int)index, &t->scene[index]);
    blocks_render(&t->scene[index], t->rgb + index * PICTURE_BYTES);
    return VD_OK;
}

static void report_rendered(void *user, size_t done)
{
    const blocks_trainer *t = user;
    if (t->report)
        t->report(t->user, &(blocks_detector_progress){.stage = "rendering",
                                                       .done = (int)done,
                                                       .total = t->options->pictures,
                                                       .seconds = vd_seconds() - t->start});
}

vd_status blocks_trainer_new(blocks_trainer *t, const blocks_detector_options *o,
                             blocks_detector_report report, void *user, vd_error *err)
{
    size_t pictures = (size_t)o->pictures;
    *t = (blocks_trainer){.options = o, .report = report, .user = user};
    t->scene = vd_alloc(pictures, sizeof *t->scene);
    t->rgb = vd_alloc(pictures, PICTURE_BYTES);
    t->order = vd_alloc(pictures, sizeof *t->order);
    if (!t->scene || !t->rgb || !t->order)
        return vd_error_memory(err, "the pictures to train on (fewer pictures need less)");
    t->start = vd_seconds();
    return vd_parallel(pictures, BLOCKS_HALVES, render_one, t, report_rendered, t, o->stop, err);
}

int blocks_half_picture(const blocks_half *half, int i, vd_rng *rng, vd_real *input,
                        detector_target *target)
{
    const blocks_trainer *t = half->trainer;
    int picture = t->order[half->first + i];
    uint64_t draw = (uint64_t)half->step * 64 + (uint64_t)half->index * 32 + (uint64_t)i;
    *rng = vd_rng_seed(t->options->seed ^ (uint64_t)STREAM_AUGMENT << 56, draw);
    return blocks_augment(&t->scene[picture], t->rgb + (size_t)picture * PICTURE_BYTES, rng, input,
                          target);
}

// ---- the net ------------------------------------------------------------------------------------

static void clear_net(blocks_trainer *t)
{
    vd_free(t->gradient);
    vd_free(t->moment[0]);
    vd_free(t->moment[1]);
    for (int h = 0; h < BLOCKS_HALVES; h++) {
        vd_conv_pass_free(t->pass[h]);
        vd_free(t->picture[h]);
        t->pass[h] = NULL;
        t->picture[h] = NULL;
    }
    vd_convnet_free(t->folded);
    vd_convnet_free(t->net);
    t->gradient = t->moment[0] = t->moment[1] = NULL;
    t->folded = t->net = NULL;
}

void blocks_trainer_clear(blocks_trainer *t)
{
    clear_net(t);
    vd_free(t->order);
    vd_free(t->rgb);
    vd_free(t->scene);
}

static int inputs_of(const blocks_trainer *t)
{
    return t->options->batch / BLOCKS_HALVES * (t->lesson->crops ? t->lesson->crops : 1);
}

vd_status blocks_trainer_begin(blocks_trainer *t, const blocks_lesson *lesson, vd_error *err)
{
    const blocks_detector_options *o = t->options;
    vd_status status = VD_OK;
    clear_net(t);
    t->lesson = lesson;
    for (int i = 0; i < 2 && !status; i++)
        status = vd_convnet_new(lesson->layer, *lesson->layers, lesson->channels, lesson->width,
                                lesson->height, i ? &t->folded : &t->net, err);
    for (int h = 0; h < BLOCKS_HALVES && !status; h++)
        status = vd_conv_pass_new(t->net, inputs_of(t), true, &t->pass[h], err);
    if (status)
        return status;
    t->gradient = vd_alloc(t->net->params, sizeof *t->gradient);
    for (int i = 0; i < 2; i++)
        t->moment[i] = vd_alloc(t->net->params, sizeof *t->moment[i]);
    for (int h = 0; h < BLOCKS_HALVES; h++)
        t->picture[h] = lesson->crops ? vd_alloc(PICTURE_NUMBERS, sizeof *t->picture[h]) : NULL;
    if (!t->gradient || !t->moment[0] || !t->moment[1] ||
        (lesson->crops && (!t->picture[0] || !t->picture[1])))
        return vd_error_memory(err, "a net to train");
    for (int i = 0; i < o->pictures; i++)
        t->order[i] = i;
    vd_rng rng = vd_rng_seed(o->seed, (uint64_t)STREAM_WEIGHTS << 56);
    vd_convnet_init(t->net, &rng);
    if (lesson->begin)
        lesson->begin(t->net);
    return VD_OK;
}

// ---- steps --------------------------------------------------------------------------------------

static vd_status train_half(void *context, int worker, size_t index, vd_error *err)
{
    blocks_half *half = (blocks_half *)context + index;
    (void)worker;
    (void)err;
    half->trainer->lesson->learn(half);
    return VD_OK;
}

// Gradients are clipped to this norm: those of the first steps are very large.
static const double longest_gradient = 10;

// Adds up the halves; returns the factor that limits the length of the sum.
static vd_real join_gradients(blocks_trainer *t)
{
    double square = 0;
    for (size_t i = 0; i < t->net->params; i++) {
        t->gradient[i] = t->pass[0]->gradient[i] + t->pass[1]->gradient[i];
        square += (double)t->gradient[i] * (double)t->gradient[i];
    }
    double length = sqrt(square);
    return (vd_real)(length > longest_gradient ? longest_gradient / length : 1);
}

// Adam with decoupled weight decay (Loshchilov, Hutter 2019) of the weights; step counts from 1.
static void step_adam(blocks_trainer *t, vd_real scale, double rate, long step)
{
    const double decay = 1e-4;
    vd_convnet *net = t->net;
    vd_backend_cpu()->adam(net->param, t->gradient, t->moment[0], t->moment[1], net->params, scale,
                           rate, &vd_moments_usual, step);
    for (int l = 0; l < net->layers; l++)
        for (size_t i = net->weight[l]; i < net->bias[l]; i++)
            net->param[i] -= (vd_real)(rate * decay) * net->param[i];
}

static void shuffle(int *order, int count, uint64_t seed, int epoch)
{
    vd_rng rng = vd_rng_seed(seed ^ (uint64_t)STREAM_ORDER << 56, (uint64_t)epoch);
    for (int i = count - 1; i > 0; i--) {
        int j = vd_rng_below(&rng, i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

static double rate_at(const blocks_detector_options *options, long step, long steps)
{
    double warm = step < WARM_UP ? (double)(step + 1) / WARM_UP : 1;
    return warm * options->rate * 0.5 * (1 + cos(3.14159265358979 * (double)step / (double)steps));
}

static vd_status train_step(blocks_trainer *t, int first, long step, long steps,
                            blocks_detector_loss *loss, int *objects, vd_error *err)
{
    int count = t->options->batch / BLOCKS_HALVES, all = 0;
    blocks_half half[BLOCKS_HALVES];
    for (int i = first; i < first + BLOCKS_HALVES * count; i++)
        all += t->lesson->crops ? t->lesson->crops : t->scene[t->order[i]].count;
    for (int h = 0; h < BLOCKS_HALVES; h++)
        half[h] = (blocks_half){.trainer = t,
                                .pass = t->pass[h],
                                .index = h,
                                .first = first + h * count,
                                .count = count,
                                .step = step,
                                .objects = all};
    vd_status status =
        vd_parallel(BLOCKS_HALVES, BLOCKS_HALVES, train_half, half, NULL, NULL, NULL, err);
    if (status)
        return status;
    step_adam(t, join_gradients(t), rate_at(t->options, step, steps), step + 1);
    // Slow at the end, so that the statistics average many batches.
    for (int h = 0; h < BLOCKS_HALVES; h++) {
        vd_convnet_absorb(t->net, t->pass[h], (vd_real)fmax(0.005, 1.0 / (double)(step + 2)));
        loss->heat += half[h].loss.heat;
        loss->box += half[h].loss.box;
        loss->place += half[h].loss.place;
        loss->attributes += half[h].loss.attributes;
    }
    *objects += all;
    return VD_OK;
}

static void report_step(const blocks_trainer *t, long step, long steps,
                        const blocks_detector_loss *loss, int objects)
{
    if (t->report)
        t->report(t->user, &(blocks_detector_progress){.stage = t->lesson->stage,
                                                       .done = (int)step,
                                                       .total = (int)steps,
                                                       .heat = loss->heat / objects,
                                                       .box = loss->box / objects,
                                                       .place = loss->place / objects,
                                                       .attributes = loss->attributes / objects,
                                                       .seconds = vd_seconds() - t->start});
}

vd_status blocks_trainer_run(blocks_trainer *t, vd_error *err)
{
    enum { EVERY = 5 };
    const blocks_detector_options *o = t->options;
    int per_epoch = o->pictures / o->batch, objects = 0;
    long step = 0, steps = (long)per_epoch * o->epochs;
    blocks_detector_loss loss = {0};
    vd_status status = VD_OK;
    t->start = vd_seconds();
    for (int epoch = 0; epoch < o->epochs && !status; epoch++) {
        shuffle(t->order, o->pictures, o->seed, epoch);
        for (int i = 0; i < per_epoch; i++) {
            status = train_step(t, i * o->batch, step++, steps, &loss, &objects, err);
            if (status)
                return status;
            if (o->stop && atomic_load(o->stop))
                return vd_error_set(err, VD_INTERRUPTED, "interrupted after step %ld", step);
            if (step % EVERY)
                continue;
            report_step(t, step, steps, &loss, objects);
            loss = (blocks_detector_loss){0};
            objects = 0;
        }
        vd_convnet_fold(t->net, t->folded);
        if (epoch + 1 < o->epochs && t->lesson->keep)
            status = t->lesson->keep(t, err);
    }
    return status;
}
