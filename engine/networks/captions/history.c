// What captioners that look back have in common: which entries of the history a word sees, their
// keys and values, and how what heads give to them is held to a level.

#include "engine/networks/captions/private.h"

// Of word i of a caption, whose own entry is row `own`.
static vd_range history_range(vd_caption_history history, int first, int own)
{
    if (history == VD_HISTORY_NOW)
        return (vd_range){own, 1};
    return (vd_range){first, own - first + (history != VD_HISTORY_PAST)};
}

const vd_pairing *vd_caption_pair_again(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_caption_history history = vd_caption_history_of(pass->config);
    int regions = pass->region_start ? pass->region_start[pass->pictures] : 0, most = 0;
    vd_pair_group *group = vd_arena_take(pass->tape.arena, (size_t)words->rows, sizeof *group);
    for (int c = 0; c < words->captions && group; c++)
        for (int i = words->start[c]; i < words->start[c + 1]; i++) {
            int own = words->first[c + 1] - (words->start[c + 1] - i);
            group[i].query = (vd_range){i, 1};
            if (history != VD_HISTORY_ONLY)
                group[i].key[0] = vd_caption_picture(pass, words, c);
            if (pass->no_history)
                continue;
            group[i].key[1] = history_range(history, words->first[c], own);
            group[i].key[1].first += regions;
            int keys = group[i].key[0].count + group[i].key[1].count;
            most = keys > most ? keys : most;
        }
    // The words of a caption, and the captions of a picture, share its regions.
    for (int i = 0; i < words->rows && group && words->rows > words->captions; i++)
        group[i].stride = most;
    return vd_caption_pairing(pass, words, regions + words->keys, group, words->rows);
}

const vd_value *vd_caption_mark_history(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_tape *tape = &pass->tape;
    int heads = vd_caption_heads(pass->config), regions = pass->region_start[pass->pictures];
    size_t n = (size_t)(regions + words->keys) * (size_t)heads;
    vd_real *mark = vd_arena_take(tape->arena, n, sizeof *mark);
    for (size_t i = (size_t)regions * (size_t)heads; i < n && mark; i++)
        mark[i] = 1;
    return vd_tape_given(tape, VD_AXIS_NONE, mark, regions + words->keys, heads);
}

// One list of keys or values, those before with those of now.
static const vd_value *go_on(vd_tape *tape, const vd_caption_words *words, const vd_value *before,
                             const vd_value *now)
{
    if (!words->from)
        return now;
    return vd_tape_rows(tape, vd_tape_stack(tape, before, now), words->from, words->keys,
                        VD_AXIS_NONE);
}

void vd_caption_add_keys(vd_tape *tape, const vd_caption_words *words, vd_caption_keys *keys,
                         vd_caption_keys now)
{
    keys->key = go_on(tape, words, keys->key, now.key);
    keys->value = go_on(tape, words, keys->value, now.value);
}

// (w - beta)^2 of a layer, (W, h).
static const vd_value *spread_of(vd_caption_pass *pass, int l)
{
    vd_tape *tape = &pass->tape;
    const vd_caption_config *c = pass->config;
    int heads = vd_caption_heads(c);
    int *index = vd_arena_ints(tape->arena, 1);
    vd_real *level = vd_arena_take(tape->arena, (size_t)heads, sizeof *level);
    if (!index || !level) {
        vd_caption_no_memory(pass);
        return &tape->nothing;
    }
    *index = l;
    for (int h = 0; h < heads; h++)
        level[h] = (vd_real)c->awc_level;
    const vd_value *beta =
        c->awc == VD_AWC_LEARNT
            ? vd_tape_choose(tape, vd_tape_vector(tape, "awc.beta"), index, 1, VD_AXIS_NONE)
            : vd_tape_given(tape, VD_AXIS_NONE, level, 1, heads);
    const vd_value *apart = vd_tape_add(tape, pass->layer[l].given, vd_tape_scale(tape, beta, -1));
    return vd_tape_multiply(tape, apart, apart);
}

void vd_caption_awc_term(vd_caption_pass *pass, const vd_caption_words *words, int layer)
{
    const vd_caption_config *c = pass->config;
    int heads = vd_caption_heads(c);
    const vd_value *y = spread_of(pass, layer);
    vd_real *weight =
        vd_arena_take(pass->tape.arena, (size_t)words->rows * (size_t)heads, sizeof *weight);
    if (!weight) {
        vd_caption_no_memory(pass);
        return;
    }
    for (int s = 0; s < words->captions; s++) {
        double each = c->awc_weight /
                      (vd_caption_layers(c) * heads * (double)vd_caption_word_count(words, s));
        for (int i = words->start[s] * heads; i < words->start[s + 1] * heads; i++)
            weight[i] = (vd_real)each;
    }
    pass->term[pass->terms++] = (vd_caption_term){y, weight};
}
