#include "engine/train/trainer_private.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <inttypes.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/model/captioner_private.h"
#include "engine/model/file.h"
#include "engine/model/model_private.h"
#include "engine/networks/captions/captions.h"
#include "engine/networks/encoder.h"
#include "engine/networks/network.h"
#include "engine/networks/positions.h"
#include "engine/networks/text/text.h"

// Streams of random numbers drawn from one seed.
enum { STREAM_WEIGHTS = 1, STREAM_DROPOUT = 2, STREAM_SAMPLES = 3 };

// More than any run takes; so much can be counted on from.
static const int64_t MOST_STEPS = INT64_C(1000000000000);

double vd_schedule_multiplier(vd_schedule schedule, double done)
{
    const double pi = 3.14159265358979323846, last = 0.02;
    if (schedule == VD_SCHEDULE_CONSTANT || schedule == VD_SCHEDULE_WARM_UP)
        return 1;
    double rise = schedule == VD_SCHEDULE_COSINE ? 1.0 / 32 : 2.0 / 8;
    if (done <= rise)
        return 0.01 * (1 - done / rise) + done / rise;
    if (schedule == VD_SCHEDULE_COSINE)
        return last + (1 - last) * (1 + cos(pi * (done - rise) / (1 - rise))) / 2;
    return done < 5.0 / 8 ? 1 : done < 6.0 / 8 ? 0.1 : 0.01;
}

double vd_warm_up(int width, int64_t step, int64_t steps)
{
    double s = (double)step;
    return fmin(1 / sqrt(s), s * pow((double)steps, -1.5)) / sqrt((double)width);
}

// ---- memory of the backend ----------------------------------------------------------------------

static void release_parts(vd_trainer *t)
{
    vd_real **const part[] = {&t->block, &t->gradient, &t->state[0], &t->state[1], &t->sinusoid};
    for (size_t i = 0; t->be && i < sizeof part / sizeof *part; i++) {
        t->be->memory->release(*part[i]);
        *part[i] = NULL;
    }
}

static vd_status allocate(vd_trainer *t, const vd_backend *be, vd_error *err)
{
    const vd_memory *memory = be->memory;
    vd_weights_layout(&t->config, &t->layout, NULL, NULL);
    size_t bytes = t->layout.elements * sizeof *t->block;
    t->be = be;
    t->block = memory->allocate(bytes);
    t->gradient = memory->allocate(bytes);
    for (int i = 0; i < STATES; i++)
        t->state[i] = memory->allocate(bytes);
    if (!t->block || !t->gradient || !t->state[0] || !t->state[1])
        return vd_error_memory(err, "weights, gradients and the optimiser's state");
    memory->zero(t->block, bytes);
    for (int i = 0; i < STATES; i++)
        memory->zero(t->state[i], bytes);
    vd_weights_layout(&t->config, &t->layout, t->block, &t->weights);
    vd_weights_layout(&t->config, &t->layout, t->gradient, &t->gradients);
    return vd_words_table(be, t->config.embed, &t->sinusoid, err);
}

// A part of the trainer where the host can read it: itself on the CPU, else a copy in *copy, which
// the caller frees. NULL when memory is out.
static const vd_real *read_part(const vd_trainer *t, const vd_real *part, vd_real **copy)
{
    size_t n = t->layout.elements;
    *copy = NULL;
    if (t->be->memory->host)
        return part;
    *copy = vd_alloc(n, sizeof **copy);
    if (*copy)
        t->be->memory->download(*copy, part, n * sizeof **copy);
    return *copy;
}

