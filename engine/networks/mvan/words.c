// Words: embedding rows, and positions added before the LSTMs (Vaswani et al. 2017, section 3.5).
#include "engine/networks/pass.h"

#include "engine/networks/positions.h"

// As printed, a token gets the table's row of its sequence's index in the batch instead of its own
// position in the sequence.
static vd_status add_as_printed(vd_pass *pass, const vd_packed *packed, vd_real *x, vd_error *err)
{
    size_t n = (size_t)packed->sequences * (size_t)pass->config->embed;
    vd_real *table = vd_arena_take_raw(pass->arena, n, sizeof *table);
    if (!table)
        return vd_error_memory(err, "positions");
    vd_words_sinusoid(table, packed->sequences, pass->config->embed);
    const vd_real *there = vd_arena_upload(pass->arena, table, n, sizeof *table);
    if (!there)
        return vd_error_memory(err, "positions");
    pass->be->add_rows(there, packed->rows.owner, packed->tokens, pass->config->embed, x);
    return VD_OK;
}

vd_status vd_words_embed(vd_pass *pass, vd_text_pass *text, const vd_packed *packed, vd_error *err)
{
    size_t n = (size_t)packed->tokens * (size_t)pass->config->embed;
    vd_pass_take(pass, n, &text->embedding, &text->dembedding);
    if (pass->arena->failed)
        return vd_error_memory(err, "word embeddings");
    pass->be->embed(&pass->w->embed, packed->rows.id, packed->tokens, text->embedding);
    return VD_OK;
}

// Lists the words for which inputs are computed: only the distinct ones, unless dropout or the
// printed code's positions make equal ones differ.
static vd_status choose_inputs(vd_pass *pass, vd_text_pass *text, vd_positions positions,
                               vd_error *err)
{
    const vd_packed *packed = text->packed;
    vd_distinct_words words;
    text->inputs = packed->tokens;
    text->id = packed->rows.id;
    text->position = packed->rows.position;
    text->input_row = NULL;
    if (positions == VD_POSITIONS_AS_PRINTED ||
        (text->has_positions && pass->position_dropout != 0))
        return VD_OK;
    vd_status status = vd_packed_distinct(packed, pass->config->vocab, text->has_positions,
                                          pass->arena, &words, err);
    // To send a device what is distinct costs more than a few products.
    if (status != VD_OK || (!pass->be->memory->host && 2 * words.count > packed->tokens))
        return status;
    size_t n = (size_t)words.count;
    text->inputs = words.count;
    text->id = vd_arena_upload(pass->arena, words.id, n, sizeof *words.id);
    text->position = vd_arena_upload(pass->arena, words.position, n, sizeof *words.position);
    text->input_row =
        vd_arena_upload(pass->arena, words.word, (size_t)packed->tokens, sizeof *words.word);
    return pass->arena->failed ? vd_error_memory(err, "distinct words") : VD_OK;
}

vd_status vd_words_forward(vd_pass *pass, vd_text_pass *text, const vd_packed *packed, vd_site site,
                           vd_error *err)
{
    int e = pass->config->embed;
    vd_positions positions = pass->config->positions;
    // The printed code's positions belong to the encoder only.
    if (positions == VD_POSITIONS_AS_PRINTED && !text->embedding)
        positions = VD_POSITIONS_NONE;
    text->packed = packed;
    text->wide = e;
    text->has_positions = positions == VD_POSITIONS_SINUSOIDAL || positions == VD_POSITIONS_LEARNED;
    vd_status status = choose_inputs(pass, text, positions, err);
    if (status != VD_OK)
        return status;
    if (positions == VD_POSITIONS_AS_PRINTED) {
        text->input = text->embedding;
        return add_as_printed(pass, packed, text->embedding, err);
    }
    size_t n = (size_t)text->inputs * (size_t)e;
    text->input = vd_arena_reals(pass->arena, n);
    if (!text->input)
        return vd_error_memory(err, "word embeddings");
    pass->be->embed(&pass->w->embed, text->id, text->inputs, text->input);
    if (text->has_positions)
        pass->be->add_rows(positions == VD_POSITIONS_LEARNED ? pass->w->position : pass->sinusoid,
                           text->position, text->inputs, e, text->input);
    if (text->has_positions && pass->position_dropout != 0)
        pass->be->dropout(text->input, text->input, n, pass->position_dropout,
                          vd_pass_key(pass, site));
    return VD_OK;
}

void vd_words_backward(vd_pass *pass, vd_text_pass *text, vd_real *dinput, vd_site site)
{
    const vd_packed *packed = text->packed;
    int e = pass->config->embed;
    if (text->has_positions)
        vd_pass_drop_backward(pass, dinput, (size_t)text->inputs * (size_t)e,
                              pass->position_dropout, site);
    if (text->has_positions && pass->config->positions == VD_POSITIONS_LEARNED)
        pass->be->scatter_rows(dinput, e, text->position, text->inputs, e, pass->dw->position, e);
    pass->be->embed_backward(&pass->dw->embed, text->id, text->inputs, dinput);
    if (text->dembedding)
        pass->be->embed_backward(&pass->dw->embed, packed->rows.id, packed->tokens,
                                 text->dembedding);
}
