#include "assets/blocks/scene.h"

#include <math.h>
#include <string.h>

#include "assets/blocks/facts.h"
#include "assets/blocks/render.h"
#include "engine/base/rng.h"

const char *const blocks_shape_names[BLOCKS_SHAPES] = {"cube", "ball", "cylinder", "cone"};
const char *const blocks_color_names[BLOCKS_COLORS] = {"red",    "green",  "blue",  "yellow",
                                                       "purple", "orange", "white", "black"};
const char *const blocks_material_names[BLOCKS_MATERIALS] = {"rubber", "metal"};
const char *const blocks_size_names[BLOCKS_SIZES] = {"small", "large"};

// Half extents: chosen so that the four shapes of one size look equally big.
static const double RADIUS[BLOCKS_SHAPES][BLOCKS_SIZES] = {
    [BLOCKS_CUBE] = {0.32, 0.64},
    [BLOCKS_BALL] = {0.39, 0.78},
    [BLOCKS_CYLINDER] = {0.37, 0.74},
    [BLOCKS_CONE] = {0.43, 0.86},
};

static const double PI = 3.141592653589793;

// The camera everything jitters around: distance from the origin along the table, height.
static const double CAMERA_BACK = 9.4, CAMERA_HEIGHT = 6.2;

// Where objects stand: |x|, y.
static const double HALF_WIDTH = 3.5, FRONT = -3.0, BACK = 3.2;

// Two objects are apart along an axis (one is left of, in front of the other) or side by side;
// scenes with a pair between the two are not made, so that no relation is a matter of opinion.
static const double SIDE_BY_SIDE = 0.20, APART = 0.45;

static const double GAP = 0.28; // between two objects' outlines on the table

enum { FRAME = 4, MIN_VISIBLE = 60 };

// Where the centre is seen from the middle camera, left to right, in table units at the origin.
static double seen_x(const blocks_object *o)
{
    double back = CAMERA_BACK + CAMERA_HEIGHT * CAMERA_HEIGHT / CAMERA_BACK;
    return o->x * back / (back + o->y - o->radius * CAMERA_HEIGHT / CAMERA_BACK);
}

double blocks_left_by(const blocks_object *a, const blocks_object *b)
{
    return seen_x(b) - seen_x(a);
}

double blocks_in_front_by(const blocks_object *a, const blocks_object *b)
{
    return b->y - a->y;
}

// ---- what there is -----------------------------------------------------------------------------

// How similar the objects of a scene are. Chosen independently they would nearly all differ, and
// the answer to "how many" would nearly always be one.
typedef struct scene_bias {
    double chance[BLOCKS_ATTRIBUTES]; // of the scene's favourite instead of any
    blocks_object favourite;
    int palette[BLOCKS_COLORS], colors;
} scene_bias;

// In which attributes are drawn.
static const blocks_attribute order[] = {BLOCKS_SHAPE, BLOCKS_COLOR, BLOCKS_MATERIAL, BLOCKS_SIZE};
static scene_bias draw_likeness(vd_rng *rng)
{
    scene_bias like = {0};
    for (int k = 0; k < BLOCKS_ATTRIBUTES; k++) {
        double strength = vd_rng_uniform(rng) < 0.45 ? vd_rng_range(rng, 0.3, 0.75) : 0;
        like.chance[order[k]] = k < 2 ? strength : 0.5 * strength;
    }
    for (int k = 0; k < BLOCKS_ATTRIBUTES; k++)
        if (order[k] != BLOCKS_COLOR)
            like.favourite.value[order[k]] = (unsigned)vd_rng_below(rng, blocks_values(order[k]));
    for (int i = 0; i < BLOCKS_COLORS; i++) {
        int j = vd_rng_below(rng, i + 1);
        like.palette[i] = like.palette[j];
        like.palette[j] = i;
    }
    like.colors = vd_rng_uniform(rng) < 0.4 ? 3 + vd_rng_below(rng, 3) : BLOCKS_COLORS;
    like.favourite.color = (blocks_color)like.palette[0];
    return like;
}

static void draw_kind(vd_rng *rng, const scene_bias *like, blocks_object *o)
{
    for (int k = 0; k < BLOCKS_ATTRIBUTES; k++) {
        blocks_attribute a = order[k];
        if (vd_rng_uniform(rng) < like->chance[a])
            o->value[a] = like->favourite.value[a];
        else if (a == BLOCKS_COLOR)
            o->color = (blocks_color)like->palette[vd_rng_below(rng, like->colors)];
        else
            o->value[a] = (unsigned)vd_rng_below(rng, blocks_values(a));
    }
    o->radius = RADIUS[o->shape][o->size];
}

// ---- where it stands ---------------------------------------------------------------------------

