// Evaluation of the 97 real dialogs of VisDial's val sample with a random network of the public
// size, beside PyTorch, which scores dialog by dialog as the public code does. Features are random:
// the time does not depend on them. One argument: how many dialogs PyTorch scores (97).
#include <stddef.h>
#include <stdint.h>

#include "engine/base/alloc.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "engine/train/trainer.h"
#include "features/text/tokenize.h"
#include "tests/bench/bench.h"
#include "tests/bench/torch.h"
#include "tests/support/support.h"
#include "tui/measure/measure.h"

enum { VOCAB = 11322, EMBED = 300, HIDDEN = 512, REGION = 2048, REGIONS = 36, RUNS = 3 };

typedef struct world {
    char *directory, *model_path, *batch_path, *features_path;
    vd_visdial *dialogs;
    vd_regions *regions;
    vd_model *model;
    vd_dataset *dataset;
} world;

static vd_status write_features(const world *w, vd_error *err)
{
    size_t n = w->dialogs->dialog_count;
    vd_region_set set;
    vd_status status = vd_region_set_new(n, REGIONS, REGION, &set, err);
    if (status)
        return status;
    vd_rng rng = vd_rng_seed(1, 1);
    for (size_t d = 0; d < n; d++) {
        set.image_id[d] = w->dialogs->dialogs[d].image_id;
        set.used[d] = REGIONS;
        for (size_t i = 0; i < (size_t)REGIONS * REGION; i++)
            set.features[d * REGIONS * REGION + i] =
                vd_half_from_float((float)vd_rng_uniform(&rng));
        for (size_t p = 0; p < REGIONS; p++)
            set.boxes[(d * REGIONS + p) * 4 + 2] = set.boxes[(d * REGIONS + p) * 4 + 3] = 1;
    }
    status = vd_region_set_write(&set, w->features_path, "random", err);
    vd_region_set_clear(&set);
    return status;
}

// Every word of the tables, the candidates' too: with few words different candidates would become
// equal.
static vd_status count_words(const vd_visdial *data, vd_vocab **out, vd_error *err)
{
    vd_word_counts counts = {0};
    vd_status status = VD_OK;
    for (size_t i = 0; status == VD_OK && i < data->question_count + data->answer_count; i++) {
        vd_words words = {0};
        status = vd_tokenize(i < data->question_count ? data->questions[i]
                                                      : data->answers[i - data->question_count],
                             &words, err);
        for (size_t k = 0; status == VD_OK && k < words.count; k++)
            status = vd_word_counts_add(&counts, words.word[k], 1, err);
        vd_words_clear(&words);
    }
    if (status == VD_OK)
        status = vd_word_counts_vocab(&counts, 1, out, err);
    vd_word_counts_clear(&counts);
    return status;
}

// The most frequent words, as many as v1.0's training split gives if there are so many.
static vd_status write_model(const world *w, vd_error *err)
{
    vd_vocab *all = NULL, *vocab = NULL;
    vd_trainer *trainer = NULL;
    const char **words = vd_alloc(VOCAB, sizeof *words);
    vd_status status = count_words(w->dialogs, &all, err);
    size_t count = 0;
    for (int id = VD_FIRST_WORD; status == VD_OK && id < vd_vocab_size(all) && id < VOCAB; id++)
        words[count++] = vd_vocab_word(all, id);
    if (status == VD_OK)
        status = vd_vocab_from_words(words, count, &vocab, err);
    if (status == VD_OK) {
        vd_config config = {.vocab = vd_vocab_size(vocab),
                            .embed = EMBED,
                            .hidden = HIDDEN,
                            .region = REGION,
                            .gate = VD_GATE_LEAKY_RELU};
        vd_train_options options = vd_train_defaults();
        printf("# network: V %d, E %d, H %d, D %d, %d regions\n", config.vocab, EMBED, HIDDEN,
               REGION, REGIONS);
        status = vd_trainer_new(&config, vocab, &options, &trainer, err);
    }
    if (status == VD_OK)
        status = vd_trainer_save_model(trainer, w->model_path, VD_F32, err);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
    vd_vocab_free(all);
    vd_free(words);
    return status;
}

