// Show, Attend and Tell with soft attention (Xu et al. 2015), and with a look at its own contexts
// (after Lian et al. 2023, who give no formulas for LSTMs):
//   x_k = relu(W_p r_k + b), m = mean of the x_k; h_0 = tanh(W_h m + b), c_0 = tanh(W_c m + b)
//   e_tk = v . tanh(W_a x_k + U_a h_{t-1} + b_a), a_t = softmax_k(e_t)
//   g_t = sigmoid(w_g . h_{t-1} + b), z_t = g_t sum_k a_tk x_k
//   h_t, c_t = LSTM([Emb(y_{t-1}) ; z_t], h_{t-1}, c_{t-1})
// What words are made of: dropout(tanh(Emb(y_{t-1}) + L_h dropout(h_t) + b + L_z z_t)).
// With a history z'_t = sum_k a_tk x_k, and a second softmax over the e_tk and v . tanh(W_a z'_i +
// U_a h_{t-1} + b_a), i <= t (or as `history` says), pools [x ; z'_1 .. z'_t]; then the gate.
// Loss: that each region is seen tau times in all (captions.h).
// Hard attention: z_t = g_t x_{s_t} with s_t drawn from a_t, or, where nothing is learned, of the
// largest share. In training a share of the captions goes the soft way throughout (hard.c).
// Weights start as wide as their sizes want it, not N(0, 0.01^2) as published: from there Adam
// needs thousands of steps to see more than how often words occur (on Blocks the cross entropy was
// 3.80 after 2160 steps; it is 1.14 after 720).
#include <math.h>

#include "engine/networks/captions/private.h"

// ---- parameters ---------------------------------------------------------------------------------

static void declare_lstm(vd_layout *layout, int in, int h)
{
    vd_layout_add(layout, "lstm", ".weight_ih", true, 4 * h, in, vd_caption_xavier(in, h));
    vd_layout_add(layout, "lstm", ".weight_hh", true, 4 * h, h, (vd_init){VD_INIT_ORTHOGONAL, 1});
    vd_layout_add(layout, "lstm", ".bias_ih", false, 4 * h, 0, vd_init_zero());
    vd_layout_add(layout, "lstm", ".bias_hh", false, 4 * h, 0, vd_init_zero());
}

static void declare(const vd_caption_config *c, vd_layout *layout)
{
    int d = c->hidden, e = c->embed, a = c->inner;
    vd_layout_add(layout, "word_embed", ".weight", true, c->vocab, e,
                  (vd_init){VD_INIT_WORDS, 1 / sqrt((double)e)});
    vd_caption_declare_linear(layout, "init_h", d, d, true);
    vd_caption_declare_linear(layout, "init_c", d, d, true);
    vd_caption_declare_linear(layout, "att.region", d, a, true);
    vd_caption_declare_linear(layout, "att.hidden", d, a, false);
    vd_layout_add(layout, "att.score", ".weight", false, 1, a, vd_caption_xavier(a, 1));
    vd_layout_add(layout, "gate", ".weight", false, 1, d, vd_caption_xavier(d, 1));
    vd_layout_add(layout, "gate", ".bias", false, 1, 0, vd_init_zero());
    declare_lstm(layout, e + d, d);
    vd_caption_declare_linear(layout, "deep.h", d, e, true);
    vd_caption_declare_linear(layout, "deep.z", d, e, false);
    vd_caption_declare_linear(layout, "out", e, c->vocab, true);
    if (c->awc == VD_AWC_LEARNT)
        vd_layout_add(layout, "awc.beta", "", false, 1, 1, (vd_init){VD_INIT_VALUE, c->awc_level});
}

// ---- the picture --------------------------------------------------------------------------------

