// Training with pictures that are kept on a device, sent a step ahead, or read for every step is
// the same run to the bit; and memory that a device turns out not to have ends no run.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "features/dialogs/picture_cache.h"
#include "tests/support/backend.h"
#include "tests/support/must.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/train/training.h"

enum { P = TINY_REGIONS, D = TINY_REGION_SIZE, N = TINY_PICTURES };

static tiny_world tiny;
static char *halves, *floats, *out; // the same features; a directory for runs
static vd_visdial *dialogs;
static vd_vocab *vocab;

// ---- features -----------------------------------------------------------------------------------

static int used_of(size_t row)
{
    return 1 + (int)row % P;
}

static uint16_t half_of(size_t row, size_t i)
{
    bool blank = row == 5 && i < D; // a region of zeros, one of them negative
    return blank ? (uint16_t)(i == 2 ? 0x8000 : 0)
                 : vd_half_from_float((float)((row * 37 + i * 11) % 29) / 7 - 1.5f);
}

static void write_features(const char *path, vd_dtype type, uint16_t odd)
{
    uint16_t half[N * P * D] = {0};
    float wide[N * P * D];
    int64_t id[N];
    int32_t used[N];
    vd_error err;
    vd_safetensors_writer *writer;
    for (size_t r = 0; r < N; r++) {
        id[r] = (int64_t)r + 1;
        used[r] = used_of(r);
        for (size_t i = 0; i < P * D; i++) // behind the regions used lies what nobody may read
            half[r * P * D + i] = i < (size_t)used[r] * D ? half_of(r, i) : 0x3c00;
    }
    if (odd)
        half[7 * P * D + 3] = odd;
    vd_floats_from_halves(half, N * P * D, wide);
    const size_t n = N, shape[] = {N, P, D};
    must(vd_safetensors_create(path, &writer, &err), &err);
    must(vd_safetensors_declare(writer, "image_id", VD_I64, 1, &n, &err), &err);
    must(vd_safetensors_declare(writer, "num_regions", VD_I32, 1, &n, &err), &err);
    must(vd_safetensors_declare(writer, "features", type, 3, shape, &err), &err);
    must(vd_safetensors_append(writer, id, N, &err), &err);
    must(vd_safetensors_append(writer, used, N, &err), &err);
    must(vd_safetensors_append(writer, type == VD_F16 ? (void *)half : wide, N * P * D, &err),
         &err);
    must(vd_safetensors_commit(writer, &err), &err);
}

static int set_up(void **state)
{
    (void)state;
    vd_error err;
    tiny_world_make(&tiny);
    halves = support_join(tiny.directory, "halves.safetensors");
    floats = support_join(tiny.directory, "floats.safetensors");
    out = support_join(tiny.directory, "out");
    write_features(halves, VD_F16, 0);
    write_features(floats, VD_F32, 0);
    must(vd_visdial_open(tiny.train, &dialogs, &err), &err);
    must(vd_dataset_vocab(dialogs, 1, &vocab, &err), &err);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vd_vocab_free(vocab);
    vd_visdial_free(dialogs);
    free(halves);
    free(floats);
    free(out);
    tiny_world_remove(&tiny);
    return 0;
}

// ---- a device whose memory a test can say -------------------------------------------------------

static vd_memory memory;
static vd_backend device;
static size_t room_left, allocations, fail_at; // fail_at: from this allocation on, 0 = never

static size_t tell_room(void)
{
    return room_left;
}

static void *allocate_or_fail(size_t bytes)
{
    allocations++;
    return fail_at && allocations == fail_at ? NULL : support_backend()->memory->allocate(bytes);
}

static void open_device(size_t room)
{
    device = *support_backend();
    memory = *device.memory;
    memory.host = false;
    memory.room = tell_room;
    memory.allocate = allocate_or_fail;
    device.memory = &memory;
    room_left = room;
    allocations = fail_at = 0;
}

// ---- runs ---------------------------------------------------------------------------------------

// Trains two epochs on the device; what the last checkpoint holds, *size bytes. *stayed: the device
// and not the CPU did it to the end.
static char *train(const char *features, size_t fail, size_t *size, bool *stayed)
{
    vd_regions *regions;
    vd_dataset *set;
    vd_trainer *trainer;
    vd_error err;
    vd_training run = {
        .settings = vd_train_defaults(), .directory = out, .quiet = true, .silent = true};
    run.settings.batch = 5;
    run.settings.micro_batch = 2;
    run.settings.epochs = 2;
    vd_config config = {.vocab = vd_vocab_size(vocab),
                        .embed = 6,
                        .hidden = 8,
                        .region = D,
                        .gate = VD_GATE_LEAKY_RELU,
                        .positions = VD_POSITIONS_SINUSOIDAL};
    must(vd_regions_open(features, &regions, &err), &err);
    must(vd_dataset_new(dialogs, regions, vocab, &set, &err), &err);
    must(vd_trainer_new(&config, vocab, &run.settings, &trainer, &err), &err);
    must(vd_trainer_use(trainer, &device, &err), &err);
    support_remove_tree(out);
    assert_int_equal(mkdir(out, 0777), 0);
    run.trainer = trainer;
    run.data = (vd_run_data){.dialogs = dialogs, .dataset = set};
    allocations = 0;
    fail_at = fail;
    must(vd_training_run(&run, &err), &err);
    *stayed = vd_trainer_backend(trainer) == &device;
    char *path = support_join(out, "checkpoint.safetensors");
    char *bytes = support_read_file(path, size);
    free(path);
    vd_trainer_free(trainer);
    vd_dataset_free(set);
    vd_regions_close(regions);
    return bytes;
}

