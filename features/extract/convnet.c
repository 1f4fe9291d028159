#include "features/extract/convnet.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"

#ifdef VD_DOUBLE // the gradients' test: products in double are not the engine's
#include <cblas.h>

static void multiply(bool ta, bool tb, int m, int n, int k, const vd_real *a, const vd_real *b,
                     vd_real beta, vd_real *c)
{
    cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n,
                k, 1, a, ta ? m : k, b, tb ? k : n, beta, c, n);
}
#else
#include "engine/backend/backend.h"

static void multiply(bool ta, bool tb, int m, int n, int k, const vd_real *a, const vd_real *b,
                     vd_real beta, vd_real *c)
{
    vd_multiply(vd_backend_cpu(), ta, tb, m, n, k, a, b, beta, c);
}
#endif

static const vd_real norm_epsilon = (vd_real)1e-5;

// A tile's windows stay in the second-level cache: about 384 kB of floats.
enum { TILE_REALS = 98304, TILE_MIN = 64, TILE_MAX = 1024 };

// ---- the net ------------------------------------------------------------------------------------

static size_t window_size(const vd_conv *conv)
{
    return (size_t)conv->kernel * (size_t)conv->kernel * (size_t)conv->in;
}

static size_t tile_pixels(const vd_conv *conv)
{
    size_t tile = TILE_REALS / window_size(conv);
    return tile < TILE_MIN ? TILE_MIN : tile > TILE_MAX ? TILE_MAX : tile;
}

static size_t layer_pixels(const vd_convnet *net, int l)
{
    return (size_t)net->out_width[l] * (size_t)net->out_height[l];
}

static vd_status check_layer(const vd_convnet *net, int l, vd_error *err)
{
    const vd_conv *conv = &net->layer[l];
    bool sound = conv->in >= 1 && conv->in <= 4096 && conv->out >= 1 && conv->out <= 4096 &&
                 conv->kernel >= 1 && conv->kernel <= 15 && conv->kernel % 2 == 1 &&
                 (conv->stride == 1 || conv->stride == 2) && conv->dilation >= 1 &&
                 conv->dilation <= 64 && conv->from >= VD_CONV_PICTURE && conv->from < l &&
                 conv->add >= VD_CONV_NONE && conv->add != VD_CONV_PICTURE && conv->add < l;
    if (!sound)
        return vd_error_set(err, VD_MISMATCH, "layer %d (%s): not a convolution this net knows", l,
                            conv->name);
    int channels = conv->from < 0 ? net->channels : net->layer[conv->from].out;
    if (channels != conv->in)
        return vd_error_set(err, VD_MISMATCH, "layer %d (%s): reads %d channels, its source has %d",
                            l, conv->name, conv->in, channels);
    return VD_OK;
}

static vd_status check_add(const vd_convnet *net, int l, vd_error *err)
{
    int add = net->layer[l].add;
    if (add < 0)
        return VD_OK;
    int w = net->out_width[l], h = net->out_height[l];
    int aw = net->out_width[add], ah = net->out_height[add];
    bool fits = net->layer[add].out == net->layer[l].out &&
                ((aw == w && ah == h) || (aw * 2 == w && ah * 2 == h));
    if (fits)
        return VD_OK;
    return vd_error_set(err, VD_MISMATCH,
                        "layer %d (%s): %dx%dx%d cannot be added to %dx%dx%d (expected the same "
                        "size or half of it)",
                        l, net->layer[l].name, aw, ah, net->layer[add].out, w, h,
                        net->layer[l].out);
}

static vd_status set_sizes(vd_convnet *net, vd_error *err)
{
    for (int l = 0; l < net->layers; l++) {
        const vd_conv *conv = &net->layer[l];
        vd_status status = check_layer(net, l, err);
        if (status)
            return status;
        int width = conv->from < 0 ? net->width : net->out_width[conv->from];
        int height = conv->from < 0 ? net->height : net->out_height[conv->from];
        net->out_width[l] = (width - 1) / conv->stride + 1;
        net->out_height[l] = (height - 1) / conv->stride + 1;
        status = check_add(net, l, err);
        if (status)
            return status;
        net->weight[l] = net->params;
        net->params += window_size(conv) * (size_t)conv->out;
        net->bias[l] = net->params;
        net->params += (size_t)conv->out;
        net->gamma[l] = net->params;
        net->stats[l] = net->norms;
        if (conv->norm) {
            net->params += (size_t)conv->out;
            net->norms += (size_t)conv->out;
        }
    }
    return VD_OK;
}

