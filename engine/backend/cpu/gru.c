// GRU over packed sequences (Cho et al. 2014), step by step; the inputs' products come in.
#include "engine/backend/cpu/cpu.h"

#include <string.h>

#include "engine/base/threads.h"
#include "engine/base/elementary.h"

// A step of one direction; or, without `step`, all steps of several.
typedef struct gru_step {
    const vd_gru_pass *pass;
    const vd_gru_gradient *gradient;
    int step;
} gru_step;

static size_t parts_of(const vd_gru_pass *p)
{
    return p->gate ? 2 : 3;
}

// One row: r, (z,) n at v, and the state y.
VD_TARGET_CLONES static void gru_cell(const vd_real *restrict x, const vd_real *restrict s,
                                      const vd_real *restrict before, const vd_real *gate, size_t n,
                                      vd_real *restrict v, vd_real *restrict y)
{
    size_t sigmoids = gate ? n : 2 * n;
    const vd_real *z = v + n;
    vd_real *t = v + sigmoids;
    for (size_t i = 0; i < sigmoids; i++)
        v[i] = vd_sigmoid(x[i] + s[i]);
    for (size_t i = 0; i < n; i++)
        t[i] = vd_tanh(x[sigmoids + i] + v[i] * s[sigmoids + i]);
    if (gate) {
        const vd_real g = gate[0];
        for (size_t i = 0; i < n; i++)
            y[i] = g * t[i] + (1 - g) * before[i];
    } else {
        for (size_t i = 0; i < n; i++)
            y[i] = (1 - z[i]) * t[i] + z[i] * before[i];
    }
}

static void gru_rows(void *data, size_t from, size_t to)
{
    const gru_step *s = data;
    const vd_gru_pass *p = s->pass;
    size_t h = (size_t)p->hidden, wide = parts_of(p) * h;
    for (size_t k = from; k < to; k++) {
        size_t row = (size_t)p->packed->offset[s->step] + k, flat = (size_t)p->map[row];
        gru_cell(p->input + flat * wide, p->state + row * wide, p->before + row * h,
                 p->gate ? p->gate + flat : NULL, h, p->values + row * wide,
                 p->y + flat * (size_t)p->y_stride);
    }
}

// The states that the rows of a step go on from: row k from row k of the step before.
static void gru_before(const vd_gru_pass *p, int step)
{
    size_t h = (size_t)p->hidden, first = (size_t)p->packed->offset[step];
    for (size_t k = 0; k < (size_t)p->packed->active[step]; k++) {
        vd_real *before = p->before + (first + k) * h;
        if (step == 0)
            memset(before, 0, h * sizeof *before);
        else
            memcpy(before,
                   p->y + (size_t)p->map[(size_t)p->packed->offset[step - 1] + k] *
                              (size_t)p->y_stride,
                   h * sizeof *before);
    }
}

static void gru_steps(void *passes, int direction)
{
    const vd_gru_pass *p = (const vd_gru_pass *)passes + direction;
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden, wide = parts_of(p) * h;
    for (int step = 0; step < packed->longest; step++) {
        gru_step s = {.pass = p, .step = step};
        size_t first = (size_t)packed->offset[step];
        gru_before(p, step);
        vd_backend_cpu()->linear(p->before + first * h, &p->weights->w, p->weights->b,
                                 p->state + first * wide, packed->active[step]);
        vd_threads_ranges((size_t)packed->active[step], 2.5 * (double)wide, gru_rows, &s);
    }
}

static void gru(const vd_gru_pass *pass, int directions)
{
    vd_threads_run(directions, gru_steps, (void *)(uintptr_t)pass);
}

// ---- backward -----------------------------------------------------------------------------------

// d: the gradient of the state y, which becomes that of the state before but for its products. dx
// is added to, ds written.
VD_TARGET_CLONES static void gru_cell_backward(const vd_real *v, const vd_real *s,
                                               const vd_real *before, const vd_real *gate, size_t n,
                                               vd_real *d, vd_real *dx, vd_real *ds, vd_real *dgate)
{
    size_t sigmoids = gate ? n : 2 * n;
    const vd_real *r = v, *z = v + n, *t = v + sigmoids, *last = s + sigmoids;
    vd_real sum = 0;
    for (size_t i = 0; i < n; i++) {
        vd_real share = gate ? gate[0] : 1 - z[i];
        vd_real dt = d[i] * share * (1 - t[i] * t[i]), dr = dt * last[i] * r[i] * (1 - r[i]);
        dx[sigmoids + i] += dt;
        ds[sigmoids + i] = dt * r[i];
        dx[i] += dr;
        ds[i] = dr;
        if (gate) {
            sum += d[i] * (t[i] - before[i]);
        } else {
            vd_real dz = d[i] * (before[i] - t[i]) * z[i] * (1 - z[i]);
            dx[n + i] += dz;
            ds[n + i] = dz;
        }
        d[i] *= 1 - share;
    }
    if (dgate)
        *dgate += sum;
}

static void gru_rows_backward(void *data, size_t from, size_t to)
{
    const gru_step *s = data;
    const vd_gru_pass *p = s->pass;
    const vd_gru_gradient *q = s->gradient;
    size_t h = (size_t)p->hidden, wide = parts_of(p) * h;
    for (size_t k = from; k < to; k++) {
        size_t row = (size_t)p->packed->offset[s->step] + k, flat = (size_t)p->map[row];
        vd_cpu_add(q->dh + k * h, q->dy + flat * (size_t)p->y_stride, h);
        gru_cell_backward(p->values + row * wide, p->state + row * wide, p->before + row * h,
                          p->gate ? p->gate + flat : NULL, h, q->dh + k * h,
                          q->dinput + flat * wide, q->dstate + row * wide,
                          q->dgate ? q->dgate + flat : NULL);
    }
}

static void gru_steps_backward(void *data, int direction)
{
    const gru_step *b = data;
    const vd_gru_pass *p = b->pass + direction;
    const vd_gru_gradient *q = b->gradient + direction;
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden, wide = parts_of(p) * h;
    memset(q->dh, 0, (size_t)packed->sequences * h * sizeof *q->dh);
    for (int step = packed->longest - 1; step >= 0; step--) {
        gru_step s = {p, q, step};
        vd_threads_ranges((size_t)packed->active[step], 2.0 * (double)wide, gru_rows_backward, &s);
        vd_backend_cpu()->linear_backward(NULL, &p->weights->w,
                                          q->dstate + (size_t)packed->offset[step] * wide, q->dh,
                                          p->hidden, 1, NULL, NULL, packed->active[step]);
    }
}

static void gru_backward(const vd_gru_pass *pass, const vd_gru_gradient *gradient, int directions)
{
    gru_step back = {.pass = pass, .gradient = gradient};
    vd_threads_run(directions, gru_steps_backward, &back);
    for (int d = 0; d < directions; d++)
        vd_backend_cpu()->linear_backward(pass[d].before, &pass[d].weights->w, gradient[d].dstate,
                                          NULL, 0, 0, &gradient[d].weights->w,
                                          gradient[d].weights->b, pass[d].packed->tokens);
}

void vd_cpu_gru(vd_backend *table)
{
    table->gru = gru;
    table->gru_backward = gru_backward;
}
