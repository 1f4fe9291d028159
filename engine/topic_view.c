// Topic view: every region reads the question words that are about it.
//   M_ki = f_v(img_k) . f_t(e_top,i), softmax over i; t_k = sum_i M_ki e_top,i
//   m_k = relu(W2 relu(W1 [img_k ; t_k] + b1) + b2)       (Park et al. 2021, section 3.3)
// Attention 3: M, regions -> question words.
#include "engine/pass.h"

static int words_of(const vd_pass *pass, int n)
{
    return pass->span.question->length[n];
}

static size_t image_row(const vd_pass *pass, int n)
{
    return (size_t)pass->span.dialog[n] * (size_t)pass->regions;
}

// Consecutive real regions from row k on: real regions come first, so this is mostly all of them.
static int run_of(const vd_pass *pass, int n, int k)
{
    int end = k + 1;
    while (end < pass->span.region_start[n + 1] &&
           pass->row_image[end] == pass->row_image[end - 1] + 1)
        end++;
    return end - k;
}

static vd_status allocate_view(vd_pass *pass, vd_error *err)
{
    size_t e2 = 2 * (size_t)pass->config->embed, d = (size_t)pass->config->region,
           rows = (size_t)pass->rows, all = 0;
    int n = pass->span.questions;
    pass->word_start = vd_arena_take(pass->arena, (size_t)n + 1, sizeof *pass->word_start);
    if (!pass->word_start)
        return vd_error_memory(err, "the topic view");
    for (int k = 0; k < n; k++) {
        pass->word_start[k] = all;
        all += (size_t)pass->regions * (size_t)words_of(pass, k);
    }
    pass->word_start[n] = all;
    pass->word = vd_arena_reals(pass->arena, all);
    pass->region_topic = vd_arena_zeros(pass->arena, rows * e2);
    pass->view_hidden = vd_arena_reals(pass->arena, rows * (d + e2));
    pass->view = vd_arena_reals(pass->arena, rows * d);
    if (pass->dw) {
        pass->view_input = vd_arena_reals(pass->arena, rows * (d + e2));
        pass->dview = vd_arena_zeros(pass->arena, rows * d);
    }
    return pass->arena->failed ? vd_error_memory(err, "the topic view") : VD_OK;
}

// M of every region, padding too, and t of the real ones.
static void attend(vd_pass *pass)
{
    int h = pass->config->hidden, e2 = 2 * pass->config->embed;
    for (int n = 0; n < pass->span.questions; n++) {
        int words = words_of(pass, n), first = pass->span.question->start[n];
        vd_real *m = pass->word + pass->word_start[n];
        if (words == 0)
            continue;
        pass->be->gemm(false, true, pass->regions, words, h, 1,
                       pass->view_image.y + image_row(pass, n) * (size_t)h, h,
                       pass->view_topic.y + (size_t)first * (size_t)h, h, 0, m, words);
        pass->be->softmax(m, pass->regions, words, words);
        for (int k = pass->span.region_start[n], run; k < pass->span.region_start[n + 1];
             k += run) {
            size_t region = (size_t)pass->row_image[k] - image_row(pass, n);
            run = run_of(pass, n, k);
            pass->be->gemm(false, false, run, e2, words, 1, m + region * (size_t)words, words,
                           pass->e_topic + (size_t)first * (size_t)e2, e2, 0,
                           pass->region_topic + (size_t)k * (size_t)e2, e2);
        }
    }
}

vd_status vd_topic_view_half(vd_pass *pass, vd_error *err)
{
    int d = pass->config->region, wide = d + 2 * pass->config->embed;
    const vd_linear_weights *w = &pass->w->view_1;
    pass->view_half = vd_arena_reals(pass->arena, (size_t)pass->image_rows * (size_t)wide);
    if (!pass->view_half)
        return vd_error_memory(err, "the topic view");
    pass->be->fill_rows(w->b, pass->view_half, pass->image_rows, wide);
    pass->be->gemm(false, true, pass->image_rows, wide, d, 1, pass->image, d, w->w, wide, 1,
                   pass->view_half, wide);
    return VD_OK;
}

// W1 [img ; t] + b1 with the image's half computed once a region.
static vd_status first_layer_split(vd_pass *pass, vd_error *err)
{
    int d = pass->config->region, e2 = 2 * pass->config->embed, wide = d + e2;
    vd_status status = pass->view_half ? VD_OK : vd_topic_view_half(pass, err);
    if (status != VD_OK)
        return status;
    pass->be->embed(pass->view_half, pass->row_image, pass->rows, wide, pass->view_hidden);
    pass->be->gemm(false, true, pass->rows, wide, e2, 1, pass->region_topic, e2,
                   pass->w->view_1.w + d, wide, 1, pass->view_hidden, wide);
    return VD_OK;
}

