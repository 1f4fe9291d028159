// Which models are compared, as a person names them.
#include "tui/compare/cases.h"

int vd_cases_model_count(const vd_cases_options *options)
{
    int count = 0;
    while (count < VD_MODELS && options->model[count])
        count++;
    return count;
}

static int decoder_count(const vd_cases_options *options)
{
    int count = 0;
    while (count < VD_MODELS && options->decoder[count].made)
        count++;
    return count;
}

vd_status vd_cases_add_model(vd_cases_options *options, const char *name, vd_error *err)
{
    int count = vd_cases_model_count(options);
    if (count == VD_MODELS)
        return vd_error_set(err, VD_USAGE,
                            "--model '%.80s' is one too many; at most %d are compared", name,
                            VD_MODELS);
    options->model[count] = name;
    return VD_OK;
}

vd_status vd_cases_add_decoder(vd_cases_options *options, const char *name, vd_error *err)
{
    int count = decoder_count(options);
    if (count == VD_MODELS)
        return vd_error_set(err, VD_USAGE,
                            "--decoder '%.80s' is one too many; at most %d models are compared",
                            name, VD_MODELS);
    return vd_choose_decoder(name, &options->decoder[count], err);
}

vd_status vd_cases_complete(vd_cases_options *options, vd_error *err)
{
    static const char *const bundled[] = {"base", "improved"};
    int models = vd_cases_model_count(options), decoders = decoder_count(options);
    if (models == 1)
        return vd_error_set(err, VD_USAGE,
                            "'%.80s' is compared with which model? name it with another --model",
                            options->model[0]);
    for (; models < 2; models++)
        options->model[models] = bundled[models];
    if (decoders > 1 && decoders != models)
        return vd_error_set(err, VD_USAGE,
                            "--decoder: found %d, expected one for all models or one for each of "
                            "the %d",
                            decoders, models);
    for (int i = 1; i < models && decoders == 1; i++)
        options->decoder[i] = options->decoder[0];
    return VD_OK;
}
