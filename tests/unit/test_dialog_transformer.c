// What the network that reads a dialog as one sequence promises beside what all do
// (test_encoders.c): where a question is read, what it knows without the history, how long a text
// may be, how many heads there are, what the loss of the next word is, what answers go on from.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/token.h"
#include "engine/networks/dialog_tokens.h"
#include "engine/networks/network.h"
#include "tests/support/must.h"
#include "tests/support/small_trainer.h"

enum { R = 16, P = 3, D = SMALL_REGION, TQ = 8, TH = VD_MAX_HISTORY, MOST_H = 16 };

// One dialog of `rounds` rounds.
typedef struct talk {
    int rounds;
    float image[P * D];
    int32_t question[R * TQ], question_length[R], history[R * TH], history_length[R], truth[R];
} talk;

static int draw(vd_rng *rng, int32_t *ids, int count)
{
    for (int i = 0; i < count; i++)
        ids[i] = 1 + vd_rng_below(rng, SMALL_VOCAB - 1);
    return count;
}

// Each entry after the first begins with the question before it, and has `answer` words more.
static talk make_talk(int rounds, int answer)
{
    talk t = {.rounds = rounds};
    vd_rng rng = vd_rng_seed(6, 3);
    for (int i = 0; i < P * D; i++)
        t.image[i] = (float)vd_rng_range(&rng, 0.1, 1);
    t.history_length[0] = draw(&rng, t.history, answer);
    for (int r = 0; r < rounds; r++) {
        int words = t.question_length[r] =
            draw(&rng, t.question + r * TQ, 2 + vd_rng_below(&rng, TQ - 2));
        t.truth[r] = -1;
        if (r + 1 == rounds)
            break;
        int32_t *entry = t.history + (r + 1) * TH;
        memcpy(entry, t.question + r * TQ, (size_t)words * sizeof *entry);
        t.history_length[r + 1] = words + draw(&rng, entry + words, answer);
    }
    return t;
}

// The network with random weights, and the last pass through it.
typedef struct room {
    vd_config config;
    vd_layout layout;
    vd_weights weights;
    vd_real *block;
    vd_arena arena;
    vd_network net;
    double next_word;
} room;

static void open_room_of(room *r, const vd_config *config)
{
    vd_rng rng = vd_rng_seed(5, 2);
    *r = (room){.config = *config};
    vd_weights_layout(&r->config, &r->layout, NULL, NULL);
    r->block = vd_alloc(r->layout.elements, sizeof *r->block);
    vd_layout_init(&r->layout, r->block, &rng);
    vd_weights_layout(&r->config, &r->layout, r->block, &r->weights);
}

static void open_room(room *r, int heads)
{
    vd_config config = small_config();
    config.network = VD_NETWORK_DIALOG_TRANSFORMER;
    config.positions = VD_POSITIONS_NONE;
    config.heads = heads;
    open_room_of(r, &config);
}

static void close_room(room *r)
{
    vd_free(r->block);
    vd_arena_free(&r->arena);
}

static vd_status encode(room *r, const talk *t, vd_error *err)
{
    const vd_batch batch = {.dialogs = 1,
                            .rounds = t->rounds,
                            .regions = P,
                            .question_width = TQ,
                            .history_width = TH,
                            .image = t->image,
                            .question = t->question,
                            .question_length = t->question_length,
                            .history = t->history,
                            .history_length = t->history_length,
                            .truth = t->truth};
    vd_arena_reset(&r->arena);
    r->net = (vd_network){.pass = {.be = vd_backend_cpu(),
                                   .config = &r->config,
                                   .w = &r->weights,
                                   .next_word = r->next_word,
                                   .arena = &r->arena}};
    return vd_network_encode(&r->net, &batch, err);
}

// e (rounds, H).
static void read_encoded(room *r, const talk *t, vd_real *out)
{
    vd_error err;
    must(encode(r, t, &err), &err);
    memcpy(out, r->net.pass.encoded, (size_t)(t->rounds * r->config.hidden) * sizeof *out);
}

