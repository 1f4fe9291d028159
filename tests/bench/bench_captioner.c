// Captioners at their public size (d 512, 8 heads, N 3, f 2048, V 10,000, 36 regions of 2,048): a
// caption of 20 words, greedy and by a beam of five, in 32 and 16 bits, the bundled captioner; and
// the training step of 10 pictures with 5 captions each, in alternation with the same model in
// PyTorch, plain and tuned (captions_torch.py), with the share of the machine's matrix rate. The
// last lines are a table.
//
// First all sides take two steps without dropout from equal weights, of a small model and of one of
// the public size: their losses and the norms of their gradients must be equal.
//
//   bench_captioner [check | say | step] [CAPTIONER]...    check: measures nothing; say: only
//                                                          captions; step: only steps
#include "tests/bench/bench.h"

#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "engine/model/captioner.h"
#include "engine/networks/captions/captions.h"
#include "tests/bench/figures.h"
#include "tests/bench/machine.h"
#include "tests/bench/torch.h"
#include "tests/support/step.h"

enum {
    V = 10000,
    P = 36,
    D = 2048,
    PICTURES = 10,
    EACH = 5,
    CAPTIONS = PICTURES * EACH,
    PATH = 256,
    LINE = 512,
    STEPS = 7,
    SAYINGS = 15
};

static const char directory[] = "build/bench";
static bool no_steps, no_captions, check_only;

// Of PyTorch's program.
static const char *const forms[] = {"plain", "tuned"};
enum { FORMS = sizeof forms / sizeof *forms };

