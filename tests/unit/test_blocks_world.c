// A split as files: what is written reads back as what was made, in the public formats; failures
// leave nothing behind; threads share the work.
#include "assets/blocks/world.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "assets/blocks/dialog.h"
#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "features/captions/captions.h"
#include "features/extract/detect.h"
#include "features/extract/extract.h"
#include "features/pictures/image.h"
#include "features/dialogs/answer_pool.h"
#include "features/regions/regions.h"
#include "features/dialogs/visdial.h"
#include "tests/support/caption_files.h"
#include "tests/support/must.h"
#include "tests/support/support.h"

enum { SCENES = 12 };

typedef struct fixture {
    char *directory, *file, *other;
    blocks_world world;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->directory = support_temp_dir();
    f->file = support_join(f->directory, "file");
    f->other = support_join(f->directory, "other");
    assert_int_equal(blocks_world_new(11, BLOCKS_VAL, SCENES, &f->world, NULL), VD_OK);
    blocks_world_fill(&f->world, 0, SCENES);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    blocks_world_clear(&f->world);
    support_remove_tree(f->directory);
    free(f->other);
    free(f->file);
    free(f->directory);
    free(f);
    return 0;
}

// ---- dialogs ----------------------------------------------------------------------------------

static void compare_round(const vd_visdial *data, const vd_visdial_round *found,
                          const blocks_round *made)
{
    assert_string_equal(data->questions[found->question], made->question);
    assert_string_equal(data->answers[found->answer], blocks_answer_text(made->answer));
    assert_int_equal(found->truth, made->truth);
    assert_int_equal(found->option_count, BLOCKS_CANDIDATES);
    assert_string_equal(found->family, made->family);
    assert_int_equal(found->coreference, made->coreference);
    assert_non_null(found->relevance);
    for (int k = 0; k < BLOCKS_CANDIDATES; k++) {
        assert_string_equal(data->answers[found->options[k]], blocks_answer_text(made->options[k]));
        assert_true(found->relevance[k] == made->relevance[k]);
    }
}

