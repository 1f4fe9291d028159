// Topic view: every region reads the question words that are about it.
//   M_ki = f_v(img_k) . f_t(e_top,i), softmax over i; t_k = sum_i M_ki e_top,i
//   m_k = relu(W2 relu(W1 [img_k ; t_k] + b1) + b2)       (Park et al. 2021, section 3.3)
// Attention 3: M, regions -> question words.
#include "engine/networks/pass.h"

static size_t image_row(const vd_pass *pass, int n)
{
    return (size_t)pass->span.dialog[n] * (size_t)pass->regions;
}

size_t vd_pass_word_start(const vd_pass *pass, int n, int *stride)
{
    const vd_geometry *span = &pass->span;
    const int *start = span->question->start, *first = span->question_start + span->dialog[n];
    *stride = start[first[1]] - start[first[0]];
    return (size_t)pass->regions * (size_t)start[first[0]] + (size_t)(start[n] - start[first[0]]);
}

// A run of consecutive real regions that question n asks about; mostly one for each question.
typedef struct vd_run {
    int row, rows;     // rows of (question, region)
    int words, stride; // attention 3: (rows, words) at `at`
    size_t at, word;   // word: the question's first, in flat order
} vd_run;

// The runs of all questions that have words, at most one a row; returns how many.
static int runs_of(const vd_pass *pass, vd_run *run)
{
    int count = 0;
    for (int n = 0; n < pass->span.questions; n++) {
        vd_run r = {.words = pass->span.question->length[n],
                    .word = (size_t)pass->span.question->start[n]};
        size_t start = vd_pass_word_start(pass, n, &r.stride);
        int to = pass->span.region_start[n + 1];
        for (int k = pass->span.region_start[n], end; r.words > 0 && k < to; k = end) {
            for (end = k + 1; end < to && pass->row_image[end] == pass->row_image[end - 1] + 1;)
                end++;
            r.row = k;
            r.rows = end - k;
            r.at = start + ((size_t)pass->row_image[k] - image_row(pass, n)) * (size_t)r.stride;
            run[count++] = r;
        }
    }
    return count;
}

static size_t words_in_all(const vd_pass *pass)
{
    return (size_t)pass->regions * (size_t)pass->span.question->tokens;
}

static vd_status allocate_view(vd_pass *pass, vd_error *err)
{
    size_t e2 = 2 * (size_t)pass->config->embed, d = (size_t)pass->config->region,
           rows = (size_t)pass->rows;
    pass->word = vd_arena_reals(pass->arena, words_in_all(pass));
    pass->region_topic = vd_arena_zeros(pass->arena, rows * e2);
    pass->view_hidden = vd_arena_reals(pass->arena, rows * (d + e2));
    vd_pass_take(pass, rows * d, &pass->view, &pass->dview);
    if (pass->dw)
        pass->view_input = vd_arena_reals(pass->arena, rows * (d + e2));
    return pass->arena->failed ? vd_error_memory(err, "the topic view") : VD_OK;
}

// f_v(img) f_t(e_top)^T of every dialog, or its two gradients, which have the same shapes.
static void word_products(const vd_pass *pass, vd_product *list, const vd_real *dm)
{
    int h = pass->config->hidden, p = pass->regions;
    const int *start = pass->span.question->start;
    for (int b = 0; b < pass->span.dialogs; b++) {
        int word = start[pass->span.question_start[b]];
        int words = start[pass->span.question_start[b + 1]] - word;
        size_t image = (size_t)b * (size_t)p * (size_t)h, row = (size_t)word * (size_t)h,
               at = (size_t)p * (size_t)word;
        if (!dm) {
            list[b] = vd_product_of(false, true, p, words, h, pass->view_image.y + image,
                                    pass->view_topic.y + row, pass->word + at);
            continue;
        }
        list[b] = vd_product_of(false, false, p, h, words, dm + at, pass->view_topic.y + row,
                                pass->view_image.dy + image);
        list[pass->span.dialogs + b] =
            vd_product_of(true, false, words, h, p, dm + at, pass->view_image.y + image,
                          pass->view_topic.dy + row);
    }
}

// Room for the products of attention 3: a run each, or two a dialog.
static vd_product *product_list(vd_pass *pass, vd_run **run)
{
    size_t most = (size_t)pass->rows;
    *run = vd_arena_take_raw(pass->arena, most, sizeof **run);
    if (most < 2 * (size_t)pass->span.dialogs)
        most = 2 * (size_t)pass->span.dialogs;
    return vd_arena_take_raw(pass->arena, most, sizeof(vd_product));
}

