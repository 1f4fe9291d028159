#include "engine/networks/text/layers.h"

#include <math.h>
#include <stdio.h>

#include "engine/networks/mvan/pass.h"

const char *vd_text_part(vd_text_at at, const char *part, char out[VD_TEXT_NAME])
{
    if (at.layer == VD_TEXT_ONCE)
        snprintf(out, VD_TEXT_NAME, "%s.text.%s", at.name, part);
    else
        snprintf(out, VD_TEXT_NAME, "%s.text.%d.%s", at.name, at.layer, part);
    return out;
}

void vd_text_declare_linear(vd_layout *layout, vd_text_at at, const char *part, int in, int out)
{
    char name[VD_TEXT_NAME];
    vd_layout_linear(layout, vd_text_part(at, part, name), in, out, true);
}

vd_value *vd_text_linear(vd_tape *tape, const vd_value *x, vd_text_at at, const char *part)
{
    char name[VD_TEXT_NAME];
    return vd_tape_linear(tape, x, vd_text_part(at, part, name));
}

void vd_text_declare_norm(vd_layout *layout, vd_text_at at, const char *part, int size)
{
    char name[VD_TEXT_NAME];
    vd_text_part(at, part, name);
    vd_layout_add(layout, name, ".weight", false, (size_t)size, 0, (vd_start){VD_START_ONE, 0});
    vd_layout_add(layout, name, ".bias", false, (size_t)size, 0, vd_start_zero());
}

vd_value *vd_text_norm(vd_tape *tape, const vd_value *x, vd_text_at at, const char *part)
{
    char name[VD_TEXT_NAME];
    return vd_tape_layer_norm(tape, x, vd_text_part(at, part, name));
}

// ---- words --------------------------------------------------------------------------------------

vd_value *vd_text_rows(vd_tape *tape, const vd_sequences *words)
{
    if (!words->row)
        return (vd_value *)(uintptr_t)words->x;
    return vd_tape_rows(tape, words->x, words->row, words->packed->tokens, words->axis);
}

// The sinusoids of the places of the longest sentence, where operations read them.
static const vd_real *make_sinusoids(vd_tape *tape, int places, int width)
{
    size_t n = (size_t)places * (size_t)width;
    vd_real *table = vd_arena_take_raw(tape->arena, n, sizeof *table);
    if (table)
        vd_words_sinusoid(table, places, width);
    return vd_tape_upload(tape, table, n, sizeof *table);
}

vd_value *vd_text_placed(vd_tape *tape, const vd_sequences *words, const vd_value *x)
{
    const vd_packed *p = words->packed;
    if (tape->status != VD_OK)
        return &tape->nothing;
    const vd_real *table = make_sinusoids(tape, p->longest, x->columns);
    vd_value *all = vd_tape_constant(tape, VD_AXIS_NONE, table, p->longest, x->columns);
    return vd_tape_add(tape, x, vd_tape_rows(tape, all, p->rows.place, p->tokens, words->axis));
}

// ---- attention ----------------------------------------------------------------------------------

const vd_pairing *vd_text_own_words(vd_tape *tape, const vd_sequences *words)
{
    const vd_packed *w = words->packed;
    if (tape->status != VD_OK)
        return NULL;
    vd_pair_group *group = vd_arena_take(tape->arena, (size_t)w->sequences, sizeof *group);
    for (int s = 0; s < w->sequences && group; s++)
        group[s].query = group[s].key[0] = (vd_range){w->start[s], w->length[s]};
    const vd_pairing *p = vd_pairing_make(tape->arena, words->axis, w->tokens, words->axis,
                                          w->tokens, group, w->sequences);
    if (!p)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: what the words look at");
    return p;
}

void vd_text_declare_attention(vd_layout *layout, vd_text_at at, int size)
{
    static const char *const part[] = {"attention.query", "attention.key", "attention.value",
                                       "attention.out"};
    char name[VD_TEXT_NAME];
    const vd_start start = {VD_START_UNIFORM, 1 / sqrt((double)size)};
    for (int i = 0; i < 4; i++)
        vd_layout_add(layout, vd_text_part(at, part[i], name), ".weight", true, (size_t)size,
                      (size_t)size, start);
}

vd_value *vd_text_attention(vd_tape *tape, const vd_pairing *p, const vd_value *x, int heads,
                            vd_text_at at)
{
    vd_value *q = vd_text_linear(tape, x, at, "attention.query"),
             *k = vd_text_linear(tape, x, at, "attention.key"),
             *v = vd_text_linear(tape, x, at, "attention.value");
    q = vd_tape_scale(tape, q, 1 / (vd_real)sqrt((double)x->columns / heads));
    vd_value *a = vd_tape_softmax(tape, vd_tape_dot(tape, p, q, k, heads));
    return vd_text_linear(tape, vd_tape_mix(tape, a, v), at, "attention.out");
}

// ---- feed forward -------------------------------------------------------------------------------

void vd_text_declare_ffn(vd_layout *layout, vd_text_at at, int size, int inner)
{
    vd_text_declare_linear(layout, at, "ffn.1", size, inner);
    vd_text_declare_linear(layout, at, "ffn.2", inner, size);
}

vd_value *vd_text_ffn(vd_tape *tape, const vd_value *x, vd_text_at at)
{
    vd_value *inner = vd_tape_map(tape, VD_RELU, vd_text_linear(tape, x, at, "ffn.1"));
    return vd_text_linear(tape, inner, at, "ffn.2");
}

// ---- gated convolutions -------------------------------------------------------------------------

void vd_text_declare_glu(vd_layout *layout, vd_text_at at, const char *part, int in, int out)
{
    vd_text_declare_linear(layout, at, part, VD_TEXT_WIDE * in, 2 * out);
}

vd_value *vd_text_gate(vd_tape *tape, const vd_value *y)
{
    int half = y->columns / 2;
    if (half == 0) // after a failure
        return &tape->nothing;
    vd_value *gate = vd_tape_map(tape, VD_SIGMOID, vd_tape_columns(tape, y, half, half));
    return vd_tape_multiply(tape, vd_tape_columns(tape, y, 0, half), gate);
}

vd_value *vd_text_glu(vd_tape *tape, const vd_packed *packed, const vd_value *x, int dilation,
                      vd_text_at at, const char *part)
{
    if (tape->status != VD_OK)
        return &tape->nothing;
    vd_value *y = vd_tape_window(tape, x, packed, VD_TEXT_WIDE, dilation, false);
    return vd_text_gate(tape, vd_text_linear(tape, y, at, part));
}
