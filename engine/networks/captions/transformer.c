// The Transformer captioner (Vaswani et al. 2017, normalised before each part) and CAT, the same
// with a second look (Lian et al. 2023, equations 2 to 7).
//   x_k = relu(W_p r_k + b)                                   regions, no positions
//   encoder layer: x += MHA(LN1 x, LN1 x, regions); x += FF(LN2 x); at the end M = LN x
//   words: x_t = sqrt(d) Emb(y_{t-1}) + PE(t - 1)
//   decoder layer: x += MHA(LN1 x, LN1 x, words up to t), then with q = x, q' = LN2 q
//     Transformer  x = q + MHA(q', M, regions)
//     CAT          C = q + MHA(q', M, regions), x = q + MHA(q', [M ; C], regions and C_i, i <= t)
//     light        x = q + MHA(q', [M ; q], regions and q_i, i <= t), no first look
//   x += FF(LN3 x); what words are made of: LN x
//   MHA(Q, Y): of each head softmax(Q_i K_i' / sqrt(d_h)) V_i, joined, times W_o
//   FF(x) = W_2 relu(W_1 x + b) + b
// Other histories: past i < t; only, C without M; now, M and C_t. The second look has the weights
// of the first (cross_attn), unless they are not shared (cross_attn2). With history-norm C, or q,
// is normalised before its keys and values are made.
// w_t, what a head gives to the history, is the sum of its shares there; beta_nj is its level.
#include <math.h>

#include "engine/networks/captions/private.h"

// ---- parameters ---------------------------------------------------------------------------------

// Names: "dec.1.cross_attn.q.weight"; where: "enc" or "dec".

static void declare_attention(vd_layout *layout, const char *where, int layer, const char *name,
                              int d)
{
    static const char *const parts[] = {"q", "k", "v", "o"};
    for (int i = 0; i < 4; i++)
        vd_caption_declare_linear(
            layout, vd_name_of("%s.%d.%s.%s", where, layer, name, parts[i]).text, d, d, true);
}

static void declare_norm(vd_layout *layout, const char *where, int layer, const char *name, int d)
{
    vd_layout_norm(layout, vd_name_of("%s.%d.%s", where, layer, name).text, d);
}

static void declare_ff(vd_layout *layout, const char *where, int layer, const vd_caption_config *c)
{
    vd_caption_declare_linear(layout, vd_name_of("%s.%d.ff.fc1", where, layer).text, c->hidden,
                              c->inner, true);
    vd_caption_declare_linear(layout, vd_name_of("%s.%d.ff.fc2", where, layer).text, c->inner,
                              c->hidden, true);
}

static void declare_encoder(vd_layout *layout, const vd_caption_config *c, int layer)
{
    declare_norm(layout, "enc", layer, "norm1", c->hidden);
    declare_attention(layout, "enc", layer, "self_attn", c->hidden);
    declare_norm(layout, "enc", layer, "norm2", c->hidden);
    declare_ff(layout, "enc", layer, c);
}

static void declare_decoder(vd_layout *layout, const vd_caption_config *c, int layer)
{
    int d = c->hidden;
    bool again = vd_caption_history_of(c) != VD_HISTORY_NONE;
    declare_norm(layout, "dec", layer, "norm1", d);
    declare_attention(layout, "dec", layer, "self_attn", d);
    declare_norm(layout, "dec", layer, "norm2", d);
    declare_attention(layout, "dec", layer, "cross_attn", d);
    if (again && !c->shared)
        declare_attention(layout, "dec", layer, "cross_attn2", d);
    if (again && c->history_norm)
        declare_norm(layout, "dec", layer, "history_norm", d);
    declare_norm(layout, "dec", layer, "norm3", d);
    declare_ff(layout, "dec", layer, c);
}

static void declare(const vd_caption_config *c, vd_layout *layout)
{
    int v = c->vocab, d = c->hidden;
    vd_layout_add(layout, "word_embed", ".weight", true, v, d,
                  (vd_init){VD_INIT_WORDS, 1 / sqrt((double)d)});
    for (int l = 0; l < c->layers; l++)
        declare_encoder(layout, c, l);
    vd_layout_norm(layout, "enc_norm", c->hidden);
    for (int l = 0; l < c->layers; l++)
        declare_decoder(layout, c, l);
    vd_layout_norm(layout, "dec_norm", c->hidden);
    vd_caption_declare_linear(layout, "out", c->hidden, c->vocab, true);
    if (c->awc == VD_AWC_LEARNT)
        vd_layout_add(layout, "awc.beta", "", false, c->layers, vd_caption_heads(c),
                      (vd_init){VD_INIT_VALUE, c->awc_level});
}

// ---- parts --------------------------------------------------------------------------------------

