// What a file is, told by its first bytes, and what it holds.
#include "tui/commands/command.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/file.h"
#include "engine/base/safetensors.h"
#include "engine/base/utf8.h"
#include "engine/model/model.h"
#include "engine/networks/encoder.h"
#include "features/dialogs/answer_pool.h"
#include "features/dialogs/visdial.h"
#include "features/extract/extract.h"
#include "features/pictures/image.h"
#include "features/regions/parts.h"
#include "features/text/glove.h"
#include "features/text/vocab_file.h"
#include "tui/transcript/transcript.h"

// ---- safetensors --------------------------------------------------------------------------------

static void print_metadata(const vd_safetensors *file)
{
    enum { SHOWN = 200 };
    const char *key, *value;
    for (size_t i = 0; vd_safetensors_metadata_at(file, i, &key, &value); i++) {
        size_t length = strlen(value);
        if (strcmp(key, "vocab") == 0 && *value == '[') // all words
            continue;
        size_t cut = vd_utf8_whole(value, length, SHOWN);
        if (cut < length)
            vd_output_row(key, "%.*s... (%zu bytes)", (int)cut, value, length);
        else
            vd_output_row(key, "%s", value);
    }
}

// width: of the column of their names.
static void print_tensors(const vd_safetensors *file, int width)
{
    for (size_t i = 0; i < vd_safetensors_count(file); i++) {
        const vd_tensor *tensor = vd_safetensors_at(file, i);
        int padding = width - vd_output_width(tensor->name);
        printf("  %s%*s  %-4s ", tensor->name, padding > 0 ? padding : 0, "",
               vd_dtype_name(tensor->dtype));
        for (int d = 0; d < tensor->dims; d++)
            printf("%s%zu", d ? " x " : "", tensor->shape[d]);
        printf("%s\n", tensor->dims ? "" : "one number");
    }
}

// The tensors are listed only where they are asked for: a model has some hundred.
static void print_contents(const vd_safetensors *file, bool list)
{
    size_t count = vd_safetensors_count(file), elements = 0, bytes = 0;
    int width = 0;
    for (size_t i = 0; i < count; i++) {
        const vd_tensor *tensor = vd_safetensors_at(file, i);
        int needed = vd_output_width(tensor->name);
        width = needed > width && needed <= 60 ? needed : width;
        elements += tensor->elements;
        bytes += tensor->elements * vd_dtype_size(tensor->dtype);
    }
    if (!list)
        vd_output_row("tensors", "%zu, %zu bytes (--tensors lists them)", count, bytes);
    printf("\nmetadata\n");
    print_metadata(file);
    if (!list)
        return;
    printf("\n%zu tensors, %zu numbers, %zu bytes\n", count, elements, bytes);
    print_tensors(file, width);
}

static void print_answerer(const vd_config *config)
{
    vd_output_row("embedding", "%d", config->embed);
    vd_output_row("hidden", "%d", config->hidden);
    vd_output_row("regions", "of %d numbers", config->region);
    vd_output_row("network", "%s (%s)", vd_network_names[config->network],
                  vd_encoder_of(config)->title);
    if (config->text != VD_TEXT_OWN)
        vd_output_row("text encoder", "%s", vd_text_names[config->text]);
    if (vd_encoder_reads(config, "gate"))
        vd_output_row("gate", "%s", vd_gate_names[config->gate]);
    vd_output_row("positions", "%s", vd_positions_names[config->positions]);
    vd_output_row("decoder", "%s", vd_decoders_name(config->decoders));
    if (config->answer != VD_ANSWER_LSTM)
        vd_output_row("answers", "%s", vd_answer_names[config->answer]);
    if (vd_copies(config))
        vd_output_row("copies", "%s", vd_copy_names[config->copy]);
}