vd_status vd_trainer_use(vd_trainer *t, const vd_backend *be, vd_error *err)
{
    vd_trainer from = *t;
    size_t bytes = t->layout.elements * sizeof *t->block;
    const vd_real *part[3] = {from.block, from.state[0], from.state[1]};
    t->block = t->gradient = t->state[0] = t->state[1] = t->sinusoid = NULL;
    vd_status status = allocate(t, be, err);
    vd_real *to[3] = {t->block, t->state[0], t->state[1]};
    for (int i = 0; status == VD_OK && i < 3; i++) {
        vd_real *copy;
        const vd_real *host = read_part(&from, part[i], &copy);
        if (host)
            be->memory->upload(to[i], host, bytes);
        else
            status = vd_error_memory(err, "the trainer's weights");
        vd_free(copy);
    }
    if (status == VD_OK)
        status = vd_backend_status(from.be, err);
    if (status == VD_OK)
        status = vd_backend_status(be, err);
    if (status != VD_OK) {
        release_parts(t);
        *t = from;
        return status;
    }
    release_parts(&from);
    vd_arena_free(&t->arena);
    t->arena = (vd_arena){.memory = be->memory};
    return VD_OK;
}

static vd_status copy_vocab(const vd_vocab *vocab, vd_vocab **out, vd_error *err)
{
    char *json = vd_vocab_to_json(vocab);
    if (!json)
        return vd_error_memory(err, "the vocabulary");
    vd_status status = vd_vocab_from_json(json, strlen(json), "vocabulary", out, err);
    vd_free(json);
    return status;
}

vd_status vd_trainer_new(const vd_config *config, const vd_vocab *vocab,
                         const vd_train_options *options, vd_trainer **out, vd_error *err)
{
    *out = NULL;
    const void *values;
    const vd_setting *rows = vd_config_rows(config, &values);
    vd_status status = vd_settings_check(rows, values, err);
    if (status == VD_OK)
        status = vd_encoder_check(config, err);
    if (status == VD_OK)
        status = vd_settings_check(vd_train_settings, options, err);
    if (status != VD_OK)
        return status;
    if (vd_vocab_size(vocab) != config->vocab)
        return vd_error_set(err, VD_MISMATCH,
                            "the configuration says %d words, the vocabulary has %d", config->vocab,
                            vd_vocab_size(vocab));
    vd_trainer *t = vd_alloc(1, sizeof *t);
    if (!t)
        return vd_error_memory(err, "the trainer");
    t->config = *config;
    t->options = *options;
    status = copy_vocab(vocab, &t->vocab, err);
    if (status == VD_OK)
        status = allocate(t, vd_backend_cpu(), err);
    if (status != VD_OK) {
        vd_trainer_free(t);
        return status;
    }
    vd_rng rng = vd_rng_seed(options->seed, STREAM_WEIGHTS);
    vd_layout_init(&t->layout, t->block, &rng);
    for (int k = 0; options->open_gates && config->gate != VD_GATE_SIGMOID && k < t->layout.count;
         k++)
        vd_trainer_open_gate(&t->layout.parameter[k], t->block + t->layout.parameter[k].offset);
    *out = t;
    return VD_OK;
}

void vd_trainer_free(vd_trainer *t)
{
    if (!t)
        return;
    vd_vocab_free(t->vocab);
    if (t->devices)
        t->devices->leave();
    release_parts(t);
    vd_arena_free(&t->arena);
    vd_metadata_clear(&t->metadata);
    vd_free(t);
}

vd_status vd_trainer_set_words(vd_trainer *t, const float *rows, vd_error *err)
{
    size_t e = (size_t)t->config.embed, n = (size_t)t->config.vocab * e;
    for (size_t i = 0; i < e; i++)
        if (rows[VD_PAD * e + i] != 0)
            return vd_error_set(err, VD_USAGE, "the word vector of <PAD> is not zero");
    t->be->load_floats(rows, vd_matrix_reals(&t->weights.embed), n);
    return vd_backend_status(t->be, err);
}

vd_status vd_trainer_join(vd_trainer *trainer, const vd_group *group, vd_error *err)
{
    trainer->group = group;
    trainer->devices = NULL;
    return group ? vd_group_devices(group, trainer->be, &trainer->devices, trainer->sums,
                                    sizeof trainer->sums, err)
                 : VD_OK;
}

const char *vd_trainer_sums(const vd_trainer *trainer)
{
    return trainer->sums;
}

