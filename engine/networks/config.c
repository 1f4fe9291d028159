#include "engine/networks/config.h"

#include <stddef.h>
#include <string.h>

#include "engine/base/settings.h"

static const char *const gate_names[] = {"leaky-relu", "sigmoid", "elu"};
static const char *const positions_names[] = {"none", "sinusoidal", "learned", "as-printed"};
static const char *const decoders_names[] = {"discriminative", "generative", "both"};

const char *vd_gate_name(vd_gate gate)
{
    return gate_names[gate];
}

const char *vd_positions_name(vd_positions positions)
{
    return positions_names[positions];
}

const char *vd_decoders_name(vd_decoders decoders)
{
    return decoders_names[decoders];
}

static bool parse(const char *name, const char *const *names, int count, int *out)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = i;
            return true;
        }
    return false;
}

bool vd_gate_parse(const char *name, vd_gate *out)
{
    int i;
    if (!parse(name, gate_names, sizeof gate_names / sizeof *gate_names, &i))
        return false;
    *out = (vd_gate)i;
    return true;
}

bool vd_positions_parse(const char *name, vd_positions *out)
{
    int i;
    if (!parse(name, positions_names, sizeof positions_names / sizeof *positions_names, &i))
        return false;
    *out = (vd_positions)i;
    return true;
}

bool vd_decoders_parse(const char *name, vd_decoders *out)
{
    static const char *const brief[] = {"disc", "gen", "both"};
    int i;
    if (!parse(name, decoders_names, sizeof decoders_names / sizeof *decoders_names, &i) &&
        !parse(name, brief, sizeof brief / sizeof *brief, &i))
        return false;
    *out = (vd_decoders)i;
    return true;
}

static const char *gate_choice(int i)
{
    return i <= VD_GATE_ELU ? vd_gate_name((vd_gate)i) : NULL;
}

static const char *positions_choice(int i)
{
    return i <= VD_POSITIONS_AS_PRINTED ? vd_positions_name((vd_positions)i) : NULL;
}

static const char *decoders_choice(int i)
{
    return i <= VD_BOTH ? vd_decoders_name((vd_decoders)i) : NULL;
}

static const vd_field fields[] = {
    {"vocab", VD_FIELD_INT, offsetof(vd_config, vocab), 5, 10000000, NULL, false},
    {"embed", VD_FIELD_INT, offsetof(vd_config, embed), 1, 65536, NULL, false},
    {"hidden", VD_FIELD_INT, offsetof(vd_config, hidden), 1, 65536, NULL, false},
    {"region", VD_FIELD_INT, offsetof(vd_config, region), 1, 65536, NULL, false},
    {"gate", VD_FIELD_CHOICE, offsetof(vd_config, gate), 0, 0, gate_choice, false},
    {"positions", VD_FIELD_CHOICE, offsetof(vd_config, positions), 0, 0, positions_choice, false},
    // Models from before there was a choice do not have it: 0, discriminative.
    {"decoder", VD_FIELD_CHOICE, offsetof(vd_config, decoders), 0, 0, decoders_choice, true},
    {.name = NULL},
};

vd_status vd_config_write(const vd_config *config, char **json, vd_error *err)
{
    return vd_settings_write(fields, config, "configuration", json, err);
}

vd_status vd_config_read(const char *json, const char *where, vd_config *config, vd_error *err)
{
    return vd_settings_read(fields, json, where, config, err);
}

vd_status vd_config_check(const vd_config *config, vd_error *err)
{
    return vd_settings_check(fields, config, err);
}
