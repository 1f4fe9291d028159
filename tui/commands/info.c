// visdial info [FILE...]: what a file holds; without a file what this program is made of.
#include "tui/commands/command.h"

#include <chafa.h>
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jpeglib.h>
#include <png.h>
#include <unistd.h>
#include <utf8proc.h>
#include <yajl/yajl_version.h>

#include "engine/backend/backend.h"
#include "engine/backend/open.h"
#include "engine/base/file.h"
#include "engine/model/model.h"
#include "engine/base/safetensors.h"
#include "features/pictures/image.h"
#include "features/dialogs/answer_pool.h"
#include "features/regions/regions.h"
#include "features/dialogs/visdial.h"
#include "tui/base/output.h"

#define TEXT_OF(macro) TEXT(macro)
#define TEXT(text)     #text

// ---- the program --------------------------------------------------------------------------------

// Only one file includes curses: the one that owns the terminal.
extern const char *curses_version(void);

static void print_processor(void)
{
    char line[256], name[200] = "unknown";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "model name", 10) != 0 || !strchr(line, ':'))
            continue;
        snprintf(name, sizeof name, "%s", strchr(line, ':') + 2);
        name[strcspn(name, "\n")] = '\0';
        break;
    }
    if (file)
        fclose(file);
    vd_output_row("processor", "%s, %ld usable", name, sysconf(_SC_NPROCESSORS_ONLN));
#if defined(__x86_64__)
    vd_output_row("", "%s%s%s%s", __builtin_cpu_supports("avx2") ? "avx2 " : "",
                  __builtin_cpu_supports("fma") ? "fma " : "",
                  __builtin_cpu_supports("avx512f") ? "avx512f " : "",
                  __builtin_cpu_supports("avx512bw") ? "avx512bw" : "");
#endif
}

static void print_backend(void)
{
    const vd_backend *cuda;
    vd_error err;
    vd_status status = vd_backend_open_cuda(NULL, 0, &cuda, &err);
    vd_output_row("backend", status ? "cpu" : "cuda");
    if (status)
        vd_output_row("", "no cuda: %s", err.text);
    else
        vd_output_row("", "%s", cuda->description);
}

static void print_program(void)
{
    printf("visdial " VD_VERSION "\n");
#ifdef __clang__
    vd_output_row("compiler", "clang %s", __clang_version__);
#else
    vd_output_row("compiler", "gcc %s", __VERSION__);
#endif
    print_backend();
    print_processor();
    printf("\nlibraries\n");
    vd_output_row("OpenBLAS", "%s", vd_backend_cpu_library());
    vd_output_row("ncurses", "%s", curses_version());
    // The library has no function for its version: the one that this program was built with.
    vd_output_row("chafa", "%d.%d.%d (when built)", CHAFA_MAJOR_VERSION, CHAFA_MINOR_VERSION,
                  CHAFA_MICRO_VERSION);
    vd_output_row("libpng", "%s", png_get_libpng_ver(NULL));
#ifdef LIBJPEG_TURBO_VERSION
    vd_output_row("libjpeg", "turbo %s (when built)", TEXT_OF(LIBJPEG_TURBO_VERSION));
#else
    vd_output_row("libjpeg", "%d (when built)", JPEG_LIB_VERSION);
#endif
    int yajl = yajl_version();
    vd_output_row("yajl", "%d.%d.%d", yajl / 10000, yajl / 100 % 100, yajl % 100);
    vd_output_row("utf8proc", "%s", utf8proc_version());
}

// ---- safetensors --------------------------------------------------------------------------------

static void print_metadata(const vd_safetensors *file)
{
    enum { SHOWN = 200 };
    const char *key, *value;
    for (size_t i = 0; vd_safetensors_metadata_at(file, i, &key, &value); i++) {
        size_t length = strlen(value);
        if (strcmp(key, "vocab") == 0 && *value == '[') // all words
            continue;
        // Not in the middle of a UTF-8 sequence.
        size_t cut = length < SHOWN ? length : SHOWN;
        while (cut < length && cut > 0 && ((unsigned char)value[cut] & 0xc0) == 0x80)
            cut--;
        if (cut < length)
            vd_output_row(key, "%.*s... (%zu bytes)", (int)cut, value, length);
        else
            vd_output_row(key, "%s", value);
    }
}

static void print_tensors(const vd_safetensors *file)
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
    printf("\n%zu tensors, %zu numbers, %zu bytes\n", count, elements, bytes);
    for (size_t i = 0; i < count; i++) {
        const vd_tensor *tensor = vd_safetensors_at(file, i);
        int padding = width - vd_output_width(tensor->name);
        printf("  %s%*s  %-4s ", tensor->name, padding > 0 ? padding : 0, "",
               vd_dtype_name(tensor->dtype));
        for (int d = 0; d < tensor->dims; d++)
            printf("%s%zu", d ? " x " : "", tensor->shape[d]);
        printf("%s\n", tensor->dims ? "" : "one number");
    }
}

