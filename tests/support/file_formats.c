#include "tests/support/file_formats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <jpeglib.h>

#include "engine/base/alloc.h"
#include "engine/model/import.h"
#include "engine/model/pool.h"
#include "engine/base/safetensors.h"
#include "features/extract/extract.h"
#include "features/text/glove.h"
#include "features/pictures/image.h"
#include "features/dialogs/answer_pool.h"
#include "features/dialogs/ranks.h"
#include "features/regions/regions.h"
#include "features/dialogs/pack.h"
#include "features/text/tokenize.h"
#include "features/text/vocab_file.h"
#include "tests/support/caption_files.h"
#include "tests/support/public_files.h"
#include "tests/support/small_dialog.h"
#include "tests/support/small_trainer.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/session/config.h"
#include "tui/train/event_file.h"
#include "tui/session/history.h"
#include "tui/transcript/transcript.h"

static tiny_world tiny;
static small_dialog small;
static vd_visdial *dialogs;
static vd_model *model;
static const vd_vocab *words; // of model

// ---- readers: each asks all there is of what it read --------------------------------------------

static vd_status read_safetensors(const char *path, vd_error *err)
{
    vd_safetensors *file;
    vd_status status = vd_safetensors_open(path, &file, err);
    assert_true((status == VD_OK) == (file != NULL));
    for (size_t i = 0; status == VD_OK && i < vd_safetensors_count(file); i++) {
        const vd_tensor *t = vd_safetensors_at(file, i);
        float *floats = vd_alloc(t->elements + 1, sizeof *floats);
        int64_t *ints = vd_alloc(t->elements + 1, sizeof *ints);
        vd_error other;
        vd_tensor_floats(t, 0, t->elements, floats, &other); // one of the two
        vd_tensor_ints(t, 0, t->elements, ints, &other);
        vd_free(floats);
        vd_free(ints);
    }
    vd_safetensors_close(file);
    return status;
}

static vd_status read_model(const char *path, vd_error *err)
{
    vd_model *loaded;
    vd_status status = vd_model_load(path, &loaded, err);
    assert_true((status == VD_OK) == (loaded != NULL));
    vd_model_free(loaded);
    return status;
}

static vd_status read_import(const char *path, vd_error *err)
{
    vd_import_options options = {.gate = VD_GATE_LEAKY_RELU};
    char *out = support_join(tiny.directory, "imported.safetensors");
    vd_status status = vd_model_import(path, words, &options, out, err);
    assert_true(status == VD_OK || !support_exists(out));
    remove(out);
    free(out);
    return status;
}

static vd_status read_checkpoint(const char *path, vd_error *err)
{
    vd_trainer *trainer;
    vd_status status = vd_trainer_resume(path, &trainer, err);
    assert_true((status == VD_OK) == (trainer != NULL));
    vd_trainer_free(trainer);
    return status;
}

static vd_status read_vectors(const char *path, vd_error *err)
{
    vd_pool *pool;
    vd_status status = vd_pool_load(small.model, small.candidate, small.candidate_length, POOL, TO,
                                    path, &pool, err);
    assert_true((status == VD_OK) == (pool != NULL));
    vd_pool_free(pool);
    return status;
}

static vd_status read_extractor(const char *path, vd_error *err)
{
    vd_extractor *extractor;
    vd_status status = vd_extractor_load(path, &extractor, err);
    assert_true((status == VD_OK) == (extractor != NULL));
    vd_extractor_free(extractor);
    return status;
}

static vd_status read_regions(const char *path, vd_error *err)
{
    vd_regions *regions;
    vd_status status = vd_regions_open(path, &regions, err);
    assert_true((status == VD_OK) == (regions != NULL));
    if (status)
        return status;
    size_t max = (size_t)regions->max, size = (size_t)regions->size;
    float *features = vd_alloc(max * size, sizeof *features),
          *boxes = vd_alloc(max * 4, sizeof *boxes);
    for (size_t row = 0; status == VD_OK && row < regions->count; row++) {
        size_t again;
        int used = regions->used[row];
        assert_true(used >= 1 && used <= (int)max);
        assert_int_equal(vd_regions_find(regions, regions->image_id[row], &again, err), VD_OK);
        status = vd_regions_read(regions, row, features, boxes, err);
    }
    vd_free(features);
    vd_free(boxes);
    vd_regions_close(regions);
    return status;
}

// The picture whose row is damaged is found by the folder.
static vd_status read_folder(const char *path, vd_error *err)
{
    char *folder = strdup(path);
    *strrchr(folder, '/') = '\0';
    vd_status status = read_regions(folder, err);
    free(folder);
    return status;
}

