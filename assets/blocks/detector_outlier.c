// Fits the extractor's test for pictures unlike Blocks (features/extract/outlier.h), to pictures
// that it was not trained on.
#include "assets/blocks/detector.h"

#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "features/extract/extractor.h"

enum { PICTURE_BYTES = BLOCKS_WIDTH * BLOCKS_HEIGHT * 3, MOST_PICTURES = 1000 };

typedef struct outlier_fit {
    const blocks_detector_options *options;
    int count;
    uint8_t *rgb;         // (count, PICTURE_BYTES)
    vd_extraction *found; // (count)
    double *table;        // (rows, columns, 4) sums of the background
    double *features;     // (count, VD_OUTLIER_FEATURES)
} outlier_fit;

static vd_outlier_picture picture_of(const vd_extractor *extractor, const vd_extraction *found)
{
    return (vd_outlier_picture){extractor->pass->input, (const float(*)[4])found->box,
                                found->confidence, found->count};
}

static vd_status extract_regions(const outlier_fit *l, vd_extractor *extractor, int index,
                                 vd_error *err)
{
    blocks_scene scene;
    vd_extraction *found = &l->found[index];
    vd_image image = {BLOCKS_WIDTH, BLOCKS_HEIGHT, l->rgb + (size_t)index * PICTURE_BYTES};
    int past = l->options->pictures + BLOCKS_DETECTOR_HELD_OUT;
    blocks_scene_make(l->options->seed, BLOCKS_TRAIN, past + index, &scene);
    blocks_render(&scene, image.rgb);
    vd_status status = vd_extractor_run(extractor, &image, found, NULL, err);
    const vd_outlier_picture picture = picture_of(extractor, found);
    return status ? status : vd_outlier_add_table(&picture, l->table, err);
}

// Cells that no picture shows keep the brightness of the others.
static void average_table(const double *sums, vd_outlier *outlier)
{
    enum { CELLS = VD_OUTLIER_TABLE / 3 };
    double all[4] = {0};
    for (int i = 0; i < CELLS * 4; i++)
        all[i % 4] += sums[i];
    for (int cell = 0; cell < CELLS; cell++)
        for (int c = 0; c < 3; c++) {
            const double *of = sums[cell * 4 + 3] > 0 ? sums + (size_t)cell * 4 : all;
            outlier->table[cell * 3 + c] = (float)(of[3] > 0 ? of[c] / of[3] : 0);
        }
}

static vd_status fit_outlier(const outlier_fit *l, vd_extractor *extractor,
                             blocks_detector_report report, void *user, vd_error *err)
{
    vd_status status = VD_OK;
    double start = vd_seconds();
    for (int i = 0; i < l->count && !status; i++) {
        status = extract_regions(l, extractor, i, err);
        if (!status && l->options->stop && atomic_load(l->options->stop))
            status = vd_error_set(err, VD_INTERRUPTED, "interrupted after %d pictures", i + 1);
        if (report)
            report(user, &(blocks_detector_progress){.stage = "calibrating",
                                                     .done = i + 1,
                                                     .total = l->count,
                                                     .seconds = vd_seconds() - start});
    }
    average_table(l->table, &extractor->outlier);
    for (int i = 0; i < l->count && !status; i++) {
        vd_detect_input_bytes(l->rgb + (size_t)i * PICTURE_BYTES, extractor->pass->input);
        const vd_outlier_picture picture = picture_of(extractor, &l->found[i]);
        status = vd_outlier_features(&extractor->outlier, &picture,
                                     l->features + (size_t)i * VD_OUTLIER_FEATURES, err);
    }
    return status ? status : vd_outlier_fit(&extractor->outlier, l->features, l->count, err);
}

vd_status blocks_detector_fit_outlier(const blocks_detector_options *options, const char *from,
                                      blocks_detector_report report, void *user, vd_error *err)
{
    outlier_fit l = {.options = options};
    vd_extractor *extractor;
    vd_status status = vd_extractor_load(from, &extractor, err);
    if (status)
        return status;
    l.count = options->pictures < MOST_PICTURES ? options->pictures : MOST_PICTURES;
    l.rgb = vd_alloc((size_t)l.count, PICTURE_BYTES);
    l.found = vd_alloc((size_t)l.count, sizeof *l.found);
    l.features = vd_alloc((size_t)l.count, VD_OUTLIER_FEATURES * sizeof *l.features);
    l.table = vd_alloc(VD_OUTLIER_TABLE / 3, 4 * sizeof *l.table);
    if (!l.rgb || !l.found || !l.features || !l.table)
        status = vd_error_memory(err, "the pictures to fit the outlier test");
    if (!status)
        status = fit_outlier(&l, extractor, report, user, err);
    if (!status)
        status = vd_extractor_write(extractor->net, extractor->classifier, &extractor->outlier,
                                    options->out, err);
    vd_free(l.table);
    vd_free(l.features);
    vd_free(l.found);
    vd_free(l.rgb);
    vd_extractor_free(extractor);
    return status;
}