// What is measured.
static const struct kind {
    const char *name, *history;
    vd_captioner_kind captioner;
    vd_caption_history of;
} kinds[] = {{"transformer", "none", VD_CAPTIONER_TRANSFORMER, VD_HISTORY_NONE},
             {"cat", "complete", VD_CAPTIONER_CAT, VD_HISTORY_COMPLETE},
             {"lightcat", "light", VD_CAPTIONER_CAT, VD_HISTORY_LIGHT}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static vd_config config_of(const struct kind *kind, bool small)
{
    const vd_caption_config c = {.captioner = kind->captioner,
                                 .vocab = V,
                                 .region = D,
                                 .hidden = small ? 32 : 512,
                                 .embed = 64,
                                 .heads = 8,
                                 .layers = small ? 2 : 3,
                                 .inner = small ? 48 : 2048,
                                 .history = kind->of,
                                 .shared = 1};
    return vd_config_of_captioner(&c);
}

// ---- the batch ----------------------------------------------------------------------------------

static float image[PICTURES * P * D];
static int32_t word[CAPTIONS * VD_MAX_CAPTION], length[CAPTIONS];
static int picture[CAPTIONS];

// How many captions of COCO have 7, 8, ... words: the first 97 of VisDial's val split; what is
// longer than 20 is cut there.
enum { SHORTEST = 7, COUNTED = 97 };
static const int captions_of[] = {1, 12, 19, 10, 10, 11, 13, 8, 7, 3, 0, 0, 1, 2};

// Of caption c: the lengths at equal steps of their distribution.
static int length_of(int c)
{
    int words = SHORTEST, left = (2 * c + 1) * COUNTED / (2 * CAPTIONS);
    while (left >= captions_of[words - SHORTEST])
        left -= captions_of[words++ - SHORTEST];
    return words;
}

static vd_batch make_batch(void)
{
    static vd_caption_batch captions = {CAPTIONS, VD_MAX_CAPTION, word, length, picture};
    vd_rng rng = vd_rng_seed(12, 1);
    for (int i = 0; i < PICTURES * P * D; i++)
        image[i] = (float)fmax(0, vd_rng_normal(&rng));
    for (int c = 0; c < CAPTIONS; c++) {
        picture[c] = c / EACH;
        length[c] = length_of(c * 7 % CAPTIONS);
        for (int i = 0; i < length[c]; i++)
            word[c * VD_MAX_CAPTION + i] = VD_FIRST_WORD + vd_rng_below(&rng, V - VD_FIRST_WORD);
    }
    return (vd_batch){.dialogs = PICTURES, .regions = P, .image = image, .captions = &captions};
}

static vd_status write_batch(const char *path, vd_error *err)
{
    static const size_t shape[3][3] = {{PICTURES, P, D}, {CAPTIONS, VD_MAX_CAPTION}, {CAPTIONS}};
    vd_safetensors_writer *writer = NULL;
    vd_status status = vd_safetensors_create(path, &writer, err);
    if (status == VD_OK)
        status = vd_safetensors_declare(writer, "image", VD_F32, 3, shape[0], err);
    if (status == VD_OK)
        status = vd_safetensors_declare(writer, "words", VD_I32, 2, shape[1], err);
    if (status == VD_OK)
        status = vd_safetensors_declare(writer, "length", VD_I32, 1, shape[2], err);
    if (status == VD_OK)
        status = vd_safetensors_append(writer, image, PICTURES * P * D, err);
    if (status == VD_OK)
        status = vd_safetensors_append(writer, word, CAPTIONS * VD_MAX_CAPTION, err);
    if (status == VD_OK)
        status = vd_safetensors_append(writer, length, CAPTIONS, err);
    if (status == VD_OK)
        return vd_safetensors_commit(writer, err);
    vd_safetensors_abort(writer);
    return status;
}

// ---- trainers -----------------------------------------------------------------------------------

static vd_status make_vocab(vd_vocab **out, vd_error *err)
{
    static char text[V][8];
    static const char *list[V];
    for (int i = 0; i < V - VD_FIRST_WORD; i++) {
        snprintf(text[i], sizeof text[i], "w%d", i);
        list[i] = text[i];
    }
    return vd_vocab_from_words(list, V - VD_FIRST_WORD, out, err);
}

static vd_status new_trainer(const vd_config *config, double dropout, double rate, vd_trainer **out,
                             vd_error *err)
{
    vd_vocab *vocab = NULL;
    vd_train_options options = vd_train_defaults();
    options.dropout = dropout;
    options.clip = 5;
    options.rate = rate;
    vd_status status = make_vocab(&vocab, err);
    if (status == VD_OK)
        status = vd_trainer_new(config, vocab, &options, out, err);
    vd_vocab_free(vocab);
    return status;
}

static char *path_of(const struct kind *kind, const char *suffix, char path[PATH])
{
    snprintf(path, PATH, "%s/%s%s.safetensors", directory, kind->name, suffix);
    return path;
}

// PyTorch starts from the same weights.
static vd_status share_weights(torches *t, const struct kind *kind, const vd_trainer *trainer,
                               vd_error *err)
{
    const vd_train_options *o = vd_trainer_options(trainer);
    char path[PATH], line[LINE];
    double unused;
    vd_status status = vd_trainer_save_model(trainer, path_of(kind, "-start", path), VD_F32, err);
    snprintf(line, sizeof line, "load %s %d %s %g %g %g", kind->history,
             vd_trainer_config(trainer)->caption.heads, path, o->rate, o->dropout, o->clip);
    for (int i = 0; i < t->count && status == VD_OK; i++)
        if (!torch_ask(&t->list[i], line, &unused, &unused))
            status =
                vd_error_set(err, VD_IO, "PyTorch %s did not load %s", t->list[i].version, path);
    return status;
}

static vd_status take_step(vd_trainer *trainer, const vd_batch *batch, double *loss, double *norm,
                           vd_error *err)
{
    vd_status status =
        step_gradient(trainer, batch, 1, vd_captions_totals(batch->captions), loss, err);
    return status ? status : vd_trainer_update(trainer, 1, loss, norm, err);
}

// ---- is it the same model? ----------------------------------------------------------------------

// Of the larger one.
static double difference(double a, double b)
{
    return fabs(a - b) / fmax(fmax(fabs(a), fabs(b)), 1e-30);
}

// How much the PyTorch's next step differs.
static double check_form(torch *t, const char *form, double loss, double norm)
{
    char line[LINE];
    double their_loss, their_norm;
    snprintf(line, sizeof line, "learn %s", form);
    if (!torch_ask(t, line, &their_loss, &their_norm))
        return INFINITY;
    double worst = fmax(difference(loss, their_loss), difference(norm, their_norm));
    if (!(worst <= 1e-4))
        printf("# loss %.7g, gradient %.7g; in PyTorch %s, %s: %.7g, %.7g\n", loss, norm,
               t->version, form, their_loss, their_norm);
    return worst;
}

static vd_status check_kind(torches *t, const struct kind *kind, bool small, const vd_batch *batch,
                            vd_error *err)
{
    const vd_config config = config_of(kind, small);
    vd_trainer *trainer = NULL;
    double worst = 0, loss, norm;
    vd_status status = new_trainer(&config, 0, small ? 1e-3 : 1e-5, &trainer, err);
    if (status == VD_OK)
        status = share_weights(t, kind, trainer, err);
    for (int i = 0; i < 2 && status == VD_OK; i++) {
        status = take_step(trainer, batch, &loss, &norm, err);
        for (int k = 0; k < t->count * FORMS && status == VD_OK; k++)
            worst = fmax(worst, check_form(&t->list[k / FORMS], forms[k % FORMS], loss, norm));
        if (!(worst <= 1e-4))
            status =
                vd_error_set(err, VD_FORMAT, "%s: the same step differs in PyTorch", kind->name);
    }
    vd_trainer_free(trainer);
    if (status == VD_OK)
        printf("# %s, %s: losses and gradients are as in PyTorch, but for %.0e of them at most\n",
               kind->name, small ? "small" : "public size", worst);
    fflush(stdout);
    return status;
}

// ---- training steps -----------------------------------------------------------------------------

// Products of a step with gradients, three for each forward.
static double step_flops(const struct kind *kind, const vd_batch *batch)
{
    const vd_config config = config_of(kind, false);
    const vd_caption_config *c = &config.caption;
    double d = c->hidden, f = c->inner, n = c->layers, k = PICTURES * P;
    double w = (double)vd_captions_totals(batch->captions).words;
    double regions = D * d + n * (4 * d * d + 2 * d * f) + n * 2 * d * d;
    double words = n * (4 * d * d + 2 * d * d + 2 * d * f) + d * V;
    words += kind->of == VD_HISTORY_COMPLETE ? n * 3 * d * d
             : kind->of == VD_HISTORY_LIGHT  ? n * 2 * d * d
                                             : 0;
    return 3 * 2 * (k * regions + w * words);
}

// Processor time is about the same on a busy machine, where the wall's is several times as long.
static series cpu_of(const series *s)
{
    series cpu = *s;
    memcpy(cpu.wall, s->cpu, sizeof cpu.wall);
    return cpu;
}

// GFLOP a second of one core's processor time, as measure_machine has those of both.
static double core_rate(void)
{
    enum { SIDE = 1024, TIMES = 12 };
    static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];
    double best = 0;
    int threads = openblas_get_num_threads();
    openblas_set_num_threads(1);
    for (int i = 0; i < SIDE * SIDE; i++)
        a[i] = b[i] = 1e-3F;
    for (int i = 0; i < TIMES; i++) {
        double cpu = cpu_now();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, a, SIDE, b,
                    SIDE, 0, c, SIDE);
        best = fmax(best, 2.0 * SIDE * SIDE * SIDE / (cpu_now() - cpu) * 1e-6);
    }
    openblas_set_num_threads(threads);
    return best;
}