const vd_backend *vd_trainer_backend(const vd_trainer *trainer)
{
    return trainer->be;
}

const vd_config *vd_trainer_config(const vd_trainer *trainer)
{
    return &trainer->config;
}

const vd_vocab *vd_trainer_vocab(const vd_trainer *trainer)
{
    return trainer->vocab;
}

const vd_train_options *vd_trainer_options(const vd_trainer *trainer)
{
    return &trainer->options;
}

int64_t vd_trainer_steps(const vd_trainer *trainer)
{
    return trainer->steps;
}

vd_status vd_trainer_set_metadata(vd_trainer *trainer, const char *key, const char *value,
                                  vd_error *err)
{
    return vd_metadata_set(&trainer->metadata, key, value, err);
}

const char *vd_trainer_metadata(const vd_trainer *trainer, const char *key)
{
    return vd_metadata_get(&trainer->metadata, key);
}

static vd_network network_of(vd_trainer *t)
{
    vd_arena_reset(&t->arena);
    return (vd_network){.pass = {.be = t->be,
                                 .config = &t->config,
                                 .w = &t->weights,
                                 .sinusoid = t->sinusoid,
                                 .arena = &t->arena}};
}

// Each micro-batch of a step has dropout masks of its own.
static uint64_t dropout_key(const vd_trainer *t)
{
    uint64_t stream = STREAM_DROPOUT + (uint64_t)t->steps * 16;
    return vd_rng_seed(t->options.seed, stream ^ (uint64_t)t->micro_batches << 48).state;
}

static vd_status discriminate(const vd_trainer *t, vd_network *net, const vd_totals *of,
                              double *loss, vd_error *err)
{
    const vd_train_options *o = &t->options;
    double lambda = fmax(o->lambda_floor, o->lambda_start * pow(o->lambda_decay, (double)t->steps));
    vd_status status = vd_discriminative_forward(net, err);
    if (status == VD_OK)
        status = vd_discriminative_loss(net, o->margin, lambda, of, loss, err);
    return status == VD_OK ? vd_discriminative_backward(net, err) : status;
}

static vd_status generate(vd_network *net, const vd_totals *of, double *loss, vd_error *err)
{
    vd_status status = vd_generative_loss(net, of, loss, err);
    return status == VD_OK ? vd_generative_backward(net, err) : status;
}

// A pass over captions; learn: for their gradient.
static vd_caption_pass caption_pass(vd_trainer *t, bool learn)
{
    vd_arena_reset(&t->arena);
    return (vd_caption_pass){
        .tape = {.be = t->be,
                 .arena = &t->arena,
                 .w = &t->weights.all,
                 .dw = learn ? &t->gradients.all : NULL,
                 .key = dropout_key(t)},
        .config = &t->config.caption,
        .sinusoid = t->sinusoid,
        .dropout = learn && t->options.scst == VD_SCST_NONE ? (vd_real)t->options.dropout : 0,
        .baseline = t->counted ? &t->baseline : NULL};
}

static vd_status read_captions(vd_caption_pass *pass, const vd_batch *batch, const vd_totals *of,
                               vd_caption_loss *loss, vd_error *err)
{
    if (!batch->captions)
        return vd_error_set(err, VD_USAGE, "a captioner needs captions, the batch has none");
    return vd_caption_run(pass, batch, of, loss, err);
}

static void add_rewards(vd_trainer *t, const vd_caption_rewards *more)
{
    t->rewards.sum += more->sum;
    t->rewards.count += more->count;
}

// From captions that it says itself.
static vd_status learn_by_rewards(vd_trainer *t, const vd_batch *batch, const vd_totals *of,
                                  double *loss, vd_error *err)
{
    vd_caption_rewards rewards;
    double found;
    vd_caption_pass pass = caption_pass(t, true);
    if (!t->reward_source || !batch->item)
        return vd_error_set(err, VD_USAGE, "scst needs rewards and the pictures' indices");
    const vd_scst_step step = {
        .options = &t->options,
        .vocab = t->vocab,
        .rewards = t->reward_source,
        .seed = vd_rng_seed(t->options.seed, STREAM_SAMPLES + (uint64_t)t->steps * 16).state,
        .of = *of};
    vd_status status = vd_scst_gradient(&pass, batch, &step, &found, &rewards, err);
    *loss += found;
    add_rewards(t, &rewards);
    return status;
}

