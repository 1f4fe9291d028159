// Reading the public data, with made-up files of VisDial v1.0's size and shape:
// dialogs read and packed, the packed file opened, challenge features imported, a pool of all the
// answers (337,527) built for a full-size model and typed questions ranked against it. Time, memory
// and disk of each step. The files stay in build/bench (some 4 GB) and are used again.
//
//   make bench T=bench_visdial
//   VISDIAL_BENCH_DIALOGS (123287) dialogs, VISDIAL_BENCH_PICTURES (4096) pictures with features;
//   the public train split has 123287, 36 GB of them
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "features/dialogs/dataset.h"
#include "features/dialogs/visdial.h"
#include "tests/support/full_size.h"
#include "tui/session/session.h"

#define DIRECTORY "build/bench"

enum {
    ROUNDS = 10,
    OPTIONS = 100,
    REGIONS = 36,
    SIZE = 2048,
    WORDS = 50000,
    VAL_DIALOGS = 2064 // v1.0 val
};

static size_t number_from(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    long long value = text ? atoll(text) : 0;
    return value > 0 ? (size_t)value : otherwise;
}

// ---- dialogs ------------------------------------------------------------------------------------

// Word n of a language in which the n-th word occurs 1/n as often as the first.
static void put_words(FILE *out, vd_rng *rng, int least, int most)
{
    int count = least + vd_rng_below(rng, most - least + 1);
    for (int i = 0; i < count; i++) {
        unsigned n = (unsigned)exp(vd_rng_uniform(rng) * log(WORDS));
        fputs(i ? " " : "", out);
        do
            fputc("etaoinsrhldcumfp"[n % 16], out);
        while ((n /= 16) > 0);
    }
}

static void put_table(FILE *out, vd_rng *rng, const char *name, size_t count, int least, int most)
{
    fprintf(out, "\"%s\": [", name);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", \"" : "\"", out);
        put_words(out, rng, least, most);
        fputc('"', out);
    }
    fputs("]", out);
}

static void put_dialog(FILE *out, vd_rng *rng, size_t index, size_t questions, size_t answers)
{
    fprintf(out, "%s{\"image_id\": %zu, \"dialog\": [", index ? ", " : "", 2 * index + 9);
    for (int r = 0; r < ROUNDS; r++) {
        int options[OPTIONS], truth = vd_rng_below(rng, OPTIONS);
        for (int i = 0; i < OPTIONS; i++)
            options[i] = vd_rng_below(rng, (int)answers);
        fprintf(out, "%s{\"answer\": %d, \"gt_index\": %d, \"question\": %d, \"answer_options\": [",
                r ? ", " : "", options[truth], truth, vd_rng_below(rng, (int)questions));
        for (int i = 0; i < OPTIONS; i++)
            fprintf(out, "%s%d", i ? ", " : "", options[i]);
        fputs("]}", out);
    }
    fputs("], \"caption\": \"", out);
    put_words(out, rng, 8, 15);
    fputs("\"}", out);
}

static void make_dialogs(const char *path, size_t dialogs)
{
    // Of 1,232,870 rounds the public split has 376,593 different questions and 337,527 answers.
    size_t questions = dialogs * 376593 / 123287 + 1, answers = dialogs * 337527 / 123287 + 1;
    vd_rng rng = vd_rng_seed(1, 0);
    FILE *out = fopen(path, "w");
    if (!out)
        return;
    fputs("{\"version\": \"1.0\", \"data\": {", out);
    put_table(out, &rng, "questions", questions, 4, 8);
    fputs(", ", out);
    put_table(out, &rng, "answers", answers, 1, 9);
    fputs(", \"dialogs\": [", out);
    for (size_t i = 0; i < dialogs; i++)
        put_dialog(out, &rng, i, questions, answers);
    fputs("]}, \"split\": \"train2018\"}\n", out);
    fclose(out);
}

// ---- features -----------------------------------------------------------------------------------

