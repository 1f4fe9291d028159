// Reading scenes; the layout is in world.h.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assets/blocks/facts.h"
#include "assets/blocks/world.h"
#include "engine/base/alloc.h"
#include "engine/base/json_stream.h"
#include "features/pictures/photos.h"

// Places, then values. Those of an object's attributes are ATTRIBUTE + blocks_attribute.
enum { SCENES = 1, SCENE, OBJECTS, OBJECT, POSITION, BOX };
enum { IMAGE_ID = BOX + 1, ATTRIBUTE, RADIUS = ATTRIBUTE + BLOCKS_ATTRIBUTES, COORDINATE, EDGE };

static const vd_json_rule rules[] = {
    {0, NULL, VD_JSON_ARRAY, SCENES, true},
    {SCENES, NULL, VD_JSON_OBJECT, SCENE, false},
    {SCENE, "image_id", VD_JSON_INTEGER, IMAGE_ID, true},
    {SCENE, "objects", VD_JSON_ARRAY, OBJECTS, true},
    {OBJECTS, NULL, VD_JSON_OBJECT, OBJECT, false},
    {OBJECT, "color", VD_JSON_STRING, ATTRIBUTE + BLOCKS_COLOR, true},
    {OBJECT, "shape", VD_JSON_STRING, ATTRIBUTE + BLOCKS_SHAPE, true},
    {OBJECT, "material", VD_JSON_STRING, ATTRIBUTE + BLOCKS_MATERIAL, true},
    {OBJECT, "size", VD_JSON_STRING, ATTRIBUTE + BLOCKS_SIZE, true},
    {OBJECT, "position", VD_JSON_ARRAY, POSITION, true},
    {OBJECT, "radius", VD_JSON_REAL, RADIUS, true},
    {POSITION, NULL, VD_JSON_REAL, COORDINATE, false},
    {OBJECT, "box", VD_JSON_ARRAY, BOX, false},
    {BOX, NULL, VD_JSON_REAL, EDGE, false},
};

typedef struct loading {
    blocks_scene *scene, now;
    size_t count, room;
    bool in_scene, in_object;
    int coordinates, edges;
} loading;

static void where(const void *context, char *text, size_t size)
{
    const loading *l = context;
    if (l->in_object)
        snprintf(text, size, "scene %zu, object %d", l->count + 1, l->now.count + 1);
    else if (l->in_scene)
        snprintf(text, size, "scene %zu", l->count + 1);
}

static vd_status on_open(void *context, vd_json_reader *reader, int place)
{
    loading *l = context;
    if (place == SCENE) {
        l->now = (blocks_scene){0};
        l->in_scene = true;
    } else if (place == OBJECT) {
        if (l->now.count == BLOCKS_MAX)
            return vd_json_refuse(reader, VD_FORMAT, "more than %d objects", BLOCKS_MAX);
        l->in_object = true;
        l->coordinates = l->edges = 0;
    }
    return VD_OK;
}

static vd_status set_attribute(loading *l, vd_json_reader *reader, blocks_attribute a,
                               const vd_json_scalar *value)
{
    for (int v = 0; v < blocks_values(a); v++) {
        const char *name = blocks_value_name(a, v);
        if (strlen(name) == value->length && memcmp(name, value->text, value->length) == 0) {
            l->now.object[l->now.count].value[a] = (unsigned)v;
            return VD_OK;
        }
    }
    return vd_json_refuse(reader, VD_FORMAT, "found \"%.*s\"; expected such as \"%s\"",
                          value->length < 40 ? (int)value->length : 40, value->text,
                          blocks_value_name(a, 0));
}

static vd_status set_number(vd_json_reader *reader, const vd_json_scalar *value, double *out)
{
    if (!(fabs(value->real) < 1000.0))
        return vd_json_refuse(reader, VD_FORMAT, "found %g; expected a place on the table",
                              value->real);
    *out = value->real;
    return VD_OK;
}

static vd_status on_value(void *context, vd_json_reader *reader, int id,
                          const vd_json_scalar *value)
{
    loading *l = context;
    blocks_object *o = &l->now.object[l->now.count < BLOCKS_MAX ? l->now.count : 0];
    if (id == IMAGE_ID)
        return vd_json_whole(reader, "image_id", value, INT64_MAX, &l->now.image_id);
    if (id == RADIUS)
        return set_number(reader, value, &o->radius);
    if (id == EDGE && l->edges < 4)
        return set_number(reader, value, &o->box[l->edges++]);
    if (id == EDGE)
        return vd_json_refuse(reader, VD_FORMAT, "a box of more than 4 numbers");
    if (id != COORDINATE)
        return set_attribute(l, reader, (blocks_attribute)(id - ATTRIBUTE), value);
    if (l->coordinates == 2)
        return vd_json_refuse(reader, VD_FORMAT, "a position of more than 2 numbers");
    return set_number(reader, value, l->coordinates++ ? &o->y : &o->x);
}

static vd_status end_scene(loading *l, vd_json_reader *reader)
{
    if (l->now.count == 0)
        return vd_json_refuse(reader, VD_FORMAT, "no objects; expected 1 to %d", BLOCKS_MAX);
    if (!vd_make_room(&l->scene, &l->room, l->count + 1, sizeof *l->scene))
        return vd_json_no_memory(reader);
    l->scene[l->count++] = l->now;
    l->in_scene = false;
    return VD_OK;
}

static vd_status on_close(void *context, vd_json_reader *reader, int place)
{
    loading *l = context;
    if (place == POSITION && l->coordinates != 2)
        return vd_json_refuse(reader, VD_FORMAT, "a position of %d numbers; expected 2",
                              l->coordinates);
    if (place == BOX && l->edges != 4)
        return vd_json_refuse(reader, VD_FORMAT, "a box of %d numbers; expected 4", l->edges);
    if (place == OBJECT) {
        l->now.count++;
        l->in_object = false;
    }
    return place == SCENE ? end_scene(l, reader) : VD_OK;
}

static const vd_json_form form = {rules, sizeof rules / sizeof *rules, on_open, on_close, on_value,
                                  where};

static vd_status sort(const char *path, loading *l, vd_error *err)
{
    if (l->count == 0)
        return vd_error_set(err, VD_FORMAT, "%.400s: there are no scenes in it", path);
    qsort(l->scene, l->count, sizeof *l->scene, vd_image_id_order);
    for (size_t i = 1; i < l->count; i++)
        if (l->scene[i].image_id == l->scene[i - 1].image_id)
            return vd_error_set(err, VD_FORMAT, "%.400s: two scenes of image %" PRId64, path,
                                l->scene[i].image_id);
    return VD_OK;
}

vd_status blocks_scenes_read(const char *path, blocks_scene **out, size_t *count, vd_error *err)
{
    loading l = {0};
    *out = NULL;
    *count = 0;
    vd_status status = vd_json_stream(path, &form, &l, err);
    if (status == VD_OK)
        status = sort(path, &l, err);
    if (status) {
        vd_free(l.scene);
        return status;
    }
    *out = l.scene;
    *count = l.count;
    return VD_OK;
}

const blocks_scene *blocks_scenes_find(const blocks_scene *scenes, size_t count, int64_t image_id)
{
    return bsearch(&image_id, scenes, count, sizeof *scenes, vd_image_id_order);
}