typedef struct part_of_layer {
    vd_caption_pass *pass;
    const char *where;
    int layer;
} part_of_layer;

static const vd_value *norm(const part_of_layer *at, const vd_value *x, const char *name)
{
    return vd_tape_layer_norm(&at->pass->tape, x,
                              vd_name_of("%s.%d.%s", at->where, at->layer, name).text);
}

// Of the attention `name`: one of q, k, v, o.
static const vd_value *project(const part_of_layer *at, const vd_value *x, const char *name,
                               const char *which)
{
    return vd_tape_linear(&at->pass->tape, x,
                          vd_name_of("%s.%d.%s.%s", at->where, at->layer, name, which).text);
}

static vd_caption_keys keys_of(const part_of_layer *at, const vd_value *y, const char *name)
{
    return (vd_caption_keys){project(at, y, name, "k"), project(at, y, name, "v")};
}

static const vd_value *scaled_queries(const part_of_layer *at, const vd_value *y, const char *name)
{
    const vd_caption_config *c = at->pass->config;
    double head = (double)c->hidden / vd_caption_heads(c);
    return vd_tape_scale(&at->pass->tape, project(at, y, name, "q"), 1 / (vd_real)sqrt(head));
}

// What queries find: shares (all heads) in *a, and W_o of what they mix, dropped.
static const vd_value *look(const part_of_layer *at, const vd_pairing *p, const vd_value *q,
                            vd_caption_keys keys, const char *name, const vd_value **a)
{
    vd_tape *tape = &at->pass->tape;
    vd_real dropout = at->pass->dropout;
    int heads = vd_caption_heads(at->pass->config);
    *a = vd_tape_softmax(tape, vd_tape_dot(tape, p, q, keys.key, heads));
    const vd_value *y = vd_tape_mix(tape, vd_tape_dropout(tape, *a, dropout), keys.value);
    return vd_tape_dropout(tape, project(at, y, name, "o"), dropout);
}

static const vd_value *feed_forward(const part_of_layer *at, const vd_value *x,
                                    const char *norm_name)
{
    vd_tape *tape = &at->pass->tape;
    vd_real dropout = at->pass->dropout;
    const vd_value *y = norm(at, x, norm_name);
    y = vd_tape_linear(tape, y, vd_name_of("%s.%d.ff.fc1", at->where, at->layer).text);
    y = vd_tape_dropout(tape, vd_tape_map(tape, VD_RELU, y), dropout);
    y = vd_tape_linear(tape, y, vd_name_of("%s.%d.ff.fc2", at->where, at->layer).text);
    return vd_tape_add(tape, x, vd_tape_dropout(tape, y, dropout));
}

// ---- encoder ------------------------------------------------------------------------------------

static const vd_pairing *pair_regions(vd_caption_pass *pass)
{
    vd_arena *arena = pass->tape.arena;
    const int *start = pass->region_start;
    vd_pair_group *group = vd_arena_take(arena, (size_t)pass->pictures, sizeof *group);
    for (int b = 0; b < pass->pictures && group; b++) {
        const vd_range all = {start[b], start[b + 1] - start[b]};
        group[b] = (vd_pair_group){.query = all, .key = {all}};
    }
    int rows = start ? start[pass->pictures] : 0;
    return vd_tape_pairing(&pass->tape, VD_AXIS_REGIONS, rows, VD_AXIS_REGIONS, rows, group,
                           pass->pictures, "captions");
}

static const vd_value *encode(const part_of_layer *at, const vd_pairing *p, const vd_value *x)
{
    const vd_value *a, *y = norm(at, x, "norm1");
    y = look(at, p, scaled_queries(at, y, "self_attn"), keys_of(at, y, "self_attn"), "self_attn",
             &a);
    return feed_forward(at, vd_tape_add(&at->pass->tape, x, y), "norm2");
}

static const char *second_name(const vd_caption_config *c)
{
    return c->shared ? "cross_attn" : "cross_attn2";
}

static void see(vd_caption_pass *pass, const vd_value *x)
{
    const vd_caption_config *c = pass->config;
    const vd_pairing *p = pair_regions(pass);
    for (int l = 0; l < c->layers && p; l++)
        x = encode(&(part_of_layer){pass, "enc", l}, p, x);
    pass->encoded = vd_tape_layer_norm(&pass->tape, x, "enc_norm");
    for (int l = 0; l < c->layers; l++) {
        const part_of_layer at = {pass, "dec", l};
        vd_caption_layer *layer = &pass->layer[l];
        *layer = (vd_caption_layer){.regions = keys_of(&at, pass->encoded, "cross_attn")};
        layer->again = layer->regions;
        if (vd_caption_history_of(c) != VD_HISTORY_NONE && !c->shared)
            layer->again = keys_of(&at, pass->encoded, "cross_attn2");
    }
}

