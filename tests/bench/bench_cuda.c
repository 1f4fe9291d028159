// The GPU backend at the network's public size (V 11,322, E 300, H 512, D 2048, P 36), and PyTorch
// (mvan_torch.py, where it is there) on the same device, weights and batch. For machines with a GPU
// and little else: `make bench-cuda`. $VISDIAL_TEST_PLUGIN names the plugin, $VISDIAL_TORCH a
// python that has PyTorch (python3). `bench_cuda profile` only takes three training steps in
// bfloat16 and asks some questions, for a profiler.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "engine/base/alloc.h"
#include "engine/backend/open.h"
#include "engine/model/dialog.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "engine/model/pool.h"
#include "engine/train/trainer.h"
#include "tests/bench/count_operations.h"
#include "tests/support/step.h"

// $VISDIAL_BENCH_SMALL=1: sizes that a machine without a GPU gets through, to see that every line
// works; the figures are then meaningless.
enum { ROUNDS = 10, VOCAB_MOST = 11322 };
static struct {
    int vocab, embed, hidden, region, regions, dialogs, options;
    int distinct; // candidates a dialog: 14,071 of 32 dialogs of VisDial's validation sample
    int large;    // answers of a pool
    int side;     // of the square matrices whose product tells the device's rate
    int most;     // runs of anything
} the = {VOCAB_MOST, 300, 512, 2048, 36, 32, 100, 440, 340000, 8192, 256};

static void choose_sizes(void)
{
    const char *small = getenv("VISDIAL_BENCH_SMALL");
    if (!small || !*small)
        return;
    the.vocab = 40;
    the.embed = 6;
    the.hidden = 8;
    the.region = 10;
    the.regions = 3;
    the.dialogs = 2;
    the.options = 5;
    the.distinct = 7;
    the.large = 50;
    the.side = 16;
    the.most = 1;
    printf("# small sizes: every line runs and NO FIGURE BELOW IS ONE\n");
}

static int questions(void)
{
    return the.dialogs * ROUNDS;
}

// The number of runs, at most `most`.
static int runs(int count)
{
    return count < the.most ? count : the.most;
}

static const char *const directory = "build/bench-cuda";
static vd_error err;

static void must(vd_status status)
{
    if (status == VD_OK)
        return;
    fprintf(stderr, "bench_cuda: %s\n", err.text);
    exit(vd_status_exit_code(status));
}

static void *have(void *memory)
{
    if (memory)
        return memory;
    fprintf(stderr, "bench_cuda: out of memory\n");
    exit(1);
}

static double now(void) // milliseconds
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const char *what, double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, compare);
    printf("%-52s median %9.3f ms  least %9.3f  most %9.3f  of %d\n", what, times[count / 2],
           times[0], times[count - 1], count);
    fflush(stdout);
    return times[count / 2];
}

// ---- the batch ----------------------------------------------------------------------------------

static vd_batch batch;
static int32_t *pool_tokens, *pool_lengths;

static int32_t *tokens(vd_rng *rng, int32_t **lengths, int count, int width, int least, int most)
{
    int32_t *ids = have(vd_alloc((size_t)count * (size_t)width, sizeof *ids));
    *lengths = have(vd_alloc((size_t)count, sizeof **lengths));
    for (int s = 0; s < count; s++) {
        (*lengths)[s] = least + vd_rng_below(rng, most - least + 1);
        for (int i = 0; i < (*lengths)[s]; i++)
            ids[(size_t)s * (size_t)width + (size_t)i] = 4 + vd_rng_below(rng, the.vocab - 4);
    }
    return ids;
}

// How many of those 14,071 answers have 3, 4, ... words, <S> and </S> among them.
static int answer_length(vd_rng *rng)
{
    static const int counts[] = {602, 1235, 1795, 2123, 2055, 1565, 1244, 887, 646,
                                 493, 366,  276,  198,  161,  111,  77,   70,  167};
    int n = vd_rng_below(rng, 14071), length = 3;
    for (const int *c = counts; n >= *c; c++, length++)
        n -= *c;
    return length;
}