static void print_captioner(const vd_config *config)
{
    const vd_caption_config *c = &config->caption;
    vd_caption_history history = vd_caption_history_of(c);
    vd_output_row("captioner", "%s", vd_captioner_names[c->captioner]);
    vd_output_row("hidden", "%d, %d heads, %d layers, inner size %d", c->hidden,
                  vd_caption_heads(c), vd_caption_layers(c), c->inner);
    vd_output_row("regions", "of %d numbers", c->region);
    if (history == VD_HISTORY_NONE)
        return;
    vd_output_row("history", "%s, weights %s%s", vd_history_names[history],
                  c->shared ? "shared" : "of its own", c->history_norm ? ", normalised" : "");
    if (c->awc != VD_AWC_NONE)
        vd_output_row("coherence", "%s, level %g, weight %g", vd_awc_names[c->awc], c->awc_level,
                      c->awc_weight);
}

static vd_status print_model(const char *path, const vd_safetensors *file, bool list, vd_error *err)
{
    vd_model *model;
    vd_status status = vd_model_load_any(path, &model, err);
    if (status)
        return status;
    const vd_config *config = vd_model_config(model);
    bool captions = config->task == VD_TASK_CAPTION;
    const char *steps = vd_safetensors_metadata(file, "steps");
    printf("%s: %s\n", path,
           steps      ? "a checkpoint of a training run"
           : captions ? "a captioner: a model that describes pictures"
                      : "a model");
    vd_output_row("parameters", "%zu", vd_model_parameters(model));
    vd_output_row("words", "%d", config->vocab);
    (captions ? print_captioner : print_answerer)(config);
    vd_model_free(model);
    print_contents(file, list);
    return VD_OK;
}

// file: NULL for other layouts than our own.
static vd_status print_regions(const char *path, const vd_safetensors *file, bool list,
                               vd_error *err)
{
    vd_regions *regions;
    vd_status status = vd_regions_open(path, &regions, err);
    if (status)
        return status;
    printf("%s: region features\n", path);
    status = vd_regions_print(regions, NULL, err);
    vd_regions_close(regions);
    if (file) {
        vd_output_row("type", "%s", vd_dtype_name(vd_safetensors_find(file, "features")->dtype));
        print_contents(file, list);
    }
    return status;
}

// ---- other files --------------------------------------------------------------------------------

// file: NULL where they are not packed.
static vd_status print_dialogs(const char *path, const vd_safetensors *file, bool list,
                               vd_error *err)
{
    vd_visdial *data;
    vd_status status = vd_visdial_read(path, &data, err);
    if (status)
        return status;
    size_t rounds = 0, answered = 0;
    for (size_t i = 0; i < data->dialog_count; i++) {
        rounds += (size_t)data->dialogs[i].round_count;
        for (int r = 0; r < data->dialogs[i].round_count; r++)
            answered += data->dialogs[i].rounds[r].answer >= 0;
    }
    printf("%s: VisDial dialogs%s\n", path, file ? ", packed" : "");
    vd_output_row("version", "%s", data->version ? data->version : "unknown");
    vd_output_row("split", "%s", data->split ? data->split : "unknown");
    vd_output_row("dialogs", "%zu", data->dialog_count);
    vd_output_row("rounds", "%zu, %zu of them answered", rounds, answered);
    vd_output_row("tables", "%zu questions, %zu answers", data->question_count, data->answer_count);
    vd_output_row("more", "visdial data info %s", path);
    vd_visdial_free(data);
    if (file)
        print_contents(file, list);
    return VD_OK;
}

static vd_status print_other(const char *path, const vd_safetensors *file, bool list, vd_error *err)
{
    const char *format = vd_safetensors_metadata(file, "format");
    bool extractor = format && strncmp(format, "visdial extractor", 17) == 0;
    vd_extractor *loaded = NULL;
    vd_status status = extractor ? vd_extractor_load(path, &loaded, err) : VD_OK;
    vd_extractor_free(loaded);
    if (status)
        return status;
    printf("%s: %s\n", path,
           extractor                              ? "weights of the extractor of regions"
           : vd_safetensors_find(file, "vectors") ? "vectors of a model's answers"
                                                  : "tensors");
    print_contents(file, list);
    return VD_OK;
}

