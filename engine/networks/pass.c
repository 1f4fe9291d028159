#include "engine/networks/pass.h"

uint64_t vd_pass_key(const vd_pass *pass, vd_site site)
{
    return vd_rng_mix(pass->key + 0x9e3779b97f4a7c15u * (uint64_t)(site + 1));
}

vd_tape *vd_pass_tape(const vd_pass *pass, uint64_t key)
{
    vd_tape *tape = vd_arena_take(pass->arena, 1, sizeof *tape);
    if (tape)
        *tape = (vd_tape){.be = pass->be,
                          .arena = pass->arena,
                          .w = &pass->w->all,
                          .dw = pass->dw ? &pass->dw->all : NULL,
                          .key = key,
                          .uniform = pass->uniform};
    return tape;
}

void vd_pass_take(vd_pass *pass, size_t n, vd_real **y, vd_real **dy)
{
    *y = vd_arena_reals(pass->arena, n);
    if (pass->dw)
        *dy = vd_arena_zeros(pass->arena, n);
}

const vd_real *vd_pass_drop(vd_pass *pass, const vd_real *x, size_t n, vd_real rate, vd_site site)
{
    if (rate == 0)
        return x;
    vd_real *y = vd_arena_reals(pass->arena, n);
    if (y)
        pass->be->dropout(x, y, n, rate, vd_pass_key(pass, site));
    return y;
}

void vd_pass_drop_backward(vd_pass *pass, vd_real *dx, size_t n, vd_real rate, vd_site site)
{
    if (rate != 0)
        pass->be->dropout(dx, dx, n, rate, vd_pass_key(pass, site));
}

const vd_score_weights *vd_pass_score(vd_pass *pass, const char *attention,
                                      const vd_score_weights *score, vd_score_weights *flat)
{
    if (!vd_is_uniform(pass->uniform, attention))
        return score;
    flat->w = vd_arena_zeros(pass->arena, (size_t)pass->config->hidden);
    flat->b = vd_arena_zeros(pass->arena, 1);
    return flat;
}

void vd_pass_scores(const vd_pass *pass, const char *attention, const vd_product *list, int count,
                    vd_real *scores, size_t n)
{
    if (vd_is_uniform(pass->uniform, attention))
        pass->be->memory->zero(scores, n * sizeof *scores);
    else
        pass->be->products(false, true, 0, list, count);
}