vd_status vd_convnet_new(const vd_conv *layer, int layers, int channels, int width, int height,
                         vd_convnet **out, vd_error *err)
{
    *out = NULL;
    if (layers < 1 || layers > VD_CONV_MAX || channels < 1 || width < 1 || height < 1 ||
        width > 16384 || height > 16384)
        return vd_error_set(err, VD_MISMATCH,
                            "a net of %d layers for %dx%dx%d pictures (expected 1 to %d layers, "
                            "sides of 1 to 16384)",
                            layers, width, height, channels, VD_CONV_MAX);
    vd_convnet *net = vd_alloc(1, sizeof *net);
    if (!net)
        return vd_error_memory(err, "a convolutional net");
    net->layers = layers;
    net->channels = channels;
    net->width = width;
    net->height = height;
    memcpy(net->layer, layer, (size_t)layers * sizeof *layer);
    vd_status status = set_sizes(net, err);
    if (!status && !(net->param = vd_alloc(net->params + 2 * net->norms, sizeof *net->param)))
        status = vd_error_memory(err, "a convolutional net's weights");
    if (status) {
        vd_convnet_free(net);
        return status;
    }
    net->mean = net->param + net->params;
    net->var = net->mean + net->norms;
    *out = net;
    return VD_OK;
}

void vd_convnet_free(vd_convnet *net)
{
    if (net)
        vd_free(net->param);
    vd_free(net);
}

void vd_convnet_init(vd_convnet *net, vd_rng *rng)
{
    memset(net->param, 0, net->params * sizeof *net->param);
    for (int l = 0; l < net->layers; l++) {
        const vd_conv *conv = &net->layer[l];
        double scale = sqrt((conv->relu ? 2.0 : 1.0) / (double)window_size(conv));
        for (size_t i = net->weight[l]; i < net->bias[l]; i++)
            net->param[i] = (vd_real)(scale * vd_rng_normal(rng));
        for (int c = 0; conv->norm && c < conv->out; c++)
            net->param[net->gamma[l] + (size_t)c] = 1;
    }
    for (size_t i = 0; i < net->norms; i++) {
        net->mean[i] = 0;
        net->var[i] = 1;
    }
}

void vd_convnet_fold(const vd_convnet *net, vd_convnet *folded)
{
    memcpy(folded->param, net->param, net->params * sizeof *net->param);
    for (int l = 0; l < net->layers; l++) {
        const vd_conv *conv = &net->layer[l];
        if (!conv->norm)
            continue;
        size_t outs = (size_t)conv->out;
        for (size_t c = 0; c < outs; c++) {
            size_t s = net->stats[l] + c;
            vd_real gain =
                net->param[net->gamma[l] + c] / (vd_real)sqrt(net->var[s] + norm_epsilon);
            for (size_t k = 0; k < window_size(conv); k++)
                folded->param[net->weight[l] + k * outs + c] *= gain;
            folded->param[net->bias[l] + c] -= gain * net->mean[s];
        }
    }
}

// ---- windows ------------------------------------------------------------------------------------

typedef struct vd_conv_shape {
    const vd_conv *conv;
    int width, height; // of what it reads
    int out_width;
    size_t pixels; // of what it makes
} vd_conv_shape;

static vd_conv_shape shape_of(const vd_convnet *net, int l)
{
    const vd_conv *conv = &net->layer[l];
    return (vd_conv_shape){
        .conv = conv,
        .width = conv->from < 0 ? net->width : net->out_width[conv->from],
        .height = conv->from < 0 ? net->height : net->out_height[conv->from],
        .out_width = net->out_width[l],
        .pixels = layer_pixels(net, l),
    };
}

