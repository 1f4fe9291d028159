#include "assets/blocks/detector_trainer.h"

#include <math.h>

#include "assets/blocks/render.h"
#include "engine/backend/backend.h"
#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/base/parallel.h"

enum {
    PICTURE_BYTES = BLOCKS_WIDTH * BLOCKS_HEIGHT * 3,
    INPUT = BLOCKS_WIDTH * BLOCKS_HEIGHT * VD_DETECT_INPUTS,
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
    return vd_parallel(pictures, BLOCKS_MICRO_BATCHES, render_one, t, report_rendered, t, o->stop,
                       err);
}

// ---- the net ------------------------------------------------------------------------------------

static void clear_net(blocks_trainer *t)
{
    for (int i = 0; i < 2; i++) {
        vd_free(t->moment[i]);
        t->moment[i] = NULL;
    }
    for (int b = 0; b < BLOCKS_MICRO_BATCHES; b++) {
        vd_conv_pass_free(t->batch[b].pass);
        vd_free(t->batch[b].picture);
        t->batch[b] = (blocks_micro_batch){.count = t->options->batch / BLOCKS_MICRO_BATCHES};
    }
    vd_convnet_free(t->folded);
    vd_convnet_free(t->net);
    t->folded = t->net = NULL;
}

void blocks_trainer_clear(blocks_trainer *t)
{
    clear_net(t);
    vd_free(t->order);
    vd_free(t->rgb);
    vd_free(t->scene);
}

vd_status blocks_trainer_begin(blocks_trainer *t, const blocks_task *task, vd_error *err)
{
    const blocks_detector_options *o = t->options;
    vd_status status = VD_OK;
    clear_net(t);
    t->task = task;
    for (int i = 0; i < 2 && !status; i++)
        status = vd_convnet_new(task->layer, *task->layers, task->channels, task->width,
                                task->height, i ? &t->folded : &t->net, err);
    for (int b = 0; b < BLOCKS_MICRO_BATCHES && !status; b++) {
        blocks_micro_batch *batch = &t->batch[b];
        status = vd_conv_pass_new(t->net, batch->count * (task->crops ? task->crops : 1), true,
                                  &batch->pass, err);
        if (!status && task->crops && !(batch->picture = vd_alloc(INPUT, sizeof(vd_real))))
            status = vd_error_memory(err, "a net to train");
    }
    for (int i = 0; i < 2 && !status; i++)
        if (!(t->moment[i] = vd_alloc(t->net->params, sizeof *t->moment[i])))
            status = vd_error_memory(err, "a net to train");
    if (status)
        return status;
    for (int i = 0; i < o->pictures; i++)
        t->order[i] = (size_t)i;
    vd_rng rng = vd_rng_seed(o->seed, (uint64_t)STREAM_WEIGHTS << 56);
    vd_convnet_init(t->net, &rng);
    if (task->init)
        task->init(t->net);
    return VD_OK;
}

// ---- steps --------------------------------------------------------------------------------------

// Picture i of micro-batch `index`, or its crops, becomes input of the net.
static void load_picture(const blocks_trainer *t, size_t index, int i, blocks_micro_batch *batch)
{
    size_t picture = t->order[(size_t)t->first + index * (size_t)batch->count + (size_t)i];
    uint64_t draw = (uint64_t)t->step * 64 + index * 32 + (uint64_t)i;
    vd_rng rng = vd_rng_seed(t->options->seed ^ (uint64_t)STREAM_AUGMENT << 56, draw);
    vd_real *input = t->task->crop ? batch->picture : batch->pass->input + (size_t)i * INPUT;
    batch->targets[i] = blocks_augment(&t->scene[picture], t->rgb + picture * PICTURE_BYTES, &rng,
                                       input, batch->target[i]);
    if (t->task->crop)
        t->task->crop(batch, i, &rng);
}

static vd_status compute_gradient(void *context, int worker, size_t index, vd_error *err)
{
    blocks_trainer *t = context;
    blocks_micro_batch *batch = &t->batch[index];
    (void)worker;
    (void)err;
    for (int i = 0; i < batch->count; i++)
        load_picture(t, index, i, batch);
    t->task->loss(batch, vd_conv_forward(batch->pass), 1.0 / t->objects,
                  batch->pass->dy[t->net->layers - 1]);
    vd_conv_backward(batch->pass);
    return VD_OK;
}

