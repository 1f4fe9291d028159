// The info command on every kind of file, and on none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "features/pictures/image.h"
#include "tests/support/caption_files.h"
#include "tests/support/one_world.h"
#include "tests/support/plain_chat.h"
#include "tests/support/program.h"
#include "tests/support/public_files.h"
#include "tests/support/support.h"
#include "tui/train/event_file.h"

// Runs `info` on one file and looks for each of the words (NULL ends) in what it printed.
static void info_says(const char *file, ...)
{
    support_program program;
    const char *const arguments[] = {"info", file, NULL};
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, 0, NULL);
    va_list words;
    va_start(words, file);
    for (const char *word; (word = va_arg(words, const char *));) {
        if (!strstr(program.out, word))
            fail_msg("\"%s\" is not in:\n%s", word, program.out);
    }
    va_end(words);
    support_program_clear(&program);
}

static void info_refuses(const char *file, int code, const char *word)
{
    support_program program;
    const char *const arguments[] = {"info", file, NULL};
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, code, file, word, NULL);
    assert_null(strstr(program.err, "--resume")); // nothing is
    support_program_clear(&program);
}

static char *in_world(const char *name)
{
    return support_join(tiny.directory, name);
}

static void the_program_tells_its_version_libraries_and_backend(void **state)
{
    (void)state;
    info_says(NULL, "visdial ", "compiler", "backend     cpu", "cuda", "processor", "OpenBLAS",
              "ncurses", "chafa", "libpng", "libjpeg", "yajl", "utf8proc", NULL);
}

// Of a library that does not load the loader says why.
static void libraries_that_do_not_load_are_told_in_the_loader_s_words(void **state)
{
    (void)state;
    static const char *const names[] = {
        "libopenblas.so.0",      "libopenblas.so", "libcblas.so.3",         "libcuda.so.1",
        "libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5_serial.so.310", "libhdf5.so.310",
        "libzip.so.4",           "libzip.so.5"};
    char *directory = in_world("libraries"), *hdf5 = in_world("a.hdf5");
    assert_int_equal(mkdir(directory, 0777), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *library = support_join(directory, names[i]);
        support_write_text(library, "this is not a library, and as long as the head of one is");
        free(library);
    }
    char *picture = support_join(directory, "1.npz");
    support_write_text(picture, "PK");
    free(picture);
    support_write_file(hdf5, "\x89HDF\r\n\x1a\n", 8);
    setenv("LD_LIBRARY_PATH", directory, 1);
    info_says(NULL, "OpenBLAS    none: ", "libopenblas.so.0: ", "no NVIDIA driver",
              "libcuda.so.1: ", NULL);
    info_refuses(hdf5, 8, "file too short");
    support_program program;
    const char *const arguments[] = {"features", "info", directory, NULL};
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, 8, "reading npz needs libzip (", "file too short", NULL);
    support_program_clear(&program);
    unsetenv("LD_LIBRARY_PATH");
    free(hdf5);
    free(directory);
}

static void models_are_told_with_their_configuration(void **state)
{
    (void)state;
    info_says(tiny.improved, ": a model\n", "parameters", "regions     of 5 numbers",
              "network     mvan (multi-view attention network)", "gate", "positions",
              " bytes (--tensors lists them)", NULL);
    support_program program;
    const char *const plain[] = {"info", tiny.improved, NULL};
    const char *const tensors[] = {"info", "--tensors", tiny.improved, NULL};
    support_program_run(&program, plain, NULL);
    assert_null(strstr(program.out, "encoder.word_embed.weight"));
    support_program_clear(&program);
    support_program_run(&program, tensors, NULL);
    support_program_expect(&program, 0, NULL);
    assert_non_null(strstr(program.out, ": a model\n"));
    assert_non_null(strstr(program.out, "encoder.word_embed.weight"));
    support_program_clear(&program);
}

static void a_bundled_model_is_found_by_its_name(void **state)
{
    (void)state;
    info_says("best", "assets/best.safetensors: a model\n", "network     amem", NULL);
    info_refuses("bset", 3, "there is no such file");
}

static void info_says_of_text(const char *name, const char *text, const char *what,
                              const char *more)
{
    char *path = in_world(name);
    support_write_text(path, text);
    info_says(path, what, more, NULL);
    free(path);
}

