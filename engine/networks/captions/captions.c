#include "engine/networks/captions/captions.h"

#include <math.h>

#include "engine/networks/captions/private.h"

static const vd_caption_network *network_of(const vd_caption_config *config)
{
    return vd_caption_is_sat(config) ? &vd_caption_sat : &vd_caption_transformer;
}

vd_init vd_caption_xavier(int in, int out)
{
    return (vd_init){VD_INIT_UNIFORM, sqrt(6.0 / (double)(in + out))};
}

void vd_caption_declare_linear(vd_layout *layout, const char *name, int in, int out, bool bias)
{
    vd_layout_add(layout, name, ".weight", true, out, in, vd_caption_xavier(in, out));
    if (bias)
        vd_layout_add(layout, name, ".bias", false, out, 0, vd_init_zero());
}

void vd_caption_layout(const vd_caption_config *c, vd_layout *layout)
{
    *layout = (vd_layout){0};
    vd_caption_declare_linear(layout, "proj", c->region, c->hidden, true);
    network_of(c)->declare(c, layout);
}

vd_status vd_caption_encode(vd_caption_pass *pass, const vd_batch *batch, vd_error *err)
{
    vd_tape *tape = &pass->tape;
    const vd_value *x = vd_caption_regions(pass, batch);
    if (tape->status != VD_OK)
        return vd_tape_status(tape, err);
    x = vd_tape_map(tape, VD_RELU, vd_tape_linear(tape, x, "proj"));
    network_of(pass->config)->encode(pass, vd_tape_dropout(tape, x, pass->dropout));
    return vd_tape_status(tape, err);
}

vd_status vd_caption_read(vd_caption_pass *pass, const vd_caption_words *words, vd_error *err)
{
    pass->terms = 0;
    const vd_value *x = network_of(pass->config)->read(pass, words);
    pass->logits = vd_tape_linear(&pass->tape, x, "out");
    pass->words = *words;
    return vd_tape_status(&pass->tape, err);
}

const vd_value *vd_caption_look(const vd_caption_pass *pass, int layer, int position, int *row)
{
    const vd_caption_layer *l = &pass->layer[layer];
    const vd_caption_step *s = &pass->step[position];
    bool recurrent = vd_caption_is_sat(pass->config);
    *row = recurrent ? 0 : position;
    if (recurrent)
        return s->second ? s->second : s->look;
    return l->second ? l->second : l->look;
}
