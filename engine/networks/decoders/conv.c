// Generative decoder of ConvS2S (Gehring et al. 2017). x_j are the words of the entries 0..t, then
// of the question, word states under a linear layer each (-> E), m of them; w_j their word vectors.
// Of an answer's words, d = sqrt(0.5):
//   g_i = word + position, y = W (g + W_e e) + b, e the encoder's vector
//   three times: a = glu(conv(y)), over the word and the two before it, zeros before the first;
//   q = (W_in a + b + g) d, p_i = softmax_j(q_i . x_j), o_i = sqrt(m) sum_j p_ij (x_j + w_j) d
//   y = ((W_out o + b + a) d + y) d
//   P(next word) = softmax(W_v dropout(W y + b) + b')
// The scalings stand in the paper's text only. Word vectors are without the configuration's
// positions: these are learned. Matrices start as in text/convs2s.c.
// Attention: p, "answer-words" by layer, answer words -> words of the dialog.
#include "engine/networks/decoders/source.h"

#include <math.h>

#include "engine/networks/pass.h"
#include "engine/networks/text/layers.h"

enum { LAYERS = 3, WIDE = 3 };

static const char WORDS[] = "encoder.word_embed.weight";

static vd_name part_of(const vd_config *c, int layer, const char *part)
{
    return vd_name_of("%s.%d.%s", vd_source_name(c, "conv").text, layer, part);
}

static void declare_linear(vd_layout *layout, const char *name, int in, int out)
{
    vd_layout_linear(layout, name, in, out, true);
    vd_convs2s_start(layout, 1);
}

void vd_conv_declare(const vd_config *c, vd_layout *layout)
{
    int e = c->embed, h = c->hidden;
    vd_source_declare(c, layout);
    vd_layout_add(layout, vd_source_name(c, "conv.place").text, ".weight", false, VD_MAX_CANDIDATE,
                  e, (vd_init){VD_INIT_NORMAL, 0.1});
    declare_linear(layout, vd_source_name(c, "conv.state").text, h, e);
    declare_linear(layout, vd_source_name(c, "conv.in").text, e, h);
    for (int l = 0; l < LAYERS; l++) {
        vd_layout_linear(layout, part_of(c, l, "conv").text, WIDE * h, 2 * h, true);
        vd_convs2s_start(layout, 4);
        declare_linear(layout, part_of(c, l, "in").text, h, e);
        declare_linear(layout, part_of(c, l, "out").text, e, h);
    }
    declare_linear(layout, vd_source_name(c, "conv.out").text, h, h);
}

const vd_value *vd_conv_words(vd_tape *tape, const vd_pass *pass, const vd_value *x)
{
    const vd_packed *h = &pass->history_words, *q = &pass->question_words;
    const vd_value *history =
        vd_tape_embed(tape, WORDS, h->rows.id, h->tokens, VD_AXIS_HISTORY_WORDS);
    const vd_value *question =
        vd_tape_embed(tape, WORDS, q->rows.id, q->tokens, VD_AXIS_QUESTION_WORDS);
    return vd_tape_add(tape, x, vd_tape_stack(tape, history, question));
}

// ---- answers ------------------------------------------------------------------------------------

// What all layers of a decoder read.
typedef struct conv_input {
    vd_tape *tape;
    const vd_config *config;
    const vd_packed *answers;
    const vd_source *source;
    const vd_pairing *pairing;
    const vd_value *g;    // (words, E)
    const vd_value *size; // (groups, 1) sqrt(m / 2)
} conv_input;

static vd_value *halved(vd_tape *tape, const vd_value *x, const vd_value *y)
{
    return vd_tape_scale(tape, vd_tape_add(tape, x, y), (vd_real)sqrt(0.5));
}

static const vd_value *word_vectors(vd_tape *tape, const vd_config *c, const vd_packed *answers)
{
    const vd_name table = vd_source_name(c, "conv.place.weight");
    const vd_value *position =
        vd_tape_rows(tape, vd_tape_vector(tape, table.text), answers->rows.position,
                     answers->tokens, VD_AXIS_ANSWER_WORDS);
    return vd_tape_add(
        tape, vd_tape_embed(tape, WORDS, answers->rows.id, answers->tokens, VD_AXIS_ANSWER_WORDS),
        position);
}

static const vd_value *sizes_of(vd_tape *tape, const vd_pairing *p)
{
    int count = p ? p->count : 0;
    vd_real *size = vd_arena_take_raw(tape->arena, (size_t)count, sizeof *size);
    for (int g = 0; g < count && size; g++)
        size[g] = (vd_real)sqrt(0.5 * (p->group[g].key[0].count + p->group[g].key[1].count));
    return vd_tape_given(tape, VD_AXIS_NONE, size, count, 1);
}

// W_e e of the words' answers, a row a word.
static const vd_value *starts_of(vd_tape *tape, const vd_pass *pass, const vd_packed *answers,
                                 const int *question)
{
    int sequences = answers->sequences;
    const vd_value *e =
        vd_source_outside(tape, VD_AXIS_QUESTIONS, pass->encoded, pass->dencoded,
                          pass->span.questions - pass->source.first, pass->config->hidden);
    e = vd_tape_linear(tape, vd_tape_choose(tape, e, question, sequences, VD_AXIS_NONE),
                       vd_source_name(pass->config, "conv.state").text);
    return vd_tape_rows(tape, e, answers->rows.owner, answers->tokens, VD_AXIS_ANSWER_WORDS);
}

static const vd_value *run_layer(const conv_input *in, int layer, const vd_value *y)
{
    vd_tape *tape = in->tape;
    const vd_config *c = in->config;
    vd_value *a = vd_tape_window(tape, y, in->answers, WIDE, 1, true);
    a = vd_text_gate(tape, vd_tape_linear(tape, a, part_of(c, layer, "conv").text));
    vd_value *q = vd_tape_linear(tape, a, part_of(c, layer, "in").text);
    vd_value *s = vd_tape_dot(tape, in->pairing, halved(tape, q, in->g), in->source->keys, 1);
    vd_value *p = vd_tape_attend(tape, s, "answer-words", layer);
    vd_value *o = vd_tape_mix(tape, vd_tape_weigh(tape, p, in->size), in->source->words);
    o = vd_tape_linear(tape, o, part_of(c, layer, "out").text);
    return halved(tape, halved(tape, o, a), y);
}

vd_status vd_conv_answers(vd_pass *pass, const vd_packed *answers, const int *question,
                          vd_attended *attended, vd_error *err)
{
    const vd_config *c = pass->config;
    vd_tape *tape = attended->tape = vd_source_tape(pass, err);
    if (!tape)
        return VD_NO_MEMORY;
    conv_input in = {.tape = tape, .config = c, .answers = answers, .source = &pass->source};
    in.pairing = vd_source_pairing(tape, in.source, answers, question);
    in.size = sizes_of(tape, in.pairing);
    in.g = word_vectors(tape, c, answers);
    const vd_value *y = vd_tape_add(tape, in.g, starts_of(tape, pass, answers, question));
    y = vd_tape_linear(tape, y, vd_source_name(c, "conv.in").text);
    for (int l = 0; l < LAYERS; l++)
        y = run_layer(&in, l, y);
    y = vd_tape_linear(tape, y, vd_source_name(c, "conv.out").text);
    attended->out = vd_tape_dropout(tape, y, pass->dropout);
    return vd_tape_status(tape, err);
}
