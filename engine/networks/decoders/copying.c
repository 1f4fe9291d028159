// x_j, id_j: the words of the dialog that an answer sees (source.h), m of them. After word i the
// LSTM's state is s, attention a_j finds c (lstm_attention.c); p is the softmax of the scores z of
// the vocabulary's words.
//   P(y) = G p(y) [y < V] + (1 - G) sum_{j: id_j = y} b_j
// pointer (See et al. 2017): b = a, G = sigmoid(w . [c ; s ; word_i] + w_0).
// copynet (Gu et al. 2016): scores k_j = tanh(W_c x_j) . s, one softmax over z and k: b =
// softmax(k), G = e^Z / (e^Z + e^K), Z = log sum_v e^z_v, K = log sum_j e^k_j. Its LSTM reads [word
// ; mean of the x_j that are that word, 0 without any]; the paper weighs them by the last step's
// shares, which chains the steps, and is the same where the word stands once in X. Without words to
// copy G = 1. A target that neither the vocabulary nor X has is <UNK>.
// In training pointer may have a coverage loss, too (See et al. 2017, equations 10 to 13):
//   weight sum_ij min(a_ij, sum_{i' < i} a_i'j) / words
// which is for looking where no word before has. Unlike theirs the sum does not enter the scores,
// as that would chain the steps. The gradient goes to the smaller of both.
//   d(-log P) / dz_v = whole p(v) - hit [v = y], hit = G p(y) / P; whole = hit, of copynet G
#include "engine/networks/decoders/copying.h"

#include <math.h>
#include <string.h>

#include "engine/networks/pass.h"

static const char WORDS[] = "encoder.word_embed.weight";

void vd_copying_declare(const vd_config *c, vd_layout *layout)
{
    if (c->copy == VD_COPY_POINTER)
        vd_layout_score(layout, vd_source_name(c, "pointer").text, 2 * c->hidden + c->embed, true);
    if (c->copy == VD_COPY_COPYNET)
        vd_layout_linear(layout, vd_source_name(c, "copy").text, c->hidden, c->hidden, false);
}

const vd_value *vd_copynet_keys(vd_tape *tape, const vd_config *c, const vd_value *x)
{
    return vd_tape_map(tape, VD_TANH, vd_tape_linear(tape, x, vd_source_name(c, "copy").text));
}

// ---- what the words of an answer see ------------------------------------------------------------

static int wide(const vd_pair_group *g)
{
    return g->key[0].count + g->key[1].count;
}

// The first of the pairs of a word of the group.
static int pairs_at(const vd_pair_group *g, int row)
{
    return g->at + (row - g->query.first) * wide(g);
}

// The number of word j of those that a group sees.
static int32_t id_at(const vd_source *source, const vd_pair_group *g, int j)
{
    int before = g->key[0].count;
    return source->id[j < before ? g->key[0].first + j : g->key[1].first + j - before];
}

static vd_status out_of_memory(vd_error *err)
{
    return vd_error_memory(err, "copied words");
}

vd_status vd_copying_begin(vd_pass *pass, const int32_t *ids, const int32_t *lengths, int sequences,
                           int width, vd_copying *copying, const int32_t **known, vd_error *err)
{
    size_t all = (size_t)sequences * (size_t)width, words = 0;
    int32_t *read = vd_arena_take_raw(pass->arena, all, sizeof *read);
    int32_t *plain = vd_arena_take_raw(pass->arena, all, sizeof *plain);
    if (!read || !plain)
        return out_of_memory(err);
    for (int s = 0; s < sequences; s++)
        for (int i = 0; i < lengths[s]; i++)
            read[words++] = ids[(size_t)s * (size_t)width + (size_t)i];
    memcpy(plain, ids, all * sizeof *plain);
    vd_batch_known(plain, all, pass->config->vocab);
    copying->read = read;
    copying->source = &pass->source;
    *known = plain;
    return VD_OK;
}

// ---- copynet's input ----------------------------------------------------------------------------

// 1 / count for each of the places of a word in what it looks at.
static void weigh_places(const vd_copying *c, const vd_pair_group *g, int row, vd_real *weight)
{
    int count = 0;
    for (int j = 0; j < wide(g); j++)
        count += id_at(c->source, g, j) == c->read[row];
    for (int j = 0; j < wide(g); j++)
        weight[j] = id_at(c->source, g, j) == c->read[row] ? 1 / (vd_real)count : 0;
}