static vd_status read_index(const char *path, vd_error *err)
{
    char *features = support_join(tiny.directory, "val_btmup_f.hdf5");
    vd_regions *regions;
    vd_status status = vd_regions_open_index(features, path, &regions, err);
    assert_true((status == VD_OK) == (regions != NULL));
    vd_regions_close(regions);
    free(features);
    return status;
}

static void follow(const vd_visdial *data, const vd_visdial_dialog *dialog)
{
    size_t length = strlen(dialog->caption);
    for (int32_t r = 0; r < dialog->round_count; r++) {
        const vd_visdial_round *round = &dialog->rounds[r];
        if (round->question >= 0)
            length += strlen(data->questions[round->question]);
        for (int32_t o = 0; round->options && o < round->option_count; o++)
            length += strlen(data->answers[round->options[o]]);
        assert_true(round->truth < round->option_count);
    }
    assert_true(length < 1 << 20);
}

static vd_status read_dialogs(const char *path, vd_error *err)
{
    vd_visdial *data;
    vd_status status = vd_visdial_read(path, &data, err);
    assert_true((status == VD_OK) == (data != NULL));
    for (size_t d = 0; status == VD_OK && d < data->dialog_count; d++) {
        assert_ptr_equal(vd_visdial_find(data, data->dialogs[d].image_id), &data->dialogs[d]);
        follow(data, &data->dialogs[d]);
    }
    vd_visdial_free(data);
    return status;
}

static vd_status read_packed(const char *path, vd_error *err)
{
    vd_visdial *data;
    vd_status status = vd_visdial_open(path, &data, err);
    assert_true((status == VD_OK) == (data != NULL));
    for (size_t d = 0; status == VD_OK && d < data->dialog_count; d++) {
        status = vd_visdial_check_options(data, d, err);
        if (status == VD_OK)
            follow(data, &data->dialogs[d]);
    }
    vd_visdial_free(data);
    return status;
}

static vd_status read_dense(const char *path, vd_error *err)
{
    vd_visdial *data;
    vd_status status = vd_visdial_read(tiny.train, &data, err);
    assert_int_equal(status, VD_OK);
    status = vd_visdial_read_dense(data, path, err);
    vd_visdial_free(data);
    return status;
}

static vd_status read_ranks(const char *path, vd_error *err)
{
    vd_ranks *ranks;
    vd_status status = vd_ranks_read(path, dialogs, &ranks, err);
    assert_true((status == VD_OK) == (ranks != NULL));
    vd_ranks_free(ranks);
    return status;
}

static vd_status read_answers(const char *path, vd_error *err)
{
    vd_answer_pool pool;
    vd_status status = vd_answer_pool_read(path, &pool, err);
    for (size_t i = 0; status == VD_OK && i < pool.count; i++)
        assert_true(strlen(pool.answer[i]) > 0);
    if (status == VD_OK)
        vd_answer_pool_clear(&pool);
    return status;
}

static vd_status read_words(const char *path, vd_error *err)
{
    vd_vocab *vocab;
    vd_status status = vd_vocab_read(path, 1, &vocab, err);
    assert_true((status == VD_OK) == (vocab != NULL));
    for (int id = 0; status == VD_OK && id < vd_vocab_size(vocab); id++)
        assert_int_equal(vd_vocab_id(vocab, vd_vocab_word(vocab, id)), id);
    vd_vocab_free(vocab);
    return status;
}

static vd_status read_glove(const char *path, vd_error *err)
{
    int width;
    vd_status status = vd_glove_width(path, &width, err);
    if (status)
        return status;
    float *rows = vd_alloc((size_t)vd_vocab_size(words) * (size_t)width, sizeof *rows);
    status = vd_glove_read(path, words, width, rows, NULL, err);
    vd_free(rows);
    return status;
}

static vd_status read_picture(const char *path, vd_error *err)
{
    vd_image image;
    vd_status status = vd_image_read(path, &image, err);
    if (status == VD_OK) {
        assert_true(image.width > 0 && image.height > 0);
        vd_image_clear(&image);
    }
    return status;
}

