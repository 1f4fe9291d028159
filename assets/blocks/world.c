#include "assets/blocks/world.h"

#include <glib.h>
#include <inttypes.h>

#include "assets/blocks/answers.h"
#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/json.h"
#include "features/pictures/image.h"
#include "features/dialogs/answer_pool.h"
#include "features/text/tokenize.h"

const char *const blocks_split_names[BLOCKS_SPLITS] = {"train", "val", "test"};

vd_status blocks_world_new(uint64_t seed, blocks_split split, size_t count, blocks_world *out,
                           vd_error *err)
{
    *out = (blocks_world){.seed = seed, .dialog_seed = seed, .split = split, .count = count};
    out->scene = vd_alloc(count, sizeof *out->scene);
    if (!out->scene) {
        *out = (blocks_world){0};
        return vd_error_memory(err, "scenes");
    }
    return VD_OK;
}

void blocks_world_clear(blocks_world *world)
{
    vd_free(world->scene);
    *world = (blocks_world){0};
}

void blocks_world_fill(blocks_world *world, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        blocks_scene_make(world->seed, world->split, (int)i, &world->scene[i]);
        world->scene[i].dialog_seed = world->dialog_seed;
    }
}

// ---- questions, each text once ----------------------------------------------------------------

typedef struct questions {
    GStringChunk *chunk; // the texts
    GPtrArray *text;     // in the order in which they come
    GHashTable *number;  // of a text of the chunk
    int32_t *of;         // (dialogs, rounds)
} questions;

static void questions_clear(questions *q)
{
    vd_free(q->of);
    g_hash_table_destroy(q->number);
    g_ptr_array_free(q->text, TRUE);
    g_string_chunk_free(q->chunk);
}

static int32_t number_of(questions *q, const char *question)
{
    char *text = g_string_chunk_insert_const(q->chunk, question);
    gpointer number;
    if (g_hash_table_lookup_extended(q->number, text, NULL, &number))
        return GPOINTER_TO_INT(number);
    g_hash_table_insert(q->number, text, GUINT_TO_POINTER(q->text->len));
    g_ptr_array_add(q->text, text);
    return (int32_t)q->text->len - 1;
}

static vd_status collect_questions(const blocks_world *world, questions *q, vd_error *err)
{
    *q = (questions){.chunk = g_string_chunk_new(1 << 16),
                     .text = g_ptr_array_new(),
                     .number = g_hash_table_new(NULL, NULL),
                     .of = vd_alloc(world->count, BLOCKS_ROUNDS * sizeof *q->of)};
    if (!q->of) {
        questions_clear(q);
        return vd_error_memory(err, "questions");
    }
    blocks_dialog dialog;
    for (size_t i = 0; i < world->count; i++) {
        blocks_dialog_make(&world->scene[i], &dialog);
        for (size_t r = 0; r < BLOCKS_ROUNDS; r++)
            q->of[i * BLOCKS_ROUNDS + r] = number_of(q, dialog.round[r].question);
    }
    return VD_OK;
}

// ---- JSON -------------------------------------------------------------------------------------

typedef struct job {
    const blocks_world *world;
    const questions *questions;
} job;

// ---- dialogs ----------------------------------------------------------------------------------

static void put_round(yajl_gen json, const blocks_round *round, int32_t question)
{
    vd_json_put(json, "{question: %d, answer: %d, answer_options: [", question, round->answer);
    for (int i = 0; i < BLOCKS_CANDIDATES; i++)
        vd_json_put(json, "%d", round->options[i]);
    vd_json_put(json, "], gt_index: %d, family: %s, coreference: %d}", round->truth, round->family,
                round->coreference);
}