// Answers that begin alike as often as those do: each as far as a random part of one before it.
// There are 63,981 distinct beginnings of their 110,563 words; here it is some 64,500.
static int32_t *answers(vd_rng *rng, int32_t **lengths, int count)
{
    const int width = VD_MAX_CANDIDATE;
    int32_t *ids = have(vd_alloc((size_t)count * (size_t)width, sizeof *ids));
    *lengths = have(vd_alloc((size_t)count, sizeof **lengths));
    for (int s = 0; s < count; s++) {
        int32_t *own = ids + (size_t)s * (size_t)width;
        int length = (*lengths)[s] = answer_length(rng);
        for (int i = 0; i < length; i++)
            own[i] = 4 + (int32_t)(pow(vd_rng_uniform(rng), 5) * (the.vocab - 4));
        own[0] = VD_START;
        own[length - 1] = VD_END;
        int other = s ? vd_rng_below(rng, s) : 0, most = (*lengths)[other];
        int alike = vd_rng_below(rng, (most < length ? most : length) - 1);
        memcpy(own, ids + (size_t)other * (size_t)width, (size_t)(s ? alike : 0) * sizeof *own);
    }
    return ids;
}

static void make_batch(void)
{
    vd_rng rng = vd_rng_seed(11, 3);
    int32_t *ql, *hl, *cl, *option, *truth;
    size_t numbers = (size_t)the.dialogs * the.regions * the.region;
    float *image = have(vd_alloc(numbers, sizeof *image));
    for (size_t i = 0; i < numbers; i++)
        image[i] = (float)vd_rng_uniform(&rng);
    batch = (vd_batch){.dialogs = the.dialogs,
                       .rounds = ROUNDS,
                       .regions = the.regions,
                       .candidates = the.options,
                       .question_width = VD_MAX_QUESTION,
                       .history_width = VD_MAX_HISTORY,
                       .candidate_width = VD_MAX_CANDIDATE,
                       .distinct = the.dialogs * the.distinct,
                       .image = image};
    batch.question = tokens(&rng, &ql, questions(), VD_MAX_QUESTION, 4, 9);
    batch.history = tokens(&rng, &hl, questions(), VD_MAX_HISTORY, 8, 16);
    batch.candidate = answers(&rng, &cl, the.dialogs * the.distinct);
    batch.question_length = ql;
    batch.history_length = hl;
    batch.candidate_length = cl;
    // As the program's loader does on its own thread.
    int *order = have(vd_alloc((size_t)batch.distinct, sizeof *order));
    must(vd_packed_sort(batch.candidate, cl, VD_MAX_CANDIDATE, batch.distinct, order, &err));
    batch.candidate_order = order;
    option = have(vd_alloc((size_t)questions() * the.options, sizeof *option));
    truth = have(vd_alloc(questions(), sizeof *truth));
    for (int i = 0; i < questions() * the.options; i++)
        option[i] =
            i / (ROUNDS * the.options) * the.distinct + i % (ROUNDS * the.options) % the.distinct;
    for (int i = 0; i < questions(); i++)
        truth[i] = vd_rng_below(&rng, the.options);
    batch.option = option;
    batch.truth = truth;
    pool_tokens = answers(&rng, &pool_lengths, the.large);
}

// As mvan_torch.py reads it: candidates written out for every round.
static void write_batch(const char *path)
{
    size_t all = (size_t)questions() * the.options;
    int32_t *opt = have(vd_alloc(all * VD_MAX_CANDIDATE, sizeof *opt)),
            *opt_len = have(vd_alloc(all, sizeof *opt_len));
    for (size_t i = 0; i < all; i++) {
        size_t u = (size_t)batch.option[i];
        opt_len[i] = batch.candidate_length[u];
        memcpy(opt + i * VD_MAX_CANDIDATE, batch.candidate + u * VD_MAX_CANDIDATE,
               VD_MAX_CANDIDATE * sizeof *opt);
    }
    const struct {
        const char *name;
        const void *data;
        vd_dtype type;
        int dims;
        size_t shape[4];
    } part[] = {
        {"img_feat", batch.image, VD_F32, 3, {the.dialogs, the.regions, the.region, 1}},
        {"ques", batch.question, VD_I32, 3, {the.dialogs, ROUNDS, VD_MAX_QUESTION, 1}},
        {"ques_len", batch.question_length, VD_I32, 2, {the.dialogs, ROUNDS, 1, 1}},
        {"hist", batch.history, VD_I32, 3, {the.dialogs, ROUNDS, VD_MAX_HISTORY, 1}},
        {"hist_len", batch.history_length, VD_I32, 2, {the.dialogs, ROUNDS, 1, 1}},
        {"opt", opt, VD_I32, 4, {the.dialogs, ROUNDS, the.options, VD_MAX_CANDIDATE}},
        {"opt_len", opt_len, VD_I32, 3, {the.dialogs, ROUNDS, the.options, 1}},
        {"gt_index", batch.truth, VD_I32, 2, {the.dialogs, ROUNDS, 1, 1}},
    };
    vd_safetensors_writer *writer;
    must(vd_safetensors_create(path, &writer, &err));
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        must(vd_safetensors_declare(writer, part[i].name, part[i].type, part[i].dims, part[i].shape,
                                    &err));
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        const size_t *s = part[i].shape;
        must(vd_safetensors_append(writer, part[i].data, s[0] * s[1] * s[2] * s[3], &err));
    }
    must(vd_safetensors_commit(writer, &err));
    vd_free(opt);
    vd_free(opt_len);
}