static void report_pytorch(const torches *t, const struct kind *kind, const char *form, double ours,
                           double floor, series *theirs)
{
    char name[64];
    snprintf(name, sizeof name, "%s, training step, %s", kind->name, form);
    detail_torch(t, name, theirs);
    add_row(name, ours, theirs, floor, -1, t->count ? 2 : -1, "ms");
}

static void report_steps(const torches *t, const struct kind *kind, double flops, series *ours,
                         series theirs[FORMS][MOST_TORCHES])
{
    char name[64];
    const series cpu = cpu_of(ours);
    double rate = core_rate();
    snprintf(name, sizeof name, "%s, training step", kind->name);
    detail(name, ours);
    for (int form = 0; form < FORMS; form++)
        report_pytorch(t, kind, forms[form], median(ours), floor_of(0, flops), theirs[form]);
    printf("%-44s %.1f GFLOP; a core does %.0f GFLOP/s\n", name, flops * 1e-9, rate);
    snprintf(name, sizeof name, "%s, share of the matrix rate in it", kind->name);
    add_row(name, 100 * flops / rate * 1e-6 / median(&cpu), NULL, -1, 60, -1, "%");
    fflush(stdout);
}

static vd_status measure_steps(torches *t, const struct kind *kind, const vd_batch *batch,
                               vd_error *err)
{
    const vd_config config = config_of(kind, false);
    vd_trainer *trainer = NULL;
    series ours = {.count = 0}, theirs[FORMS][MOST_TORCHES];
    vd_status status = new_trainer(&config, 0.1, 1e-5, &trainer, err);
    if (status == VD_OK)
        status = share_weights(t, kind, trainer, err);
    for (int i = -1; i < STEPS && status == VD_OK; i++) {
        if (i <= 0) { // the first was only to warm up
            ours.count = 0;
            memset(theirs, 0, sizeof theirs);
        }
        double loss, cpu = cpu_now(), began = bench_now();
        status = take_step(trainer, batch, &loss, NULL, err);
        ours.wall[ours.count] = bench_now() - began;
        ours.cpu[ours.count++] = cpu_now() - cpu;
        for (int form = 0; form < FORMS; form++) {
            char line[LINE];
            snprintf(line, sizeof line, "step %s", forms[form]);
            run_torch(t, line, theirs[form]);
        }
    }
    vd_trainer_free(trainer);
    if (status != VD_OK)
        return status;
    report_steps(t, kind, step_flops(kind, batch), &ours, theirs);
    return VD_OK;
}

