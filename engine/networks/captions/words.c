// What a captioner reads: a batch's regions and words as lists that the tape takes.
#include <string.h>

#include "engine/networks/captions/private.h"

void vd_caption_no_memory(vd_caption_pass *pass)
{
    vd_tape_fail(&pass->tape, VD_NO_MEMORY, "out of memory: captions");
}

int vd_caption_word_count(const vd_caption_words *words, int caption)
{
    return words->start[caption + 1] - words->start[caption];
}

// ---- regions ------------------------------------------------------------------------------------

const vd_value *vd_caption_regions(vd_caption_pass *pass, const vd_batch *batch)
{
    vd_tape *tape = &pass->tape;
    int rows = batch->dialogs * batch->regions;
    int *row = vd_arena_ints(tape->arena, (size_t)rows),
        *start = vd_arena_ints(tape->arena, (size_t)batch->dialogs + 1);
    const vd_real *image = vd_batch_image(batch, pass->config->region, tape->be, tape->arena);
    if (!row || !start || !image) {
        vd_caption_no_memory(pass);
        return &tape->nothing;
    }
    vd_batch_regions(batch, pass->config->region, false, row, start);
    for (int b = 0; b < batch->dialogs; b++)
        if (start[b] == start[b + 1])
            vd_tape_fail(tape, VD_USAGE, "a picture without regions cannot be described");
    pass->pictures = batch->dialogs;
    pass->region_start = start;
    pass->region_row = row;
    int count = start[batch->dialogs];
    const vd_value *all =
        vd_tape_constant(tape, VD_AXIS_REGIONS, image, rows, pass->config->region);
    return vd_tape_choose(tape, all, row, count, VD_AXIS_REGIONS);
}

// ---- words --------------------------------------------------------------------------------------

vd_totals vd_captions_totals(const vd_caption_batch *captions)
{
    vd_totals of = {.questions = captions->count, .words = captions->count};
    for (int c = 0; c < captions->count; c++)
        of.words += captions->length[c];
    return of;
}

static vd_status check_caption(const vd_caption_pass *pass, const vd_caption_batch *captions, int c,
                               vd_error *err)
{
    int length = captions->length[c], b = captions->picture[c];
    const int32_t *word = captions->word + (size_t)c * (size_t)captions->width;
    if (length < 0 || length > captions->width || length > VD_MAX_CAPTION)
        return vd_error_set(err, VD_USAGE, "caption %d: %d words; expected 0 to %d", c, length,
                            captions->width < VD_MAX_CAPTION ? captions->width : VD_MAX_CAPTION);
    if (b < 0 || b >= pass->pictures || (c > 0 && b < captions->picture[c - 1]))
        return vd_error_set(err, VD_USAGE,
                            "caption %d: of picture %d; expected increasing numbers below %d", c, b,
                            pass->pictures);
    for (int i = 0; i < length; i++)
        if (word[i] < 0 || word[i] >= pass->config->vocab)
            return vd_error_set(err, VD_USAGE, "caption %d, word %d: id %d; expected 0 to %d", c, i,
                                word[i], pass->config->vocab - 1);
    return VD_OK;
}

// Host lists that are filled before they are sent.
typedef struct word_lists {
    int32_t *id, *target;
    int *position, *start;
} word_lists;

static void list_caption(const vd_caption_batch *captions, int c, word_lists *l)
{
    const int32_t *word = captions->word + (size_t)c * (size_t)captions->width;
    int length = captions->length[c], at = l->start[c];
    for (int i = 0; i <= length; i++, at++) {
        l->id[at] = i ? word[i - 1] : VD_START;
        l->target[at] = i < length ? word[i] : VD_END;
        l->position[at] = i;
    }
    l->start[c + 1] = at;
}

vd_status vd_caption_words_all(vd_caption_pass *pass, const vd_caption_batch *captions,
                               vd_caption_words *out, vd_error *err)
{
    vd_arena *arena = pass->tape.arena;
    vd_status status = VD_OK;
    for (int c = 0; c < captions->count && status == VD_OK; c++)
        status = check_caption(pass, captions, c, err);
    if (status != VD_OK)
        return status;
    size_t rows = (size_t)vd_captions_totals(captions).words;
    word_lists l = {vd_arena_take_raw(arena, rows, sizeof *l.id),
                    vd_arena_take_raw(arena, rows, sizeof *l.target), vd_arena_ints(arena, rows),
                    vd_arena_ints(arena, (size_t)captions->count + 1)};
    if (arena->failed)
        return vd_error_memory(err, "captions");
    for (int c = 0; c < captions->count; c++)
        list_caption(captions, c, &l);
    *out =
        (vd_caption_words){.captions = captions->count,
                           .rows = (int)rows,
                           .keys = (int)rows,
                           .id = vd_arena_upload(arena, l.id, rows, sizeof *l.id),
                           .host_id = l.id,
                           .position = vd_arena_upload(arena, l.position, rows, sizeof *l.position),
                           .picture = captions->picture,
                           .start = l.start,
                           .first = l.start,
                           .target = l.target};
    return arena->failed ? vd_error_memory(err, "captions") : VD_OK;
}