// A question as people type it, through all that is made of one.
static vd_status read_question(const char *path, vd_error *err)
{
    enum { MOST = 20 };
    size_t size;
    char *text = support_read_file(path, &size), *normal = NULL;
    int32_t ids[MOST];
    int length = 0, found = 0;
    vd_status status = vd_normalise_typed(text, &normal, err);
    assert_true((status == VD_OK) == (normal != NULL));
    if (status == VD_OK)
        status = vd_text_ids(words, normal, true, MOST, ids, &length, &found, err);
    assert_true(length >= 0 && length <= MOST && (status || length <= found));
    for (int i = 0; status == VD_OK && i < length; i++)
        assert_true(ids[i] >= 0 && ids[i] < vd_vocab_size(words));
    free(normal);
    free(text);
    return status;
}

static vd_status read_transcript(const char *path, vd_error *err)
{
    vd_transcript_file file;
    vd_status status = vd_transcript_read(path, &file, err);
    if (status)
        return status;
    char *out = support_join(tiny.directory, "exported");
    vd_error other; // an export may have nothing to write
    vd_transcript_markdown(&file, NULL, out, &other);
    vd_transcript_visdial(&file, out, &other);
    vd_transcript_html(&file, NULL, out, &other);
    free(out);
    vd_transcript_clear(&file);
    return VD_OK;
}

static vd_status read_config(const char *path, vd_error *err)
{
    vd_preferences preferences = vd_preferences_defaults();
    return vd_preferences_read(path, &preferences, err);
}

static vd_status read_questions(const char *path, vd_error *err)
{
    vd_line line = {0};
    vd_status status = vd_history_load(path, &line, err);
    vd_line_free(&line);
    return status;
}

static void no_sink(void *context, int64_t step, const char *tag, double value)
{
    (void)step;
    (void)value;
    *(size_t *)context += strlen(tag);
}

static vd_status read_events(const char *path, vd_error *err)
{
    size_t offset = 0, length = 0;
    return vd_events_read(path, &offset, no_sink, &length, err);
}

// ---- whole files --------------------------------------------------------------------------------

static void copy_of(const char *from, const char *path)
{
    size_t size;
    char *bytes = support_read_file(from, &size);
    support_write_file(path, bytes, size);
    free(bytes);
}

static void write_model(const char *path)
{
    copy_of(tiny.improved, path);
}

static void write_weights(const char *path)
{
    copy_of("tests/golden/data/mvan_tiny.safetensors", path);
}

static void write_checkpoint(const char *path)
{
    vd_train_options options = small_options(1);
    vd_trainer *trainer = small_trainer(&options);
    vd_error err;
    small_steps(trainer, 1);
    must(vd_trainer_checkpoint(trainer, path, &err), &err);
    vd_trainer_free(trainer);
}

static void write_vectors(const char *path)
{
    vd_error err;
    must(vd_pool_save(small.pool, path, &err), &err);
}

static void write_extractor(const char *path)
{
    copy_of("assets/extractor.safetensors", path);
}

static void write_regions(const char *path)
{
    tiny_world_features(path, TINY_REGION_SIZE);
}

static void write_challenge(const char *path)
{
    public_challenge(path, "num_boxes");
}

static void write_compressed(const char *path)
{
    public_challenge(path, "compressed");
}

static void write_adaptive(const char *path)
{
    char *index = support_join(tiny.directory, "val_imgid2idx.pkl");
    public_adaptive(path, index, NULL);
    free(index);
}

static void write_index(const char *path)
{
    char *features = support_join(tiny.directory, "val_btmup_f.hdf5");
    public_adaptive(features, path, NULL);
    free(features);
}

static void write_tsv(const char *path)
{
    char *text = public_tsv_text(strstr(path, "lxmert") != NULL);
    support_write_text(path, text);
    free(text);
}

static void make_folder_of(const char *path)
{
    char *folder = strdup(path);
    *strrchr(folder, '/') = '\0';
    mkdir(folder, 0777);
    free(folder);
}

static void write_npz(const char *path)
{
    make_folder_of(path);
    public_npz(path, 0, NULL);
}

static void write_npy(const char *path)
{
    make_folder_of(path);
    size_t size;
    char *bytes = public_npy_bytes(0, &size);
    support_write_file(path, bytes, size);
    free(bytes);
}

static void write_dialogs(const char *path)
{
    copy_of("tests/fixtures/dialogs.json", path);
}

static void write_test_split(const char *path)
{
    copy_of("tests/fixtures/dialogs_test.json", path);
}

static void write_packed(const char *path)
{
    vd_visdial *data;
    vd_error err;
    must(vd_visdial_read("tests/fixtures/dialogs.json", &data, &err), &err);
    must(vd_visdial_pack(data, NULL, "a test", path, &err), &err);
    vd_visdial_free(data);
}

static void write_dense(const char *path)
{
    copy_of(tiny.dense, path);
}