vd_status vd_copying_find(vd_pass *pass, const vd_packed *answers, const int *question,
                          vd_copying *copying, vd_error *err)
{
    if (pass->config->copy != VD_COPY_COPYNET)
        return VD_OK;
    vd_tape *tape = copying->tape = vd_source_tape(pass, err);
    if (!tape)
        return VD_NO_MEMORY;
    const vd_pairing *p = vd_source_pairing(tape, &pass->source, answers, question);
    size_t pairs = p ? (size_t)p->pairs : 0;
    vd_real *weight = vd_arena_take_raw(tape->arena, pairs, sizeof *weight);
    for (int i = 0; weight && p && i < p->count; i++)
        for (int q = 0, row = p->group[i].query.first; q < p->group[i].query.count; q++, row++)
            weigh_places(copying, &p->group[i], row, weight + pairs_at(&p->group[i], row));
    const vd_real *there =
        weight ? vd_arena_upload(tape->arena, weight, pairs, sizeof *weight) : NULL;
    if (!there)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: copied words");
    vd_value *places = vd_tape_constant(tape, VD_AXIS_PAIRS, there, (int)pairs, 1);
    places->pairing = p;
    copying->mean = vd_tape_mix(tape, places, pass->source.words);
    return vd_tape_status(tape, err);
}

// ---- shares and gates ---------------------------------------------------------------------------

void vd_copying_score(vd_pass *pass, const vd_packed *answers, const vd_value *s, const vd_value *c,
                      const vd_value *a, vd_attended *attended)
{
    vd_tape *tape = attended->tape;
    attended->copied = a;
    if (pass->config->copy == VD_COPY_COPYNET)
        attended->copied = vd_tape_dot(tape, a->pairing, s, pass->source.copy, 1);
    if (pass->config->copy != VD_COPY_POINTER)
        return;
    const vd_value *word =
        vd_tape_embed(tape, WORDS, answers->rows.id, answers->tokens, VD_AXIS_ANSWER_WORDS);
    const vd_value *const of[] = {c, s, word};
    attended->gate = vd_tape_linear(tape, vd_tape_join_all(tape, of, 3),
                                    vd_source_name(pass->config, "pointer").text);
}

// Numbers of a value on the host; NULL when memory is out.
static vd_real *read_value(const vd_pass *pass, const vd_value *x)
{
    size_t n = (size_t)x->rows;
    vd_real *here = vd_arena_take_raw(pass->arena, n, sizeof *here);
    if (here)
        pass->be->memory->download(here, x->x, n * sizeof *here);
    return here;
}

vd_status vd_copying_read(vd_pass *pass, const vd_attended *attended, vd_copying *c, vd_error *err)
{
    const vd_pairing *p = c->pairing = attended->copied->pairing;
    size_t words = (size_t)p->query_rows;
    c->attended = attended;
    c->seen = vd_arena_take(pass->arena, words, sizeof *c->seen);
    c->word = vd_arena_take(pass->arena, words, sizeof *c->word);
    c->share = read_value(pass, attended->copied);
    c->gate = attended->gate ? read_value(pass, attended->gate) : NULL;
    if (pass->arena->failed)
        return out_of_memory(err);
    for (int i = 0; i < p->count; i++)
        for (int q = 0; q < p->group[i].query.count; q++)
            c->seen[p->group[i].query.first + q] = &p->group[i];
    return VD_OK;
}

// Scores become shares; the logarithm of their sum.
static double share_out(vd_real *share, int count)
{
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < count; j++)
        largest = fmax(largest, (double)share[j]);
    for (int j = 0; j < count; j++)
        sum += exp((double)share[j] - largest);
    for (int j = 0; j < count; j++)
        share[j] = (vd_real)(exp((double)share[j] - largest) / sum);
    return largest + log(sum);
}

// G of a word, and its shares. Once for each word. log_sum: of copynet, which has no gate.
static double open_word(const vd_copying *c, int row, const vd_real *log_sum)
{
    const vd_pair_group *g = c->seen[row];
    if (wide(g) == 0)
        return 1;
    if (c->gate || !log_sum)
        return c->gate ? 1 / (1 + exp(-(double)c->gate[row])) : 1;
    return 1 / (1 + exp(share_out(c->share + pairs_at(g, row), wide(g)) - (double)*log_sum));
}

static double copied_share(const vd_copying *c, int row, int32_t id)
{
    const vd_pair_group *g = c->seen[row];
    double sum = 0;
    for (int j = 0; j < wide(g); j++)
        if (id_at(c->source, g, j) == id)
            sum += (double)c->share[pairs_at(g, row) + j];
    return sum;
}

// ---- probabilities ------------------------------------------------------------------------------

int32_t vd_copying_target(const vd_copying *c, int row, int32_t id, int vocab)
{
    const vd_pair_group *g = c->seen[row];
    bool there = id < vocab;
    for (int j = 0; j < wide(g) && !there; j++)
        there = id_at(c->source, g, j) == id;
    c->word[row].target = there ? id : VD_UNKNOWN;
    return there && id < vocab ? id : VD_UNKNOWN;
}

