#include "assets/blocks/world.h"

#include <glib.h>

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

// A generator and the first thing that went wrong with it.
typedef struct writer {
    yajl_gen gen;
    yajl_gen_status status;
} writer;

// Shortest text that a person would write for it; yajl's own has 20 digits.
static yajl_gen_status put_number(yajl_gen gen, double value)
{
    char text[40];
    int length = snprintf(text, sizeof text, "%.6g", value);
    return yajl_gen_number(gen, text, (size_t)length);
}

static yajl_gen_status put_string(yajl_gen gen, const char *text)
{
    return yajl_gen_string(gen, (const unsigned char *)text, strlen(text));
}

static yajl_gen_status put_numbers(yajl_gen gen, const double *value, int count)
{
    yajl_gen_status status = yajl_gen_array_open(gen);
    for (int i = 0; i < count && !status; i++)
        status = put_number(gen, value[i]);
    return status ? status : yajl_gen_array_close(gen);
}

// Brackets stand for themselves; then s: a string, i: an int, l: an int64_t, n: a double, v: a list
// of doubles and its length (int).
static void put(writer *w, const char *format, ...)
{
    static yajl_gen_status (*const brackets[])(yajl_gen) = {['{'] = yajl_gen_map_open,
                                                            ['}'] = yajl_gen_map_close,
                                                            ['['] = yajl_gen_array_open,
                                                            [']'] = yajl_gen_array_close};
    va_list values;
    va_start(values, format);
    for (; *format && !w->status; format++) {
        const double *list;
        switch (*format) {
        case 's':
            w->status = put_string(w->gen, va_arg(values, const char *));
            break;
        case 'i':
            w->status = yajl_gen_integer(w->gen, va_arg(values, int));
            break;
        case 'n':
            w->status = put_number(w->gen, va_arg(values, double));
            break;
        case 'l':
            w->status = yajl_gen_integer(w->gen, va_arg(values, int64_t));
            break;
        case 'v':
            list = va_arg(values, const double *);
            w->status = put_numbers(w->gen, list, va_arg(values, int));
            break;
        default:
            w->status = brackets[(int)*format](w->gen);
        }
    }
    va_end(values);
}

typedef struct job {
    const blocks_world *world;
    const questions *questions;
} job;

// ---- dialogs ----------------------------------------------------------------------------------

static void put_round(writer *w, const blocks_round *round, int32_t question)
{
    put(w, "{sisis[", "question", question, "answer", round->answer, "answer_options");
    for (int i = 0; i < BLOCKS_CANDIDATES; i++)
        put(w, "i", round->options[i]);
    put(w, "]sisssi}", "gt_index", round->truth, "family", round->family, "coreference",
        round->coreference);
}

static yajl_gen_status emit_dialogs(yajl_gen gen, void *context)
{
    const job *j = context;
    writer w = {gen, yajl_gen_status_ok};
    put(&w, "{sssss{s[", "version", "1.0", "split", blocks_split_names[j->world->split], "data",
        "questions");
    for (guint i = 0; i < j->questions->text->len; i++)
        put(&w, "s", (const char *)g_ptr_array_index(j->questions->text, i));
    put(&w, "]s[", "answers");
    for (int i = 0; i < blocks_answer_count(); i++)
        put(&w, "s", blocks_answer_text(i));
    put(&w, "]s[", "dialogs");
    blocks_dialog dialog;
    for (size_t i = 0; i < j->world->count && !w.status; i++) {
        blocks_dialog_make(&j->world->scene[i], &dialog);
        put(&w, "{slsss[", "image_id", j->world->scene[i].image_id, "caption", dialog.caption,
            "dialog");
        for (size_t r = 0; r < BLOCKS_ROUNDS; r++)
            put_round(&w, &dialog.round[r], j->questions->of[i * BLOCKS_ROUNDS + r]);
        put(&w, "]}");
    }
    put(&w, "]}}");
    return w.status;
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

static yajl_gen_status emit_dense(yajl_gen gen, void *context)
{
    const blocks_world *world = ((const job *)context)->world;
    writer w = {gen, yajl_gen_status_ok};
    blocks_dialog dialog;
    put(&w, "[");
    for (size_t i = 0; i < world->count && !w.status; i++) {
        blocks_dialog_make(&world->scene[i], &dialog);
        for (int r = 0; r < BLOCKS_ROUNDS; r++) {
            put(&w, "{slsis[", "image_id", world->scene[i].image_id, "round_id", r + 1,
                "gt_relevance");
            for (int k = 0; k < BLOCKS_CANDIDATES; k++)
                put(&w, "n", (double)dialog.round[r].relevance[k]);
            put(&w, "]}");
        }
    }
    put(&w, "]");
    return w.status;
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

static void put_sentence(writer *w, const captions *c, size_t image, size_t number)
{
    put(w, "{s[", "tokens");
    for (size_t i = 0; i < c->words[number].count; i++)
        put(w, "s", c->words[number].word[i]);
    put(w, "]sssisi}", "raw", c->text[number], "imgid", (int)image, "sentid", (int)number);
}

static yajl_gen_status emit_captions(yajl_gen gen, void *context)
{
    const captions *c = context;
    size_t each = (size_t)c->each;
    writer w = {gen, yajl_gen_status_ok};
    put(&w, "{sss[", "dataset", "blocks", "images");
    for (size_t i = 0; i < c->world->count && !w.status; i++) {
        char name[32];
        int64_t id = c->world->scene[i].image_id;
        snprintf(name, sizeof name, "%lld.png", (long long)id);
        put(&w, "{slsssssisss[", "cocoid", id, "filepath", "pictures", "filename", name, "imgid",
            (int)i, "split", blocks_split_names[c->world->split], "sentids");
        for (size_t k = 0; k < each; k++)
            put(&w, "i", (int)(i * each + k));
        put(&w, "]s[", "sentences");
        for (size_t k = 0; k < each; k++)
            put_sentence(&w, c, i, i * each + k);
        put(&w, "]}");
    }
    put(&w, "]}");
    return w.status;
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

static yajl_gen_status emit_scenes(yajl_gen gen, void *context)
{
    const blocks_world *world = ((const job *)context)->world;
    writer w = {gen, yajl_gen_status_ok};
    put(&w, "[");
    for (size_t i = 0; i < world->count && !w.status; i++) {
        const blocks_scene *scene = &world->scene[i];
        char seed[24]; // may be above 2^53, which JSON numbers do not carry everywhere
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)scene->seed);
        put(&w, "{slsss[", "image_id", scene->image_id, "seed", seed, "objects");
        for (const blocks_object *o = scene->object; o < scene->object + scene->count; o++)
            put(&w, "{sssssssssvsnsnsvsisi}", "shape", blocks_shape_names[o->shape], "color",
                blocks_color_names[o->color], "material", blocks_material_names[o->material],
                "size", blocks_size_names[o->size], "position", (double[]){o->x, o->y}, 2,
                "rotation", o->rotation, "radius", o->radius, "box", o->box, 4, "visible",
                o->visible, "total", o->total);
        put(&w, "]s{svsvsn}", "camera", "position", scene->camera, 3, "look_at", scene->look_at, 3,
            "field_of_view", scene->field_of_view);
        put(&w, "s{svsnsn}sv}", "light", "position", scene->light, 3, "strength",
            scene->light_strength, "ambient", scene->ambient, "table", scene->table_shade, 3);
    }
    put(&w, "]");
    return w.status;
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