static void write_ranks(const char *path)
{
    vd_ranks_writer *writer;
    vd_error err;
    static const float scores[TINY_ANSWERS] = {3, 1, 2, 0};
    must(vd_ranks_create(path, &writer, &err), &err);
    for (int64_t id = 1; id <= TINY_PICTURES; id++)
        must(vd_ranks_add(writer, id, 1, scores, TINY_ANSWERS, &err), &err);
    must(vd_ranks_commit(writer, &err), &err);
}

static void write_answers(const char *path)
{
    support_write_text(path, "12\tyes\n9\tno, it is not\n3\tblue and gr\xc3\xbcn\n1\t2\n");
}

static void write_word_counts(const char *path)
{
    support_write_text(path, "{\"the\": 12, \"what\": 9, \"\\u00fcber\": 5, \"a\\\"b\": 5}");
}

static void write_word_list(const char *path)
{
    char *text = vd_vocab_to_json(words);
    support_write_text(path, text);
    vd_free(text);
}

static void write_glove(const char *path)
{
    support_write_text(path, "the 1 1 1\nunk 7 8 9\nred 1 -2.5 3e1\r\nchair 0.25 -.125 4\n");
}

static void write_png(const char *path)
{
    vd_image image;
    vd_error err;
    must(vd_image_new(9, 7, &image, &err), &err);
    for (int i = 0; i < 9 * 7 * 3; i++)
        image.rgb[i] = (uint8_t)(i * 37);
    must(vd_image_write_png(path, &image, &err), &err);
    vd_image_clear(&image);
}

static void write_pnm(const char *path)
{
    support_write_text(path, "P6 # by hand\n3 2\n255\nabcdefghijklmnopqr");
}

static void write_bmp(const char *path)
{
    static const char bytes[] = "BM\x4e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\3\0\0\0\2\0\0\0"
                                "\1\0\x18\0\0\0\0\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "abcdefghi\0\0\0jklmnopqr\0\0";
    support_write_file(path, bytes, sizeof bytes);
}

// Progressive, turned by its EXIF data.
static void write_jpeg(const char *path)
{
    enum { WIDTH = 33, HEIGHT = 17 };
    static const unsigned char exif[] =
        "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0";
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct jpeg = {.err = jpeg_std_error(&errors)};
    FILE *file = fopen(path, "wb");
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, exif, sizeof exif - 1);
    for (int y = 0; y < HEIGHT; y++) {
        unsigned char pixels[WIDTH * 3], *row = pixels;
        for (int x = 0; x < WIDTH * 3; x++)
            row[x] = (unsigned char)(x * 7 + y * 11);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
}

static void write_question(const char *path)
{
    support_write_text(path,
                       "What's the colour of Mr. O'Neil's two \xe2\x80\x9cred\xe2\x80\x9d cups, "
                       "e.g. 10 oz. cans?");
}

static void write_transcript(const char *path)
{
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    support_write_text(
        path,
        "{\"transcript\": 1, \"program\": \"visdial\", \"started\": \"2026-03-01T12:00:00Z\"}\n"
        "{\"pool\": {\"hash\": \"" HASH "\", \"answers\": [\"yes\", \"no\"]}}\n"
        "{\"answer\": {\"lane\": 0, \"name\": \"base\", \"model\": \"base\", \"image_id\": 3, "
        "\"caption\": \"a red cube\", \"history\": [], \"typed\": \"is it red\", \"question\": "
        "\"is it red\", \"words\": [\"is\", \"it\", \"red\", \"?\"], \"unknown\": [false, false, "
        "true, false], \"cut\": 0, \"milliseconds\": 1.5, \"model_hash\": \"" HASH
        "\", \"pool_hash\": \"" HASH "\", \"features_hash\": \"" HASH
        "\", \"answers\": [[\"no\", 0.75], [\"yes\", 0.25]], \"scores\": [-0.5, 0.625], "
        "\"region_count\": 2, \"attentions\": [{\"name\": \"rounds\", \"query\": \"question\", "
        "\"key\": \"entries\", \"shares\": [[1]]}, {\"name\": \"question-words\", \"query\": "
        "\"regions\", \"key\": \"question words\", \"shares\": [[0.25, 0.25, 0.25, 0.25], [0.125, "
        "0.125, 0.5, 0.25]]}, {\"name\": \"regions\", \"query\": \"question\", \"key\": "
        "\"regions\", \"shares\": [[0.75, 0.25]]}], "
        "\"boxes\": [[0, 0, 0.5, 0.5], [0.25, 0.5, 1, 1]]}}\n"
        "{\"conversation\": {\"image_id\": 3, \"caption\": \"a red cube\", \"rounds\": "
        "[[\"is it red\", \"no\"]]}}\n");
}

