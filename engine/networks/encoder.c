#include "engine/networks/encoder.h"

#include "engine/networks/mvan/pass.h"
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

const vd_encoder *vd_encoder_of(const vd_config *config)
{
    static const vd_encoder *const all[VD_NETWORKS] = {[VD_NETWORK_MVAN] = &vd_encoder_mvan,
#define X(code, symbol, name) [VD_NETWORK_##code] = &vd_encoder_##symbol,
                                                       VD_ENCODERS(X)
#undef X
    };
    return all[config->network];
}

bool vd_is_fused(const vd_config *config)
{
    return config->network == VD_NETWORK_MVAN && vd_text_encoder_of(config) == vd_encoder_mvan.text;
}

// ---- text encoders -----------------------------------------------------------------------------

// Whether the network takes text encoders, whatever their size.
static vd_status check_reading(const vd_config *config, vd_error *err)
{
    if (vd_encoder_of(config)->question_width)
        return VD_OK;
    return vd_error_set(err, VD_USAGE,
                        "text %s: the network %s reads picture and dialog as one sequence of "
                        "tokens, of which questions and entries are no parts by themselves; "
                        "expected own, or another network: these take every text encoder",
                        vd_text_names[config->text], vd_network_names[config->network]);
}

int vd_encoder_heads(const vd_config *config)
{
    bool own = config->network != VD_NETWORK_MVAN && vd_encoder_of(config)->heads;
    return own                                 ? vd_encoder_of(config)->heads(config)
           : vd_text_encoder_of(config)->heads ? vd_text_heads(config)
                                               : config->heads;
}

static vd_status check_size(const vd_config *config, vd_error *err)
{
    const vd_text_encoder *encoder = vd_text_encoder_of(config);
    int parts = encoder->heads ? vd_text_heads(config) : encoder->directions;
    int width = vd_states_width(config);
    if (parts == 0 || width % parts == 0)
        return VD_OK;
    return vd_error_set(err, VD_USAGE,
                        "text %s: a state is divided among %d %s; expected a multiple of %d as its "
                        "size (hidden%s), found %d",
                        vd_text_names[config->text], parts, encoder->heads ? "heads" : "directions",
                        parts, width == 2 * config->hidden ? ", doubled" : "", width);
}

// A discriminative decoder compares answers with e; it says none.
static vd_status check_answer(const vd_config *config, vd_error *err)
{
    if (config->copy != VD_COPY_NONE && config->answer != VD_ANSWER_ATTENTION)
        return vd_error_set(err, VD_USAGE,
                            "copy %s: answers are said by %s; expected answer lstm-attention, "
                            "whose attention says what to copy, and a generative decoder",
                            vd_copy_names[config->copy], vd_answer_names[config->answer]);
    if (config->answer == VD_ANSWER_LSTM || vd_has_generative(config->decoders))
        return VD_OK;
    return vd_error_set(err, VD_USAGE,
                        "answer %s: a discriminative decoder says no answers; expected generative "
                        "or both as the decoder",
                        vd_answer_names[config->answer]);
}

vd_status vd_encoder_check(const vd_config *config, vd_error *err)
{
    if (config->task == VD_TASK_CAPTION)
        return vd_caption_check(&config->caption, err);
    vd_status answer = check_answer(config, err);
    if (answer)
        return answer;
    if (config->network == VD_NETWORK_MVAN && config->boundaries == VD_BOUNDARIES_NONE)
        return vd_error_set(err, VD_USAGE,
                            "boundaries none: mvan reads texts with <S> and </S>; leave "
                            "--boundaries out");
    if (config->text == VD_TEXT_OWN)
        return VD_OK;
    vd_status status = check_reading(config, err);
    return status ? status : check_size(config, err);
}

// ---- pairings -----------------------------------------------------------------------------------

typedef struct sight_axes {
    vd_axis query, key;
} sight_axes;

static const sight_axes axes[VD_SIGHTS] = {
    [VD_SEES_ROUNDS] = {VD_AXIS_QUESTIONS, VD_AXIS_ENTRIES},
    [VD_SEES_EARLIER] = {VD_AXIS_QUESTIONS, VD_AXIS_QUESTIONS},
    [VD_SEES_REGIONS] = {VD_AXIS_QUESTIONS, VD_AXIS_REGIONS},
    [VD_SEES_OWN_WORDS] = {VD_AXIS_QUESTIONS, VD_AXIS_QUESTION_WORDS},
    [VD_SEES_HISTORY_WORDS] = {VD_AXIS_QUESTIONS, VD_AXIS_HISTORY_WORDS},
    [VD_SEES_OWN_ROUNDS] = {VD_AXIS_QUESTIONS, VD_AXIS_ENTRIES},
    [VD_SEES_PICTURE] = {VD_AXIS_DIALOGS, VD_AXIS_REGIONS},
};