static vd_status learn_captions(vd_trainer *t, const vd_batch *batch, const vd_totals *of,
                                double *loss, vd_error *err)
{
    vd_caption_loss found = {0};
    if (t->options.scst != VD_SCST_NONE)
        return learn_by_rewards(t, batch, of, loss, err);
    vd_caption_pass pass = caption_pass(t, true);
    vd_status status = read_captions(&pass, batch, of, &found, err);
    *loss += found.loss;
    add_rewards(t, &pass.rewards);
    return status;
}

void vd_trainer_reward(vd_trainer *t, const vd_rewards *rewards)
{
    t->reward_source = rewards;
}

double vd_trainer_rewarded(const vd_trainer *t)
{
    bool known = t->options.scst != VD_SCST_NONE && t->rewards.count > 0;
    return known ? t->rewards.sum / (double)t->rewards.count : 0;
}

vd_status vd_trainer_describe(vd_trainer *t, const vd_batch *batch, vd_generated_caption *out,
                              vd_error *err)
{
    const vd_generation how = vd_generation_greedy();
    vd_caption_pass pass = caption_pass(t, false);
    int *count = vd_arena_ints(&t->arena, (size_t)batch->dialogs);
    if (!count)
        return vd_error_memory(err, "captions that are said");
    vd_status status = vd_caption_encode(&pass, batch, err);
    return status == VD_OK ? vd_caption_generate(&pass, t->vocab, &how, NULL, out, 1, count, err)
                           : status;
}

vd_status vd_trainer_caption_loss(vd_trainer *t, const vd_batch *batch, const vd_totals *of,
                                  vd_caption_loss *loss, double *given, vd_error *err)
{
    vd_caption_pass pass = caption_pass(t, false);
    vd_status status = read_captions(&pass, batch, of, loss, err);
    if (status == VD_OK && given)
        vd_caption_history_share(&pass, given);
    return status;
}

bool vd_trainer_levels(const vd_trainer *t, double *levels)
{
    const vd_caption_config *c = &t->config.caption;
    int n = vd_caption_layers(c) * vd_caption_heads(c);
    const vd_parameter *beta = vd_layout_find(&t->layout, "awc.beta");
    for (int i = 0; i < n; i++) {
        float level = (float)c->awc_level;
        if (beta)
            t->be->read_floats(t->block + beta->offset + i, &level, 1);
        levels[i] = (double)level;
    }
    return c->awc != VD_AWC_NONE;
}

// Adds the gradient of a micro-batch, and its share of the loss.
static vd_status add_micro_batch(vd_trainer *t, const vd_batch *batch, const vd_micro_batches *step,
                                 double *loss, vd_error *err)
{
    const vd_totals *of = &step->of;
    if (t->config.task == VD_TASK_CAPTION)
        return learn_captions(t, batch, of, loss, err);
    vd_network net = network_of(t);
    double ranked = 0, generated = 0;
    net.pass.dw = &t->gradients;
    net.pass.dropout = (float)t->options.dropout;
    net.pass.lstm_dropout = (float)t->options.lstm_dropout;
    net.pass.position_dropout = (float)t->options.position_dropout;
    net.pass.own_masks = t->options.own_masks;
    net.pass.text_dropout = vd_text_dropout(&t->config, t->options.text_dropout);
    net.pass.random_time = (vd_real)t->options.random_time;
    net.pass.linear = step->linear;
    net.pass.coverage = step->last_epoch ? (vd_real)t->options.coverage : 0;
    net.pass.next_word = of->text ? t->options.next_word / (double)of->text : 0;
    net.pass.key = dropout_key(t);
    vd_status status = vd_network_encode(&net, batch, err);
    if (status == VD_OK && vd_has_discriminative(t->config.decoders))
        status = discriminate(t, &net, of, &ranked, err);
    if (status == VD_OK && vd_has_generative(t->config.decoders))
        status = generate(&net, of, &generated, err);
    if (status == VD_OK)
        status = vd_network_encode_backward(&net, err);
    *loss += ranked + generated + net.pass.next_word_loss;
    return status;
}

