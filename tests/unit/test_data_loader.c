// Batches made ahead are the loader's own, in the order of the plan; and the plan of a run shows
// every dialog to one process once an epoch.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "features/dialogs/dataset.h"
#include "features/dialogs/picture_cache.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/train/sampler.h"

static tiny_world tiny;
static vd_visdial *dialogs;
static vd_regions *regions;
static vd_vocab *vocab;
static vd_dataset *set;

static int set_up(void **state)
{
    (void)state;
    vd_error err;
    tiny_world_make(&tiny);
    return vd_visdial_open(tiny.train, &dialogs, &err) ||
           vd_regions_open(tiny.features, &regions, &err) ||
           vd_dataset_vocab(dialogs, 1, &vocab, &err) ||
           vd_dataset_new(dialogs, regions, vocab, &set, &err);
}

static int tear_down(void **state)
{
    (void)state;
    vd_dataset_free(set);
    vd_vocab_free(vocab);
    vd_regions_close(regions);
    vd_visdial_free(dialogs);
    tiny_world_remove(&tiny);
    return 0;
}

// ---- the loader ---------------------------------------------------------------------------------

// Batches of 1, 2, 3, 1, ... dialogs; batch `bad` has one that is not there.
typedef struct course {
    size_t batches, bad;
    size_t dialogs[3];
} course;

static size_t plan(void *context, size_t n, const size_t **out)
{
    course *c = context;
    if (n >= c->batches)
        return 0;
    for (size_t i = 0; i < 3; i++)
        c->dialogs[i] = n == c->bad ? 1000 : (n * 5 + i * 3) % TINY_PICTURES;
    *out = c->dialogs;
    return n % 3 + 1;
}

static void same_batch(const vd_batch *a, const vd_batch *b)
{
    size_t n = (size_t)a->dialogs * (size_t)a->rounds;
    assert_int_equal(a->dialogs, b->dialogs);
    assert_int_equal(a->distinct, b->distinct);
    assert_int_equal(a->history_width, b->history_width);
    assert_memory_equal(a->image, b->image,
                        (size_t)a->dialogs * (size_t)a->regions * TINY_REGION_SIZE * sizeof(float));
    assert_memory_equal(a->question, b->question,
                        n * (size_t)a->question_width * sizeof *a->question);
    assert_memory_equal(a->history, b->history, n * (size_t)a->history_width * sizeof *a->history);
    assert_memory_equal(a->option, b->option, n * (size_t)a->candidates * sizeof *a->option);
    assert_memory_equal(a->truth, b->truth, n * sizeof *a->truth);
    assert_memory_equal(a->candidate, b->candidate,
                        (size_t)a->distinct * (size_t)a->candidate_width * sizeof *a->candidate);
}

static void batches_are_the_loaders_in_the_order_of_the_plan(void **state)
{
    (void)state;
    enum { BATCHES = 40 };
    course given = {.batches = BATCHES, .bad = SIZE_MAX}, own = given;
    vd_data_loader *data_loader;
    vd_loader *loader;
    vd_error err;
    const vd_batch *batch, *expected;
    const size_t *list;
    assert_int_equal(vd_data_loader_new(set, plan, &given, NULL, &data_loader, &err), VD_OK);
    assert_int_equal(vd_loader_new(set, &loader, &err), VD_OK);
    for (size_t n = 0; n < BATCHES; n++) {
        size_t count = plan(&own, n, &list);
        assert_int_equal(vd_loader_batch(loader, list, count, NULL, &expected, &err), VD_OK);
        assert_int_equal(vd_data_loader_next(data_loader, &batch, &err), VD_OK);
        assert_non_null(batch);
        same_batch(expected, batch);
    }
    for (int i = 0; i < 3; i++) { // and then there are no more
        assert_int_equal(vd_data_loader_next(data_loader, &batch, &err), VD_OK);
        assert_null(batch);
    }
    vd_loader_free(loader);
    vd_data_loader_free(data_loader);
}

static void what_cannot_be_made_is_told_when_it_is_asked_for(void **state)
{
    (void)state;
    enum { BAD = 3 };
    course c = {.batches = 10, .bad = BAD};
    vd_data_loader *data_loader;
    vd_error err;
    const vd_batch *batch;
    assert_int_equal(vd_data_loader_new(set, plan, &c, NULL, &data_loader, &err), VD_OK);
    for (size_t n = 0; n < BAD; n++)
        assert_int_equal(vd_data_loader_next(data_loader, &batch, &err), VD_OK);
    for (int i = 0; i < 3; i++) {
        support_refused(vd_data_loader_next(data_loader, &batch, &err), VD_USAGE, &err,
                        "dialog 1000", NULL);
        assert_null(batch);
    }
    vd_data_loader_free(data_loader);
}

