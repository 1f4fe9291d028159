#include "tests/support/public_files.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <hdf5.h>
#include <zip.h>

#include "tests/support/support.h"

static bool is(const char *wrong, const char *name)
{
    return wrong && strcmp(wrong, name) == 0;
}

int64_t public_image(size_t picture)
{
    static const int64_t images[PUBLIC_IMAGES] = {42, 7, 581929};
    return images[picture];
}

size_t public_used(size_t picture)
{
    static const size_t used[PUBLIC_IMAGES] = {2, 4, 1};
    return used[picture];
}

float public_feature(size_t picture, size_t p, size_t k)
{
    return (float)(picture * 64 + p * 8 + k) / 16;
}

void public_box(size_t picture, size_t p, float box[4])
{
    box[0] = (float)(10 * picture);
    box[1] = (float)(5 * p);
    box[2] = box[0] + 20;
    box[3] = box[1] + 30;
}

// ---- HDF5 ---------------------------------------------------------------------------------------

static void put_as(hid_t file, const char *name, hid_t kind, hid_t type, int dims,
                   const hsize_t *shape, const void *data, hid_t how)
{
    hid_t space = H5Screate_simple(dims, shape, NULL);
    hid_t set = H5Dcreate2(file, name, kind, space, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void put(hid_t file, const char *name, hid_t kind, hid_t type, int dims,
                const hsize_t *shape, const void *data)
{
    put_as(file, name, kind, type, dims, shape, data, H5P_DEFAULT);
}

// Each number in 64 bytes, most of them unused.
static void put_wide(hid_t file, const char *name, const hsize_t *shape, const void *data)
{
    hid_t kind = H5Tcopy(H5T_IEEE_F32LE);
    H5Tset_size(kind, 64);
    put(file, name, kind, H5T_NATIVE_FLOAT, 3, shape, data);
    H5Tclose(kind);
}

// In compressed pieces of two rows.
static void put_compressed(hid_t file, const char *name, const hsize_t *shape, const void *data)
{
    const hsize_t piece[] = {2, shape[1], shape[2]};
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, 3, piece);
    H5Pset_deflate(how, 1);
    put_as(file, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, shape, data, how);
    H5Pclose(how);
}

// A node of the index is "TREE", 1 for chunks, 19 other bytes, and a key a chunk: size, filters
// that are left out, four offsets, address.
static void leave_filters_out(const char *path, size_t chunk)
{
    enum { NODE = 24, KEY = 48, FILTERS = 4, DEFLATE = 2 };
    size_t size, at = 0;
    char *bytes = support_read_file(path, &size);
    while (at + NODE + (chunk + 1) * KEY < size && memcmp(bytes + at, "TREE\1", 5) != 0)
        at++;
    assert_memory_equal(bytes + at, "TREE\1", 5);
    bytes[at + NODE + chunk * KEY + FILTERS] = DEFLATE;
    support_write_file(path, bytes, size);
    free(bytes);
}

void public_chunks(const char *path, size_t wrong)
{
    enum { REGIONS = 64, SIZE = 65536 };
    const hsize_t shape[] = {PUBLIC_IMAGES, REGIONS, SIZE}, piece[] = {1, REGIONS, SIZE};
    const int id[PUBLIC_IMAGES] = {42, 7, 581929};
    float *features = calloc(PUBLIC_IMAGES, sizeof *features * REGIONS * SIZE);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, 3, piece);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
    put_as(file, "features", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, shape, features, how);
    put(file, "image_id", H5T_NATIVE_INT, H5T_NATIVE_INT, 1, shape, id);
    H5Pclose(how);
    H5Fclose(file);
    free(features);
    leave_filters_out(path, wrong);
}