// The learning rate: it rises linearly, then falls as half a cosine.
static double rate_at(const blocks_detector_options *options, long step, long steps)
{
    double warm = step < WARM_UP ? (double)(step + 1) / WARM_UP : 1;
    return warm * options->rate * 0.5 * (1 + cos(3.14159265358979 * (double)step / (double)steps));
}

// Adam with decoupled weight decay (Loshchilov, Hutter 2019) of the weights.
static void update(blocks_trainer *t, double rate)
{
    // Gradients are clipped to this norm: those of the first steps are very large.
    const double longest = 10, decay = 1e-4;
    const vd_backend *be = vd_backend_cpu();
    vd_convnet *net = t->net;
    vd_real *gradient = t->batch[0].pass->gradient;
    for (int b = 1; b < BLOCKS_MICRO_BATCHES; b++)
        be->add_scaled(gradient, 1, t->batch[b].pass->gradient, net->params);
    double norm = sqrt(be->square_sum(gradient, net->params));
    be->adam(net->param, gradient, t->moment[0], t->moment[1], net->params,
             (vd_real)(norm > longest ? longest / norm : 1), rate, &vd_moments_usual, t->step + 1);
    for (int l = 0; l < net->layers; l++)
        for (size_t i = net->weight[l]; i < net->bias[l]; i++)
            net->param[i] -= (vd_real)(rate * decay) * net->param[i];
    // Slow at the end, so that the statistics average many batches.
    for (int b = 0; b < BLOCKS_MICRO_BATCHES; b++)
        vd_convnet_absorb(net, t->batch[b].pass, (vd_real)fmax(0.005, 1.0 / (double)(t->step + 2)));
}

static vd_status train_step(blocks_trainer *t, long steps, vd_error *err)
{
    t->objects = 0;
    for (int i = t->first; i < t->first + t->options->batch; i++)
        t->objects += t->task->crops ? t->task->crops : t->scene[t->order[i]].count;
    vd_status status = vd_parallel(BLOCKS_MICRO_BATCHES, BLOCKS_MICRO_BATCHES, compute_gradient, t,
                                   NULL, NULL, NULL, err);
    if (status)
        return status;
    update(t, rate_at(t->options, t->step, steps));
    t->step++;
    if (t->options->stop && atomic_load(t->options->stop))
        return vd_error_set(err, VD_INTERRUPTED, "interrupted after step %ld", t->step);
    return VD_OK;
}

// The losses of the last steps, which had so many objects.
static void report_step(blocks_trainer *t, long steps, int objects)
{
    blocks_detector_loss sum = {0};
    for (int b = 0; b < BLOCKS_MICRO_BATCHES; b++) {
        blocks_detector_loss *loss = &t->batch[b].loss;
        sum.heat += loss->heat / objects;
        sum.box += loss->box / objects;
        sum.place += loss->place / objects;
        sum.attributes += loss->attributes / objects;
        *loss = (blocks_detector_loss){0};
    }
    if (t->report)
        t->report(t->user, &(blocks_detector_progress){.stage = t->task->stage,
                                                       .done = (int)t->step,
                                                       .total = (int)steps,
                                                       .heat = sum.heat,
                                                       .box = sum.box,
                                                       .place = sum.place,
                                                       .attributes = sum.attributes,
                                                       .seconds = vd_seconds() - t->start});
}

vd_status blocks_trainer_run(blocks_trainer *t, vd_error *err)
{
    enum { EVERY = 5 };
    const blocks_detector_options *o = t->options;
    int per_epoch = o->pictures / o->batch, objects = 0;
    long steps = (long)per_epoch * o->epochs;
    vd_status status = VD_OK;
    t->start = vd_seconds();
    t->step = 0;
    for (int epoch = 0; epoch < o->epochs && !status; epoch++) {
        vd_rng rng = vd_rng_seed(o->seed ^ (uint64_t)STREAM_ORDER << 56, (uint64_t)epoch);
        vd_rng_shuffle(&rng, t->order, (size_t)o->pictures);
        for (int i = 0; i < per_epoch && !status; i++) {
            t->first = i * o->batch;
            status = train_step(t, steps, err);
            objects += t->objects;
            if (status || t->step % EVERY)
                continue;
            report_step(t, steps, objects);
            objects = 0;
        }
        if (status)
            break;
        vd_convnet_fold(t->net, t->folded);
        if (epoch + 1 < o->epochs && t->task->save)
            status = t->task->save(t, err);
    }
    return status;
}