static yajl_gen_status emit_dialogs(yajl_gen json, void *context)
{
    const job *j = context;
    vd_json_put(json, "{version: %s, split: %s, data: {questions: [", "1.0",
                blocks_split_names[j->world->split]);
    for (guint i = 0; i < j->questions->text->len; i++)
        vd_json_put(json, "%s", (const char *)g_ptr_array_index(j->questions->text, i));
    vd_json_put(json, "], answers: [");
    for (int i = 0; i < blocks_answer_count(); i++)
        vd_json_put(json, "%s", blocks_answer_text(i));
    vd_json_put(json, "], dialogs: [");
    blocks_dialog dialog;
    for (size_t i = 0; i < j->world->count; i++) {
        blocks_dialog_make(&j->world->scene[i], &dialog);
        vd_json_put(json, "{image_id: %" PRId64 ", caption: %s, dialog: [",
                    j->world->scene[i].image_id, dialog.caption);
        for (size_t r = 0; r < BLOCKS_ROUNDS; r++)
            put_round(json, &dialog.round[r], j->questions->of[i * BLOCKS_ROUNDS + r]);
        vd_json_put(json, "]}");
    }
    return vd_json_put(json, "]}}");
}

vd_status blocks_world_write_dialogs(const blocks_world *world, const char *path, vd_error *err)
{
    questions q;
    vd_status status = collect_questions(world, &q, err);
    if (status)
        return status;
    status = vd_json_write_file(path, emit_dialogs, &(job){world, &q}, err);
    questions_clear(&q);
    return status;
}

static yajl_gen_status emit_dense(yajl_gen json, void *context)
{
    const blocks_world *world = ((const job *)context)->world;
    blocks_dialog dialog;
    vd_json_put(json, "[");
    for (size_t i = 0; i < world->count; i++) {
        blocks_dialog_make(&world->scene[i], &dialog);
        for (int r = 0; r < BLOCKS_ROUNDS; r++) {
            vd_json_put(json, "{image_id: %" PRId64 ", round_id: %d, gt_relevance: [",
                        world->scene[i].image_id, r + 1);
            for (int k = 0; k < BLOCKS_CANDIDATES; k++)
                vd_json_put(json, "%g", (double)dialog.round[r].relevance[k]);
            vd_json_put(json, "]}");
        }
    }
    return vd_json_put(json, "]");
}

vd_status blocks_world_write_dense(const blocks_world *world, const char *path, vd_error *err)
{
    return vd_json_write_file(path, emit_dense, &(job){.world = world}, err);
}

// ---- captions ---------------------------------------------------------------------------------

typedef struct captions {
    const blocks_world *world;
    int each;
    vd_words *words; // (count, each) the tokens
    char (*text)[BLOCKS_TEXT];
} captions;

static void captions_clear(captions *c)
{
    for (size_t i = 0; c->words && i < c->world->count * (size_t)c->each; i++)
        vd_words_clear(&c->words[i]);
    vd_free(c->words);
    vd_free(c->text);
}

static vd_status make_captions(captions *c, vd_error *err)
{
    size_t each = (size_t)c->each, total = c->world->count * each;
    vd_status status = VD_OK;
    c->words = vd_alloc(total, sizeof *c->words);
    c->text = vd_alloc(total, sizeof *c->text);
    if (!c->words || !c->text)
        return vd_error_memory(err, "captions");
    for (size_t i = 0; i < c->world->count; i++)
        blocks_captions_make(&c->world->scene[i], c->each, c->text + i * each);
    for (size_t i = 0; i < total && status == VD_OK; i++)
        status = vd_tokenize_lower(c->text[i], &c->words[i], err);
    return status;
}

static void put_sentence(yajl_gen json, const captions *c, size_t image, size_t number)
{
    vd_json_put(json, "{tokens: [");
    for (size_t i = 0; i < c->words[number].count; i++)
        vd_json_put(json, "%s", c->words[number].word[i]);
    vd_json_put(json, "], raw: %s, imgid: %zu, sentid: %zu}", c->text[number], image, number);
}

static yajl_gen_status emit_captions(yajl_gen json, void *context)
{
    const captions *c = context;
    size_t each = (size_t)c->each;
    vd_json_put(json, "{dataset: blocks, images: [");
    for (size_t i = 0; i < c->world->count; i++) {
        char name[32];
        int64_t id = c->world->scene[i].image_id;
        snprintf(name, sizeof name, "%lld.png", (long long)id);
        vd_json_put(json, "{cocoid: %" PRId64 ", filepath: pictures, filename: %s, imgid: %zu", id,
                    name, i);
        vd_json_put(json, "split: %s, sentids: [", blocks_split_names[c->world->split]);
        for (size_t k = 0; k < each; k++)
            vd_json_put(json, "%zu", i * each + k);
        vd_json_put(json, "], sentences: [");
        for (size_t k = 0; k < each; k++)
            put_sentence(json, c, i, i * each + k);
        vd_json_put(json, "]}");
    }
    return vd_json_put(json, "]}");
}