static vd_status print_model(const char *path, const vd_safetensors *file, vd_error *err)
{
    vd_model *model;
    vd_status status = vd_model_load(path, &model, err);
    if (status)
        return status;
    const vd_config *config = vd_model_config(model);
    printf("%s: a model\n", path);
    vd_output_row("parameters", "%zu", vd_model_parameters(model));
    vd_output_row("words", "%d", config->vocab);
    vd_output_row("embedding", "%d", config->embed);
    vd_output_row("hidden", "%d", config->hidden);
    vd_output_row("regions", "of %d numbers", config->region);
    vd_output_row("gate", "%s", vd_gate_names[config->gate]);
    vd_output_row("positions", "%s", vd_positions_names[config->positions]);
    vd_output_row("decoder", "%s", vd_decoders_name(config->decoders));
    vd_model_free(model);
    printf("\nmetadata\n");
    print_metadata(file);
    print_tensors(file);
    return VD_OK;
}

// file: NULL for other layouts than our own.
static vd_status print_regions(const char *path, const vd_safetensors *file, vd_error *err)
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
        printf("\nmetadata\n");
        print_metadata(file);
    }
    return status;
}

// ---- other files --------------------------------------------------------------------------------

static vd_status print_dialogs(const char *path, const char *kind, vd_error *err)
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
    printf("%s: %s\n", path, kind);
    vd_output_row("version", "%s", data->version ? data->version : "not told");
    vd_output_row("split", "%s", data->split ? data->split : "not told");
    vd_output_row("dialogs", "%zu", data->dialog_count);
    vd_output_row("rounds", "%zu, %zu of them answered", rounds, answered);
    vd_output_row("questions", "%zu different ones", data->question_count);
    vd_output_row("answers", "%zu different ones", data->answer_count);
    vd_output_row("more", "visdial data info %s", path);
    vd_visdial_free(data);
    return VD_OK;
}

static vd_status print_safetensors(const char *path, vd_error *err)
{
    vd_safetensors *file;
    vd_status status = vd_safetensors_open(path, &file, err);
    if (status)
        return status;
    if (vd_safetensors_metadata(file, "config") && vd_safetensors_metadata(file, "vocab")) {
        status = print_model(path, file, err);
    } else if (vd_safetensors_find(file, "features") && vd_safetensors_find(file, "image_id")) {
        status = print_regions(path, file, err);
    } else if (vd_safetensors_find(file, "first_round") && vd_safetensors_find(file, "image_id")) {
        status = print_dialogs(path, "VisDial dialogs, packed", err);
    } else {
        printf("%s: tensors\n", path);
        printf("\nmetadata\n");
        print_metadata(file);
        print_tensors(file);
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

static vd_status print_file(const char *path, vd_error *err)
{
    unsigned char start[64] = {0};
    int file;
    size_t size, at = 0;
    vd_status status = vd_file_open(path, &file, &size, err);
    if (status)
        return status;
    status = vd_file_read_at(file, path, start, sizeof start - 1, 0, &size, err);
    close(file);
    if (status)
        return status;
    while (at < size && isspace(start[at]))
        at++;
    // A safetensors file is eight bytes with the length of the header, then the header, "{...".
    if (start[8] != '{' && start[at] == '{')
        return print_dialogs(path, "VisDial dialogs", err);
    if (start[8] != '{' && start[at] == '[')
        return vd_error_set(err, VD_FORMAT,
                            "%s: a JSON list, not a file of dialogs; dense annotations are read "
                            "beside their dialogs (visdial eval --dense)",
                            path);
    if (start[8] != '{' && vd_image_is_picture(start, size))
        return print_picture(path, err);
    if (memcmp(start, "\x89HDF", 4) == 0)
        return print_regions(path, NULL, err);
    if (isdigit(start[0]) && memchr(start, '\t', sizeof start))
        return print_pool(path, err);
    return print_safetensors(path, err);
}

static const vd_option options[] = {{0}};

static vd_status run(int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, NULL, &given, err);
    if (status)
        return status;
    if (given.count == 0)
        print_program();
    for (int i = 0; i < given.count; i++) {
        vd_status failed = print_file(given.operand[i], err);
        if (failed)
            vd_command_complain("info", err);
        else if (i + 1 < given.count)
            putchar('\n');
        status = status ? status : failed;
    }
    err->text[0] = '\0'; // all was said
    return status;
}

const vd_command vd_cmd_info = {
    "info",
    run,
    "describe files: models, features, dialogs, pools, pictures",
    "[FILE...]",
    "Without a file it describes the program: its version, libraries, instruction set and GPU.",
    "  visdial info assets/improved.safetensors assets/pictures/1000003.png\n",
    .options = options};
