#include "features/extract/extract.h"

#include <math.h>
#include <string.h>

#include "features/extract/extractor.h"

static const float keep_above = 0.4f, confident = 0.5f;
// Confidences below this are set to 0. The network divides every channel by its norm over the
// regions, which makes 0.001 of an attribute that no region has as large as 1 of one that a region
// has.
static const float doubt = 0.1f;

// ---- places -------------------------------------------------------------------------------------

// The usual camera of the world, which pictures' cameras are jittered around: behind the table's
// front edge, looking along its depth and down at `aim` above its middle.
static const float camera_back = 9.4f, camera_height = 6.2f, aim = 0.1f, half_view = 0.34f;

// The table as far as things stand on it: +-half_width as seen, front edge, depth.
static const float half_width = 3.8f, front = -3.3f, depth = 6.8f;

// A relation fades in over this around its margin, because places are read from pixels.
static const float softness = 0.03f;

void vd_extract_place(const vd_detection *found, float *x, float *y)
{
    float focal = VD_DETECT_HEIGHT / 2.0f / tanf(half_view);
    float away = hypotf(camera_back, camera_height);
    float drop = camera_height - aim, length = hypotf(camera_back, drop);
    float along = camera_back / length, down = drop / length;
    float tilt = (found->place[1] - VD_DETECT_HEIGHT / 2.0f) / focal;
    // The ray through the pixel, scaled so that it falls by the camera's height.
    float falls = fmaxf(0.05f, down + tilt * along), goes = along - tilt * down;
    *x = (found->place[0] - VD_DETECT_WIDTH / 2.0f) * away / focal;
    *y = goes * camera_height / falls - camera_back;
}

// ---- features -----------------------------------------------------------------------------------

enum { NO_KIND = VD_ATTRIBUTE_KINDS };

// What the regions of a picture are to each other.
typedef struct context {
    int count;
    const vd_detection *found;
    float x[VD_EXTRACT_MAX], y[VD_EXTRACT_MAX];
    float weight[VD_EXTRACT_MAX];                                   // how far a region counts
    int value[VD_ATTRIBUTE_KINDS + 1][VD_EXTRACT_MAX];              // likeliest; NO_KIND: 0
    float is[VD_DIRECTIONS][VD_EXTRACT_MAX][VD_EXTRACT_MAX];        // [d][i][j]: j is d of i
    float same[VD_ATTRIBUTE_KINDS][VD_EXTRACT_MAX][VD_EXTRACT_MAX]; // i and j agree
} context;

static float fade(float by)
{
    return 1 / (1 + expf(-vd_between((by - VD_EXTRACT_MARGIN) / softness, -60, 60)));
}

static void relate(context *c)
{
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->count; j++) {
            if (i == j)
                continue;
            c->is[VD_LEFT][i][j] = fade(c->x[i] - c->x[j]);
            c->is[VD_RIGHT][i][j] = fade(c->x[j] - c->x[i]);
            c->is[VD_FRONT][i][j] = fade(c->y[i] - c->y[j]);
            c->is[VD_BEHIND][i][j] = fade(c->y[j] - c->y[i]);
            for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++) {
                const float *a = c->found[i].p + vd_attribute_first[k];
                const float *b = c->found[j].p + vd_attribute_first[k];
                float sum = 0;
                for (int v = 0; v < vd_attribute_count[k]; v++)
                    sum += a[v] * b[v];
                c->same[k][i][j] = vd_between(sum, 0, 1);
            }
        }
}

static void put_attributes(const context *c, int region, float *out)
{
    for (int a = 0; a < VD_ATTRIBUTES; a++)
        out[a] = c->weight[region] * c->found[region].p[a];
}

static float *put_pairs(const context *c, int region, int first, int second, float *out)
{
    const float *a = c->found[region].p + vd_attribute_first[first];
    const float *b = c->found[region].p + vd_attribute_first[second];
    for (int i = 0; i < vd_attribute_count[first]; i++)
        for (int j = 0; j < vd_attribute_count[second]; j++)
            *out++ = c->weight[region] * a[i] * b[j];
    return out;
}

static void put_kind(const context *c, int region, float *feature)
{
    put_attributes(c, region, feature + VD_FEATURE_ATTRIBUTES);
    float *out = feature + VD_FEATURE_COLOR_SHAPE;
    for (int first = 0; first < VD_ATTRIBUTE_KINDS; first++)
        for (int second = first + 1; second < VD_ATTRIBUTE_KINDS; second++)
            out = put_pairs(c, region, first, second, out);
}

static void put_position(const context *c, int region, float *feature)
{
    const float *box = c->found[region].box;
    float right = vd_between(0.5f + 0.5f * c->x[region] / half_width, 0, 1);
    float far = vd_between((c->y[region] - front) / depth, 0, 1);
    float off = c->x[region] * c->x[region] + c->y[region] * c->y[region];
    float *out = feature + VD_FEATURE_POSITION;
    out[0] = right;
    out[1] = 1 - right;
    out[2] = 1 - far;
    out[3] = far;
    out[4] = vd_between((box[2] - box[0]) / VD_DETECT_WIDTH, 0, 1);
    out[5] = vd_between((box[3] - box[1]) / VD_DETECT_HEIGHT, 0, 1);
    feature[VD_FEATURE_ONE] = 1;
    feature[VD_FEATURE_CONFIDENCE] = vd_between(c->found[region].confidence, 0, 1);
    feature[VD_FEATURE_MIDDLE] = expf(-off / (2 * 1.5f * 1.5f));
}

