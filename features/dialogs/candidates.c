// Candidate answers in the forms the network reads.
#include "features/dialogs/dataset.h"

#include <glib.h>
#include <limits.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "features/dialogs/store.h"

int vd_wrapped_length(const vd_dataset *set, int32_t answer)
{
    return MIN(set->tokens[VD_ANSWERS].length[answer] + 2, VD_CUT_CANDIDATE);
}

int vd_wrap_answer(const vd_dataset *set, int32_t answer, int32_t *out)
{
    const int32_t *ids = vd_sequence(&set->tokens[VD_ANSWERS], (size_t)answer);
    int words = set->tokens[VD_ANSWERS].length[answer], length = vd_wrapped_length(set, answer);
    out[0] = VD_START;
    for (int i = 1; i < length; i++)
        out[i] = i <= words ? ids[i - 1] : VD_END;
    return length;
}

int vd_predicted_length(const vd_dataset *set, int32_t answer)
{
    return MIN(set->tokens[VD_ANSWERS].length[answer] + 1, VD_CUT_CANDIDATE);
}

void vd_candidate_fill(const vd_dataset *set, int32_t answer, int u, vd_candidates *out)
{
    const int32_t *ids = vd_sequence(&set->tokens[VD_ANSWERS], (size_t)answer);
    size_t at = (size_t)u * (size_t)out->width;
    int words = set->tokens[VD_ANSWERS].length[answer];
    // The generative decoder reads and predicts one token each of <S> answer and answer </S>, each
    // cut by itself.
    int steps = vd_predicted_length(set, answer);
    out->length[u] = vd_wrap_answer(set, answer, out->tokens + at);
    out->own_in[at] = VD_START;
    memcpy(out->own_in + at + 1, ids, (size_t)(steps - 1) * sizeof *ids);
    memcpy(out->own_out + at, ids, (size_t)MIN(words, steps) * sizeof *ids);
    if (words < steps)
        out->own_out[at + (size_t)words] = VD_END;
    memcpy(out->generated_in + at, out->own_in + at, (size_t)steps * sizeof *ids);
    memcpy(out->generated_out + at, out->own_out + at, (size_t)steps * sizeof *ids);
    vd_batch_known(out->tokens + at, (size_t)out->length[u], set->vocab);
    vd_batch_known(out->generated_in + at, (size_t)steps, set->vocab);
    vd_batch_known(out->generated_out + at, (size_t)steps, set->vocab);
}

static vd_status check_range(const vd_dataset *set, size_t first, size_t count, vd_error *err)
{
    size_t total = set->dialogs->dialog_count;
    if (first > total || count > total - first)
        return vd_error_set(err, VD_USAGE, "candidates of dialogs %zu to %zu: there are %zu", first,
                            first + count, total);
    return VD_OK;
}

// Marks the answers that a dialog offers; how many were not marked before.
static size_t mark_answers(const vd_visdial_dialog *dialog, bool *marked)
{
    size_t found = 0;
    for (int32_t r = 0; r < dialog->round_count; r++)
        for (int32_t i = 0; i < dialog->rounds[r].option_count; i++) {
            bool *mark = &marked[dialog->rounds[r].options[i]];
            found += !*mark;
            *mark = true;
        }
    return found;
}

vd_status vd_dataset_span(const vd_dataset *set, size_t first, size_t count, size_t answers,
                          size_t *out, vd_error *err)
{
    *out = 0;
    vd_status status = check_range(set, first, count, err);
    if (status)
        return status;
    bool *marked = vd_alloc(set->dialogs->answer_count, sizeof *marked);
    if (!marked)
        return vd_error_memory(err, "the candidates");
    size_t found = 0;
    for (; *out < count; ++*out) {
        status = vd_visdial_check_options(set->dialogs, first + *out, err);
        if (status)
            break;
        found += mark_answers(vd_dataset_dialog(set, first + *out), marked);
        if (found > answers && *out > 0)
            break;
    }
    vd_free(marked);
    return status;
}

// Places of the distinct answers as they come; their number, or -1 when there are too many.
static int number_answers(const vd_dataset *set, size_t first, size_t count, vd_candidates *out)
{
    size_t found = 0;
    for (size_t d = first; d < first + count; d++) {
        const vd_visdial_dialog *dialog = vd_dataset_dialog(set, d);
        for (int32_t r = 0; r < dialog->round_count; r++)
            for (int32_t i = 0; i < dialog->rounds[r].option_count; i++) {
                int32_t answer = dialog->rounds[r].options[i];
                if (out->index[answer] >= 0)
                    continue;
                out->index[answer] = (int32_t)found++;
                int length = vd_wrapped_length(set, answer);
                out->width = MAX(out->width, length);
            }
    }
    return found > INT_MAX / VD_MAX_CANDIDATE ? -1 : (int)found;
}

bool vd_candidates_room(vd_candidates *candidates, vd_arena *arena)
{
    size_t count = (size_t)candidates->count;
    int32_t **const rows[] = {&candidates->tokens, &candidates->generated_in,
                              &candidates->generated_out, &candidates->own_in,
                              &candidates->own_out};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = vd_arena_take(arena, count * (size_t)candidates->width, sizeof **rows[i]);
    candidates->length = vd_arena_take(arena, count, sizeof *candidates->length);
    return !arena->failed;
}

vd_status vd_dataset_candidates(const vd_dataset *set, size_t first, size_t count,
                                vd_candidates *out, vd_error *err)
{
    size_t answers = set->dialogs->answer_count;
    *out = (vd_candidates){0};
    vd_status status = check_range(set, first, count, err);
    for (size_t d = first; status == VD_OK && d < first + count; d++)
        status = vd_visdial_check_options(set->dialogs, d, err);
    if (status)
        return status;
    out->index = vd_arena_take_raw(&out->memory, answers, sizeof *out->index);
    for (size_t i = 0; out->index && i < answers; i++)
        out->index[i] = -1;
    out->count = out->index ? number_answers(set, first, count, out) : -1;
    if (out->count < 0 || !vd_candidates_room(out, &out->memory)) {
        vd_candidates_clear(out);
        return vd_error_memory(err, "the candidates");
    }
    for (size_t i = 0; i < answers; i++)
        if (out->index[i] >= 0)
            vd_candidate_fill(set, (int32_t)i, out->index[i], out);
    return VD_OK;
}

void vd_candidates_clear(vd_candidates *candidates)
{
    vd_arena_free(&candidates->memory);
    *candidates = (vd_candidates){0};
}