vd_status vd_trainer_gradient(vd_trainer *t, const vd_micro_batches *step, double *loss,
                              vd_error *err)
{
    vd_status status = VD_OK;
    *loss = 0;
    t->rewards = (vd_caption_rewards){0};
    t->be->memory->zero(t->gradient, t->layout.elements * sizeof *t->gradient);
    t->micro_batches = t->group ? t->group->rank : 0;
    for (size_t i = 0; i < step->count && status == VD_OK; i++) {
        const vd_batch *batch;
        status = step->next(step->context, &batch, err);
        if (status == VD_OK)
            status = add_micro_batch(t, batch, step, loss, err);
        t->micro_batches += t->group ? t->group->size : 1;
    }
    return status;
}

// The gradient of all processes, in each.
static vd_status sum_gradients(vd_trainer *t, vd_error *err)
{
    size_t n = t->layout.elements;
    const vd_memory *memory = t->be->memory;
    if (t->devices)
        return vd_group_status(t->devices->sum(t->gradient, n), err);
    if (memory->host)
        return vd_group_status(t->group->sum_floats(t->gradient, n), err);
    float *copy = vd_alloc(n, sizeof *copy);
    if (!copy)
        return vd_error_memory(err, "the gradient");
    memory->download(copy, t->gradient, n * sizeof *copy);
    vd_status status = vd_backend_status(t->be, err);
    if (status == VD_OK)
        status = vd_group_status(t->group->sum_floats(copy, n), err);
    if (status == VD_OK)
        memory->upload(t->gradient, copy, n * sizeof *copy);
    vd_free(copy);
    return status;
}

static vd_status gather(vd_trainer *t, double *loss, vd_error *err)
{
    if (!t->group)
        return VD_OK;
    double sums[3] = {*loss, t->rewards.sum, (double)t->rewards.count};
    vd_status status = vd_group_status(t->group->sum_doubles(sums, 3), err);
    *loss = sums[0];
    t->rewards = (vd_caption_rewards){sums[1], (int64_t)sums[2]};
    return status == VD_OK ? sum_gradients(t, err) : status;
}

static void decay_weights(vd_trainer *t, double rate)
{
    for (int k = 0; k < t->layout.count; k++) {
        const vd_parameter *p = &t->layout.parameter[k];
        vd_real *w = t->block + p->offset;
        if (vd_parameter_decays(p))
            t->be->add_scaled(w, (vd_real)(-rate * t->options.weight_decay), w, p->elements);
    }
}

// Scaled down to the largest norm that is wanted.
static void change_weights(vd_trainer *t, double multiplier, double norm)
{
    const vd_backend *be = t->be;
    double clip = t->options.clip, scale = clip > 0 && norm > clip ? clip / norm : 1;
    double rate = t->options.rate * multiplier;
    const vd_moments moments = {t->options.beta_1, t->options.beta_2, t->options.epsilon};
    t->steps++;
    if (t->options.optimiser == VD_ADAMW)
        decay_weights(t, rate);
    if (t->options.optimiser != VD_RMSPROP)
        (t->options.optimiser == VD_ADAMAX ? be->adamax : be->adam)(
            t->block, t->gradient, t->state[0], t->state[1], t->layout.elements, (vd_real)scale,
            rate, &moments, t->steps);
    else
        be->rmsprop(t->block, t->gradient, t->state[1], t->layout.elements, (vd_real)scale, rate);
}