static void pictures_kept_sent_or_read_are_the_same_run(void **state)
{
    (void)state;
    // All need 240 bytes, two batches of two 120; of what is free a quarter is left.
    static const size_t rooms[] = {(size_t)1 << 40, 318, 158};
    size_t size, expected_size;
    bool stayed;
    open_device((size_t)1 << 40);
    char *expected = train(floats, 0, &expected_size, &stayed);
    assert_true(stayed);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        open_device(rooms[i]);
        char *found = train(halves, 0, &size, &stayed);
        assert_true(stayed);
        assert_int_equal(size, expected_size);
        assert_memory_equal(found, expected, size);
        free(found);
    }
    free(expected);
}

static void what_is_kept_follows_from_what_is_free(void **state)
{
    (void)state;
    static const struct {
        size_t room;
        vd_pictures_kept most, kept;
        const char *words;
    } cases[] = {
        {(size_t)1 << 40, VD_PICTURES_RESIDENT, VD_PICTURES_RESIDENT, "8 stay on the device"},
        {320, VD_PICTURES_RESIDENT, VD_PICTURES_RESIDENT, "stay"},
        {318, VD_PICTURES_RESIDENT, VD_PICTURES_STREAMED, "a step ahead; all 8 are"},
        {160, VD_PICTURES_RESIDENT, VD_PICTURES_STREAMED, "a step ahead"},
        {158, VD_PICTURES_RESIDENT, VD_PICTURES_READ, "read from the file"},
        {320, VD_PICTURES_STREAMED, VD_PICTURES_STREAMED, "a step ahead"},
        {320, VD_PICTURES_READ, VD_PICTURES_READ, "read from the file"},
    };
    vd_regions *regions;
    vd_error err;
    char text[160];
    must(vd_regions_open(halves, &regions, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vd_picture_cache *cache;
        open_device(cases[i].room);
        must(vd_picture_cache_new(regions, &device, 2, 2, cases[i].most, &cache, &err), &err);
        assert_int_equal(vd_picture_cache_describe(cache, text, sizeof text), cases[i].kept);
        assert_non_null(strstr(text, cases[i].words));
        vd_picture_cache_free(cache);
    }
    vd_picture_cache *cache;
    must(vd_picture_cache_new(regions, vd_backend_cpu(), 2, 2, VD_PICTURES_RESIDENT, &cache, &err),
         &err);
    assert_null(cache); // the CPU reads them where they are
    vd_regions_close(regions);
    open_device((size_t)1 << 40);
    must(vd_regions_open(floats, &regions, &err), &err);
    must(vd_picture_cache_new(regions, &device, 2, 2, VD_PICTURES_RESIDENT, &cache, &err), &err);
    assert_null(cache); // in half precision they would not be the same
    vd_regions_close(regions);
}

// Once, at every allocation in turn: pictures make room first, then the CPU goes on.
static void memory_that_is_gone_ends_no_run(void **state)
{
    (void)state;
    size_t size, expected_size, kept = 0, moved = 0, all;
    bool stayed;
    open_device((size_t)1 << 40);
    char *expected = train(halves, 0, &expected_size, &stayed);
    all = allocations;
    // The GPU's kernels are slow without a GPU: a few are enough there.
    size_t step = support_backend() == vd_backend_cpu() ? 1 : all / 3;
    for (size_t n = 1; n <= all; n += step) {
        open_device((size_t)1 << 40);
        char *found = train(halves, n, &size, &stayed);
        if (stayed)
            assert_memory_equal(found, expected, expected_size);
        stayed ? kept++ : moved++;
        free(found);
    }
    free(expected);
    assert_true(all > 3 && kept > 0 && kept + moved == (all + step - 1) / step);
}

static void numbers_that_are_none_are_refused_by_name(void **state)
{
    (void)state;
    char *path = support_join(tiny.directory, "odd.safetensors");
    vd_regions *regions;
    vd_error err;
    const uint16_t *half;
    uint8_t real[P];
    static const uint16_t odd[] = {0x7c00, 0xfc00, 0x7e01};
    for (size_t i = 0; i < 3; i++) {
        write_features(path, VD_F16, odd[i]);
        must(vd_regions_open(path, &regions, &err), &err);
        assert_non_null(regions->halves);
        support_refused(vd_regions_halves(regions, 7, &half, real, &err), VD_FORMAT, &err, path,
                        "image 8, region 1: feature 3 is not finite", NULL);
        must(vd_regions_halves(regions, 5, &half, real, &err), &err);
        assert_int_equal(real[0], 0); // zeros of either sign
        assert_int_equal(real[1], 1);
        assert_int_equal(real[2], 1);
        must(vd_regions_halves(regions, 0, &half, real, &err), &err);
        assert_int_equal(real[1], 0); // behind those used
        vd_regions_close(regions);
    }
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_follows_from_what_is_free),
        cmocka_unit_test(pictures_kept_sent_or_read_are_the_same_run),
        cmocka_unit_test(memory_that_is_gone_ends_no_run),
        cmocka_unit_test(numbers_that_are_none_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
