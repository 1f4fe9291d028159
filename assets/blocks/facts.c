#include "assets/blocks/facts.h"

#include <math.h>

const blocks_kind blocks_anything = {{-1, -1, -1, -1}};

int blocks_values(blocks_attribute attribute)
{
    static const int values[BLOCKS_ATTRIBUTES] = {BLOCKS_COLORS, BLOCKS_SHAPES, BLOCKS_MATERIALS,
                                                  BLOCKS_SIZES};
    return values[attribute];
}

const char *blocks_value_name(blocks_attribute attribute, int value)
{
    const char *const *names[BLOCKS_ATTRIBUTES] = {blocks_color_names, blocks_shape_names,
                                                   blocks_material_names, blocks_size_names};
    return names[attribute][value];
}

blocks_kind blocks_kind_of(const blocks_object *object, unsigned mask)
{
    blocks_kind kind = blocks_anything;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        if (mask >> a & 1)
            kind.value[a] = (int8_t)blocks_value(object, (blocks_attribute)a);
    return kind;
}

blocks_kind blocks_kind_with(blocks_kind kind, blocks_attribute attribute, int value)
{
    kind.value[attribute] = (int8_t)value;
    return kind;
}

blocks_kind blocks_such(blocks_attribute attribute, int value)
{
    return blocks_kind_with(blocks_anything, attribute, value);
}

unsigned blocks_kind_mask(blocks_kind kind)
{
    unsigned mask = 0;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        mask |= (unsigned)(kind.value[a] >= 0) << a;
    return mask;
}

bool blocks_kind_same(blocks_kind a, blocks_kind b)
{
    for (int i = 0; i < BLOCKS_ATTRIBUTES; i++)
        if (a.value[i] != b.value[i])
            return false;
    return true;
}

bool blocks_is(const blocks_object *object, blocks_kind kind)
{
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        if (kind.value[a] >= 0 && kind.value[a] != blocks_value(object, (blocks_attribute)a))
            return false;
    return true;
}

blocks_set blocks_all(const blocks_scene *scene)
{
    return (1u << scene->count) - 1;
}

blocks_set blocks_find(const blocks_scene *scene, blocks_kind kind)
{
    blocks_set set = 0;
    for (int i = 0; i < scene->count; i++)
        set |= (blocks_set)blocks_is(&scene->object[i], kind) << i;
    return set;
}

int blocks_size_of(blocks_set set)
{
    return __builtin_popcount(set);
}

int blocks_number(const blocks_scene *scene, blocks_kind kind)
{
    return blocks_size_of(blocks_find(scene, kind));
}

int blocks_only(blocks_set set)
{
    return blocks_size_of(set) == 1 ? __builtin_ctz(set) : -1;
}

unsigned blocks_values_in(const blocks_scene *scene, blocks_set set, blocks_attribute attribute)
{
    unsigned seen = 0;
    for (int i = 0; i < scene->count; i++)
        if (blocks_has(set, i))
            seen |= 1u << blocks_value(&scene->object[i], attribute);
    return seen;
}

int blocks_distinct(const blocks_scene *scene, blocks_set set, blocks_attribute attribute)
{
    return __builtin_popcount(blocks_values_in(scene, set, attribute));
}

int blocks_shared(const blocks_scene *scene, blocks_set set, blocks_attribute attribute)
{
    int shared = -1;
    for (int i = 0; i < scene->count; i++) {
        if (!blocks_has(set, i))
            continue;
        int value = blocks_value(&scene->object[i], attribute);
        if (shared >= 0 && value != shared)
            return -1;
        shared = value;
    }
    return shared;
}

double blocks_beyond_by(const blocks_scene *scene, int a, blocks_direction direction, int b)
{
    const blocks_object *x = &scene->object[a], *y = &scene->object[b];
    double by = direction <= BLOCKS_RIGHT ? blocks_left_by(x, y) : blocks_in_front_by(x, y);
    return direction == BLOCKS_LEFT || direction == BLOCKS_FRONT ? by : -by;
}

bool blocks_lies(const blocks_scene *scene, int a, blocks_direction direction, int b)
{
    return blocks_beyond_by(scene, a, direction, b) > BLOCKS_RELATION;
}

blocks_set blocks_toward(const blocks_scene *scene, blocks_direction direction, int from)
{
    blocks_set set = 0;
    for (int i = 0; i < scene->count; i++)
        if (i != from && blocks_lies(scene, i, direction, from))
            set |= 1u << i;
    return set;
}