// A 1x1 window is the pixel itself.
static bool is_pointwise(const vd_conv *conv)
{
    return conv->kernel == 1 && conv->stride == 1;
}

// Windows of output pixels first .. first + count - 1 of one picture: (count, kernel, kernel, in).
static void gather(const vd_conv_shape *s, const vd_real *x, size_t first, size_t count,
                   vd_real *window)
{
    const vd_conv *conv = s->conv;
    size_t in = (size_t)conv->in;
    int reach = conv->dilation * (conv->kernel / 2);
    for (size_t p = first; p < first + count; p++) {
        int x0 = (int)(p % (size_t)s->out_width) * conv->stride - reach;
        int y0 = (int)(p / (size_t)s->out_width) * conv->stride - reach;
        bool run = conv->dilation == 1 && x0 >= 0 && x0 + conv->kernel <= s->width;
        for (int ky = 0; ky < conv->kernel; ky++) {
            int yy = y0 + ky * conv->dilation;
            if (yy < 0 || yy >= s->height) {
                memset(window, 0, (size_t)conv->kernel * in * sizeof *window);
                window += (size_t)conv->kernel * in;
                continue;
            }
            const vd_real *row = x + (size_t)yy * (size_t)s->width * in;
            if (run) {
                memcpy(window, row + (size_t)x0 * in, (size_t)conv->kernel * in * sizeof *window);
                window += (size_t)conv->kernel * in;
                continue;
            }
            for (int kx = 0; kx < conv->kernel; kx++, window += in) {
                int xx = x0 + kx * conv->dilation;
                if (xx < 0 || xx >= s->width)
                    memset(window, 0, in * sizeof *window);
                else
                    memcpy(window, row + (size_t)xx * in, in * sizeof *window);
            }
        }
    }
}

// The windows (count, kernel, kernel, in) of a tile of pixels of picture x: its own pixels where a
// window is one, else gathered in `room`.
static const vd_real *windows_of(const vd_conv_shape *s, const vd_real *x, size_t first,
                                 size_t count, vd_real *room)
{
    if (is_pointwise(s->conv))
        return x + first * (size_t)s->conv->in;
    gather(s, x, first, count, room);
    return room;
}

// The transpose of gather: adds the windows' gradients into the picture's.
static void scatter(const vd_conv_shape *s, const vd_real *window, size_t first, size_t count,
                    vd_real *dx)
{
    const vd_conv *conv = s->conv;
    size_t in = (size_t)conv->in;
    int reach = conv->dilation * (conv->kernel / 2);
    for (size_t p = first; p < first + count; p++) {
        int x0 = (int)(p % (size_t)s->out_width) * conv->stride - reach;
        int y0 = (int)(p / (size_t)s->out_width) * conv->stride - reach;
        for (int ky = 0; ky < conv->kernel; ky++) {
            int yy = y0 + ky * conv->dilation;
            for (int kx = 0; kx < conv->kernel; kx++, window += in) {
                int xx = x0 + kx * conv->dilation;
                if (yy < 0 || yy >= s->height || xx < 0 || xx >= s->width)
                    continue;
                vd_real *at = dx + ((size_t)yy * (size_t)s->width + (size_t)xx) * in;
                for (size_t c = 0; c < in; c++)
                    at[c] += window[c];
            }
        }
    }
}

// ---- a pass -------------------------------------------------------------------------------------

