// Several threads read region features through one reader: each gets what one thread alone gets, in
// every format. `make tsan` runs this under ThreadSanitizer.
#include "features/regions/regions.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "features/regions/import.h"
#include "tests/support/public_files.h"
#include "tests/support/support.h"

enum { THREADS = 4, ROUNDS = 400, OPENED = 4 };

static char *directory, *path, *index_path, *folder, *own_path;

static int set_up(void **state)
{
    (void)state;
    directory = support_temp_dir();
    path = support_join(directory, "val_btmup_f.hdf5");
    index_path = support_join(directory, "val_imgid2idx.pkl");
    folder = support_join(directory, "folder");
    own_path = support_join(directory, "own.safetensors");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    free(path);
    free(index_path);
    free(folder);
    free(own_path);
    return 0;
}

static const char *write_layout(int layout)
{
    bool in_folder = layout == PUBLIC_NPZ || layout == PUBLIC_NPY;
    public_layout(layout, in_folder ? folder : path, index_path);
    return in_folder ? folder : path;
}

typedef struct numbers {
    float features[PUBLIC_REGIONS * PUBLIC_SIZE], boxes[PUBLIC_REGIONS * 4];
} numbers;

typedef struct reader {
    pthread_t thread;
    pthread_barrier_t *start;
    const vd_regions *regions;
    const char *path; // the file is opened anew; NULL: regions are read
    const numbers *expected;
    size_t first; // the row to begin with
    size_t wrong, refused;
    vd_error err; // of the first refusal
} reader;

static bool same_floats(const float *a, const float *b, size_t count)
{
    size_t same = 0;
    while (same < count && a[same] == b[same])
        same++;
    return same == count;
}

static bool same_numbers(const numbers *a, const numbers *b)
{
    return same_floats(a->features, b->features, PUBLIC_REGIONS * PUBLIC_SIZE) &&
           same_floats(a->boxes, b->boxes, PUBLIC_REGIONS * 4);
}

static void read_one(reader *r, const vd_regions *regions, size_t row)
{
    numbers got;
    vd_error err = {0};
    memset(&got, 1, sizeof got);
    if (vd_regions_read(regions, row, got.features, got.boxes, &err) == VD_OK)
        r->wrong += !same_numbers(&got, &r->expected[row]);
    else if (r->refused++ == 0)
        r->err = err;
}

static void *read_rows(void *context)
{
    reader *r = context;
    pthread_barrier_wait(r->start);
    for (size_t i = 0; i < ROUNDS; i++)
        read_one(r, r->regions, (r->first + i) % PUBLIC_IMAGES);
    return NULL;
}

static void *open_and_read(void *context)
{
    reader *r = context;
    pthread_barrier_wait(r->start);
    for (size_t i = 0; i < OPENED; i++) {
        vd_regions *regions = NULL;
        if (vd_regions_open(r->path, &regions, &r->err) != VD_OK)
            r->refused++;
        for (size_t row = 0; regions && row < PUBLIC_IMAGES; row++)
            read_one(r, regions, row);
        vd_regions_close(regions);
    }
    return NULL;
}

static void read_alone(const vd_regions *regions, numbers *expected)
{
    vd_error err = {0};
    for (size_t row = 0; row < PUBLIC_IMAGES; row++)
        if (vd_regions_read(regions, row, expected[row].features, expected[row].boxes, &err))
            fail_msg("%s", err.text);
}

// from: what is opened anew by each thread; NULL: they share `regions`.
static void expect_the_same(const vd_regions *regions, const char *from, void *(*work)(void *))
{
    reader readers[THREADS];
    numbers expected[PUBLIC_IMAGES];
    pthread_barrier_t start;
    read_alone(regions, expected);
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (size_t t = 0; t < THREADS; t++) {
        readers[t] = (reader){
            .start = &start, .regions = regions, .path = from, .expected = expected, .first = t};
        assert_int_equal(pthread_create(&readers[t].thread, NULL, work, &readers[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(readers[t].thread, NULL);
    pthread_barrier_destroy(&start);
    for (size_t t = 0; t < THREADS; t++)
        if (readers[t].wrong || readers[t].refused)
            fail_msg("%s: thread %zu: %zu pictures wrong, %zu refused: %s", regions->kind, t,
                     readers[t].wrong, readers[t].refused, readers[t].err.text);
}

static void expect_of_file(const char *from)
{
    vd_regions *regions;
    vd_error err = {0};
    if (vd_regions_open(from, &regions, &err))
        fail_msg("%s", err.text);
    expect_the_same(regions, NULL, read_rows);
    vd_regions_once(regions);
    expect_the_same(regions, NULL, read_rows);
    expect_the_same(regions, from, open_and_read);
    vd_regions_close(regions);
}

// First of all, so that the libraries are opened by several threads, too.
static void the_first_files_are_opened_by_four_threads(void **state)
{
    (void)state;
    static const int layouts[] = {PUBLIC_CHALLENGE_COMPRESSED, PUBLIC_NPZ};
    for (size_t i = 0; i < 2; i++) {
        pthread_t threads[THREADS];
        pthread_barrier_t start;
        numbers none[PUBLIC_IMAGES] = {0};
        reader readers[THREADS];
        const char *from = write_layout(layouts[i]);
        assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
        for (size_t t = 0; t < THREADS; t++) {
            readers[t] = (reader){.start = &start, .path = from, .expected = none};
            assert_int_equal(pthread_create(&threads[t], NULL, open_and_read, &readers[t]), 0);
        }
        for (size_t t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
            if (readers[t].refused)
                fail_msg("%s", readers[t].err.text);
        }
        pthread_barrier_destroy(&start);
    }
}

static void four_threads_read_what_one_does(void **state)
{
    (void)state;
    for (int layout = 0; layout < PUBLIC_LAYOUTS; layout++)
        expect_of_file(write_layout(layout));
}

static void four_threads_read_our_own_format(void **state)
{
    (void)state;
    vd_regions *from;
    vd_error err = {0};
    for (int full = 0; full < 2; full++) {
        if (vd_regions_open(write_layout(PUBLIC_ADAPTIVE), &from, &err))
            fail_msg("%s", err.text);
        vd_import import = {.from = from, .source = "test", .out = own_path, .full = full};
        if (vd_import_run(&import, &err))
            fail_msg("%s", err.text);
        vd_regions_close(from);
        expect_of_file(own_path);
    }
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
    (void)signal;
    alarms++;
}

// The handlers of the program are such: a call that waits ends with EINTR.
static void a_signal_while_hdf5_is_read_changes_nothing(void **state)
{
    (void)state;
    vd_regions *regions;
    vd_error err = {0};
    numbers expected[PUBLIC_IMAGES];
    reader alone = {.expected = expected};
    if (vd_regions_open(write_layout(PUBLIC_CHALLENGE_COMPRESSED), &regions, &err))
        fail_msg("%s", err.text);
    read_alone(regions, expected);
    struct sigaction before, counted = {.sa_handler = count_alarm};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &counted, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    for (size_t i = 0; i < ROUNDS; i++)
        read_one(&alone, regions, i % PUBLIC_IMAGES);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    vd_regions_close(regions);
    assert_true(alarms > 0);
    assert_int_equal(alone.wrong, 0);
    assert_int_equal(alone.refused, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_files_are_opened_by_four_threads),
        cmocka_unit_test(four_threads_read_what_one_does),
        cmocka_unit_test(a_signal_while_hdf5_is_read_changes_nothing),
        cmocka_unit_test(four_threads_read_our_own_format),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