// m <- 0.9 m + 0.1 of the mean of the step; m is that of the first.
static void follow_rewards(vd_trainer *t)
{
    if (t->rewards.count == 0 || t->options.scst != VD_SCST_NONE)
        return;
    double mean = t->rewards.sum / (double)t->rewards.count;
    t->baseline = t->counted ? 0.9 * t->baseline + 0.1 * mean : mean;
    t->counted = true;
}

vd_status vd_trainer_update(vd_trainer *t, double multiplier, double *loss, double *gradient_norm,
                            vd_error *err)
{
    vd_status status = gather(t, loss, err);
    double norm = status == VD_OK ? sqrt(t->be->square_sum(t->gradient, t->layout.elements)) : 0;
    if (status == VD_OK)
        status = vd_backend_status(t->be, err);
    if (status != VD_OK)
        return status;
    if (!isfinite(*loss) || !isfinite(norm))
        return vd_error_set(err, VD_FORMAT,
                            "training diverged at step %" PRId64 ": loss %g, gradient norm %g; "
                            "try a lower --rate, or --clip",
                            t->steps + 1, *loss, norm);
    change_weights(t, multiplier, norm);
    follow_rewards(t);
    if (gradient_norm)
        *gradient_norm = norm;
    return VD_OK; // without waiting: the next batch is packed while the weights are updated
}

vd_status vd_trainer_scores(vd_trainer *trainer, const vd_batch *batch, float *scores,
                            vd_error *err)
{
    vd_network net = network_of(trainer);
    return vd_network_scores(&net, batch, trainer->config.decoders, scores, err);
}

// ---- files --------------------------------------------------------------------------------------

// The weights tensor by tensor, a part of the optimiser's state as one.
static vd_status append(const vd_trainer *t, const vd_real *part, vd_safetensors_writer *writer,
                        vd_error *err)
{
    vd_real *copy;
    const vd_real *host = read_part(t, part, &copy);
    vd_status status =
        host ? vd_backend_status(t->be, err) : vd_error_memory(err, "weights to be written");
    if (status == VD_OK)
        vd_model_file_append(writer, &t->layout, host, err);
    vd_free(copy);
    return status;
}

static vd_status put_options(const vd_trainer *t, vd_safetensors_writer *writer, vd_error *err)
{
    char *options;
    vd_status status =
        vd_settings_write(vd_train_settings, &t->options, "training options", &options, err);
    if (status == VD_OK)
        vd_safetensors_put_metadata(writer, "options", options, err);
    vd_free(options);
    return status;
}

static const char *const state_names[STATES] = {"optimiser.first", "optimiser.second"};

// What a checkpoint holds beyond a model.
static void declare_state(const vd_trainer *t, vd_safetensors_writer *writer, vd_error *err)
{
    char steps[32];
    size_t n = t->layout.numbers;
    snprintf(steps, sizeof steps, "%" PRId64, t->steps);
    vd_safetensors_put_metadata(writer, "steps", steps, err);
    if (t->counted) {
        snprintf(steps, sizeof steps, "%a", t->baseline);
        vd_safetensors_put_metadata(writer, "baseline", steps, err);
    }
    for (int i = 0; i < STATES; i++)
        vd_safetensors_declare(writer, state_names[i], VD_F32, 1, &n, err);
}

static vd_status save(const vd_trainer *t, const char *path, vd_dtype dtype, bool checkpoint,
                      vd_error *err)
{
    vd_safetensors_writer *writer;
    vd_status status = vd_model_file_create(path, &t->config, t->vocab, &t->metadata, &t->layout,
                                            dtype, &writer, err);
    if (status != VD_OK)
        return status;
    status = put_options(t, writer, err);
    if (status == VD_OK && checkpoint)
        declare_state(t, writer, err);
    if (status == VD_OK)
        status = append(t, t->block, writer, err);
    for (int i = 0; status == VD_OK && checkpoint && i < STATES; i++)
        status = append(t, t->state[i], writer, err);
    if (status == VD_OK)
        return vd_safetensors_commit(writer, err);
    vd_safetensors_abort(writer);
    return status;
}

