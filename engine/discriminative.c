// Discriminative decoder: a 2-layer LSTM reads each candidate; its last state o_c is compared with
// the encoder's vector, z_c = o_c . e            (Park et al. 2021, section 3.4; Das et al. 2017)
#include "engine/network.h"

#include <math.h>
#include <string.h>

vd_status vd_candidates_encode(vd_pass *pass, vd_text_pass *text, const vd_packed *packed,
                               vd_real *vector, vd_error *err)
{
    size_t h = (size_t)pass->config->hidden;
    vd_positions positions = pass->config->positions;
    // The printed code's positions belong to the encoder only.
    if (positions == VD_POSITIONS_AS_PRINTED)
        positions = VD_POSITIONS_NONE;
    vd_status status =
        vd_words_forward(pass, text, packed, positions, VD_SITE_CANDIDATE_WORDS, err);
    if (status == VD_OK)
        status =
            vd_recurrent_forward(pass, &text->recurrent, pass->w->candidate, 1, packed, text->input,
                                 pass->config->embed, NULL, VD_SITE_CANDIDATE_LAYER, err);
    if (status != VD_OK)
        return status;
    for (int s = 0; s < packed->sequences; s++)
        if (packed->length[s] > 0)
            memcpy(vector + (size_t)s * h,
                   text->recurrent.y + (size_t)(packed->start[s + 1] - 1) * h, h * sizeof *vector);
    return VD_OK;
}

vd_status vd_discriminative_forward(vd_network *net, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_batch *batch = net->batch;
    int h = pass->config->hidden, n = pass->span.questions, u = batch->distinct;
    size_t all = (size_t)n * (size_t)batch->candidates;
    vd_status status =
        vd_packed_make(batch->candidate, batch->candidate_length, u, batch->candidate_width,
                       pass->arena, &pass->candidate_words, err);
    if (status != VD_OK)
        return status;
    net->vector = vd_arena_zeros(pass->arena, (size_t)u * (size_t)h);
    net->products = vd_arena_reals(pass->arena, (size_t)n * (size_t)u);
    net->scores = vd_arena_reals(pass->arena, all);
    if (pass->dw) {
        net->dvector = vd_arena_zeros(pass->arena, (size_t)u * (size_t)h);
        net->dscores = vd_arena_zeros(pass->arena, all);
    }
    if (pass->arena->failed)
        return vd_error_memory(err, "candidate scores");
    status = vd_candidates_encode(pass, &net->candidate, &pass->candidate_words, net->vector, err);
    if (status != VD_OK)
        return status;
    pass->be->gemm(false, true, n, u, h, 1, pass->encoded, h, net->vector, h, 0, net->products, u);
    for (size_t i = 0; i < all; i++)
        net->scores[i] =
            net->products[i / (size_t)batch->candidates * (size_t)u + (size_t)batch->option[i]];
    return VD_OK;
}

vd_status vd_discriminative_backward(vd_network *net, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_batch *batch = net->batch;
    const vd_packed *packed = &pass->candidate_words;
    int h = pass->config->hidden, n = pass->span.questions, u = batch->distinct;
    size_t all = (size_t)n * (size_t)batch->candidates;
    vd_real *dinput =
        vd_arena_zeros(pass->arena, (size_t)packed->tokens * (size_t)pass->config->embed);
    if (!dinput)
        return vd_error_memory(err, "candidate gradients");
    vd_real *dproducts = net->products;
    memset(dproducts, 0, (size_t)n * (size_t)u * sizeof *dproducts);
    for (size_t i = 0; i < all; i++)
        dproducts[i / (size_t)batch->candidates * (size_t)u + (size_t)batch->option[i]] +=
            net->dscores[i];
    pass->be->gemm(false, false, n, h, u, 1, dproducts, u, net->vector, h, 1, pass->dencoded, h);
    pass->be->gemm(true, false, u, h, n, 1, dproducts, u, pass->encoded, h, 1, net->dvector, h);
    for (int s = 0; s < u; s++)
        if (packed->length[s] > 0)
            pass->be->add(net->candidate.recurrent.dy +
                              (size_t)(packed->start[s + 1] - 1) * (size_t)h,
                          net->dvector + (size_t)s * (size_t)h, (size_t)h);
    vd_status status = vd_recurrent_backward(pass, &net->candidate.recurrent, pass->dw->candidate,
                                             dinput, NULL, err);
    if (status == VD_OK)
        vd_words_backward(pass, &net->candidate, dinput, VD_SITE_CANDIDATE_WORDS);
    return status;
}

// ---- loss ---------------------------------------------------------------------------------------

