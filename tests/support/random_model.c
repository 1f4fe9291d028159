#include "tests/support/random_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "engine/train/trainer.h"
#include "tests/support/support.h"

static void succeed(vd_status status, const vd_error *err)
{
    if (status != VD_OK)
        fail_msg("%s", err->text);
}

void support_write_random_model(const vd_config *config, const char *path)
{
    enum { LONGEST = 24 };
    size_t words = (size_t)config->vocab - VD_FIRST_WORD;
    char *names = vd_alloc(words, LONGEST);
    const char **list = vd_alloc(words, sizeof *list);
    vd_vocab *vocab;
    vd_trainer *trainer;
    vd_error err;
    assert_true(names && list);
    for (size_t i = 0; i < words; i++) {
        snprintf(names + i * LONGEST, LONGEST, "w%zu", i);
        list[i] = names + i * LONGEST;
    }
    succeed(vd_vocab_from_words(list, words, &vocab, &err), &err);
    vd_train_options options = vd_train_defaults();
    succeed(vd_trainer_new(config, vocab, &options, &trainer, &err), &err);
    succeed(vd_trainer_save_model(trainer, path, VD_F32, &err), &err);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
    vd_free(list);
    vd_free(names);
}

vd_model *support_random_model(const vd_config *config)
{
    char *directory = support_temp_dir(), *path = support_join(directory, "random.safetensors");
    vd_model *model;
    vd_error err;
    support_write_random_model(config, path);
    succeed(vd_model_load(path, &model, &err), &err);
    support_remove_tree(directory);
    free(path);
    free(directory);
    return model;
}
