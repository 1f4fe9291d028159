#include "assets/blocks/detector.h"

#include <math.h>
#include <time.h>

#include "assets/blocks/detector_loss.h"
#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "features/extract/detect.h"
#include "features/extract/extractor.h"

_Static_assert((int)BLOCKS_WIDTH == (int)VD_DETECT_WIDTH &&
                   (int)BLOCKS_HEIGHT == (int)VD_DETECT_HEIGHT,
               "the detector sees pictures as they are rendered");
_Static_assert((int)BLOCKS_COLORS == (int)VD_COLORS && (int)BLOCKS_SHAPES == (int)VD_SHAPES &&
                   (int)BLOCKS_MATERIALS == (int)VD_MATERIALS && (int)BLOCKS_SIZES == (int)VD_SIZES,
               "the detector names what the world has");

enum { PICTURE_BYTES = BLOCKS_WIDTH * BLOCKS_HEIGHT * 3, HALVES = 2, WARM_UP = 100 };

// Streams of the one seed.
enum { STREAM_WEIGHTS = 1, STREAM_ORDER = 2, STREAM_AUGMENT = 3 };

double blocks_detector_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

blocks_detector_options blocks_detector_defaults(void)
{
    return (blocks_detector_options){
        .seed = 1,
        .pictures = 6000,
        .epochs = 7,
        .batch = 8,
        .rate = 3e-3,
        .out = "assets/extractor.safetensors",
    };
}

// ---- augmentation -------------------------------------------------------------------------------

// Other cameras, lamps and encoders than the renderer's: light, tint, contrast, blur, noise; and
// mirrored and shifted, which makes new scenes of old ones.
typedef struct augmentation {
    bool mirror;
    int dx, dy;
    float table[3][256]; // byte -> input
    float blur, noise;   // share of the neighbours; amplitude
} augmentation;

static augmentation draw_augmentation(vd_rng *rng)
{
    augmentation a = {.mirror = vd_rng_below(rng, 2)};
    a.dx = vd_rng_below(rng, 33) - 16;
    a.dy = vd_rng_below(rng, 9) - 4;
    double gain = vd_rng_range(rng, 0.85, 1.15), gamma = vd_rng_range(rng, 0.85, 1.18);
    double offset = vd_rng_range(rng, -0.04, 0.04);
    for (int c = 0; c < 3; c++) {
        double tint = gain * vd_rng_range(rng, 0.95, 1.05);
        for (int v = 0; v < 256; v++) {
            double value = tint * pow(v / 255.0, gamma) + offset;
            a.table[c][v] = (float)(2 * fmin(1, fmax(0, value)) - 1);
        }
    }
    a.blur = vd_rng_below(rng, 3) ? 0 : (float)vd_rng_range(rng, 0, 0.25);
    a.noise = vd_rng_below(rng, 2) ? 0 : (float)vd_rng_range(rng, 0, 0.04);
    return a;
}

static int clamp(int value, int high)
{
    return value < 0 ? 0 : value > high ? high : value;
}

static void augment_pixels(const augmentation *a, const uint8_t *rgb, vd_rng *rng, vd_real *input)
{
    for (int y = 0; y < BLOCKS_HEIGHT; y++) {
        const uint8_t *row = rgb + (size_t)clamp(y - a->dy, BLOCKS_HEIGHT - 1) * BLOCKS_WIDTH * 3;
        for (int x = 0; x < BLOCKS_WIDTH; x++, input += VD_DETECT_INPUTS) {
            int from = clamp((a->mirror ? BLOCKS_WIDTH - 1 - x : x) - (a->mirror ? -a->dx : a->dx),
                             BLOCKS_WIDTH - 1);
            uint64_t bits = a->noise > 0 ? vd_rng_next(rng) : 0;
            for (int c = 0; c < 3; c++) {
                float value = a->table[c][row[from * 3 + c]];
                if (a->noise >
                    0) // two bytes each: a better normal distribution would gain nothing here
                    value += a->noise * ((float)((bits >> (16 * c)) & 0xffff) / 32768.0f - 1);
                input[c] = value;
            }
            input[3] = ((float)y + 0.5f) * (2.0f / BLOCKS_HEIGHT) - 1;
        }
    }
}

