// Event files and curves: records and checksums byte by byte, what is cut, what is refused, and
// TensorBoard's own reader where a Python with the package `tensorboard` is there
// ($VISDIAL_PYTHON, else python3).
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/must.h"
#include "tests/support/one_directory.h"
#include "tui/train/curves.h"
#include "tui/train/event_file.h"

// Steps 1 to `steps` of two scalars.
static void add_steps(vd_events *events, int64_t first, int64_t last)
{
    vd_error err;
    for (int64_t step = first; step <= last; step++) {
        const vd_scalar scalars[] = {{"train/loss", 1.0 / (double)step}, {"val/mrr", 0.25}};
        must(vd_events_add(events, step, scalars, 2, &err), &err);
    }
}

static char *written(const char *name, int64_t steps)
{
    char *inside = support_join(directory, name), command[600], *path;
    vd_events *events;
    vd_error err;
    snprintf(command, sizeof command, "mkdir '%s'", inside);
    assert_int_equal(system(command), 0);
    must(vd_events_open(inside, 0, &events, &err), &err);
    add_steps(events, 1, steps);
    assert_int_equal(vd_events_count(events), steps + 1);
    vd_events_close(events);
    must(vd_events_find(inside, &path, &err), &err);
    free(inside);
    return path;
}

static uint64_t fixed(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static void checksum_is_crc32c(void **state)
{
    (void)state;
    // RFC 3720, B.4.
    unsigned char bytes[32];
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(vd_crc32c(bytes, sizeof bytes), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(vd_crc32c(bytes, sizeof bytes), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)i;
    assert_int_equal(vd_crc32c(bytes, sizeof bytes), 0x46dd794e);
    assert_int_equal(vd_crc32c("123456789", 9), 0xe3069283);
}

static void records_are_framed_as_tensorflow_does(void **state)
{
    (void)state;
    size_t size;
    char *path = written("frame", 1), *text = support_read_file(path, &size);
    const unsigned char *at = (const unsigned char *)text;
    // The first: wall time, version.
    assert_int_equal(fixed(at, 8), 9 + 2 + 13);
    uint32_t crc = vd_crc32c(at, 8);
    assert_int_equal(fixed(at + 8, 4), (uint32_t)((crc >> 15 | crc << 17) + 0xa282ead8u));
    assert_int_equal(at[12], 0x09); // field 1, 64 bits
    assert_memory_equal(at + 21,
                        "\x1a\x0d"
                        "brain.Event:2",
                        15);
    crc = vd_crc32c(at + 12, 24);
    assert_int_equal(fixed(at + 36, 4), (uint32_t)((crc >> 15 | crc << 17) + 0xa282ead8u));
    // The second: wall time, step 1, a summary of two values.
    at += 40;
    assert_int_equal(at[12], 0x09);
    assert_memory_equal(at + 21, "\x10\x01\x2a", 3);
    assert_memory_equal(at + 25, "\x0a\x11\x0a\x0atrain/loss\x15\x00\x00\x80\x3f", 19);
    assert_memory_equal(at + 44, "\x0a\x0e\x0a\x07val/mrr\x15\x00\x00\x80\x3e", 16);
    assert_int_equal(size, 40 + 12 + fixed(at, 8) + 4);
    assert_int_equal(fixed(at, 8), 12 + 35 + 1);
    free(text);
    vd_free(path);
}

typedef struct seen {
    int count;
    int64_t last;
    double sum;
} seen;

static void look(void *context, int64_t step, const char *tag, double value)
{
    seen *s = context;
    assert_true(strcmp(tag, "train/loss") == 0 || strcmp(tag, "val/mrr") == 0);
    s->count++;
    s->last = step;
    s->sum += value;
}

static void scalars_come_back_and_a_torn_end_waits(void **state)
{
    (void)state;
    size_t size, offset = 0;
    vd_error err;
    char *path = written("torn", 4), *text = support_read_file(path, &size);
    seen all = {0};
    must(vd_events_read(path, &offset, look, &all, &err), &err);
    assert_int_equal(all.count, 8);
    assert_int_equal(all.last, 4);
    assert_true(all.sum > 1 + 0.5 + 1 / 3.0 + 0.25 + 1 - 1e-6 && all.sum < 3.0834);
    assert_int_equal(offset, size);
    // Grows by a byte at a time: nothing is refused, nothing is read twice.
    seen part = {0};
    offset = 0;
    for (size_t length = 0; length <= size; length++) {
        support_write_file(path, text, length);
        must(vd_events_read(path, &offset, look, &part, &err), &err);
    }
    assert_int_equal(part.count, 8);
    assert_true(part.sum == all.sum);
    free(text);
    vd_free(path);
}

static void every_changed_byte_is_noticed(void **state)
{
    (void)state;
    size_t size;
    vd_error err;
    char *path = written("changed", 2), *text = support_read_file(path, &size);
    for (size_t i = 0; i < size; i++) {
        size_t offset = 0;
        text[i] ^= 0x10;
        support_write_file(path, text, size);
        support_refused(vd_events_read(path, &offset, NULL, NULL, &err), VD_FORMAT, &err, path,
                        "the record at byte", "checksum", NULL);
        text[i] ^= 0x10;
    }
    free(text);
    vd_free(path);
}

static void going_on_cuts_what_does_not_count(void **state)
{
    (void)state;
    size_t size, offset = 0;
    vd_error err;
    vd_events *events;
    char *path = written("cut", 5), *text = support_read_file(path, &size);
    char *inside = support_join(directory, "cut");
    support_write_file(path, text, size - 3); // and its end is torn
    must(vd_events_open(inside, 4, &events, &err), &err);
    assert_int_equal(vd_events_count(events), 4);
    add_steps(events, 4, 5);
    vd_events_close(events);
    seen all = {0};
    must(vd_events_read(path, &offset, look, &all, &err), &err);
    assert_int_equal(all.count, 10);
    assert_true(all.sum > 2.2833333 + 1.25 - 1e-5 && all.sum < 2.2833334 + 1.25 + 1e-5);
    // From nothing: the first record too.
    must(vd_events_open(inside, 0, &events, &err), &err);
    assert_int_equal(vd_events_count(events), 1);
    vd_events_close(events);
    assert_int_equal(support_count_entries(inside), 1);
    free(text);
    free(inside);
    vd_free(path);
}

static void going_on_cuts_what_is_damaged(void **state)
{
    (void)state;
    size_t size, whole = 0, offset = 0;
    vd_error err;
    vd_events *events;
    char *path = written("hurt", 5), *text = support_read_file(path, &size);
    char *inside = support_join(directory, "hurt");
    text[size / 2] ^= 0x10; // of the third step
    support_write_file(path, text, size);
    support_refused(vd_events_read(path, &whole, NULL, NULL, &err), VD_FORMAT, &err, NULL);
    must(vd_events_open(inside, 6, &events, &err), &err);
    int64_t kept = vd_events_count(events);
    assert_true(kept > 1 && kept < 6);
    assert_non_null(strstr(vd_events_damage(events), "the record at byte"));
    add_steps(events, 6, 6);
    vd_events_close(events);
    seen all = {0};
    must(vd_events_read(path, &offset, look, &all, &err), &err);
    assert_int_equal(all.count, 2 * kept); // without the first record, with the new one
    assert_int_equal(all.last, 6);
    must(vd_events_open(inside, kept, &events, &err), &err);
    assert_null(vd_events_damage(events));
    vd_events_close(events);
    free(text);
    free(inside);
    vd_free(path);
}

// A disk that is full for a while takes the records of that while, no others.
static void records_go_on_after_a_full_disk(void **state)
{
    (void)state;
    struct rlimit old, limit;
    vd_error err = {0};
    vd_events *events;
    char *path;
    size_t offset = 0;
    char *inside = support_join(directory, "full");
    assert_int_equal(mkdir(inside, 0777), 0);
    must(vd_events_open(inside, 0, &events, &err), &err);
    add_steps(events, 1, 3);
    must(vd_events_find(inside, &path, &err), &err);
    free(inside);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = (rlim_t)about.st_size + 10; // a part of the next one
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const vd_scalar lost = {"train/loss", 1};
    vd_status status = vd_events_add(events, 4, &lost, 1, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    support_refused(status, VD_IO, &err, path, NULL);
    assert_int_equal(vd_events_count(events), 4);
    FILE *torn = fopen(path, "a"); // and what could not be cut off is, before the next one
    assert_true(fputs("torn", torn) >= 0 && fclose(torn) == 0);
    add_steps(events, 5, 6);
    vd_events_close(events);
    seen all = {0};
    must(vd_events_read(path, &offset, look, &all, &err), &err);
    assert_int_equal(all.count, 2 * 5); // all but step 4
    assert_int_equal(all.last, 6);
    vd_free(path);
}

static void missing_files_are_named(void **state)
{
    (void)state;
    vd_error err;
    char *path, *nowhere = support_join(directory, "nowhere");
    support_refused(vd_events_find(nowhere, &path, &err), VD_NOT_FOUND, &err, nowhere, NULL);
    support_refused(vd_events_find(directory, &path, &err), VD_NOT_FOUND, &err, "visdial train",
                    NULL);
    support_refused(vd_events_find("README.md", &path, &err), VD_FORMAT, &err,
                    "README.md: is a file", "visdial train", NULL);
    free(nowhere);
}

static vd_status open_and_add(void *context, vd_error *err)
{
    vd_events *events;
    vd_curves *curves;
    char *inside = support_join(directory, "memory");
    const char *const directories[] = {inside};
    (void)context;
    vd_status status = vd_events_open(inside, 3, &events, err);
    if (status == VD_OK)
        vd_events_close(events);
    if (status == VD_OK)
        status = vd_curves_new(directories, 1, NULL, &curves, err);
    if (status == VD_OK) {
        status = vd_curves_refresh(curves, err);
        vd_curves_free(curves);
    }
    free(inside);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    vd_free(written("memory", 5));
    assert_true(support_fail_each_allocation(open_and_add, NULL) >= 4);
}

// ---- curves -------------------------------------------------------------------------------------

static void curves_are_drawn_from_low_to_high(void **state)
{
    (void)state;
    const char *const runs[] = {"one", "two"};
    vd_curves *curves;
    vd_error err;
    vd_grid grid = {0};
    must(vd_curves_new(runs, 2, "loss", &curves, &err), &err);
    for (int i = 0; i <= 20; i++) {
        vd_curves_add(curves, 0, i, "train/loss", i);
        vd_curves_add(curves, 1, i, "train/loss", 20 - i);
        vd_curves_add(curves, 0, i, "val/mrr", 7); // not asked for
    }
    vd_curves_add(curves, 0, 21, "train/loss", 0.0 / 0.0); // and what is no number
    assert_int_equal(vd_curves_tags(curves), 1);
    vd_grid_resize(&grid, 40, 8);
    vd_curves_draw(curves, &grid, (vd_rect){0, 0, 40, 8});
    char *text = vd_grid_to_text(&grid);
    // Without colours each run is drawn with its number.
    assert_string_equal(text, "1 one  2 two\n"
                              "train/loss                    1 20  2 0\n"
                              "      20 222222                   111111\n"
                              "               222222       1111111\n"
                              "                     11111111\n"
                              "               111111       2222222\n"
                              "       0 111111                   222222\n"
                              "         0                       step 20\n");
    vd_free(text);
    vd_grid_free(&grid);
    vd_curves_free(curves);
}

static void one_value_and_none_are_drawn_too(void **state)
{
    (void)state;
    const char *const runs[] = {"one"};
    vd_curves *curves;
    vd_error err;
    vd_grid grid = {.look = {.ascii = true}};
    must(vd_curves_new(runs, 1, NULL, &curves, &err), &err);
    vd_grid_resize(&grid, 30, 6);
    vd_curves_draw(curves, &grid, (vd_rect){0, 0, 30, 6});
    char *text = vd_grid_to_text(&grid);
    assert_non_null(strstr(text, "no scalars yet"));
    vd_free(text);
    vd_curves_add(curves, 0, 5, "x", 3);
    vd_grid_clear(&grid);
    vd_curves_draw(curves, &grid, (vd_rect){0, 0, 30, 6});
    text = vd_grid_to_text(&grid);
    assert_non_null(strchr(text, '*'));
    vd_free(text);
    vd_curves_add(curves, 0, 5, "y", 0.00092081);
    vd_grid_clear(&grid);
    vd_curves_draw(curves, &grid, (vd_rect){0, 0, 30, 6});
    text = vd_grid_to_text(&grid);
    assert_non_null(strstr(text, "1 more: enlarge the window"));
    vd_free(text);
    vd_grid_free(&grid);
    vd_curves_free(curves);
}

// ---- TensorBoard --------------------------------------------------------------------------------

static const char *python(void)
{
    const char *given = getenv("VISDIAL_PYTHON");
    return given ? given : "python3";
}

static void tensorboard_reads_them(void **state)
{
    (void)state;
    char command[1200], line[200] = "";
    snprintf(command, sizeof command, "%s -c 'import tensorboard' 2>/dev/null", python());
    if (system(command) != 0) {
        support_skip("a Python with tensorboard (VISDIAL_PYTHON)");
    }
    char *path = written("board", 3);
    snprintf(command, sizeof command,
             "%s -c \"from tensorboard.backend.event_processing.event_accumulator import "
             "EventAccumulator as A; a = A('%s/board'); a.Reload(); "
             "print(sorted(a.Tags()['scalars']), [(s.step, round(s.value, 6)) for s in "
             "a.Scalars('train/loss')], a.file_version)\" 2>/dev/null",
             python(), directory);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    assert_string_equal(line,
                        "['train/loss', 'val/mrr'] [(1, 1.0), (2, 0.5), (3, 0.333333)] 2.0\n");
    vd_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum_is_crc32c),
        cmocka_unit_test(records_are_framed_as_tensorflow_does),
        cmocka_unit_test(scalars_come_back_and_a_torn_end_waits),
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(going_on_cuts_what_does_not_count),
        cmocka_unit_test(going_on_cuts_what_is_damaged),
        cmocka_unit_test(records_go_on_after_a_full_disk),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(curves_are_drawn_from_low_to_high),
        cmocka_unit_test(one_value_and_none_are_drawn_too),
        cmocka_unit_test(tensorboard_reads_them),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
