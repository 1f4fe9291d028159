#include "engine/train/options.h"

#include <stddef.h>

#include "engine/networks/settings.h"

const char *const vd_optimiser_names[] = {"adam", "rmsprop"};

#define ROW(member, name, kind, least, most, initial, choices, optional, help)                     \
    {name,    VD_SETTING_##kind, offsetof(vd_train_options, member), least, most, initial,         \
     choices, optional},
const vd_setting vd_train_settings[] = {VD_TRAIN_SETTINGS(ROW){0}};

vd_train_options vd_train_defaults(void)
{
    vd_train_options options = {0};
    vd_settings_start(vd_train_settings, &options);
    return options;
}

vd_status vd_train_options_write(const vd_train_options *options, char **json, vd_error *err)
{
    return vd_settings_write(vd_train_settings, options, "training options", json, err);
}

vd_status vd_train_options_read(const char *json, const char *where, vd_train_options *options,
                                vd_error *err)
{
    return vd_settings_read(vd_train_settings, json, where, options, err);
}

vd_status vd_train_options_check(const vd_train_options *options, vd_error *err)
{
    return vd_settings_check(vd_train_settings, options, err);
}