// Each pixel gives `share` to its left and right neighbours together, then to those above and
// below.
static void blur(float share, vd_real *input)
{
    enum { ROW = BLOCKS_WIDTH * VD_DETECT_INPUTS };
    vd_real before[ROW], here[ROW];
    for (int y = 0; y < BLOCKS_HEIGHT; y++) {
        vd_real *row = input + (size_t)y * ROW;
        memcpy(before, row, sizeof before);
        for (int i = VD_DETECT_INPUTS; i < ROW - VD_DETECT_INPUTS; i++)
            row[i] = (1 - share) * before[i] +
                     share / 2 * (before[i - VD_DETECT_INPUTS] + before[i + VD_DETECT_INPUTS]);
    }
    memcpy(before, input, sizeof before);
    for (int y = 1; y < BLOCKS_HEIGHT - 1; y++) {
        vd_real *row = input + (size_t)y * ROW;
        memcpy(here, row, sizeof here);
        for (int i = 0; i < ROW; i++)
            row[i] = (1 - share) * here[i] + share / 2 * (before[i] + row[i + ROW]);
        memcpy(before, here, sizeof before);
    }
}

// Pixel of a point of the world, as the renderer's pinhole camera sees it: it looks along the
// table's depth, so that nothing leans.
static void project(const blocks_scene *scene, const double point[3], double pixel[2])
{
    const double *eye = scene->camera, *to = scene->look_at;
    double length = hypot(to[1] - eye[1], to[2] - eye[2]);
    double fy = (to[1] - eye[1]) / length, fz = (to[2] - eye[2]) / length;
    double dy = point[1] - eye[1], dz = point[2] - eye[2];
    double depth = dy * fy + dz * fz, up = dz * fy - dy * fz;
    double focal = BLOCKS_HEIGHT / 2.0 / tan(scene->field_of_view / 2);
    pixel[0] = BLOCKS_WIDTH / 2.0 + focal * (point[0] - eye[0]) / depth;
    pixel[1] = BLOCKS_HEIGHT / 2.0 - focal * up / depth;
}

static void place_of(const blocks_scene *scene, const blocks_object *o, double place[2])
{
    double middle[2], foot[2];
    project(scene, (double[3]){o->x, o->y, o->radius}, middle);
    project(scene, (double[3]){o->x, o->y, 0}, foot);
    place[0] = middle[0];
    place[1] = foot[1];
}

static int augment_targets(const augmentation *a, const blocks_scene *scene,
                           detector_target *target)
{
    int count = 0;
    for (int i = 0; i < scene->count; i++) {
        const blocks_object *o = &scene->object[i];
        double x1 = o->box[0], x2 = o->box[2], place[2];
        place_of(scene, o, place);
        if (a->mirror) {
            place[0] = BLOCKS_WIDTH - place[0];
            x1 = BLOCKS_WIDTH - o->box[2];
            x2 = BLOCKS_WIDTH - o->box[0];
        }
        detector_target *t = &target[count];
        t->box[0] = fmax(0, x1 + a->dx);
        t->box[1] = fmax(0, o->box[1] + a->dy);
        t->box[2] = fmin(BLOCKS_WIDTH, x2 + a->dx);
        t->box[3] = fmin(BLOCKS_HEIGHT, o->box[3] + a->dy);
        t->place[0] = place[0] + a->dx;
        t->place[1] = place[1] + a->dy;
        for (int k = 0; k < BLOCKS_ATTRIBUTES; k++)
            t->attribute[k] = (int)o->value[k];
        if (t->box[2] - t->box[0] >= 4 && t->box[3] - t->box[1] >= 4)
            count++;
    }
    return count;
}

// ---- rendering ----------------------------------------------------------------------------------

typedef struct training {
    const blocks_detector_options *options;
    blocks_scene *scene; // (pictures)
    uint8_t *rgb;        // (pictures, 240, 320, 3)
    int *order;          // (pictures)
    vd_convnet *net, *folded;
    vd_conv_pass *pass[HALVES];
    vd_adam adam;
    vd_real *gradient;
    blocks_detector_report report; // may be NULL
    void *user;
    double start; // of the stage
} training;

// Half of a batch, which one thread computes.
typedef struct half {
    training *t;
    int first, count;
    long step;
    blocks_detector_loss loss;
    int objects; // in the whole batch
} half;

static vd_status render_one(void *context, int worker, size_t index, vd_error *err)
{
    training *t = context;
    (void)worker;
    (void)err;
    blocks_scene_make(t->options->seed, BLOCKS_TRAIN, (int)index, &t->scene[index]);
    blocks_render(&t->scene[index], t->rgb + index * PICTURE_BYTES);
    return VD_OK;
}

static void report_rendered(void *user, size_t done)
{
    const training *t = user;
    if (t->report)
        t->report(t->user,
                  &(blocks_detector_progress){.stage = "rendering",
                                              .done = (int)done,
                                              .total = t->options->pictures,
                                              .seconds = blocks_detector_seconds() - t->start});
}

static vd_status render_pictures(training *t, vd_error *err)
{
    t->start = blocks_detector_seconds();
    return vd_parallel((size_t)t->options->pictures, HALVES, render_one, t, report_rendered, t,
                       t->options->stop, err);
}

