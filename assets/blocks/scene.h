// A Blocks scene: a table with 3 to 10 solids, after CLEVR (Johnson et al. 2017).
#ifndef BLOCKS_SCENE_H
#define BLOCKS_SCENE_H

#include <stdint.h>

enum { BLOCKS_MIN = 3, BLOCKS_MAX = 10, BLOCKS_WIDTH = 320, BLOCKS_HEIGHT = 240 };

typedef enum { BLOCKS_CUBE, BLOCKS_BALL, BLOCKS_CYLINDER, BLOCKS_CONE, BLOCKS_SHAPES } blocks_shape;
typedef enum {
    BLOCKS_RED,
    BLOCKS_GREEN,
    BLOCKS_BLUE,
    BLOCKS_YELLOW,
    BLOCKS_PURPLE,
    BLOCKS_ORANGE,
    BLOCKS_WHITE,
    BLOCKS_BLACK,
    BLOCKS_COLORS
} blocks_color;
typedef enum { BLOCKS_RUBBER, BLOCKS_METAL, BLOCKS_MATERIALS } blocks_material;
typedef enum { BLOCKS_SMALL, BLOCKS_LARGE, BLOCKS_SIZES } blocks_size;

typedef enum {
    BLOCKS_COLOR,
    BLOCKS_SHAPE,
    BLOCKS_MATERIAL,
    BLOCKS_SIZE,
    BLOCKS_ATTRIBUTES
} blocks_attribute;

extern const char *const blocks_shape_names[BLOCKS_SHAPES];       // "cube", ...
extern const char *const blocks_color_names[BLOCKS_COLORS];       // "red", ...
extern const char *const blocks_material_names[BLOCKS_MATERIALS]; // "rubber", "metal": matte, shiny
extern const char *const blocks_size_names[BLOCKS_SIZES];         // "small", "large"

typedef struct blocks_object {
    union {
        struct {
            blocks_color color;
            blocks_shape shape;
            blocks_material material;
            blocks_size size;
        };
        unsigned value[BLOCKS_ATTRIBUTES]; // the same by attribute
    };
    double x, y;     // centre on the table: x grows to the right in the picture, y away from the
                     // camera (behind), table units
    double rotation; // radians about the vertical
    double radius;   // half extent, table units
    // After rendering:
    double box[4]; // tight box of the visible pixels, x1 y1 x2 y2 in pixels (x2, y2 exclusive)
    int visible;   // visible pixels
    int total;     // pixels it would have with nothing in front
} blocks_object;

typedef struct blocks_scene {
    int64_t image_id;
    uint64_t seed, dialog_seed; // of the picture, of what is said about it
    int count;
    blocks_object object[BLOCKS_MAX];
    // camera and light jitter
    double camera[3], look_at[3], field_of_view; // field of view in radians, vertical
    double light[3], light_strength, ambient;
    double table_shade[3]; // rgb 0..1
} blocks_scene;

typedef enum { BLOCKS_TRAIN, BLOCKS_VAL, BLOCKS_TEST, BLOCKS_SPLITS } blocks_split;

static inline int64_t blocks_image_id(blocks_split split, size_t index)
{
    return (int64_t)split * 1000000 + (int64_t)index + 1;
}

// Scene `index` of a split: deterministic in (seed, split, index), independent of every other.
// Every object has at least a third of its pixels and at least 60 pixels visible; "left of", "in
// front of" hold with a margin between any two objects that are not side by side (no coin-flip
// relations). Boxes and pixel counts are filled in (an id pass at picture resolution, without
// shading).
void blocks_scene_make(uint64_t seed, blocks_split split, int index, blocks_scene *scene);

// How far, in table units, a is left of b or nearer than b, as a person sees them in the picture;
// below 0: the other way. It is clearly so beyond BLOCKS_RELATION, so that of two objects side by
// side neither is "in front of" the other.
#define BLOCKS_RELATION 0.325
double blocks_left_by(const blocks_object *a, const blocks_object *b);
double blocks_in_front_by(const blocks_object *a, const blocks_object *b);

#endif
