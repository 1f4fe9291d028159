// visdial info [FILE...]: what a file holds; without a file what this program is made of.
#include "tui/commands/command.h"

#include <chafa.h>
#include <glib.h>
#include <jpeglib.h>
#include <png.h>
#include <string.h>
#include <unistd.h>
#include <utf8proc.h>
#include <yajl/yajl_version.h>

#include "engine/backend/backend.h"
#include "engine/backend/open.h"
#include "tui/base/bundled.h"
#include "tui/session/session.h"

// ---- the program --------------------------------------------------------------------------------

// Only one file includes curses: the one that owns the terminal.
extern const char *curses_version(void);

static void print_processor(void)
{
    static const char key[] = "model name\t: ";
    char *text = NULL;
    g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL);
    const char *found = text ? strstr(text, key) : NULL;
    const char *name = found ? found + strlen(key) : "unknown";
    vd_output_row("processor", "%.*s, %ld usable", (int)strcspn(name, "\n"), name,
                  sysconf(_SC_NPROCESSORS_ONLN));
    g_free(text);
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
    vd_output_row("libjpeg", "turbo %s (when built)", VD_TEXT_OF(LIBJPEG_TURBO_VERSION));
#else
    vd_output_row("libjpeg", "%d (when built)", JPEG_LIB_VERSION);
#endif
    int yajl = yajl_version();
    vd_output_row("yajl", "%d.%d.%d", yajl / 10000, yajl / 100 % 100, yajl % 100);
    vd_output_row("utf8proc", "%s", utf8proc_version());
}

typedef struct info {
    bool tensors;
} info;

static const vd_option options[] = {
    {"tensors", NULL, "list the tensors of models and of other safetensors files",
     VD_INTO(info, tensors)},
    {0},
};

// Of a file, or of a bundled model by its name.
static vd_status print_file(const char *name, bool tensors, vd_error *err)
{
    if (access(name, F_OK) == 0 || !vd_is_bundled(name))
        return vd_info_print(name, tensors, err);
    char *path = vd_world_model_path(NULL, name, err);
    vd_status status = path ? vd_info_print(path, tensors, err) : err->status;
    g_free(path);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    info about = {0};
    vd_status status = vd_arguments_read(options, argc, argv, &about, &given, err);
    if (status)
        return status;
    if (given.count == 0)
        print_program();
    for (int i = 0; i < given.count; i++) {
        vd_status failed = print_file(given.operand[i], about.tensors, err);
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
    "identify files and describe their contents",
    "[FILE...]",
    "Recognises every kind of file that the program reads or writes, by its contents: models, "
    "checkpoints, region features (safetensors, HDF5, TSV, npz, npy, pickled index), dialogs, "
    "annotations, rankings, scenes, captions, word counts, word vectors, answer pools, "
    "transcripts, training logs, event files, settings, pages and pictures; and the directory of a "
    "training run; " VD_MODEL_NAMES " are the bundled models. Without a file it describes the "
    "program: its version, libraries, instruction "
    "set and GPU.",
    "  visdial info best assets/pictures/1000003.png\n",
    .options = options};
