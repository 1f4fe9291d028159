// Word states and sentence vectors of questions or history entries: a 2-layer bidirectional LSTM;
// sentence = [forward state at the last word ; backward state at the first].
#include "engine/pass.h"

#include <string.h>

vd_status vd_sentences_forward(vd_pass *pass, vd_text_pass *text, const vd_packed *packed,
                               const vd_lstm_weights weights[VD_LAYERS][2], vd_site words,
                               vd_site layer, vd_error *err)
{
    size_t h = (size_t)pass->config->hidden;
    vd_status status = vd_words_forward(pass, text, packed, pass->config->positions, words, err);
    if (status == VD_OK)
        status = vd_recurrent_forward(pass, &text->recurrent, &weights[0][0], 2, packed,
                                      text->input, pass->config->embed, NULL, layer, err);
    if (status != VD_OK)
        return status;
    size_t n = (size_t)packed->sequences * 2 * h;
    text->sentence = vd_arena_zeros(pass->arena, n);
    if (pass->dw)
        text->dsentence = vd_arena_zeros(pass->arena, n);
    if (pass->arena->failed)
        return vd_error_memory(err, "sentence vectors");
    for (int s = 0; s < packed->sequences; s++) {
        if (packed->length[s] == 0)
            continue;
        const vd_real *first = text->recurrent.y + (size_t)packed->start[s] * 2 * h;
        const vd_real *last = text->recurrent.y + (size_t)(packed->start[s + 1] - 1) * 2 * h;
        vd_real *out = text->sentence + (size_t)s * 2 * h;
        memcpy(out, last, h * sizeof *out);
        memcpy(out + h, first + h, h * sizeof *out);
    }
    return VD_OK;
}

vd_status vd_sentences_backward(vd_pass *pass, vd_text_pass *text,
                                const vd_lstm_weights gradients[VD_LAYERS][2], vd_site words,
                                vd_error *err)
{
    const vd_packed *packed = text->packed;
    size_t h = (size_t)pass->config->hidden;
    vd_real *dinput =
        vd_arena_zeros(pass->arena, (size_t)packed->tokens * (size_t)pass->config->embed);
    if (!dinput)
        return vd_error_memory(err, "word gradients");
    for (int s = 0; s < packed->sequences; s++) {
        if (packed->length[s] == 0)
            continue;
        const vd_real *d = text->dsentence + (size_t)s * 2 * h;
        vd_real *first = text->recurrent.dy + (size_t)packed->start[s] * 2 * h;
        vd_real *last = text->recurrent.dy + (size_t)(packed->start[s + 1] - 1) * 2 * h;
        pass->be->add(last, d, h);
        pass->be->add(first + h, d + h, h);
    }
    vd_status status =
        vd_recurrent_backward(pass, &text->recurrent, &gradients[0][0], dinput, NULL, err);
    if (status == VD_OK)
        vd_words_backward(pass, text, dinput, words);
    return status;
}