// y_k (K, width) = sum_i M_ki x_i, or (beta 1) adds it, with x (words, width).
static vd_status over_words(vd_pass *pass, const vd_real *x, int width, vd_real beta, vd_real *y,
                            vd_error *err)
{
    vd_run *run;
    vd_product *list = product_list(pass, &run);
    if (pass->arena->failed)
        return vd_error_memory(err, "the topic view");
    int count = runs_of(pass, run);
    for (int i = 0; i < count; i++)
        list[i] = (vd_product){.m = run[i].rows,
                               .n = width,
                               .k = run[i].words,
                               .a = pass->word + run[i].at,
                               .lda = run[i].stride,
                               .b = x + run[i].word * (size_t)width,
                               .ldb = width,
                               .c = y + (size_t)run[i].row * (size_t)width,
                               .ldc = width};
    pass->be->products(false, false, beta, list, count);
    return VD_OK;
}

// M of every region, padding too, and t of the real ones.
static vd_status attend(vd_pass *pass, vd_error *err)
{
    vd_product *list = vd_arena_take_raw(pass->arena, (size_t)pass->span.dialogs, sizeof *list);
    if (pass->arena->failed)
        return vd_error_memory(err, "the topic view");
    word_products(pass, list, NULL);
    vd_pass_scores(pass, "question-words", list, pass->span.dialogs, pass->word,
                   words_in_all(pass));
    pass->be->word_attention(&pass->span, pass->regions, pass->word);
    return over_words(pass, pass->topic_pair.y, 2 * pass->config->embed, 0, pass->region_topic,
                      err);
}

vd_status vd_topic_view_half(vd_pass *pass, vd_error *err)
{
    int d = pass->config->region, wide = d + 2 * pass->config->embed;
    const vd_linear_weights *w = &pass->w->view_1;
    vd_matrix of_image = vd_matrix_columns(&w->w, 0, d);
    pass->view_half = vd_arena_reals(pass->arena, (size_t)pass->image_rows * (size_t)wide);
    if (!pass->view_half)
        return vd_error_memory(err, "the topic view");
    pass->be->linear(pass->image, &of_image, w->b, pass->view_half, pass->image_rows);
    return VD_OK;
}

// W1 [img ; t] + b1 with the image's half computed once a region, and the other once a word, for a
// question has fewer of these than regions: W1 t_k = sum_i M_ki W1 e_top,i.
static vd_status first_layer_split(vd_pass *pass, vd_error *err)
{
    int d = pass->config->region, e2 = 2 * pass->config->embed, wide = d + e2;
    int words = pass->span.question->tokens;
    vd_matrix of_topic = vd_matrix_columns(&pass->w->view_1.w, d, e2);
    vd_real *half = vd_arena_reals(pass->arena, (size_t)words * (size_t)wide);
    if (pass->arena->failed)
        return vd_error_memory(err, "the topic view");
    vd_status status = pass->view_half ? VD_OK : vd_topic_view_half(pass, err);
    if (status != VD_OK)
        return status;
    pass->be->linear(pass->topic_pair.y, &of_topic, NULL, half, words);
    pass->be->copy_rows(pass->view_half, wide, pass->rows_at.image, pass->rows, wide,
                        pass->view_hidden, wide);
    return over_words(pass, half, wide, 1, pass->view_hidden, err);
}

static void first_layer_joined(vd_pass *pass)
{
    int d = pass->config->region, e2 = 2 * pass->config->embed, wide = d + e2;
    size_t n = (size_t)pass->rows * (size_t)wide;
    vd_concat(pass->be, pass->image, pass->rows_at.image, d, pass->region_topic, NULL, e2,
              pass->view_input, pass->rows);
    if (pass->dropout != 0)
        pass->be->dropout(pass->view_input, pass->view_input, n, pass->dropout,
                          vd_pass_key(pass, VD_SITE_VIEW_LAYERS));
    pass->be->linear(pass->view_input, &pass->w->view_1.w, pass->w->view_1.b, pass->view_hidden,
                     pass->rows);
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
        status = vd_gated_forward(pass, &pass->view_topic, &w->view_topic, pass->topic_pair.y,
                                  pass->span.question->tokens, e2, VD_SITE_VIEW_TOPIC, err);
    if (status == VD_OK)
        status = allocate_view(pass, err);
    if (status != VD_OK)
        return status;
    status = attend(pass, err);
    if (status == VD_OK && pass->dw)
        first_layer_joined(pass);
    else if (status == VD_OK)
        status = first_layer_split(pass, err);
    if (status != VD_OK)
        return status;
    pass->be->map(VD_RELU, pass->view_hidden, pass->view_hidden, (size_t)pass->rows * (size_t)wide);
    pass->be->linear(pass->view_hidden, &w->view_2.w, w->view_2.b, pass->view, pass->rows);
    pass->be->map(VD_RELU, pass->view, pass->view, (size_t)pass->rows * (size_t)d);
    return VD_OK;
}

