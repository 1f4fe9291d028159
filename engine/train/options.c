#include "engine/train/options.h"

#include <stddef.h>
#include <string.h>

#include "engine/base/settings.h"

static const char *const optimiser_names[] = {"adam", "rmsprop"};

const char *vd_optimiser_name(vd_optimiser optimiser)
{
    return optimiser_names[optimiser];
}

bool vd_optimiser_parse(const char *name, vd_optimiser *out)
{
    for (int i = 0; i <= VD_RMSPROP; i++)
        if (strcmp(name, optimiser_names[i]) == 0) {
            *out = (vd_optimiser)i;
            return true;
        }
    return false;
}

static const char *optimiser_choice(int i)
{
    return i <= VD_RMSPROP ? vd_optimiser_name((vd_optimiser)i) : NULL;
}

static const vd_field option_fields[] = {
    {"optimiser", VD_FIELD_CHOICE, offsetof(vd_train_options, optimiser), 0, 0, optimiser_choice,
     false},
    {"rate", VD_FIELD_REAL, offsetof(vd_train_options, rate), 0, 1e3, NULL, false},
    {"clip", VD_FIELD_REAL, offsetof(vd_train_options, clip), 0, 1e9, NULL, false},
    {"margin", VD_FIELD_INT, offsetof(vd_train_options, margin), 1, 4, NULL, false},
    {"lambda_start", VD_FIELD_REAL, offsetof(vd_train_options, lambda_start), 0, 1e9, NULL, false},
    {"lambda_decay", VD_FIELD_REAL, offsetof(vd_train_options, lambda_decay), 0, 1, NULL, false},
    {"lambda_floor", VD_FIELD_REAL, offsetof(vd_train_options, lambda_floor), 0, 1e9, NULL, false},
    {"dropout", VD_FIELD_FLOAT, offsetof(vd_train_options, dropout), 0, 0.99, NULL, false},
    {"lstm_dropout", VD_FIELD_FLOAT, offsetof(vd_train_options, lstm_dropout), 0, 0.99, NULL,
     false},
    {"position_dropout", VD_FIELD_FLOAT, offsetof(vd_train_options, position_dropout), 0, 0.99,
     NULL, false},
    {"open_gates", VD_FIELD_INT, offsetof(vd_train_options, open_gates), 0, 1, NULL, false},
    {"seed", VD_FIELD_SEED, offsetof(vd_train_options, seed), 0, 0, NULL, false},
    {.name = NULL},
};

vd_status vd_train_options_write(const vd_train_options *options, char **json, vd_error *err)
{
    return vd_settings_write(option_fields, options, "training options", json, err);
}

vd_status vd_train_options_read(const char *json, const char *where, vd_train_options *options,
                                vd_error *err)
{
    return vd_settings_read(option_fields, json, where, options, err);
}

vd_status vd_train_options_check(const vd_train_options *options, vd_error *err)
{
    return vd_settings_check(option_fields, options, err);
}

vd_train_options vd_train_defaults(void)
{
    return (vd_train_options){.optimiser = VD_ADAM,
                              .rate = 1e-3,
                              .clip = 0,
                              .margin = 1,
                              .lambda_start = 1000,
                              .lambda_decay = 0.999,
                              .lambda_floor = 5,
                              .dropout = 0.25f,
                              .lstm_dropout = 0.4f,
                              .position_dropout = 0.1f,
                              .seed = 1};
}
