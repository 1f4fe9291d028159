// The training step of every network on the tape at its public size (V 11,322, E 300, H 512, D
// 2048, P 36; eight dialogs of 10 rounds with 100 candidates), in alternation with the same network
// in PyTorch (networks_torch.py): with all candidates, and with the same two for every question,
// which leaves what the network itself takes. The last lines are a table of each.
//
// First both sides take two steps of a small network of the same kind, without dropout and from
// equal weights: their losses and the norms of their gradients must be equal.
//
//   bench_networks [check | two] [cuda] [DIALOGS] [NETWORK]...
//
//   check: nothing is measured; two: only with two candidates; cuda: both on the GPU, in float32
#include "tests/bench/bench.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "engine/backend/open.h"
#include "engine/train/trainer.h"
#include "tests/bench/figures.h"
#include "tests/bench/torch.h"
#include "tests/support/full_size.h"
#include "tests/support/step.h"

enum { PATH = 256, LINE = 512, FEW = 2, RUNS = 3, GPU_RUNS = 7 };

static const char directory[] = "build/bench";
static const double RATIO_BAR = 1.5;

static int dialogs = FULL_MOST_DIALOGS;
static bool check_only, two_only;
static const vd_backend *gpu; // NULL: on the CPU

// ---- what is trained ----------------------------------------------------------------------------

// What the steps are called in networks_torch.py.
typedef struct step {
    const char *timed, *learned;
    vd_batch batch;
} step;

// Its candidates are sorted, as the program's loader does on a thread of its own.
static step whole_step(void)
{
    static int order[FULL_MOST_DIALOGS * FULL_ROUNDS * FULL_CANDIDATES];
    step s = {"step", "learn", full_size_batch(dialogs)};
    vd_error err;
    if (vd_packed_sort(s.batch.candidate, s.batch.candidate_length, s.batch.candidate_width,
                       s.batch.distinct, order, &err) == VD_OK)
        s.batch.candidate_order = order;
    return s;
}

static step few_step(void)
{
    enum { QUESTIONS = FULL_MOST_DIALOGS * FULL_ROUNDS };
    static int32_t option[QUESTIONS * FEW], truth[QUESTIONS];
    step s = {"step-few", "learn-few", full_size_batch(dialogs)};
    for (int i = 0; i < QUESTIONS * FEW; i++)
        option[i] = i % FEW;
    for (int n = 0; n < dialogs * FULL_ROUNDS; n++)
        truth[n] = s.batch.truth[n] % FEW;
    s.batch.candidates = s.batch.distinct = FEW;
    s.batch.option = option;
    s.batch.truth = truth;
    return s;
}

static vd_status new_trainer(const vd_config *config, const vd_train_options *options,
                             vd_trainer **out, vd_error *err)
{
    vd_vocab *vocab = NULL;
    vd_status status = full_size_vocab(&vocab, err);
    if (status == VD_OK)
        status = vd_trainer_new(config, vocab, options, out, err);
    if (status == VD_OK && gpu)
        status = vd_trainer_use(*out, gpu, err);
    vd_vocab_free(vocab);
    return status;
}

// PyTorch starts from the same weights.
static vd_status share_weights(torches *t, const vd_trainer *trainer, vd_error *err)
{
    const vd_train_options *o = vd_trainer_options(trainer);
    char path[PATH], line[LINE];
    double unused;
    snprintf(path, sizeof path, "%s/network.safetensors", directory);
    vd_status status = t->count ? vd_trainer_save_model(trainer, path, VD_F32, err) : VD_OK;
    snprintf(line, sizeof line, "load %s %s %g %g %g %g",
             vd_network_names[vd_trainer_config(trainer)->network], path, o->rate, o->dropout,
             o->lstm_dropout, o->position_dropout);
    for (int i = 0; i < t->count && status == VD_OK; i++)
        if (!torch_ask(&t->list[i], line, &unused, &unused))
            status =
                vd_error_set(err, VD_IO, "PyTorch %s did not load %s", t->list[i].version, path);
    return status;
}

// A new trainer, also in PyTorch. The loss is the plain softmax, as there.
static vd_status start(torches *t, const vd_config *config, vd_train_options options,
                       vd_trainer **out, vd_error *err)
{
    options.margin = 1;
    vd_status status = new_trainer(config, &options, out, err);
    if (status == VD_OK)
        status = share_weights(t, *out, err);
    if (status != VD_OK) {
        vd_trainer_free(*out);
        *out = NULL;
    }
    return status;
}

