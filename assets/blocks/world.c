#include "assets/blocks/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets/blocks/dialog.h"
#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "features/pictures/image.h"
#include "features/dialogs/answer_pool.h"

const char *const blocks_split_names[BLOCKS_SPLITS] = {"train", "val", "test"};

vd_status blocks_world_new(uint64_t seed, blocks_split split, size_t count, blocks_world *out,
                           vd_error *err)
{
    *out = (blocks_world){.seed = seed, .split = split, .count = count};
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
    for (size_t i = first; i < first + count; i++)
        blocks_scene_make(world->seed, world->split, (int)i, &world->scene[i]);
}

// ---- questions, each text once ----------------------------------------------------------------

typedef struct questions {
    size_t count, slots, used; // used: bytes of text
    char *text;                // one after the other
    size_t *place;             // (count) where a text begins
    int32_t *slot;             // (slots) open addressing, -1 = free
    int32_t *of;               // (dialogs, rounds)
} questions;

static void questions_clear(questions *q)
{
    vd_free(q->of);
    vd_free(q->slot);
    vd_free(q->place);
    vd_free(q->text);
    *q = (questions){0};
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static int32_t intern(questions *q, const char *text)
{
    size_t at = hash_text(text) % q->slots;
    for (; q->slot[at] >= 0; at = (at + 1) % q->slots)
        if (!strcmp(q->text + q->place[q->slot[at]], text))
            return q->slot[at];
    size_t length = strlen(text) + 1;
    memcpy(q->text + q->used, text, length);
    q->place[q->count] = q->used;
    q->used += length;
    q->slot[at] = (int32_t)q->count;
    return (int32_t)q->count++;
}

static vd_status collect_questions(const blocks_world *world, questions *q, vd_error *err)
{
    size_t rounds = world->count * BLOCKS_ROUNDS, room = 1024;
    *q = (questions){.slots = 2 * rounds + 1};
    q->of = vd_alloc(rounds, sizeof *q->of);
    q->place = vd_alloc(rounds, sizeof *q->place);
    q->slot = vd_alloc(q->slots, sizeof *q->slot);
    q->text = vd_alloc(room, 1);
    if (!q->of || !q->place || !q->slot || !q->text)
        goto fail;
    memset(q->slot, 0xff, q->slots * sizeof *q->slot);
    blocks_dialog dialog;
    for (size_t i = 0; i < world->count; i++) {
        blocks_dialog_make(&world->scene[i], &dialog);
        for (int r = 0; r < BLOCKS_ROUNDS; r++) {
            if (q->used + BLOCKS_TEXT > room) {
                char *more = vd_grow(q->text, room, 2 * room, 1);
                if (!more)
                    goto fail;
                q->text = more;
                room *= 2;
            }
            q->of[i * BLOCKS_ROUNDS + (size_t)r] = intern(q, dialog.round[r].question);
        }
    }
    return VD_OK;
fail:
    questions_clear(q);
    return vd_error_memory(err, "questions");
}

// ---- JSON -------------------------------------------------------------------------------------

// A generator and the first thing that went wrong with it.
typedef struct writer {
    yajl_gen gen;
    yajl_gen_status status;
} writer;

static void note(writer *w, yajl_gen_status status)
{
    if (w->status == yajl_gen_status_ok)
        w->status = status;
}

static void string(writer *w, const char *text)
{
    note(w, yajl_gen_string(w->gen, (const unsigned char *)text, strlen(text)));
}

static void integer(writer *w, long long value)
{
    note(w, yajl_gen_integer(w->gen, value));
}

// Shortest text that a person would write for it; yajl's own has 20 digits.
static void number(writer *w, double value)
{
    char text[40];
    int length = snprintf(text, sizeof text, "%.6g", value);
    note(w, yajl_gen_number(w->gen, text, (size_t)length));
}

static void open_map(writer *w)
{
    note(w, yajl_gen_map_open(w->gen));
}

static void close_map(writer *w)
{
    note(w, yajl_gen_map_close(w->gen));
}

static void open_array(writer *w)
{
    note(w, yajl_gen_array_open(w->gen));
}

static void close_array(writer *w)
{
    note(w, yajl_gen_array_close(w->gen));
}

static void key_string(writer *w, const char *key, const char *value)
{
    string(w, key);
    string(w, value);
}

static void key_integer(writer *w, const char *key, long long value)
{
    string(w, key);
    integer(w, value);
}

static void key_number(writer *w, const char *key, double value)
{
    string(w, key);
    number(w, value);
}

static void key_numbers(writer *w, const char *key, const double *value, int count)
{
    string(w, key);
    open_array(w);
    for (int i = 0; i < count; i++)
        number(w, value[i]);
    close_array(w);
}

typedef struct job {
    const blocks_world *world;
    const questions *questions;
} job;

static vd_status write_json(const job *j, vd_json_emit emit, const char *path, vd_error *err)
{
    char *text = NULL;
    size_t length = 0;
    vd_output *output = NULL;
    vd_status status = vd_json_write(path, emit, (void *)j, &text, &length, err);
    if (!status)
        status = vd_output_create(path, &output, err);
    if (!status)
        status = vd_output_write(output, text, length, err);
    if (!status)
        status = vd_output_write(output, "\n", 1, err);
    if (status)
        vd_output_abort(output);
    else
        status = vd_output_commit(output, err);
    vd_free(text);
    return status;
}

// ---- dialogs ----------------------------------------------------------------------------------

static void emit_round(writer *w, const blocks_round *round, int32_t question)
{
    open_map(w);
    key_integer(w, "question", question);
    key_integer(w, "answer", round->answer);
    string(w, "answer_options");
    open_array(w);
    for (int i = 0; i < BLOCKS_CANDIDATES; i++)
        integer(w, round->options[i]);
    close_array(w);
    key_integer(w, "gt_index", round->truth);
    key_string(w, "family", round->family);
    key_integer(w, "coreference", round->coreference);
    close_map(w);
}

static yajl_gen_status emit_dialogs(yajl_gen gen, void *context)
{
    const job *j = context;
    writer w = {gen, yajl_gen_status_ok};
    open_map(&w);
    key_string(&w, "version", "1.0");
    key_string(&w, "split", blocks_split_names[j->world->split]);
    string(&w, "data");
    open_map(&w);
    string(&w, "questions");
    open_array(&w);
    for (size_t i = 0; i < j->questions->count; i++)
        string(&w, j->questions->text + j->questions->place[i]);
    close_array(&w);
    string(&w, "answers");
    open_array(&w);
    for (int i = 0; i < blocks_answer_count(); i++)
        string(&w, blocks_answer_text(i));
    close_array(&w);
    string(&w, "dialogs");
    open_array(&w);
    blocks_dialog dialog;
    for (size_t i = 0; i < j->world->count && w.status == yajl_gen_status_ok; i++) {
        blocks_dialog_make(&j->world->scene[i], &dialog);
        open_map(&w);
        key_integer(&w, "image_id", j->world->scene[i].image_id);
        key_string(&w, "caption", dialog.caption);
        string(&w, "dialog");
        open_array(&w);
        for (size_t r = 0; r < BLOCKS_ROUNDS; r++)
            emit_round(&w, &dialog.round[r], j->questions->of[i * BLOCKS_ROUNDS + r]);
        close_array(&w);
        close_map(&w);
    }
    close_array(&w);
    close_map(&w);
    close_map(&w);
    return w.status;
}

vd_status blocks_world_write_dialogs(const blocks_world *world, const char *path, vd_error *err)
{
    questions q;
    vd_status status = collect_questions(world, &q, err);
    if (status)
        return status;
    status = write_json(&(job){world, &q}, emit_dialogs, path, err);
    questions_clear(&q);
    return status;
}

static yajl_gen_status emit_dense(yajl_gen gen, void *context)
{
    const job *j = context;
    writer w = {gen, yajl_gen_status_ok};
    blocks_dialog dialog;
    open_array(&w);
    for (size_t i = 0; i < j->world->count && w.status == yajl_gen_status_ok; i++) {
        blocks_dialog_make(&j->world->scene[i], &dialog);
        for (int r = 0; r < BLOCKS_ROUNDS; r++) {
            open_map(&w);
            key_integer(&w, "image_id", j->world->scene[i].image_id);
            key_integer(&w, "round_id", r + 1);
            string(&w, "gt_relevance");
            open_array(&w);
            for (int k = 0; k < BLOCKS_CANDIDATES; k++)
                number(&w, (double)dialog.round[r].relevance[k]);
            close_array(&w);
            close_map(&w);
        }
    }
    close_array(&w);
    return w.status;
}

vd_status blocks_world_write_dense(const blocks_world *world, const char *path, vd_error *err)
{
    return write_json(&(job){.world = world}, emit_dense, path, err);
}

// ---- scenes -----------------------------------------------------------------------------------

static void emit_object(writer *w, const blocks_object *object)
{
    open_map(w);
    key_string(w, "shape", blocks_shape_names[object->shape]);
    key_string(w, "color", blocks_color_names[object->color]);
    key_string(w, "material", blocks_material_names[object->material]);
    key_string(w, "size", blocks_size_names[object->size]);
    key_numbers(w, "position", (double[]){object->x, object->y}, 2);
    key_number(w, "rotation", object->rotation);
    key_number(w, "radius", object->radius);
    key_numbers(w, "box", object->box, 4);
    key_integer(w, "visible", object->visible);
    key_integer(w, "total", object->total);
    close_map(w);
}

static yajl_gen_status emit_scenes(yajl_gen gen, void *context)
{
    const job *j = context;
    writer w = {gen, yajl_gen_status_ok};
    open_array(&w);
    for (size_t i = 0; i < j->world->count && w.status == yajl_gen_status_ok; i++) {
        const blocks_scene *scene = &j->world->scene[i];
        char seed[24]; // may be above 2^53, which JSON numbers do not carry everywhere
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)scene->seed);
        open_map(&w);
        key_integer(&w, "image_id", scene->image_id);
        key_string(&w, "seed", seed);
        string(&w, "objects");
        open_array(&w);
        for (int k = 0; k < scene->count; k++)
            emit_object(&w, &scene->object[k]);
        close_array(&w);
        string(&w, "camera");
        open_map(&w);
        key_numbers(&w, "position", scene->camera, 3);
        key_numbers(&w, "look_at", scene->look_at, 3);
        key_number(&w, "field_of_view", scene->field_of_view);
        close_map(&w);
        string(&w, "light");
        open_map(&w);
        key_numbers(&w, "position", scene->light, 3);
        key_number(&w, "strength", scene->light_strength);
        key_number(&w, "ambient", scene->ambient);
        close_map(&w);
        key_numbers(&w, "table", scene->table_shade, 3);
        close_map(&w);
    }
    close_array(&w);
    return w.status;
}