static float box_area(const vd_detection *d)
{
    return (d->box[2] - d->box[0]) * (d->box[3] - d->box[1]);
}

// Flags on whichever regions lead; a doubtful region leads only where no confident one is.
static void put_extremes(const context *c, float *features)
{
    int leader[6];
    float most[6];
    for (int k = 0; k < 6; k++)
        leader[k] = -1;
    bool any = c->found[0].confidence >= confident; // regions come by confidence
    for (int i = 0; i < c->count; i++) {
        if (any && c->found[i].confidence < confident)
            continue;
        float area = box_area(&c->found[i]);
        float value[6] = {-c->x[i], c->x[i], -c->y[i], c->y[i], area, -area};
        for (int k = 0; k < 6; k++)
            if (leader[k] < 0 || value[k] > most[k]) {
                leader[k] = i;
                most[k] = value[k];
            }
    }
    for (int k = 0; k < 6; k++)
        if (leader[k] >= 0)
            features[(size_t)leader[k] * VD_FEATURE_SIZE + VD_FEATURE_EXTREME + (size_t)k] = 1;
}

// Squared, on the table; what is seen across is spread with the distance.
static float distance(const context *c, int i, int j)
{
    float back = camera_back + camera_height * camera_height / camera_back;
    float dx = c->x[i] * (1 + c->y[i] / back) - c->x[j] * (1 + c->y[j] / back);
    float dy = c->y[i] - c->y[j];
    return dx * dx + dy * dy;
}

// The nearest of the others, or of those in a direction (is != NULL); -1 when there is none.
static int nearest(const context *c, int region, const float *is)
{
    int best = -1;
    for (int j = 0; j < c->count; j++) {
        if (j == region || c->found[j].confidence < confident || (is && is[j] < 0.5f))
            continue;
        if (best < 0 || distance(c, region, j) < distance(c, region, best))
            best = j;
    }
    return best;
}

static void put_direction(const context *c, int region, vd_direction d, float others,
                          float *feature)
{
    const float *is = c->is[d][region];
    float *near = feature + VD_FEATURE_NEAREST + d * VD_ATTRIBUTES;
    float *any = feature + VD_FEATURE_ANY + d * VD_ATTRIBUTES;
    int best = nearest(c, region, is);
    if (best >= 0)
        put_attributes(c, best, near);
    float share = 0;
    for (int j = 0; j < c->count; j++) {
        if (j == region)
            continue;
        float counts = c->weight[j] * is[j];
        share += counts;
        for (int a = 0; a < VD_ATTRIBUTES; a++)
            any[a] = fmaxf(any[a], counts * c->found[j].p[a]);
    }
    feature[VD_FEATURE_SHARE + d] = others > 0 ? vd_between(share / others, 0, 1) : 0;
}

static void put_likeness(const context *c, int region, float others, float *feature)
{
    float *same = feature + VD_FEATURE_SAME, *unique = feature + VD_FEATURE_UNIQUE;
    for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++)
        unique[k] = c->weight[region];
    for (int j = 0; j < c->count; j++) {
        if (j == region)
            continue;
        for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++) {
            float agree = c->weight[j] * c->same[k][region][j];
            same[k] += agree;
            unique[k] *= 1 - agree;
        }
        same[VD_ATTRIBUTE_KINDS] += c->weight[j] * c->same[0][region][j] * c->same[1][region][j];
    }
    for (int k = 0; k <= VD_ATTRIBUTE_KINDS; k++)
        same[k] = others > 0 ? vd_between(same[k] / others, 0, 1) : 0;
}

// ---- counts -------------------------------------------------------------------------------------

static int likeliest(const vd_detection *found, int kind)
{
    const float *p = found->p + vd_attribute_first[kind];
    int best = 0;
    for (int v = 1; v < vd_attribute_count[kind]; v++)
        best = p[v] > p[best] ? v : best;
    return best;
}

// Does region j count among those of region i's kind? Doubtful ones count only for themselves.
static bool is_alike(const context *c, int i, int j, int first, int second)
{
    if (i != j && c->found[j].confidence < confident)
        return false;
    return c->value[first][i] == c->value[first][j] && c->value[second][i] == c->value[second][j];
}

static void put_count(const context *c, int region, int first, int second, float *out)
{
    int n = 0;
    for (int j = 0; j < c->count; j++)
        n += is_alike(c, region, j, first, second);
    out[n < VD_COUNTED ? n - 1 : VD_COUNTED - 1] = c->weight[region];
}