// ---- is it the same network? --------------------------------------------------------------------

// Of the larger one.
static double difference(double a, double b)
{
    return fabs(a - b) / fmax(fmax(fabs(a), fabs(b)), 1e-30);
}

static vd_status compare_step(torches *t, vd_trainer *trainer, const step *s, double *worst,
                              vd_error *err)
{
    const double most = 1e-3;
    double loss, norm;
    vd_status status = step_take(trainer, &s->batch, 1, &loss, &norm, err);
    for (int i = 0; i < t->count && status == VD_OK; i++) {
        double their_loss = NAN, their_norm = NAN;
        torch_ask(&t->list[i], s->learned, &their_loss, &their_norm);
        double off = fmax(difference(loss, their_loss), difference(norm, their_norm));
        *worst = fmax(*worst, off);
        if (!(off <= most) || isnan(their_loss))
            status = vd_error_set(err, VD_FORMAT,
                                  "%s, %s: loss %.7g, gradient %.7g; in PyTorch %s %.7g, %.7g",
                                  vd_network_names[vd_trainer_config(trainer)->network], s->learned,
                                  loss, norm, t->list[i].version, their_loss, their_norm);
    }
    return status;
}

static vd_status check_network(torches *t, vd_network_kind network, vd_error *err)
{
    enum { SMALL_EMBED = 12, SMALL_HIDDEN = 16 };
    const step whole = whole_step(), few = few_step();
    vd_config config = full_size_config();
    vd_train_options options = vd_train_defaults();
    vd_trainer *trainer = NULL;
    double worst = 0;
    config.network = network;
    config.embed = SMALL_EMBED;
    config.hidden = SMALL_HIDDEN;
    options.dropout = options.lstm_dropout = options.position_dropout = 0;
    options.rate = 1e-4; // amem's steps are long: rounding would show in the second loss
    vd_status status = start(t, &config, options, &trainer, err);
    if (status == VD_OK)
        status = compare_step(t, trainer, &whole, &worst, err);
    if (status == VD_OK)
        status = compare_step(t, trainer, &few, &worst, err);
    vd_trainer_free(trainer);
    if (status == VD_OK)
        printf("# %s: losses and gradients are as in PyTorch, but for %.0e of them at most\n",
               vd_network_names[network], worst);
    fflush(stdout);
    return status;
}

// ---- timing -------------------------------------------------------------------------------------

typedef struct measured {
    series ours, theirs[MOST_TORCHES];
} measured;

static vd_status time_steps(torches *t, vd_trainer *trainer, const step *s, int runs, measured *out,
                            vd_error *err)
{
    vd_status status = VD_OK;
    *out = (measured){0};
    for (int i = 0; i < runs && status == VD_OK; i++) {
        series *a = &out->ours;
        double loss, cpu = cpu_now(), began = bench_now();
        status = step_take(trainer, &s->batch, 0.01, &loss, NULL, err);
        if (gpu)
            gpu->last_error(); // waits for the device
        a->wall[a->count] = bench_now() - began;
        a->cpu[a->count++] = cpu_now() - cpu;
        run_torch(t, s->timed, out->theirs);
    }
    return status;
}

static void report(const torches *t, const char *network, const char *what, measured *m)
{
    char name[64];
    snprintf(name, sizeof name, "%s, %s", network, what);
    detail(name, &m->ours);
    detail_torch(t, name, m->theirs);
    fflush(stdout);
}

static vd_status measure_network(torches *t, vd_network_kind network, measured *whole,
                                 measured *few, vd_error *err)
{
    const step all = whole_step(), two = few_step();
    const char *name = vd_network_names[network];
    const int runs = gpu ? GPU_RUNS : RUNS;
    vd_config config = full_size_config();
    vd_trainer *trainer = NULL;
    measured warm_up;
    config.network = network;
    vd_status status = start(t, &config, vd_train_defaults(), &trainer, err);
    if (status == VD_OK)
        status = time_steps(t, trainer, &two, 1, &warm_up, err);
    if (status == VD_OK)
        status = time_steps(t, trainer, &two, runs, few, err);
    if (status == VD_OK && gpu && !two_only)
        status = time_steps(t, trainer, &all, 1, &warm_up, err);
    if (status == VD_OK && !two_only)
        status = time_steps(t, trainer, &all, runs, whole, err);
    vd_trainer_free(trainer);
    if (status != VD_OK)
        return status;
    report(t, name, "two candidates", few);
    if (!two_only)
        report(t, name, "all candidates", whole);
    return VD_OK;
}

