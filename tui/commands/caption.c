#include "tui/commands/command.h"

#include <glib.h>

#include "engine/backend/open.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "tui/answer/caption_text.h"
#include "tui/base/generation.h"
#include "tui/measure/score.h"
#include "tui/measure/verdict.h"
#include "tui/page/html_caption.h"

typedef struct job {
    const char *image, *model, *other, *read;
    bool read_data;
    vd_world_files files;
    vd_backend_choice backend;
    vd_generation how;
    int hard; // an index of vd_hard_names
    vd_caption_wish wish;
    const char *scenes, *html;
    bool json, force;
    vd_world *world;
    vd_captioner *captioner[2]; // the second NULL: one
    vd_caption_sheet *sheet;
} job;

static vd_status add_change(void *switches, const char *name, const char *text, vd_error *err)
{
    return vd_switches_add(switches, VD_OF_CAPTION, name, text, err);
}

static const vd_option options[] = {
    {"image", "PICTURE", VD_HELP_IMAGE, VD_INTO(job, image)},
    {"model", "FILE",
     "the captioner: a model file (default: " VD_BUNDLED_CAPTIONER " beside the bundled models)",
     VD_INTO(job, model)},
    {"other-model", "FILE", "a second captioner; both captions are shown side by side",
     VD_INTO(job, other)},
    {"what-if", "CHANGE",
     "make this change and show the new caption beside the first: region 3 (left out), word 2=red "
     "(replaced; the words after it follow from it) or history (not used); may be given several "
     "times",
     VD_INTO(job, wish.switches), .read = add_change},
    {"begin", "TEXT", "also show a caption that begins with these words", VD_INTO(job, wish.begin)},
    {"read", "TEXT",
     "also show this caption as the captioner scores it: the probability of each word, and the "
     "log-probability",
     VD_INTO(job, read)},
    {"read-data", NULL, "the same with the picture's caption from the data",
     VD_INTO(job, read_data)},
    {"assets", "DIR", VD_HELP_ASSETS, VD_INTO(job, files.directory)},
    {"data", "FILE", VD_HELP_DATA, VD_INTO(job, files.data)},
    {"features", "FILE", VD_HELP_FEATURES, VD_INTO(job, files.features)},
    VD_GENERATION_OPTIONS(job, how),
    VD_HARD_OPTION(job, hard),
    {"seed", "N", "seed for sampling (0)", VD_INTO(job, how.seed), 0, 1000000000000000},
    {"scenes", "FILE",
     "scenes of Blocks, to check what captions claim (default: scenes.json beside the dialogs)",
     VD_INTO(job, scenes)},
    VD_BACKEND_OPTION(job, backend),
    {"html", "FILE", "write an HTML page that shows the caption word by word", VD_INTO(job, html)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(job, force)},
    {"json", NULL, VD_HELP_JSON, VD_INTO(job, json)},
    {0},
};

// ---- saying -------------------------------------------------------------------------------------

// given NULL: the bundled one.
static vd_status load(const job *j, const char *given, vd_captioner **out, vd_error *err)
{
    char *path = given ? g_strdup(given) : vd_world_file(j->files.directory, VD_BUNDLED_CAPTIONER);
    vd_error why = {0};
    vd_status status = vd_captioner_load(path, out, &why);
    if (status == VD_NOT_FOUND && !given)
        vd_error_set(err, status,
                     "%.300s; train a captioner with `visdial train --task caption`, or name one "
                     "with --model",
                     why.text);
    else if (why.status)
        vd_error_set(err, status, "%s", why.text);
    g_free(path);
    return status;
}

// One that looks at one region looks as --hard says; where none does, the first refuses it.
static vd_status prepare(const job *j, vd_captioner *captioner, vd_error *err)
{
    const vd_backend *backend;
    bool none = !vd_captioner_is_hard(j->captioner[0]) && !vd_captioner_is_hard(j->captioner[1]);
    vd_hard how = none || vd_captioner_is_hard(captioner) ? (vd_hard)(VD_HARD_LARGEST + j->hard)
                                                          : VD_HARD_LARGEST;
    vd_status status = vd_backend_choose(j->backend, 0, &backend, err);
    if (status == VD_OK)
        status = vd_captioner_look(captioner, how, j->how.seed, err);
    return status ? status : vd_model_use(captioner->model, backend, err);
}

static vd_status open_captioners(job *j, vd_error *err)
{
    vd_status status = load(j, j->model, &j->captioner[0], err);
    if (status == VD_OK && j->other)
        status = load(j, j->other, &j->captioner[1], err);
    for (int i = 0; i < 2 && status == VD_OK && j->captioner[i]; i++)
        status = prepare(j, j->captioner[i], err);
    return status;
}

// The caption that is to be read.
static vd_status find_given(job *j, vd_error *err)
{
    char name[64];
    if (j->read && !*j->read)
        return vd_error_set(err, VD_USAGE, "--read: a caption without words; expected some");
    if (j->read)
        vd_caption_wish_read(&j->wish, j->read);
    if (!j->read_data)
        return VD_OK;
    const vd_visdial_dialog *dialog = vd_world_dialog(j->world, j->wish.picture);
    if (dialog && *dialog->caption) {
        vd_caption_wish_read(&j->wish, dialog->caption);
        return VD_OK;
    }
    vd_world_name(j->world, j->wish.picture, name, sizeof name);
    return vd_error_set(
        err, VD_NOT_FOUND,
        "--read-data: the data have no caption of picture %s; give one with --read TEXT", name);
}