// The mean of each picture's regions (B, d).
static const vd_value *mean_of_regions(vd_caption_pass *pass, const vd_value *x)
{
    vd_tape *tape = &pass->tape;
    const int *start = pass->region_start;
    vd_pair_group *group = vd_arena_take(tape->arena, (size_t)pass->pictures, sizeof *group);
    vd_real *share = vd_arena_take(tape->arena, (size_t)x->rows, sizeof *share);
    if (!group || !share) {
        vd_caption_no_memory(pass);
        return &tape->nothing;
    }
    for (int b = 0; b < pass->pictures; b++) {
        const vd_range all = {start[b], start[b + 1] - start[b]};
        group[b] = (vd_pair_group){.query = {b, 1}, .key = {all}};
        for (int k = start[b]; k < start[b + 1]; k++)
            share[k] = 1 / (vd_real)all.count;
    }
    const vd_pairing *p = vd_tape_pairing(tape, VD_AXIS_NONE, pass->pictures, VD_AXIS_REGIONS,
                                          x->rows, group, pass->pictures, "captions");
    if (!p)
        return &tape->nothing;
    return vd_tape_mix(tape, vd_tape_given_pairs(tape, p, share), x);
}

static void see(vd_caption_pass *pass, const vd_value *x)
{
    vd_tape *tape = &pass->tape;
    if (tape->status != VD_OK)
        return;
    const vd_value *mean = mean_of_regions(pass, x);
    pass->encoded = x;
    pass->start.h = vd_tape_map(tape, VD_TANH, vd_tape_linear(tape, mean, "init_h"));
    pass->start.c = vd_tape_map(tape, VD_TANH, vd_tape_linear(tape, mean, "init_c"));
    pass->layer[0] = (vd_caption_layer){.regions = {vd_tape_linear(tape, x, "att.region"), x}};
}

// ---- one step -----------------------------------------------------------------------------------

// Each caption and the regions of its picture, a group each.
static const vd_pairing *pair_regions(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_pair_group *group = vd_arena_take(pass->tape.arena, (size_t)words->captions, sizeof *group);
    for (int c = 0; c < words->captions && group; c++)
        group[c] = (vd_pair_group){.query = {c, 1}, .key = {vd_caption_picture(pass, words, c)}};
    return vd_caption_pairing(pass, words, pass->encoded->rows, group, words->captions);
}

// What is mixed of the regions: their shares, or the choice.
static const vd_value *shares(vd_caption_pass *pass, const vd_caption_words *words,
                              vd_caption_step *step)
{
    return vd_caption_is_hard(pass->config) ? vd_caption_choose(pass, words, step) : step->look;
}

// What is found: the regions' mix, or that of regions and history, times the gate.
static const vd_value *look(vd_caption_pass *pass, const vd_caption_words *words, const vd_value *h,
                            vd_caption_step *step)
{
    vd_tape *tape = &pass->tape;
    vd_caption_layer *l = &pass->layer[0];
    const vd_value *q = vd_tape_linear(tape, h, "att.hidden"),
                   *v = vd_tape_vector(tape, "att.score.weight"),
                   *gate = vd_tape_map(tape, VD_SIGMOID, vd_tape_linear(tape, h, "gate"));
    const vd_pairing *p = pair_regions(pass, words);
    step->gate = gate;
    step->look = vd_tape_softmax(tape, vd_tape_additive(tape, p, q, l->regions.key, v));
    if (vd_caption_history_of(pass->config) == VD_HISTORY_NONE)
        return vd_tape_mix(tape, vd_tape_weigh(tape, shares(pass, words, step), gate),
                           pass->encoded);
    const vd_value *z = vd_tape_mix(tape, step->look, pass->encoded);
    vd_caption_add_keys(tape, words, &l->history,
                        (vd_caption_keys){vd_tape_linear(tape, z, "att.region"), z});
    const vd_value *keys = vd_tape_stack(tape, l->regions.key, l->history.key),
                   *values = vd_tape_stack(tape, pass->encoded, l->history.value);
    if (tape->status != VD_OK)
        return &tape->nothing;
    const vd_pairing *again = vd_caption_pair_again(pass, words);
    step->second = vd_tape_softmax(tape, vd_tape_additive(tape, again, q, keys, v));
    l->given = vd_tape_mix(tape, step->second, vd_caption_mark_history(pass, words));
    return vd_tape_mix(tape, vd_tape_weigh(tape, step->second, gate), values);
}

