#include "engine/networks/text/text.h"

enum { HEADS = 4 };

const vd_text_encoder *vd_text_encoder_of(const vd_config *config)
{
    static const vd_text_encoder *const all[VD_TEXT_ENCODERS] = {
#define X(code, symbol, name) [VD_TEXT_##code] = &vd_text_##symbol,
        VD_TEXTS(X)
#undef X
    };
    return config->text == VD_TEXT_OWN ? vd_encoder_of(config)->text : all[config->text];
}

int vd_states_width(const vd_config *config)
{
    return vd_encoder_of(config)->question_width(config);
}

int vd_text_heads(const vd_config *config)
{
    return config->heads ? config->heads : HEADS;
}

vd_real vd_text_dropout(const vd_config *config, double option)
{
    const vd_text_encoder *encoder = vd_text_encoder_of(config);
    return (vd_real)(option < 0 ? encoder ? encoder->dropout : 0 : option);
}

// ---- pooled sentences ---------------------------------------------------------------------------

const vd_pairing *vd_text_pairing(vd_tape *tape, const vd_packed *words, vd_axis sentences,
                                  vd_axis axis)
{
    vd_pair_group *group = vd_arena_take(tape->arena, (size_t)words->sequences, sizeof *group);
    for (int s = 0; s < words->sequences && group; s++) {
        group[s].query = (vd_range){s, 1};
        group[s].key[0] = (vd_range){words->start[s], words->length[s]};
    }
    return vd_tape_pairing(tape, sentences, words->sequences, axis, words->tokens, group,
                           words->sequences, "the words of sentences");
}

static void explain(vd_tape *tape, const vd_value *states, const vd_value *sentence)
{
    const vd_explained stage = {.title = "The question's words",
                                .why = "The question is the weighted mean of its words' states.",
                                .formula = {"b = softmax_i(w . y_i)", "q = sum_i b_i y_i"},
                                .in = {{"y", "the words", states}},
                                .out = {{"q", "the question", sentence}}};
    vd_tape_explain(tape, &stage);
}

void vd_text_declare_pool(vd_layout *layout, const vd_config *config, const char *name)
{
    vd_layout_score(layout, vd_name_of("%s.text.pool", name).text, vd_states_width(config), false);
}

vd_value *vd_text_pool(vd_tape *tape, const vd_packed *words, vd_axis sentences,
                       const vd_value *states, const char *name)
{
    if (tape->status != VD_OK)
        return &tape->nothing;
    const vd_pairing *p = vd_text_pairing(tape, words, sentences, states->axis);
    vd_value *s = vd_tape_linear(tape, states, vd_name_of("%s.text.pool", name).text);
    s = vd_tape_keys(tape, p, s);
    if (states->axis != VD_AXIS_QUESTION_WORDS)
        return vd_tape_mix(tape, vd_tape_softmax(tape, s), states);
    vd_value *y = vd_tape_mix(tape, vd_tape_attend(tape, s, "own-words", 0), states);
    explain(tape, states, y);
    return y;
}
