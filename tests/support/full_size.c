#include "tests/support/full_size.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "features/regions/regions.h"

enum {
    N = FULL_MOST_DIALOGS * FULL_ROUNDS,
    TOTAL = N * FULL_CANDIDATES,
    PICTURE_SIZE = FULL_REGIONS * FULL_REGION,
    MISSING = 6, // regions of the last picture
    WORDS = FULL_VOCAB - VD_FIRST_WORD,
    PATH = 1024,
    PICTURE = 1
};

// ---- random text --------------------------------------------------------------------------------

// 0..n-1, the small ones more often: the logarithm is nearly uniform.
static int skewed(vd_rng *rng, int n, double power)
{
    return (int)pow(n + 1, pow(vd_rng_uniform(rng), power)) - 1;
}

// <S> answer </S>, cut. A third are one of a hundred short ones; in the others every word is one
// of thirty that can follow the one before.
static int random_answer(vd_rng *rng, int32_t *ids)
{
    int n = 0;
    ids[n++] = VD_START;
    if (vd_rng_uniform(rng) < 0.36) {
        uint64_t which = vd_rng_mix((uint64_t)skewed(rng, 100, 1) + 99);
        for (int words = 1 + (int)(which % 3); words > 0; words--)
            ids[n++] = VD_FIRST_WORD + (int32_t)(vd_rng_mix(which + (uint64_t)words) % 300);
    } else {
        double sum = vd_rng_uniform(rng) + vd_rng_uniform(rng) + vd_rng_uniform(rng);
        uint64_t before = 7;
        for (int words = 1 + (int)(5.2 * sum * 2 / 3); words > 0; words--) {
            int k = skewed(rng, n == 1 ? 60 : 30, 1.2);
            double u = (double)(vd_rng_mix(before * 1000003 + (uint64_t)k) % 100000) / 1e5;
            before = (uint64_t)pow(4001, u);
            ids[n++] = VD_FIRST_WORD + (int32_t)before - 1;
        }
    }
    ids[n++] = VD_END;
    return n < VD_MAX_CANDIDATE - 1 ? n : VD_MAX_CANDIDATE - 1;
}

static int random_words(vd_rng *rng, int32_t *ids, int least, int most)
{
    int n = least + vd_rng_below(rng, most - least + 1);
    for (int i = 0; i < n; i++)
        ids[i] = VD_FIRST_WORD + skewed(rng, WORDS, 1);
    return n;
}

vd_config full_size_config(void)
{
    return (vd_config){.vocab = FULL_VOCAB,
                       .embed = FULL_EMBED,
                       .hidden = FULL_HIDDEN,
                       .region = FULL_REGION,
                       .gate = VD_GATE_LEAKY_RELU,
                       .positions = VD_POSITIONS_NONE,
                       .decoders = VD_DISCRIMINATIVE};
}

vd_status full_size_vocab(vd_vocab **out, vd_error *err)
{
    static char text[WORDS][8];
    static const char *word[WORDS];
    for (int i = 0; i < WORDS; i++) {
        snprintf(text[i], sizeof text[i], "w%d", VD_FIRST_WORD + i);
        word[i] = text[i];
    }
    return vd_vocab_from_words(word, WORDS, out, err);
}

vd_status full_size_pool(int count, int repeat, int32_t **tokens, int32_t **lengths, vd_error *err)
{
    vd_rng rng = vd_rng_seed(5, 5);
    *tokens = vd_alloc((size_t)count * VD_MAX_CANDIDATE, sizeof **tokens);
    *lengths = vd_alloc((size_t)count, sizeof **lengths);
    if (!*tokens || !*lengths) {
        vd_free(*tokens);
        vd_free(*lengths);
        return vd_error_memory(err, "the answers");
    }
    for (int i = 0; i < count; i++) {
        int32_t *ids = *tokens + (size_t)i * VD_MAX_CANDIDATE;
        if (i < repeat) {
            (*lengths)[i] = random_answer(&rng, ids);
            memset(ids + (*lengths)[i], 0,
                   (size_t)(VD_MAX_CANDIDATE - (*lengths)[i]) * sizeof *ids);
        } else {
            memcpy(ids, ids - (size_t)repeat * VD_MAX_CANDIDATE, VD_MAX_CANDIDATE * sizeof *ids);
            (*lengths)[i] = (*lengths)[i - repeat];
        }
    }
    return VD_OK;
}

// ---- the batch ----------------------------------------------------------------------------------

static float image[FULL_MOST_DIALOGS * PICTURE_SIZE];
static int32_t question[N * VD_MAX_QUESTION], question_length[N];
static int32_t history[N * VD_MAX_HISTORY], history_length[N];
static int32_t all[TOTAL * VD_MAX_CANDIDATE], all_length[TOTAL];
static int32_t distinct[TOTAL * VD_MAX_CANDIDATE], distinct_length[TOTAL];
static int32_t option[TOTAL], truth[N];