vd_status blocks_world_write_captions(const blocks_world *world, int each, const char *path,
                                      vd_error *err)
{
    captions c = {.world = world, .each = each};
    vd_status status = make_captions(&c, err);
    if (status == VD_OK)
        status = vd_json_write_file(path, emit_captions, &c, err);
    captions_clear(&c);
    return status;
}

// ---- scenes -----------------------------------------------------------------------------------

static void put_object(yajl_gen json, const blocks_object *o)
{
    vd_json_put(json, "{shape: %s, color: %s, material: %s, size: %s", blocks_shape_names[o->shape],
                blocks_color_names[o->color], blocks_material_names[o->material],
                blocks_size_names[o->size]);
    vd_json_put(json, "position: [%g, %g], rotation: %g, radius: %g", o->x, o->y, o->rotation,
                o->radius);
    vd_json_put(json, "box: [%g, %g, %g, %g], visible: %d, total: %d}", o->box[0], o->box[1],
                o->box[2], o->box[3], o->visible, o->total);
}

static yajl_gen_status emit_scenes(yajl_gen json, void *context)
{
    static const char list[] = "[%g, %g, %g]";
    const blocks_world *world = ((const job *)context)->world;
    vd_json_put(json, "[");
    for (const blocks_scene *s = world->scene; s < world->scene + world->count; s++) {
        char seed[24]; // may be above 2^53, which JSON numbers do not carry everywhere
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->seed);
        vd_json_put(json, "{image_id: %" PRId64 ", seed: %s, objects: [", s->image_id, seed);
        for (int i = 0; i < s->count; i++)
            put_object(json, &s->object[i]);
        vd_json_put(json, "], camera: {position:");
        vd_json_put(json, list, s->camera[0], s->camera[1], s->camera[2]);
        vd_json_put(json, "look_at:");
        vd_json_put(json, list, s->look_at[0], s->look_at[1], s->look_at[2]);
        vd_json_put(json, "field_of_view: %g}, light: {position:", s->field_of_view);
        vd_json_put(json, list, s->light[0], s->light[1], s->light[2]);
        vd_json_put(json, "strength: %g, ambient: %g}, table:", s->light_strength, s->ambient);
        vd_json_put(json, list, s->table_shade[0], s->table_shade[1], s->table_shade[2]);
        vd_json_put(json, "}");
    }
    return vd_json_put(json, "]");
}

vd_status blocks_world_write_scenes(const blocks_world *world, const char *path, vd_error *err)
{
    return vd_json_write_file(path, emit_scenes, &(job){.world = world}, err);
}

// ---- answers, pictures ------------------------------------------------------------------------

vd_status blocks_world_write_pool(const blocks_world *world, const char *path, vd_error *err)
{
    const char *answers[ANSWERS_MAX];
    int64_t times[ANSWERS_MAX] = {0};
    size_t count = (size_t)blocks_answer_count();
    vd_answer_pool pool;
    blocks_dialog dialog;
    for (size_t i = 0; i < count; i++)
        answers[i] = blocks_answer_text((int)i);
    for (size_t i = 0; i < world->count; i++) {
        blocks_dialog_make(&world->scene[i], &dialog);
        for (int r = 0; r < BLOCKS_ROUNDS; r++)
            times[dialog.round[r].answer]++;
    }
    vd_status status = vd_answer_pool_from_counts(answers, times, count, 0, &pool, err);
    if (!status)
        status = vd_answer_pool_write(&pool, path, err);
    vd_answer_pool_clear(&pool);
    return status;
}

vd_status blocks_world_write_picture(const blocks_scene *scene, const char *path, vd_error *err)
{
    vd_image image;
    vd_status status = vd_image_new(BLOCKS_WIDTH, BLOCKS_HEIGHT, &image, err);
    if (status)
        return status;
    blocks_render(scene, image.rgb);
    status = vd_image_write_png(path, &image, err);
    vd_image_clear(&image);
    return status;
}
