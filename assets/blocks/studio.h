// The table, the lights above it and what the solids on it look like. Linear light throughout.
#ifndef BLOCKS_STUDIO_H
#define BLOCKS_STUDIO_H

#include "assets/blocks/solid.h"

typedef struct blocks_studio {
    int count;
    blocks_solid solid[BLOCKS_MAX];
    vec light, light_a, light_b; // centre of the light's disc, two radii at right angles
    vec fill;                    // where the weaker light comes from
    float strength, ambient;
    vec table, backdrop;
    uint32_t grain; // seed of the table's mottling
} blocks_studio;

// A place on a surface, seen along `view` (unit length, towards the surface).
typedef struct blocks_point {
    vec at, normal, view;
    float seen;     // how much of the light's disc is seen from here, 0..1
    uint32_t near;  // solids that may keep light of the sky away (bit i = solid i)
    uint32_t gloss; // on the table: solids that may be mirrored in it
} blocks_point;

void blocks_studio_init(const blocks_scene *scene, blocks_studio *studio);

// Whether anything of solid i can lie between the light's disc and the ball (at, spread).
int blocks_studio_may_shade(const blocks_studio *studio, int i, vec at, float spread);

// The first solid in mask that a ray enters, *t: where; -1: none, *t is BLOCKS_MISS.
int blocks_studio_hit(const blocks_studio *studio, uint32_t mask, vec from, vec d, float *t);

// How much of the light's disc is seen from `at`. mask = solids that may lie in between; jitter in
// 0..1 turns the sampling pattern, so that its steps fall differently on every pixel; samples up to
// 16, fewer are taken where the first four agree.
float blocks_studio_seen(const blocks_studio *studio, uint32_t mask, vec at, float jitter,
                         int samples);

vec blocks_studio_table(const blocks_studio *studio, const blocks_point *p);
vec blocks_studio_solid(const blocks_studio *studio, int i, const blocks_point *p);

#endif
