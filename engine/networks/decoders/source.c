#include "engine/networks/decoders/source.h"

#include "engine/networks/boundaries.h"
#include "engine/networks/decoders/copying.h"
#include "engine/networks/encoder.h"
#include "engine/networks/pass.h"

vd_name vd_source_name(const vd_config *c, const char *part)
{
    return vd_name_of("%s.%s", c->decoders == VD_BOTH ? "gen_decoder" : "decoder", part);
}

int vd_source_width(const vd_config *c)
{
    return c->answer == VD_ANSWER_CONV ? c->embed : c->hidden;
}

// How wide the rows are that x is made of.
static int width_of(const vd_config *c, bool question)
{
    const vd_encoder *e = vd_encoder_of(c);
    vd_width *width = question || !e->history_width ? e->question_width : e->history_width;
    return width ? width(c) : c->embed;
}

void vd_source_declare(const vd_config *c, vd_layout *layout)
{
    int w = vd_source_width(c);
    vd_layout_linear(layout, vd_source_name(c, "attention.question").text, width_of(c, true), w,
                     true);
    vd_layout_linear(layout, vd_source_name(c, "attention.history").text, width_of(c, false), w,
                     true);
}

vd_tape *vd_source_tape(vd_pass *pass, vd_error *err)
{
    vd_tape *tape = vd_pass_tape(pass, vd_pass_key(pass, VD_SITE_ANSWER_ATTENTION));
    if (!tape)
        vd_error_memory(err, "the words of the dialog");
    return tape;
}

// ---- what is looked at --------------------------------------------------------------------------

const vd_value *vd_source_outside(vd_tape *tape, vd_axis axis, const vd_real *x, vd_real *dx,
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
    return vd_source_outside(tape, axis, text->recurrent.y, text->recurrent.dy,
                             text->packed->tokens, 2 * pass->config->hidden);
}

static const vd_value *question_words(vd_tape *tape, const vd_pass *pass)
{
    const vd_value *states = pass->source.question;
    if (!states)
        states = mvan_states(tape, pass, &pass->question, VD_AXIS_QUESTION_WORDS);
    return vd_tape_linear(tape, states, vd_source_name(pass->config, "attention.question").text);
}

static const vd_value *history_words(vd_tape *tape, const vd_pass *pass)
{
    const vd_value *states = pass->source.history;
    if (pass->source.kept)
        return vd_tape_constant(tape, VD_AXIS_HISTORY_WORDS, pass->source.kept,
                                pass->history_words.tokens, vd_source_width(pass->config));
    if (!states)
        states = mvan_states(tape, pass, &pass->history, VD_AXIS_HISTORY_WORDS);
    return vd_tape_linear(tape, states, vd_source_name(pass->config, "attention.history").text);
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

// The texts' words, one after the other, to at; how many.
static size_t list_words(const int32_t *ids, const int32_t *lengths, int count, int width,
                         int32_t *at)
{
    size_t words = 0;
    for (int s = 0; s < count; s++)
        for (int i = 0; i < lengths[s]; i++)
            at[words++] = ids[(size_t)s * (size_t)width + (size_t)i];
    return words;
}

vd_status vd_source_ids(vd_pass *pass, const vd_texts *questions, const vd_texts *entries,
                        vd_error *err)
{
    const int32_t *ids = entries->ids, *lengths = entries->lengths;
    if (!vd_copies(pass->config))
        return VD_OK;
    size_t words = (size_t)pass->history_words.tokens + (size_t)pass->question_words.tokens;
    int32_t *id = vd_arena_take_raw(pass->arena, words, sizeof *id);
    vd_status status = id ? VD_OK : vd_error_memory(err, "the words of the dialog");
    if (status == VD_OK && pass->config->boundaries == VD_BOUNDARIES_NONE)
        status = vd_bare_texts(pass->arena, &ids, &lengths, NULL, entries->count, entries->width,
                               false, err);
    if (status != VD_OK)
        return status;
    size_t history = list_words(ids, lengths, entries->count, entries->width, id);
    list_words(questions->ids, questions->lengths, questions->count, questions->width,
               id + history);
    pass->source.id = id;
    return VD_OK;
}

vd_status vd_source_read(vd_pass *pass, vd_error *err)
{
    vd_source *source = &pass->source;
    if (!vd_attends(pass->config))
        return VD_OK;
    vd_tape *tape = source->tape = vd_source_tape(pass, err);
    if (!tape)
        return VD_NO_MEMORY;
    const vd_value *history = history_words(tape, pass);
    source->words = source->keys = vd_tape_stack(tape, history, question_words(tape, pass));
    if (pass->config->answer == VD_ANSWER_CONV)
        source->words = vd_conv_words(tape, pass, source->keys);
    else
        source->keys = vd_lstm_attention_keys(tape, pass->config, source->words);
    if (pass->config->copy == VD_COPY_COPYNET)
        source->copy = vd_copynet_keys(tape, pass->config, source->words);
    list_seen(tape, pass);
    return vd_tape_status(tape, err);
}

vd_status vd_source_entries(vd_pass *pass, const vd_real **x, vd_error *err)
{
    vd_tape *tape = vd_source_tape(pass, err);
    if (!tape)
        return VD_NO_MEMORY;
    *x = history_words(tape, pass)->x;
    return vd_tape_status(tape, err);
}

// ---- answers ------------------------------------------------------------------------------------

// Neighbouring answers to the same question look at the same words.
const vd_pairing *vd_source_pairing(vd_tape *tape, const vd_source *source,
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
    return vd_tape_pairing(tape, VD_AXIS_ANSWER_WORDS, answers->tokens, VD_AXIS_DIALOG_WORDS,
                           source->words->rows, group, count, "what the answers look at");
}