static vd_status print_safetensors(const char *path, bool list, vd_error *err)
{
    vd_safetensors *file;
    vd_status status = vd_safetensors_open(path, &file, err);
    if (status)
        return status;
    if (vd_safetensors_metadata(file, "config") && vd_safetensors_metadata(file, "vocab")) {
        status = print_model(path, file, list, err);
    } else if (vd_safetensors_find(file, "features") && vd_safetensors_find(file, "image_id")) {
        status = print_regions(path, file, list, err);
    } else if (vd_safetensors_find(file, "first_round") && vd_safetensors_find(file, "image_id")) {
        status = print_dialogs(path, file, list, err);
    } else {
        status = print_other(path, file, list, err);
    }
    vd_safetensors_close(file);
    return status;
}

static vd_status print_picture(const char *path, vd_error *err)
{
    vd_image image;
    vd_status status = vd_image_read(path, &image, err);
    if (status)
        return status;
    printf("%s: a picture\n", path);
    vd_output_row("size", "%d x %d pixels", image.width, image.height);
    vd_image_clear(&image);
    return VD_OK;
}

static vd_status print_pool(const char *path, vd_error *err)
{
    vd_answer_pool pool;
    vd_status status = vd_answer_pool_read(path, &pool, err);
    if (status)
        return status;
    printf("%s: an answer pool\n", path);
    vd_output_row("answers", "%zu", pool.count);
    vd_output_row("first", "%s (%" PRId64 " times)", pool.answer[0], pool.times[0]);
    vd_answer_pool_clear(&pool);
    return VD_OK;
}

// ---- words --------------------------------------------------------------------------------------

static vd_status print_vocabulary(const char *path, vd_error *err)
{
    vd_vocab *vocab;
    vd_word_counts counts = {0};
    vd_status status = vd_vocab_read(path, 1, &vocab, err);
    if (status)
        return status;
    bool counted = vd_word_counts_read(path, &counts, NULL) == VD_OK;
    int words = vd_vocab_size(vocab) - VD_FIRST_WORD;
    printf("%s: %s\n", path, counted ? "word counts" : "the words of a model");
    vd_output_row("words", "%d", words);
    const char *first = words > 0 ? vd_vocab_word(vocab, VD_FIRST_WORD) : NULL;
    if (counted && first)
        vd_output_row("first", "%s (%" PRId64 " times)", first,
                      vd_word_counts_times(&counts, first));
    else if (first)
        vd_output_row("first", "%s", first);
    vd_word_counts_clear(&counts);
    vd_vocab_free(vocab);
    return VD_OK;
}

static vd_status print_glove(const char *path, vd_error *err)
{
    int width;
    vd_status status = vd_glove_width(path, &width, err);
    if (status)
        return status;
    printf("%s: word vectors (GloVe)\n", path);
    vd_output_row("numbers", "%d a word", width);
    return VD_OK;
}

// ---- parts of region features -------------------------------------------------------------------

static void print_shape(const char *name, const vd_npy *npy)
{
    char shape[96] = "";
    for (int d = 0; d < npy->dims; d++)
        vd_append(shape, sizeof shape, "%s%zu", d ? " x " : "", npy->shape[d]);
    vd_output_row(name, "%s, %s of %zu bits", *shape ? shape : "one number",
                  npy->kind == 'f'   ? "real numbers"
                  : npy->kind == 'i' ? "whole numbers"
                                     : "whole numbers without sign",
                  8 * npy->size);
}

static vd_status print_npy(const char *path, vd_error *err)
{
    unsigned char start[VD_NPY_HEADER];
    size_t got, size;
    vd_npy npy;
    vd_status status = vd_file_read_start(path, start, sizeof start, &got, &size, err);
    if (status == VD_OK)
        status = vd_npy_header(path, start, got, size, &npy, err);
    if (status)
        return status;
    printf("%s: a NumPy array (npy)\n", path);
    print_shape("array", &npy);
    vd_output_row("more", "visdial features info FOLDER, of one such file a picture");
    return VD_OK;
}

