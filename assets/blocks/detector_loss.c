#include "assets/blocks/detector_loss.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { CELLS = VD_DETECT_ROWS * VD_DETECT_COLUMNS, TARGETS = 64 };

static const double box_weight = 0.4, place_weight = 1.0, attribute_weight = 0.5,
                    neighbour_weight = 0.5;

typedef struct centre {
    int x, y; // cell
    bool used;
} centre;

static centre centre_of(const detector_target *target)
{
    double x = (target->box[0] + target->box[2]) / 2 / VD_DETECT_STRIDE;
    double y = (target->box[1] + target->box[3]) / 2 / VD_DETECT_STRIDE;
    bool inside = x >= 0 && y >= 0 && x < VD_DETECT_COLUMNS && y < VD_DETECT_ROWS;
    return (centre){inside ? (int)x : 0, inside ? (int)y : 0, inside};
}

// A Gaussian at the centre's cell, wider for larger boxes, where a centre a little off still gives
// a good box.
static void paint(const detector_target *target, centre at, float *heat)
{
    double sx = fmax(0.6, (target->box[2] - target->box[0]) / VD_DETECT_STRIDE * 0.07);
    double sy = fmax(0.6, (target->box[3] - target->box[1]) / VD_DETECT_STRIDE * 0.07);
    int rx = (int)ceil(3 * sx), ry = (int)ceil(3 * sy);
    for (int y = at.y - ry; y <= at.y + ry; y++)
        for (int x = at.x - rx; x <= at.x + rx; x++) {
            if (x < 0 || y < 0 || x >= VD_DETECT_COLUMNS || y >= VD_DETECT_ROWS)
                continue;
            double dx = (x - at.x) / sx, dy = (y - at.y) / sy;
            float value = (float)exp(-0.5 * (dx * dx + dy * dy));
            float *cell = &heat[y * VD_DETECT_COLUMNS + x];
            *cell = fmaxf(*cell, value);
        }
}

static void heat_loss(const vd_real *output, const float *heat, double scale, vd_real *gradient,
                      blocks_detector_loss *loss)
{
    for (int cell = 0; cell < CELLS; cell++) {
        double s = (double)output[(size_t)cell * VD_DETECT_OUTPUTS + VD_DETECT_HEAT];
        double p = 1 / (1 + exp(-s)), q = 1 / (1 + exp(s)), slope;
        double log_p = s < 0 ? s - log1p(exp(s)) : -log1p(exp(-s)), log_q = log_p - s;
        if (heat[cell] >= 1) {
            loss->heat -= q * q * log_p;
            slope = 2 * p * q * q * log_p - q * q * q;
        } else {
            double far = 1 - (double)heat[cell];
            far *= far;
            far *= far;
            loss->heat -= far * p * p * log_q;
            slope = far * (p * p * p - 2 * p * p * q * log_q);
        }
        gradient[(size_t)cell * VD_DETECT_OUTPUTS + VD_DETECT_HEAT] = (vd_real)(scale * slope);
    }
}

// `count` distances from what is wanted, in pixels; weight: of each distance in the output's unit.
static double distance_loss(const vd_real *output, const double *want, const double *weight,
                            int count, double scale, vd_real *gradient)
{
    double loss = 0;
    for (int k = 0; k < count; k++) {
        double off = (double)output[k] - want[k] / VD_DETECT_UNIT;
        loss += weight[k] * fabs(off);
        gradient[k] += (vd_real)(scale * weight[k] * (off > 0 ? 1 : off < 0 ? -1 : 0));
    }
    return loss;
}

static void geometry_loss(const vd_real *output, const detector_target *target, int x, int y,
                          double weight, double scale, vd_real *gradient,
                          blocks_detector_loss *loss)
{
    const double *box = target->box, *place = target->place;
    double cx = (x + 0.5) * VD_DETECT_STRIDE, cy = (y + 0.5) * VD_DETECT_STRIDE;
    double wide = weight * box_weight * VD_DETECT_UNIT / fmax(4, box[2] - box[0]);
    double high = weight * box_weight * VD_DETECT_UNIT / fmax(4, box[3] - box[1]);
    loss->box += distance_loss(
        output + VD_DETECT_BOX, (double[]){cx - box[0], cy - box[1], box[2] - cx, box[3] - cy},
        (double[]){wide, high, wide, high}, 4, scale, gradient + VD_DETECT_BOX);
    double each = weight * place_weight;
    loss->place += distance_loss(output + VD_DETECT_PLACE, (double[]){place[0] - cx, place[1] - cy},
                                 (double[]){each, each}, 2, scale, gradient + VD_DETECT_PLACE);
}

static void attribute_loss(const vd_real *logit, int count, int truth, double weight, double scale,
                           vd_real *gradient, blocks_detector_loss *loss)
{
    double most = (double)logit[0], sum = 0;
    for (int i = 1; i < count; i++)
        most = fmax(most, (double)logit[i]);
    for (int i = 0; i < count; i++)
        sum += exp((double)logit[i] - most);
    loss->attributes += weight * (log(sum) + most - (double)logit[truth]);
    for (int i = 0; i < count; i++) {
        double p = exp((double)logit[i] - most) / sum;
        gradient[i] += (vd_real)(scale * weight * (p - (i == truth ? 1 : 0)));
    }
}

void blocks_attribute_loss(const vd_real *logit, const int *attribute, int kinds, double weight,
                           double scale, vd_real *gradient, blocks_detector_loss *loss)
{
    for (int kind = 0; kind < kinds; kind++)
        attribute_loss(logit + vd_attribute_first[kind], vd_attribute_count[kind], attribute[kind],
                       weight, scale, gradient + vd_attribute_first[kind], loss);
}

static int nearest(const centre *at, int targets, int x, int y)
{
    int best = -1, least = 0;
    for (int t = 0; t < targets; t++) {
        int far = (at[t].x - x) * (at[t].x - x) + (at[t].y - y) * (at[t].y - y);
        if (at[t].used && (best < 0 || far < least)) {
            best = t;
            least = far;
        }
    }
    return best;
}

void blocks_detection_loss(const vd_real *output, const detector_target *target, int targets,
                           double scale, vd_real *gradient, blocks_detector_loss *loss)
{
    float heat[CELLS] = {0};
    centre at[TARGETS];
    targets = targets < TARGETS ? targets : TARGETS;
    memset(gradient, 0, (size_t)CELLS * VD_DETECT_OUTPUTS * sizeof *gradient);
    for (int t = 0; t < targets; t++) {
        at[t] = centre_of(&target[t]);
        if (at[t].used)
            paint(&target[t], at[t], heat);
    }
    heat_loss(output, heat, scale, gradient, loss);
    for (int t = 0; t < targets; t++)
        for (int k = 0; at[t].used && k < 9; k++) {
            int x = at[t].x + k % 3 - 1, y = at[t].y + k / 3 - 1;
            if (x < 0 || y < 0 || x >= VD_DETECT_COLUMNS || y >= VD_DETECT_ROWS ||
                nearest(at, targets, x, y) != t)
                continue;
            double weight = k == 4 ? 1 : neighbour_weight;
            size_t cell = (size_t)(y * VD_DETECT_COLUMNS + x) * VD_DETECT_OUTPUTS;
            geometry_loss(output + cell, &target[t], x, y, weight, scale, gradient + cell, loss);
            blocks_attribute_loss(output + cell + VD_DETECT_ATTRIBUTES, target[t].attribute,
                                  VD_ATTRIBUTE_KINDS, weight * attribute_weight, scale,
                                  gradient + cell + VD_DETECT_ATTRIBUTES, loss);
        }
}
