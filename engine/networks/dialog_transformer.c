// The dialog as one sequence: a causal transformer over picture and words. Its layers are those of
// Vaswani et al. 2017, normalised before each part instead of after. The tokens of a dialog are its
// regions, the caption, then question, answer, question ... :
//   region k  x = W_v v_k + b + kind, v_k as the file has it
//   word i    x = word + place_i, a learned table of 512; the last is for all further on. The
//            setting positions is for decoders alone
// A region sees the picture's regions; a word sees these and the words up to itself. Each layer:
//   x += W_o [of each head sum_j a_ij W_v y_j], y = LN x,
//        a_ij = softmax_j(W_q y_i . W_k y_j / sqrt(d / heads))
//   x += W_2 gelu(W_1 LN x + b) + b, d -> 4d -> d
// e_t = W LN(x) + b at the last word of question t. d is the size of a word vector (embed), hops
// the number of layers. What comes later is seen by nothing, so one pass answers all rounds, and a
// chat keeps keys and values: a question costs its own words and those of the round before it.
//
// The text is the entries concatenated (dialog_tokens.h). An entry is a question, <S>, its
// answer, </S>, </S>. So no token is added: this <S> says what <A> would, and the </S> at the end
// of an entry what <Q> would of the question behind it. The caption has no mark: it begins at
// position 0, and where it ends is left to its words and those of the first question.
// Dropout is on words with their positions, and on what a layer adds.
//
// The loss of the next word (option next-word, its weight): at every word of the text
//   p(next word) = softmax(W LN(x)), W the word vectors
// and the sum of -log p over their number (vd_totals.text, which counts the marks of answers also
// where --boundaries leaves them out), times the weight, is added to the loss of the decoders. In
// training alone: scores and answers are the decoders'. <PAD>, a vector of zeros, takes part and is
// not changed.
//
// The generative decoder `answer sequence` is the network itself, which goes on with its text
// behind a question: <S>, then the answer's words, each of which sees what the question's last word
// sees, that word, and the answer's words up to itself. P(next word) is that of the loss above, so
// log P of an answer is exact. Many answers are branches of one dialog, whose keys and values are
// computed once. With --boundaries none the text has no <S>, but answers begin with one all the
// same. Attentions from the question's last word, index = layer, the mean over heads of what each
// head looks at among what is of a kind: question -> regions, rounds, history-words,
// question-words. And what that word is made of after all layers, by attention rollout: rollout
// (regions), rollout-rounds, with the kind's shares divided by their sum.
#include <math.h>

#include "engine/networks/dialog_tokens.h"
#include "engine/networks/text/layers.h"

enum { LAYERS = 3, HEADS = 4, POSITIONS = 512, INNER = 4 };

// Left to the network, as many as divide a word vector.
static int heads_of(const vd_config *c)
{
    int heads = c->heads ? c->heads : HEADS;
    while (!c->heads && c->embed % heads != 0)
        heads--;
    return heads;
}

static vd_name part_of(int layer, const char *part)
{
    return vd_name_of("encoder.layers.%d.%s", layer, part);
}

static void declare_layer(vd_layout *layout, int layer, int d)
{
    const vd_name at = vd_name_of("encoder.layers.%d", layer);
    vd_layout_norm(layout, part_of(layer, "norm1").text, d);
    vd_text_declare_attention(layout, at.text, d);
    vd_layout_norm(layout, part_of(layer, "norm2").text, d);
    vd_text_declare_ffn(layout, at.text, d, INNER * d);
}

static void declare(const vd_config *c, vd_layout *layout)
{
    int d = c->embed;
    const vd_init table = {VD_INIT_NORMAL, 0.1};
    vd_layout_linear(layout, "encoder.regions.image", c->region, d, true);
    vd_layout_add(layout, "encoder.regions.kind", "", false, 1, d, table);
    vd_layout_add(layout, "encoder.place", ".weight", false, POSITIONS, d, table);
    for (int i = 0; i < vd_hops(c, LAYERS); i++)
        declare_layer(layout, i, d);
    vd_layout_norm(layout, "encoder.norm", d);
    if (vd_encodes(c))
        vd_layout_linear(layout, "encoder.out", d, c->hidden, true);
}

// ---- tokens -------------------------------------------------------------------------------------