// How far e of one round is from another.
static double distance(const room *r, const vd_real *a, const vd_real *b, int round)
{
    double most = 0;
    for (int i = round * r->config.hidden; i < (round + 1) * r->config.hidden; i++)
        most = fmax(most, fabs((double)(a[i] - b[i])));
    return most;
}

// The same where the entry after it begins with other words.
static void a_question_is_read_in_its_entry_as_it_is_apart(void **state)
{
    enum { ROUNDS = 4 };
    static room r;
    vd_real within[ROUNDS * MOST_H], apart[ROUNDS * MOST_H];
    talk t = make_talk(ROUNDS, 5);
    (void)state;
    open_room(&r, 0);
    read_encoded(&r, &t, within);
    for (int asked = 0; asked + 1 < ROUNDS; asked++) {
        talk other = t;
        other.history[(asked + 1) * TH] ^= 1;
        read_encoded(&r, &other, apart);
        for (int i = 0; i <= asked; i++)
            assert_true(distance(&r, within, apart, i) < 1e-5);
        assert_true(distance(&r, within, apart, asked + 1) > 1e-4);
    }
    close_room(&r);
}

// As `visdial eval` leaves it out: an unknown word for every entry. What was asked before is gone,
// too.
static void without_the_history_earlier_questions_are_unknown(void **state)
{
    enum { ROUNDS = 4 };
    static room r;
    vd_real before[ROUNDS * MOST_H], after[ROUNDS * MOST_H];
    talk t = make_talk(ROUNDS, 5);
    (void)state;
    open_room(&r, 0);
    for (int i = 0; i < ROUNDS; i++) {
        t.history[i * TH] = VD_UNKNOWN;
        t.history_length[i] = 1;
    }
    read_encoded(&r, &t, before);
    t.question[0] ^= 1;
    read_encoded(&r, &t, after);
    assert_true(distance(&r, before, after, 0) > 1e-4);
    for (int i = 1; i < ROUNDS; i++)
        assert_true(distance(&r, before, after, i) == 0);
    close_room(&r);
}

// The last position is for all words further on.
static void a_text_may_be_longer_than_there_are_places(void **state)
{
    static room r;
    static vd_real before[R * MOST_H], after[R * MOST_H];
    talk t = make_talk(R, TH - TQ);
    (void)state;
    open_room(&r, 0);
    read_encoded(&r, &t, before);
    const vd_parameter *positions = vd_layout_find(&r.layout, "encoder.place.weight");
    size_t width = positions->shape[1];
    int words = t.question_length[R - 1];
    for (int i = 0; i < R; i++)
        words += t.history_length[i];
    assert_true(words > (int)positions->shape[0]);
    for (size_t i = 0; i < width; i++)
        r.block[positions->offset + positions->elements - 1 - i] += (vd_real)(i % 2);
    read_encoded(&r, &t, after);
    assert_true(distance(&r, before, after, 0) == 0);
    assert_true(distance(&r, before, after, R - 1) > 1e-4);
    close_room(&r);
}

static void heads_divide_a_word_vector(void **state)
{
    static room r;
    talk t = make_talk(2, 3);
    vd_error err;
    (void)state;
    for (int heads = 0; heads <= 6; heads++) {
        open_room(&r, heads);
        assert_int_equal(r.config.embed, 6);
        vd_status status = encode(&r, &t, &err);
        assert_int_equal(status, heads == 4 || heads == 5 ? VD_USAGE : VD_OK);
        if (status != VD_OK)
            assert_non_null(strstr(err.text, "expected a number that divides it"));
        close_room(&r);
    }
}

// What each token of a question's sequence is made of, when it looks at all that it sees alike: of
// the regions, then of the entries.
enum { MADE_OF = P + R, TOKENS = 256 };

static void roll(double (*made)[MADE_OF], int tokens)
{
    static double before[TOKENS][MADE_OF];
    memcpy(before, made, (size_t)tokens * sizeof *made);
    for (int i = 0; i < tokens; i++)
        for (int c = 0; c < MADE_OF; c++) {
            int seen = i < P ? P : i + 1;
            double sum = 0;
            for (int j = 0; j < seen; j++)
                sum += before[j][c];
            made[i][c] = (before[i][c] + sum / seen) / 2;
        }
}