vd_status vd_conv_pass_new(const vd_convnet *net, int batch, bool training, vd_conv_pass **out,
                           vd_error *err)
{
    *out = NULL;
    if (batch < 1)
        return vd_error_set(err, VD_MISMATCH, "a pass of %d pictures (expected 1 or more)", batch);
    vd_conv_pass *pass = vd_alloc(1, sizeof *pass);
    if (!pass)
        return vd_error_memory(err, "a pass through a convolutional net");
    pass->net = net;
    pass->batch = batch;
    pass->training = training;
    vd_arena *arena = &pass->arena;
    size_t n = (size_t)batch, real = sizeof(vd_real), window = 0;
    pass->input = vd_arena_take(
        arena, n, (size_t)net->width * (size_t)net->height * (size_t)net->channels * real);
    for (int l = 0; l < net->layers; l++) {
        const vd_conv *conv = &net->layer[l];
        size_t picture = layer_pixels(net, l) * (size_t)conv->out * real;
        pass->y[l] = vd_arena_take(arena, n, picture);
        if (training)
            pass->dy[l] = vd_arena_take(arena, n, picture);
        if (training && conv->norm)
            pass->z[l] = vd_arena_take(arena, n, picture);
        size_t needed = tile_pixels(conv) * window_size(conv);
        window = needed > window ? needed : window;
    }
    pass->window = vd_arena_take(arena, window, real);
    if (training) {
        pass->dwindow = vd_arena_take(arena, window, real);
        pass->mean = vd_arena_take(arena, net->norms, real);
        pass->var = vd_arena_take(arena, net->norms, real);
        pass->gradient = vd_arena_take(arena, net->params, real);
    }
    if (arena->failed) {
        vd_conv_pass_free(pass);
        return vd_error_memory(err, "a pass through a convolutional net");
    }
    *out = pass;
    return VD_OK;
}

void vd_conv_pass_free(vd_conv_pass *pass)
{
    if (pass)
        vd_arena_free(&pass->arena);
    vd_free(pass);
}

static const vd_real *source(const vd_conv_pass *pass, int l, size_t picture)
{
    const vd_convnet *net = pass->net;
    int from = net->layer[l].from;
    if (from < 0)
        return pass->input +
               picture * (size_t)net->width * (size_t)net->height * (size_t)net->channels;
    return pass->y[from] + picture * layer_pixels(net, from) * (size_t)net->layer[from].out;
}

// Pixel of layer l's `add` that is added to pixel p of picture n.
static size_t added_pixel(const vd_convnet *net, int l, size_t n, size_t p)
{
    int add = net->layer[l].add;
    size_t pixels = layer_pixels(net, add);
    if (net->out_width[add] == net->out_width[l])
        return n * pixels + p;
    size_t width = (size_t)net->out_width[l];
    return n * pixels + p / width / 2 * (size_t)net->out_width[add] + p % width / 2;
}

// y = relu(scale z + shift + add) over a run of pixels of one picture; scale may be NULL for 1; y
// may be z.
static void finish(const vd_conv_pass *pass, int l, size_t picture, size_t first, size_t count,
                   const vd_real *scale, const vd_real *shift, const vd_real *z, vd_real *y)
{
    const vd_conv *conv = &pass->net->layer[l];
    size_t outs = (size_t)conv->out;
    vd_real floor = conv->relu ? 0 : -(vd_real)INFINITY;
    for (size_t p = first; p < first + count; p++, y += outs, z += outs) {
        if (scale) {
            for (size_t c = 0; c < outs; c++)
                y[c] = z[c] * scale[c] + shift[c];
        } else {
            for (size_t c = 0; c < outs; c++)
                y[c] = z[c] + shift[c];
        }
        if (conv->add >= 0) {
            const vd_real *a = pass->y[conv->add] + added_pixel(pass->net, l, picture, p) * outs;
            for (size_t c = 0; c < outs; c++)
                y[c] += a[c];
        }
        for (size_t c = 0; c < outs; c++)
            y[c] = y[c] > floor ? y[c] : floor;
    }
}

// Per channel, the sum over all pixels of z or, with a centre, of (z - centre)^2. Short runs are
// summed in float, the runs in double.
static void channel_sums(const vd_real *z, size_t rows, size_t outs, const vd_real *centre,
                         double *sum)
{
    enum { RUN = 256 };
    vd_real part[4096];
    for (size_t c = 0; c < outs; c++)
        sum[c] = 0;
    for (size_t from = 0; from < rows; from += RUN) {
        size_t to = from + RUN < rows ? from + RUN : rows;
        memset(part, 0, outs * sizeof *part);
        for (size_t r = from; r < to; r++) {
            const vd_real *at = z + r * outs;
            if (centre) {
                for (size_t c = 0; c < outs; c++)
                    part[c] += (at[c] - centre[c]) * (at[c] - centre[c]);
            } else {
                for (size_t c = 0; c < outs; c++)
                    part[c] += at[c];
            }
        }
        for (size_t c = 0; c < outs; c++)
            sum[c] += (double)part[c];
    }
}

