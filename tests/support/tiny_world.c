#include "tests/support/tiny_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "engine/train/trainer.h"
#include "features/dialogs/dataset.h"
#include "features/pictures/image.h"
#include "features/regions/regions.h"
#include "tests/support/support.h"

// A failed step of the making ends the test with its reason.
static void done(vd_status status, const vd_error *err)
{
    if (status)
        print_error("tiny world: %s\n", err->text);
    assert_int_equal(status, VD_OK);
}

static void write_dialog(FILE *out, int image, const char *before)
{
    static const char *const family[] = {"color", "exist", "color"};
    fprintf(out, "%s{\"image_id\": %d, \"caption\": \"a %s cube and a %s ball\", \"dialog\": [",
            before, image, image % 2 ? "red" : "blue", image % 3 ? "blue" : "red");
    for (int r = 0; r < 3; r++) {
        int answer = r == 1 ? image % 2 : 2 + (image + r) % 2; // yes no | red blue
        int shift = (image + r) % TINY_ANSWERS;
        fprintf(out, "%s{\"question\": %d, \"answer\": %d, \"answer_options\": [", r ? ", " : "", r,
                answer);
        for (int i = 0; i < TINY_ANSWERS; i++)
            fprintf(out, "%s%d", i ? ", " : "", (i + shift) % TINY_ANSWERS);
        fprintf(out, "], \"gt_index\": %d, \"family\": \"%s\", \"coreference\": %d}",
                (answer - shift + TINY_ANSWERS) % TINY_ANSWERS, family[r], r);
    }
    fprintf(out, "]}");
}

static void write_dialogs(const char *path, const char *split, int pictures, int bare)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out,
            "{\"version\": \"1.0\", \"split\": \"%s\", \"data\": {\"questions\": "
            "[\"what color is the cube\", \"is it next to the ball\", \"what color is the ball\"], "
            "\"answers\": [\"yes\", \"no\", \"red\", \"blue\"], \"dialogs\": [\n",
            split);
    for (int image = 1; image <= pictures; image++)
        write_dialog(out, image, image > 1 ? ",\n" : "");
    if (bare)
        write_dialog(out, bare, ",\n");
    fprintf(out, "\n]}}\n");
    assert_int_equal(fclose(out), 0);
}

static void write_dense(const char *path)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "[");
    for (int image = 1; image <= TINY_PICTURES / 2; image++) {
        for (int round = 1; round <= 3; round++)
            fprintf(out,
                    "%s{\"image_id\": %d, \"round_id\": %d, \"gt_relevance\": "
                    "[1.0, 0.0, 0.5, 0.0]}",
                    image + round > 2 ? ",\n" : "", image, round);
    }
    fprintf(out, "]\n");
    assert_int_equal(fclose(out), 0);
}

void tiny_world_features(const char *path, int size)
{
    vd_error err;
    vd_region_set set;
    vd_rng rng = vd_rng_seed(7, 7);
    done(vd_region_set_new(TINY_PICTURES, TINY_REGIONS, size, &set, &err), &err);
    for (int n = 0; n < TINY_PICTURES; n++) {
        set.image_id[n] = TINY_PICTURES - n; // not in the order of the dialogs
        set.used[n] = n == 2 ? TINY_REGIONS - 1 : TINY_REGIONS;
        for (int i = 0; i < set.used[n] * size; i++)
            set.features[n * TINY_REGIONS * size + i] =
                vd_half_from_float((float)vd_rng_range(&rng, -1, 1));
        for (int p = 0; p < set.used[n]; p++) {
            float *box = set.boxes + (n * TINY_REGIONS + p) * 4;
            box[0] = 0.1f * (float)p;
            box[1] = 0.2f;
            box[2] = 0.1f * (float)p + 0.25f;
            box[3] = 0.75f;
        }
    }
    done(vd_region_set_write(&set, path, "tiny", &err), &err);
    vd_region_set_clear(&set);
}

void tiny_world_model(const tiny_world *world, const char *path, int size, const char *pool)
{
    vd_error err;
    vd_visdial *dialogs;
    vd_vocab *vocab;
    vd_trainer *trainer;
    done(vd_visdial_read(world->train, &dialogs, &err), &err);
    done(vd_dataset_vocab(dialogs, 1, &vocab, &err), &err);
    vd_config config = {.vocab = vd_vocab_size(vocab),
                        .embed = 6,
                        .hidden = 4,
                        .region = size,
                        .gate = VD_GATE_LEAKY_RELU,
                        .positions = VD_POSITIONS_NONE,
                        .answer = strstr(path, "looking") ? VD_ANSWER_ATTENTION : VD_ANSWER_LSTM,
                        .decoders = strstr(path, "both")         ? VD_BOTH
                                    : strstr(path, "generative") ? VD_GENERATIVE
                                                                 : VD_DISCRIMINATIVE};
    vd_train_options options = vd_train_defaults();
    options.seed = strstr(path, "base") ? 1 : strstr(path, "third") ? 3 : 2;
    done(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    if (pool)
        done(vd_trainer_set_metadata(trainer, "pool", pool, &err), &err);
    done(vd_trainer_save_model(trainer, path, VD_F32, &err), &err);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
    vd_visdial_free(dialogs);
}

static void write_pictures(const tiny_world *world)
{
    char *directory = support_join(world->directory, "pictures");
    assert_int_equal(mkdir(directory, 0777), 0);
    for (int id = 1; id <= TINY_PICTURES; id++) {
        char name[24];
        snprintf(name, sizeof name, "%d.png", id);
        char *path = support_join(directory, name);
        vd_image image;
        vd_error err;
        done(vd_image_new(32, 24, &image, &err), &err);
        for (int i = 0; i < 32 * 24 * 3; i++)
            image.rgb[i] = (uint8_t)(i * id);
        done(vd_image_write_png(path, &image, &err), &err);
        vd_image_clear(&image);
        free(path);
    }
    free(directory);
}

void tiny_world_make(tiny_world *world)
{
    char *directory = support_temp_dir();
    *world = (tiny_world){
        .directory = directory,
        .train = support_join(directory, "train.json"),
        .val = support_join(directory, "val.json"),
        .dense = support_join(directory, "dense.json"),
        .features = support_join(directory, "features.safetensors"),
        .base = support_join(directory, "base.safetensors"),
        .improved = support_join(directory, "improved.safetensors"),
    };
    char *dialogs = support_join(directory, "dialogs.json");
    char *pool = support_join(directory, "pool.txt");
    write_dialogs(dialogs, "val", TINY_PICTURES, TINY_BARE);
    write_dialogs(world->train, "train", TINY_PICTURES, 0);
    write_dialogs(world->val, "val", TINY_PICTURES / 2, 0);
    write_dense(world->dense);
    support_write_text(pool, "9\tyes\n7\tno\n5\tred\n3\tblue\n");
    tiny_world_features(world->features, TINY_REGION_SIZE);
    tiny_world_model(world, world->base, TINY_REGION_SIZE, NULL);
    tiny_world_model(world, world->improved, TINY_REGION_SIZE, "pool.txt");
    write_pictures(world);
    free(pool);
    free(dialogs);
}

void tiny_world_remove(tiny_world *world)
{
    support_remove_tree(world->directory);
    free(world->directory);
    free(world->train);
    free(world->val);
    free(world->dense);
    free(world->features);
    free(world->base);
    free(world->improved);
    *world = (tiny_world){0};
}
