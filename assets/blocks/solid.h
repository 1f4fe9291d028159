// The four solids as a ray meets them. All are convex, upright and rest on the table (z = 0), so
// that none of them ever shades itself where it faces the light.
#ifndef BLOCKS_SOLID_H
#define BLOCKS_SOLID_H

#include <math.h>

#include "assets/blocks/scene.h"

// ---- vectors ------------------------------------------------------------------------------------

// x, y, z and nothing; + - * work on each.
typedef float vec __attribute__((vector_size(16)));

static inline float vec_dot(vec a, vec b)
{
    vec c = a * b;
    return c[0] + c[1] + c[2];
}

static inline vec vec_cross(vec a, vec b)
{
    return (vec){a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

static inline vec vec_unit(vec a)
{
    return a * (1.0f / sqrtf(vec_dot(a, a)));
}

// a where t is 0, b where t is 1.
static inline vec vec_mix(vec a, vec b, float t)
{
    return a + t * (b - a);
}

static inline float clamp01(float v)
{
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

// 0 below low, 1 above high, smooth in between.
static inline float smooth_step(float low, float high, float v)
{
    float t = clamp01((v - low) / (high - low));
    return t * t * (3 - 2 * t);
}

// ---- solids -------------------------------------------------------------------------------------

static const float BLOCKS_MISS = 1e30f;

typedef struct blocks_solid {
    blocks_shape shape;
    blocks_color color;
    blocks_material material;
    float x, y, radius, height;
    float reach;    // the farthest it comes from its axis
    float cos, sin; // of the rotation
    vec bound;      // centre of the bounding sphere
    float bound_radius;
} blocks_solid;

void blocks_solid_init(const blocks_object *object, blocks_solid *s);

// The smallest t > 0 at which origin + t * direction enters the solid, BLOCKS_MISS if it does not.
// The origin is never inside.
float blocks_solid_hit(const blocks_solid *s, vec origin, vec direction);

// The unit normal at a point of the surface; bent outwards along the edges, as if they were
// rounded.
vec blocks_solid_normal(const blocks_solid *s, vec at);

#endif