static vd_trainer *new_trainer(void)
{
    vd_config config = {.vocab = the.vocab,
                        .embed = the.embed,
                        .hidden = the.hidden,
                        .region = the.region,
                        .gate = VD_GATE_LEAKY_RELU,
                        .positions = VD_POSITIONS_NONE};
    vd_train_options options = vd_train_defaults();
    options.margin = 1; // as the network that it is compared with
    static char text[VOCAB_MOST][8];
    static const char *word[VOCAB_MOST];
    vd_vocab *vocab;
    vd_trainer *trainer;
    for (int i = 0; i < the.vocab - VD_FIRST_WORD; i++) {
        snprintf(text[i], sizeof text[i], "w%d", i);
        word[i] = text[i];
    }
    must(vd_vocab_from_words(word, the.vocab - VD_FIRST_WORD, &vocab, &err));
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err));
    vd_vocab_free(vocab);
    return trainer;
}

// ---- answering ----------------------------------------------------------------------------------

static void compare_with_cpu(const vd_model *cpu, const vd_model *cuda)
{
    int some_dialogs = the.dialogs < 4 ? the.dialogs : 4;
    vd_batch some = batch;
    some.dialogs = some_dialogs;
    some.distinct = some_dialogs * the.distinct;
    some.candidate_order = NULL;
    size_t n = (size_t)some_dialogs * ROUNDS * the.options;
    float *scores[2], largest = 0;
    const vd_model *models[2] = {cpu, cuda};
    for (int i = 0; i < 2; i++) {
        vd_arena arena = {0};
        scores[i] = have(vd_alloc(n, sizeof *scores[i]));
        must(vd_model_scores(models[i], vd_model_config(models[i])->decoders, &arena, NULL, &some,
                             scores[i], &err));
        vd_arena_free(&arena);
    }
    int same = 0;
    for (size_t k = 0; k < n; k += the.options)
        for (size_t i = k; i < k + the.options; i++) {
            int rank[2] = {0, 0};
            largest = fmaxf(largest, fabsf(scores[0][i] - scores[1][i]));
            for (size_t j = k; j < k + the.options; j++)
                for (int s = 0; s < 2; s++)
                    rank[s] += scores[s][j] > scores[s][i];
            same += rank[0] == rank[1];
        }
    printf(
        "CPU and GPU, %d dialogs: scores differ by at most %.2e (bar 1e-4), %.3f %% of ranks are "
        "the same (bar 99.9 %%)\n",
        some_dialogs, (double)largest, 100.0 * same / (double)n);
    vd_free(scores[0]);
    vd_free(scores[1]);
}

static void bench_questions(const vd_model *model, int count, const char *what)
{
    enum { RUNS = 200, LAST = ROUNDS - 1 };
    static double times[RUNS];
    vd_pool *pool;
    vd_dialog *dialog;
    must(vd_pool_new(model, pool_tokens, pool_lengths, count, VD_MAX_CANDIDATE, NULL, &pool, &err));
    must(vd_dialog_new(model, pool, batch.image, the.regions, batch.history,
                       batch.history_length[0], &dialog, &err));
    for (int r = 1; r < ROUNDS; r++)
        must(vd_dialog_append(dialog, batch.history + (size_t)r * VD_MAX_HISTORY,
                              batch.history_length[r], &err));
    for (int i = -10; i < runs(RUNS); i++) {
        vd_answer answer;
        double start = now();
        must(vd_dialog_ask(dialog, batch.question + (size_t)LAST * VD_MAX_QUESTION,
                           batch.question_length[LAST], NULL, &answer, &err));
        if (i >= 0)
            times[i] = now() - start;
        vd_answer_clear(&answer);
    }
    median(what, times, runs(RUNS));
    vd_dialog_free(dialog);
    vd_pool_free(pool);
}

