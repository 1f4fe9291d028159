// visdial features info|import: region features of pictures in the public formats.
#include "tui/commands/command.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "features/regions/import.h"
#include "features/dialogs/visdial.h"
#include "tui/base/progress.h"

typedef struct request {
    const char *file, *out, *index, *columns, *data, *images;
    int imports; // 0: info
    bool full, force, quiet;
} request;

static const vd_option options[] = {
    {"out", "FILE", "import: the safetensors file to write", VD_INTO(request, out)},
    {"index", "FILE", "pickled index of adaptive HDF5 (default: the one beside it)",
     VD_INTO(request, index)},
    {"columns", "LIST", "import: keep only these feature columns, such as 0-15,100-105",
     VD_INTO(request, columns)},
    {"f32", NULL, "import: write single precision instead of half", VD_INTO(request, full)},
    {"data", "FILE", VD_HELP_DATA, VD_INTO(request, data)},
    {"images", "DIR", VD_HELP_IMAGES, VD_INTO(request, images)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(request, force)},
    {"quiet", NULL, VD_HELP_NO_PROGRESS, VD_INTO(request, quiet)},
    {0},
};

static vd_status read_options(request *r, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, r, &given, err);
    if (status == VD_OK)
        status = vd_arguments_verb(&given, "info or import", 1, &r->imports, err);
    if (status)
        return status;
    r->file = given.operand[1];
    if (!r->imports)
        return vd_arguments_refuse(&given, "out f32 columns force quiet", "goes with import", err);
    status = vd_arguments_refuse(&given, "data", "goes with info", err);
    return status ? status : vd_arguments_need(&given, "out", err);
}

// ---- info ---------------------------------------------------------------------------------------

// The library of the format finds most damage only where it reads it.
static vd_status read_picture(void *context, int worker, size_t row, vd_error *err)
{
    (void)worker;
    const vd_regions *regions = context;
    size_t max = (size_t)regions->max, size = (size_t)regions->size;
    float *numbers = g_new0(float, (size + 4) * max);
    vd_status status = vd_regions_read(regions, row, numbers, numbers + max * size, err);
    g_free(numbers);
    return status;
}

// how: what the row "readable" says.
static vd_status try_all(vd_regions *regions, char *how, size_t room, vd_error *err)
{
    const double most = 1e9; // bytes, a few seconds
    size_t count = regions->count;
    double bytes = 4.0 * (double)count * regions->max * regions->size;
    if (bytes > most) {
        snprintf(how, room, "not tried, %.1f GB; visdial features import reads all", bytes / 1e9);
        return VD_OK;
    }
    vd_status status =
        vd_parallel(count, vd_parallel_threads(), read_picture, regions, NULL, NULL, NULL, err);
    snprintf(how, room, status ? "no, see the error" : "all pictures");
    return status;
}

vd_status vd_regions_print(vd_regions *regions, const vd_photos *photos, vd_error *err)
{
    char readable[80];
    size_t count = regions->count, sum = 0;
    int least = regions->max, most = 0;
    int64_t first = INT64_MAX, last = 0;
    for (size_t i = 0; i < count; i++) {
        int used = regions->used[i];
        int64_t id = regions->image_id[i];
        least = used < least ? used : least;
        most = used > most ? used : most;
        first = id < first ? id : first;
        last = id > last ? id : last;
        sum += (size_t)used;
    }
    // Boxes in pixels are not read: photos may be missing.
    vd_status status = try_all(regions, readable, sizeof readable, err);
    vd_regions_use_photos(regions, photos);
    const char *none = regions->no_boxes;
    vd_output_row("layout", "%s", regions->kind);
    vd_output_row("pictures", "%zu, ids %" PRId64 " to %" PRId64, count, first, last);
    vd_output_row("regions", "%d to %d a picture, %.1f on average; room for %d", least, most,
                  (double)sum / (double)count, regions->max);
    vd_output_row("numbers", "%d a region", regions->size);
    vd_output_row("boxes", none ? "none: %s; regions will be listed by number" : "yes", none);
    vd_output_row("readable", "%s", readable);
    return status;
}

// How many of some image ids are there, and the first that is not.
typedef struct search {
    size_t count, found;
    int64_t missing; // valid when found < count
} search;

static void add_id(search *s, int64_t id, bool there)
{
    if (!there && s->found == s->count)
        s->missing = id;
    s->count++;
    s->found += there;
}

static void print_search(const search *s, const char *name, const char *what)
{
    char more[64] = "";
    if (s->found < s->count)
        snprintf(more, sizeof more, "; image %" PRId64 " is the first without", s->missing);
    vd_output_row(name, "%zu of %zu %s%s", s->found, s->count, what, more);
}