// Everything that the program reads or writes is called by its name in the first line.
static void every_file_says_first_what_it_is(void **state)
{
    (void)state;
    info_says_of_text("a", "{\"the\": 10, \"cat\": 3}", "/a: word counts\n", "the (10 times)");
    info_says_of_text("a", "[\"<PAD>\", \"<S>\", \"</S>\", \"<UNK>\", \"cat\"]",
                      "/a: the words of a model\n", "words       1\n");
    info_says_of_text("a", "[{\"image_id\": 3, \"round_id\": 1, \"ranks\": [1, 2]}]",
                      "/a: rankings of the candidates", "ids 3 to 3");
    info_says_of_text("a", "the 0.5 -1 2e-3\ncat 1 2 3\n", "/a: word vectors (GloVe)\n",
                      "3 a word");
    info_says_of_text("a", "epoch\tstep\tloss\n1\t20\t0.5\n2\t40\t0.25\n",
                      "/a: the log of a training run\n", "2\t40\t0.25");
    info_says_of_text("a", "# mine\ntheme = light\n", "/a: settings of the chat\n", "2\n");
    info_says_of_text("a", "key F9 = /walk\n", "/a: settings of the chat\n", "1\n");
    info_says_of_text("a", "picture = cells\n", "/a: settings of the chat\n", "1\n");
    info_says_of_text("a", "{\"data\":\"/x/train.json\",\"features\":\"/x/f.npz\"}",
                      "/a: what a training run reads\n", "/x/f.npz");
    info_says_of_text("a", "<!doctype html>\n<html>", "/a: a page for a browser", "1\n");
    info_says_of_text("history", "is it red?\n", ": earlier questions of the chat\n", "1\n");
    info_says_of_text("a", "[{\"image_id\": 3, \"caption\": \"a dog\"}]",
                      "/a: captions of a captioner", "ids 3 to 3");
    info_says_of_text("a", caption_karpathy, "/a: captions that people wrote (Karpathy split)",
                      "captions    5\n");
    info_says_of_text("a", caption_coco, "/a: captions that people wrote (COCO captions)",
                      "pictures    3\n");
    info_says("assets/scenes.json", ": scenes of Blocks pictures\n", "pictures    48", "objects",
              NULL);
    info_says("assets/dense.json", ": dense annotations", "rounds      480", NULL);
    info_says("assets/extractor.safetensors", ": weights of the extractor", NULL);
}

static void files_of_public_features_are_told_one_by_one(void **state)
{
    (void)state;
    char *path = in_world("features"), *index = in_world("index.pkl");
    char *text = public_tsv_text(0);
    support_write_text(path, text);
    free(text);
    info_says(path, ": region features\n", "TSV, bottom-up attention", "pictures    3", NULL);
    text = public_tsv_text(1);
    support_write_text(path, text);
    free(text);
    info_says(path, ": region features\n", "TSV, LXMERT", NULL);
    public_adaptive(path, index, NULL);
    info_says(index, ": the index of adaptive region features (a pickle)\n", "pictures    3",
              "ids 7 to 581929", NULL);
    unlink(path);
    size_t size;
    char *bytes = public_npy_bytes(1, &size);
    support_write_file(path, bytes, size);
    free(bytes);
    info_says(path, ": a NumPy array (npy)\n", "4 x 6, real numbers of", NULL);
    unlink(path);
    public_npz(path, 1, NULL);
    info_says(path, ": NumPy arrays of one picture's regions (npz)\n", "x           4 x 6", "bbox",
              NULL);
    unlink(path);
    public_folder(path, "npz");
    info_says(path, ": region features\n", "pictures    3", NULL);
    free(index);
    free(path);
}

static void what_a_run_and_a_chat_write_is_told(void **state)
{
    (void)state;
    char *out = in_world("run"), *log = support_join(out, "log.tsv");
    char *checkpoint = support_join(out, "checkpoint.safetensors"), *events;
    support_program program;
    const char *const train[] = {
        "train", "--data",      tiny.train, "--features", tiny.features, "--out",   out, "--epochs",
        "1",     "--min-count", "1",        "--hidden",   "4",           "--embed", "4", NULL};
    support_program_run(&program, train, NULL);
    support_program_expect(&program, 0, NULL);
    support_program_clear(&program);
    info_says(log, ": the log of a training run\n", "epochs      1\n", NULL);
    info_says(checkpoint, ": a checkpoint of a training run\n", "parameters", NULL);
    assert_int_equal(vd_events_find(out, &events, NULL), VD_OK);
    info_says(events, ": an event file of a training run", "train/loss", NULL);
    char *dialog = in_world("talk.jsonl");
    static plain_chat chat;
    vd_world *world;
    assert_int_equal(
        vd_world_open_files(&(vd_world_files){.directory = tiny.directory}, &world, NULL), VD_OK);
    plain_chat_open(world, &chat, false, dialog);
    plain_chat_ask(&chat, "is it red?");
    plain_chat_close(&chat);
    vd_world_close(world);
    info_says(dialog, ": a transcript of chats\n", "dialogs     1, 1 round\n", "answers     1",
              "model       improved", "visdial replay", NULL);
    free(dialog);
    vd_free(events);
    free(checkpoint);
    free(log);
    free(out);
}