static void leave_unwritten(hid_t file, const char *name, const hsize_t *shape)
{
    hid_t space = H5Screate_simple(2, shape, NULL);
    H5Dclose(H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
}

// Boxes as some extractors write them beside the features: in pixels, in 0..1, with the pictures'
// sizes or without.
static void put_places(hid_t file, const char *wrong)
{
    float place[PUBLIC_IMAGES][PUBLIC_REGIONS][4];
    int32_t width[PUBLIC_IMAGES] = {200, 200, 200}, height[PUBLIC_IMAGES] = {100, 100, 100};
    hsize_t shape[] = {PUBLIC_IMAGES, PUBLIC_REGIONS, is(wrong, "narrow places") ? 3 : 4};
    for (size_t i = 0; i < PUBLIC_IMAGES; i++)
        for (size_t p = 0; p < PUBLIC_REGIONS; p++) {
            public_box(i, p, place[i][p]);
            for (int c = 0; c < 4 && wrong && strncmp(wrong, "unit", 4) == 0; c++)
                place[i][p][c] /= c % 2 ? 100 : 200;
        }
    if (is(wrong, "wild places"))
        place[1][2][2] = 5000;
    if (is(wrong, "turned places"))
        place[1][2][0] = place[1][2][2] + 1;
    if (is(wrong, "places of nothing"))
        width[1] = 0;
    put(file, "boxes", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, shape, place);
    if (is(wrong, "unit places") || is(wrong, "pixel places"))
        return;
    put(file, "image_w", H5T_NATIVE_INT, H5T_NATIVE_INT, 1, shape, width);
    put(file, "image_h", H5T_NATIVE_INT, H5T_NATIVE_INT, 1, shape, height);
}

void public_challenge(const char *path, const char *wrong)
{
    float id[PUBLIC_IMAGES], features[PUBLIC_IMAGES][PUBLIC_REGIONS][PUBLIC_SIZE];
    int32_t boxes[PUBLIC_IMAGES] = {2, 4, 1};
    for (size_t i = 0; i < PUBLIC_IMAGES; i++) {
        id[i] = (float)public_image(i);
        for (size_t p = 0; p < PUBLIC_REGIONS; p++)
            for (size_t k = 0; k < PUBLIC_SIZE; k++)
                features[i][p][k] = public_feature(i, p, k);
    }
    if (is(wrong, "fraction"))
        id[1] = 7.5f;
    if (is(wrong, "negative"))
        id[1] = -7;
    if (is(wrong, "nan id"))
        memset(&id[1], 0xff, sizeof id[1]);
    if (is(wrong, "twice"))
        id[1] = 42;
    if (is(wrong, "nan"))
        memset(&features[1][2][3], 0xff, sizeof(float));
    if (is(wrong, "large"))
        features[1][2][3] = 70000;
    if (is(wrong, "no boxes of one"))
        boxes[1] = 0;
    if (is(wrong, "many boxes"))
        boxes[1] = 5;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hsize_t shape[] = {PUBLIC_IMAGES, PUBLIC_REGIONS, PUBLIC_SIZE};
    hsize_t flat[] = {PUBLIC_IMAGES, (hsize_t)PUBLIC_REGIONS * PUBLIC_SIZE};
    hsize_t none[] = {0, PUBLIC_REGIONS, PUBLIC_SIZE}, fewer = PUBLIC_IMAGES - 1;
    const char *name = is(wrong, "image_ids") ? "image_ids" : "image_id";
    if (!is(wrong, "no ids"))
        put(file, name, is(wrong, "image_ids") ? H5T_NATIVE_INT : H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,
            1,
            is(wrong, "fewer ids") ? &fewer
            : is(wrong, "empty")   ? none
                                   : shape,
            id);
    if (is(wrong, "flat"))
        put(file, "features", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 2, flat, features);
    else if (is(wrong, "empty"))
        put(file, "features", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, none, features);
    else if (is(wrong, "text"))
        put(file, "features", H5T_C_S1, H5T_C_S1, 3, shape, features);
    else if (is(wrong, "wide numbers"))
        put_wide(file, "features", shape, features);
    else if (is(wrong, "compressed"))
        put_compressed(file, "features", shape, features);
    else if (!is(wrong, "no features"))
        put(file, "features", is(wrong, "double") ? H5T_IEEE_F64LE : H5T_IEEE_F32LE,
            H5T_NATIVE_FLOAT, 3, shape, features);
    if (wrong && strstr(wrong, "boxes"))
        put(file, "num_boxes", H5T_NATIVE_INT, H5T_NATIVE_INT, 1, shape, boxes);
    if (wrong && strstr(wrong, "places"))
        put_places(file, wrong);
    H5Fclose(file);
}

static void write_index(const char *path, const char *wrong)
{
    // Protocol 2, as pickle.dump writes a small dictionary; rows 2, 0, 1.
    unsigned char bytes[] = {0x80, 2, '}', 'q',  0,    '(', 'K', 42,  'K', 2,   'K', 7,
                             'K',  0, 'J', 0x29, 0xe1, 8,   0,   'K', 1,   'u', '.'};
    if (is(wrong, "row"))
        bytes[9] = 3;
    support_write_file(path, bytes, sizeof bytes);
}

void public_adaptive(const char *path, const char *index, const char *wrong)
{
    enum { ALL = 7 };
    static const size_t order[] = {1, 2, 0}; // pictures in the order of rows
    float features[ALL][PUBLIC_SIZE], spatial[ALL][6] = {{0}};
    int32_t ranges[PUBLIC_IMAGES][2];
    size_t row = 0;
    for (size_t r = 0; r < PUBLIC_IMAGES; r++) {
        ranges[r][0] = (int32_t)row;
        for (size_t p = 0; p < public_used(order[r]); p++, row++) {
            float box[4];
            public_box(order[r], p, box);
            for (int c = 0; c < 4; c++)
                spatial[row][c] = box[c] / (c % 2 ? 100 : 200);
            for (size_t k = 0; k < PUBLIC_SIZE; k++)
                features[row][k] = public_feature(order[r], p, k);
        }
        ranges[r][1] = (int32_t)row;
    }
    if (is(wrong, "range"))
        ranges[1][1] = ALL + 1;
    if (is(wrong, "empty range"))
        ranges[1][1] = ranges[1][0];
    if (is(wrong, "negative range"))
        ranges[1][0] = -1;
    if (is(wrong, "box"))
        spatial[0][2] = 20;
    if (is(wrong, "box order"))
        spatial[0][0] = 0.9f;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hsize_t shape[] = {ALL, PUBLIC_SIZE}, six[] = {ALL, 6}, pairs[] = {PUBLIC_IMAGES, 2};
    hsize_t short_six[] = {ALL - 1, 6}, wide[] = {2, 3};
    put(file, "image_features", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 2, shape, features);
    if (!is(wrong, "no spatial"))
        put(file, "spatial_features", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 2,
            is(wrong, "spatial rows") ? short_six : six, spatial);
    if (is(wrong, "unwritten ranges"))
        leave_unwritten(file, "pos_boxes", (const hsize_t[]){(hsize_t)1 << 40, 2});
    else if (!is(wrong, "no ranges"))
        put(file, "pos_boxes", H5T_STD_I32LE, H5T_NATIVE_INT, 2,
            is(wrong, "columns") ? wide : pairs, ranges);
    H5Fclose(file);
    if (index)
        write_index(index, wrong);
}

// ---- npy and npz --------------------------------------------------------------------------------

static char *npy(const char *type, const char *shape, const void *data, size_t bytes, size_t *size)
{
    char header[128];
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    *size = 128 + bytes;
    char *out = malloc(*size);
    memcpy(out, "\x93NUMPY\x01\x00\x76\x00", 10);
    memset(out + 10, ' ', 117);
    memcpy(out + 10, header, (size_t)length);
    out[127] = '\n';
    memcpy(out + 128, data, bytes);
    return out;
}

char *public_npy_bytes(size_t picture, size_t *size)
{
    float features[PUBLIC_REGIONS][PUBLIC_SIZE];
    char shape[32];
    size_t used = public_used(picture);
    for (size_t p = 0; p < used; p++)
        for (size_t k = 0; k < PUBLIC_SIZE; k++)
            features[p][k] = public_feature(picture, p, k);
    snprintf(shape, sizeof shape, "(%zu, %d)", used, PUBLIC_SIZE);
    return npy("<f4", shape, features, used * PUBLIC_SIZE * sizeof(float), size);
}

// Takes the bytes.
static void add(zip_t *archive, const char *name, char *bytes, size_t size)
{
    zip_source_t *source = zip_source_buffer(archive, bytes, size, 1);
    assert_true(zip_file_add(archive, name, source, ZIP_FL_OVERWRITE) >= 0);
}

void public_npz(const char *path, size_t picture, const char *wrong)
{
    int code;
    size_t size, used = public_used(picture);
    int64_t height = is(wrong, "height") ? 0 : 100, width = 200;
    float boxes[PUBLIC_REGIONS][4];
    char shape[32], *bytes;
    remove(path);
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    assert_non_null(archive);
    for (size_t p = 0; p < used; p++)
        public_box(picture, p, boxes[p]);
    if (is(wrong, "box"))
        boxes[0][2] = 5000;
    snprintf(shape, sizeof shape, "(%zu, %d)", used, is(wrong, "box columns") ? 2 : 4);
    bytes = npy("<f4", shape, boxes, used * (is(wrong, "box columns") ? 8 : 16), &size);
    if (!is(wrong, "no bbox"))
        add(archive, "bbox.npy", bytes, size);
    else
        free(bytes);
    bytes = npy("<i8", "()", &height, 8, &size);
    add(archive, "image_h.npy", bytes, size);
    bytes = npy("<i8", is(wrong, "two widths") ? "(2,)" : "()", (int64_t[]){width, 1},
                is(wrong, "two widths") ? 16 : 8, &size);
    add(archive, "image_w.npy", bytes, size);
    bytes = public_npy_bytes(picture, &size);
    if (is(wrong, "no x"))
        free(bytes);
    else
        add(archive, "x.npy", bytes, is(wrong, "short x") ? size - 4 : size);
    assert_int_equal(zip_close(archive), 0);
}

// ---- TSV ----------------------------------------------------------------------------------------

static void encode(const void *data, size_t size, FILE *out)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i += 3) {
        unsigned bits = (unsigned)bytes[i] << 16;
        bits |= i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < size ? bytes[i + 2] : 0;
        fputc(letters[bits >> 18], out);
        fputc(letters[bits >> 12 & 63], out);
        fputc(i + 1 < size ? letters[bits >> 6 & 63] : '=', out);
        fputc(i + 2 < size ? letters[bits & 63] : '=', out);
    }
}