static void normalise(vd_conv_pass *pass, int l)
{
    const vd_convnet *net = pass->net;
    size_t outs = (size_t)net->layer[l].out, pixels = layer_pixels(net, l);
    size_t rows = (size_t)pass->batch * pixels;
    vd_real *mean = pass->mean + net->stats[l], *var = pass->var + net->stats[l];
    double sum[4096];
    vd_real scale[4096], shift[4096];
    channel_sums(pass->z[l], rows, outs, NULL, sum);
    for (size_t c = 0; c < outs; c++)
        mean[c] = (vd_real)(sum[c] / (double)rows);
    channel_sums(pass->z[l], rows, outs, mean, sum);
    for (size_t c = 0; c < outs; c++) {
        var[c] = (vd_real)(sum[c] / (double)rows);
        scale[c] = net->param[net->gamma[l] + c] / (vd_real)sqrt(var[c] + norm_epsilon);
        shift[c] = net->param[net->bias[l] + c] - scale[c] * mean[c];
    }
    for (size_t n = 0; n < (size_t)pass->batch; n++)
        finish(pass, l, n, 0, pixels, scale, shift, pass->z[l] + n * pixels * outs,
               pass->y[l] + n * pixels * outs);
}

static void forward_layer(vd_conv_pass *pass, int l)
{
    const vd_convnet *net = pass->net;
    vd_conv_shape s = shape_of(net, l);
    const vd_conv *conv = s.conv;
    bool norm = pass->training && conv->norm;
    size_t outs = (size_t)conv->out, k = window_size(conv), tile = tile_pixels(conv);
    for (size_t n = 0; n < (size_t)pass->batch; n++) {
        const vd_real *x = source(pass, l, n);
        for (size_t p = 0; p < s.pixels; p += tile) {
            size_t count = s.pixels - p < tile ? s.pixels - p : tile;
            const vd_real *window = windows_of(&s, x, p, count, pass->window);
            vd_real *z = (norm ? pass->z[l] : pass->y[l]) + (n * s.pixels + p) * outs;
            multiply(false, false, (int)count, (int)outs, (int)k, window,
                     net->param + net->weight[l], 0, z);
            if (!norm)
                finish(pass, l, n, p, count, NULL, net->param + net->bias[l], z, z);
        }
    }
    if (norm)
        normalise(pass, l);
}

const vd_real *vd_conv_forward(vd_conv_pass *pass)
{
    for (int l = 0; l < pass->net->layers; l++)
        forward_layer(pass, l);
    return pass->y[pass->net->layers - 1];
}

// ---- backward -----------------------------------------------------------------------------------

// Through the rectifier and to the layer that was added.
static void backward_finish(vd_conv_pass *pass, int l)
{
    const vd_convnet *net = pass->net;
    const vd_conv *conv = &net->layer[l];
    size_t outs = (size_t)conv->out, pixels = layer_pixels(net, l);
    vd_real *dy = pass->dy[l];
    const vd_real *y = pass->y[l];
    size_t all = (size_t)pass->batch * pixels * outs;
    if (conv->relu)
        for (size_t i = 0; i < all; i++)
            dy[i] = y[i] > 0 ? dy[i] : 0;
    if (conv->add < 0)
        return;
    for (size_t n = 0; n < (size_t)pass->batch; n++)
        for (size_t p = 0; p < pixels; p++, dy += outs) {
            vd_real *da = pass->dy[conv->add] + added_pixel(net, l, n, p) * outs;
            for (size_t c = 0; c < outs; c++)
                da[c] += dy[c];
        }
}