static void features_dialogs_and_pools_are_told_with_their_sizes(void **state)
{
    (void)state;
    info_says(tiny.features, ": region features\n", "pictures    8, ids 1 to 8",
              "numbers     5 a region", "boxes       ", NULL);
    info_says(tiny.val, ": VisDial dialogs\n", "dialogs     4", "rounds      12",
              "visdial data info", NULL);
    char *pool = in_world("pool.txt");
    info_says(pool, ": an answer pool\n", "answers     4", NULL);
    free(pool);
}

static void reports_and_directories_are_no_broken_dialogs(void **state)
{
    (void)state;
    char *path = in_world("report.json");
    support_write_text(path, "{\"model\": \"best\", \"data\": \"val.json\", \"all\": {}}\n");
    info_says(path, ": an evaluation of models (JSON)\n", NULL);
    support_write_text(path, "{\"data\": {\"data\": \"x\"}}\n"); // dialogs without questions
    info_refuses(path, 4, "has no \"questions\"");
    info_refuses("tests/support", 4, "a directory; expected one of a training run");
    free(path);
}

static void pictures_are_told_with_their_size(void **state)
{
    (void)state;
    char *path = in_world("info.png");
    vd_image image;
    assert_int_equal(vd_image_new(31, 17, &image, NULL), VD_OK);
    assert_int_equal(vd_image_write_png(path, &image, NULL), VD_OK);
    info_says(path, ": a picture\n", "31 x 17", NULL);
    vd_image_clear(&image);
    free(path);
}

// Every kind that can be read, by what is in it.
static void pictures_of_every_kind_are_pictures(void **state)
{
    (void)state;
    static const unsigned char bmp[] = {'B', 'M', 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0,  40,
                                        0,   0,   0,  1, 0, 0, 0, 1, 0, 0, 0,  1, 0, 24, 0,
                                        0,   0,   0,  0, 4, 0, 0, 0, 0, 0, 0,  0, 0, 0,  0,
                                        0,   0,   0,  0, 0, 0, 0, 0, 0, 9, 9,  9, 0};
    char *path = in_world("picture");
    support_write_file(path, bmp, sizeof bmp);
    info_says(path, ": a picture\n", "1 x 1 pixels", NULL);
    support_write_file(path, "P6\n2 1\n255\nabcdef", 17);
    info_says(path, ": a picture\n", "2 x 1 pixels", NULL);
    support_write_file(path, "P5 3 1 255 abc", 14);
    info_says(path, ": a picture\n", "3 x 1 pixels", NULL);
    free(path);
}

static void an_extractor_with_damaged_weights_is_refused(void **state)
{
    (void)state;
    size_t size;
    char *path = in_world("extractor.safetensors");
    char *bytes = support_read_file("assets/extractor.safetensors", &size);
    memset(bytes + size - 4, 0xff, 4); // not a number, in half precision and in single
    support_write_file(path, bytes, size);
    support_program program;
    const char *const arguments[] = {"info", path, NULL};
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, 4, path, "not a finite number", NULL);
    support_program_clear(&program);
    free(bytes);
    free(path);
}

static void other_tensors_are_listed_and_cannot_steer_the_terminal(void **state)
{
    (void)state;
    char *path = in_world("other.safetensors"), long_value[600];
    vd_safetensors_writer *writer;
    const size_t shape[] = {2, 3};
    const float numbers[7] = {0};
    memset(long_value, 'x', sizeof long_value);
    long_value[sizeof long_value - 1] = '\0';
    assert_int_equal(vd_safetensors_create(path, &writer, NULL), VD_OK);
    vd_safetensors_put_metadata(writer, "note", "a\033[2Jb", NULL);
    vd_safetensors_put_metadata(writer, "long", long_value, NULL);
    vd_safetensors_declare(writer, "w\033c", VD_F32, 2, shape, NULL);
    vd_safetensors_declare(writer, "scalar", VD_F32, 0, shape, NULL);
    assert_int_equal(vd_safetensors_append(writer, numbers, 6, NULL), VD_OK);
    assert_int_equal(vd_safetensors_append(writer, numbers, 1, NULL), VD_OK);
    assert_int_equal(vd_safetensors_commit(writer, NULL), VD_OK);
    info_says(path, ": tensors\n", "note        a?[2Jb", "2, 28 bytes (--tensors",
              "... (599 bytes)", NULL);
    support_program program;
    const char *const arguments[] = {"info", "--tensors", path, NULL};
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, 0, NULL);
    assert_non_null(strstr(program.out, "2 tensors, 7 numbers, 28 bytes"));
    assert_non_null(strstr(program.out, "w?c"));
    assert_non_null(strstr(program.out, "F32  2 x 3"));
    assert_non_null(strstr(program.out, "one number"));
    support_program_clear(&program);
    free(path);
}

