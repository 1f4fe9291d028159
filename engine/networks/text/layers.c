#include "engine/networks/text/layers.h"

#include <math.h>

#include "engine/networks/positions.h"

// ---- words --------------------------------------------------------------------------------------

vd_value *vd_text_rows(vd_tape *tape, const vd_sequences *words)
{
    if (!words->row)
        return (vd_value *)(uintptr_t)words->x;
    return vd_tape_rows(tape, words->x, words->row, words->packed->tokens, words->axis);
}

vd_value *vd_text_add_sinusoids(vd_tape *tape, const vd_sequences *words, const vd_value *x)
{
    const vd_packed *p = words->packed;
    if (tape->status != VD_OK)
        return &tape->nothing;
    vd_real *table =
        vd_arena_take_raw(tape->arena, (size_t)p->longest * (size_t)x->columns, sizeof *table);
    if (table)
        vd_words_sinusoid(table, p->longest, x->columns);
    vd_value *all = vd_tape_given(tape, VD_AXIS_NONE, table, p->longest, x->columns);
    return vd_tape_add(tape, x, vd_tape_rows(tape, all, p->rows.position, p->tokens, words->axis));
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
    return vd_tape_pairing(tape, words->axis, w->tokens, words->axis, w->tokens, group,
                           w->sequences, "what the words look at");
}

void vd_heads_declare(vd_layout *layout, const char *name, vd_heads_size size)
{
    const struct {
        const char *part;
        int in, out;
    } matrix[] = {{"query", size.x, size.all},
                  {"key", size.y, size.all},
                  {"value", size.y, size.all},
                  {"out", size.all, size.out}};
    for (int i = 0; i < 4; i++)
        vd_layout_add(layout, vd_name_of("%s.%s", name, matrix[i].part).text, ".weight", true,
                      matrix[i].out, matrix[i].in, vd_init_recurrent(matrix[i].in));
}

vd_value *vd_heads_attend(vd_tape *tape, const vd_pairing *p, const vd_value *x, const vd_value *y,
                          int heads, const char *name, const char *shown)
{
    vd_value *q = vd_tape_linear(tape, x, vd_name_of("%s.query", name).text),
             *k = vd_tape_linear(tape, y, vd_name_of("%s.key", name).text),
             *v = vd_tape_linear(tape, y, vd_name_of("%s.value", name).text);
    q = vd_tape_scale(tape, q, 1 / (vd_real)sqrt((double)q->columns / heads));
    vd_value *s = vd_tape_dot(tape, p, q, k, heads);
    vd_value *a = shown ? vd_tape_attend(tape, s, shown, 0) : vd_tape_softmax(tape, s);
    return vd_tape_linear(tape, vd_tape_mix(tape, a, v), vd_name_of("%s.out", name).text);
}

void vd_text_declare_attention(vd_layout *layout, const char *at, int size)
{
    vd_heads_declare(layout, vd_name_of("%s.attention", at).text,
                     (vd_heads_size){size, size, size, size});
}

vd_value *vd_text_attention(vd_tape *tape, const vd_pairing *p, const vd_value *x, int heads,
                            const char *at)
{
    return vd_heads_attend(tape, p, x, x, heads, vd_name_of("%s.attention", at).text, NULL);
}

// ---- feed forward -------------------------------------------------------------------------------

void vd_text_declare_ffn(vd_layout *layout, const char *at, int size, int inner)
{
    vd_layout_linear(layout, vd_name_of("%s.ffn.1", at).text, size, inner, true);
    vd_layout_linear(layout, vd_name_of("%s.ffn.2", at).text, inner, size, true);
}

vd_value *vd_text_ffn(vd_tape *tape, const vd_value *x, const char *at)
{
    vd_value *inner =
        vd_tape_map(tape, VD_RELU, vd_tape_linear(tape, x, vd_name_of("%s.ffn.1", at).text));
    return vd_tape_linear(tape, inner, vd_name_of("%s.ffn.2", at).text);
}

// ---- gated convolutions -------------------------------------------------------------------------

void vd_text_declare_glu(vd_layout *layout, const char *name, int in, int out)
{
    vd_layout_linear(layout, name, VD_TEXT_WIDE * in, 2 * out, true);
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
                      const char *name)
{
    if (tape->status != VD_OK)
        return &tape->nothing;
    vd_value *y = vd_tape_window(tape, x, packed, VD_TEXT_WIDE, dilation, false);
    return vd_text_gate(tape, vd_tape_linear(tape, y, name));
}