static vd_status print_npz(const char *path, vd_error *err)
{
    static const char *const names[] = {"x", "bbox", "num_bbox", "image_w", "image_h"};
    unsigned char start[VD_NPY_HEADER];
    int found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char entry[32];
        size_t got, whole;
        vd_npy npy;
        snprintf(entry, sizeof entry, "%s.npy", names[i]);
        vd_error why = {0};
        vd_status status = vd_zip_read(path, entry, start, sizeof start, &got, &whole, &why);
        if (status == VD_NOT_FOUND)
            continue;
        if (status == VD_OK)
            status = vd_npy_header(path, start, got, whole, &npy, &why);
        if (status)
            return vd_error_set(err, status, "%s", why.text);
        if (found++ == 0)
            printf("%s: NumPy arrays of one picture's regions (npz)\n", path);
        print_shape(names[i], &npy);
    }
    if (!found)
        return vd_error_set(err, VD_FORMAT,
                            "%s: a zip file without an array \"x\" or \"bbox\"; expected the npz "
                            "of a picture's regions",
                            path);
    vd_output_row("more", "visdial features info FOLDER, of one such file a picture");
    return VD_OK;
}

static vd_status print_index(const char *path, vd_error *err)
{
    vd_pickle_pair *pairs;
    size_t count;
    vd_status status = vd_pickle_read(path, &pairs, &count, err);
    if (status)
        return status;
    int64_t first = INT64_MAX, last = 0;
    for (size_t i = 0; i < count; i++) {
        first = pairs[i].key < first ? pairs[i].key : first;
        last = pairs[i].key > last ? pairs[i].key : last;
    }
    printf("%s: the index of adaptive region features (a pickle)\n", path);
    vd_output_row("pictures", "%zu", count);
    if (count)
        vd_output_row("images", "ids %" PRId64 " to %" PRId64, first, last);
    vd_free(pairs);
    return VD_OK;
}

// ---- what chats write ---------------------------------------------------------------------------

static vd_status print_transcript(const char *path, vd_error *err)
{
    vd_transcript_file file = {0};
    vd_status status = vd_transcript_read(path, &file, err);
    if (status)
        return status;
    size_t rounds = 0;
    for (size_t i = 0; i < file.dialog_count; i++)
        rounds += (size_t)file.dialogs[i].count;
    printf("%s: a transcript of chats\n", path);
    vd_output_row("dialogs", "%zu, %zu round%s", file.dialog_count, rounds, rounds == 1 ? "" : "s");
    vd_output_row("answers", "%zu", file.record_count);
    for (size_t i = 0; i < file.record_count; i++) {
        const char *model = file.records[i].sheet.side[0].model;
        bool before = false;
        for (size_t k = 0; k < i && !before; k++)
            before = strcmp(file.records[k].sheet.side[0].model, model) == 0;
        if (!before)
            vd_output_row("model", "%s", model);
    }
    vd_output_row("more", "visdial replay %s", path);
    vd_transcript_clear(&file);
    return VD_OK;
}

static vd_status print_text(const char *path, const char *what, vd_error *err)
{
    enum { MOST = 1 << 30 };
    char *text;
    size_t size, lines = 0;
    vd_status status = vd_file_read(path, MOST, &text, &size, err);
    if (status)
        return status;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    vd_free(text);
    printf("%s: %s\n", path, what);
    vd_output_row("lines", "%zu", lines);
    return VD_OK;
}

// ---- telling them apart -------------------------------------------------------------------------

typedef struct beginning {
    const char *path;
    char text[4096 + 1]; // with a NUL behind it
    size_t size;         // of text
} beginning;

// A safetensors file is eight bytes with the length of the header, then the header, "{...".
static bool is_safetensors(const beginning *b)
{
    return b->size > 8 && b->text[8] == '{' && memchr(b->text, '\0', 8);
}

static bool is_picture(const beginning *b)
{
    return vd_image_is_picture((const unsigned char *)b->text, b->size);
}

// The first record of an event file is its version.
static bool are_events(const beginning *b)
{
    enum { RECORD = 12, LATEST = 40 };
    bool found = false;
    for (size_t at = RECORD; at < LATEST && at + 12 <= b->size; at++)
        found = found || memcmp(b->text + at, "brain.Event:", 12) == 0;
    return found;
}

static bool is_history(const beginning *b)
{
    const char *slash = strrchr(b->path, '/');
    return strcmp(slash ? slash + 1 : b->path, "history") == 0;
}

static vd_status print_foreign_regions(const char *path, vd_error *err)
{
    return print_regions(path, NULL, false, err);
}

static vd_status print_plain_dialogs(const char *path, vd_error *err)
{
    return print_dialogs(path, NULL, false, err);
}