blocks_set blocks_doubtful(const blocks_scene *scene, blocks_direction direction, int from)
{
    blocks_direction opposite = (blocks_direction)((int)direction ^ 1);
    blocks_set clear =
        blocks_toward(scene, direction, from) | blocks_toward(scene, opposite, from) | 1u << from;
    return blocks_all(scene) & ~clear;
}

int blocks_least(blocks_set set, const double *value, double *second)
{
    int least = -1;
    *second = INFINITY;
    for (; set; set &= set - 1) {
        int i = __builtin_ctz(set);
        if (least < 0 || value[i] < value[least]) {
            *second = least < 0 ? INFINITY : value[least];
            least = i;
        } else if (value[i] < *second) {
            *second = value[i];
        }
    }
    return least;
}

static int middle(const blocks_scene *scene, blocks_set set)
{
    double off[BLOCKS_MAX], second;
    for (int i = 0; i < scene->count; i++)
        off[i] = hypot(scene->object[i].x, scene->object[i].y);
    int nearest = blocks_least(set, off, &second);
    bool clear =
        nearest >= 0 && off[nearest] < 1.1 && off[nearest] < 0.65 * second && second < INFINITY;
    return clear ? nearest : -1;
}

int blocks_extreme(const blocks_scene *scene, blocks_set set, blocks_direction direction)
{
    if (direction == BLOCKS_AROUND)
        return middle(scene, set);
    for (int i = 0; i < scene->count; i++) {
        if (!blocks_has(set, i))
            continue;
        blocks_set others = set & ~(1u << i);
        blocks_set beyond = blocks_toward(scene, (blocks_direction)((int)direction ^ 1), i);
        if (others && (others & beyond) == others)
            return i;
    }
    return -1;
}

int blocks_ranked(const blocks_scene *scene, blocks_set set, blocks_direction direction, int place)
{
    int object = blocks_extreme(scene, set, direction);
    for (; place > 0 && object >= 0; place--) {
        set &= ~(1u << object);
        object = blocks_extreme(scene, set, direction);
    }
    return object;
}

// How far apart along two axes, sideways of the direction counted double: "behind it" is what
// stands in its column rather than what is nearer but far to one side.
static double distance(double dx, double dy, blocks_direction direction)
{
    if (direction == BLOCKS_FRONT || direction == BLOCKS_BEHIND)
        dx *= 2;
    else if (direction != BLOCKS_AROUND)
        dy *= 2;
    return hypot(dx, dy);
}

static double picture_distance(const blocks_object *a, const blocks_object *b,
                               blocks_direction direction)
{
    return distance((a->box[0] + a->box[2] - b->box[0] - b->box[2]) / 2.0,
                    (a->box[1] + a->box[3] - b->box[1] - b->box[3]) / 2.0, direction);
}

static double table_distance(const blocks_object *a, const blocks_object *b,
                             blocks_direction direction)
{
    return distance(a->x - b->x, a->y - b->y, direction);
}

// A person judges nearness by the picture, but knows that the table recedes: in the picture it must
// be nearer than the others by a margin, and on the table too, or, in one direction, not clearly
// farther.
int blocks_nearest(const blocks_scene *scene, blocks_direction direction, int from)
{
    static const double margin = 1.15;
    const double table_margin = direction == BLOCKS_AROUND ? margin : 1 / margin;
    blocks_set there = blocks_all(scene) & ~(1u << from);
    if (direction != BLOCKS_AROUND)
        there = blocks_toward(scene, direction, from) | blocks_doubtful(scene, direction, from);
    const blocks_object *origin = &scene->object[from];
    int nearest = -1;
    for (int i = 0; i < scene->count; i++)
        if (blocks_has(there, i) &&
            (nearest < 0 || picture_distance(origin, &scene->object[i], direction) <
                                picture_distance(origin, &scene->object[nearest], direction)))
            nearest = i;
    if (nearest < 0 ||
        (direction != BLOCKS_AROUND && !blocks_lies(scene, nearest, direction, from)))
        return -1;
    const blocks_object *near = &scene->object[nearest];
    for (int i = 0; i < scene->count; i++) {
        if (!blocks_has(there, i) || i == nearest)
            continue;
        const blocks_object *other = &scene->object[i];
        if (picture_distance(origin, other, direction) <
                margin * picture_distance(origin, near, direction) ||
            table_distance(origin, other, direction) <
                table_margin * table_distance(origin, near, direction))
            return -1;
    }
    return nearest;
}