static void first_layer_joined(vd_pass *pass)
{
    int d = pass->config->region, e2 = 2 * pass->config->embed, wide = d + e2;
    size_t n = (size_t)pass->rows * (size_t)wide;
    pass->be->join(pass->image, pass->row_image, d, pass->region_topic, NULL, e2, pass->view_input,
                   pass->rows);
    if (pass->dropout != 0)
        pass->be->dropout(pass->view_input, pass->view_input, n, pass->dropout,
                          vd_pass_key(pass, VD_SITE_VIEW_LAYERS));
    pass->be->linear(pass->view_input, pass->w->view_1.w, pass->w->view_1.b, pass->view_hidden,
                     pass->rows, wide, wide);
}

vd_status vd_topic_view_forward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w;
    int d = pass->config->region, e2 = 2 * pass->config->embed, wide = d + e2;
    vd_status status = VD_OK;
    if (!pass->view_image.y)
        status = vd_gated_forward(pass, &pass->view_image, &w->view_image, pass->image,
                                  pass->image_rows, d, VD_SITE_VIEW_IMAGE, err);
    if (status == VD_OK)
        status = vd_gated_forward(pass, &pass->view_topic, &w->view_topic, pass->e_topic,
                                  pass->span.question->tokens, e2, VD_SITE_VIEW_TOPIC, err);
    if (status == VD_OK)
        status = allocate_view(pass, err);
    if (status != VD_OK)
        return status;
    attend(pass);
    if (pass->dw)
        first_layer_joined(pass);
    else if ((status = first_layer_split(pass, err)) != VD_OK)
        return status;
    pass->be->relu(pass->view_hidden, (size_t)pass->rows * (size_t)wide);
    pass->be->linear(pass->view_hidden, w->view_2.w, w->view_2.b, pass->view, pass->rows, wide, d);
    pass->be->relu(pass->view, (size_t)pass->rows * (size_t)d);
    return VD_OK;
}

static void attend_backward(vd_pass *pass, const vd_real *dtopic, vd_real *dm)
{
    int h = pass->config->hidden, e2 = 2 * pass->config->embed;
    for (int n = 0; n < pass->span.questions; n++) {
        int words = words_of(pass, n), first = pass->span.question->start[n];
        const vd_real *m = pass->word + pass->word_start[n];
        vd_real *d = dm + pass->word_start[n]; // zero for padding regions
        if (words == 0)
            continue;
        for (int k = pass->span.region_start[n], run; k < pass->span.region_start[n + 1];
             k += run) {
            size_t region = (size_t)pass->row_image[k] - image_row(pass, n);
            const vd_real *dt = dtopic + (size_t)k * (size_t)e2;
            run = run_of(pass, n, k);
            pass->be->gemm(false, true, run, words, e2, 1, dt, e2,
                           pass->e_topic + (size_t)first * (size_t)e2, e2, 0,
                           d + region * (size_t)words, words);
            pass->be->gemm(true, false, words, e2, run, 1, m + region * (size_t)words, words, dt,
                           e2, 1, pass->de_topic + (size_t)first * (size_t)e2, e2);
        }
        pass->be->softmax_backward(m, d, pass->regions, words, words);
        size_t at = image_row(pass, n) * (size_t)h, row = (size_t)first * (size_t)h;
        pass->be->gemm(false, false, pass->regions, h, words, 1, d, words, pass->view_topic.y + row,
                       h, 1, pass->view_image.dy + at, h);
        pass->be->gemm(true, false, words, h, pass->regions, 1, d, words, pass->view_image.y + at,
                       h, 1, pass->view_topic.dy + row, h);
    }
}

vd_status vd_topic_view_backward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w, *dw = pass->dw;
    int d = pass->config->region, e2 = 2 * pass->config->embed, wide = d + e2;
    size_t n = (size_t)pass->rows * (size_t)wide;
    vd_real *dhidden = vd_arena_reals(pass->arena, n);
    vd_real *dinput = vd_arena_reals(pass->arena, n);
    vd_real *dtopic = vd_arena_zeros(pass->arena, (size_t)pass->rows * (size_t)e2);
    vd_real *dm = vd_arena_zeros(pass->arena, pass->word_start[pass->span.questions]);
    if (pass->arena->failed)
        return vd_error_memory(err, "the topic view's gradient");
    pass->be->relu_backward(pass->view, pass->dview, (size_t)pass->rows * (size_t)d);
    pass->be->linear_backward(pass->view_hidden, w->view_2.w, pass->dview, dhidden, 0, dw->view_2.w,
                              dw->view_2.b, pass->rows, wide, d);
    pass->be->relu_backward(pass->view_hidden, dhidden, n);
    pass->be->linear_backward(pass->view_input, w->view_1.w, dhidden, dinput, 0, dw->view_1.w,
                              dw->view_1.b, pass->rows, wide, wide);
    vd_pass_drop_backward(pass, dinput, n, pass->dropout, VD_SITE_VIEW_LAYERS);
    pass->be->split_add(dinput, pass->rows, NULL, NULL, d, dtopic, NULL, e2);
    attend_backward(pass, dtopic, dm);
    vd_status status =
        vd_gated_backward(pass, &pass->view_image, &w->view_image, &dw->view_image, NULL, err);
    if (status == VD_OK)
        status = vd_gated_backward(pass, &pass->view_topic, &w->view_topic, &dw->view_topic,
                                   pass->de_topic, err);
    return status;
}
