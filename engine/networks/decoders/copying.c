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

// 1 / count for each occurrence of a word in what it attends to.
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
    copying->mean = vd_tape_mix(tape, vd_tape_given_pairs(tape, p, weight), pass->source.words);
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
    attended->gate = vd_tape_linear(tape, vd_tape_concat_all(tape, of, 3),
                                    vd_source_name(pass->config, "pointer").text);
}

vd_status vd_copying_match(vd_pass *pass, const vd_attended *attended, vd_copying *c, vd_error *err)
{
    const vd_pairing *p = c->pairing = attended->copied->pairing;
    size_t words = (size_t)p->query_rows;
    c->attended = attended;
    c->seen = vd_arena_take(pass->arena, words, sizeof *c->seen);
    c->hit = vd_arena_take_raw(pass->arena, (size_t)p->pairs, sizeof *c->hit);
    c->known = vd_arena_take_raw(pass->arena, words, sizeof *c->known);
    if (pass->arena->failed)
        return out_of_memory(err);
    for (int i = 0; i < p->count; i++)
        for (int q = 0; q < p->group[i].query.count; q++)
            c->seen[p->group[i].query.first + q] = &p->group[i];
    return VD_OK;
}

// ---- probabilities ------------------------------------------------------------------------------

int32_t vd_copying_target(vd_copying *c, int row, int32_t id, int vocab)
{
    const vd_pair_group *g = c->seen[row];
    uint8_t *hit = c->hit + pairs_at(g, row);
    bool known = id < vocab, there = known;
    for (int j = 0; j < wide(g); j++) {
        hit[j] = id_at(c->source, g, j) == id;
        there |= hit[j];
    }
    c->known[row] = known;
    if (!there)
        return vd_copying_target(c, row, VD_UNKNOWN, vocab);
    return known ? id : VD_UNKNOWN;
}

vd_status vd_copying_logs(vd_pass *pass, vd_copying *c, const vd_real *log_sum, vd_real *log_p,
                          vd_error *err)
{
    const vd_pairing *p = c->pairing;
    const vd_attended *a = c->attended;
    size_t words = (size_t)p->query_rows;
    c->copies = (vd_copied_words){
        .pairs = p->queries,
        .share = a->copied->x,
        .gate = a->gate ? a->gate->x : NULL,
        .log_sum = log_sum,
        .hit = vd_arena_upload(pass->arena, c->hit, (size_t)p->pairs, sizeof *c->hit),
        .known = vd_arena_upload(pass->arena, c->known, words, sizeof *c->known),
        .word = vd_arena_numbers(pass->arena, words, sizeof *c->copies.word)};
    if (pass->arena->failed)
        return out_of_memory(err);
    pass->be->copy_log(&c->copies, log_p);
    return VD_OK;
}

// Opens the answers' last words: their G and, where copynet had scores, shares.
static vd_status open_last(vd_pass *pass, const vd_copying *c, const vd_packed *answers,
                           const vd_real *log_sum, vd_copied_words *last, vd_error *err)
{
    const vd_attended *a = c->attended;
    int count = answers->sequences;
    size_t n = (size_t)count;
    int *row = vd_arena_ints(pass->arena, 3 * n);
    for (int s = 0; s < count && row; s++) {
        row[s] = answers->start[s] + answers->length[s] - 1;
        row[count + s] = pairs_at(c->seen[row[s]], row[s]);
        row[2 * count + s] = wide(c->seen[row[s]]);
    }
    const int *there = vd_arena_upload(pass->arena, row, 3 * n, sizeof *row);
    vd_real *gate = a->gate ? vd_arena_reals(pass->arena, n) : NULL;
    *last = (vd_copied_words){.share = a->copied->x,
                              .gate = gate,
                              .log_sum = log_sum,
                              .word = vd_arena_numbers(pass->arena, n, sizeof *last->word)};
    if (pass->arena->failed)
        return out_of_memory(err);
    last->pairs = (vd_segments){.count = count, .start = there + n, .length = there + 2 * n};
    if (gate)
        pass->be->copy_rows(a->gate->x, 1, there, count, 1, gate, 1);
    pass->be->copy_log(last, NULL);
    return VD_OK;
}

vd_status vd_copying_spread(vd_pass *pass, const vd_copying *c, const vd_packed *answers,
                            const vd_real *log_sum, int most, float *p, vd_error *err)
{
    size_t n = (size_t)answers->sequences, pairs = (size_t)c->pairing->pairs;
    vd_copied_word *word = vd_arena_take_raw(pass->arena, n, sizeof *word);
    vd_real *share = vd_arena_take_raw(pass->arena, pairs, sizeof *share);
    vd_copied_words last;
    vd_status status = open_last(pass, c, answers, log_sum, &last, err);
    if (status != VD_OK)
        return status;
    pass->be->memory->download(word, last.word, n * sizeof *word);
    pass->be->memory->download(share, last.share, pairs * sizeof *share);
    for (size_t s = 0; s < n; s++, p += most) {
        int row = answers->start[s] + answers->length[s] - 1;
        const vd_pair_group *g = c->seen[row];
        for (int v = 0; v < pass->config->vocab; v++)
            p[v] *= (float)word[s].p_gen;
        for (int j = 0; j < wide(g); j++)
            p[id_at(c->source, g, j)] +=
                (float)((1 - word[s].p_gen) * (double)share[pairs_at(g, row) + j]);
    }
    return VD_OK;
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

vd_status vd_copying_coverage(vd_pass *pass, const vd_copying *c, const vd_packed *answers,
                              double *sum, vd_error *err)
{
    double *there = vd_arena_numbers(pass->arena, 1, sizeof *there);
    if (!there)
        return out_of_memory(err);
    pass->be->coverage(answers, &c->pairing->queries, c->attended->copied->x, 0, NULL, there);
    pass->be->memory->download(sum, there, sizeof *sum);
    return VD_OK;
}

vd_status vd_copying_backward(vd_pass *pass, vd_copying *c, const vd_packed *answers, vd_real share,
                              const vd_real **whole, const vd_real **hit, vd_error *err)
{
    size_t words = (size_t)c->pairing->query_rows;
    const vd_value *copied = c->attended->copied, *gate = c->attended->gate;
    vd_real *all = vd_arena_reals(pass->arena, words), *said = vd_arena_reals(pass->arena, words);
    if (pass->arena->failed)
        return out_of_memory(err);
    pass->be->copy_gradient(&c->copies, share, copied->dx, gate ? gate->dx : NULL, all, said);
    if (gate && pass->coverage != 0)
        pass->be->coverage(answers, &c->pairing->queries, copied->x, pass->coverage * share,
                           copied->dx, NULL);
    *whole = all;
    *hit = said;
    return VD_OK;
}