// ---- training -----------------------------------------------------------------------------------

static vd_status train_half(void *context, int worker, size_t index, vd_error *err)
{
    half *s = (half *)context + index;
    training *t = s->t;
    vd_conv_pass *pass = t->pass[index];
    (void)worker;
    (void)err;
    enum { PIXELS = BLOCKS_WIDTH * BLOCKS_HEIGHT * VD_DETECT_INPUTS };
    enum { OUTPUTS = VD_DETECT_ROWS * VD_DETECT_COLUMNS * VD_DETECT_OUTPUTS };
    detector_target target[32][BLOCKS_MAX];
    int targets[32] = {0};
    for (int i = 0; i < s->count; i++) {
        int picture = t->order[s->first + i];
        uint64_t draw = (uint64_t)s->step * 64 + (uint64_t)index * 32 + (uint64_t)i;
        vd_rng rng = vd_rng_seed(t->options->seed ^ (uint64_t)STREAM_AUGMENT << 56, draw);
        augmentation a = draw_augmentation(&rng);
        vd_real *input = pass->input + (size_t)i * PIXELS;
        augment_pixels(&a, t->rgb + (size_t)picture * PICTURE_BYTES, &rng, input);
        if (a.blur > 0)
            blur(a.blur, input);
        targets[i] = augment_targets(&a, &t->scene[picture], target[i]);
    }
    const vd_real *output = vd_conv_forward(pass);
    vd_real *gradient = pass->dy[t->net->layers - 1];
    for (int i = 0; i < s->count; i++)
        blocks_detector_judge(output + (size_t)i * OUTPUTS, target[i], targets[i], 1.0 / s->objects,
                              gradient + (size_t)i * OUTPUTS, &s->loss);
    vd_conv_backward(pass);
    return VD_OK;
}

// Gradients are clipped to this norm: those of the first steps are very large.
static const double longest_gradient = 10;

