#include "assets/blocks/detector.h"

#include "assets/blocks/detector_trainer.h"
#include "engine/base/file.h"
#include "features/extract/extractor.h"

_Static_assert((int)BLOCKS_WIDTH == (int)VD_DETECT_WIDTH &&
                   (int)BLOCKS_HEIGHT == (int)VD_DETECT_HEIGHT,
               "the detector sees pictures as they are rendered");
_Static_assert((int)BLOCKS_COLORS == (int)VD_COLORS && (int)BLOCKS_SHAPES == (int)VD_SHAPES &&
                   (int)BLOCKS_MATERIALS == (int)VD_MATERIALS && (int)BLOCKS_SIZES == (int)VD_SIZES,
               "the detector names what the world has");

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

// ---- the detector -------------------------------------------------------------------------------

// Nearly every cell is empty: initialise the bias accordingly (Lin et al. 2017, section 3.3).
static void expect_empty(vd_convnet *net)
{
    net->param[net->bias[net->layers - 1] + VD_DETECT_HEAT] = (vd_real)-3;
}

static void detector_loss(blocks_micro_batch *batch, const vd_real *output, double scale,
                          vd_real *gradient)
{
    enum { OUTPUTS = VD_DETECT_ROWS * VD_DETECT_COLUMNS * VD_DETECT_OUTPUTS };
    for (int i = 0; i < batch->count; i++)
        blocks_detection_loss(output + (size_t)i * OUTPUTS, batch->target[i], batch->targets[i],
                              scale, gradient + (size_t)i * OUTPUTS, &batch->loss);
}

static vd_status save_detector(const blocks_trainer *t, vd_error *err)
{
    return vd_extractor_write(t->folded, NULL, NULL, t->options->out, err);
}

const blocks_task blocks_task_detector = {
    .stage = "training",
    .layer = vd_detect_layer,
    .layers = &vd_detect_layers,
    .channels = VD_DETECT_INPUTS,
    .width = VD_DETECT_WIDTH,
    .height = VD_DETECT_HEIGHT,
    .init = expect_empty,
    .loss = detector_loss,
    .save = save_detector,
};

// The focal loss makes scores small; the best threshold for them is moved to one half.
vd_status blocks_trainer_calibrate(blocks_trainer *t, vd_error *err)
{
    const blocks_detector_options *o = t->options;
    int held_out = o->pictures < BLOCKS_DETECTOR_HELD_OUT ? o->pictures : BLOCKS_DETECTOR_HELD_OUT;
    vd_conv_pass *pass = NULL;
    double shift = 0;
    vd_status status = vd_conv_pass_new(t->folded, 1, false, &pass, err);
    if (!status)
        status = blocks_confidence_shift(pass, o->seed, o->pictures, held_out, &shift, err);
    vd_conv_pass_free(pass);
    int last = t->folded->layers - 1;
    t->folded->param[t->folded->bias[last] + VD_DETECT_HEAT] += (vd_real)shift;
    return status ? status : vd_extractor_write(t->folded, NULL, NULL, o->out, err);
}

// ---- the classifier of regions ------------------------------------------------------------------

enum { CROPS = 8 };

// A box as the detector may find it: each side a little off.
static void find_box(const detector_target *target, vd_rng *rng, float *box)
{
    const double off = 0.04, *truth = target->box;
    for (int k = 0; k < 4; k++) {
        double length = k % 2 ? truth[3] - truth[1] : truth[2] - truth[0];
        box[k] = (float)(truth[k] + off * length * vd_rng_normal(rng));
    }
}

// CROPS of every picture, its objects in turn.
static void take_crops(const blocks_micro_batch *batch, int i, vd_rng *rng)
{
    vd_real *crop = batch->pass->input + (size_t)i * CROPS * VD_CLASSIFY_CROP;
    for (int k = 0; k < CROPS; k++, crop += VD_CLASSIFY_CROP) {
        float box[4] = {0, 0, 1, 1};
        if (batch->targets[i])
            find_box(&batch->target[i][k % batch->targets[i]], rng, box);
        vd_classify_crop(batch->picture, box, crop);
    }
}

static void classifier_loss(blocks_micro_batch *batch, const vd_real *output, double scale,
                            vd_real *gradient)
{
    enum { SIZE = VD_CLASSIFY_OUTPUTS };
    memset(gradient, 0, (size_t)batch->count * CROPS * SIZE * sizeof *gradient);
    for (int i = 0; i < batch->count; i++)
        for (int k = 0; k < CROPS; k++, output += SIZE, gradient += SIZE)
            if (batch->targets[i])
                blocks_attribute_loss(output, batch->target[i][k % batch->targets[i]].attribute,
                                      VD_CLASSIFY_KINDS, 1, scale, gradient, &batch->loss);
}

const blocks_task blocks_task_classifier = {
    .stage = "classifier",
    .layer = vd_classify_layer,
    .layers = &vd_classify_layers,
    .channels = VD_CLASSIFY_INPUTS,
    .width = VD_CLASSIFY_SIDE,
    .height = VD_CLASSIFY_SIDE,
    .crops = CROPS,
    .crop = take_crops,
    .loss = classifier_loss,
};

// Beside the detector in the file `from`.
static vd_status add_classifier(blocks_trainer *t, const char *from, vd_error *err)
{
    vd_extractor *extractor = NULL;
    vd_status status = vd_extractor_load(from, &extractor, err);
    if (!status)
        status = blocks_trainer_begin(t, &blocks_task_classifier, err);
    if (!status)
        status = blocks_trainer_run(t, err);
    if (!status)
        status = vd_extractor_write(extractor->net, t->folded, NULL, t->options->out, err);
    vd_extractor_free(extractor);
    return status;
}

// ---- training -----------------------------------------------------------------------------------

vd_status blocks_detector_train(const blocks_detector_options *options, const char *from,
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
    blocks_trainer t;
    status = blocks_trainer_new(&t, o, report, user, err);
    if (!status && !from)
        status = blocks_trainer_begin(&t, &blocks_task_detector, err);
    if (!status && !from)
        status = blocks_trainer_run(&t, err);
    if (!status && !from)
        status = blocks_trainer_calibrate(&t, err);
    if (!status)
        status = add_classifier(&t, from ? from : o->out, err);
    blocks_trainer_clear(&t);
    return status ? status : blocks_detector_fit_outlier(o, o->out, report, user, err);
}
