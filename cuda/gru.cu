// GRU over packed sequences, step by step (engine/backend/cpu/gru.c has the arithmetic).
#include "cuda/device.cuh"

// A step of a direction, by value, as kernels get it.
struct vd_gru_step : vd_gru_pass {
    int parts, count; // K; rows
    size_t first;     // row, in step order
};

static vd_gru_step step_of(const vd_gru_pass *p, int step)
{
    return {*p, p->gate ? 2 : 3, p->packed->active[step],
            static_cast<size_t>(p->packed->offset[step])};
}

// Row k of a step goes on from row k of the step before, the first of which is at `previous`.
static void go_on(const vd_gru_step &s, int previous)
{
    vd_for_rows(__func__, s.count, s.hidden, [=] __device__(size_t k) {
        for (VD_EACH_COLUMN(j, s.hidden))
            s.before[(s.first + k) * s.hidden + j] =
                previous < 0 ? 0
                             : s.y[static_cast<size_t>(s.map[static_cast<size_t>(previous) + k]) *
                                       s.y_stride +
                                   j];
    });
}

static void cells(const vd_gru_step &s)
{
    vd_for_rows(__func__, s.count, s.hidden, [=] __device__(size_t k) {
        size_t row = s.first + k, flat = static_cast<size_t>(s.map[row]);
        int h = s.hidden, wide = s.parts * h, last = wide - h;
        const float *x = s.input + flat * wide, *state = s.state + row * wide;
        float *v = s.values + row * wide;
        for (VD_EACH_COLUMN(j, h)) {
            float reset = vd_sigmoidf(x[j] + state[j]);
            float share = s.gate ? s.gate[flat] : 0;
            float t = tanhf(x[last + j] + reset * state[last + j]);
            if (!s.gate) {
                float z = vd_sigmoidf(x[h + j] + state[h + j]);
                v[h + j] = z;
                share = 1 - z;
            }
            v[j] = reset;
            v[last + j] = t;
            s.y[flat * s.y_stride + j] = share * t + (1 - share) * s.before[row * h + j];
        }
    });
}

static void gru(const vd_gru_pass *pass, int directions)
{
    for (const vd_gru_pass *p = pass; p < pass + directions; p++)
        for (int step = 0; step < p->packed->longest; step++) {
            vd_gru_step s = step_of(p, step);
            go_on(s, step ? p->packed->offset[step - 1] : -1);
            vd_cuda_linear(s.before + s.first * s.hidden, &p->weights->w, p->weights->b,
                           s.state + s.first * s.parts * s.hidden, s.count);
            cells(s);
        }
}

// ---- backward -----------------------------------------------------------------------------------

static void cells_backward(const vd_gru_step &s, const vd_gru_gradient *q)
{
    const float *dy = q->dy;
    float *dh = q->dh, *dinput = q->dinput, *dstate = q->dstate, *dgate = q->dgate;
    vd_for_rows(__func__, s.count, s.hidden, [=] __device__(size_t k) {
        size_t row = s.first + k, flat = static_cast<size_t>(s.map[row]);
        int h = s.hidden, wide = s.parts * h, last = wide - h;
        const float *v = s.values + row * wide, *state = s.state + row * wide;
        float *dx = dinput + flat * wide, *ds = dstate + row * wide;
        for (VD_EACH_COLUMN(j, h)) {
            float d = dh[k * h + j] + dy[flat * s.y_stride + j], before = s.before[row * h + j];
            float reset = v[j], t = v[last + j], share = s.gate ? s.gate[flat] : 1 - v[h + j];
            float dt = d * share * (1 - t * t);
            float dr = dt * state[last + j] * reset * (1 - reset);
            dx[last + j] += dt;
            ds[last + j] = dt * reset;
            dx[j] += dr;
            ds[j] = dr;
            if (dgate)
                atomicAdd(dgate + flat, d * (t - before));
            if (!s.gate) {
                float dz = d * (before - t) * (1 - share) * share;
                dx[h + j] += dz;
                ds[h + j] = dz;
            }
            dh[k * h + j] = d * (1 - share);
        }
    });
}

static void gru_backward(const vd_gru_pass *pass, const vd_gru_gradient *gradient, int directions)
{
    for (int d = 0; d < directions; d++) {
        const vd_gru_pass *p = pass + d;
        const vd_gru_gradient *q = gradient + d;
        size_t h = static_cast<size_t>(p->hidden);
        vd_cuda_zero(q->dh, static_cast<size_t>(p->packed->sequences) * h * sizeof *q->dh);
        for (int step = p->packed->longest - 1; step >= 0; step--) {
            vd_gru_step s = step_of(p, step);
            cells_backward(s, q);
            vd_cuda_linear_backward(NULL, &p->weights->w, q->dstate + s.first * s.parts * h, q->dh,
                                    p->hidden, 1, NULL, NULL, s.count);
        }
        vd_cuda_linear_backward(p->before, &p->weights->w, q->dstate, NULL, 0, 0, &q->weights->w,
                                q->weights->b, p->packed->tokens);
    }
}

void vd_cuda_gru(vd_backend *table)
{
    table->gru = gru;
    table->gru_backward = gru_backward;
}