// dm is zero where nothing is added: padding regions.
static vd_status attend_backward(vd_pass *pass, const vd_real *dtopic, vd_real *dm, vd_error *err)
{
    int e2 = 2 * pass->config->embed, dialogs = pass->span.dialogs;
    vd_run *run;
    vd_product *list = product_list(pass, &run);
    if (pass->arena->failed)
        return vd_error_memory(err, "the topic view's gradient");
    int count = runs_of(pass, run);
    for (int i = 0; i < count; i++)
        list[i] = (vd_product){.m = run[i].rows,
                               .n = run[i].words,
                               .k = e2,
                               .a = dtopic + (size_t)run[i].row * (size_t)e2,
                               .lda = e2,
                               .b = pass->topic_pair.y + run[i].word * (size_t)e2,
                               .ldb = e2,
                               .c = dm + run[i].at,
                               .ldc = run[i].stride};
    pass->be->products(false, true, 0, list, count);
    // The runs of one question share their words, so they are added one call after the other.
    for (int i = 0, from = 0; i < count; i++) {
        list[i] = (vd_product){.m = run[i].words,
                               .n = e2,
                               .k = run[i].rows,
                               .a = pass->word + run[i].at,
                               .lda = run[i].stride,
                               .b = dtopic + (size_t)run[i].row * (size_t)e2,
                               .ldb = e2,
                               .c = pass->topic_pair.dy + run[i].word * (size_t)e2,
                               .ldc = e2};
        if (i + 1 == count || run[i + 1].word == run[i].word) {
            pass->be->products(true, false, 1, list + from, i + 1 - from);
            from = i + 1;
        }
    }
    pass->be->word_attention_backward(&pass->span, pass->regions, pass->word, dm);
    word_products(pass, list, dm);
    pass->be->products(false, false, 1, list, dialogs);
    pass->be->products(true, false, 1, list + dialogs, dialogs);
    return VD_OK;
}

vd_status vd_topic_view_backward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w, *dw = pass->dw;
    int d = pass->config->region, e2 = 2 * pass->config->embed, wide = d + e2;
    size_t n = (size_t)pass->rows * (size_t)wide;
    vd_matrix of_topic = vd_matrix_columns(&w->view_1.w, d, e2);
    vd_real *dhidden = vd_arena_reals(pass->arena, n);
    vd_real *dinput = vd_arena_zeros(pass->arena, n); // the pictures' half is not wanted
    vd_real *dtopic = vd_arena_reals(pass->arena, (size_t)pass->rows * (size_t)e2);
    vd_real *dm = vd_arena_zeros(pass->arena, words_in_all(pass));
    if (pass->arena->failed)
        return vd_error_memory(err, "the topic view's gradient");
    pass->be->relu_backward(pass->view, pass->dview, (size_t)pass->rows * (size_t)d);
    pass->be->linear_backward(pass->view_hidden, &w->view_2.w, pass->dview, dhidden, wide, 0,
                              &dw->view_2.w, dw->view_2.b, pass->rows);
    pass->be->relu_backward(pass->view_hidden, dhidden, n);
    pass->be->linear_backward(pass->view_input, &w->view_1.w, dhidden, NULL, 0, 0, &dw->view_1.w,
                              dw->view_1.b, pass->rows);
    pass->be->linear_backward(NULL, &of_topic, dhidden, dinput + d, wide, 0, NULL, NULL,
                              pass->rows);
    vd_pass_drop_backward(pass, dinput, n, pass->dropout, VD_SITE_VIEW_LAYERS);
    pass->be->copy_rows(dinput + d, wide, NULL, pass->rows, e2, dtopic, e2);
    vd_status status = attend_backward(pass, dtopic, dm, err);
    if (status == VD_OK)
        status =
            vd_gated_backward(pass, &pass->view_image, &w->view_image, &dw->view_image, NULL, err);
    if (status == VD_OK)
        status = vd_gated_backward(pass, &pass->view_topic, &w->view_topic, &dw->view_topic,
                                   pass->topic_pair.dy, err);
    return status;
}