// Each caption's state before this word.
static vd_lstm_state states_before(vd_caption_pass *pass, const vd_caption_words *words)
{
    const vd_lstm_state *from = words->parent ? &pass->state : &pass->start;
    const int *list = words->parent ? words->parent : words->picture_at;
    vd_tape *tape = &pass->tape;
    return (vd_lstm_state){vd_tape_rows(tape, from->h, list, words->rows, VD_AXIS_NONE),
                           vd_tape_rows(tape, from->c, list, words->rows, VD_AXIS_NONE)};
}

// One word of each caption.
static const vd_value *read_step(vd_caption_pass *pass, const vd_caption_words *words,
                                 vd_caption_step *step)
{
    vd_tape *tape = &pass->tape;
    vd_lstm_state s = states_before(pass, words);
    if (tape->status != VD_OK)
        return &tape->nothing;
    const vd_value *x =
        vd_tape_embed(tape, "word_embed.weight", words->id, words->rows, VD_AXIS_NONE);
    const vd_value *z = look(pass, words, s.h, step);
    vd_tape_lstm_cell(tape, vd_tape_concat(tape, x, z), &s, "lstm");
    pass->state = s;
    const vd_value *n = vd_tape_linear(tape, vd_tape_dropout(tape, s.h, pass->dropout), "deep.h");
    n = vd_tape_add(tape, vd_tape_add(tape, x, n), vd_tape_linear(tape, z, "deep.z"));
    return vd_tape_dropout(tape, vd_tape_map(tape, VD_TANH, n), pass->dropout);
}

// ---- all steps ----------------------------------------------------------------------------------

// Reading whole captions, a word of each at a time.
typedef struct whole {
    vd_caption_pass *pass;
    const vd_caption_words *words;
    int captions;                // of the newest step
    const int *caption;          // (captions) which they are; NULL: all
    int *row;                    // (W) of a word in the stacked steps
    int rows;                    // of the steps so far
    const vd_value *all, *given; // (rows, E), (rows, 1)
    const vd_value *sum;         // (pairs, 1) of the shares of a caption's regions so far
    int pairs;
} whole;

// Goes on to step t: the captions that have a word t. False: none has, or memory is out.
static bool choose(whole *w, int t, vd_caption_next *next)
{
    vd_arena *arena = w->pass->tape.arena;
    size_t most = (size_t)w->captions;
    int32_t *id = vd_arena_take(arena, most, sizeof *id);
    int *caption = vd_arena_ints(arena, most), *parent = vd_arena_ints(arena, most),
        *picture = vd_arena_ints(arena, most), count = 0;
    if (arena->failed)
        vd_caption_no_memory(w->pass);
    for (int i = 0; i < w->captions && !arena->failed; i++) {
        int c = w->caption ? w->caption[i] : i;
        if (vd_caption_word_count(w->words, c) <= t)
            continue;
        id[count] = w->words->host_id[w->words->start[c] + t];
        w->row[w->words->start[c] + t] = w->rows + count;
        picture[count] = w->words->picture[c];
        parent[count] = i;
        caption[count++] = c;
    }
    w->captions = count;
    w->caption = caption;
    *next = (vd_caption_next){count, id, t ? parent : NULL, picture};
    return count > 0;
}

// Adds the step's shares to the sum of each caption's regions.
static void add_shares(whole *w, const vd_value *a)
{
    vd_tape *tape = &w->pass->tape;
    int *list = vd_arena_ints(tape->arena, (size_t)w->pairs), at = 0;
    for (int c = 0, i = 0; c < w->words->captions && list; c++) {
        bool active = i < w->captions && w->caption[i] == c;
        int count = vd_caption_picture(w->pass, w->words, c).count;
        for (int k = 0; k < count; k++)
            list[at++] = active ? a->pairing->group[i].at + k : -1;
        i += active;
    }
    const vd_value *y = vd_tape_choose(tape, a, list, w->pairs, VD_AXIS_NONE);
    w->sum = w->sum ? vd_tape_add(tape, w->sum, y) : y;
}

