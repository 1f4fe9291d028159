#include "features/extract/detect.h"

#include <math.h>
#include <string.h>

#include "engine/base/elementary.h"
#include "features/pictures/resample.h"

const int vd_attribute_first[VD_ATTRIBUTE_KINDS] = {0, VD_COLORS, VD_COLORS + VD_SHAPES,
                                                    VD_COLORS + VD_SHAPES + VD_MATERIALS};
const int vd_attribute_count[VD_ATTRIBUTE_KINDS] = {VD_COLORS, VD_SHAPES, VD_MATERIALS, VD_SIZES};

enum { STEM, DOWN4, DOWN8, TRUNK1, TRUNK2, TRUNK3, TRUNK4, COARSE, FINE, MIX, HIDDEN, HEADS };

// The dilations let a cell see 190 pixels around it, more than the largest object; FINE brings back
// the resolution that the trunk gave up.
const vd_conv vd_detect_layer[] = {
    [STEM] = {"stem", VD_DETECT_INPUTS, 16, 3, 2, 1, VD_CONV_PICTURE, VD_CONV_NONE, true, true},
    [DOWN4] = {"down4", 16, 32, 3, 2, 1, STEM, VD_CONV_NONE, true, true},
    [DOWN8] = {"down8", 32, 64, 3, 2, 1, DOWN4, VD_CONV_NONE, true, true},
    [TRUNK1] = {"trunk1", 64, 64, 3, 1, 1, DOWN8, DOWN8, true, true},
    [TRUNK2] = {"trunk2", 64, 64, 3, 1, 2, TRUNK1, TRUNK1, true, true},
    [TRUNK3] = {"trunk3", 64, 64, 3, 1, 4, TRUNK2, TRUNK2, true, true},
    [TRUNK4] = {"trunk4", 64, 64, 3, 1, 1, TRUNK3, TRUNK3, true, true},
    [COARSE] = {"coarse", 64, 40, 1, 1, 1, TRUNK4, VD_CONV_NONE, true, false},
    [FINE] = {"fine", 32, 40, 1, 1, 1, DOWN4, COARSE, true, true},
    [MIX] = {"mix", 40, 40, 3, 1, 1, FINE, FINE, true, true},
    [HIDDEN] = {"hidden", 40, 64, 1, 1, 1, MIX, VD_CONV_NONE, true, true},
    [HEADS] = {"heads", 64, VD_DETECT_OUTPUTS, 1, 1, 1, HIDDEN, VD_CONV_NONE, false, false},
};
const int vd_detect_layers = sizeof vd_detect_layer / sizeof *vd_detect_layer;

// ---- picture -> input ---------------------------------------------------------------------------

static void put_pixel(vd_real *at, const float *rgb, int row)
{
    for (int c = 0; c < 3; c++)
        at[c] = (vd_real)(rgb[c] * (2 / 255.0f) - 1);
    at[3] = (vd_real)((row + 0.5f) * (2.0f / VD_DETECT_HEIGHT) - 1);
}

void vd_detect_input_bytes(const uint8_t *rgb, vd_real *input)
{
    for (int y = 0; y < VD_DETECT_HEIGHT; y++)
        for (int x = 0; x < VD_DETECT_WIDTH; x++, rgb += 3, input += VD_DETECT_INPUTS)
            put_pixel(input, (float[3]){rgb[0], rgb[1], rgb[2]}, y);
}

static void take_row(void *context, int y, const float *rgb)
{
    vd_real *input = (vd_real *)context + (size_t)y * VD_DETECT_WIDTH * VD_DETECT_INPUTS;
    for (int x = 0; x < VD_DETECT_WIDTH; x++, rgb += 3, input += VD_DETECT_INPUTS)
        put_pixel(input, rgb, y);
}

vd_status vd_detect_input(const vd_image *image, vd_real *input, vd_error *err)
{
    if (!image->rgb || image->width < 1 || image->height < 1)
        return vd_error_set(err, VD_FORMAT, "a picture of %dx%d pixels has no objects to find",
                            image->width, image->height);
    if (image->width == VD_DETECT_WIDTH && image->height == VD_DETECT_HEIGHT) {
        vd_detect_input_bytes(image->rgb, input);
        return VD_OK;
    }
    return vd_image_resample(image, VD_DETECT_WIDTH, VD_DETECT_HEIGHT, take_row, input, err);
}

// ---- output -> detections -----------------------------------------------------------------------

// Two peaks are one object when their boxes overlap more than this: the threshold is low when
// they also agree on what it is, high when they do not (a thing in front of another of its size).
static const float same_overlap = 0.45f, different_overlap = 0.8f;

enum { PEAKS = 256 };

typedef struct peak {
    vd_real heat;
    int cell;
} peak;

float vd_box_overlap(const float *a, const float *b)
{
    float w = fminf(a[2], b[2]) - fmaxf(a[0], b[0]);
    float h = fminf(a[3], b[3]) - fmaxf(a[1], b[1]);
    if (w <= 0 || h <= 0)
        return 0;
    float both = w * h;
    float all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both;
    return all > 0 ? both / all : 0;
}

