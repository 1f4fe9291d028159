#include "assets/blocks/detector.h"

#include <math.h>

#include "assets/blocks/detector_loss.h"
#include "assets/blocks/facts.h"
#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "features/extract/detect.h"

static const float confident = 0.5f, enough_overlap = 0.5f;

// The free object that the box (in pixels) overlaps most, and enough; -1 when there is none. It is
// not free afterwards.
static int claim(const blocks_scene *scene, const float *box, bool *taken, double *overlap)
{
    int best = -1;
    float most = enough_overlap;
    for (int o = 0; o < scene->count; o++) {
        const double *truth = scene->object[o].box;
        float other[4] = {(float)truth[0], (float)truth[1], (float)truth[2], (float)truth[3]};
        float both = vd_box_overlap(box, other);
        if (!taken[o] && both >= most) {
            best = o;
            most = both;
        }
    }
    if (best >= 0) {
        taken[best] = true;
        *overlap += (double)most;
    }
    return best;
}

// Which region is which object, the most confident region first: match[object] = region or -1.
// Returns the confident regions left over.
static int match_regions(const blocks_scene *scene, const vd_extraction *found, int *match,
                         double *overlap)
{
    bool taken[BLOCKS_MAX] = {false};
    int spurious = 0;
    for (int o = 0; o < scene->count; o++)
        match[o] = -1;
    for (int r = 0; r < found->count && found->confidence[r] >= confident; r++) {
        float box[4];
        for (int k = 0; k < 4; k++)
            box[k] = found->box[r][k] * (k % 2 ? BLOCKS_HEIGHT : BLOCKS_WIDTH);
        int object = claim(scene, box, taken, overlap);
        if (object >= 0)
            match[object] = r;
        else
            spurious++;
    }
    return spurious;
}

// ---- calibration --------------------------------------------------------------------------------

typedef struct claimed {
    float confidence;
    int right;
} claimed;

static int by_confidence(const void *a, const void *b)
{
    float x = ((const claimed *)a)->confidence, y = ((const claimed *)b)->confidence;
    return x < y ? 1 : x > y ? -1 : 0;
}

// The confidence above which precision and recall are best together (largest F1).
static double best_threshold(claimed *all, size_t count, int objects)
{
    qsort(all, count, sizeof *all, by_confidence);
    double best = -1, threshold = (double)confident;
    int right = 0;
    for (size_t i = 0; i < count; i++) {
        right += all[i].right;
        double f1 = 2.0 * right / ((double)(i + 1) + objects);
        float next = i + 1 < count ? all[i + 1].confidence : 0;
        if (f1 > best) {
            best = f1;
            threshold = ((double)all[i].confidence + (double)next) / 2;
        }
    }
    return fmin(0.95, fmax(0.05, threshold));
}

vd_status blocks_confidence_shift(vd_conv_pass *pass, uint64_t seed, int first, int count,
                                  double *shift, vd_error *err)
{
    enum { PIXELS = BLOCKS_WIDTH * BLOCKS_HEIGHT };
    const float weakest = 0.02f;
    size_t seen = 0;
    int objects = 0;
    uint8_t *rgb = vd_alloc(PIXELS, 3);
    claimed *all = vd_alloc((size_t)count * VD_EXTRACT_MAX, sizeof *all);
    vd_status status = rgb && all ? VD_OK : vd_error_memory(err, "a picture to calibrate on");
    for (int i = first; status == VD_OK && i < first + count; i++) {
        blocks_scene scene;
        vd_detection found[VD_EXTRACT_MAX];
        bool taken[BLOCKS_MAX] = {false};
        double overlap = 0;
        blocks_scene_make(seed, BLOCKS_TRAIN, i, &scene);
        blocks_render(&scene, rgb);
        vd_detect_input_bytes(rgb, pass->input);
        int regions = vd_detect_decode(vd_conv_forward(pass), weakest, VD_EXTRACT_MAX, found);
        for (int r = 0; r < regions; r++)
            all[seen++] =
                (claimed){found[r].confidence, claim(&scene, found[r].box, taken, &overlap) >= 0};
        objects += scene.count;
    }
    double threshold = status == VD_OK ? best_threshold(all, seen, objects) : 0.5;
    *shift = -log(threshold / (1 - threshold));
    vd_free(all);
    vd_free(rgb);
    return status;
}

// ---- evaluation ---------------------------------------------------------------------------------

// Adds to *right and *all.
static void count_relations(const blocks_scene *scene, const vd_extraction *found, const int *match,
                            int *right, int *all)
{
    for (int a = 0; a < scene->count; a++)
        for (int b = 0; b < scene->count; b++) {
            if (a == b || match[a] < 0 || match[b] < 0)
                continue;
            bool left = found->x[match[b]] - found->x[match[a]] > VD_EXTRACT_MARGIN;
            bool front = found->y[match[b]] - found->y[match[a]] > VD_EXTRACT_MARGIN;
            *all += 2;
            *right += (left == blocks_lies(scene, a, BLOCKS_LEFT, b)) +
                      (front == blocks_lies(scene, a, BLOCKS_FRONT, b));
        }
}

// Adds the picture to the sums in *sum; match: the region of each object, -1 for none.
static void count_picture(const blocks_scene *scene, const vd_extraction *found, int *match,
                          blocks_detector_scores *sum)
{
    sum->pictures++;
    sum->objects += scene->count;
    sum->regions += found->count;
    sum->doubted += found->distance > 1;
    sum->spurious += match_regions(scene, found, match, &sum->overlap);
    for (int o = 0; o < scene->count; o++) {
        int r = match[o];
        if (r < 0)
            continue;
        sum->found++;
        sum->color += found->color[r] == (int)scene->object[o].color;
        sum->shape += found->shape[r] == (int)scene->object[o].shape;
        sum->material += found->material[r] == (int)scene->object[o].material;
        sum->size += found->size[r] == (int)scene->object[o].size;
    }
}

vd_status blocks_detector_evaluate(vd_extractor *extractor, uint64_t seed, blocks_split split,
                                   int first, int count, blocks_detector_scores *out, vd_error *err)
{
    memset(out, 0, sizeof *out);
    if (first < 0 || count < 1)
        return vd_error_set(err, VD_USAGE, "cannot judge %d pictures (expected 1 or more)", count);
    vd_image image;
    vd_status status = vd_image_new(BLOCKS_WIDTH, BLOCKS_HEIGHT, &image, err);
    if (status)
        return status;
    int right = 0, relations = 0;
    for (int i = first; i < first + count && !status; i++) {
        blocks_scene scene;
        vd_extraction found;
        blocks_scene_make(seed, split, i, &scene);
        blocks_render(&scene, image.rgb);
        int match[BLOCKS_MAX];
        double start = vd_seconds();
        status = vd_extractor_run(extractor, &image, &found, NULL, err);
        out->seconds += vd_seconds() - start;
        if (status)
            break;
        count_picture(&scene, &found, match, out);
        count_relations(&scene, &found, match, &right, &relations);
    }
    vd_image_clear(&image);
    double n = out->found > 0 ? out->found : 1;
    out->overlap /= n;
    out->color /= n;
    out->shape /= n;
    out->material /= n;
    out->size /= n;
    out->relations = relations > 0 ? (double)right / relations : 1;
    return status;
}