static void bench_evaluation(const vd_model *model)
{
    enum { RUNS = 20 };
    static double times[RUNS];
    vd_arena arena = {0};
    float *scores = have(vd_alloc((size_t)questions() * the.options, sizeof *scores));
    for (int i = -3; i < runs(RUNS); i++) {
        double start = now();
        must(vd_model_scores(model, vd_model_config(model)->decoders, &arena, NULL, &batch, scores,
                             &err));
        if (i >= 0)
            times[i] = now() - start;
    }
    double each =
        median("evaluating 32 dialogs, 10 rounds, 100 candidates", times, runs(RUNS)) / the.dialogs;
    printf("  2,064 dialogs: %.2f s (bar 6 s)\n", 2064 * each * 1e-3);
    vd_arena_free(&arena);
    vd_free(scores);
}

// ---- training -----------------------------------------------------------------------------------

static double matrix_rate(const vd_backend *be) // operations a millisecond
{
    enum { RUNS = 10 };
    int side = the.side;
    size_t bytes = (size_t)side * (size_t)side * sizeof(float);
    float *a = have(be->memory->allocate(bytes)), *b = have(be->memory->allocate(bytes)),
          *c = have(be->memory->allocate(bytes));
    double best = 0;
    // Random numbers: multiplying zeros would take less power and be faster.
    float *numbers = have(vd_alloc((size_t)side, bytes / (size_t)side));
    vd_rng rng = vd_rng_seed(5, 7);
    for (size_t i = 0; i < (size_t)side * (size_t)side; i++)
        numbers[i] = (float)vd_rng_range(&rng, -1, 1);
    be->memory->upload(a, numbers, bytes);
    be->memory->upload(b, numbers, bytes);
    vd_free(numbers);
    for (int i = 0; i < runs(RUNS); i++) {
        be->last_error();
        double start = now();
        vd_multiply(be, false, false, side, side, side, a, b, 0, c);
        be->last_error();
        best = fmax(best, 2.0 * side * side * side / (now() - start));
    }
    be->memory->release(a);
    be->memory->release(b);
    be->memory->release(c);
    return best;
}

// The batch with its pictures in the device's memory in half precision, where the program keeps
// those of a training set.
static vd_batch keep_pictures(const vd_backend *be)
{
    size_t picture = (size_t)the.regions * the.region, count = (size_t)the.dialogs * picture;
    uint16_t *halves = have(vd_alloc(count, sizeof *halves)),
             *there = have(be->memory->allocate(count * sizeof *halves));
    int32_t *row = have(vd_alloc((size_t)the.dialogs, sizeof *row));
    uint8_t *real = have(vd_alloc((size_t)the.dialogs, (size_t)the.regions));
    vd_halves_from_floats(batch.image, count, halves);
    be->memory->upload(there, halves, count * sizeof *halves);
    vd_free(halves);
    for (int b = 0; b < the.dialogs; b++)
        row[b] = b;
    memset(real, 1, (size_t)the.dialogs * (size_t)the.regions);
    vd_batch kept = batch;
    kept.image = NULL;
    kept.kept.halves = there;
    kept.kept.stride = picture;
    kept.kept.row = row;
    kept.kept.real = real;
    return kept;
}

static double bench_training(vd_trainer *trainer, const vd_backend *be, const vd_batch *kept,
                             vd_precision precision, const char *name)
{
    enum { RUNS = 20 };
    static double times[RUNS];
    char what[64];
    double loss, start;
    be->precision(precision);
    double rate = matrix_rate(be);
    for (int i = -3; i < runs(RUNS); i++) {
        count_begin(false);
        start = now();
        must(step_take(trainer, kept, 1e-3, &loss, NULL, &err));
        be->last_error();
        if (i >= 0)
            times[i] = now() - start;
    }
    snprintf(what, sizeof what, "a training step of %d dialogs, %s", the.dialogs, name);
    double step = median(what, times, runs(RUNS)), products = count_operations();
    printf("  %.0f dialogs/s (bar 1,500 in bf16); %.1f TFLOP/s of products, %.0f %% of the %.1f "
           "measured on squares of %d\n",
           the.dialogs / step * 1e3, products / step * 1e-9, 100 * products / step / rate,
           rate * 1e-9, the.side);
    count_begin(true);
    start = now();
    must(step_take(trainer, kept, 1e-3, &loss, NULL, &err));
    be->last_error();
    double whole = now() - start;
    printf("  where the time goes, waiting after each operation (%.2f ms in all):\n", whole);
    count_print(whole);
    return step;
}