// Of the last word of a question.
static const double *rolled(const talk *t, int question, int layers)
{
    static double made[TOKENS][MADE_OF];
    int tokens = P;
    memset(made, 0, sizeof made);
    for (int k = 0; k < P; k++)
        made[k][k] = 1;
    for (int r = 0; r <= question; r++)
        for (int i = 0; i < t->history_length[r]; i++)
            made[tokens++][P + r] = 1;
    tokens += t->question_length[question];
    for (int l = 0; l < layers; l++)
        roll(made, tokens);
    return made[tokens - 1];
}

static void compare_shares(const vd_real *found, const double *made, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += made[i];
    for (int i = 0; i < count; i++)
        assert_true(fabs((double)found[i] - made[i] / sum) < 1e-5);
}

static const vd_value *shown(const room *r, const char *name)
{
    const vd_shown *s = r->net.pass.tape->shown;
    while (s && strcmp(s->name, name) != 0)
        s = s->next;
    assert_non_null(s);
    return s->value;
}

static void a_rollout_multiplies_the_attentions_of_all_layers(void **state)
{
    enum { ROUNDS = 4, LAYERS = 3 };
    static room r;
    vd_real e[ROUNDS * MOST_H];
    talk t = make_talk(ROUNDS, 5);
    (void)state;
    open_room(&r, 0);
    assert_int_equal(r.config.hops, 0); // the network's default
    for (int l = 0; l < LAYERS; l++) {
        char name[80];
        snprintf(name, sizeof name, "encoder.layers.%d.attention.query.weight", l);
        const vd_parameter *query = vd_layout_find(&r.layout, name);
        memset(r.block + query->offset, 0, query->elements * sizeof *r.block);
    }
    read_encoded(&r, &t, e);
    const vd_real *regions = shown(&r, "rollout")->x, *entries = shown(&r, "rollout-rounds")->x;
    for (int n = 0; n < ROUNDS; n++) {
        const double *made = rolled(&t, n, LAYERS);
        compare_shares(regions, made, P);
        compare_shares(entries, made + P, n + 1);
        regions += P;
        entries += n + 1;
    }
    close_room(&r);
}

// ---- the next word ------------------------------------------------------------------------------

static vd_real *weights_of(const room *r, const char *name)
{
    const vd_parameter *p = vd_layout_find(&r->layout, name);
    assert_non_null(p);
    return r->block + p->offset;
}

// Layers add nothing: x is the word with its position.
static void empty_layers(room *r)
{
    static const char *const parts[] = {"attention.out.weight", "ffn.2.weight", "ffn.2.bias"};
    for (int l = 0; l < 3; l++)
        for (int i = 0; i < 3; i++) {
            char name[80];
            snprintf(name, sizeof name, "encoder.layers.%d.%s", l, parts[i]);
            const vd_parameter *p = vd_layout_find(&r->layout, name);
            assert_non_null(p);
            memset(r->block + p->offset, 0, p->elements * sizeof *r->block);
        }
}

// LN(word + position)
static void normalised(const room *r, int32_t word, int position, double out[MOST_H])
{
    int e = r->config.embed;
    const vd_real *words = weights_of(r, "encoder.word_embed.weight") + word * e,
                  *positions = weights_of(r, "encoder.place.weight") + position * e,
                  *gain = weights_of(r, "encoder.norm.weight"),
                  *bias = weights_of(r, "encoder.norm.bias");
    double mean = 0, square = 0;
    for (int i = 0; i < e; i++) {
        out[i] = (double)words[i] + (double)positions[i];
        mean += out[i] / e;
    }
    for (int i = 0; i < e; i++)
        square += (out[i] - mean) * (out[i] - mean) / e;
    for (int i = 0; i < e; i++)
        out[i] = (out[i] - mean) / sqrt(square + 1e-5) * (double)gain[i] + (double)bias[i];
}