// A row for each.
static const vd_value *read_tokens(const vd_dialog_tokens *d)
{
    vd_tape *tape = d->tape;
    const vd_value *x =
        vd_tape_embed(tape, "encoder.word_embed.weight", d->id, d->words, VD_AXIS_NONE);
    const vd_value *positions = vd_tape_vector(tape, "encoder.place.weight");
    positions = vd_tape_rows(tape, positions, d->position, d->words, VD_AXIS_NONE);
    x = vd_tape_dropout(tape, vd_tape_add(tape, x, positions), d->in->position_dropout);
    if (d->kept || d->branches.from) // the regions, too
        return x;
    const vd_value *regions = vd_tape_linear(tape, d->in->raw, "encoder.regions.image");
    regions = vd_tape_add(tape, regions, vd_tape_vector(tape, "encoder.regions.kind"));
    return vd_tape_rows(tape, vd_tape_stack(tape, regions, x), d->from, d->rows, VD_AXIS_NONE);
}

// A row for each question.
static vd_value *last_words(const vd_dialog_tokens *d, const vd_value *x)
{
    return vd_tape_rows(d->tape, x, d->question, d->in->span->questions, VD_AXIS_QUESTIONS);
}

static void explain_tokens(const vd_dialog_tokens *d, const vd_value *x)
{
    const vd_explained stage = {
        .title = "The dialog as one sequence",
        .why =
            "Regions, caption, questions and answers become vectors of one size, the tokens of "
            "one sequence. Each word also gets its position, each region a vector that marks it as "
            "one (kind).",
        .formula = {"x_k = W_v v_k + b + kind", "x_i = word + place_i"},
        .in = {{"v", "regions", d->in->raw}},
        .out = {{"x", "the question's last word", last_words(d, x)}}};
    vd_tape_explain(d->tape, &stage);
}

// ---- layers -------------------------------------------------------------------------------------

// One of them: x as it comes in, with what it found, worked out; what it looked at.
typedef struct layer {
    const vd_value *before, *between, *after, *a;
    bool last;
} layer;

static void explain_layer(const vd_dialog_tokens *d, const layer *l)
{
    if (!d->shown)
        return;
    vd_explained stage = {
        .title = "Self-attention, then feed-forward",
        .why = "Every word attends to the regions and to the words before it, with several heads; "
               "the result is added. Then a feed-forward layer transforms each token. Shown for "
               "the question's last word.",
        .formula = {"a = softmax_j(W_q y . W_k y_j / sqrt(d / heads)), y = LN(x before)",
                    "x' = x before + W_o [of each head sum_j a_j W_v y_j]",
                    "x = x' + W_2 gelu(W_1 LN(x') + b) + b"},
        .in = {{"x before", "the question's last word", last_words(d, l->before)}},
        .out = {{"x'", "with what it found", last_words(d, l->between)},
                {"x", "worked out", last_words(d, l->after)}},
        .gate = {"in all", "share of the attention, mean of the heads",
                 vd_dialog_tokens_of_regions(d, l->a)}};
    if (l->last)
        stage.formula[3] = "rollout: (A + I) / 2 of every layer multiplied, A the mean of the "
                           "heads' a";
    vd_tape_explain(d->tape, &stage);
}

static const vd_value *attend(vd_dialog_tokens *d, const vd_value *y, int index, layer *l)
{
    vd_tape *tape = d->tape;
    const vd_value *q = vd_tape_linear(tape, y, part_of(index, "attention.query").text),
                   *k = vd_tape_linear(tape, y, part_of(index, "attention.key").text),
                   *v = vd_tape_linear(tape, y, part_of(index, "attention.value").text);
    q = vd_tape_scale(tape, q, 1 / (vd_real)sqrt((double)q->columns / d->heads));
    k = vd_dialog_tokens_all(d, k, 2 * index);
    v = vd_dialog_tokens_all(d, v, 2 * index + 1);
    const vd_value *s =
        vd_dialog_tokens_make_uniform(d, vd_tape_dot(tape, d->sees, q, k, d->heads));
    l->a = vd_tape_softmax(tape, s);
    vd_dialog_tokens_roll(d, l->a);
    if (l->last) // what is shown last is what views show first
        vd_dialog_tokens_show_rollout(d);
    vd_dialog_tokens_show(d, s, index);
    return vd_tape_linear(tape, vd_tape_mix(tape, l->a, v), part_of(index, "attention.out").text);
}

static const vd_value *work_out(vd_tape *tape, const vd_value *y, int index)
{
    y = vd_tape_map(tape, VD_GELU, vd_tape_linear(tape, y, part_of(index, "ffn.1").text));
    return vd_tape_linear(tape, y, part_of(index, "ffn.2").text);
}