static void join_gradients(training *t)
{
    double square = 0;
    for (size_t i = 0; i < t->net->params; i++) {
        t->gradient[i] = t->pass[0]->gradient[i] + t->pass[1]->gradient[i];
        square += (double)t->gradient[i] * (double)t->gradient[i];
    }
    double length = sqrt(square);
    if (length > longest_gradient)
        for (size_t i = 0; i < t->net->params; i++)
            t->gradient[i] *= (vd_real)(longest_gradient / length);
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

static vd_status train_step(training *t, int first, long step, long steps,
                            blocks_detector_loss *loss, int *objects, vd_error *err)
{
    int count = t->options->batch / HALVES, all = 0;
    half s[HALVES];
    for (int i = first; i < first + HALVES * count; i++)
        all += t->scene[t->order[i]].count;
    for (int h = 0; h < HALVES; h++)
        s[h] = (half){
            .t = t, .first = first + h * count, .count = count, .step = step, .objects = all};
    vd_status status = vd_parallel(HALVES, HALVES, train_half, s, NULL, NULL, NULL, err);
    if (status)
        return status;
    join_gradients(t);
    vd_adam_step(&t->adam, t->net, t->gradient, (vd_real)rate_at(t->options, step, steps));
    // Slow at the end, so that the statistics average many batches.
    for (int h = 0; h < HALVES; h++) {
        vd_convnet_absorb(t->net, t->pass[h], (vd_real)fmax(0.005, 1.0 / (double)(step + 2)));
        loss->heat += s[h].loss.heat;
        loss->box += s[h].loss.box;
        loss->place += s[h].loss.place;
        loss->attributes += s[h].loss.attributes;
    }
    *objects += all;
    return VD_OK;
}

// The focal loss makes scores small; the best threshold for them is moved to one half.
static vd_status calibrate(training *t, vd_error *err)
{
    const blocks_detector_options *o = t->options;
    int held_out = o->pictures < BLOCKS_DETECTOR_HELD_OUT ? o->pictures : BLOCKS_DETECTOR_HELD_OUT;
    vd_conv_pass *pass = NULL;
    double shift = 0;
    vd_status status = vd_conv_pass_new(t->folded, 1, false, &pass, err);
    if (!status)
        status = blocks_detector_calibrate(pass, o->seed, o->pictures, held_out, &shift, err);
    vd_conv_pass_free(pass);
    int last = t->folded->layers - 1;
    t->folded->param[t->folded->bias[last] + VD_DETECT_HEAT] += (vd_real)shift;
    return status;
}

static vd_status train_all(training *t, vd_error *err)
{
    enum { EVERY = 5 };
    const blocks_detector_options *o = t->options;
    int per_epoch = o->pictures / o->batch, objects = 0;
    long step = 0, steps = (long)per_epoch * o->epochs;
    blocks_detector_loss loss = {0};
    vd_status status = VD_OK;
    t->start = blocks_detector_seconds();
    for (int epoch = 0; epoch < o->epochs; epoch++) {
        shuffle(t->order, o->pictures, o->seed, epoch);
        for (int i = 0; i < per_epoch; i++) {
            status = train_step(t, i * o->batch, step++, steps, &loss, &objects, err);
            if (status)
                return status;
            if (o->stop && atomic_load(o->stop))
                return vd_error_set(err, VD_INTERRUPTED, "interrupted after step %ld", step);
            if (!t->report || step % EVERY)
                continue;
            t->report(t->user,
                      &(blocks_detector_progress){.stage = "training",
                                                  .done = (int)step,
                                                  .total = (int)steps,
                                                  .heat = loss.heat / objects,
                                                  .box = loss.box / objects,
                                                  .place = loss.place / objects,
                                                  .attributes = loss.attributes / objects,
                                                  .seconds = blocks_detector_seconds() - t->start});
            loss = (blocks_detector_loss){0};
            objects = 0;
        }
        vd_convnet_fold(t->net, t->folded);
        // The last one is written when it has been calibrated.
        if (epoch + 1 < o->epochs)
            status = vd_extractor_write(t->folded, NULL, o->out, err);
        if (status)
            return status;
    }
    return VD_OK;
}

static vd_status training_init(training *t, const blocks_detector_options *o, vd_error *err)
{
    *t = (training){.options = o};
    size_t pictures = (size_t)o->pictures;
    vd_status status;
    for (int i = 0; i < 2; i++) {
        status = vd_convnet_new(vd_detect_layer, vd_detect_layers, VD_DETECT_INPUTS,
                                VD_DETECT_WIDTH, VD_DETECT_HEIGHT, i ? &t->folded : &t->net, err);
        if (status)
            return status;
    }
    for (int h = 0; h < HALVES; h++) {
        status = vd_conv_pass_new(t->net, o->batch / HALVES, true, &t->pass[h], err);
        if (status)
            return status;
    }
    status = vd_adam_init(&t->adam, t->net, err);
    if (status)
        return status;
    t->scene = vd_alloc(pictures, sizeof *t->scene);
    t->rgb = vd_alloc(pictures, PICTURE_BYTES);
    t->order = vd_alloc(pictures, sizeof *t->order);
    t->gradient = vd_alloc(t->net->params, sizeof *t->gradient);
    if (!t->scene || !t->rgb || !t->order || !t->gradient)
        return vd_error_memory(err, "the pictures to train on (fewer pictures need less)");
    for (int i = 0; i < o->pictures; i++)
        t->order[i] = i;
    vd_rng rng = vd_rng_seed(o->seed, (uint64_t)STREAM_WEIGHTS << 56);
    vd_convnet_init(t->net, &rng);
    // Nearly every cell is empty: initialise the bias accordingly (Lin et al. 2017, section 3.3).
    t->net->param[t->net->bias[t->net->layers - 1] + VD_DETECT_HEAT] = (vd_real)-3;
    return VD_OK;
}

static void training_clear(training *t)
{
    vd_free(t->gradient);
    vd_free(t->order);
    vd_free(t->rgb);
    vd_free(t->scene);
    vd_adam_clear(&t->adam);
    for (int h = 0; h < HALVES; h++)
        vd_conv_pass_free(t->pass[h]);
    vd_convnet_free(t->folded);
    vd_convnet_free(t->net);
}

vd_status blocks_detector_train(const blocks_detector_options *options,
                                blocks_detector_report report, void *user, vd_error *err)
{
    const blocks_detector_options *o = options;
    if (o->batch < 2 || o->batch > 64 || o->batch % 2 || o->pictures < o->batch ||
        o->pictures > 1000000 || o->epochs < 1 || o->epochs > 10000 || !(o->rate > 0) || !o->out)
        return vd_error_set(err, VD_USAGE,
                            "cannot train with %d pictures, %d epochs, batch %d (expected an even "
                            "batch of 2 to 64, at least as many pictures, at least one epoch, a "
                            "positive rate and a file to write)",
                            o->pictures, o->epochs, o->batch);
    vd_status status = vd_output_try(o->out, err);
    if (status)
        return status;
    training t;
    status = training_init(&t, o, err);
    t.report = report;
    t.user = user;
    if (!status)
        status = render_pictures(&t, err);
    if (!status)
        status = train_all(&t, err);
    if (!status)
        status = calibrate(&t, err);
    if (!status)
        status = vd_extractor_write(t.folded, NULL, o->out, err);
    training_clear(&t);
    return status ? status : blocks_detector_learn_world(o, o->out, report, user, err);
}