// The sum of -log p of the words of a text from `first` on, each from the one before it.
static double surprise(const room *r, const int32_t *text, int count, int first)
{
    const vd_real *words = weights_of(r, "encoder.word_embed.weight");
    double total = 0;
    for (int i = first; i < count; i++) {
        double y[MOST_H], sum = 0, said = 0;
        normalised(r, text[i - 1], i - 1, y);
        for (int v = 0; v < SMALL_VOCAB; v++) {
            double score = 0;
            for (int k = 0; k < r->config.embed; k++)
                score += y[k] * (double)words[v * r->config.embed + k];
            sum += exp(score);
            said = v == text[i] ? score : said;
        }
        total += log(sum) - said;
    }
    return total;
}

// The entries of a talk and its last question; their words.
static int as_text(const talk *t, int32_t *text)
{
    int count = 0;
    for (int r = 0; r < t->rounds; r++)
        for (int i = 0; i < t->history_length[r]; i++)
            text[count++] = t->history[r * TH + i];
    for (int i = 0; i < t->question_length[t->rounds - 1]; i++)
        text[count++] = t->question[(t->rounds - 1) * TQ + i];
    return count;
}

static void expect_loss(room *r, const talk *t, double expected)
{
    vd_error err;
    must(encode(r, t, &err), &err);
    if (!(fabs(r->net.pass.next_word_loss - expected) <= 1e-5 * expected))
        fail_msg("the loss of the next word is %.9g, expected %.9g", r->net.pass.next_word_loss,
                 expected);
}

// The loss is of all words but the first, of a question apart, too, whose first word follows what
// it sees of the entries.
static void every_word_is_predicted_from_those_before_it(void **state)
{
    enum { ROUNDS = 4 };
    static room r;
    int32_t text[R * TH];
    talk t = make_talk(ROUNDS, 5);
    (void)state;
    open_room(&r, 0);
    empty_layers(&r);
    expect_loss(&r, &t, 0); // none is wanted
    r.next_word = 0.125;
    expect_loss(&r, &t, 0.125 * surprise(&r, text, as_text(&t, text), 1));
    t.history[TH] ^= 1; // so the first question is apart
    double sum = surprise(&r, text, as_text(&t, text), 1);
    int caption = t.history_length[0], words = t.question_length[0];
    memcpy(text + caption, t.question, (size_t)words * sizeof *text);
    expect_loss(&r, &t, 0.125 * (sum + surprise(&r, text, caption + words, caption)));
    close_room(&r);
}

// ---- answers ------------------------------------------------------------------------------------

enum { ANSWERS = 3, ANSWER_WIDTH = 3 };

// Scores (rounds, ANSWERS) of answers that go on from each question; the pass is kept.
static void score_answers(room *r, const talk *t, float *out)
{
    static const int32_t in[ANSWERS * ANSWER_WIDTH] = {VD_START, 5, 6, VD_START, 7, 0, VD_START},
                                      said[ANSWERS * ANSWER_WIDTH] = {5,      6, VD_END, 7,
                                                                      VD_END, 0, VD_END},
                                      words[ANSWERS] = {3, 2, 1};
    int32_t read[R * ANSWERS * ANSWER_WIDTH], next[R * ANSWERS * ANSWER_WIDTH], length[R * ANSWERS];
    int question[R * ANSWERS];
    vd_error err;
    for (int n = 0; n < t->rounds; n++) {
        memcpy(read + n * ANSWERS * ANSWER_WIDTH, in, sizeof in);
        memcpy(next + n * ANSWERS * ANSWER_WIDTH, said, sizeof said);
        memcpy(length + n * ANSWERS, words, sizeof words);
        for (int i = 0; i < ANSWERS; i++)
            question[n * ANSWERS + i] = n;
    }
    must(encode(r, t, &err), &err);
    must(vd_given_scores(&r->net.pass, read, next, length, question, t->rounds * ANSWERS,
                         ANSWER_WIDTH, out, &err),
         &err);
}