static vd_status say(job *j, vd_error *err)
{
    vd_caption_sources by = {.how = j->how, .most = j->json ? j->how.beam : 1};
    for (int i = 0; i < 2; i++) {
        by.captioner[i] = j->captioner[i];
        by.hard[i] = vd_captioner_is_hard(j->captioner[i]) ? vd_hard_names[j->hard] : NULL;
    }
    vd_status status = vd_caption_sheet_new(j->world, &by, &j->wish, &j->sheet, err);
    const char *doubt = vd_world_doubt(j->world, j->wish.picture);
    if (status == VD_OK && doubt)
        fprintf(stderr, "%s\n", doubt);
    if (status == VD_OK)
        status = vd_verdict_sheet(j->world, j->scenes, j->sheet, err);
    return status ? status : vd_score_sheet(j->world, j->sheet, err);
}

// The page must be none of the files that are read.
static vd_status check_output(const job *j, vd_error *err)
{
    const char *in[] = {j->model, j->other, j->scenes, j->files.data, j->files.features, j->image};
    vd_status status = vd_output_check(&j->html, 1, in, sizeof in / sizeof *in, j->force, err);
    return status || !j->html ? status : vd_output_try(j->html, err);
}

// A picture that is nowhere is left out of the page.
static vd_status write_html(const job *j, vd_error *err)
{
    vd_image image;
    vd_error why = {0};
    vd_status status = vd_world_image(j->world, j->wish.picture, &image, &why);
    if (status == VD_NOT_FOUND)
        return vd_html_caption(j->html, j->sheet, NULL, err);
    if (status)
        return vd_error_set(err, status, "%s", why.text);
    status = vd_html_caption(j->html, j->sheet, &image, err);
    vd_image_clear(&image);
    return status;
}

static void print_json(const job *j)
{
    const char *doubt = vd_world_doubt(j->world, j->wish.picture);
    yajl_gen json = vd_output_object();
    vd_caption_sheet_json(json, j->sheet);
    if (doubt)
        vd_json_put(json, "doubt: %s", doubt);
    vd_output_object_end(json);
}

static vd_status read_options(job *j, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    j->how = vd_generation_usual();
    j->wish.place = 1;
    vd_status status = vd_arguments_read(options, argc, argv, j, &given, err);
    if (status == VD_OK)
        status = vd_arguments_most(&given, 0, err);
    if (status == VD_OK && !j->image)
        return vd_error_set(err, VD_USAGE, "which picture? name it with --image PICTURE");
    if (status == VD_OK && j->other)
        status = vd_arguments_refuse(
            &given, "what-if begin",
            "and --other-model: one captioner is changed, or two are compared; leave one out", err);
    if (status == VD_OK && j->read && j->read_data)
        status = vd_error_set(err, VD_USAGE,
                              "--read and --read-data: one caption is read; leave one out");
    if (status == VD_OK && (j->read || j->read_data))
        status = vd_arguments_refuse(&given, "begin",
                                     "cannot be combined with --read or --read-data", err);
    bool draws = vd_generation_draws(&j->how, j->hard, &given);
    if (status == VD_OK && !draws && !vd_arguments_have(&given, "temperature"))
        status = vd_arguments_refuse(&given, "seed", "needs --temperature", err);
    return status ? status : vd_generation_check(&j->how, &given, err);
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    job *j = g_new0(job, 1);
    vd_status status = read_options(j, argc, argv, err);
    if (status == VD_OK)
        status = open_captioners(j, err);
    if (status == VD_OK)
        status = vd_world_open_files(&j->files, &j->world, err);
    if (status == VD_OK)
        status = vd_world_named(j->world, j->image, &j->wish.picture, err);
    if (status == VD_OK)
        status = check_output(j, err);
    if (status == VD_OK)
        status = find_given(j, err);
    if (status == VD_OK)
        status = say(j, err);
    if (status == VD_OK && j->html)
        status = write_html(j, err);
    if (status == VD_OK && j->json)
        print_json(j);
    else if (status == VD_OK)
        vd_caption_sheet_print(j->sheet);
    if (status == VD_OK && j->html)
        fprintf(stderr, "%s was written\n", j->html);
    vd_caption_sheet_free(j->sheet);
    vd_captioner_free(j->captioner[0]);
    vd_captioner_free(j->captioner[1]);
    vd_world_close(j->world);
    g_free(j);
    return status;
}

const vd_command vd_cmd_caption = {
    "caption",
    run,
    "describe a picture, word by word",
    "--image PICTURE [options]",
    "Prints the caption that a captioner (`visdial train --task caption`) gives the picture, its "
    "log-probability, and for each word its probability, its attention to earlier words "
    "(captioners with a history) and to regions, averaged over the heads of the top layer. --json "
    "has all regions, the runners-up of every word and the other captions of the beam.\n"
    "--html writes one self-contained page to step through the words or play them: each with its "
    "regions, probability, entropy (bits; in JSON nats) and most likely alternatives, and, for "
    "captioners with a history, its attention to earlier words.\n"
    "--other-model compares two captioners: the words are aligned, differences are marked, and "
    "each caption's log-probability is given under both. --what-if and --begin compare the "
    "captioner's caption with the one after a change. --read compares it with a caption of yours: "
    "the captioner reads it and gives the probability of each of its words. With --read, --what-if "
    "changes what is read, and --other-model has both captioners read it. Words that a captioner "
    "does not know are named; it reads <UNK> in their place. For pictures whose scene is known, "
    "the program says whether each caption is true, and names the objects that decide.",
    "  visdial caption --image 1000003 --model run/best.safetensors\n"
    "  visdial caption --image my.png --beam 1 --json\n"
    "  visdial caption --image 1000003 --what-if \"region 1\" --what-if \"word 4=2\"\n"
    "  visdial caption --image 1000003 \\\n"
    "      --read \"a table with 1 blue cone and other things\"\n"
    "  visdial caption --image 1000003 --other-model run/best.safetensors \\\n"
    "      --html caption.html\n",
    .options = options};