// Where a caption's words before lie among those read last, and how many they are.
static vd_range read_before(const vd_caption_words *last, const int *parent, int c)
{
    int p = parent ? parent[c] : 0;
    return parent ? (vd_range){last->first[p], last->first[p + 1] - last->first[p]}
                  : (vd_range){0, 0};
}

// Host lists of a step.
typedef struct step_lists {
    int32_t *id;
    int *from, *position, *picture, *parent, *start, *first;
} step_lists;

static void fill_lists(const vd_caption_words *last, const vd_caption_next *next, int before,
                       step_lists *l)
{
    for (int c = 0, at = 0; c < next->captions; c++) {
        vd_range r = read_before(last, next->parent, c);
        for (int i = 0; i < r.count; i++)
            l->from[at++] = r.first + i;
        l->from[at++] = before + c;
        l->id[c] = next->id[c];
        l->position[c] = r.count;
        l->picture[c] = next->picture ? next->picture[c] : 0;
        l->parent[c] = next->parent ? next->parent[c] : 0;
        l->start[c + 1] = c + 1;
        l->first[c + 1] = at;
    }
}

vd_status vd_caption_words_step(vd_arena *arena, const vd_caption_words *last,
                                const vd_caption_next *next, vd_caption_words *out, vd_error *err)
{
    size_t rows = (size_t)next->captions, keys = 0;
    int before = next->parent ? last->keys : 0;
    for (int c = 0; c < next->captions; c++)
        keys += (size_t)read_before(last, next->parent, c).count + 1;
    step_lists l = {vd_arena_take_raw(arena, rows, sizeof *l.id),
                    vd_arena_ints(arena, keys),
                    vd_arena_ints(arena, rows),
                    vd_arena_ints(arena, rows),
                    vd_arena_ints(arena, rows),
                    vd_arena_ints(arena, rows + 1),
                    vd_arena_ints(arena, rows + 1)};
    if (arena->failed)
        return vd_error_memory(err, "captions");
    fill_lists(last, next, before, &l);
    *out = (vd_caption_words){
        .captions = next->captions,
        .rows = next->captions,
        .keys = (int)keys,
        .id = vd_arena_upload(arena, l.id, rows, sizeof *l.id),
        .host_id = l.id,
        .position = vd_arena_upload(arena, l.position, rows, sizeof *l.position),
        .from = before ? vd_arena_upload(arena, l.from, keys, sizeof *l.from) : NULL,
        .parent = before ? vd_arena_upload(arena, l.parent, rows, sizeof *l.parent) : NULL,
        .picture = l.picture,
        .picture_at = vd_arena_upload(arena, l.picture, rows, sizeof *l.picture),
        .start = l.start,
        .first = l.first};
    return arena->failed ? vd_error_memory(err, "captions") : VD_OK;
}

// ---- what words look at -------------------------------------------------------------------------

vd_range vd_caption_picture(const vd_caption_pass *pass, const vd_caption_words *words, int caption)
{
    int b = words->picture[caption];
    return (vd_range){pass->region_start[b], pass->region_start[b + 1] - pass->region_start[b]};
}

const vd_pairing *vd_caption_pairing(vd_caption_pass *pass, const vd_caption_words *words,
                                     int key_rows, vd_pair_group *group, int count)
{
    return vd_tape_pairing(&pass->tape, VD_AXIS_NONE, words->rows, VD_AXIS_NONE, key_rows, group,
                           count, "captions");
}

const vd_pairing *vd_caption_sees_regions(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_pair_group *group = vd_arena_take(pass->tape.arena, (size_t)words->captions, sizeof *group);
    int count = 0;
    for (int c = 0; c < words->captions && group; c++) {
        if (c == 0 || words->picture[c] != words->picture[c - 1])
            group[count++] = (vd_pair_group){.query = {words->start[c], 0},
                                             .key = {vd_caption_picture(pass, words, c)}};
        group[count - 1].query.count += vd_caption_word_count(words, c);
    }
    int regions = pass->region_start ? pass->region_start[pass->pictures] : 0;
    return vd_caption_pairing(pass, words, regions, group, count);
}

const vd_pairing *vd_caption_sees_words(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_pair_group *group = vd_arena_take(pass->tape.arena, (size_t)words->rows, sizeof *group);
    for (int c = 0; c < words->captions && group; c++)
        for (int i = words->start[c]; i < words->start[c + 1]; i++) {
            int end = words->first[c + 1] - (words->start[c + 1] - i) + 1;
            group[i].query = (vd_range){i, 1};
            group[i].key[0] = (vd_range){words->first[c], end - words->first[c]};
        }
    return vd_caption_pairing(pass, words, words->keys, group, words->rows);
}