static vd_status print_dialogs(const vd_regions *regions, const char *path, vd_error *err)
{
    vd_visdial *data;
    search s = {0};
    size_t row;
    vd_status status = vd_visdial_open(path, &data, err);
    if (status != VD_OK)
        return status;
    for (size_t d = 0; d < data->dialog_count; d++) {
        int64_t id = data->dialogs[d].image_id;
        add_id(&s, id, vd_regions_find(regions, id, &row, NULL) == VD_OK);
    }
    print_search(&s, "dialogs", "have features");
    vd_visdial_free(data);
    return VD_OK;
}

static void print_photos(const vd_regions *regions, const vd_photos *photos)
{
    search s = {0};
    for (size_t i = 0; i < regions->count; i++) {
        int64_t id = regions->image_id[i];
        add_id(&s, id, vd_photos_find(photos, id) != NULL);
    }
    print_search(&s, "photos", "pictures have one");
}

static vd_status info(const request *r, vd_regions *regions, const vd_photos *photos, vd_error *err)
{
    vd_output_row("file", "%s", regions->path);
    vd_status status = vd_regions_print(regions, photos, err);
    if (status == VD_OK && r->data)
        status = print_dialogs(regions, r->data, err);
    if (status == VD_OK && photos)
        print_photos(regions, photos);
    return status;
}

// ---- import -------------------------------------------------------------------------------------

static vd_status import(const request *r, vd_regions *regions, const vd_photos *photos,
                        const int *column, int columns, vd_error *err)
{
    vd_regions_use_photos(regions, photos);
    const char *slash = strrchr(r->file, '/');
    vd_progress progress;
    size_t count = regions->count, done = 0;
    vd_import work = {.from = regions,
                      .source = slash && slash[1] ? slash + 1 : r->file,
                      .out = r->out,
                      .full = r->full,
                      .column = column,
                      .columns = columns,
                      .progress = vd_progress_report,
                      .context = &progress};
    vd_status status =
        vd_output_check(&work.out, 1, (const char *const[]){r->file, r->index}, 2, r->force, err);
    if (status == VD_OK)
        status = vd_import_resumed(&work, &done, err);
    if (status != VD_OK)
        return status;
    if (done > 0 && !r->quiet)
        fprintf(stderr, "continuing after %zu of %zu pictures\n", done, count);
    double began = vd_seconds();
    vd_progress_start(&progress, "pictures", (int64_t)count, (int64_t)done, r->quiet);
    work.stop = vd_interrupt_watch();
    status = vd_import_run(&work, err);
    vd_interrupt_release();
    vd_progress_end(&progress, (int64_t)count, status == VD_OK);
    if (status != VD_OK)
        return status;
    struct stat about = {0};
    stat(work.out, &about);
    printf("%s: %zu pictures, %.1f MB on the disk, %.1f s\n", work.out, count,
           (double)about.st_blocks * 512 / 1e6, vd_seconds() - began);
    return VD_OK;
}

static vd_status import_columns(const request *r, vd_regions *regions, const vd_photos *photos,
                                vd_error *err)
{
    int *column = NULL, columns = 0;
    vd_status status = VD_OK;
    if (r->columns)
        status = vd_import_columns(r->columns, regions->size, &column, &columns, err);
    if (status == VD_OK)
        status = import(r, regions, photos, column, columns, err);
    vd_free(column);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    request r = {0};
    vd_regions *regions = NULL;
    vd_photos *photos = NULL;
    vd_status status = read_options(&r, argc, argv, err);
    if (status == VD_OK)
        status = vd_regions_open_index(r.file, r.index, &regions, err);
    if (status == VD_OK && r.images)
        status = vd_photos_open(r.images, &photos, err);
    if (status == VD_OK)
        status =
            r.imports ? import_columns(&r, regions, photos, err) : info(&r, regions, photos, err);
    vd_regions_close(regions);
    vd_photos_close(photos);
    return status;
}

const vd_command vd_cmd_features = {
    "features",
    run,
    "describe a file of region features, or import it",
    "info|import FILE [options]",
    "FILE is HDF5 of the VisDial challenge or adaptive HDF5, TSV of bottom-up attention or "
    "LXMERT, a folder of npz or npy files, or safetensors. All commands read these as they are.\n"
    "info: describe FILE; with --data count the dialogs that have features, with --images the "
    "pictures that have a photo.\n"
    "import: write one safetensors file in half precision, which is smaller and faster to read. A "
    "stopped import continues where it stopped. Boxes in pixels need "
    "the size of each picture: give --images where FILE does not have it.",
    "  visdial features info features_faster_rcnn_x101_val.h5 \\\n"
    "      --data visdial_1.0_val.json\n"
    "  visdial features import features_faster_rcnn_x101_val.h5 --out val.safetensors\n",
    options,
    "info import"};