static void write_config(const char *path)
{
    support_write_text(path, "# mine\ntheme = light\nmouse = off\n\nmodel = improved\n");
}

static void write_questions(const char *path)
{
    support_write_text(path, "is it red\nwhat color is the chair\n\xc3\xbc and \xe2\x82\xac?\n");
}

static void write_events(const char *path)
{
    vd_events *events;
    vd_error err;
    char *folder = support_join(tiny.directory, "run"), *file;
    mkdir(folder, 0777);
    must(vd_events_open(folder, 0, &events, &err), &err);
    for (int step = 1; step <= 3; step++)
        must(vd_events_add(events, step, &(vd_scalar){"train/loss", 1.0 / step}, 1, &err), &err);
    vd_events_close(events);
    must(vd_events_find(folder, &file, &err), &err);
    copy_of(file, path);
    vd_free(file);
    support_remove_tree(folder);
    free(folder);
}

// ---- all of them --------------------------------------------------------------------------------

const file_format file_formats[] = {
    {"weights.safetensors", write_weights, read_safetensors, 400, false},
    {"model.safetensors", write_model, read_model, 200, false},
    {"imported", write_model, read_import, 100, false},
    {"checkpoint.safetensors", write_checkpoint, read_checkpoint, 200, false},
    {"pool.vectors", write_vectors, read_vectors, 200, false},
    {"extractor.safetensors", write_extractor, read_extractor, 50, false},
    {"regions.safetensors", write_regions, read_regions, 300, false},
    {"challenge.h5", write_challenge, read_regions, 300, false},
    {"compressed.h5", write_compressed, read_regions, 300, false},
    {"val_btmup_f.hdf5", write_adaptive, read_regions, 300, false},
    {"val_imgid2idx.pkl", write_index, read_index, 300, false},
    {"features.tsv", write_tsv, read_regions, 300, false},
    {"lxmert.tsv", write_tsv, read_regions, 300, false},
    {"npz/COCO_val2014_000000000042.npz", write_npz, read_folder, 300, false},
    {"npy/COCO_val2014_000000000042.npy", write_npy, read_folder, 300, false},
    {"dialogs.json", write_dialogs, read_dialogs, 600, false},
    {"dialogs_test.json", write_test_split, read_dialogs, 600, false},
    {"dialogs.packed", write_packed, read_packed, 400, false},
    {"packed.packed", write_packed, read_dialogs, 400, false},
    {"dense.json", write_dense, read_dense, 300, false},
    {"ranks.json", write_ranks, read_ranks, 300, false},
    {"karpathy.json", caption_files_karpathy, caption_files_read, 300, false},
    {"coco.json", caption_files_coco, caption_files_read, 300, false},
    {"results.json", caption_files_results, caption_files_read_results, 300, false},
    {"scenes.json", caption_files_scenes, caption_files_read_scenes, 300, false},
    {"pool.txt", write_answers, read_answers, 300, false},
    {"word_counts.json", write_word_counts, read_words, 1000, false},
    {"words.json", write_word_list, read_words, 300, false},
    {"glove.txt", write_glove, read_glove, 300, false},
    {"picture.png", write_png, read_picture, 300, false},
    {"picture.pnm", write_pnm, read_picture, 300, false},
    {"picture.bmp", write_bmp, read_picture, 300, false},
    {"picture.jpg", write_jpeg, read_picture, 300, false},
    {"question.txt", write_question, read_question, 0, false},
    {"transcript.jsonl", write_transcript, read_transcript, 300, false},
    {"config", write_config, read_config, 300, true},
    {"history", write_questions, read_questions, 100, true},
    {"events.out.tfevents.1.here", write_events, read_events, 300, false},
    {0},
};

// ---- the world that they are read in ------------------------------------------------------------

const char *file_formats_begin(void)
{
    vd_error err;
    tiny_world_make(&tiny);
    small_dialog_begin(&small, VD_GATE_SIGMOID, VD_POSITIONS_NONE);
    must(vd_visdial_read(tiny.train, &dialogs, &err), &err);
    must(vd_model_load(tiny.improved, &model, &err), &err);
    words = vd_model_vocab(model);
    return tiny.directory;
}

void file_formats_end(void)
{
    vd_model_free(model);
    vd_visdial_free(dialogs);
    small_dialog_end(&small);
    tiny_world_remove(&tiny);
}
