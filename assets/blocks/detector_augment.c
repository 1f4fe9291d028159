#include "assets/blocks/detector_loss.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

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
    double gain = vd_rng_range(rng, 0.8, 1.06), gamma = vd_rng_range(rng, 0.85, 1.18);
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

int blocks_augment(const blocks_scene *scene, const uint8_t *rgb, vd_rng *rng, vd_real *input,
                   detector_target *target)
{
    augmentation a = draw_augmentation(rng);
    augment_pixels(&a, rgb, rng, input);
    if (a.blur > 0)
        blur(a.blur, input);
    return augment_targets(&a, scene, target);
}
