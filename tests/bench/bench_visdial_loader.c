// Can batches be made as fast as a GPU trains? on the packed dialogs of VisDial v1.0's size
// that bench_visdial leaves in build/bench, and features of as many pictures in half precision, of
// which those that are read are on the disk (18 GB as a whole; what was never written takes none).
//
//   make bench T=bench_visdial
//   VISDIAL_BENCH_BATCHES (100) batches of 32 dialogs
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "engine/base/alloc.h"
#include "engine/backend/packed.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "features/dialogs/dataset.h"

#define DIRECTORY "build/bench"

enum { REGIONS = 36, SIZE = 2048, BATCH = 32, MOST = 4096 / BATCH };

static vd_error err;

// ---- features -----------------------------------------------------------------------------------

// Pictures first .. first + count - 1, in a file that holds all of them.
static vd_status write_pictures(int file, off_t at, size_t count)
{
    static uint16_t rows[REGIONS * SIZE];
    vd_rng rng = vd_rng_seed(3, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rows[i] = vd_half_from_float((float)vd_rng_uniform(&rng));
    for (size_t i = 0; i < count; i++)
        if (pwrite(file, rows, sizeof rows, at + (off_t)(i * sizeof rows)) != sizeof rows)
            return vd_error_set(&err, VD_IO, "features: writing failed");
    return VD_OK;
}

static vd_status make_features(const char *path, const vd_visdial *data, size_t written)
{
    size_t n = data->dialog_count, header_size, sizes[3];
    char *header = NULL;
    vd_safetensors_writer *plan;
    vd_status status = vd_safetensors_plan(path, &plan, &err);
    if (status == VD_OK)
        status =
            vd_safetensors_declare(plan, "features", VD_F16, 3, (size_t[]){n, REGIONS, SIZE}, &err);
    if (status == VD_OK)
        status = vd_safetensors_declare(plan, "image_id", VD_I64, 1, &n, &err);
    if (status == VD_OK)
        status = vd_safetensors_declare(plan, "num_regions", VD_I32, 1, &n, &err);
    if (status == VD_OK)
        status = vd_safetensors_header(plan, 4096, &header, &header_size, &err);
    vd_safetensors_abort(plan);
    int64_t *id = vd_alloc(n, sizeof *id);
    int32_t *used = vd_alloc(n, sizeof *used);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (status || !id || !used || file < 0) {
        fprintf(stderr, "bench_visdial_loader: %s cannot be made\n", path);
        exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        id[i] = data->dialogs[i].image_id;
        used[i] = REGIONS;
    }
    sizes[0] = n * REGIONS * SIZE * sizeof(uint16_t);
    sizes[1] = n * sizeof *id;
    sizes[2] = n * sizeof *used;
    off_t at = (off_t)header_size;
    bool good = pwrite(file, header, header_size, 0) == (ssize_t)header_size;
    status = good ? write_pictures(file, at, written) : VD_IO;
    at += (off_t)sizes[0];
    good = good && pwrite(file, id, sizes[1], at) == (ssize_t)sizes[1];
    good = good && pwrite(file, used, sizes[2], at + (off_t)sizes[1]) == (ssize_t)sizes[2];
    close(file);
    vd_free(header);
    vd_free(id);
    vd_free(used);
    return status || good ? status : vd_error_set(&err, VD_IO, "%s: writing failed", path);
}

// ---- measuring ----------------------------------------------------------------------------------

// Of this thread only, without other work on the machine.
static double processor_now(void) // milliseconds
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef struct worker {
    pthread_t thread;
    const vd_dataset *set;
    size_t first, batches; // of the order
    const size_t *order;
    double *times;
    vd_status status;
    vd_error err;
} worker;

static void *load(void *context)
{
    worker *w = context;
    const vd_batch *batch;
    vd_loader *loader;
    w->status = vd_loader_new(w->set, &loader, &w->err);
    for (size_t i = 0; w->status == VD_OK && i < w->batches; i++) {
        double start = processor_now();
        w->status = vd_loader_batch(loader, w->order + (w->first + i) * BATCH, BATCH, NULL, &batch,
                                    &w->err);
        w->times[w->first + i] = processor_now() - start;
    }
    vd_loader_free(loader);
    return NULL;
}

static vd_status measure(const vd_dataset *set, const size_t *order, size_t batches, int threads)
{
    worker w[2] = {0};
    double times[MOST] = {0}, start = bench_now();
    vd_status status = VD_OK;
    size_t share = batches / (size_t)threads;
    for (int i = 0; i < threads; i++) {
        w[i] = (worker){.set = set,
                        .first = share * (size_t)i,
                        .batches = share,
                        .order = order,
                        .times = times};
        pthread_create(&w[i].thread, NULL, load, &w[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(w[i].thread, NULL);
        if (w[i].status) {
            status = w[i].status;
            err = w[i].err;
        }
    }
    double each = (bench_now() - start) / (double)(share * (size_t)threads);
    printf("batches of %d dialogs, %d thread%s           %8.3f ms each   %6.0f dialogs/s (bar "
           "1500)\n",
           BATCH, threads, threads > 1 ? "s" : " ", each, BATCH / each * 1e3);
    bench_report("  one of them, the processor's time", times, share * (size_t)threads);
    return status;
}

// The engine's checks of a batch before it computes anything.
static vd_status measure_packing(const vd_dataset *set, const size_t *order, size_t batches)
{
    double times[3][MOST];
    vd_loader *loader;
    vd_arena arena = {0};
    vd_status status = vd_loader_new(set, &loader, &err);
    int *sorted = vd_alloc((size_t)BATCH * 1000, 2 * sizeof *sorted);
    size_t words = 0, prefixes = 0, distinct = 0;
    for (size_t i = 0; status == VD_OK && i < batches; i++) {
        const vd_batch *b;
        vd_packed apart, tree;
        status = vd_loader_batch(loader, order + i * BATCH, BATCH, NULL, &b, &err);
        if (status)
            break;
        int *last = sorted + b->distinct;
        double start = processor_now();
        status = vd_batch_check(b, 1 << 20, &err);
        times[0][i] = processor_now() - start;
        vd_arena_reset(&arena);
        start = processor_now();
        if (status == VD_OK)
            status = vd_packed_make(b->candidate, b->candidate_length, b->distinct,
                                    b->candidate_width, &arena, &apart, &err);
        times[1][i] = processor_now() - start;
        start = processor_now();
        if (status == VD_OK)
            status = vd_packed_sort(b->candidate, b->candidate_length, b->candidate_width,
                                    b->distinct, sorted, &err);
        if (status == VD_OK)
            status = vd_packed_prefixes(b->candidate, b->candidate_length, b->candidate_width,
                                        sorted, b->distinct, &arena, &tree, last, &err);
        times[2][i] = processor_now() - start;
        words += (size_t)apart.tokens;
        prefixes += (size_t)tree.tokens;
        distinct += (size_t)b->distinct;
    }
    if (status == VD_OK) {
        printf("a batch has %zu distinct candidates of %zu words, %zu prefixes\n",
               distinct / batches, words / batches, prefixes / batches);
        bench_report("checking a batch", times[0], batches);
        bench_report("its candidates packed one by one", times[1], batches);
        bench_report("its candidates sorted and packed as a tree", times[2], batches);
    }
    vd_free(sorted);
    vd_arena_free(&arena);
    vd_loader_free(loader);
    return status;
}

static vd_status measure_start(const char *packed, const char *features, vd_visdial **data,
                               vd_regions **regions, vd_dataset **set)
{
    vd_vocab *vocab = NULL;
    double at[5] = {bench_now()};
    vd_status status = vd_visdial_open(packed, data, &err);
    at[1] = bench_now();
    if (status == VD_OK && access(features, F_OK) != 0) {
        status = make_features(features, *data, MOST * BATCH);
        at[1] = bench_now();
    }
    if (status == VD_OK)
        status = vd_regions_open(features, regions, &err);
    at[2] = bench_now();
    if (status == VD_OK)
        status = vd_dataset_vocab(*data, 5, &vocab, &err);
    at[3] = bench_now();
    if (status == VD_OK)
        status = vd_dataset_new(*data, *regions, vocab, set, &err);
    at[4] = bench_now();
    vd_vocab_free(vocab);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    if (status == VD_OK)
        printf("start: features opened %.1f ms, vocabulary %.1f ms, tokens %.1f ms; %.0f MiB\n",
               at[2] - at[1], at[3] - at[2], at[4] - at[3], (double)used.ru_maxrss / 1024);
    return status;
}

int main(void)
{
    const char *packed = DIRECTORY "/train.packed", *features = DIRECTORY "/resident.safetensors";
    const char *text = getenv("VISDIAL_BENCH_BATCHES");
    size_t batches = text ? (size_t)atoll(text) : 100, order[MOST * BATCH];
    vd_visdial *data = NULL;
    vd_regions *regions = NULL;
    vd_dataset *set = NULL;
    bench_machine("bench_visdial_loader");
    if (batches < 2 || batches > MOST)
        batches = MOST;
    if (measure_start(packed, features, &data, &regions, &set) != VD_OK)
        return bench_fail(&err);
    vd_rng rng = vd_rng_seed(4, 0);
    for (size_t i = 0; i < MOST * BATCH; i++)
        order[i] = i;
    for (size_t i = MOST * BATCH; i > 1; i--) {
        size_t j = (size_t)vd_rng_below(&rng, (int)i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
    vd_status status = measure(set, order, batches, 1); // what the disk has to give
    for (int threads = 1; status == VD_OK && threads <= 2; threads++)
        status = measure(set, order, batches, threads);
    if (status == VD_OK)
        status = measure_packing(set, order, batches);
    vd_dataset_free(set);
    vd_regions_close(regions);
    vd_visdial_free(data);
    return status ? bench_fail(&err) : 0;
}