static void dialogs_read_back_with_relevance_for_every_round(void **state)
{
    fixture *f = *state;
    vd_visdial *data;
    assert_int_equal(blocks_world_write_dialogs(&f->world, f->file, NULL), VD_OK);
    assert_int_equal(blocks_world_write_dense(&f->world, f->other, NULL), VD_OK);
    vd_error err = {0};
    if (vd_visdial_read(f->file, &data, &err) || vd_visdial_read_dense(data, f->other, &err))
        fail_msg("%s", err.text);
    assert_string_equal(data->version, "1.0");
    assert_string_equal(data->split, "val");
    assert_int_equal(data->dialog_count, SCENES);
    for (size_t i = 0; i < SCENES; i++) {
        blocks_dialog made;
        blocks_dialog_make(&f->world.scene[i], &made);
        const vd_visdial_dialog *found = &data->dialogs[i];
        assert_int_equal(found->image_id, 1000000 + (int)i + 1);
        assert_string_equal(found->caption, made.caption);
        assert_int_equal(found->round_count, BLOCKS_ROUNDS);
        for (int r = 0; r < BLOCKS_ROUNDS; r++)
            compare_round(data, &found->rounds[r], &made.round[r]);
    }
    for (size_t i = 0; i < data->question_count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(data->questions[i], data->questions[k]);
    vd_visdial_free(data);
}

static void scenes_name_what_is_in_them(void **state)
{
    fixture *f = *state;
    assert_int_equal(blocks_world_write_scenes(&f->world, f->file, NULL), VD_OK);
    char *text = support_read_file(f->file, NULL);
    const char *at = text;
    for (size_t i = 0; i < SCENES; i++) {
        const blocks_scene *scene = &f->world.scene[i];
        char id[40];
        snprintf(id, sizeof id, "{\"image_id\":%d,\"seed\":\"11\"", 1000001 + (int)i);
        at = strstr(at, id);
        assert_non_null(at);
        for (int k = 0; k < scene->count; k++) {
            char object[160];
            snprintf(object, sizeof object,
                     "{\"shape\":\"%s\",\"color\":\"%s\",\"material\":\"%s\",\"size\":\"%s\"",
                     blocks_shape_names[scene->object[k].shape],
                     blocks_color_names[scene->object[k].color],
                     blocks_material_names[scene->object[k].material],
                     blocks_size_names[scene->object[k].size]);
            at = strstr(at, object);
            assert_non_null(at);
            at++;
        }
    }
    free(text);
}

static void the_pool_counts_every_answer(void **state)
{
    fixture *f = *state;
    assert_int_equal(blocks_world_write_pool(&f->world, f->file, NULL), VD_OK);
    vd_answer_pool pool;
    assert_int_equal(vd_answer_pool_read(f->file, &pool, NULL), VD_OK);
    int64_t total = 0;
    for (size_t i = 0; i < pool.count; i++) {
        int64_t times = 0;
        for (size_t s = 0; s < SCENES; s++) {
            blocks_dialog made;
            blocks_dialog_make(&f->world.scene[s], &made);
            for (int r = 0; r < BLOCKS_ROUNDS; r++)
                times += !strcmp(blocks_answer_text(made.round[r].answer), pool.answer[i]);
        }
        assert_int_equal(pool.times[i], times);
        assert_true(i == 0 || pool.times[i - 1] >= times);
        total += times;
    }
    assert_int_equal(total, SCENES * BLOCKS_ROUNDS);
    vd_answer_pool_clear(&pool);
}

static void a_picture_is_the_rendered_scene(void **state)
{
    fixture *f = *state;
    static uint8_t rgb[BLOCKS_WIDTH * BLOCKS_HEIGHT * 3];
    assert_int_equal(blocks_world_write_picture(&f->world.scene[3], f->file, NULL), VD_OK);
    vd_image image;
    assert_int_equal(vd_image_read(f->file, &image, NULL), VD_OK);
    assert_int_equal(image.width, BLOCKS_WIDTH);
    assert_int_equal(image.height, BLOCKS_HEIGHT);
    blocks_render(&f->world.scene[3], rgb);
    assert_memory_equal(image.rgb, rgb, sizeof rgb);
    vd_image_clear(&image);
}

static void what_is_written_depends_on_the_seed_only(void **state)
{
    fixture *f = *state;
    blocks_world again, other;
    assert_int_equal(blocks_world_new(11, BLOCKS_VAL, SCENES, &again, NULL), VD_OK);
    for (size_t i = SCENES; i-- > 0;) // any order
        blocks_world_fill(&again, i, 1);
    assert_memory_equal(again.scene, f->world.scene, SCENES * sizeof *again.scene);
    assert_int_equal(blocks_world_new(12, BLOCKS_VAL, SCENES, &other, NULL), VD_OK);
    blocks_world_fill(&other, 0, SCENES);
    assert_int_equal(blocks_world_write_dialogs(&again, f->file, NULL), VD_OK);
    assert_int_equal(blocks_world_write_dialogs(&other, f->other, NULL), VD_OK);
    char *one = support_read_file(f->file, NULL), *two = support_read_file(f->other, NULL);
    assert_string_not_equal(one, two);
    free(two);
    assert_int_equal(blocks_world_write_dialogs(&f->world, f->other, NULL), VD_OK);
    two = support_read_file(f->other, NULL);
    assert_string_equal(one, two);
    free(two);
    free(one);
    blocks_world_clear(&other);
    blocks_world_clear(&again);
}

// ---- failures ---------------------------------------------------------------------------------

typedef vd_status (*writer)(const blocks_world *, const char *, vd_error *);

typedef struct attempt {
    const fixture *fixture;
    writer write;
} attempt;

static vd_status write_once(void *context, vd_error *err)
{
    const attempt *a = context;
    return a->write(&a->fixture->world, a->fixture->file, err);
}

static const writer writers[] = {blocks_world_write_dialogs, blocks_world_write_dense,
                                 blocks_world_write_scenes, blocks_world_write_pool};

static void running_out_of_memory_leaves_nothing_behind(void **state)
{
    fixture *f = *state;
    size_t count = f->world.count;
    f->world.count = 2;
    for (size_t w = 0; w < 4; w++) {
        attempt a = {f, writers[w]};
        assert_true(support_fail_each_allocation(write_once, &a) > 0);
        assert_int_equal(support_count_entries(f->directory), 1);
        unlink(f->file);
    }
    f->world.count = count;
    blocks_world none;
    vd_alloc_fail_at(1);
    assert_int_equal(blocks_world_new(1, BLOCKS_VAL, 3, &none, NULL), VD_NO_MEMORY);
    assert_null(none.scene);
    vd_alloc_fail_at(0);
}

static void a_place_that_is_not_there_is_an_error(void **state)
{
    fixture *f = *state;
    char *path = support_join(f->directory, "missing/file");
    for (size_t w = 0; w < 4; w++) {
        vd_error err = {0};
        vd_status status = writers[w](&f->world, path, &err);
        assert_true(status == VD_IO || status == VD_NOT_FOUND);
        assert_non_null(strstr(err.text, path));
    }
    assert_int_equal(support_count_entries(f->directory), 0);
    free(path);
}

// ---- survey -----------------------------------------------------------------------------------

// An untrained extractor: it finds something, anything.
static void write_extractor(const char *path)
{
    vd_convnet *net;
    vd_safetensors_writer *out_file;
    assert_int_equal(vd_convnet_new(vd_detect_layer, vd_detect_layers, VD_DETECT_INPUTS,
                                    VD_DETECT_WIDTH, VD_DETECT_HEIGHT, &net, NULL),
                     VD_OK);
    vd_rng rng = vd_rng_seed(3, 4);
    vd_convnet_init(net, &rng);
    assert_int_equal(vd_safetensors_create(path, &out_file, NULL), VD_OK);
    for (int l = 0; l < net->layers; l++) {
        const vd_conv *conv = &net->layer[l];
        char name[64];
        size_t kernel = (size_t)conv->kernel, out = (size_t)conv->out;
        size_t shape[4] = {kernel, kernel, (size_t)conv->in, out};
        snprintf(name, sizeof name, "%s.weight", conv->name);
        assert_int_equal(vd_safetensors_declare(out_file, name, VD_F32, 4, shape, NULL), VD_OK);
        snprintf(name, sizeof name, "%s.bias", conv->name);
        assert_int_equal(vd_safetensors_declare(out_file, name, VD_F32, 1, &out, NULL), VD_OK);
    }
    for (int l = 0; l < net->layers; l++) {
        const vd_conv *conv = &net->layer[l];
        size_t outs = (size_t)conv->out;
        size_t weights = (size_t)(conv->kernel * conv->kernel * conv->in) * outs;
        assert_int_equal(
            vd_safetensors_append(out_file, net->param + net->weight[l], weights, NULL), VD_OK);
        assert_int_equal(vd_safetensors_append(out_file, net->param + net->bias[l], outs, NULL),
                         VD_OK);
    }
    assert_int_equal(vd_safetensors_commit(out_file, NULL), VD_OK);
    vd_convnet_free(net);
}

static void compare_regions(const fixture *f, const vd_region_set *set, size_t scene)
{
    vd_extractor *extractor;
    vd_image image;
    vd_extraction seen;
    assert_int_equal(vd_extractor_load(f->file, &extractor, NULL), VD_OK);
    float *features = vd_alloc((size_t)VD_EXTRACT_MAX * (size_t)set->size, sizeof *features);
    assert_int_equal(vd_image_new(BLOCKS_WIDTH, BLOCKS_HEIGHT, &image, NULL), VD_OK);
    blocks_render(&f->world.scene[scene], image.rgb);
    assert_int_equal(vd_extractor_run(extractor, &image, &seen, features, NULL), VD_OK);
    assert_int_equal(set->image_id[scene], f->world.scene[scene].image_id);
    assert_int_equal(set->used[scene], seen.count);
    size_t row = (size_t)set->max * (size_t)set->size;
    for (size_t i = 0; i < row; i++) {
        bool used = i < (size_t)seen.count * (size_t)set->size;
        uint16_t expected = used ? vd_half_from_float(features[i]) : 0;
        assert_int_equal(set->features[scene * row + i], expected);
    }
    assert_memory_equal(set->boxes + scene * (size_t)set->max * 4, seen.box,
                        (size_t)seen.count * sizeof *seen.box);
    vd_image_clear(&image);
    vd_free(features);
    vd_extractor_free(extractor);
}

static void regions_are_what_the_extractor_sees(void **state)
{
    fixture *f = *state;
    write_extractor(f->file);
    size_t count = f->world.count;
    f->world.count = 4;
    vd_region_set one, two;
    blocks_extract_options options = {.extractor = f->file, .threads = 1};
    assert_int_equal(blocks_extract_regions(&f->world, &options, &one, NULL), VD_OK);
    options.threads = 3;
    options.pictures = f->directory;
    options.picture_count = 2;
    assert_int_equal(blocks_extract_regions(&f->world, &options, &two, NULL), VD_OK);
    size_t values = one.count * (size_t)one.max * (size_t)one.size;
    assert_int_equal(one.max, two.max);
    assert_memory_equal(one.features, two.features, values * sizeof *one.features);
    for (size_t i = 0; i < 4; i++)
        compare_regions(f, &one, i);
    assert_int_equal(support_count_entries(f->directory), 3); // the extractor, two pictures
    vd_region_set_clear(&two);
    vd_region_set_clear(&one);
    f->world.count = count;
}

static vd_status survey_once(void *context, vd_error *err)
{
    const fixture *f = context;
    vd_region_set set;
    blocks_extract_options options = {.extractor = f->file, .threads = 1};
    vd_status status = blocks_extract_regions(&f->world, &options, &set, err);
    vd_region_set_clear(&set);
    return status;
}

static void a_survey_out_of_memory_says_so(void **state)
{
    fixture *f = *state;
    write_extractor(f->file);
    size_t count = f->world.count;
    f->world.count = 1;
    assert_true(support_fail_each_allocation(survey_once, f) > 5);
    f->world.count = count;
    blocks_extract_options options = {.extractor = f->other, .threads = 2};
    vd_region_set set;
    vd_error err = {0};
    support_refused(blocks_extract_regions(&f->world, &options, &set, &err), VD_NOT_FOUND, &err,
                    f->other, NULL);
    assert_null(set.features);
}

// ---- captions and scenes ------------------------------------------------------------------------

static void captions_have_the_layout_of_karpathys_splits(void **state)
{
    fixture *f = *state;
    enum { EACH = 3 };
    char expected[EACH][BLOCKS_TEXT];
    vd_captions *captions;
    vd_error err = {0};
    must(blocks_world_write_captions(&f->world, EACH, f->file, &err), &err);
    must(vd_captions_read(f->file, &captions, &err), &err);
    assert_string_equal(captions->kind, "Karpathy split");
    assert_int_equal(captions->count, SCENES);
    for (int i = 0; i < SCENES; i++) {
        const vd_captioned *image = &captions->image[i];
        assert_int_equal(image->image_id, f->world.scene[i].image_id);
        assert_string_equal(image->split, "val");
        assert_int_equal(image->captions, EACH);
        blocks_captions_make(&f->world.scene[i], EACH, expected);
        for (int c = 0; c < EACH; c++) {
            vd_words words;
            assert_string_equal(image->caption[c].text, expected[c]);
            must(vd_caption_tokenize(expected[c], VD_CAPTION_WORDS, &words, &err), &err);
            assert_int_equal(image->caption[c].words.count, words.count);
            vd_words_clear(&words);
        }
    }
    vd_captions_free(captions);
}

static void captions_leave_the_dialogs_as_they_are(void **state)
{
    fixture *f = *state;
    vd_error err = {0};
    must(blocks_world_write_dialogs(&f->world, f->file, &err), &err);
    char *before = support_read_file(f->file, NULL);
    must(blocks_world_write_captions(&f->world, 7, f->other, &err), &err);
    must(blocks_world_write_dialogs(&f->world, f->file, &err), &err);
    char *after = support_read_file(f->file, NULL);
    assert_string_equal(before, after);
    vd_captions *dialogs, *captions;
    must(vd_captions_read(f->file, &dialogs, &err), &err);
    must(vd_captions_read(f->other, &captions, &err), &err);
    for (int i = 0; i < SCENES; i++)
        assert_string_equal(dialogs->image[i].caption->text, captions->image[i].caption->text);
    vd_captions_free(captions);
    vd_captions_free(dialogs);
    free(after);
    free(before);
}

static void scenes_read_back_as_they_were_made(void **state)
{
    fixture *f = *state;
    blocks_scene *scenes;
    size_t count;
    vd_error err = {0};
    must(blocks_world_write_scenes(&f->world, f->file, &err), &err);
    must(blocks_scenes_read(f->file, &scenes, &count, &err), &err);
    assert_int_equal(count, SCENES);
    for (int i = 0; i < SCENES; i++) {
        const blocks_scene *made = &f->world.scene[i],
                           *found = blocks_scenes_find(scenes, count, made->image_id);
        assert_non_null(found);
        assert_int_equal(found->count, made->count);
        for (int k = 0; k < made->count; k++) {
            const blocks_object *a = &made->object[k], *b = &found->object[k];
            assert_memory_equal(a->value, b->value, sizeof a->value);
            assert_true(fabs(a->x - b->x) < 1e-5 && fabs(a->y - b->y) < 1e-5);
            assert_true(fabs(a->radius - b->radius) < 1e-6);
            for (int edge = 0; edge < 4; edge++)
                assert_true(fabs(a->box[edge] - b->box[edge]) < 1e-6);
        }
    }
    assert_null(blocks_scenes_find(scenes, count, 5));
    vd_free(scenes);
}

static void damaged_scenes_are_refused_with_their_place(void **state)
{
    fixture *f = *state;
    static const char *const list[][3] = {
        {"\"ball\"", "\"bell\"", "scene 1, object 1"},
        {"\"red\"", "7", "scene 1, object 1"},
        {"[2, 1]", "[2]", "object 2"},
        {"[2, 1]", "[2, 1, 0]", "object 2"},
        {"[2, 1]", "[2, 1e99]", "object 2"},
        {"0.39", "\"x\"", "object 1"},
        {"\"image_id\": 4", "\"image_id\": 7", "two scenes of image 7"},
        {"\"image_id\": 4", "\"id\": 4", "scene 2"},
        {"\"radius\": 0.43", "\"r\": 1", "scene 2"},
        {"\"radius\": 0.43", "\"radius\": 0.43, \"box\": [1, 2, 3]", "a box of 3 numbers"},
        {"\"radius\": 0.43", "\"radius\": 0.43, \"box\": [1, 2, 3, 4, 5]", "more than 4"},
        {"}]}]", "}]}", "cut short"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[2000];
        const char *at = strstr(caption_scenes, list[i][0]);
        vd_error err = {0};
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - caption_scenes), caption_scenes,
                 list[i][1], at + strlen(list[i][0]));
        support_write_text(f->file, text);
        support_refused(caption_files_read_scenes(f->file, &err), VD_FORMAT, &err, f->file,
                        list[i][2], NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dialogs_read_back_with_relevance_for_every_round, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(scenes_name_what_is_in_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_pool_counts_every_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_picture_is_the_rendered_scene, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_written_depends_on_the_seed_only, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(running_out_of_memory_leaves_nothing_behind, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_place_that_is_not_there_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(regions_are_what_the_extractor_sees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_survey_out_of_memory_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(captions_have_the_layout_of_karpathys_splits, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(captions_leave_the_dialogs_as_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scenes_read_back_as_they_were_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_scenes_are_refused_with_their_place, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
