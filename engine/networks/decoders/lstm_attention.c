// Generative decoder that looks at the dialog (Luong et al. 2015, global attention). x_j are the
// words of the entries 0..t, then of the question: the encoder's word states (memn2n and dmn's
// entries: word vectors) under a linear layer for entries and one for questions. After word i:
//   s_i = state of the top layer, a_i = softmax_j(score(s_i, x_j)), c_i = sum_j a_ij x_j
//   P(next word) = softmax(W_v tanh(W [s_i ; c_i] + b) + b')
// score is bilinear (the paper's "general") unless score-words says otherwise. c_i is not fed to
// the next step as in the paper, so that all words of all answers are computed in one pass.
// Attention: a, "answer-words", answer words -> words of the dialog.
#include "engine/networks/decoders/lstm_attention.h"

#include <stdio.h>

#include "engine/networks/mvan/pass.h"
#include "engine/networks/parts.h"

enum { LONGEST_NAME = 64 };

static const char *part_of(const vd_config *c, const char *part, char out[LONGEST_NAME])
{
    snprintf(out, LONGEST_NAME, "%s.attention.%s",
             c->decoders == VD_BOTH ? "gen_decoder" : "decoder", part);
    return out;
}

static vd_scoring score_of(const vd_config *c, char name[LONGEST_NAME])
{
    return (vd_scoring){.kind = c->score_words,
                        .own = VD_SCORE_BILINEAR,
                        .name = part_of(c, "score", name),
                        .query = c->hidden,
                        .key = c->hidden,
                        .hidden = c->hidden};
}

// How wide the rows are that x is made of.
static int width_of(const vd_config *c, bool question)
{
    if (c->network == VD_NETWORK_MVAN)
        return 2 * c->hidden;
    const vd_encoder *e = vd_encoder_of(c);
    vd_width *width = question ? e->question_width : e->history_width;
    return width ? width(c) : c->embed;
}

void vd_source_declare(const vd_config *c, vd_layout *layout)
{
    char name[LONGEST_NAME];
    int h = c->hidden;
    const vd_scoring score = score_of(c, name);
    vd_score_declare(layout, &score);
    vd_layout_linear(layout, part_of(c, "question", name), width_of(c, true), h, true);
    vd_layout_linear(layout, part_of(c, "history", name), width_of(c, false), h, true);
    vd_layout_linear(layout, part_of(c, "out", name), 2 * h, h, true);
}

// A tape of the pass; NULL and an error when memory is out.
static vd_tape *open_tape(vd_pass *pass, vd_error *err)
{
    vd_tape *tape = vd_arena_take(pass->arena, 1, sizeof *tape);
    if (!tape) {
        vd_error_memory(err, "the words of the dialog");
        return NULL;
    }
    *tape = (vd_tape){.be = pass->be,
                      .arena = pass->arena,
                      .w = &pass->w->all,
                      .dw = pass->dw ? &pass->dw->all : NULL,
                      .key = vd_pass_key(pass, VD_SITE_ANSWER_ATTENTION),
                      .flatten = pass->flatten};
    return tape;
}

// ---- what is looked at --------------------------------------------------------------------------

// Numbers from outside the tape, which collects their gradient in dx.
static const vd_value *from_outside(vd_tape *tape, vd_axis axis, const vd_real *x, vd_real *dx,
                                    int rows, int columns)
{
    vd_value *y = vd_tape_constant(tape, axis, x, rows, columns);
    if (tape->status == VD_OK)
        y->dx = dx;
    return y;
}

static const vd_value *mvan_states(vd_tape *tape, const vd_pass *pass, const vd_text_pass *text,
                                   vd_axis axis)
{
    return from_outside(tape, axis, text->recurrent.y, text->recurrent.dy, text->packed->tokens,
                        2 * pass->config->hidden);
}

static const vd_value *question_words(vd_tape *tape, const vd_pass *pass)
{
    char name[LONGEST_NAME];
    const vd_value *states = pass->source.question;
    if (!states)
        states = mvan_states(tape, pass, &pass->question, VD_AXIS_QUESTION_WORDS);
    return vd_tape_linear(tape, states, part_of(pass->config, "question", name));
}