// Cosine of the angle at which a and b are seen from c, on the table or in the picture.
static double cosine_between(const blocks_object *c, const blocks_object *a, const blocks_object *b,
                             bool picture)
{
    double ax = a->x - c->x, ay = a->y - c->y, bx = b->x - c->x, by = b->y - c->y;
    if (picture) {
        ax = (a->box[0] + a->box[2] - c->box[0] - c->box[2]) / 2;
        ay = (a->box[1] + a->box[3] - c->box[1] - c->box[3]) / 2;
        bx = (b->box[0] + b->box[2] - c->box[0] - c->box[2]) / 2;
        by = (b->box[1] + b->box[3] - c->box[1] - c->box[3]) / 2;
    }
    return (ax * bx + ay * by) / fmax(hypot(ax, ay) * hypot(bx, by), 1e-9);
}

blocks_set blocks_between(const blocks_scene *scene, int a, int b, blocks_set *doubtful)
{
    static const double clear = -0.77, never = -0.34; // cosines of 140 and 110 degrees
    blocks_set between = 0;
    *doubtful = 0;
    for (int i = 0; i < scene->count; i++) {
        if (i == a || i == b)
            continue;
        const blocks_object *c = &scene->object[i], *x = &scene->object[a], *y = &scene->object[b];
        double table = cosine_between(c, x, y, false), picture = cosine_between(c, x, y, true);
        if (fmax(table, picture) < clear)
            between |= 1u << i;
        else if (fmin(table, picture) < never)
            *doubtful |= 1u << i;
    }
    return between;
}

int blocks_nearer(const blocks_scene *scene, int to, int a, int b)
{
    static const double margin = 1.25;
    const blocks_object *from = &scene->object[to], *x = &scene->object[a], *y = &scene->object[b];
    double picture = picture_distance(from, x, BLOCKS_AROUND) /
                     fmax(picture_distance(from, y, BLOCKS_AROUND), 1e-9);
    double table =
        table_distance(from, x, BLOCKS_AROUND) / fmax(table_distance(from, y, BLOCKS_AROUND), 1e-9);
    return fmax(picture, table) * margin < 1 ? a : fmin(picture, table) > margin ? b : -1;
}

// From 0, the left edge of the picture, to 1, the right edge.
static double width_at(const blocks_scene *scene, int object)
{
    const double *box = scene->object[object].box;
    return (box[0] + box[2]) / 2 / BLOCKS_WIDTH;
}

// Thirds of the picture's width, with a strip between them that belongs to neither.
int blocks_side(const blocks_scene *scene, int object)
{
    double x = width_at(scene, object);
    return x < 0.36 ? BLOCKS_LEFT : x > 0.64 ? BLOCKS_RIGHT : -1;
}

// From 0, the object nearest the camera, to 1, the farthest.
static double depth_at(const blocks_scene *scene, int object)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < scene->count; i++) {
        low = fmin(low, scene->object[i].y);
        high = fmax(high, scene->object[i].y);
    }
    return (scene->object[object].y - low) / fmax(high - low, 1e-9);
}

int blocks_depth(const blocks_scene *scene, int object)
{
    double at = depth_at(scene, object);
    return at < 0.25 ? BLOCKS_FRONT : at > 0.75 ? BLOCKS_BEHIND : -1;
}

int blocks_corner(const blocks_scene *scene, bool right, bool back)
{
    static const double margin = 0.12;
    double across[BLOCKS_MAX], deep[BLOCKS_MAX], off[BLOCKS_MAX], second;
    for (int i = 0; i < scene->count; i++) {
        across[i] = right ? 1 - width_at(scene, i) : width_at(scene, i);
        deep[i] = back ? 1 - depth_at(scene, i) : depth_at(scene, i);
        off[i] = across[i] + deep[i];
    }
    int nearest = blocks_least(blocks_all(scene), off, &second);
    bool inside = nearest >= 0 && across[nearest] < 0.45 && deep[nearest] < 0.45;
    return inside && second - off[nearest] > margin ? nearest : -1;
}

blocks_set blocks_part(const blocks_scene *scene, blocks_direction direction, blocks_set *doubtful)
{
    blocks_set part = 0;
    *doubtful = 0;
    for (int i = 0; i < scene->count; i++) {
        double at = direction <= BLOCKS_RIGHT ? width_at(scene, i) : depth_at(scene, i);
        if (direction == BLOCKS_RIGHT || direction == BLOCKS_BEHIND)
            at = 1 - at;
        if (at < 0.4)
            part |= 1u << i;
        else if (at < 0.55)
            *doubtful |= 1u << i;
    }
    return part;
}