vd_status vd_trainer_save_model(const vd_trainer *t, const char *path, int dtype, vd_error *err)
{
    return save(t, path, (vd_dtype)dtype, false, err);
}

vd_status vd_trainer_checkpoint(const vd_trainer *t, const char *path, vd_error *err)
{
    return save(t, path, VD_F32, true, err);
}

static vd_status read_state(vd_trainer *t, const vd_safetensors *file, vd_error *err)
{
    vd_status status = vd_model_file_weights(file, &t->layout, t->block, err);
    for (int i = 0; status == VD_OK && i < STATES; i++) {
        const vd_tensor *tensor;
        status = vd_safetensors_require(file, state_names[i], 1, &t->layout.numbers, &tensor, err);
        for (int k = 0; status == VD_OK && k < t->layout.count; k++) {
            const vd_parameter *p = &t->layout.parameter[k];
            status =
                vd_tensor_floats(tensor, p->in_file, p->elements, t->state[i] + p->offset, err);
        }
    }
    return status;
}

static vd_status read_baseline(vd_trainer *t, const vd_safetensors *file, vd_error *err)
{
    const char *text = vd_safetensors_metadata(file, "baseline");
    char *end;
    if (!text)
        return VD_OK;
    t->counted = true;
    t->baseline = strtod(text, &end);
    return end != text && !*end && isfinite(t->baseline)
               ? VD_OK
               : vd_error_set(err, VD_FORMAT, "%s: \"baseline\" is \"%.40s\", expected a number",
                              vd_safetensors_path(file), text);
}

static vd_status read_metadata(vd_trainer *t, const vd_safetensors *file, vd_error *err)
{
    const char *path = vd_safetensors_path(file);
    const char *options = vd_safetensors_metadata(file, "options");
    const char *steps = vd_safetensors_metadata(file, "steps");
    if (!options || !steps)
        return vd_error_set(err, VD_FORMAT,
                            "%s: no \"options\" and \"steps\" in its metadata: it is a model, not "
                            "a checkpoint that training can continue from",
                            path);
    char *end;
    t->steps = strtoll(steps, &end, 10);
    if (*end || end == steps || t->steps < 0 || t->steps > MOST_STEPS)
        return vd_error_set(err, VD_FORMAT, "%s: \"steps\" is \"%s\", expected a whole number",
                            path, steps);
    vd_status status = read_baseline(t, file, err);
    if (status == VD_OK)
        status = vd_settings_read(vd_train_settings, options, path, &t->options, err);
    const char *key, *value;
    for (size_t i = 0; status == VD_OK && vd_safetensors_metadata_at(file, i, &key, &value); i++)
        if (strcmp(key, "config") && strcmp(key, "vocab") && strcmp(key, "options") &&
            strcmp(key, "steps") && strcmp(key, "task") && strcmp(key, "baseline"))
            status = vd_metadata_set(&t->metadata, key, value, err);
    return status;
}

vd_status vd_trainer_resume(const char *path, vd_trainer **out, vd_error *err)
{
    static const char *const also[] = {"optimiser.", NULL};
    vd_safetensors *file = NULL;
    *out = NULL;
    vd_trainer *t = vd_alloc(1, sizeof *t);
    if (!t)
        return vd_error_memory(err, "the trainer");
    vd_status status = vd_safetensors_open(path, &file, err);
    if (status == VD_OK)
        status = vd_model_file_settings(file, &t->config, &t->vocab, err);
    if (status == VD_OK)
        status = read_metadata(t, file, err);
    if (status == VD_OK) {
        vd_weights_layout(&t->config, &t->layout, NULL, NULL);
        status = vd_model_file_fits(file, &t->layout, also, err);
    }
    if (status == VD_OK)
        status = allocate(t, vd_backend_cpu(), err);
    if (status == VD_OK)
        status = read_state(t, file, err);
    vd_safetensors_close(file);
    if (status == VD_OK)
        *out = t;
    else
        vd_trainer_free(t);
    return status;
}