static int rows_of(const vd_inputs *in, vd_axis axis)
{
    const vd_geometry *span = in->span;
    switch (axis) {
    case VD_AXIS_DIALOGS:
        return span->dialogs;
    case VD_AXIS_QUESTIONS:
        return span->questions;
    case VD_AXIS_ENTRIES:
        return in->history_words->sequences;
    case VD_AXIS_HISTORY_WORDS:
        return in->history_words->tokens;
    case VD_AXIS_QUESTION_WORDS:
        return in->question_words->tokens;
    default:
        return in->region_start[span->dialogs];
    }
}

static vd_range between(const int *start, int from, int to)
{
    return (vd_range){start[from], start[to] - start[from]};
}

// What question n, or all questions of dialog n, see.
static vd_pair_group group_of(const vd_inputs *in, vd_sight sight, int n)
{
    const vd_geometry *span = in->span;
    int b = axes[sight].query == VD_AXIS_DIALOGS || sight == VD_SEES_REGIONS ? n : span->dialog[n];
    int first = span->entry_start[b], asked = span->question_start[b];
    vd_pair_group g = {.query = {n, 1}};
    switch (sight) {
    case VD_SEES_ROUNDS:
    case VD_SEES_OWN_ROUNDS:
        g.key[0] = (vd_range){first, span->seen[n]};
        break;
    case VD_SEES_EARLIER:
        g.key[0] = (vd_range){asked, n - asked};
        break;
    case VD_SEES_OWN_WORDS:
        g.key[0] = between(in->question_words->start, n, n + 1);
        break;
    case VD_SEES_HISTORY_WORDS:
        g.key[0] = between(in->history_words->start, first, first + span->seen[n]);
        break;
    case VD_SEES_REGIONS: // the questions of a dialog see the same
        g.query = between(span->question_start, b, b + 1);
        g.key[0] = between(in->region_start, b, b + 1);
        break;
    default:
        g.key[0] = between(in->region_start, b, b + 1);
    }
    return g;
}

static vd_pairing *make_pairing(vd_arena *arena, const vd_inputs *in, vd_sight sight)
{
    sight_axes a = axes[sight];
    int count = sight == VD_SEES_REGIONS ? in->span->dialogs : rows_of(in, a.query), keys = 0;
    vd_pair_group *group = vd_arena_take_raw(arena, (size_t)count, sizeof *group);
    for (int n = 0; n < count && group; n++) {
        group[n] = group_of(in, sight, n);
        if (sight == VD_SEES_OWN_ROUNDS)
            group[n].key[0].first = keys;
        keys += group[n].key[0].count;
    }
    return vd_pairing_make(arena, a.query, rows_of(in, a.query), a.key,
                           sight == VD_SEES_OWN_ROUNDS ? keys : rows_of(in, a.key), group, count);
}

const vd_pairing *vd_inputs_pairing(vd_tape *tape, vd_inputs *in, vd_sight sight)
{
    if (in->sight[sight] || tape->status != VD_OK)
        return in->sight[sight];
    in->sight[sight] = make_pairing(tape->arena, in, sight);
    if (!in->sight[sight])
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: what the questions look at");
    return in->sight[sight];
}

// Sequences of these lengths, without words; NULL after a failure.
static const vd_packed *pack(vd_tape *tape, const int32_t *length, int count)
{
    vd_packed *packed = vd_arena_take(tape->arena, 1, sizeof *packed);
    int longest = 0;
    for (int s = 0; s < count && length; s++)
        longest = length[s] > longest ? length[s] : longest;
    int32_t *id = vd_arena_take(tape->arena, (size_t)count * (size_t)longest, sizeof *id);
    if (!packed || !length || !id ||
        vd_packed_make(id, length, count, longest, tape->arena, packed, NULL) != VD_OK) {
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the rounds of dialogs");
        return NULL;
    }
    return packed;
}

const vd_packed *vd_inputs_rounds(vd_tape *tape, vd_inputs *in)
{
    const vd_geometry *span = in->span;
    int32_t *length = vd_arena_take(tape->arena, (size_t)span->dialogs, sizeof *length);
    for (int b = 0; b < span->dialogs && length; b++)
        length[b] = span->question_start[b + 1] - span->question_start[b];
    return pack(tape, length, span->dialogs);
}

const vd_packed *vd_inputs_sequences(vd_tape *tape, const vd_pairing *p)
{
    static const vd_packed none;
    int32_t *length = p ? vd_arena_take(tape->arena, (size_t)p->query_rows, sizeof *length) : NULL;
    for (int i = 0; length && i < p->count; i++)
        for (int q = 0; q < p->group[i].query.count; q++)
            length[p->group[i].query.first + q] =
                p->group[i].key[0].count + p->group[i].key[1].count;
    const vd_packed *packed = p ? pack(tape, length, p->query_rows) : NULL;
    return packed ? packed : &none;
}