// ---- PyTorch ------------------------------------------------------------------------------------

static void bench_torch(const char *precision, double ours)
{
    enum { RUNS = 12 };
    static double times[RUNS];
    const char *python = getenv("VISDIAL_TORCH");
    char command[1024], line[128];
    snprintf(
        command, sizeof command,
        "for i in $(seq %d); do echo train; done | '%s' tests/bench/mvan_torch.py --device cuda "
        "--precision %s --model %s/model.safetensors --batch %s/batch.safetensors",
        runs(RUNS) + 2, python ? python : "python3", precision, directory, directory);
    FILE *out = popen(command, "r");
    int count = -2;
    while (out && fgets(line, sizeof line, out) && count < runs(RUNS)) {
        if (count >= 0)
            times[count] = strtod(line, NULL);
        count++;
    }
    bool good = out && pclose(out) == 0 && count == runs(RUNS);
    if (!good) {
        printf("PyTorch %s: not measured (\"%.60s...\" failed)\n", precision, command);
        return;
    }
    char what[64];
    snprintf(what, sizeof what, "the same in PyTorch, %s", precision);
    double theirs = median(what, times, runs(RUNS));
    printf("  %.0f dialogs/s; visdial is %.2f times as fast (bar 8 in bf16)\n",
           the.dialogs / theirs * 1e3, theirs / ours);
}

static void profile(vd_trainer *trainer, const vd_model *model, const vd_backend *be)
{
    double loss;
    must(vd_trainer_use(trainer, be, &err));
    be->precision(VD_PRECISION_BF16);
    const vd_batch kept = keep_pictures(be);
    for (int i = 0; i < 3; i++)
        must(step_take(trainer, &kept, 1e-3, &loss, NULL, &err));
    be->precision(VD_PRECISION_FP32);
    bench_questions(model, the.options, "question to ranking, 100 candidates");
    bench_questions(model, the.large, "question to ranking, 340,000 candidates");
}

int main(int argc, char **argv)
{
    const char *plugin = getenv("VISDIAL_TEST_PLUGIN");
    const vd_backend *be;
    char model_path[256], batch_path[256];
    choose_sizes();
    must(vd_backend_open_plugin(plugin ? plugin : "build/visdial-cuda.so", 0, &be, &err));
    printf("# %s\n", be->description);
    fflush(stdout);
    mkdir("build", 0777);
    mkdir(directory, 0777);
    snprintf(model_path, sizeof model_path, "%s/model.safetensors", directory);
    snprintf(batch_path, sizeof batch_path, "%s/batch.safetensors", directory);
    make_batch();
    write_batch(batch_path);
    vd_trainer *trainer = new_trainer();
    must(vd_trainer_save_model(trainer, model_path, VD_F32, &err));

    vd_model *cpu, *cuda;
    must(vd_model_load(model_path, &cpu, &err));
    must(vd_model_load(model_path, &cuda, &err));
    must(vd_model_use(cuda, be, &err));
    if (argc > 1 && strcmp(argv[1], "profile") == 0) {
        profile(trainer, cuda, be);
        return 0;
    }
    compare_with_cpu(cpu, cuda);
    vd_model_free(cpu);
    bench_questions(cuda, the.options, "question to ranking, 100 candidates (bar 0.5 ms)");
    bench_questions(cuda, the.large, "question to ranking, 340,000 candidates (bar 1.5 ms)");
    bench_evaluation(cuda);
    vd_model_free(cuda);

    static const char *const names[] = {"fp32", "tf32", "bf16"}, *const torch[] = {"float32",
                                                                                   "tf32", "bf16"};
    const vd_backend *counting = count_on(be);
    must(vd_trainer_use(trainer, counting, &err));
    const vd_batch kept = keep_pictures(be);
    for (int p = VD_PRECISION_FP32; p <= VD_PRECISION_BF16; p++)
        bench_torch(torch[p], bench_training(trainer, counting, &kept, (vd_precision)p, names[p]));
    vd_trainer_free(trainer);
    return 0;
}
