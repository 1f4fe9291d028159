// GRU over packed sequences, step by step (engine/backend/cpu/gru.c has the arithmetic).
#include "cuda/device.cuh"

// What kernels need of a direction.
struct vd_gru_rows {
    const int *map;
    const float *input, *gate;
    float *state, *before, *values, *y;
    int hidden, parts, y_stride;
    size_t first; // of a step, in step order
    int count;    // its rows
};

static vd_gru_rows rows_of(const vd_gru_pass *p, int step)
{
    vd_gru_rows r;
    r.map = p->map;
    r.input = p->input;
    r.gate = p->gate;
    r.state = p->state;
    r.before = p->before;
    r.values = p->values;
    r.y = p->y;
    r.hidden = p->hidden;
    r.parts = p->gate ? 2 : 3;
    r.y_stride = p->y_stride;
    r.first = static_cast<size_t>(p->packed->offset[step]);
    r.count = p->packed->active[step];
    return r;
}

// Row k of a step goes on from row k of the step before, the first of which is at `previous`.
static void go_on(const vd_gru_rows &r, int previous)
{
    vd_for_rows(__func__, r.count, r.hidden, [=] __device__(size_t k) {
        for (VD_EACH_COLUMN(j, r.hidden))
            r.before[(r.first + k) * r.hidden + j] =
                previous < 0 ? 0
                             : r.y[static_cast<size_t>(r.map[static_cast<size_t>(previous) + k]) *
                                       r.y_stride +
                                   j];
    });
}

static void cells(const vd_gru_rows &r)
{
    vd_for_rows(__func__, r.count, r.hidden, [=] __device__(size_t k) {
        size_t row = r.first + k, flat = static_cast<size_t>(r.map[row]);
        int h = r.hidden, wide = r.parts * h, last = wide - h;
        const float *x = r.input + flat * wide, *s = r.state + row * wide;
        float *v = r.values + row * wide;
        for (VD_EACH_COLUMN(j, h)) {
            float reset = vd_sigmoidf(x[j] + s[j]);
            float share = r.gate ? r.gate[flat] : 0;
            float t = tanhf(x[last + j] + reset * s[last + j]);
            if (!r.gate) {
                float z = vd_sigmoidf(x[h + j] + s[h + j]);
                v[h + j] = z;
                share = 1 - z;
            }
            v[j] = reset;
            v[last + j] = t;
            r.y[flat * r.y_stride + j] = share * t + (1 - share) * r.before[row * h + j];
        }
    });
}

static void gru(const vd_gru_pass *pass, int directions)
{
    for (const vd_gru_pass *p = pass; p < pass + directions; p++)
        for (int step = 0; step < p->packed->longest; step++) {
            vd_gru_rows r = rows_of(p, step);
            go_on(r, step ? p->packed->offset[step - 1] : -1);
            vd_cuda_linear(r.before + r.first * r.hidden, &p->weights->w, p->weights->b,
                           r.state + r.first * r.parts * r.hidden, r.count);
            cells(r);
        }
}

// ---- backward -----------------------------------------------------------------------------------

static void cells_backward(const vd_gru_rows &r, const vd_gru_gradient *q)
{
    const float *dy = q->dy;
    float *dh = q->dh, *dinput = q->dinput, *dstate = q->dstate, *dgate = q->dgate;
    vd_for_rows(__func__, r.count, r.hidden, [=] __device__(size_t k) {
        size_t row = r.first + k, flat = static_cast<size_t>(r.map[row]);
        int h = r.hidden, wide = r.parts * h, last = wide - h;
        const float *v = r.values + row * wide, *s = r.state + row * wide;
        float *dx = dinput + flat * wide, *ds = dstate + row * wide;
        for (VD_EACH_COLUMN(j, h)) {
            float d = dh[k * h + j] + dy[flat * r.y_stride + j], before = r.before[row * h + j];
            float reset = v[j], t = v[last + j], share = r.gate ? r.gate[flat] : 1 - v[h + j];
            float dt = d * share * (1 - t * t);
            float dr = dt * s[last + j] * reset * (1 - reset);
            dx[last + j] += dt;
            ds[last + j] = dt * reset;
            dx[j] += dr;
            ds[j] = dr;
            if (dgate)
                atomicAdd(dgate + flat, d * (t - before));
            if (!r.gate) {
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
            vd_gru_rows r = rows_of(p, step);
            cells_backward(r, q);
            vd_cuda_linear_backward(NULL, &p->weights->w, q->dstate + r.first * r.parts * h, q->dh,
                                    p->hidden, 1, NULL, NULL, r.count);
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