// ---- decoder ------------------------------------------------------------------------------------

// Which rows of keys the words look at.
typedef struct looks {
    const vd_pairing *words, *regions, *again;
    const vd_value *is_history; // (keys of `again`, h) 1 for those of the history
} looks;

static looks find_sights(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_caption_history history = vd_caption_history_of(pass->config);
    looks s = {.words = vd_caption_sees_words(pass, words)};
    if (history != VD_HISTORY_LIGHT)
        s.regions = vd_caption_sees_regions(pass, words);
    if (history != VD_HISTORY_NONE && pass->tape.status == VD_OK) {
        s.again = vd_caption_pair_again(pass, words);
        s.is_history = vd_caption_mark_history(pass, words);
    }
    return s;
}

// The words of one layer on their way through it.
typedef struct step {
    part_of_layer at;
    const vd_caption_words *words;
    const looks *sees;
    vd_caption_layer *layer;
} step;

static const vd_value *look_at_words(const step *s, const vd_value *x)
{
    vd_tape *tape = &s->at.pass->tape;
    const vd_value *a, *y = norm(&s->at, x, "norm1");
    vd_caption_add_keys(tape, s->words, &s->layer->words, keys_of(&s->at, y, "self_attn"));
    y = look(&s->at, s->sees->words, scaled_queries(&s->at, y, "self_attn"), s->layer->words,
             "self_attn", &a);
    return vd_tape_add(tape, x, y);
}

// At regions and history; `history`: its newest rows, C or q.
static const vd_value *look_again(const step *s, const vd_value *q, const vd_value *history)
{
    vd_caption_pass *pass = s->at.pass;
    vd_tape *tape = &pass->tape;
    vd_caption_layer *layer = s->layer;
    const char *name = second_name(pass->config);
    if (pass->config->history_norm)
        history = norm(&s->at, history, "history_norm");
    vd_caption_add_keys(tape, s->words, &layer->history, keys_of(&s->at, history, name));
    const vd_caption_keys all = {vd_tape_stack(tape, layer->again.key, layer->history.key),
                                 vd_tape_stack(tape, layer->again.value, layer->history.value)};
    const vd_value *y = look(&s->at, s->sees->again, q, all, name, &layer->second);
    layer->given = vd_tape_mix(tape, layer->second, s->sees->is_history);
    return y;
}

static const vd_value *cross(const step *s, const vd_value *q)
{
    vd_caption_pass *pass = s->at.pass;
    vd_tape *tape = &pass->tape;
    vd_caption_layer *layer = s->layer;
    vd_caption_history history = vd_caption_history_of(pass->config);
    const vd_value *y = norm(&s->at, q, "norm2"), *found = q, *queries = NULL;
    if (history != VD_HISTORY_LIGHT) {
        queries = scaled_queries(&s->at, y, "cross_attn");
        found = vd_tape_add(
            tape, q,
            look(&s->at, s->sees->regions, queries, layer->regions, "cross_attn", &layer->look));
    }
    if (history == VD_HISTORY_NONE)
        return found;
    if (!queries || !pass->config->shared)
        queries = scaled_queries(&s->at, y, second_name(pass->config));
    return vd_tape_add(tape, q, look_again(s, queries, found));
}

static const vd_value *read_words(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_tape *tape = &pass->tape;
    int d = pass->config->hidden;
    const vd_value *x =
        vd_tape_embed(tape, "word_embed.weight", words->id, words->rows, VD_AXIS_NONE);
    const vd_value *table = vd_tape_constant(tape, VD_AXIS_NONE, pass->sinusoid, VD_MAX_HISTORY, d);
    x = vd_tape_add(tape, vd_tape_scale(tape, x, (vd_real)sqrt((double)d)),
                    vd_tape_rows(tape, table, words->position, words->rows, VD_AXIS_NONE));
    return vd_tape_dropout(tape, x, pass->dropout);
}

static const vd_value *read(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_tape *tape = &pass->tape;
    const vd_caption_config *c = pass->config;
    looks sees = find_sights(pass, words);
    const vd_value *x = read_words(pass, words);
    for (int l = 0; l < c->layers && tape->status == VD_OK; l++) {
        const step s = {{pass, "dec", l}, words, &sees, &pass->layer[l]};
        x = feed_forward(&s.at, cross(&s, look_at_words(&s, x)), "norm3");
        if (words->target && c->awc != VD_AWC_NONE)
            vd_caption_awc_term(pass, words, l);
    }
    return vd_tape_layer_norm(tape, x, "dec_norm");
}

const vd_caption_network vd_caption_transformer = {declare, see, read};