static void print_all(const torches *t, const char *what, const bool *wanted, const measured *all,
                      double bar)
{
    printf("\nTraining step, %d dialogs, %s:\n", dialogs, what);
    row_count = 0;
    for (int i = VD_NETWORK_MVAN + 1; i < VD_NETWORKS; i++)
        if (wanted[i])
            add_row(vd_network_names[i], median(&all[i].ours), all[i].theirs, -1, -1, bar, "ms");
    print_table(t);
}

// ---- the program --------------------------------------------------------------------------------

static bool read_network(const char *name, bool *wanted)
{
    for (int i = VD_NETWORK_MVAN + 1; i < VD_NETWORKS; i++)
        if (strcmp(name, vd_network_names[i]) == 0)
            return wanted[i] = true;
    return false;
}

static vd_status open_gpu(vd_error *err)
{
    const char *plugin = getenv("VISDIAL_TEST_PLUGIN");
    vd_status status =
        vd_backend_open_plugin(plugin ? plugin : "build/visdial-cuda.so", 0, &gpu, err);
    if (status == VD_OK)
        printf("# %s\n", gpu->description);
    return status;
}

// Every network where none is named.
static vd_status read_arguments(int argc, char **argv, bool *wanted, vd_error *err)
{
    bool any = false, use_gpu = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "check") == 0)
            check_only = true;
        else if (strcmp(argv[i], "two") == 0)
            two_only = true;
        else if (strcmp(argv[i], "cuda") == 0)
            use_gpu = true;
        else if (isdigit((unsigned char)argv[i][0]))
            dialogs = (int)strtol(argv[i], NULL, 10);
        else if (read_network(argv[i], wanted))
            any = true;
        else
            return vd_error_set(err, VD_USAGE, "%s: no network on the tape", argv[i]);
    }
    for (int i = VD_NETWORK_MVAN + 1; i < VD_NETWORKS && !any; i++)
        wanted[i] = true;
    if (dialogs < 1 || dialogs > FULL_MOST_DIALOGS)
        return vd_error_set(err, VD_USAGE, "expected 1 to %d dialogs", FULL_MOST_DIALOGS);
    return use_gpu ? open_gpu(err) : VD_OK;
}

static vd_status start_torches(torches *t, vd_error *err)
{
    char path[PATH], threads[16];
    mkdir("build", 0777);
    mkdir(directory, 0777);
    snprintf(path, sizeof path, "%s/networks.safetensors", directory);
    snprintf(threads, sizeof threads, "%d", vd_threads_count());
    vd_status status = full_size_write_batch(path, dialogs, err);
    if (status == VD_OK)
        *t = torches_start("tests/bench/networks_torch.py",
                           (const char *const[6]){"--batch", path, "--threads", threads, "--device",
                                                  gpu ? "cuda" : "cpu"});
    return status;
}

int main(int argc, char **argv)
{
    static measured whole[VD_NETWORKS], few[VD_NETWORKS];
    bool wanted[VD_NETWORKS] = {false};
    torches t = {.count = 0};
    vd_error err = {0};
    if (read_arguments(argc, argv, wanted, &err) != VD_OK)
        return bench_fail(&err);
    bench_machine("bench_networks");
    vd_status status = start_torches(&t, &err);
    for (int i = VD_NETWORK_MVAN + 1; i < VD_NETWORKS && status == VD_OK; i++)
        if (wanted[i] && t.count)
            status = check_network(&t, (vd_network_kind)i, &err);
    for (int i = VD_NETWORK_MVAN + 1; i < VD_NETWORKS && status == VD_OK && !check_only; i++)
        if (wanted[i])
            status = measure_network(&t, (vd_network_kind)i, &whole[i], &few[i], &err);
    torches_stop(&t);
    if (status != VD_OK)
        return bench_fail(&err);
    if (check_only)
        return 0;
    print_all(&t, "two candidates, the same for every question", wanted, few, -1);
    if (!two_only)
        print_all(&t, "100 candidates a question", wanted, whole, RATIO_BAR);
    return 0;
}