static const vd_value *below(vd_tape *tape, const vd_value *above, const vd_value *y)
{
    return above ? vd_tape_stack(tape, above, y) : y;
}

static void read_one(whole *w, int t, const vd_caption_next *next, vd_caption_words *last)
{
    vd_caption_pass *pass = w->pass;
    vd_caption_words now;
    vd_error err;
    if (vd_caption_words_step(pass->tape.arena, last, next, &now, &err) != VD_OK) {
        vd_caption_no_memory(pass);
        return;
    }
    pass->step[t] = (vd_caption_step){.captions = w->captions, .caption = w->caption};
    w->all = below(&pass->tape, w->all, read_step(pass, &now, &pass->step[t]));
    if (pass->layer[0].given)
        w->given = below(&pass->tape, w->given, pass->layer[0].given);
    if (w->words->target && pass->config->captioner == VD_CAPTIONER_SAT_SOFT &&
        pass->config->seen_weight > 0 && pass->tape.status == VD_OK)
        add_shares(w, pass->step[t].look);
    w->rows += w->captions;
    *last = now;
}

// lambda (tau - sum_t a_tk)^2
static void add_term(whole *w)
{
    vd_caption_pass *pass = w->pass;
    vd_tape *tape = &pass->tape;
    vd_real *less = vd_arena_take(tape->arena, (size_t)w->pairs, sizeof *less),
            *weight = vd_arena_take(tape->arena, (size_t)w->pairs, sizeof *weight);
    if (!less || !weight) {
        vd_caption_no_memory(pass);
        return;
    }
    for (int c = 0, at = 0; c < w->words->captions; c++) {
        int regions = vd_caption_picture(pass, w->words, c).count;
        double fit = (double)vd_caption_word_count(w->words, c) / regions;
        for (int k = 0; k < regions; k++, at++) {
            less[at] = -(vd_real)(pass->config->seen_target > 0 ? pass->config->seen_target : fit);
            weight[at] = (vd_real)pass->config->seen_weight;
        }
    }
    const vd_value *apart =
        vd_tape_add(tape, w->sum, vd_tape_given(tape, VD_AXIS_NONE, less, w->pairs, 1));
    pass->term[pass->terms++] = (vd_caption_term){vd_tape_multiply(tape, apart, apart), weight};
}

static const vd_value *read_whole(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_tape *tape = &pass->tape;
    whole w = {.pass = pass,
               .words = words,
               .captions = words->captions,
               .row = vd_arena_ints(tape->arena, (size_t)words->rows)};
    vd_caption_words last = {0};
    vd_caption_next next;
    for (int c = 0; c < words->captions; c++)
        w.pairs += vd_caption_picture(pass, words, c).count;
    for (int t = 0; tape->status == VD_OK && choose(&w, t, &next); t++)
        read_one(&w, t, &next, &last);
    const int *row = vd_tape_upload(tape, w.row, (size_t)words->rows, sizeof *row);
    if (tape->status != VD_OK)
        return &tape->nothing;
    if (w.sum)
        add_term(&w);
    if (w.given)
        pass->layer[0].given = vd_tape_rows(tape, w.given, row, words->rows, VD_AXIS_NONE);
    if (words->target && pass->config->awc != VD_AWC_NONE)
        vd_caption_awc_term(pass, words, 0);
    return vd_tape_rows(tape, w.all, row, words->rows, VD_AXIS_NONE);
}

static const vd_value *read(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_caption_step step = {0};
    return words->picture_at ? read_step(pass, words, &step) : read_whole(pass, words);
}

const vd_caption_network vd_caption_sat = {declare, see, read};