// cos(m theta) by its Chebyshev polynomial in cos(theta), and that polynomial's slope.
static double chebyshev(int m, double c, double *slope)
{
    double before = 1, t = c, dbefore = 0, dt = 1;
    for (int k = 1; k < m; k++) {
        double next = 2 * c * t - before, dnext = 2 * t + 2 * c * dt - dbefore;
        before = t;
        t = next;
        dbefore = dt;
        dt = dnext;
    }
    *slope = dt;
    return t;
}

double vd_margin_psi(int margin, double cosine, double *slope)
{
    const double edge = 1 - 1e-7;
    double inside = cosine > edge ? edge : cosine < -edge ? -edge : cosine, d;
    double value = chebyshev(margin, inside, &d);
    int t = 0;
    while (t + 1 < margin && inside < cos((t + 1) * 3.14159265358979323846 / margin))
        t++;
    double sign = t % 2 ? -1 : 1;
    if (slope)
        *slope = inside == cosine ? sign * d : 0;
    return sign * value - 2 * t;
}

typedef struct vd_target {
    const vd_real *o, *e;
    double o_norm, e_norm, cosine, psi, slope;
} vd_target;

static double norm_of(const vd_real *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static vd_target target_of(const vd_network *net, int question, int option, int margin)
{
    size_t h = (size_t)net->pass.config->hidden;
    vd_target t = {.o = net->vector + (size_t)option * h,
                   .e = net->pass.encoded + (size_t)question * h};
    double z = 0;
    for (size_t i = 0; i < h; i++)
        z += (double)t.o[i] * (double)t.e[i];
    t.o_norm = fmax(norm_of(t.o, (int)h), 1e-12);
    t.e_norm = fmax(norm_of(t.e, (int)h), 1e-12);
    t.cosine = z / (t.o_norm * t.e_norm);
    t.psi = vd_margin_psi(margin, t.cosine, &t.slope);
    return t;
}

// d of |o||e| psi(cos): psi' e + (psi - psi' cos) |e|/|o| o with respect to o, likewise e.
static void margin_backward(vd_network *net, const vd_target *t, int question, int option, double d)
{
    size_t h = (size_t)net->pass.config->hidden;
    vd_real *de = net->pass.dencoded + (size_t)question * h;
    vd_real *dvector = net->dvector + (size_t)option * h;
    double rest = t->psi - t->slope * t->cosine;
    for (size_t i = 0; i < h; i++) {
        dvector[i] += (vd_real)(d * (t->slope * t->e[i] + rest * t->e_norm / t->o_norm * t->o[i]));
        de[i] += (vd_real)(d * (t->slope * t->o[i] + rest * t->o_norm / t->e_norm * t->e[i]));
    }
}

// Cross entropy of one row with the target's score given; row becomes the probabilities.
static double cross_entropy(const vd_real *z, int n, int truth, double truth_score, double *p)
{
    double max = truth_score, sum = 0;
    for (int i = 0; i < n; i++)
        if (i != truth && z[i] > max)
            max = z[i];
    for (int i = 0; i < n; i++) {
        p[i] = exp((i == truth ? truth_score : (double)z[i]) - max);
        sum += p[i];
    }
    for (int i = 0; i < n; i++)
        p[i] /= sum;
    return log(sum) + max - truth_score;
}

vd_status vd_discriminative_loss(vd_network *net, int margin, double lambda, double *loss,
                                 vd_error *err)
{
    const vd_batch *batch = net->batch;
    int n = net->pass.span.questions, o = batch->candidates, known = 0;
    double *p = vd_arena_take(net->pass.arena, (size_t)o, sizeof *p);
    if (!p)
        return vd_error_memory(err, "the loss");
    for (int k = 0; k < n; k++)
        known += batch->truth[k] >= 0;
    double total = 0, scale = known ? 1.0 / known : 0;
    for (int k = 0; k < n; k++) {
        int truth = batch->truth[k];
        if (truth < 0)
            continue;
        const vd_real *z = net->scores + (size_t)k * (size_t)o;
        int option = batch->option[(size_t)k * (size_t)o + (size_t)truth];
        double score = z[truth], share = 1;
        vd_target t = {0};
        if (margin > 1) {
            t = target_of(net, k, option, margin);
            share = lambda / (1 + lambda);
            score = share * score + (1 - share) * t.o_norm * t.e_norm * t.psi;
        }
        total += cross_entropy(z, o, truth, score, p);
        if (!net->pass.dw)
            continue;
        vd_real *d = net->dscores + (size_t)k * (size_t)o;
        p[truth] -= 1;
        for (int i = 0; i < o; i++)
            d[i] = (vd_real)(p[i] * scale);
        if (margin > 1) {
            margin_backward(net, &t, k, option, p[truth] * scale * (1 - share));
            d[truth] = (vd_real)(p[truth] * scale * share);
        }
    }
    *loss = total * scale;
    return VD_OK;
}
