// Work done by a few threads.
#include "engine/base/parallel.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/backend/backend.h"
#include "engine/base/threads.h"
#include "tests/support/support.h"

typedef struct tally {
    atomic_int done[1000], worker[VD_THREADS];
    size_t bad;
    size_t reported;
} tally;

static vd_status count_one(void *context, int worker, size_t index, vd_error *err)
{
    tally *t = context;
    if (index == t->bad)
        return vd_error_set(err, VD_FORMAT, "piece %zu is bad", index);
    atomic_fetch_add(&t->done[index], 1);
    atomic_fetch_add(&t->worker[worker], 1);
    return VD_OK;
}

static void note_report(void *user, size_t done)
{
    tally *t = user;
    t->reported = done;
}

static void every_piece_is_done_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        tally t = {.bad = SIZE_MAX};
        assert_int_equal(vd_parallel(1000, threads, count_one, &t, note_report, &t, NULL, NULL),
                         VD_OK);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(atomic_load(&t.done[i]), 1);
        for (int w = threads; w < VD_THREADS; w++)
            assert_int_equal(atomic_load(&t.worker[w]), 0);
        assert_int_equal(t.reported, 1000);
    }
    tally t = {.bad = SIZE_MAX};
    assert_int_equal(vd_parallel(0, 2, count_one, &t, NULL, NULL, NULL, NULL), VD_OK);
}

// ---- the processor's threads --------------------------------------------------------------------

typedef struct sharing {
    pthread_t own;
    atomic_int shared; // pieces that another thread did
} sharing;

static void slow_piece(void *data, int index)
{
    sharing *s = data;
    (void)index;
    usleep(500);
    if (!pthread_equal(s->own, pthread_self()))
        atomic_fetch_add(&s->shared, 1);
}

// Pieces of each item that others did.
static vd_status share_pieces(void *context, int worker, size_t index, vd_error *err)
{
    int *shared = context;
    sharing s = {.own = pthread_self()};
    (void)worker;
    (void)err;
    vd_threads_run(20, slow_piece, &s);
    shared[index] = atomic_load(&s.shared);
    return VD_OK;
}

// As many items as threads: each does its pieces alone. One that is left over shares them, and so
// does the caller afterwards.
static void products_are_shared_only_where_processors_are_free(void **state)
{
    int shared[5] = {0};
    (void)state;
    vd_threads_use(2);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(vd_parallel(4, 2, share_pieces, shared, NULL, NULL, NULL, NULL), VD_OK);
        for (int k = 0; k < 4; k++)
            assert_int_equal(shared[k], 0);
    }
    for (int i = 0; i < 100 && shared[4] == 0; i++)
        assert_int_equal(vd_parallel(5, 2, share_pieces, shared, NULL, NULL, NULL, NULL), VD_OK);
    assert_true(shared[4] > 0);
    shared[0] = 0;
    for (int i = 0; i < 100 && shared[0] == 0; i++)
        assert_int_equal(share_pieces(shared, 0, 0, NULL), VD_OK);
    assert_true(shared[0] > 0);
    vd_threads_use(0);
}

static void the_first_failure_comes_back(void **state)
{
    (void)state;
    tally t = {.bad = 500};
    vd_error err = {0};
    support_refused(vd_parallel(1000, 3, count_one, &t, NULL, NULL, NULL, &err), VD_FORMAT, &err,
                    "piece 500", NULL);
}

static void a_stop_is_an_interruption(void **state)
{
    (void)state;
    tally t = {.bad = SIZE_MAX};
    atomic_int stop = 1;
    vd_error err = {0};
    support_refused(vd_parallel(1000, 2, count_one, &t, NULL, NULL, &stop, &err), VD_INTERRUPTED,
                    &err, "0 of 1000", NULL);
}

static void there_is_a_processor(void **state)
{
    (void)state;
    int threads = vd_parallel_threads();
    assert_true(threads >= 1 && threads <= VD_THREADS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_is_done_once),
        cmocka_unit_test(products_are_shared_only_where_processors_are_free),
        cmocka_unit_test(the_first_failure_comes_back),
        cmocka_unit_test(a_stop_is_an_interruption),
        cmocka_unit_test(there_is_a_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