static vd_status put(vd_safetensors_writer *writer, bool declare, const char *name, vd_dtype type,
                     int dims, const int *sizes, const void *data, vd_error *err)
{
    size_t shape[4] = {0}, elements = 1;
    for (int i = 0; i < dims; i++) {
        shape[i] = (size_t)sizes[i];
        elements *= shape[i];
    }
    return declare ? vd_safetensors_declare(writer, name, type, dims, shape, err)
                   : vd_safetensors_append(writer, data, elements, err);
}

// All dialogs as the tensors that mvan_torch.py's modules take: candidates written out.
static vd_status write_batch(const world *w, vd_error *err)
{
    size_t index[256], n = w->dialogs->dialog_count;
    const vd_batch *b;
    vd_loader *loader = NULL;
    vd_safetensors_writer *writer = NULL;
    for (size_t i = 0; i < n; i++)
        index[i] = i;
    vd_status status = vd_loader_new(w->dataset, &loader, err);
    if (status == VD_OK)
        status = vd_loader_batch(loader, index, n, NULL, &b, err);
    if (status == VD_OK)
        status = vd_safetensors_create(w->batch_path, &writer, err);
    if (status) {
        vd_loader_free(loader);
        return status;
    }
    int d = b->dialogs, r = b->rounds, o = b->candidates, to = b->candidate_width;
    size_t all = (size_t)d * (size_t)r * (size_t)o;
    int32_t *opt = vd_alloc(all, (size_t)to * sizeof *opt), *length = vd_alloc(all, sizeof *length);
    for (size_t i = 0; i < all; i++) {
        memcpy(opt + i * (size_t)to, b->candidate + (size_t)b->option[i] * (size_t)to,
               (size_t)to * sizeof *opt);
        length[i] = b->candidate_length[b->option[i]];
    }
    for (int pass = 0; status == VD_OK && pass < 2; pass++) {
        const struct {
            const char *name;
            vd_dtype type;
            int dims, sizes[4];
            const void *data;
        } parts[] = {
            {"img_feat", VD_F32, 3, {d, b->regions, REGION}, b->image},
            {"ques", VD_I32, 3, {d, r, b->question_width}, b->question},
            {"ques_len", VD_I32, 2, {d, r}, b->question_length},
            {"hist", VD_I32, 3, {d, r, b->history_width}, b->history},
            {"hist_len", VD_I32, 2, {d, r}, b->history_length},
            {"opt", VD_I32, 4, {d, r, o, to}, opt},
            {"opt_len", VD_I32, 3, {d, r, o}, length},
            {"gt_index", VD_I32, 2, {d, r}, b->truth},
        };
        for (size_t i = 0; status == VD_OK && i < sizeof parts / sizeof *parts; i++)
            status = put(writer, pass == 0, parts[i].name, parts[i].type, parts[i].dims,
                         parts[i].sizes, parts[i].data, err);
    }
    if (status == VD_OK)
        status = vd_safetensors_commit(writer, err);
    else
        vd_safetensors_abort(writer);
    vd_free(opt);
    vd_free(length);
    vd_loader_free(loader);
    return status;
}

static vd_status make_world(world *w, const char *data, vd_error *err)
{
    w->directory = support_temp_dir();
    w->model_path = support_join(w->directory, "model.safetensors");
    w->batch_path = support_join(w->directory, "batch.safetensors");
    w->features_path = support_join(w->directory, "features.safetensors");
    vd_status status = vd_visdial_read(data, &w->dialogs, err);
    if (status == VD_OK)
        status = write_features(w, err);
    if (status == VD_OK)
        status = vd_regions_open(w->features_path, &w->regions, err);
    if (status == VD_OK)
        status = write_model(w, err);
    if (status == VD_OK)
        status = vd_model_load(w->model_path, &w->model, err);
    if (status == VD_OK)
        status = vd_dataset_new(w->dialogs, w->regions, vd_model_vocab(w->model), &w->dataset, err);
    return status == VD_OK ? write_batch(w, err) : status;
}

static void remove_world(world *w)
{
    vd_dataset_free(w->dataset);
    vd_model_free(w->model);
    vd_regions_close(w->regions);
    vd_visdial_free(w->dialogs);
    support_remove_tree(w->directory);
    free(w->features_path);
    free(w->batch_path);
    free(w->model_path);
    free(w->directory);
}

// ---- the two halves -----------------------------------------------------------------------------

