#include "engine/networks/config.h"

#include <stddef.h>
#include <string.h>

#include "engine/networks/settings.h"

const char *const vd_gate_names[] = {"leaky-relu", "sigmoid", "elu"};
const char *const vd_positions_names[] = {"none", "sinusoidal", "learned", "as-printed"};
const char *const vd_decoders_names[] = {"discriminative", "generative", "both"};

const char *vd_gate_name(vd_gate gate)
{
    return vd_gate_names[gate];
}

const char *vd_positions_name(vd_positions positions)
{
    return vd_positions_names[positions];
}

const char *vd_decoders_name(vd_decoders decoders)
{
    return vd_decoders_names[decoders];
}

bool vd_decoders_parse(const char *name, vd_decoders *out)
{
    static const char *const brief[] = {"disc", "gen", "both"};
    for (int i = VD_DISCRIMINATIVE; i <= VD_BOTH; i++)
        if (strcmp(name, vd_decoders_names[i]) == 0 || strcmp(name, brief[i]) == 0) {
            *out = (vd_decoders)i;
            return true;
        }
    return false;
}

#define ROW(member, name, kind, least, most, initial, choices, optional, help)                     \
    {name, VD_SETTING_##kind, offsetof(vd_config, member), least, most, initial, choices, optional},
const vd_setting vd_config_settings[] = {VD_DATA_SETTINGS(ROW) VD_NETWORK_SETTINGS(ROW){0}};

vd_status vd_config_write(const vd_config *config, char **json, vd_error *err)
{
    return vd_settings_write(vd_config_settings, config, "configuration", json, err);
}

vd_status vd_config_read(const char *json, const char *where, vd_config *config, vd_error *err)
{
    return vd_settings_read(vd_config_settings, json, where, config, err);
}

vd_status vd_config_check(const vd_config *config, vd_error *err)
{
    return vd_settings_check(vd_config_settings, config, err);
}