static void damaged_and_missing_files_end_with_the_code_of_the_first(void **state)
{
    (void)state;
    char *bad = in_world("bad"), *missing = in_world("missing"), long_one[70000] = "{\"data\":\"";
    memset(long_one + 9, 'x', sizeof long_one - 10);
    support_write_text(bad, long_one); // what a run reads is never as long
    info_refuses(bad, 4, "65536");
    support_write_text(bad, "whatever this is");
    info_refuses(bad, 4, "not a file that visdial reads");
    support_write_text(bad, "# as a Makefile begins\n");
    info_refuses(bad, 4, "not a file that visdial reads");
    support_write_text(bad, "");
    info_refuses(bad, 4, "0 bytes");
    support_write_text(bad, "{\"version\": 7}");
    info_refuses(bad, 4, "expected");
    support_write_text(bad, "[]");
    info_refuses(bad, 4, "dense");
    support_write_text(bad, "7\t\n");
    info_refuses(bad, 4, "line 1");
    support_write_text(bad, "\x89PNG\r\n\x1a\n");
    info_refuses(bad, 4, "PNG");
    info_refuses(missing, 3, "no such file");
    info_refuses(tiny.directory, 4, "directory");

    // What can be told of the others is told all the same.
    support_program program;
    const char *const arguments[] = {"info", missing, tiny.val, bad, NULL};
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, 3, missing, bad, NULL);
    assert_non_null(strstr(program.out, "VisDial dialogs"));
    support_program_clear(&program);
    const char *const unknown[] = {"info", "--frobnicate", NULL};
    support_program_run(&program, unknown, NULL);
    support_program_expect(&program, 2, "--frobnicate", NULL);
    support_program_clear(&program);
    free(missing);
    free(bad);
}

// Neither in what is told of it nor in an error about it.
static void a_name_cannot_control_the_terminal(void **state)
{
    (void)state;
    char *bad = in_world("a\033[31m\xc2\x9b"
                         "b"),
         *picture = in_world("c\033]0;d\a.png");
    vd_image image;
    vd_error err;
    support_write_text(bad, "{}");
    assert_int_equal(vd_image_new(2, 2, &image, &err), VD_OK);
    assert_int_equal(vd_image_write_png(picture, &image, &err), VD_OK);
    vd_image_clear(&image);
    support_program program;
    const char *const arguments[] = {"info", bad, picture, NULL};
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, 4, "a?[31m?b", NULL);
    assert_non_null(strstr(program.out, "c?]0;d?.png"));
    assert_null(strpbrk(program.out, "\033\a\x9b"));
    assert_null(strpbrk(program.err, "\033\a\x9b"));
    support_program_clear(&program);
    free(bad);
    free(picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_tells_its_version_libraries_and_backend),
        cmocka_unit_test(libraries_that_do_not_load_are_told_in_the_loader_s_words),
        cmocka_unit_test(models_are_told_with_their_configuration),
        cmocka_unit_test(a_bundled_model_is_found_by_its_name),
        cmocka_unit_test(every_file_says_first_what_it_is),
        cmocka_unit_test(files_of_public_features_are_told_one_by_one),
        cmocka_unit_test(what_a_run_and_a_chat_write_is_told),
        cmocka_unit_test(features_dialogs_and_pools_are_told_with_their_sizes),
        cmocka_unit_test(reports_and_directories_are_no_broken_dialogs),
        cmocka_unit_test(pictures_are_told_with_their_size),
        cmocka_unit_test(pictures_of_every_kind_are_pictures),
        cmocka_unit_test(an_extractor_with_damaged_weights_is_refused),
        cmocka_unit_test(other_tensors_are_listed_and_cannot_steer_the_terminal),
        cmocka_unit_test(damaged_and_missing_files_end_with_the_code_of_the_first),
        cmocka_unit_test(a_name_cannot_control_the_terminal),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
