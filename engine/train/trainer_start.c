// A trainer that starts from a model's weights.
#include <string.h>

#include "engine/networks/encoder.h"
#include "engine/networks/text/text.h"
#include "engine/train/trainer_private.h"

static bool has_part(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

void vd_trainer_open_gate(const vd_parameter *p, vd_real *w)
{
    vd_real add = has_part(p->name, ".embed_g.0.bias") ? (vd_real)0.5 : 0;
    if (has_part(p->name, ".embed_g.0."))
        for (size_t i = 0; i < p->elements; i++)
            w[i] = w[i] / 4 + add;
}

static vd_status check_start(const vd_trainer *t, const vd_model *model, vd_error *err)
{
    const vd_config *from = &model->config, *to = &t->config;
    const char *path = vd_model_path(model);
    if (from->task != to->task)
        return vd_error_set(err, VD_MISMATCH, "%s: its task is %s, expected %s", path,
                            vd_task_names[from->task], vd_task_names[to->task]);
    if (from->vocab > to->vocab || from->embed != to->embed || from->hidden != to->hidden ||
        from->region != to->region)
        return vd_error_set(
            err, VD_MISMATCH,
            "%s: words, embedding, hidden and region sizes %d, %d, %d, %d; expected %d, %d, %d, %d",
            path, from->vocab, from->embed, from->hidden, from->region, to->vocab, to->embed,
            to->hidden, to->region);
    const vd_caption_config *one = &from->caption, *other = &to->caption;
    if (to->task == VD_TASK_CAPTION && vd_caption_is_sat(one) != vd_caption_is_sat(other))
        return vd_error_set(err, VD_MISMATCH, "%s: it is a captioner %s, expected %s", path,
                            vd_captioner_names[one->captioner],
                            vd_captioner_names[other->captioner]);
    if (to->task == VD_TASK_CAPTION &&
        (one->heads != other->heads || one->layers != other->layers || one->inner != other->inner))
        return vd_error_set(
            err, VD_MISMATCH, "%s: heads, layers and inner size %d, %d, %d; expected %d, %d, %d",
            path, one->heads, one->layers, one->inner, other->heads, other->layers, other->inner);
    if (from->network != to->network)
        return vd_error_set(err, VD_MISMATCH,
                            "%s: it is a network %s, expected %s; name it with --network", path,
                            vd_network_names[from->network], vd_network_names[to->network]);
    if (vd_text_encoder_of(from) != vd_text_encoder_of(to))
        return vd_error_set(err, VD_MISMATCH, "%s: its text encoder is %s, expected %s", path,
                            vd_text_names[from->text], vd_text_names[to->text]);
    int heads = vd_encoder_heads(from), wanted = vd_encoder_heads(to);
    if (heads != wanted) // the weights have the same shapes
        return vd_error_set(err, VD_MISMATCH,
                            "%s: heads %d, expected %d; keep them with --heads %d", path, heads,
                            wanted, heads);
    if (vd_encoder_reads(to, "gate") && from->gate != to->gate && from->gate != VD_GATE_SIGMOID)
        return vd_error_set(err, VD_MISMATCH,
                            "%s: has %s gates, and only sigmoid gates can be converted to %s "
                            "gates; keep them with --gate %s",
                            path, vd_gate_names[from->gate],
                            to->gate == VD_GATE_SIGMOID ? "other" : vd_gate_names[to->gate],
                            vd_gate_names[from->gate]);
    for (int id = 0; id < from->vocab; id++)
        if (strcmp(vd_vocab_word(model->vocab, id), vd_vocab_word(t->vocab, id)) != 0)
            return vd_error_set(err, VD_MISMATCH, "%s: word %d is \"%.40s\", expected \"%.40s\"",
                                path, id, vd_vocab_word(model->vocab, id),
                                vd_vocab_word(t->vocab, id));
    return VD_OK;
}

// The parameter of that name; a decoder's name depends on whether it is the only one.
static const vd_parameter *counterpart(const vd_layout *layout, const char *name)
{
    static const char *const prefixes[] = {"disc_decoder.", "gen_decoder.", "decoder."};
    const vd_parameter *found = vd_layout_find(layout, name);
    for (size_t i = 0; !found && i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) != 0)
            continue;
        for (size_t j = 0; !found && j < sizeof prefixes / sizeof *prefixes; j++)
            found = vd_layout_find(layout, vd_name_of("%s%s", prefixes[j], name + length).text);
    }
    return found;
}

// Only the vocabulary, whose words are rows, may have grown.
static vd_status check_shape(const vd_parameter *p, const vd_parameter *q, const char *path,
                             vd_error *err)
{
    bool fits = p->dims == q->dims && q->shape[0] <= p->shape[0];
    for (int i = 1; i < p->dims; i++)
        fits &= p->shape[i] == q->shape[i];
    return fits ? VD_OK
                : vd_error_set(err, VD_MISMATCH,
                               "%s: %s has %zu rows and %zu numbers, expected at most %zu and %zu",
                               path, q->name, q->shape[0], q->elements, p->shape[0], p->elements);
}

vd_status vd_trainer_start_from(vd_trainer *t, const vd_model *model, vd_error *err)
{
    vd_status status = check_start(t, model, err);
    if (status == VD_OK && !t->be->memory->host)
        status = vd_error_set(err, VD_USAGE, "training starts on the CPU");
    if (status != VD_OK)
        return status;
    for (int k = 0; k < t->layout.count; k++) {
        const vd_parameter *p = &t->layout.parameter[k];
        const vd_parameter *q = counterpart(&model->layout, p->name);
        if (!q)
            continue; // learned positions and other decoders keep how they start
        status = check_shape(p, q, vd_model_path(model), err);
        if (status == VD_OK)
            status = vd_tensor_floats(vd_safetensors_find(model->file, q->name), 0, q->elements,
                                      t->block + p->offset, err);
        if (status != VD_OK)
            return status;
        if (model->config.gate != t->config.gate)
            vd_trainer_open_gate(p, t->block + p->offset);
    }
    return VD_OK;
}