vd_status blocks_world_write_scenes(const blocks_world *world, const char *path, vd_error *err)
{
    return write_json(&(job){.world = world}, emit_scenes, path, err);
}

// ---- answers, pictures ------------------------------------------------------------------------

typedef struct counted {
    int64_t times;
    int answer;
} counted;

static int by_times(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->times != y->times)
        return x->times < y->times ? 1 : -1;
    return x->answer < y->answer ? -1 : x->answer > y->answer;
}

vd_status blocks_world_write_pool(const blocks_world *world, const char *path, vd_error *err)
{
    size_t answers = (size_t)blocks_answer_count();
    counted *count = vd_alloc(answers, sizeof *count);
    vd_answer_pool pool = {.answer = vd_alloc(answers, sizeof *pool.answer),
                           .times = vd_alloc(answers, sizeof *pool.times)};
    vd_status status = VD_OK;
    if (!count || !pool.answer || !pool.times) {
        status = vd_error_memory(err, "the answers");
        goto done;
    }
    for (size_t i = 0; i < answers; i++)
        count[i].answer = (int)i;
    blocks_dialog dialog;
    for (size_t i = 0; i < world->count; i++) {
        blocks_dialog_make(&world->scene[i], &dialog);
        for (int r = 0; r < BLOCKS_ROUNDS; r++)
            count[dialog.round[r].answer].times++;
    }
    qsort(count, answers, sizeof *count, by_times);
    for (size_t i = 0; i < answers && count[i].times > 0; i++) {
        // Borrowed: the pool is written and goes no further.
        pool.answer[pool.count] = (char *)blocks_answer_text(count[i].answer);
        pool.times[pool.count++] = count[i].times;
    }
    status = vd_answer_pool_write(&pool, path, err);
done:
    vd_free(pool.times);
    vd_free(pool.answer);
    vd_free(count);
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