static const vd_value *take_layer(vd_dialog_tokens *d, const vd_value *x, int index)
{
    vd_tape *tape = d->tape;
    layer l = {.before = x, .last = index == vd_hops(d->in->config, LAYERS) - 1};
    const vd_value *y = vd_tape_layer_norm(tape, x, part_of(index, "norm1").text);
    y = vd_tape_dropout(tape, attend(d, y, index, &l), d->in->dropout);
    l.between = vd_tape_add(tape, x, y);
    y = vd_tape_layer_norm(tape, l.between, part_of(index, "norm2").text);
    y = vd_tape_dropout(tape, work_out(tape, y, index), d->in->dropout);
    l.after = vd_tape_add(tape, l.between, y);
    explain_layer(d, &l);
    return l.after;
}

// ---- the next word ------------------------------------------------------------------------------

static void predict_words(const vd_dialog_tokens *d, const vd_value *x)
{
    vd_tape *tape = d->tape;
    int vocab = d->in->config->vocab;
    const vd_value *y = vd_tape_rows(tape, x, d->before, d->words, VD_AXIS_NONE);
    y = vd_tape_layer_norm(tape, y, "encoder.norm");
    y = vd_tape_linear(tape, y, "encoder.word_embed");
    double *loss = vd_arena_numbers(tape->arena, 1, sizeof *loss);
    const vd_real *zero = vd_arena_zeros(tape->arena, 1);
    if (!loss || !zero)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the loss of the next word");
    if (tape->status != VD_OK)
        return;
    const vd_candidate_loss l = {.questions = d->words,
                                 .candidates = vocab,
                                 .margin = 1,
                                 .scale = d->in->next_word,
                                 .truth = d->next,
                                 .scores = y->x,
                                 .dscores = y->dx,
                                 .loss = loss};
    tape->be->candidate_loss(&l);
    if (y->dx) // the vector of <PAD> stays zero
        tape->be->copy_rows(zero, 0, NULL, d->words, 1, y->dx + VD_PAD, vocab);
    tape->be->memory->download(d->in->next_word_loss, loss, sizeof *loss);
}

static const vd_value *take_layers(vd_dialog_tokens *d, const vd_value *x)
{
    for (int i = 0; i < vd_hops(d->in->config, LAYERS); i++)
        x = take_layer(d, x, i);
    return x;
}

static vd_value *answer(vd_tape *tape, const vd_dialog_tokens *dialog, const vd_packed *answers,
                        const int *question)
{
    vd_dialog_tokens d;
    if (!vd_dialog_tokens_branch(tape, dialog, answers, question, &d))
        return &tape->nothing;
    return vd_tape_layer_norm(tape, take_layers(&d, read_tokens(&d)), "encoder.norm");
}

static void explain_vector(const vd_dialog_tokens *d, const vd_value *x, const vd_value *e)
{
    bool encodes = vd_encodes(d->in->config);
    const vd_explained stage = {
        .title = "The question in its context",
        .why = "The question's last word has attended to the picture and the dialog: its state "
               "represents both.",
        .formula = {encodes ? "e = W LN(x) + b" : "e = LN(x)"},
        .in = {{"x", "the question's last word", x}},
        .out = {{"e", "the dialog so far", e}}};
    vd_tape_explain(d->tape, &stage);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    vd_dialog_tokens *d = vd_arena_take(tape->arena, 1, sizeof *d);
    int heads = heads_of(in->config);
    if (in->config->embed % heads != 0)
        vd_tape_fail(tape, VD_USAGE,
                     "heads: the word vector size (embed) %d is not a multiple of %d heads; "
                     "expected a number that divides it",
                     in->config->embed, heads);
    const vd_dialog_sizes sizes = {heads, vd_hops(in->config, LAYERS), POSITIONS};
    if (!d)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the dialog as one sequence");
    if (!d || !vd_dialog_tokens_make(tape, in, &sizes, d))
        return &tape->nothing;
    const vd_value *x = read_tokens(d);
    explain_tokens(d, x);
    x = take_layers(d, x);
    vd_dialog_tokens_keep(d);
    in->states->sequence = d;
    if (in->next_word != 0 && d->words > 0)
        predict_words(d, x);
    x = last_words(d, x);
    vd_value *e = vd_tape_layer_norm(tape, x, "encoder.norm");
    if (vd_encodes(in->config))
        e = vd_tape_linear(tape, e, "encoder.out");
    explain_vector(d, x, e);
    return e;
}

const vd_encoder vd_encoder_dialog_transformer = {
    .name = "dialog-transformer",
    .title = "causal transformer over picture and dialog",
    .reads = "hops next-word position-dropout dropout",
    .declare = declare,
    .build = build,
    .answer = answer,
    .heads = heads_of,
    .part = "layer"};
