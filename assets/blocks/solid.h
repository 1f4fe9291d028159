// The four solids as a ray meets them. All are convex, upright and rest on the table (z = 0), so
// that none of them ever shades itself where it faces the light.
#ifndef BLOCKS_SOLID_H
#define BLOCKS_SOLID_H

#include <math.h>

#include "assets/blocks/scene.h"

// ---- vectors of three floats --------------------------------------------------------------------

typedef struct vec {
    float x, y, z;
} vec;

static inline vec vec_add(vec a, vec b)
{
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec vec_sub(vec a, vec b)
{
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec vec_scale(vec a, float s)
{
    return (vec){a.x * s, a.y * s, a.z * s};
}

static inline vec vec_mul(vec a, vec b)
{
    return (vec){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline float vec_dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec vec_cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline vec vec_unit(vec a)
{
    return vec_scale(a, 1.0f / sqrtf(vec_dot(a, a)));
}

// a where t is 0, b where t is 1.
static inline vec vec_mix(vec a, vec b, float t)
{
    return (vec){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
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
