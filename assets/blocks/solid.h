// The four solids as a ray meets them. All are convex, upright and rest on the table (z = 0), so
// that none of them ever shades itself where it faces the light.
#ifndef BLOCKS_SOLID_H
#define BLOCKS_SOLID_H

#include "assets/blocks/scene.h"
#include "assets/blocks/vec.h"

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