// ---- captions -----------------------------------------------------------------------------------

typedef struct sayer {
    vd_captioner *captioner;
    vd_generation how;
    series times;
    char name[80];
    double bar;                // milliseconds; < 0: none
    const struct sayer *plain; // NULL, or the Transformer's, from which the bar comes
    int words;
} sayer;

// Random weights as models of the public size.
static vd_status write_models(const struct kind *kind, vd_error *err)
{
    const vd_config config = config_of(kind, false);
    char path[PATH];
    vd_trainer *trainer = NULL;
    vd_status status = new_trainer(&config, 0, 1e-3, &trainer, err);
    if (status == VD_OK)
        status = vd_trainer_save_model(trainer, path_of(kind, "", path), VD_F32, err);
    if (status == VD_OK)
        status = vd_trainer_save_model(trainer, path_of(kind, "-half", path), VD_F16, err);
    vd_trainer_free(trainer);
    return status;
}

static vd_status add_sayer(sayer *list, int *count, const char *name, const char *path, int beam,
                           double bar, vd_error *err)
{
    sayer *s = &list[(*count)++];
    *s = (sayer){.how = {.beam = beam, .longest = VD_MAX_CAPTION}, .bar = bar};
    snprintf(s->name, sizeof s->name, "%s, %s", name, beam == 1 ? "greedy" : "beam of 5");
    return vd_captioner_load(path, &s->captioner, err);
}

static vd_status say_once(sayer *s, vd_error *err)
{
    vd_generated_caption said[VD_MOST_BEAMS];
    int count;
    double cpu = cpu_now(), began = bench_now();
    vd_status status = vd_captioner_generate(s->captioner, image, P, &s->how, said, 1, &count, err);
    s->times.wall[s->times.count] = bench_now() - began;
    s->times.cpu[s->times.count++] = cpu_now() - cpu;
    s->words = status == VD_OK ? said[0].length + said[0].ended : 0;
    return status;
}

static vd_status list_sayers(const bool *wanted, sayer *list, int *count, vd_error *err)
{
    vd_status status = VD_OK;
    char path[PATH], name[64];
    for (int k = 0; k < KINDS && status == VD_OK; k++)
        status = wanted[k] ? write_models(&kinds[k], err) : VD_OK;
    for (int k = 0; k < KINDS; k++)
        for (int half = 0; half < 2; half++)
            for (int beam = 1; beam <= 5 && wanted[k] && status == VD_OK; beam += 4) {
                snprintf(name, sizeof name, "%s%s", kinds[k].name, half ? ", 16 bits" : "");
                sayer *s = &list[*count];
                status = add_sayer(list, count, name, path_of(&kinds[k], half ? "-half" : "", path),
                                   beam, half ? (beam == 1 ? 30 : 60) : (beam == 1 ? 50 : 90), err);
                s->plain = k > 0 && wanted[0] ? &list[2 * half + beam / 5] : NULL;
            }
    for (int beam = 1; beam <= 5 && status == VD_OK; beam += 4)
        status = add_sayer(list, count, "bundled captioner", "assets/captioner.safetensors", beam,
                           beam == 1 ? 5 : -1, err);
    return status;
}

