#include "tui/commands/command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/backend/open.h"
#include "engine/base/alloc.h"
#include "features/captions/tokens.h"
#include "tui/base/progress.h"
#include "tui/base/saying.h"
#include "tui/base/shares.h"
#include "tui/session/session.h"

enum { LONGEST_TEXT = 1024, SHOWN_REGIONS = 3 };
#define HARD "largest, draw or expected"
static const char *const hard_names[] = {"largest", "draw", "expected"};

typedef struct job {
    const char *image, *model;
    vd_world_files files;
    vd_backend_choice backend;
    vd_saying how;
    int hard; // an index of hard_names
    bool json;
    vd_world *world;
    size_t picture; // its index
    vd_captioner *captioner;
    vd_picture_regions regions;
    vd_said_caption said[VD_MOST_BEAMS];
    int count;
    double milliseconds; // of the search
    vd_caption_trace trace;
} job;

static const vd_option options[] = {
    {"image", "PICTURE", VD_HELP_IMAGE, VD_INTO(job, image)},
    {"model", "FILE",
     "the captioner: a model file (default: " VD_BUNDLED_CAPTIONER " beside the bundled models)",
     VD_INTO(job, model)},
    {"assets", "DIR", VD_HELP_ASSETS, VD_INTO(job, files.directory)},
    {"data", "FILE", VD_HELP_DATA, VD_INTO(job, files.data)},
    {"features", "FILE", VD_HELP_FEATURES, VD_INTO(job, files.features)},
    VD_SAYING_OPTIONS(job, how),
    {"hard", "NAME",
     "captioner sat-hard: each word looks at the region of the largest share (largest, default), "
     "at one that is drawn (draw), or at all of them, weighed (expected)",
     VD_INTO(job, hard), .choices = HARD},
    {"seed", "N", "seed of what is drawn (0)", VD_INTO(job, how.seed), 0, 1000000000000000},
    VD_BACKEND_OPTION(job, backend),
    {"json", NULL, VD_HELP_JSON, VD_INTO(job, json)},
    {0},
};

static const vd_model *model_of(const job *j)
{
    return vd_captioner_model(j->captioner);
}

// How the captioner was trained; NULL: its file does not say.
static const char *signature_of(const job *j)
{
    return vd_model_metadata(model_of(j), "signature");
}

// Where hard attention looked; NULL: there is none.
static const char *hard_of(const job *j)
{
    bool hard = vd_model_config(model_of(j))->caption.captioner == VD_CAPTIONER_SAT_HARD;
    return hard ? hard_names[j->hard] : NULL;
}

static const char *word_text(const job *j, int32_t id)
{
    return id == VD_END ? "(end)" : vd_vocab_word(vd_model_vocab(model_of(j)), id);
}

static const char *caption_text(const job *j, int which, char out[LONGEST_TEXT])
{
    const vd_said_caption *c = &j->said[which];
    const char *word[VD_MAX_CAPTION];
    for (int i = 0; i < c->length; i++)
        word[i] = vd_vocab_word(vd_model_vocab(model_of(j)), c->word[i]);
    char *text = vd_caption_text(word, c->length);
    snprintf(out, LONGEST_TEXT, "%s", text ? text : "(out of memory)");
    vd_free(text);
    return out;
}

static double perplexity(const job *j)
{
    return exp(-j->trace.log_probability / j->trace.words);
}

// ---- text ---------------------------------------------------------------------------------------

static void print_regions(const job *j, const float *share)
{
    vd_share top[SHOWN_REGIONS];
    int count = vd_shares_top(share, j->trace.regions, 2, top, SHOWN_REGIONS);
    for (int i = 0; i < count && top[i].share >= 0.005; i++) {
        char name[VD_REGION_LABEL], percent[16];
        vd_region_label(j->regions.names, top[i].index, name);
        vd_percent(percent, sizeof percent, top[i].share);
        printf("%s%s %s", i ? ", " : "", name, percent);
    }
    printf("\n");
}

static void print_word(const job *j, int t, int width, float *share)
{
    const vd_said_word *w = &j->trace.word[t];
    const char *text = word_text(j, w->id);
    int padding = width - vd_output_width(text);
    char percent[16], given[16] = "";
    float history[VD_MAX_CAPTION + 1];
    double sum = 0;
    vd_caption_trace_regions(&j->trace, t, share);
    vd_caption_trace_history(&j->trace, t, history);
    for (int i = 0; i < j->trace.words; i++)
        sum += (double)history[i];
    vd_percent(percent, sizeof percent, w->probability);
    vd_percent(given, sizeof given, sum);
    printf("   %s%*s  %5s", text, padding > 0 ? padding : 0, "", percent);
    if (j->trace.history)
        printf("  %7s", given);
    printf("  ");
    print_regions(j, share);
}

