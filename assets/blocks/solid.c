#include "assets/blocks/solid.h"

void blocks_solid_init(const blocks_object *object, blocks_solid *s)
{
    static const float HEIGHT[BLOCKS_SHAPES] = {2.0f, 2.0f, 1.85f, 2.1f}; // in radii
    float r = (float)object->radius, half = 0.5f * HEIGHT[object->shape] * r;
    *s = (blocks_solid){.shape = object->shape,
                        .color = object->color,
                        .material = object->material,
                        .x = (float)object->x,
                        .y = (float)object->y,
                        .radius = r,
                        .height = 2 * half,
                        .reach = object->shape == BLOCKS_CUBE ? 1.4143f * r : r,
                        .cos = cosf((float)object->rotation),
                        .sin = sinf((float)object->rotation)};
    s->bound = (vec){s->x, s->y, half};
    s->bound_radius = object->shape == BLOCKS_BALL ? r : sqrtf(s->reach * s->reach + half * half);
}

// ---- where a ray enters ------------------------------------------------------------------------

static inline float enter(float near, float far)
{
    return near < far && near > 1e-4f ? near : BLOCKS_MISS;
}

// Cuts [*near, *far] down to where z lies in 0..height.
static inline void cut_to_slab(float z, float dz, float height, float *near, float *far)
{
    float inverse = 1.0f / (fabsf(dz) < 1e-9f ? 1e-9f : dz);
    float a = -z * inverse, b = (height - z) * inverse;
    float low = a < b ? a : b, high = a < b ? b : a;
    *near = low > *near ? low : *near;
    *far = high < *far ? high : *far;
}

static inline float hit_ball(const blocks_solid *s, vec o, vec d)
{
    vec c = o - s->bound;
    float a = vec_dot(d, d), b = vec_dot(c, d);
    float q = b * b - a * (vec_dot(c, c) - s->radius * s->radius);
    return q <= 0 ? BLOCKS_MISS : enter((-b - sqrtf(q)) / a, BLOCKS_MISS);
}

static inline float hit_cube(const blocks_solid *s, vec o, vec d)
{
    float x = o[0] - s->x, y = o[1] - s->y, r = s->radius;
    float u = s->cos * x + s->sin * y, v = s->cos * y - s->sin * x;
    float du = s->cos * d[0] + s->sin * d[1], dv = s->cos * d[1] - s->sin * d[0];
    float near = -BLOCKS_MISS, far = BLOCKS_MISS;
    cut_to_slab(u + r, du, 2 * r, &near, &far);
    cut_to_slab(v + r, dv, 2 * r, &near, &far);
    cut_to_slab(o[2], d[2], s->height, &near, &far);
    return enter(near, far);
}

static inline float hit_cylinder(const blocks_solid *s, vec o, vec d)
{
    float x = o[0] - s->x, y = o[1] - s->y;
    float a = d[0] * d[0] + d[1] * d[1] + 1e-12f, b = x * d[0] + y * d[1];
    float q = b * b - a * (x * x + y * y - s->radius * s->radius);
    if (q <= 0)
        return BLOCKS_MISS;
    float root = sqrtf(q), near = (-b - root) / a, far = (-b + root) / a;
    cut_to_slab(o[2], d[2], s->height, &near, &far);
    return enter(near, far);
}

// x^2 + y^2 = k^2 (height - z)^2 is a double cone. A ray flatter than its side (a > 0) is inside
// one half between the roots; a steeper one is inside the lower half on one side of one root.
static inline float hit_cone(const blocks_solid *s, vec o, vec d)
{
    float x = o[0] - s->x, y = o[1] - s->y, z = o[2] - s->height;
    float k = s->radius / s->height, kk = k * k;
    float a = d[0] * d[0] + d[1] * d[1] - kk * d[2] * d[2], b = x * d[0] + y * d[1] - kk * z * d[2];
    float q = b * b - a * (x * x + y * y - kk * z * z);
    if (q <= 0 || fabsf(a) < 1e-9f)
        return BLOCKS_MISS;
    float root = sqrtf(q), minus = (-b - root) / a, plus = (-b + root) / a;
    float near = minus, far = plus;
    if (a < 0) { // then minus > plus
        near = d[2] < 0 ? minus : -BLOCKS_MISS;
        far = d[2] < 0 ? BLOCKS_MISS : plus;
    }
    cut_to_slab(o[2], d[2], s->height, &near, &far);
    return enter(near, far);
}

float blocks_solid_hit(const blocks_solid *s, vec origin, vec direction)
{
    switch (s->shape) {
    case BLOCKS_CUBE:
        return hit_cube(s, origin, direction);
    case BLOCKS_BALL:
        return hit_ball(s, origin, direction);
    case BLOCKS_CYLINDER:
        return hit_cylinder(s, origin, direction);
    default:
        return hit_cone(s, origin, direction);
    }
}

// ---- normals -----------------------------------------------------------------------------------

// Bends a face's normal outwards near its rim: a knife edge has no highlight and looks like paper.
// inside = distance to the rim.
static vec bevel(vec normal, vec outward, float inside, float width)
{
    float t = 1 - clamp01(inside / width);
    return t <= 0 ? normal : vec_unit(normal + outward * (0.9f * t * t));
}

static float bevel_width(const blocks_solid *s)
{
    return 0.12f * s->radius + 0.02f;
}

static vec cube_normal(const blocks_solid *s, vec p)
{
    float x = p[0] - s->x, y = p[1] - s->y, r = s->radius;
    float local[3] = {s->cos * x + s->sin * y, s->cos * y - s->sin * x, p[2] - r};
    vec axis[3] = {{s->cos, s->sin, 0}, {-s->sin, s->cos, 0}, {0, 0, 1}};
    int face = 0;
    for (int i = 0; i < 3; i++) {
        face = fabsf(local[i]) > fabsf(local[face]) ? i : face;
        axis[i] = axis[i] * (local[i] < 0 ? -1.0f : 1.0f);
    }
    vec normal = axis[face];
    for (int i = 0; i < 3; i++)
        if (i != face)
            normal = bevel(normal, axis[i], r - fabsf(local[i]), bevel_width(s));
    return normal;
}

static vec cylinder_normal(const blocks_solid *s, vec p)
{
    float x = p[0] - s->x, y = p[1] - s->y, distance = sqrtf(x * x + y * y) + 1e-6f;
    vec outward = {x / distance, y / distance, 0}, upward = {0, 0, 1};
    float inside = s->radius - distance, below = s->height - p[2];
    return below < inside ? bevel(upward, outward, inside, bevel_width(s))
                          : bevel(outward, upward, below, bevel_width(s));
}

// Near the apex the normal turns upwards: the tip is a little blunt.
static vec cone_normal(const blocks_solid *s, vec p)
{
    float x = p[0] - s->x, y = p[1] - s->y, distance = sqrtf(x * x + y * y) + 1e-6f;
    vec side = vec_unit((vec){x / distance, y / distance, s->radius / s->height});
    return bevel(side, (vec){0, 0, 1}, s->height - p[2], 0.15f * s->height);
}

vec blocks_solid_normal(const blocks_solid *s, vec at)
{
    switch (s->shape) {
    case BLOCKS_CUBE:
        return cube_normal(s, at);
    case BLOCKS_BALL:
        return (at - s->bound) * (1.0f / s->radius);
    case BLOCKS_CYLINDER:
        return cylinder_normal(s, at);
    default:
        return cone_normal(s, at);
    }
}