vd_value *vd_inputs_picture(vd_tape *tape, vd_inputs *in)
{
    const vd_pairing *p = vd_inputs_pairing(tape, in, VD_SEES_PICTURE);
    if (!p)
        return &tape->nothing;
    vd_real *alike = vd_arena_zeros(tape->arena, (size_t)p->pairs);
    if (!alike)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the picture");
    vd_value *s = vd_tape_constant(tape, VD_AXIS_PAIRS, alike, p->pairs, 1);
    s->pairing = p;
    vd_value *mean = vd_tape_unit(tape, vd_tape_mix(tape, vd_tape_softmax(tape, s), in->raw));
    return vd_tape_rows(tape, mean, in->span->rows.dialog, in->span->questions, VD_AXIS_QUESTIONS);
}

// ---- a batch ------------------------------------------------------------------------------------

// The real regions of each dialog, one after the other; those of a dialog's first question.
static const int *list_regions(vd_tape *tape, const vd_pass *pass, int **start)
{
    const vd_geometry *span = &pass->span;
    int *list = vd_arena_ints(tape->arena, (size_t)pass->image_rows), count = 0;
    *start = vd_arena_ints(tape->arena, (size_t)span->dialogs + 1);
    for (int b = 0; b < span->dialogs && list && *start; b++) {
        int n = span->question_start[b];
        for (int k = n < span->questions ? span->region_start[n] : 0;
             n < span->question_start[b + 1] && k < span->region_start[n + 1]; k++)
            list[count++] = pass->row_image[k];
        (*start)[b + 1] = count;
    }
    const int *there =
        list ? vd_arena_upload(tape->arena, list, (size_t)count, sizeof *list) : NULL;
    if (!*start || !there)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the regions");
    return there;
}

// pass->image as it is, and normalised as the configuration says.
static void read_regions(vd_tape *tape, vd_inputs *in, vd_pass *pass)
{
    int *start, d = pass->config->region;
    const int *list = list_regions(tape, pass, &start);
    if (tape->status != VD_OK)
        return;
    vd_value *all = vd_tape_constant(tape, VD_AXIS_NONE, pass->image, pass->image_rows, d);
    in->region_start = start;
    int rows = start[pass->span.dialogs];
    in->raw = vd_tape_rows(tape, all, list, rows, VD_AXIS_REGIONS);
    in->regions = in->raw;
    if (pass->config->image == VD_IMAGE_REGION)
        in->regions = vd_tape_unit(tape, in->raw);
    if (pass->config->image != VD_IMAGE_CHANNELS || tape->status != VD_OK)
        return;
    // Raw rows have been copied; padding is zero and does not change a norm.
    pass->be->normalise_regions(pass->image, pass->image, pass->span.dialogs, pass->regions, d);
    in->regions = vd_tape_rows(tape, all, list, rows, VD_AXIS_REGIONS);
}

// What a generative decoder looks at: word vectors where the network has no states.
static void read_words(vd_tape *tape, const vd_inputs *in, vd_source *source)
{
    const vd_text question = vd_text_questions(in), history = vd_text_entries(in);
    if (tape->status != VD_OK || !vd_attends(in->config))
        return;
    source->question =
        in->states->question ? in->states->question : vd_text_all_words(tape, in, &question);
    source->history =
        in->states->history ? in->states->history : vd_text_all_words(tape, in, &history);
}

vd_status vd_encoder_run(vd_pass *pass, vd_error *err)
{
    vd_tape *tape = vd_arena_take(pass->arena, 1, sizeof *tape);
    vd_word_states states = {0};
    if (!tape)
        return vd_error_memory(err, "the network");
    *tape = (vd_tape){.be = pass->be,
                      .arena = pass->arena,
                      .w = &pass->w->all,
                      .dw = pass->dw ? &pass->dw->all : NULL,
                      .key = pass->key};
    vd_inputs in = {.config = pass->config,
                    .span = &pass->span,
                    .question_words = &pass->question_words,
                    .history_words = &pass->history_words,
                    .sinusoid = pass->sinusoid,
                    .dropout = pass->dropout,
                    .lstm_dropout = pass->lstm_dropout,
                    .position_dropout = pass->position_dropout,
                    .text_dropout = pass->text_dropout,
                    .memo = pass->memo,
                    .states = &states};
    tape->flatten = pass->flatten;
    read_regions(tape, &in, pass);
    const vd_value *e =
        tape->status == VD_OK ? vd_encoder_of(pass->config)->build(tape, &in) : &tape->nothing;
    read_words(tape, &in, &pass->source);
    vd_status status = vd_tape_status(tape, err);
    if (status == VD_OK && (e->rows != pass->span.questions || e->columns != pass->config->hidden))
        status = vd_error_set(err, VD_USAGE, "%s gives %d x %d numbers, expected %d x %d",
                              vd_encoder_of(pass->config)->name, e->rows, e->columns,
                              pass->span.questions, pass->config->hidden);
    pass->tape = tape;
    pass->encoded = e->x;
    pass->dencoded = e->dx;
    return status;
}

vd_status vd_encoder_run_backward(vd_pass *pass, vd_error *err)
{
    vd_tape_backward(pass->tape);
    return vd_tape_status(pass->tape, err);
}