static void open_speaker(room *r)
{
    vd_config config = small_config();
    config.network = VD_NETWORK_DIALOG_TRANSFORMER;
    config.positions = VD_POSITIONS_NONE;
    config.decoders = VD_GENERATIVE;
    config.answer = VD_ANSWER_SEQUENCE;
    open_room_of(r, &config);
}

// Where the entry after a question begins with other words, what the answers see of the dialog does
// not stand in one piece.
static void answers_go_on_from_a_question_wherever_it_is_read(void **state)
{
    enum { ROUNDS = 4 };
    static room r;
    float within[ROUNDS * ANSWERS], apart[ROUNDS * ANSWERS];
    talk t = make_talk(ROUNDS, 5);
    (void)state;
    open_speaker(&r);
    score_answers(&r, &t, within);
    for (int asked = 0; asked + 1 < ROUNDS; asked++) {
        talk other = t;
        other.history[(asked + 1) * TH] ^= 1;
        score_answers(&r, &other, apart);
        for (int i = 0; i < (asked + 1) * ANSWERS; i++)
            assert_true(fabs((double)(within[i] - apart[i])) < 1e-5);
        double most = 0;
        for (int i = 0; i < ANSWERS; i++) {
            int k = (asked + 1) * ANSWERS + i;
            most = fmax(most, fabs((double)(within[k] - apart[k])));
        }
        assert_true(most > 1e-4);
    }
    close_room(&r);
}

// Scores of one, made even for what a name says: which of a word's keys are then zero. Of the
// second question, whose two answers have three words and one.
static void expect_even(room *r, const char *name, int from, int count)
{
    enum { WIDTH = 3 };
    const int32_t ids[2 * WIDTH] = {VD_START, 5, 6, VD_START}, length[] = {WIDTH, 1};
    const int question[] = {1, 1};
    const char *const names[] = {name, NULL};
    vd_tape tape = {.be = vd_backend_cpu(), .arena = &r->arena, .uniform = names};
    vd_packed answers;
    vd_dialog_tokens d;
    vd_error err;
    must(vd_packed_make(ids, length, 2, WIDTH, &r->arena, &answers, &err), &err);
    assert_true(
        vd_dialog_tokens_branch(&tape, r->net.pass.source.sequence, &answers, question, &d));
    int scores = d.heads * d.sees->pairs;
    vd_real *one = vd_arena_reals(&r->arena, (size_t)scores);
    for (int i = 0; i < scores; i++)
        one[i] = 1;
    const vd_value *even =
        vd_dialog_tokens_make_uniform(&d, vd_tape_constant(&tape, VD_AXIS_PAIRS, one, scores, 1));
    for (int h = 0; h < d.heads; h++)
        for (int w = 0; w < answers.tokens; w++) {
            const vd_pair_group *g = &d.sees->group[w];
            for (int k = 0; k < g->key[0].count + g->key[1].count; k++)
                assert_true(even->x[h * d.sees->pairs + g->at + k] ==
                            (k < from || k >= from + count));
        }
}

static void what_is_flattened_is_so_for_answers(void **state)
{
    enum { ROUNDS = 3 };
    static room r;
    talk t = make_talk(ROUNDS, 5);
    vd_error err;
    (void)state;
    int heard = t.history_length[0] + t.history_length[1];
    open_speaker(&r);
    must(encode(&r, &t, &err), &err);
    expect_even(&r, "regions", 0, P);
    expect_even(&r, "history-words", P, heard);
    expect_even(&r, "question-words", P + heard, t.question_length[1]);
    close_room(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_read_in_its_entry_as_it_is_apart),
        cmocka_unit_test(without_the_history_earlier_questions_are_unknown),
        cmocka_unit_test(a_text_may_be_longer_than_there_are_places),
        cmocka_unit_test(heads_divide_a_word_vector),
        cmocka_unit_test(a_rollout_multiplies_the_attentions_of_all_layers),
        cmocka_unit_test(every_word_is_predicted_from_those_before_it),
        cmocka_unit_test(answers_go_on_from_a_question_wherever_it_is_read),
        cmocka_unit_test(what_is_flattened_is_so_for_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