char *public_tsv_text(int lxmert)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < PUBLIC_IMAGES; i++) {
        float boxes[PUBLIC_REGIONS][4], features[PUBLIC_REGIONS][PUBLIC_SIZE];
        size_t used = public_used(i);
        for (size_t p = 0; p < used; p++) {
            public_box(i, p, boxes[p]);
            for (size_t k = 0; k < PUBLIC_SIZE; k++)
                features[p][k] = public_feature(i, p, k);
        }
        if (lxmert)
            fprintf(out, "COCO_val2014_%012d\t100\t200\tAA==\tAA==\tAA==\tAA==\t%zu\t",
                    (int)public_image(i), used);
        else
            fprintf(out, "%d\t200\t100\t%zu\t", (int)public_image(i), used);
        encode(boxes, used * sizeof boxes[0], out);
        fputc('\t', out);
        encode(features, used * sizeof features[0], out);
        fputs(i == 1 ? "\r\n" : "\n", out);
    }
    fclose(out);
    return text;
}

// ---- all of them --------------------------------------------------------------------------------

char *public_file_name(const char *folder, size_t picture, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "COCO_val2014_%012d.%s", (int)public_image(picture), suffix);
    return support_join(folder, name);
}

void public_folder(const char *folder, const char *suffix)
{
    support_remove_tree(folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    for (size_t i = 0; i < PUBLIC_IMAGES; i++) {
        char *name = public_file_name(folder, i, suffix);
        size_t size;
        char *bytes = public_npy_bytes(i, &size);
        if (strcmp(suffix, "npy") == 0)
            support_write_file(name, bytes, size);
        else
            public_npz(name, i, NULL);
        free(bytes);
        free(name);
    }
}

void public_layout(int layout, const char *path, const char *index)
{
    static const char *const challenge[] = {
        [PUBLIC_CHALLENGE] = "image_ids",          [PUBLIC_CHALLENGE_COUNTS] = "num_boxes",
        [PUBLIC_CHALLENGE_DOUBLE] = "double",      [PUBLIC_CHALLENGE_COMPRESSED] = "compressed",
        [PUBLIC_CHALLENGE_SIZED] = "sized places", [PUBLIC_CHALLENGE_UNIT] = "unit places",
    };
    if (layout < PUBLIC_ADAPTIVE)
        public_challenge(path, challenge[layout]);
    else if (layout == PUBLIC_ADAPTIVE)
        public_adaptive(path, index, NULL);
    else if (layout >= PUBLIC_NPZ)
        public_folder(path, layout == PUBLIC_NPZ ? "npz" : "npy");
    else {
        char *text = public_tsv_text(layout == PUBLIC_LXMERT);
        support_write_text(path, text);
        free(text);
    }
}
