#include "features/pictures/resample.h"

#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"

// One side's resampling: output i is the sum over k < tap[i].count of weight[i][k] *
// input[tap[i].first + k].
typedef struct resampling {
    struct {
        int first, count;
    } * tap;       // (outputs)
    float *weight; // (outputs, span)
    int span;
} resampling;

static void resampling_clear(resampling *r)
{
    vd_free(r->weight);
    vd_free(r->tap);
}

static vd_status resampling_init(resampling *r, int inputs, int outputs, vd_error *err)
{
    double ratio = (double)inputs / outputs;
    *r = (resampling){.span = (int)ceil(ratio) + 2};
    r->tap = vd_alloc((size_t)outputs, sizeof *r->tap);
    r->weight = vd_alloc((size_t)outputs * (size_t)r->span, sizeof *r->weight);
    if (!r->tap || !r->weight)
        return vd_error_memory(err, "the weights of a picture's resampling");
    for (int i = 0; i < outputs; i++) {
        float *weight = r->weight + (size_t)i * (size_t)r->span;
        // Shrinking: the overlap of [from, to) with each pixel. Growing: a tent one pixel wide.
        double from = ratio > 1 ? i * ratio : (i + 0.5) * ratio - 0.5;
        double to = ratio > 1 ? (i + 1) * ratio : from + 1;
        int low = (int)floor(from), high = ratio > 1 ? (int)ceil(to) : low + 2;
        int first = low < 0 ? 0 : low;
        double sum = 0;
        for (int j = low; j < high; j++) {
            double left = fmax(from, j), right = fmin(to, j + 1);
            double share = ratio > 1 ? right - left : 1 - fabs(from - j);
            int at = j < 0 ? 0 : j >= inputs ? inputs - 1 : j;
            if (share <= 0 || at - first >= r->span)
                continue;
            weight[at - first] += (float)share;
            sum += share;
            if (at - first >= r->tap[i].count)
                r->tap[i].count = at - first + 1;
        }
        r->tap[i].first = first;
        for (int k = 0; k < r->tap[i].count; k++)
            weight[k] /= (float)sum;
    }
    return VD_OK;
}

// One row of the result from `line`, the picture's rows already weighted together.
static void resample_row(const resampling *across, const float *line, int width, float *rgb)
{
    memset(rgb, 0, (size_t)width * 3 * sizeof *rgb);
    for (int x = 0; x < width; x++, rgb += 3) {
        const float *weight = across->weight + (size_t)x * (size_t)across->span;
        for (int k = 0; k < across->tap[x].count; k++)
            for (int c = 0; c < 3; c++)
                rgb[c] += weight[k] * line[(size_t)(across->tap[x].first + k) * 3 + (size_t)c];
    }
}

// Row y of the result's height from the picture's rows.
static void weigh_rows(const vd_image *image, const resampling *down, int y, float *line)
{
    size_t row_size = (size_t)image->width * 3;
    memset(line, 0, row_size * sizeof *line);
    for (int k = 0; k < down->tap[y].count; k++) {
        float weight = down->weight[(size_t)y * (size_t)down->span + (size_t)k];
        const uint8_t *row = image->rgb + (size_t)(down->tap[y].first + k) * row_size;
        for (size_t i = 0; i < row_size; i++)
            line[i] += weight * row[i];
    }
}

vd_status vd_image_resample(const vd_image *image, int width, int height, vd_take_row *take,
                            void *context, vd_error *err)
{
    if (!image->rgb || image->width < 1 || image->height < 1)
        return vd_error_set(err, VD_FORMAT, "a picture of %dx%d pixels", image->width,
                            image->height);
    resampling across = {0}, down = {0};
    float *line = vd_alloc((size_t)image->width * 3, sizeof *line);
    float *rgb = vd_alloc((size_t)width * 3, sizeof *rgb);
    vd_status status = line && rgb ? VD_OK : vd_error_memory(err, "a row of a picture");
    if (!status)
        status = resampling_init(&across, image->width, width, err);
    if (!status)
        status = resampling_init(&down, image->height, height, err);
    for (int y = 0; !status && y < height; y++) {
        weigh_rows(image, &down, y, line);
        resample_row(&across, line, width, rgb);
        take(context, y, rgb);
    }
    vd_free(rgb);
    vd_free(line);
    resampling_clear(&down);
    resampling_clear(&across);
    return status;
}

static void take_row(void *context, int y, const float *rgb)
{
    const vd_image *to = context;
    uint8_t *out = to->rgb + (size_t)y * (size_t)to->width * 3;
    for (int i = 0; i < to->width * 3; i++)
        out[i] = (uint8_t)(rgb[i] + 0.5f);
}

vd_status vd_image_scale(const vd_image *image, int width, int height, vd_image *out, vd_error *err)
{
    vd_status status = vd_image_new(width, height, out, err);
    if (!status)
        status = vd_image_resample(image, width, height, take_row, out, err);
    if (status)
        vd_image_clear(out);
    return status;
}