// Gradients of bias and gamma; dy becomes dz (Ioffe and Szegedy 2015, section 3).
static void backward_norm(vd_conv_pass *pass, int l)
{
    const vd_convnet *net = pass->net;
    const vd_conv *conv = &net->layer[l];
    size_t outs = (size_t)conv->out, rows = (size_t)pass->batch * layer_pixels(net, l);
    vd_real *dy = pass->dy[l], *dbias = pass->gradient + net->bias[l];
    double sum[4096];
    channel_sums(dy, rows, outs, NULL, sum);
    for (size_t c = 0; c < outs; c++)
        dbias[c] = (vd_real)sum[c];
    if (!conv->norm)
        return;
    const vd_real *mean = pass->mean + net->stats[l], *var = pass->var + net->stats[l];
    vd_real *dgamma = pass->gradient + net->gamma[l];
    vd_real inverse[4096], scale[4096], a[4096], b[4096];
    for (size_t c = 0; c < outs; c++)
        inverse[c] = 1 / (vd_real)sqrt(var[c] + norm_epsilon);
    for (size_t r = 0; r < rows; r++) {
        const vd_real *z = pass->z[l] + r * outs, *d = dy + r * outs;
        for (size_t c = 0; c < outs; c++)
            dgamma[c] += d[c] * (z[c] - mean[c]) * inverse[c];
    }
    for (size_t c = 0; c < outs; c++) {
        scale[c] = net->param[net->gamma[l] + c] * inverse[c];
        a[c] = dbias[c] / (vd_real)rows;
        b[c] = dgamma[c] / (vd_real)rows * inverse[c];
    }
    for (size_t r = 0; r < rows; r++) {
        const vd_real *z = pass->z[l] + r * outs;
        vd_real *d = dy + r * outs;
        for (size_t c = 0; c < outs; c++)
            d[c] = scale[c] * (d[c] - a[c] - (z[c] - mean[c]) * b[c]);
    }
}

static void backward_layer(vd_conv_pass *pass, int l)
{
    const vd_convnet *net = pass->net;
    vd_conv_shape s = shape_of(net, l);
    const vd_conv *conv = s.conv;
    size_t outs = (size_t)conv->out, k = window_size(conv), tile = tile_pixels(conv);
    backward_finish(pass, l);
    backward_norm(pass, l);
    for (size_t n = 0; n < (size_t)pass->batch; n++) {
        const vd_real *x = source(pass, l, n);
        vd_real *dx = NULL;
        if (conv->from >= 0)
            dx = pass->dy[conv->from] +
                 n * layer_pixels(net, conv->from) * (size_t)net->layer[conv->from].out;
        for (size_t p = 0; p < s.pixels; p += tile) {
            size_t count = s.pixels - p < tile ? s.pixels - p : tile;
            const vd_real *window = windows_of(&s, x, p, count, pass->window);
            const vd_real *dz = pass->dy[l] + (n * s.pixels + p) * outs;
            multiply(true, false, (int)k, (int)outs, (int)count, window, dz, 1,
                     pass->gradient + net->weight[l]);
            if (!dx)
                continue;
            vd_real *dwindow = is_pointwise(conv) ? dx + p * (size_t)conv->in : pass->dwindow;
            multiply(false, true, (int)count, (int)k, (int)outs, dz, net->param + net->weight[l],
                     is_pointwise(conv) ? 1 : 0, dwindow);
            if (!is_pointwise(conv))
                scatter(&s, dwindow, p, count, dx);
        }
    }
}

void vd_conv_backward(vd_conv_pass *pass)
{
    const vd_convnet *net = pass->net;
    memset(pass->gradient, 0, net->params * sizeof *pass->gradient);
    for (int l = 0; l < net->layers - 1; l++)
        memset(pass->dy[l], 0,
               (size_t)pass->batch * layer_pixels(net, l) * (size_t)net->layer[l].out *
                   sizeof *pass->dy[l]);
    for (int l = net->layers - 1; l >= 0; l--)
        backward_layer(pass, l);
}

void vd_convnet_absorb(vd_convnet *net, const vd_conv_pass *pass, vd_real share)
{
    for (size_t i = 0; i < net->norms; i++) {
        net->mean[i] += share * (pass->mean[i] - net->mean[i]);
        net->var[i] += share * (pass->var[i] - net->var[i]);
    }
}