static void report_sayer(sayer *s)
{
    const double most_cost = 1.2; // of a captioner with a history, in Transformers
    char name[96];
    snprintf(name, sizeof name, "%s, %d words", s->name, s->words);
    detail(name, &s->times);
    add_row(s->name, median(&s->times), NULL, -1,
            s->plain ? most_cost * median(&s->plain->times) : s->bar, -1, "ms");
}

// Of the bundled captioner the regions are the first numbers of the batch's.
static vd_status measure_captions(const bool *wanted, vd_error *err)
{
    static sayer list[4 * KINDS + 2];
    int count = 0;
    vd_status status = list_sayers(wanted, list, &count, err);
    for (int i = -1; i < SAYINGS && status == VD_OK; i++)
        for (int k = 0; k < count && status == VD_OK; k++) {
            status = say_once(&list[k], err);
            list[k].times.count = i < 0 ? 0 : list[k].times.count;
        }
    for (int k = 0; k < count; k++) {
        if (status == VD_OK)
            report_sayer(&list[k]);
        vd_captioner_free(list[k].captioner);
    }
    return status;
}

// ---- the program --------------------------------------------------------------------------------

static vd_status read_arguments(int argc, char **argv, bool *wanted, vd_error *err)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        bool known = true;
        if (strcmp(argv[i], "check") == 0)
            check_only = true;
        else if (strcmp(argv[i], "say") == 0)
            no_steps = true;
        else if (strcmp(argv[i], "step") == 0)
            no_captions = true;
        else
            known = false;
        for (int k = 0; k < KINDS && !known; k++)
            if (strcmp(argv[i], kinds[k].name) == 0)
                known = any = wanted[k] = true;
        if (!known)
            return vd_error_set(err, VD_USAGE, "%s: expected transformer, cat or lightcat",
                                argv[i]);
    }
    for (int k = 0; k < KINDS && !any; k++)
        wanted[k] = true;
    return VD_OK;
}

static vd_status start_torches(torches *t, vd_error *err)
{
    char path[PATH], threads[16];
    mkdir("build", 0777);
    mkdir(directory, 0777);
    snprintf(path, sizeof path, "%s/captions.safetensors", directory);
    snprintf(threads, sizeof threads, "%d", vd_threads_count());
    vd_status status = write_batch(path, err);
    if (status == VD_OK && !no_steps)
        *t = torches_start("tests/bench/captions_torch.py",
                           (const char *const[6]){"--batch", path, "--threads", threads});
    return status;
}

int main(int argc, char **argv)
{
    bool wanted[KINDS] = {false};
    torches t = {.count = 0};
    vd_error err = {0};
    if (read_arguments(argc, argv, wanted, &err) != VD_OK)
        return bench_fail(&err);
    bench_machine("bench_captioner");
    const vd_batch batch = make_batch();
    vd_status status = start_torches(&t, &err);
    for (int i = 0; i < 2 * KINDS && status == VD_OK && t.count; i++)
        if (wanted[i / 2])
            status = check_kind(&t, &kinds[i / 2], i % 2 == 0, &batch, &err);
    if (!check_only)
        measure_machine();
    for (int k = 0; k < KINDS && status == VD_OK && !check_only && !no_steps; k++)
        if (wanted[k])
            status = measure_steps(&t, &kinds[k], &batch, &err);
    torches_stop(&t);
    if (status == VD_OK && !check_only && !no_captions)
        status = measure_captions(wanted, &err);
    if (status != VD_OK)
        return bench_fail(&err);
    if (!check_only)
        print_table(&t);
    return 0;
}