static void print_text(const job *j, float *share)
{
    char text[LONGEST_TEXT];
    int width = 4;
    printf("%s\n", caption_text(j, 0, text));
    printf("   log-probability %.3f, perplexity %.3f%s\n", j->trace.log_probability, perplexity(j),
           j->said[0].ended ? "" : "; cut at the longest");
    for (int t = 0; t < j->trace.words; t++) {
        int needed = vd_output_width(word_text(j, j->trace.word[t].id));
        width = needed > width && needed <= 24 ? needed : width;
    }
    printf("   %-*s  %5s%s  %s\n", width, "word", "p", j->trace.history ? "  history" : "",
           "regions");
    for (int t = 0; t < j->trace.words; t++)
        print_word(j, t, width, share);
    if (hard_of(j))
        printf("   hard attention: %s\n", hard_of(j));
    if (signature_of(j))
        printf("   %s\n", signature_of(j));
}

// ---- JSON ---------------------------------------------------------------------------------------

static void json_word(yajl_gen json, const job *j, int t, float *share)
{
    const vd_said_word *w = &j->trace.word[t];
    float history[VD_MAX_CAPTION + 1];
    yajl_gen_map_open(json);
    vd_member_string(json, "word", word_text(j, w->id));
    vd_member_number(json, "probability", w->probability);
    vd_member_number(json, "entropy", w->entropy);
    vd_member_list(json, "likely");
    for (int i = 0; i < w->likelies; i++) {
        yajl_gen_map_open(json);
        vd_member_string(json, "word", word_text(j, w->likely[i].id));
        vd_member_number(json, "probability", w->likely[i].probability);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    vd_caption_trace_regions(&j->trace, t, share);
    vd_member_numbers(json, "regions", share, (size_t)j->trace.regions);
    vd_caption_trace_history(&j->trace, t, history);
    if (j->trace.history)
        vd_member_numbers(json, "history", history, (size_t)j->trace.words);
    yajl_gen_map_close(json);
}

static void print_json(const job *j, float *share)
{
    char text[LONGEST_TEXT];
    const char *doubt = vd_world_doubt(j->world, j->picture);
    yajl_gen json = vd_output_object();
    vd_world_name(j->world, j->picture, text, sizeof text);
    vd_member_string(json, "picture", text);
    vd_member_string(json, "caption", caption_text(j, 0, text));
    vd_member_number(json, "log_probability", j->trace.log_probability);
    vd_member_number(json, "perplexity", perplexity(j));
    if (hard_of(j))
        vd_member_string(json, "hard", hard_of(j));
    if (signature_of(j))
        vd_member_string(json, "signature", signature_of(j));
    yajl_gen_string(json, (const unsigned char *)"ended", 5);
    yajl_gen_bool(json, j->said[0].ended);
    vd_member_list(json, "words");
    for (int t = 0; t < j->trace.words; t++)
        json_word(json, j, t, share);
    yajl_gen_array_close(json);
    vd_member_list(json, "others");
    for (int i = 1; i < j->count; i++) {
        yajl_gen_map_open(json);
        vd_member_string(json, "caption", caption_text(j, i, text));
        vd_member_number(json, "log_probability", j->said[i].log_probability);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    if (doubt)
        vd_member_string(json, "doubt", doubt);
    vd_member_string(json, "model", vd_model_name(model_of(j)));
    vd_member_string(json, "backend", vd_model_backend(model_of(j))->name);
    vd_member_number(json, "milliseconds", j->milliseconds);
    vd_output_object_end(json);
}

// ---- saying -------------------------------------------------------------------------------------

static vd_status open_captioner(job *j, vd_error *err)
{
    const vd_backend *backend;
    char *path =
        j->model ? vd_strdup(j->model) : vd_world_file(j->files.directory, VD_BUNDLED_CAPTIONER);
    vd_status status = path ? VD_OK : vd_error_memory(err, "the captioner");
    vd_error why = {0};
    if (status == VD_OK)
        status = vd_captioner_load(path, &j->captioner, &why);
    if (status == VD_NOT_FOUND && !j->model)
        vd_error_set(err, status,
                     "%.300s; train a captioner with `visdial train --task caption`, or name one "
                     "with --model",
                     why.text);
    else if (why.status)
        vd_error_set(err, status, "%s", why.text);
    vd_free(path);
    if (status == VD_OK)
        status = vd_backend_choose(j->backend, 0, &backend, err);
    if (status == VD_OK)
        status =
            vd_captioner_look(j->captioner, (vd_hard)(VD_HARD_LARGEST + j->hard), j->how.seed, err);
    return status ? status : vd_model_use(vd_captioner_model(j->captioner), backend, err);
}

static vd_status open_picture(job *j, vd_error *err)
{
    vd_status status = vd_world_open_files(&j->files, &j->world, err);
    if (status == VD_OK)
        status = vd_world_named(j->world, j->image, &j->picture, err);
    if (status == VD_OK)
        status = vd_world_regions(j->world, j->picture, &j->regions, err);
    if (status)
        return status;
    int expected = vd_model_config(model_of(j))->region;
    if (j->regions.size != expected)
        return vd_error_set(err, VD_MISMATCH,
                            "%s wants regions of %d numbers, the picture's have %d; they must come "
                            "from one extractor",
                            vd_model_path(model_of(j)), expected, j->regions.size);
    if (vd_world_doubt(j->world, j->picture))
        fprintf(stderr, "%s\n", vd_world_doubt(j->world, j->picture));
    return VD_OK;
}

static vd_status say(job *j, vd_error *err)
{
    double start = vd_progress_clock();
    vd_status status =
        vd_captioner_say(j->captioner, j->regions.features, j->regions.count, &j->how, j->said,
                         j->json ? j->how.beam : 1, &j->count, err);
    j->milliseconds = 1000 * (vd_progress_clock() - start);
    const vd_said_caption *c = &j->said[0];
    return status ? status
                  : vd_captioner_trace(j->captioner, j->regions.features, j->regions.count, c->word,
                                       c->length, c->ended, NULL, &j->trace, err);
}

static vd_status print(const job *j, vd_error *err)
{
    float *share = vd_alloc((size_t)j->regions.count, sizeof *share);
    if (!share)
        return vd_error_memory(err, "the regions");
    (j->json ? print_json : print_text)(j, share);
    vd_free(share);
    return VD_OK;
}

static vd_status read_options(job *j, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    j->how = vd_saying_usual();
    vd_status status = vd_arguments_read(options, argc, argv, j, &given, err);
    if (status == VD_OK)
        status = vd_arguments_most(&given, 0, err);
    if (status == VD_OK && !j->image)
        return vd_error_set(err, VD_USAGE, "which picture? name it with --image PICTURE");
    bool looks = VD_HARD_LARGEST + j->hard == VD_HARD_DRAW;
    if (looks && !vd_arguments_have(&given, "beam"))
        j->how.beam = 1;
    if (status == VD_OK && !looks && !vd_arguments_have(&given, "temperature"))
        status = vd_arguments_refuse(&given, "seed", "needs --temperature", err);
    return status ? status : vd_saying_check(&j->how, &given, err);
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    job *j = vd_alloc(1, sizeof *j);
    if (!j)
        return vd_error_memory(err, "the command");
    vd_status status = read_options(j, argc, argv, err);
    if (status == VD_OK)
        status = open_captioner(j, err);
    if (status == VD_OK)
        status = open_picture(j, err);
    if (status == VD_OK)
        status = say(j, err);
    if (status == VD_OK)
        status = print(j, err);
    vd_caption_trace_clear(&j->trace);
    vd_picture_regions_clear(&j->regions);
    vd_captioner_free(j->captioner);
    vd_world_close(j->world);
    vd_free(j);
    return status;
}

const vd_command vd_cmd_caption = {
    "caption",
    run,
    "describe a picture, word by word",
    "--image PICTURE [options]",
    "Prints the caption that a captioner (`visdial train --task caption`) gives the picture, its "
    "log-probability, and for each word its probability, what it got from the words before it "
    "(captioners with a history), and the regions it looked at: the mean over the heads of the "
    "top layer. --json has all regions, the runners-up of every word and the other captions of "
    "the beam.",
    "  visdial caption --image 1000003 --model run/best.safetensors\n"
    "  visdial caption --image my.png --beam 1 --json\n",
    .options = options};