// Milliseconds of a whole evaluation, from no candidate encoded to all metrics; rank: the sum of
// the human answers' ranks in each dialog.
static vd_status evaluate(const world *w, int workers, double *milliseconds, double *rank,
                          vd_error *err)
{
    vd_measure measure = {0};
    const vd_measure_options options = {0};
    double start = bench_now();
    vd_measure_source source = vd_measure_model_open(w->model, VD_DISCRIMINATIVE, workers);
    vd_status status = vd_measure_run(w->dataset, &source, &options, &measure, err);
    *milliseconds = bench_now() - start;
    for (size_t d = 0; status == VD_OK && d < measure.dialogs; d++)
        rank[d] = measure.dialog[d].sum[VD_MEAN_RANK];
    vd_measure_clear(&measure);
    vd_measure_model_close(&source);
    return status;
}

// The results of one PyTorch so far, and our ranks of the same dialogs.
typedef struct tally {
    size_t done;
    double milliseconds, rank, our_rank;
} tally;

static void run_torch(torch *t, size_t upto, const double *our_rank, tally *sum)
{
    char what[64];
    double milliseconds, rank;
    size_t count = upto - sum->done;
    snprintf(what, sizeof what, "%zu %zu", sum->done, count);
    if (count == 0 || !torch_ask(t, what, &milliseconds, &rank))
        return;
    printf("PyTorch %s, %zu dialogs: %.0f ms\n", t->version, count, milliseconds);
    for (; sum->done < upto; sum->done++)
        sum->our_rank += our_rank[sum->done];
    sum->milliseconds += milliseconds;
    sum->rank += rank;
}

static void print_tally(const torch *t, const tally *sum, double ours)
{
    if (sum->done == 0)
        return;
    double rate = 1e3 * (double)sum->done / sum->milliseconds, rounds = 10 * (double)sum->done;
    printf("PyTorch %s: %.3f dialogs/s; visdial is %.1f times as fast (bar: 10)\n", t->version,
           rate, ours / rate);
    printf("mean rank of the human answers of these %zu dialogs: %.4f, PyTorch's %.4f\n", sum->done,
           sum->our_rank / rounds, sum->rank / rounds);
}

static vd_status compare(const world *w, size_t theirs, vd_error *err)
{
    size_t n = w->dialogs->dialog_count;
    double ours[RUNS], rank[256];
    int workers = vd_parallel_threads();
    torches t = {.count = 0};
    if (theirs)
        t = torches_start("tests/bench/eval_torch.py",
                          (const char *const[6]){w->model_path, w->batch_path});
    tally sum[MOST_TORCHES] = {{0}};
    vd_status status = VD_OK;
    // In alternation, so that all run under the same load.
    for (int run = 0; status == VD_OK && run < RUNS; run++) {
        status = evaluate(w, workers, &ours[run], rank, err);
        if (status)
            break;
        printf("visdial, %zu dialogs: %.0f ms\n", n, ours[run]);
        for (int i = 0; i < t.count; i++)
            run_torch(&t.list[i], theirs * (size_t)(run + 1) / RUNS, rank, &sum[i]);
        fflush(stdout);
    }
    if (status == VD_OK) {
        qsort(ours, RUNS, sizeof *ours, bench_compare);
        double rate = 1e3 * (double)n / ours[RUNS / 2];
        printf("\nvisdial: %.2f dialogs/s with %d workers\n", rate, workers);
        for (int i = 0; i < t.count; i++)
            print_tally(&t.list[i], &sum[i], rate);
    }
    torches_stop(&t);
    return status;
}

int main(int argc, char **argv)
{
    world w = {0};
    vd_error err = {0};
    bench_machine("evaluation of 97 real dialogs");
    if (!support_exists("../shared")) {
        printf("# skipped: the sample of real dialogs is not there\n");
        return 0;
    }
    const char *data = support_shared("data/visdial/visdial_1.0_val_sample.json");
    vd_status status = make_world(&w, data, &err);
    size_t theirs = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : SIZE_MAX;
    if (status == VD_OK)
        status =
            compare(&w, theirs < w.dialogs->dialog_count ? theirs : w.dialogs->dialog_count, &err);
    remove_world(&w);
    return status ? bench_fail(&err) : 0;
}