// The first kind whose pattern the beginning matches, up to a NUL, or that `is` finds it to be.
// Those without a function to print them are text that says by itself what it holds; or, without
// that, safetensors.
#define BLANK "[ \\t\\r\\n]*"
static const struct {
    const char *pattern;
    bool (*is)(const beginning *b);
    vd_status (*print)(const char *path, vd_error *err);
    const char *text;
} kinds[] = {
    {.is = is_safetensors},
    {"^" BLANK "\\{\"data\":\"", .print = vd_info_inputs},
    {"^" BLANK "\\{\"transcript\"", .print = print_transcript},
    {"^" BLANK "\\{[^\"]*\"(?!version\")[^\"]*\"" BLANK ":" BLANK "\\d", .print = print_vocabulary},
    {"^" BLANK "\\{.*\"(images|annotations)\"", .print = vd_info_captions},
    // Dialogs have an object there.
    {"^" BLANK "\\{(?>.*?\"data\")" BLANK ":" BLANK "\"", .text = "an evaluation of models (JSON)"},
    {"^" BLANK "\\{", .print = print_plain_dialogs},
    {"^" BLANK "\\[" BLANK "\"", .print = print_vocabulary},
    {"^" BLANK "\\[", .print = vd_info_rows},
    {.is = is_picture, .print = print_picture},
    {"^\\x89HDF", .print = print_foreign_regions},
    {"^\\x93NUMPY", .print = print_npy},
    {"^PK\\x03\\x04", .print = print_npz},
    {"^\\x80[\\x02-\\x05]", .print = print_index},
    {.is = are_events, .print = vd_info_events},
    {"^epoch\\tstep\\t", .print = vd_info_log},
    {"^([^\\t\\r\\n]*\\t){3}", .print = print_foreign_regions},
    {"^\\d[^\\t\\r\\n]*\\t", .print = print_pool},
    {"^" BLANK "(?i)<!doctype html", .text = "a page for a browser (HTML)"},
    // "# Title" and an empty line, as the Markdown of the program begins.
    {"^# [^\\n]*\\n\\n", .text = "a page of text (Markdown)"},
    {"^([ \\n]|#[^\\n]*)*+(key [^\\n]*=|(theme|picture|mouse|model|fold) *=)",
     .text = "settings of the chat"},
    {.is = is_history, .text = "earlier questions of the chat"},
    // A word and numbers with single spaces between them.
    {"^[^ \\t\\r\\n]+ [ 0-9.+eE-]{4,}+(?![^\\r\\n])", .print = print_glove},
    {.pattern = "^version https://git-lfs"}, // to be fetched first
};

static vd_status print_kind(const beginning *b, bool tensors, vd_error *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is
                ? kinds[i].is(b)
                : g_regex_match_simple(kinds[i].pattern, b->text, G_REGEX_RAW | G_REGEX_DOTALL, 0))
            return kinds[i].print  ? kinds[i].print(b->path, err)
                   : kinds[i].text ? print_text(b->path, kinds[i].text, err)
                                   : print_safetensors(b->path, tensors, err);
    return vd_error_set(err, VD_FORMAT, "%.400s: %s", b->path,
                        b->size ? "not a file that visdial reads or writes (`visdial info --help` "
                                  "lists them)"
                                : "the file is empty (0 bytes)");
}

vd_status vd_info_print(const char *path, bool tensors, vd_error *err)
{
    struct stat about;
    beginning b = {.path = path};
    size_t whole;
    bool directory = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    char *weights = directory ? vd_info_weights(path) : NULL;
    if (weights) {
        vd_status status = vd_info_run(path, weights, tensors, err);
        g_free(weights);
        return status;
    }
    if (directory)
        return print_regions(path, NULL, false, NULL) == VD_OK
                   ? VD_OK
                   : vd_error_set(err, VD_FORMAT,
                                  "%.400s: a directory; expected one of a training run (with "
                                  "model.safetensors) or of region features (npz, npy)",
                                  path);
    vd_status status = vd_file_read_start(path, b.text, sizeof b.text - 1, &b.size, &whole, err);
    return status ? status : print_kind(&b, tensors, err);
}