static void make_features(const char *path, size_t pictures)
{
    static float rows[REGIONS][SIZE];
    vd_rng rng = vd_rng_seed(2, 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hsize_t shape[] = {pictures, REGIONS, SIZE}, one[] = {1, REGIONS, SIZE};
    hid_t space = H5Screate_simple(3, shape, NULL), memory = H5Screate_simple(3, one, NULL);
    hid_t ids = H5Screate_simple(1, shape, NULL);
    hid_t features =
        H5Dcreate2(file, "features", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t image =
        H5Dcreate2(file, "image_id", H5T_IEEE_F32LE, ids, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    float *id = calloc(pictures, sizeof *id);
    for (hsize_t i = 0; i < pictures; i++) {
        hsize_t start[] = {i, 0, 0};
        id[i] = (float)(2 * i + 9);
        for (size_t k = 0; k < SIZE; k++) // one new region per picture is enough for the disk
            rows[i % REGIONS][k] = (float)vd_rng_below(&rng, 10000) / 1000;
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
        H5Dwrite(features, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, rows);
    }
    H5Dwrite(image, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, id);
    free(id);
    H5Dclose(image);
    H5Dclose(features);
    H5Sclose(ids);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
}

// ---- measuring ----------------------------------------------------------------------------------

static double megabytes(const char *path)
{
    struct stat about = {0};
    stat(path, &about);
    return (double)about.st_blocks * 512 / 1e6;
}

// Out of memory, so that the next reading is from the disk.
static void forget(const char *path)
{
    int file = open(path, O_RDONLY);
    if (file < 0)
        return;
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

// Runs the program, which need not say anything; seconds, the processor's seconds, the most memory
// it held.
static double run(const char *const *arguments, bool quiet, double *peak, double *cpu)
{
    const char *program = getenv("VISDIAL_BIN");
    const char *argv[16] = {program ? program : "build/visdial"};
    for (int i = 0; arguments[i] && i < 14; i++)
        argv[i + 1] = arguments[i];
    double start = bench_now();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int nothing = quiet ? open("/dev/null", O_WRONLY) : -1;
        if (nothing >= 0)
            dup2(nothing, STDOUT_FILENO);
        execv(argv[0], (char **)(uintptr_t)argv);
        _exit(127);
    }
    int how = 0;
    struct rusage used = {0};
    if (child < 0 || wait4(child, &how, 0, &used) != child || !WIFEXITED(how) || WEXITSTATUS(how)) {
        fprintf(stderr, "%s %s failed\n", argv[0], argv[1]);
        exit(1);
    }
    *peak = (double)used.ru_maxrss / 1024;
    *cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    return (bench_now() - start) / 1e3;
}

// ---- a pool of every answer ---------------------------------------------------------------------

// A random model of the public size that knows the most frequent words of the data.
static vd_status make_model(const char *packed, const char *path, vd_error *err)
{
    enum { WORDS_KEPT = FULL_VOCAB - VD_FIRST_WORD };
    static const char *words[WORDS_KEPT];
    vd_config config = full_size_config();
    vd_train_options options = vd_train_defaults();
    vd_visdial *data = NULL;
    vd_vocab *all = NULL, *vocab = NULL;
    vd_trainer *trainer = NULL;
    vd_status status = vd_visdial_open(packed, &data, err);
    if (status == VD_OK)
        status = vd_dataset_vocab(data, 1, &all, err);
    int count = status == VD_OK ? vd_vocab_size(all) - VD_FIRST_WORD : 0;
    count = count < WORDS_KEPT ? count : WORDS_KEPT;
    for (int i = 0; i < count; i++)
        words[i] = vd_vocab_word(all, VD_FIRST_WORD + i);
    if (status == VD_OK)
        status = vd_vocab_from_words(words, (size_t)count, &vocab, err);
    config.vocab = count + VD_FIRST_WORD;
    if (status == VD_OK)
        status = vd_trainer_new(&config, vocab, &options, &trainer, err);
    if (status == VD_OK)
        status = vd_trainer_set_metadata(trainer, "pool", "pool.txt", err);
    if (status == VD_OK)
        status = vd_trainer_save_model(trainer, path, VD_F32, err);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
    vd_vocab_free(all);
    vd_visdial_free(data);
    return status;
}

static vd_status measure_question(vd_session *session, double *time, double *folded, vd_error *err)
{
    vd_reply reply;
    double start = bench_now();
    vd_status status = vd_session_ask(session, "is there more of it", NULL, &reply, err);
    *time = bench_now() - start;
    if (status != VD_OK)
        return status;
    static vd_answer_group list[100];
    start = bench_now();
    vd_fold_ranking(&reply.answer, vd_session_fold(session), 100, list);
    *folded = bench_now() - start;
    vd_reply_clear(&reply);
    return status;
}

// What `visdial ask` and the chat do before the first question and at each.
static vd_status measure_pool(const char *val, const char *features, const char *model,
                              vd_error *err)
{
    enum { TIMES = 21 };
    double opened[5], times[TIMES], folded[TIMES];
    const vd_world_files files = {.data = val, .features = features};
    vd_world *world = NULL;
    vd_status status = vd_world_open_files(&files, &world, err);
    for (int i = 0; i < 5 && status == VD_OK; i++) {
        vd_session *session = NULL;
        double start = bench_now();
        status = vd_session_new(world, model, &session, err);
        if (status == VD_OK)
            status = vd_session_picture(session, 0, err);
        opened[i] = bench_now() - start;
        for (int k = 0; k < TIMES && status == VD_OK && i == 0; k++)
            status = measure_question(session, &times[k], &folded[k], err);
        vd_session_free(session);
    }
    if (status == VD_OK) {
        bench_report("model and pool ready, vectors cached", opened, 5);
        bench_report("a question ranked against the pool", times, TIMES);
        printf("%-44s        %8.3f ms\n", "answers that mean the same grouped, once", folded[0]);
        bench_report("  and folded, a question", folded, TIMES);
    }
    vd_world_close(world);
    return status;
}

static vd_status measure_opening(const char *packed, vd_error *err)
{
    double times[11], cpus[11];
    vd_status status = VD_OK;
    for (int i = 0; i < 11 && status == VD_OK; i++) {
        vd_visdial *data = NULL;
        if (i == 0)
            forget(packed);
        clock_t cpu = clock();
        double start = bench_now();
        status = vd_visdial_open(packed, &data, err);
        times[i] = bench_now() - start;
        cpus[i] = (double)(clock() - cpu) * 1e3 / CLOCKS_PER_SEC;
        if (i == 0)
            printf("%-44s        %8.3f ms\n", "packed dialogs opened, from the disk", times[0]);
        vd_visdial_free(data);
    }
    if (status == VD_OK) {
        bench_report("packed dialogs opened, from memory", times + 1, 10);
        bench_report("  of it the processor's time", cpus + 1, 10);
    }
    return status;
}

// ---- the steps ----------------------------------------------------------------------------------

static const char json[] = DIRECTORY "/train.json", packed[] = DIRECTORY "/train.packed",
                  hdf5[] = DIRECTORY "/features.h5", imported[] = DIRECTORY "/features.safetensors",
                  val[] = DIRECTORY "/val.json", model[] = DIRECTORY "/visdial/model.safetensors",
                  pool[] = DIRECTORY "/visdial/pool.txt",
                  vectors[] = DIRECTORY "/visdial/model.vectors.safetensors";

static vd_status measure_files(vd_error *err)
{
    double peak, cpu;
    forget(json);
    double seconds = run((const char *[]){"data", "info", json, NULL}, false, &peak, &cpu);
    printf("%-44s %8.1f s (cpu %.1f)   %6.0f MiB   %7.0f MB read\n",
           "dialogs read and described (data info)", seconds, cpu, peak, megabytes(json));
    forget(json);
    seconds = run((const char *[]){"data", "pack", json, "--out", packed, NULL}, true, &peak, &cpu);
    printf("%-44s %8.1f s (cpu %.1f)   %6.0f MiB   %7.0f MB -> %.0f MB\n",
           "dialogs packed (data pack)", seconds, cpu, peak, megabytes(json), megabytes(packed));
    if (measure_opening(packed, err) != VD_OK)
        return err->status;

    forget(hdf5);
    seconds = run((const char *[]){"features", "import", hdf5, "--out", imported, "--quiet", NULL},
                  true, &peak, &cpu);
    printf("%-44s %8.1f s (cpu %.1f)   %6.0f MiB   %7.0f MB -> %.0f MB, %.0f MB/s\n",
           "features imported (features import)", seconds, cpu, peak, megabytes(hdf5),
           megabytes(imported), megabytes(hdf5) / seconds);
    return VD_OK;
}

static vd_status measure_every_answer(vd_error *err)
{
    double peak, cpu;
    mkdir(DIRECTORY "/visdial", 0777);
    if (access(val, F_OK) != 0)
        make_dialogs(val, VAL_DIALOGS);
    if (access(model, F_OK) != 0 && make_model(packed, model, err) != VD_OK)
        return err->status;
    double seconds =
        run((const char *[]){"pool", "build", "--data", packed, "--model", model, "--quiet", NULL},
            true, &peak, &cpu);
    printf("%-44s %8.1f s (cpu %.1f)   %6.0f MiB   %7.0f MB and %.0f MB of vectors\n",
           "pool of every answer (pool build)", seconds, cpu, peak, megabytes(pool),
           megabytes(vectors));
    if (measure_pool(val, imported, model, err) != VD_OK)
        return err->status;
    const char *const arguments[] = {"ask", "--data",  val, "--features", imported, "--model",
                                     model, "--image", "9", "is it red",  NULL};
    double times[7];
    for (int i = 0; i < 7; i++)
        times[i] = 1e3 * run(arguments, true, &peak, &cpu);
    bench_report("`visdial ask` with that pool, start to end", times, 7);
    printf("%-44s %8.0f MiB\n", "  memory", peak);
    return VD_OK;
}

// With the argument `pool` only what is about the pool.
int main(int argc, char **argv)
{
    size_t dialogs = number_from("VISDIAL_BENCH_DIALOGS", 123287),
           pictures = number_from("VISDIAL_BENCH_PICTURES", 4096);
    vd_error err = {0};
    bench_machine("bench_visdial");
    mkdir("build", 0777);
    mkdir(DIRECTORY, 0777);
    if (access(json, F_OK) != 0)
        make_dialogs(json, dialogs);
    if (access(hdf5, F_OK) != 0)
        make_features(hdf5, pictures);
    vd_status status = VD_OK;
    if (argc < 2 || strcmp(argv[1], "pool") != 0 || access(imported, F_OK) != 0)
        status = measure_files(&err);
    if (status == VD_OK)
        status = measure_every_answer(&err);
    return status ? bench_fail(&err) : 0;
}