static const vd_value *history_words(vd_tape *tape, const vd_pass *pass)
{
    char name[LONGEST_NAME];
    const vd_value *states = pass->source.history;
    if (pass->source.kept)
        return vd_tape_constant(tape, VD_AXIS_HISTORY_WORDS, pass->source.kept,
                                pass->history_words.tokens, pass->config->hidden);
    if (!states)
        states = mvan_states(tape, pass, &pass->history, VD_AXIS_HISTORY_WORDS);
    return vd_tape_linear(tape, states, part_of(pass->config, "history", name));
}

static void list_seen(vd_tape *tape, vd_pass *pass)
{
    const vd_geometry *span = &pass->span;
    const int *history = pass->history_words.start, *question = pass->question_words.start;
    vd_pair_group *seen = vd_arena_take(tape->arena, (size_t)span->questions, sizeof *seen);
    if (!seen)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the words of the dialog");
    for (int n = 0; n < span->questions && seen; n++) {
        int first = history[span->entry_start[span->dialog[n]]];
        int end = history[span->entry_start[span->dialog[n]] + span->seen[n]];
        seen[n].key[0] = (vd_range){first, end - first};
        seen[n].key[1] =
            (vd_range){pass->history_words.tokens + question[n], question[n + 1] - question[n]};
    }
    pass->source.seen = seen;
}

vd_status vd_source_read(vd_pass *pass, vd_error *err)
{
    char name[LONGEST_NAME];
    vd_source *source = &pass->source;
    if (!vd_attends(pass->config))
        return VD_OK;
    const vd_scoring score = score_of(pass->config, name);
    vd_tape *tape = source->tape = open_tape(pass, err);
    if (!tape)
        return VD_NO_MEMORY;
    const vd_value *history = history_words(tape, pass);
    source->words = vd_tape_stack(tape, history, question_words(tape, pass));
    source->keys = vd_score_keys(tape, &score, source->words);
    list_seen(tape, pass);
    return vd_tape_status(tape, err);
}

vd_status vd_source_entries(vd_pass *pass, const vd_real **x, vd_error *err)
{
    vd_tape *tape = open_tape(pass, err);
    if (!tape)
        return VD_NO_MEMORY;
    *x = history_words(tape, pass)->x;
    return vd_tape_status(tape, err);
}

vd_status vd_source_backward(vd_pass *pass, vd_error *err)
{
    vd_tape_backward(pass->source.tape);
    return vd_tape_status(pass->source.tape, err);
}

// ---- answers ------------------------------------------------------------------------------------

// Neighbouring answers to the same question look at the same words.
static const vd_pairing *pair_answers(vd_tape *tape, const vd_source *source,
                                      const vd_packed *answers, const int *question)
{
    vd_pair_group *group = vd_arena_take(tape->arena, (size_t)answers->sequences, sizeof *group);
    int count = 0;
    for (int s = 0; s < answers->sequences && group; s++) {
        if (s == 0 || question[s] != question[s - 1]) {
            group[count] = source->seen[source->first + question[s]];
            group[count++].query = (vd_range){answers->start[s], 0};
        }
        group[count - 1].query.count += answers->length[s];
    }
    const vd_pairing *p = vd_pairing_make(tape->arena, VD_AXIS_ANSWER_WORDS, answers->tokens,
                                          VD_AXIS_NONE, source->words->rows, group, count);
    if (!p)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: what the answers look at");
    return p;
}

vd_status vd_source_attend(vd_pass *pass, const vd_packed *answers, const int *question,
                           const vd_real *s, vd_real *ds, vd_attended *attended, vd_error *err)
{
    char name[LONGEST_NAME], out[LONGEST_NAME];
    const vd_config *c = pass->config;
    const vd_source *source = &pass->source;
    const vd_scoring score = score_of(c, name);
    vd_tape *tape = attended->tape = open_tape(pass, err);
    if (!tape)
        return VD_NO_MEMORY;
    const vd_value *state =
        from_outside(tape, VD_AXIS_ANSWER_WORDS, s, ds, answers->tokens, c->hidden);
    const vd_pairing *p = pair_answers(tape, source, answers, question);
    const vd_value *scores = vd_score_queries(tape, &score, p, state, source->keys, 0);
    const vd_value *found =
        vd_tape_mix(tape, vd_tape_attend(tape, scores, "answer-words", 0), source->words);
    attended->out =
        vd_tanh_layer(tape, vd_tape_join(tape, state, found), part_of(c, "out", out), 0);
    return vd_tape_status(tape, err);
}