static void put_counts(const context *c, int region, float *feature)
{
    float *out = feature + VD_FEATURE_COUNT;
    for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++, out += VD_COUNTED)
        put_count(c, region, k, k, out);
    for (int first = 0; first < VD_ATTRIBUTE_KINDS; first++)
        for (int second = first + 1; second < VD_ATTRIBUTE_KINDS; second++, out += VD_COUNTED)
            put_count(c, region, first, second, out);
    put_count(c, region, NO_KIND, NO_KIND, out);
}

static void put_agreement(const context *c, int region, float *feature)
{
    float *out = feature + VD_FEATURE_ALIKE;
    for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++)
        for (int other = 0; other < VD_ATTRIBUTE_KINDS; other++) {
            if (other == k)
                continue;
            bool all = true;
            for (int j = 0; j < c->count; j++)
                all &= !is_alike(c, region, j, k, k) || is_alike(c, region, j, k, other);
            *out++ = all ? c->weight[region] : 0;
        }
}

// Everywhere but in the numbers of the box and its place.
static void drop_doubt(float *feature)
{
    for (int i = 0; i < VD_FEATURE_SIZE; i++)
        if (feature[i] < doubt && (i < VD_FEATURE_POSITION || i >= VD_FEATURE_SHARE))
            feature[i] = 0;
}

void vd_extract_features(const vd_detection *found, int count, float *features)
{
    context c = {.count = count < VD_EXTRACT_MAX ? count : VD_EXTRACT_MAX, .found = found};
    if (c.count < 1)
        return;
    memset(features, 0, (size_t)c.count * VD_FEATURE_SIZE * sizeof *features);
    float all = 0;
    for (int i = 0; i < c.count; i++) {
        vd_extract_place(&found[i], &c.x[i], &c.y[i]);
        c.weight[i] = vd_between(found[i].confidence / confident, 0, 1);
        for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++)
            c.value[k][i] = likeliest(&found[i], k);
        all += c.weight[i];
    }
    relate(&c);
    for (int i = 0; i < c.count; i++) {
        float *feature = features + (size_t)i * VD_FEATURE_SIZE;
        float others = all - c.weight[i];
        put_kind(&c, i, feature);
        put_position(&c, i, feature);
        for (int d = 0; d < VD_DIRECTIONS; d++)
            put_direction(&c, i, (vd_direction)d, others, feature);
        int closest = nearest(&c, i, NULL);
        if (closest >= 0)
            put_attributes(&c, closest, feature + VD_FEATURE_CLOSEST);
        put_likeness(&c, i, others, feature);
        put_counts(&c, i, feature);
        put_agreement(&c, i, feature);
    }
    put_extremes(&c, features);
    for (int i = 0; i < c.count; i++)
        drop_doubt(features + (size_t)i * VD_FEATURE_SIZE);
}

// ---- run ----------------------------------------------------------------------------------------

// How far the picture is from those of the world.
static vd_status measure_distance(const vd_extractor *extractor, vd_extraction *out, vd_error *err)
{
    const vd_outlier *outlier = &extractor->outlier;
    const vd_outlier_picture picture = {extractor->pass->input, (const float(*)[4])out->box,
                                        out->confidence, out->count};
    double features[VD_OUTLIER_FEATURES];
    vd_status status =
        outlier->known ? vd_outlier_features(outlier, &picture, features, err) : VD_OK;
    if (outlier->known && !status)
        out->distance = (float)vd_outlier_distance(outlier, features);
    return status;
}

// What each region is, from close by.
static void classify(vd_extractor *extractor, vd_detection *found, int count)
{
    for (int i = 0; i < count && extractor->classifier; i++) {
        vd_real *crop = extractor->near->input;
        vd_classify_crop(extractor->pass->input, found[i].box, crop);
        vd_classify_mirror(crop, crop + VD_CLASSIFY_CROP);
        vd_classify_read(vd_conv_forward(extractor->near), found[i].p);
    }
}

vd_status vd_extractor_run(vd_extractor *extractor, const vd_image *image, vd_extraction *out,
                           float *features, vd_error *err)
{
    memset(out, 0, sizeof *out);
    vd_status status = vd_detect_input(image, extractor->pass->input, err);
    if (status)
        return status;
    vd_detection found[VD_EXTRACT_MAX];
    const vd_real *output = vd_conv_forward(extractor->pass);
    out->count = vd_detect_decode(output, keep_above, VD_EXTRACT_MAX, found);
    classify(extractor, found, out->count);
    for (int i = 0; i < out->count; i++) {
        const vd_detection *f = &found[i];
        for (int k = 0; k < 4; k++)
            out->box[i][k] = f->box[k] / (k % 2 ? VD_DETECT_HEIGHT : VD_DETECT_WIDTH);
        out->confidence[i] = f->confidence;
        out->color[i] = likeliest(f, 0);
        out->shape[i] = likeliest(f, 1);
        out->material[i] = likeliest(f, 2);
        out->size[i] = likeliest(f, 3);
        vd_extract_place(f, &out->x[i], &out->y[i]);
    }
    if (features) {
        memset(features, 0, (size_t)VD_EXTRACT_MAX * VD_FEATURE_SIZE * sizeof *features);
        vd_extract_features(found, out->count, features);
    }
    return measure_distance(extractor, out, err);
}
