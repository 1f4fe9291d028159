// Every file that the program reads, damaged at random (tests/support/damage.h): it is read, or
// refused with a text that names it; then all of what was read can be used. What else could go
// wrong is for the sanitizers to see.
#include "tests/support/damage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/file_formats.h"
#include "tests/support/must.h"
#include "tests/support/support.h"

static const char *directory;

static void expect_proper_refusal(const file_format *f, int round, vd_status status,
                                  const vd_error *err)
{
    const char *name = strrchr(f->file, '/') ? strrchr(f->file, '/') + 1 : f->file;
    if (strstr(f->file, ".pkl") && strstr(err->text, " is there twice, in rows "))
        return; // which is found where the features are
    if ((status != VD_FORMAT && status != VD_MISMATCH) || err->status != status ||
        !(strstr(err->text, name) || strstr(err->text, "image 42, "))) // one file an image
        fail_msg("%s, damage %d: status %d, '%s'", f->file, round, status, err->text);
}

static void damage(const file_format *f)
{
    char *path = support_join(directory, f->file);
    f->write(path);
    vd_error err = {0};
    must(f->read(path, &err), &err);
    size_t size, changed;
    char *bytes = support_read_file(path, &size);
    vd_rng rng = vd_rng_seed(size, 12);
    int refused = 0, rounds = damage_rounds(f->rounds);
    for (int round = 0; round < rounds; round++) {
        char *other = damage_bytes(bytes, size, &rng, &changed);
        support_write_file(path, other, changed);
        err = (vd_error){0};
        vd_status status = f->read(path, &err);
        if (status) {
            refused++;
            expect_proper_refusal(f, round, status, &err);
        }
        free(other);
    }
    if (f->lenient ? refused : refused < rounds / 10)
        fail_msg("%s: %d of %d damaged files were refused", f->file, refused, rounds);
    print_message("%s: %d of %d refused\n", f->file, refused, rounds);
    remove(path);
    free(bytes);
    free(path);
}

static void damaged_files_are_read_or_refused_by_name(void **state)
{
    (void)state;
    const char *only = getenv("VISDIAL_DAMAGE_FILE");
    for (const file_format *f = file_formats; f->file; f++)
        if (!only || strstr(f->file, only))
            damage(f);
}

static int make(void **state)
{
    (void)state;
    directory = file_formats_begin();
    return 0;
}

static int clean(void **state)
{
    (void)state;
    file_formats_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_are_read_or_refused_by_name),
    };
    return cmocka_run_group_tests(tests, make, clean);
}