static int find_distinct(const int32_t *ids, int length, int *count)
{
    size_t bytes = VD_MAX_CANDIDATE * sizeof *ids;
    for (int i = 0; i < *count; i++)
        if (memcmp(distinct + (size_t)i * VD_MAX_CANDIDATE, ids, bytes) == 0)
            return i;
    memcpy(distinct + (size_t)*count * VD_MAX_CANDIDATE, ids, bytes);
    distinct_length[*count] = length;
    return (*count)++;
}

static void fill_dialog(vd_rng *rng, int dialog)
{
    for (int r = 0; r < FULL_ROUNDS; r++) {
        int n = dialog * FULL_ROUNDS + r;
        int32_t *q = question + (size_t)n * VD_MAX_QUESTION;
        int32_t *h = history + (size_t)n * VD_MAX_HISTORY;
        question_length[n] = random_words(rng, q, 4, 9);
        if (r == 0) {
            history_length[n] = random_words(rng, h, 8, 16);
        } else {
            int before = question_length[n - 1];
            memcpy(h, q - VD_MAX_QUESTION, (size_t)before * sizeof *h);
            h[before] = VD_START;
            int answer = random_words(rng, h + before + 1, 1, 5);
            h[before + 1 + answer] = VD_END;
            h[before + 2 + answer] = VD_END;
            history_length[n] = before + answer + 3;
        }
        truth[n] = vd_rng_below(rng, FULL_CANDIDATES);
        for (int o = 0; o < FULL_CANDIDATES; o++) {
            size_t at = (size_t)n * FULL_CANDIDATES + (size_t)o;
            int32_t *ids = all + at * VD_MAX_CANDIDATE;
            int length = random_answer(rng, ids);
            memset(ids + length, 0, (size_t)(VD_MAX_CANDIDATE - length) * sizeof *ids);
            all_length[at] = length;
        }
    }
}

static int distinct_of[FULL_MOST_DIALOGS + 1]; // of the first so many dialogs

// Pooled activations of a ReLU: no negative ones, half of them zero.
static void fill_pictures(vd_rng *rng, int first, int count)
{
    float *x = image + (size_t)first * PICTURE_SIZE;
    for (size_t i = 0; i < (size_t)count * PICTURE_SIZE; i++)
        x[i] = (float)fmax(0, vd_rng_normal(rng));
}

static void list_candidates(int dialog)
{
    const int each = FULL_ROUNDS * FULL_CANDIDATES;
    int count = distinct_of[dialog];
    for (int i = dialog * each; i < (dialog + 1) * each; i++)
        option[i] = find_distinct(all + (size_t)i * VD_MAX_CANDIDATE, all_length[i], &count);
    distinct_of[dialog + 1] = count;
}

static void make_dialogs(void)
{
    vd_rng rng = vd_rng_seed(11, 3);
    for (int d = 0; d < FULL_MOST_DIALOGS; d++) {
        if (d % FULL_DIALOGS == 0)
            fill_pictures(&rng, d, FULL_DIALOGS);
        fill_dialog(&rng, d);
        list_candidates(d);
    }
    float *missing = image + (size_t)FULL_MOST_DIALOGS * PICTURE_SIZE - MISSING * FULL_REGION;
    memset(missing, 0, MISSING * FULL_REGION * sizeof *missing);
}

vd_batch full_size_batch(int dialogs)
{
    if (distinct_of[1] == 0)
        make_dialogs();
    return (vd_batch){.dialogs = dialogs,
                      .rounds = FULL_ROUNDS,
                      .regions = FULL_REGIONS,
                      .candidates = FULL_CANDIDATES,
                      .question_width = VD_MAX_QUESTION,
                      .history_width = VD_MAX_HISTORY,
                      .candidate_width = VD_MAX_CANDIDATE,
                      .distinct = distinct_of[dialogs],
                      .image = image,
                      .question = question,
                      .question_length = question_length,
                      .history = history,
                      .history_length = history_length,
                      .candidate = distinct,
                      .candidate_length = distinct_length,
                      .option = option,
                      .truth = truth};
}

// ---- files --------------------------------------------------------------------------------------

static vd_status write_models(const char *directory, vd_error *err)
{
    vd_config config = full_size_config();
    vd_train_options options = vd_train_defaults();
    vd_vocab *vocab = NULL;
    vd_trainer *trainer = NULL;
    char path[PATH];
    vd_status status = full_size_vocab(&vocab, err);
    if (status == VD_OK)
        status = vd_trainer_new(&config, vocab, &options, &trainer, err);
    if (status == VD_OK) {
        snprintf(path, sizeof path, "%s/model.safetensors", directory);
        status = vd_trainer_save_model(trainer, path, VD_F32, err);
    }
    if (status == VD_OK) {
        snprintf(path, sizeof path, "%s/half.safetensors", directory);
        status = vd_trainer_save_model(trainer, path, VD_F16, err);
    }
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
    return status;
}

