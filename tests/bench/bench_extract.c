// From a picture file's pixels to its regions.
#include "tests/bench/bench.h"

#include <glib.h>

#include "engine/base/alloc.h"
#include "features/extract/extract.h"
#include "features/pictures/image.h"
#include "tui/session/session.h"

enum { MOST = 1024 };

static vd_status measure(vd_world *world, vd_error *err)
{
    static double reading[MOST], extracting[MOST];
    char path[4096];
    snprintf(path, sizeof path, "%s/extractor.safetensors", world->directory);
    vd_extractor *extractor = NULL;
    double start = bench_now();
    vd_status status = vd_extractor_load(path, &extractor, err);
    if (status != VD_OK)
        return status;
    printf("extractor loaded in %.1f ms\n", bench_now() - start);

    size_t count = 0;
    float *features = vd_alloc(VD_EXTRACT_MAX, VD_FEATURE_SIZE * sizeof *features);
    if (!features)
        status = vd_error_memory(err, "the features");
    for (size_t i = 0; status == VD_OK && i < vd_world_count(world) && count < MOST; i++) {
        vd_image image = {0};
        vd_extraction found = {0};
        char *picture = vd_world_picture_path(world, i, err);
        if (!picture) {
            status = err->status;
            break;
        }
        start = bench_now();
        status = vd_image_read(picture, &image, err);
        double read = bench_now();
        if (status == VD_OK)
            status = vd_extractor_run(extractor, &image, &found, features, err);
        reading[count] = read - start;
        extracting[count++] = bench_now() - read;
        vd_image_clear(&image);
        g_free(picture);
    }
    if (status == VD_OK) {
        bench_report("reading a picture", reading, count);
        bench_report("extracting its regions", extracting, count);
    }
    vd_free(features);
    vd_extractor_free(extractor);
    return status;
}

int main(void)
{
    vd_error err = {0};
    vd_world *world = NULL;
    bench_machine("bench_extract");
    if (vd_world_open_files(&(vd_world_files){0}, &world, &err) != VD_OK)
        return bench_fail(&err);
    vd_status status = measure(world, &err);
    vd_world_close(world);
    return status == VD_OK ? 0 : bench_fail(&err);
}
