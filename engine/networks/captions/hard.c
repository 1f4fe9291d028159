// Hard attention (Xu et al. 2015, section 4.1): one region a word, learned by REINFORCE. To ascend,
// of one draw a caption, H(a) = -sum_k a_k ln a_k:
//   d ln p(y|s) + lambda_r (R - m) d sum_t ln a_{t,s_t} + lambda_e d sum_t H(a_t)
// with R = ln p(y|s) / T, and m the running mean of R. A caption with soft attention has no
// lambda_r term.
#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/networks/captions/private.h"

static const uint64_t SOFT = 0x736f6674; // of the draw that says which way a caption goes

// Of the caption `c` in a training step: the same draw in all its steps.
static bool goes_soft(const vd_caption_pass *pass, int c)
{
    vd_rng rng = vd_rng_seed(pass->tape.key ^ SOFT, (uint64_t)c);
    return vd_rng_uniform(&rng) < pass->config->soft_share;
}

static int largest(const vd_real *a, int count)
{
    int best = 0;
    for (int k = 1; k < count; k++)
        best = a[k] > a[best] ? k : best;
    return best;
}

static int draw(const vd_caption_pass *pass, int caption, int t, const vd_real *a, int count)
{
    vd_rng rng = vd_rng_seed(pass->tape.key + (uint64_t)t, (uint64_t)caption);
    double point = vd_rng_uniform(&rng), sum = 0;
    for (int k = 0; k < count; k++)
        if ((sum += (double)a[k]) > point)
            return k;
    return count - 1;
}

// Which region caption i of the step looks at; -1: all, the soft way.
static int choose(const vd_caption_pass *pass, const vd_caption_step *step, int t, int i,
                  const vd_real *a, int count)
{
    int c = step->caption ? step->caption[i] : i;
    if (pass->forced)
        return pass->forced[t];
    if (pass->hard == VD_HARD_EXPECTED)
        return -1;
    if (pass->hard == VD_HARD_DRAW)
        return draw(pass, c, t, a, count);
    if (pass->hard == VD_HARD_LARGEST || !pass->tape.dw)
        return largest(a, count);
    return goes_soft(pass, c) ? -1 : draw(pass, c, t, a, count);
}

const vd_value *vd_caption_choose(vd_caption_pass *pass, const vd_caption_words *words,
                                  vd_caption_step *step)
{
    vd_tape *tape = &pass->tape;
    const vd_pairing *p = step->look->pairing;
    if (tape->status != VD_OK)
        return &tape->nothing;
    // Marks of the pairs: 1 at what is chosen, 1 at all of a caption that goes the soft way.
    size_t pairs = (size_t)p->pairs;
    vd_real *chosen = vd_arena_take(tape->arena, pairs, sizeof *chosen);
    vd_real *soft = vd_arena_take(tape->arena, pairs, sizeof *soft);
    vd_real *a = vd_arena_take_raw(tape->arena, pairs, sizeof *a);
    int *pair = vd_arena_ints(tape->arena, (size_t)p->count);
    if (tape->arena->failed) {
        vd_caption_no_memory(pass);
        return &tape->nothing;
    }
    tape->be->memory->download(a, step->look->x, pairs * sizeof *a);
    int t = words->first[1] - words->first[0] - 1;
    for (int i = 0; i < p->count; i++) {
        int at = p->group[i].at, count = p->group[i].key[0].count;
        int k = choose(pass, step, t, i, a + at, count);
        pair[i] = k < 0 ? -1 : at + k;
        if (k >= 0)
            chosen[at + k] = 1;
        for (int r = 0; r < count && k < 0; r++)
            soft[at + r] = 1;
    }
    step->chosen = pair;
    const vd_value *shares = vd_tape_multiply(tape, step->look, vd_tape_given_pairs(tape, p, soft));
    return vd_tape_add(tape, vd_tape_given_pairs(tape, p, chosen), shares);
}

// ---- what choices bring -------------------------------------------------------------------------

// R of each caption.
static void find_rewards(vd_caption_pass *pass, const vd_real *log, double *reward)
{
    const vd_caption_words *words = &pass->words;
    pass->rewards = (vd_caption_rewards){.count = words->captions};
    for (int c = 0; c < words->captions; c++) {
        reward[c] = 0;
        for (int i = words->start[c]; i < words->start[c + 1]; i++)
            reward[c] += (double)log[i] / vd_caption_word_count(words, c);
        pass->rewards.sum += reward[c];
    }
}

// The gradient of a step's shares, to descend; adds what is left of the entropy to *loss.
static vd_status reinforce_step(vd_caption_pass *pass, const vd_caption_step *step,
                                const double *advantage, double captions, double *loss,
                                vd_error *err)
{
    const vd_caption_config *c = pass->config;
    const vd_tape *tape = &pass->tape;
    const vd_pairing *p = step->look->pairing;
    size_t n = (size_t)p->pairs;
    vd_real *a = vd_arena_take_raw(tape->arena, 2 * n, sizeof *a), *g = a + n;
    if (!a)
        return vd_error_memory(err, "the loss of captions");
    tape->be->memory->download(a, step->look->x, n * sizeof *a);
    for (size_t k = 0; k < n; k++) {
        double share = fmax((double)a[k], 1e-30), log_share = log(share);
        g[k] = (vd_real)(c->entropy_weight * (log_share + 1) / captions);
        *loss += c->entropy_weight * share * log_share / captions;
    }
    for (int i = 0; i < step->captions; i++) {
        int s = step->chosen[i];
        if (s >= 0)
            g[s] -= (vd_real)(c->reward_weight * advantage[step->caption[i]] /
                              (fmax((double)a[s], 1e-30) * captions));
    }
    const vd_real *there = vd_arena_upload(tape->arena, g, n, sizeof *g);
    if (!there)
        return vd_error_memory(err, "the loss of captions");
    if (step->look->dx)
        tape->be->add_scaled(step->look->dx, 1, there, n);
    return vd_backend_status(tape->be, err);
}

vd_status vd_caption_reinforce(vd_caption_pass *pass, const vd_real *log, double captions,
                               double *loss, vd_error *err)
{
    const vd_caption_words *words = &pass->words;
    double *advantage = vd_arena_take(pass->tape.arena, (size_t)words->captions, sizeof *advantage);
    vd_status status = VD_OK;
    int longest = 0;
    if (!advantage)
        return vd_error_memory(err, "the loss of captions");
    find_rewards(pass, log, advantage);
    double mean = pass->rewards.sum / (double)pass->rewards.count;
    for (int c = 0; c < words->captions; c++) {
        int count = vd_caption_word_count(words, c);
        advantage[c] -= pass->baseline ? *pass->baseline : mean;
        longest = count > longest ? count : longest;
    }
    for (int t = 0; t < longest && status == VD_OK; t++)
        status = reinforce_step(pass, &pass->step[t], advantage, captions, loss, err);
    return status;
}