vd_status full_size_write_batch(const char *path, int dialogs, vd_error *err)
{
    size_t b = (size_t)dialogs;
    (void)full_size_batch(dialogs);
    const struct {
        const char *name;
        const void *data;
        vd_dtype type;
        int dims;
        size_t shape[4];
    } part[] = {
        {"img_feat", image, VD_F32, 3, {b, FULL_REGIONS, FULL_REGION}},
        {"ques", question, VD_I32, 3, {b, FULL_ROUNDS, VD_MAX_QUESTION}},
        {"ques_len", question_length, VD_I32, 2, {b, FULL_ROUNDS}},
        {"hist", history, VD_I32, 3, {b, FULL_ROUNDS, VD_MAX_HISTORY}},
        {"hist_len", history_length, VD_I32, 2, {b, FULL_ROUNDS}},
        {"opt", all, VD_I32, 4, {b, FULL_ROUNDS, FULL_CANDIDATES, VD_MAX_CANDIDATE}},
        {"opt_len", all_length, VD_I32, 3, {b, FULL_ROUNDS, FULL_CANDIDATES}},
        {"gt_index", truth, VD_I32, 2, {b, FULL_ROUNDS}},
    };
    enum { PARTS = sizeof part / sizeof *part };
    vd_safetensors_writer *writer = NULL;
    vd_status status = vd_safetensors_create(path, &writer, err);
    for (int i = 0; status == VD_OK && i < PARTS; i++)
        status = vd_safetensors_declare(writer, part[i].name, part[i].type, part[i].dims,
                                        part[i].shape, err);
    for (int i = 0; status == VD_OK && i < PARTS; i++) {
        size_t elements = 1;
        for (int k = 0; k < part[i].dims; k++)
            elements *= part[i].shape[k];
        status = vd_safetensors_append(writer, part[i].data, elements, err);
    }
    if (status == VD_OK)
        return vd_safetensors_commit(writer, err);
    vd_safetensors_abort(writer);
    return status;
}

static vd_status write_texts(const char *world, int pool, vd_error *err)
{
    int32_t *tokens, *lengths;
    char path[PATH];
    vd_status status = full_size_pool(pool, pool, &tokens, &lengths, err);
    if (status != VD_OK)
        return status;
    snprintf(path, sizeof path, "%s/pool.txt", world);
    FILE *out = fopen(path, "w");
    for (int i = 0; out && i < pool; i++) {
        fprintf(out, "%d\t", pool - i);
        for (int k = 1; k < lengths[i] - 1; k++)
            fprintf(out, "%sw%d", k > 1 ? " " : "", tokens[i * VD_MAX_CANDIDATE + k]);
        fprintf(out, "\n");
    }
    bool failed = !out || fclose(out) != 0;
    snprintf(path, sizeof path, "%s/dialogs.json", world);
    out = failed ? NULL : fopen(path, "w");
    if (out)
        fprintf(out,
                "{\"version\": \"1.0\", \"split\": \"val\", \"data\": {\"questions\": [\"w4\"], "
                "\"answers\": [\"w5\", \"w6\"], \"dialogs\": [{\"image_id\": %d, \"caption\": \"w6 "
                "w7 w8 w9 w10 w11 w12 w13 w14 w15\", \"dialog\": [{\"question\": 0, \"answer\": 0, "
                "\"answer_options\": [0, 1], \"gt_index\": 0}]}]}}\n",
                PICTURE);
    failed = !out || fclose(out) != 0;
    vd_free(tokens);
    vd_free(lengths);
    return failed ? vd_error_set(err, VD_IO, "%s: cannot be written", path) : VD_OK;
}

static vd_status make_directory(const char *path, vd_error *err)
{
    if (mkdir(path, 0777) == 0 || access(path, W_OK) == 0)
        return VD_OK;
    return vd_error_set(err, VD_IO, "%s: cannot be made", path);
}

vd_status full_size_world(const char *directory, int pool, vd_error *err)
{
    char world[PATH - 32], path[PATH];
    vd_region_set set;
    snprintf(world, sizeof world, "%s/world", directory);
    vd_status status = make_directory(directory, err);
    if (status == VD_OK)
        status = make_directory(world, err);
    if (status == VD_OK)
        status = vd_region_set_new(1, FULL_REGIONS, FULL_REGION, &set, err);
    if (status != VD_OK)
        return status;
    set.image_id[0] = PICTURE;
    set.used[0] = FULL_REGIONS;
    (void)full_size_batch(1);
    for (size_t i = 0; i < (size_t)FULL_REGIONS * FULL_REGION; i++)
        set.features[i] = vd_half_from_float(image[i]);
    for (size_t i = 0; i < FULL_REGIONS; i++)
        memcpy(set.boxes + 4 * i, (float[]){0.25f, 0.25f, 0.75f, 0.75f}, 4 * sizeof *set.boxes);
    snprintf(path, sizeof path, "%s/features.safetensors", world);
    status = vd_region_set_write(&set, path, "random", err);
    vd_region_set_clear(&set);
    return status == VD_OK ? write_texts(world, pool, err) : status;
}

vd_status full_size_write(const char *directory, int pool, vd_error *err)
{
    vd_status status = full_size_world(directory, pool, err);
    if (status == VD_OK)
        status = write_models(directory, err);
    char path[PATH];
    snprintf(path, sizeof path, "%s/batch.safetensors", directory);
    return status == VD_OK ? full_size_write_batch(path, FULL_DIALOGS, err) : status;
}