static vd_real heat_at(const vd_real *output, int x, int y)
{
    if (x < 0 || y < 0 || x >= VD_DETECT_COLUMNS || y >= VD_DETECT_ROWS)
        return -(vd_real)INFINITY;
    return output[(size_t)(y * VD_DETECT_COLUMNS + x) * VD_DETECT_OUTPUTS + VD_DETECT_HEAT];
}

// The first of equal neighbours (in reading order) is the peak.
static int is_peak(const vd_real *output, int x, int y)
{
    vd_real here = heat_at(output, x, y);
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            vd_real there = heat_at(output, x + dx, y + dy);
            int before = dy < 0 || (dy == 0 && dx < 0);
            if (there > here || (before && there == here))
                return 0;
        }
    return !isnan(here);
}

// The strongest peaks, by falling heat. Equal ones stay in reading order.
static int find_peaks(const vd_real *output, peak *peaks)
{
    int count = 0;
    for (int y = 0; y < VD_DETECT_ROWS; y++)
        for (int x = 0; x < VD_DETECT_COLUMNS; x++) {
            vd_real heat = heat_at(output, x, y);
            if (!is_peak(output, x, y) || (count == PEAKS && heat <= peaks[count - 1].heat))
                continue;
            int at = count < PEAKS ? count++ : PEAKS - 1;
            for (; at > 0 && peaks[at - 1].heat < heat; at--)
                peaks[at] = peaks[at - 1];
            peaks[at] = (peak){heat, y * VD_DETECT_COLUMNS + x};
        }
    return count;
}

void vd_attribute_softmax(const vd_real *logits, int kind, float *p)
{
    const vd_real *logit = logits + vd_attribute_first[kind];
    int count = vd_attribute_count[kind];
    vd_real most = logit[0], sum = 0;
    p += vd_attribute_first[kind];
    for (int i = 1; i < count; i++)
        most = logit[i] > most ? logit[i] : most;
    for (int i = 0; i < count; i++) {
        p[i] = (float)vd_exp(logit[i] - most);
        sum += (vd_real)p[i];
    }
    for (int i = 0; i < count; i++)
        p[i] /= (float)sum;
}

static void read_cell(const vd_real *output, int cell, vd_detection *out)
{
    const vd_real *at = output + (size_t)cell * VD_DETECT_OUTPUTS;
    const vd_real *box = at + VD_DETECT_BOX;
    int row = cell / VD_DETECT_COLUMNS, column = cell % VD_DETECT_COLUMNS;
    float x = ((float)column + 0.5f) * VD_DETECT_STRIDE;
    float y = ((float)row + 0.5f) * VD_DETECT_STRIDE;
    out->confidence = (float)vd_sigmoid(at[VD_DETECT_HEAT]);
    out->box[0] = vd_between(x - (float)box[0] * VD_DETECT_UNIT, 0, VD_DETECT_WIDTH - 1);
    out->box[1] = vd_between(y - (float)box[1] * VD_DETECT_UNIT, 0, VD_DETECT_HEIGHT - 1);
    out->box[2] = vd_between(x + (float)box[2] * VD_DETECT_UNIT, out->box[0] + 1, VD_DETECT_WIDTH);
    out->box[3] = vd_between(y + (float)box[3] * VD_DETECT_UNIT, out->box[1] + 1, VD_DETECT_HEIGHT);
    const vd_real *place = at + VD_DETECT_PLACE;
    out->place[0] =
        vd_between(x + (float)place[0] * VD_DETECT_UNIT, -VD_DETECT_WIDTH, 2 * VD_DETECT_WIDTH);
    out->place[1] =
        vd_between(y + (float)place[1] * VD_DETECT_UNIT, -VD_DETECT_HEIGHT, 2 * VD_DETECT_HEIGHT);
    for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++)
        vd_attribute_softmax(at + VD_DETECT_ATTRIBUTES, k, out->p);
}

// How far two detections agree on colour and shape: the probability that both are the same.
static float agreement(const vd_detection *a, const vd_detection *b)
{
    float color = 0, shape = 0;
    for (int i = 0; i < VD_COLORS; i++)
        color += a->p[i] * b->p[i];
    for (int i = VD_COLORS; i < VD_COLORS + VD_SHAPES; i++)
        shape += a->p[i] * b->p[i];
    return color * shape;
}

int vd_detect_decode(const vd_real *output, float threshold, int max, vd_detection *found)
{
    peak peaks[PEAKS];
    int candidates = find_peaks(output, peaks), count = 0;
    for (int i = 0; i < candidates && count < max; i++) {
        vd_detection one;
        read_cell(output, peaks[i].cell, &one);
        if (count > 0 && one.confidence < threshold)
            break;
        bool again = false;
        for (int j = 0; j < count && !again; j++) {
            float limit = agreement(&one, &found[j]) > 0.5f ? same_overlap : different_overlap;
            again = vd_box_overlap(one.box, found[j].box) > limit;
        }
        if (!again)
            found[count++] = one;
    }
    if (count == 0 &&
        max > 0) { // nothing but NaN: the weights are unusable, the answer still sound
        read_cell(output, 0, &found[0]);
        found[0].confidence = 0;
        count = 1;
    }
    return count;
}
