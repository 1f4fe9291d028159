#include "tests/support/train_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/support.h"
#include "tui/train/event_file.h"

tiny_world tiny;

int train_run_world(void **state)
{
    (void)state;
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    return 0;
}

int train_run_end(void **state)
{
    (void)state;
    tiny_world_remove(&tiny);
    return 0;
}

enum { MOST = 60 };

// `visdial train` on the tiny world into tiny.directory/out, with more arguments.
void train_run_start(support_program *run, const char *out, size_t most_bytes,
                     const char *const *more)
{
    char *directory = support_join(tiny.directory, out);
    const char *arguments[MOST] = {
        "train",   "--quiet", "--data",   tiny.train, "--features",  tiny.features,
        "--out",   directory, "--embed",  "6",        "--hidden",    "4",
        "--batch", "3",       "--epochs", "2",        "--min-count", "1"};
    int count = 18;
    for (; *more && count < MOST - 1; more++)
        arguments[count++] = *more;
    arguments[count] = NULL;
    support_program_start(run, arguments, NULL, most_bytes);
    free(directory);
}

void train_run_expect(const char *out, int code, const char *words, const char *const *more)
{
    support_program run;
    train_run_start(&run, out, 0, more);
    support_program_wait(&run);
    support_program_expect(&run, code, words, NULL);
    support_program_clear(&run);
}

char *train_run_file(const char *out, const char *name)
{
    char inner[100];
    snprintf(inner, sizeof inner, "%s/%s", out, name);
    return support_join(tiny.directory, inner);
}

void train_run_remove(const char *out)
{
    char *directory = support_join(tiny.directory, out);
    support_remove_tree(directory);
    free(directory);
}

void train_run_same_file(const char *a, const char *b, const char *name)
{
    char *path_a = train_run_file(a, name), *path_b = train_run_file(b, name);
    size_t size_a, size_b;
    char *bytes_a = support_read_file(path_a, &size_a),
         *bytes_b = support_read_file(path_b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(bytes_a, bytes_b, size_a);
    free(bytes_a);
    free(bytes_b);
    free(path_a);
    free(path_b);
}

static void add_scalar(void *context, int64_t step, const char *tag, double value)
{
    fprintf(context, "%s %ld %a\n", tag, (long)step, value);
}

// All scalars of a run's event file as text, free().
char *train_run_scalars(const char *out)
{
    char *run = support_join(tiny.directory, out), *path, *text = NULL;
    size_t size, offset = 0;
    vd_error err;
    FILE *memory = open_memstream(&text, &size);
    assert_int_equal(vd_events_find(run, &path, &err), VD_OK);
    assert_int_equal(vd_events_read(path, &offset, add_scalar, memory, &err), VD_OK);
    fclose(memory);
    vd_free(path);
    free(run);
    return text;
}

// Not all have a best epoch.
static bool has_file(const char *out, const char *name)
{
    char *path = train_run_file(out, name);
    bool has = support_exists(path);
    free(path);
    return has;
}

void train_run_same(const char *a, const char *b)
{
    static const char *const files[] = {"model.safetensors", "checkpoint.safetensors",
                                        "best.safetensors", "log.tsv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (has_file(a, files[i]) || has_file(b, files[i]))
            train_run_same_file(a, b, files[i]);
    char *x = train_run_scalars(a), *y = train_run_scalars(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}
