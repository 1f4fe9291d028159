// Word states and sentence vectors of questions or history entries: a 2-layer bidirectional LSTM;
// sentence = [forward state at the last word ; backward state at the first].
#include "engine/networks/pass.h"

vd_status vd_sentences_forward(vd_pass *pass, vd_text_pass *text, const vd_packed *packed,
                               const vd_lstm_weights weights[VD_LAYERS][2], vd_site words,
                               vd_site layer, vd_error *err)
{
    vd_status status = vd_words_embed(pass, text, packed, err);
    if (status == VD_OK)
        status = vd_words_forward(pass, text, packed, words, err);
    if (status == VD_OK)
        status = vd_recurrent_forward(pass, text, &weights[0][0], 2, NULL, layer, err);
    if (status != VD_OK)
        return status;
    size_t n = (size_t)packed->sequences * 2 * (size_t)pass->config->hidden;
    vd_pass_take(pass, n, &text->sentence, &text->dsentence);
    if (pass->arena->failed)
        return vd_error_memory(err, "sentence vectors");
    vd_last_states(pass->be, packed, 2, pass->config->hidden, text->recurrent.y, text->sentence);
    return VD_OK;
}

vd_status vd_sentences_backward(vd_pass *pass, vd_text_pass *text,
                                const vd_lstm_weights gradients[VD_LAYERS][2], vd_site words,
                                vd_error *err)
{
    const vd_packed *packed = text->packed;
    vd_real *dinput =
        vd_arena_zeros(pass->arena, (size_t)text->inputs * (size_t)pass->config->embed);
    if (!dinput)
        return vd_error_memory(err, "word gradients");
    vd_last_states_backward(pass->be, packed, 2, pass->config->hidden, text->dsentence,
                            text->recurrent.dy);
    vd_status status =
        vd_recurrent_backward(pass, &text->recurrent, &gradients[0][0], dinput, NULL, err);
    if (status == VD_OK)
        vd_words_backward(pass, text, dinput, words);
    return status;
}