static double outline(const blocks_object *o)
{
    return o->shape == BLOCKS_CUBE ? 1.25 * o->radius : o->radius;
}

static int is_clear(double distance)
{
    distance = fabs(distance);
    return distance < SIDE_BY_SIDE || distance > APART;
}

static int fits(const blocks_scene *scene, int count, const blocks_object *o)
{
    for (int i = 0; i < count; i++) {
        const blocks_object *other = &scene->object[i];
        double apart = hypot(o->x - other->x, o->y - other->y);
        if (apart < outline(o) + outline(other) + GAP || !is_clear(seen_x(o) - seen_x(other)) ||
            !is_clear(o->y - other->y))
            return 0;
    }
    return 1;
}

static int place(vd_rng *rng, const blocks_scene *scene, int count, blocks_object *o)
{
    for (int attempt = 0; attempt < 200; attempt++) {
        // The camera sees a trapezium of the table: narrower in front.
        o->y = vd_rng_range(rng, FRONT, BACK);
        double half = HALF_WIDTH * (1 + 0.075 * o->y);
        o->x = vd_rng_range(rng, -half, half);
        o->rotation = vd_rng_range(rng, 0, 2 * PI);
        if (fits(scene, count, o))
            return 1;
    }
    return 0;
}

static void draw_camera(vd_rng *rng, blocks_scene *scene)
{
    scene->camera[0] = 0;
    scene->camera[1] = -CAMERA_BACK + vd_rng_range(rng, -0.35, 0.35);
    scene->camera[2] = CAMERA_HEIGHT + vd_rng_range(rng, -0.45, 0.45);
    scene->look_at[0] = 0;
    scene->look_at[1] = vd_rng_range(rng, -0.15, 0.15);
    scene->look_at[2] = 0.1 + vd_rng_range(rng, -0.1, 0.1);
    scene->field_of_view = vd_rng_range(rng, 0.66, 0.70);
}

static void draw_light(vd_rng *rng, blocks_scene *scene)
{
    // Beside the camera, left or right; never so low that shadows cover the table.
    double side = vd_rng_below(rng, 2) ? 1 : -1;
    scene->light[0] = side * vd_rng_range(rng, 3.0, 5.4);
    scene->light[1] = vd_rng_range(rng, -4.8, -0.4);
    scene->light[2] = vd_rng_range(rng, 5.4, 7.2);
    scene->light_strength = vd_rng_range(rng, 0.82, 1.0);
    scene->ambient = vd_rng_range(rng, 0.30, 0.42);
}

static void draw_table(vd_rng *rng, blocks_scene *scene)
{
    // A grey with a tint of any hue: enough to be pleasant, never enough to be named.
    double grey = vd_rng_range(rng, 0.36, 0.52), tint = vd_rng_range(rng, 0.02, 0.10);
    double hue = vd_rng_range(rng, 0, 2 * PI);
    for (int i = 0; i < 3; i++)
        scene->table_shade[i] = grey * (1 + tint * cos(hue - 2 * PI / 3 * i));
}

static int is_seen_well(const blocks_object *o)
{
    return o->visible >= MIN_VISIBLE && 3 * o->visible >= o->total && o->box[0] >= FRAME &&
           o->box[1] >= FRAME && o->box[2] <= BLOCKS_WIDTH - FRAME &&
           o->box[3] <= BLOCKS_HEIGHT - FRAME;
}

static int draw_scene(vd_rng *rng, int count, blocks_scene *scene)
{
    scene_bias like = draw_likeness(rng);
    draw_camera(rng, scene);
    draw_light(rng, scene);
    draw_table(rng, scene);
    for (scene->count = 0; scene->count < count; scene->count++) {
        blocks_object *o = &scene->object[scene->count];
        memset(o, 0, sizeof *o);
        draw_kind(rng, &like, o);
        if (!place(rng, scene, scene->count, o))
            return 0;
    }
    blocks_render_measure(scene, NULL);
    for (int i = 0; i < count; i++)
        if (!is_seen_well(&scene->object[i]))
            return 0;
    return 1;
}

void blocks_scene_make(uint64_t seed, blocks_split split, int index, blocks_scene *scene)
{
    memset(scene, 0, sizeof *scene);
    scene->seed = scene->dialog_seed = seed;
    scene->image_id = blocks_image_id(split, (size_t)index);
    // A stream of its own: what is said about the scene is drawn from (seed, image_id) too.
    vd_rng rng = vd_rng_seed(seed, (uint64_t)scene->image_id ^ 0x7363656e65000000u);
    int count = BLOCKS_MIN + vd_rng_below(&rng, BLOCKS_MAX - BLOCKS_MIN + 1);
    while (!draw_scene(&rng, count, scene)) {
    }
}