static void a_loader_ends_whenever_it_is_freed(void **state)
{
    (void)state;
    vd_error err;
    const vd_batch *batch;
    for (size_t taken = 0; taken < 30; taken++) {
        course c = {.batches = taken % 7, .bad = SIZE_MAX};
        vd_data_loader *data_loader;
        assert_int_equal(vd_data_loader_new(set, plan, &c, NULL, &data_loader, &err), VD_OK);
        for (size_t n = 0; n < taken % 5; n++)
            assert_int_equal(vd_data_loader_next(data_loader, &batch, &err), VD_OK);
        vd_data_loader_free(data_loader);
    }
    vd_data_loader_free(NULL);
}

static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    vd_error err;
    size_t failed = 0;
    for (size_t n = 1; n < 200; n++) {
        course c = {.batches = 4, .bad = SIZE_MAX};
        vd_data_loader *data_loader = NULL;
        const vd_batch *batch = NULL;
        vd_alloc_fail_at(n);
        vd_status status = vd_data_loader_new(set, plan, &c, NULL, &data_loader, &err);
        for (int i = 0; status == VD_OK && i < 5; i++)
            status = vd_data_loader_next(data_loader, &batch, &err);
        vd_data_loader_free(data_loader);
        size_t made = vd_alloc_fail_at(0);
        if (status == VD_OK) {
            assert_true(made < n);
            break;
        }
        assert_int_equal(status, VD_NO_MEMORY);
        failed++;
    }
    assert_in_range(failed, 10, 198);
}

// ---- sampler ------------------------------------------------------------------------------------

// How often each dialog is shown in `steps` steps from `from` on, by all of `size` processes.
static void show(int64_t from, int64_t steps, size_t piece, size_t size, int *shown, size_t n)
{
    memset(shown, 0, n * sizeof *shown);
    for (size_t rank = 0; rank < size; rank++) {
        vd_sampler l = {.seed = 3,
                        .dialogs = n,
                        .batch = 7,
                        .micro_batch = piece,
                        .rank = rank,
                        .size = size,
                        .step = from,
                        .end = from + steps};
        const size_t *list;
        size_t count, k = 0;
        vd_sampler_start(&l);
        while ((count = vd_sampler_micro_batch(&l, k, &list)) > 0) {
            assert_true(piece == 0 || count <= piece);
            for (size_t i = 0; i < count; i++)
                shown[list[i]]++;
            k++;
        }
        assert_int_equal(vd_sampler_micro_batch(&l, k, &list), 0);
        vd_sampler_clear(&l);
    }
}

static void an_epoch_shows_every_dialog_once_however_it_is_cut(void **state)
{
    (void)state;
    enum { N = 45 }; // 6 steps of 7, and one of 3
    int shown[N];
    for (size_t piece = 0; piece < 9; piece++)
        for (size_t size = 1; size < 5; size++) {
            show(7, 7, piece, size, shown, N);
            for (size_t i = 0; i < N; i++)
                assert_int_equal(shown[i], 1);
        }
}

static void the_pieces_of_a_step_are_its_dialogs_in_their_order(void **state)
{
    (void)state;
    enum { N = 45, FROM = 4, TO = 17 };
    vd_sampler steps = {.seed = 3, .dialogs = N, .batch = 7, .micro_batch = 2, .size = 1}, pieces;
    pieces = steps;
    pieces.step = FROM;
    pieces.end = TO;
    vd_sampler_start(&steps);
    vd_sampler_start(&pieces);
    size_t n = 0;
    for (int64_t step = FROM; step < TO; step++) {
        size_t count, done = 0;
        const size_t *all = vd_sampler_step(&steps, step, &count), *list;
        for (size_t i = vd_sampler_micro_batches(&steps, count); i > 0; i--) {
            size_t some = vd_sampler_micro_batch(&pieces, n++, &list);
            assert_memory_equal(all + done, list, some * sizeof *all);
            done += some;
        }
        assert_int_equal(done, count);
    }
    vd_sampler_clear(&steps);
    vd_sampler_clear(&pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_the_loaders_in_the_order_of_the_plan),
        cmocka_unit_test(what_cannot_be_made_is_told_when_it_is_asked_for),
        cmocka_unit_test(a_loader_ends_whenever_it_is_freed),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(an_epoch_shows_every_dialog_once_however_it_is_cut),
        cmocka_unit_test(the_pieces_of_a_step_are_its_dialogs_in_their_order),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