void vd_copying_logs(vd_copying *c, const vd_real *log_sum, int vocab, vd_real *log_p)
{
    for (int row = 0; row < c->pairing->query_rows; row++) {
        vd_copied_word *w = &c->word[row];
        w->generate = open_word(c, row, log_sum ? log_sum + row : NULL);
        w->said = w->target < vocab ? exp((double)log_p[row]) : 0;
        w->copied = copied_share(c, row, w->target);
        w->p = fmax(w->generate * w->said + (1 - w->generate) * w->copied, 1e-37);
        log_p[row] = (vd_real)log(w->p);
    }
}

void vd_copying_spread(vd_copying *c, int row, const vd_real *log_sum, int vocab, float *p)
{
    const vd_pair_group *g = c->seen[row];
    double generate = open_word(c, row, log_sum);
    for (int v = 0; v < vocab; v++)
        p[v] *= (float)generate;
    for (int j = 0; j < wide(g); j++)
        p[id_at(c->source, g, j)] +=
            (float)((1 - generate) * (double)c->share[pairs_at(g, row) + j]);
}

int vd_copying_wide(const vd_pass *pass)
{
    int words = pass->history_words.tokens + pass->question_words.tokens;
    int most = pass->config->vocab;
    for (int i = 0; pass->source.id && i < words; i++)
        most = pass->source.id[i] < most ? most : pass->source.id[i] + 1;
    return most;
}

// ---- back ---------------------------------------------------------------------------------------

// d(-log P) of a word's pairs, times `share`.
static void pairs_backward(const vd_copying *c, int row, vd_real share, vd_real *dpairs)
{
    const vd_pair_group *g = c->seen[row];
    const vd_copied_word *w = &c->word[row];
    double copy = (double)share * (1 - w->generate);
    for (int j = 0; j < wide(g); j++) {
        int at = pairs_at(g, row) + j;
        bool is_target = id_at(c->source, g, j) == w->target;
        double hit = is_target ? 1 / w->p : 0;
        dpairs[at] = (vd_real)(c->gate ? -copy * hit : copy * (double)c->share[at] * (1 - hit));
    }
}

// Of word j of X in the pairs of an answer's words.
static vd_real *share_of(const vd_copying *c, vd_real *pairs, int row, int j)
{
    return pairs + pairs_at(c->seen[row], row) + j;
}

static double cover(const vd_copying *c, int first, int count, int j, vd_real share,
                    vd_real *dpairs)
{
    double before = 0, sum = 0;
    for (int i = 0; i < count; i++) {
        double a = (double)*share_of(c, c->share, first + i, j);
        bool less = a < before;
        sum += less ? a : before;
        for (int k = less ? i : 0; dpairs && k < i + less; k++)
            *share_of(c, dpairs, first + k, j) += share;
        before += a;
    }
    return sum;
}

double vd_copying_coverage(const vd_copying *c, const vd_packed *answers, vd_real share,
                           vd_real *dpairs)
{
    double sum = 0;
    for (int s = 0; s < answers->sequences; s++) {
        int first = answers->start[s], count = answers->length[s];
        for (int j = 0; count && j < wide(c->seen[first]); j++)
            sum += cover(c, first, count, j, share, dpairs);
    }
    return sum;
}

// Adds numbers of the host to the gradient of a value.
static void add_gradient(vd_pass *pass, const vd_value *to, const vd_real *host)
{
    size_t n = (size_t)to->rows;
    const vd_real *there = vd_arena_upload(pass->arena, host, n, sizeof *host);
    if (there)
        pass->be->add(to->dx, there, n);
}

vd_status vd_copying_backward(vd_pass *pass, vd_copying *c, const vd_packed *answers, vd_real share,
                              const vd_real **whole, const vd_real **hit, vd_error *err)
{
    size_t words = (size_t)c->pairing->query_rows;
    vd_real *said = vd_arena_take_raw(pass->arena, words, sizeof *said),
            *all = vd_arena_take_raw(pass->arena, words, sizeof *all),
            *dgate = vd_arena_take_raw(pass->arena, words, sizeof *dgate),
            *dpairs = vd_arena_take(pass->arena, (size_t)c->pairing->pairs, sizeof *dpairs);
    if (pass->arena->failed)
        return out_of_memory(err);
    for (size_t row = 0; row < words; row++) {
        const vd_copied_word *w = &c->word[row];
        said[row] = (vd_real)(w->generate * w->said / w->p);
        all[row] = c->gate ? said[row] : (vd_real)w->generate;
        dgate[row] = (vd_real)(-(double)share * (w->said - w->copied) / w->p * w->generate *
                               (1 - w->generate));
        pairs_backward(c, (int)row, share, dpairs);
    }
    if (c->gate && pass->coverage != 0)
        vd_copying_coverage(c, answers, pass->coverage * share, dpairs);
    add_gradient(pass, c->attended->copied, dpairs);
    if (c->gate)
        add_gradient(pass, c->attended->gate, dgate);
    *whole = vd_arena_upload(pass->arena, all, words, sizeof *all);
    *hit = vd_arena_upload(pass->arena, said, words, sizeof *said);
    return pass->arena->failed ? out_of_memory(err) : VD_OK;
}
