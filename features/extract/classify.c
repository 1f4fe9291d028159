#include "features/extract/classify.h"

#include <math.h>
#include <string.h>

enum { STEM, DOWN16, SAME16, DOWN8, SAME8, DOWN4, SAME4, DOWN2, HEADS };

const vd_conv vd_classify_layer[] = {
    [STEM] = {"near.stem", VD_CLASSIFY_INPUTS, 24, 3, 1, 1, VD_CONV_PICTURE, VD_CONV_NONE, true,
              true},
    [DOWN16] = {"near.down16", 24, 48, 3, 2, 1, STEM, VD_CONV_NONE, true, true},
    [SAME16] = {"near.same16", 48, 48, 3, 1, 1, DOWN16, DOWN16, true, true},
    [DOWN8] = {"near.down8", 48, 64, 3, 2, 1, SAME16, VD_CONV_NONE, true, true},
    [SAME8] = {"near.same8", 64, 64, 3, 1, 1, DOWN8, DOWN8, true, true},
    [DOWN4] = {"near.down4", 64, 96, 3, 2, 1, SAME8, VD_CONV_NONE, true, true},
    [SAME4] = {"near.same4", 96, 96, 3, 1, 1, DOWN4, DOWN4, true, true},
    [DOWN2] = {"near.down2", 96, 128, 3, 2, 1, SAME4, VD_CONV_NONE, true, true},
    [HEADS] = {"near.heads", 128, VD_CLASSIFY_OUTPUTS, 3, 2, 1, DOWN2, VD_CONV_NONE, false, false},
};
const int vd_classify_layers = sizeof vd_classify_layer / sizeof *vd_classify_layer;

static const float wider = 1.35f;

// A coordinate along one side of the picture: between pixels `first` and first + 1.
typedef struct sample {
    int first;
    float share; // of the second
} sample;

static sample sample_at(float at, int pixels)
{
    float inside = vd_between(at, 0, (float)(pixels - 1));
    int first = (int)inside;
    first = first < pixels - 1 ? first : pixels - 2;
    return (sample){first, inside - (float)first};
}

void vd_classify_crop(const vd_real *input, const float *box, vd_real *crop)
{
    enum { ROW = VD_DETECT_WIDTH * VD_DETECT_INPUTS };
    float side = wider * fmaxf(box[2] - box[0], box[3] - box[1]);
    float left = (box[0] + box[2] - side) / 2, top = (box[1] + box[3] - side) / 2;
    float step = side / VD_CLASSIFY_SIDE;
    for (int y = 0; y < VD_CLASSIFY_SIDE; y++)
        for (int x = 0; x < VD_CLASSIFY_SIDE; x++, crop += VD_CLASSIFY_INPUTS) {
            float px = left + ((float)x + 0.5f) * step, py = top + ((float)y + 0.5f) * step;
            sample across = sample_at(px - 0.5f, VD_DETECT_WIDTH);
            sample down = sample_at(py - 0.5f, VD_DETECT_HEIGHT);
            const vd_real *above =
                input + (size_t)down.first * ROW + (size_t)across.first * VD_DETECT_INPUTS;
            for (int c = 0; c < 3; c++) {
                const vd_real *a = above + c, *b = a + ROW;
                vd_real high = a[0] + (vd_real)across.share * (a[VD_DETECT_INPUTS] - a[0]);
                vd_real low = b[0] + (vd_real)across.share * (b[VD_DETECT_INPUTS] - b[0]);
                crop[c] = high + (vd_real)down.share * (low - high);
            }
            bool inside = px >= box[0] && px < box[2] && py >= box[1] && py < box[3];
            crop[3] = inside ? 1 : -1;
        }
}

void vd_classify_mirror(const vd_real *crop, vd_real *mirrored)
{
    enum { PIXEL = VD_CLASSIFY_INPUTS * sizeof *crop };
    // Of a power of two, x ^ (SIDE - 1) is SIDE - 1 - x; the row stays.
    for (int i = 0; i < VD_CLASSIFY_SIDE * VD_CLASSIFY_SIDE; i++)
        memcpy(mirrored + (size_t)(i ^ (VD_CLASSIFY_SIDE - 1)) * VD_CLASSIFY_INPUTS,
               crop + (size_t)i * VD_CLASSIFY_INPUTS, PIXEL);
}

void vd_classify_read(const vd_real *output, float p[VD_ATTRIBUTES])
{
    const double of_detector = 0.4, least = 1e-12;
    const vd_real *mirrored = output + VD_CLASSIFY_OUTPUTS;
    vd_real mean[VD_CLASSIFY_OUTPUTS];
    for (int i = 0; i < VD_CLASSIFY_OUTPUTS; i++)
        mean[i] =
            (output[i] + mirrored[i]) / 2 + (vd_real)(of_detector * log(fmax((double)p[i], least)));
    for (int k = 0; k < VD_CLASSIFY_KINDS; k++)
        vd_attribute_softmax(mean, k, p);
}
