// A small ray tracer. All solids are convex, upright and rest on the table (z = 0), which is what
// makes it fast: a solid never shades itself where it faces the light, only the pixels inside a
// solid's projected box are tried against it, and which solids can shade a piece of the table is
// decided per tile, not per ray.
#include "assets/blocks/render.h"

#include <math.h>
#include <string.h>

enum { W = BLOCKS_WIDTH, H = BLOCKS_HEIGHT, TILE = 16, TILES_X = W / TILE, TILES_Y = H / TILE };
enum { SHADOW_SAMPLES = 16, SHADOW_PROBES = 4, EDGE_SAMPLES = 6, GAMMA_STEPS = 4096 };

static const float FAR_AWAY = 1e30f;
static const float LIGHT_RADIUS = 1.25f;

// ---- vectors
// -------------------------------------------------------------------------------------

typedef struct vec {
    float x, y, z;
} vec;

static inline vec add(vec a, vec b)
{
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec sub(vec a, vec b)
{
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec scale(vec a, float s)
{
    return (vec){a.x * s, a.y * s, a.z * s};
}

static inline vec mul(vec a, vec b)
{
    return (vec){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline float dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline vec unit(vec a)
{
    return scale(a, 1.0f / sqrtf(dot(a, a)));
}

static inline vec mix(vec a, vec b, float t)
{
    return add(scale(a, 1 - t), scale(b, t));
}

static inline float clamp01(float v)
{
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static inline float smooth(float low, float high, float v)
{
    float t = clamp01((v - low) / (high - low));
    return t * t * (3 - 2 * t);
}

// ---- the world
// -----------------------------------------------------------------------------------

typedef struct solid {
    blocks_shape shape;
    float x, y, radius, height;
    float cos, sin; // of the rotation
    vec bound;      // centre of the bounding sphere
    float bound_radius;
    vec albedo, mirror; // diffuse colour; colour of what a metal reflects
    int metal;
    int left, right, top, bottom; // pixels whose centres may see it: [left, right) x [top, bottom)
} solid;

typedef struct world {
    int count;
    solid solid[BLOCKS_MAX];
    vec eye, forward, across, up;         // across, up: one pixel's step
    vec light, light_a, light_b;          // centre of the light's disc, two radii at right angles
    float strength, ambient, light_reach; // light_reach: squared distance of unit strength
    vec table, backdrop;
    uint32_t grain;                   // seed of the table's mottling
    uint16_t shade[TILES_Y][TILES_X]; // solids that may shade the table in this tile
    uint16_t near[TILES_Y][TILES_X];  // solids near enough to darken it by their presence
    uint8_t gamma[GAMMA_STEPS];
} world;

// Linear light; chosen to stay apart under every light in both materials.
static const vec ALBEDO[BLOCKS_COLORS] = {
    [BLOCKS_RED] = {0.62f, 0.022f, 0.028f},   [BLOCKS_GREEN] = {0.025f, 0.33f, 0.055f},
    [BLOCKS_BLUE] = {0.022f, 0.085f, 0.62f},  [BLOCKS_YELLOW] = {0.86f, 0.66f, 0.02f},
    [BLOCKS_PURPLE] = {0.24f, 0.035f, 0.47f}, [BLOCKS_ORANGE] = {0.90f, 0.235f, 0.012f},
    [BLOCKS_WHITE] = {0.86f, 0.86f, 0.85f},   [BLOCKS_BLACK] = {0.014f, 0.014f, 0.016f},
};

static vec ray(const world *w, float x, float y)
{
    return add(w->forward, add(scale(w->across, x - 0.5f * W), scale(w->up, 0.5f * H - y)));
}

// ---- intersection
// --------------------------------------------------------------------------------

// Each returns the smallest t > 0 at which o + t d enters the solid, FAR_AWAY if it does not.
// o is never inside.

static inline float enter(float near, float far)
{
    return near < far && near > 1e-4f ? near : FAR_AWAY;
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

static inline float hit_ball(const solid *s, vec o, vec d)
{
    vec c = sub(o, s->bound);
    float a = dot(d, d), b = dot(c, d), q = b * b - a * (dot(c, c) - s->radius * s->radius);
    return q <= 0 ? FAR_AWAY : enter((-b - sqrtf(q)) / a, FAR_AWAY);
}

static inline float hit_cube(const solid *s, vec o, vec d)
{
    float x = o.x - s->x, y = o.y - s->y, r = s->radius;
    float u = s->cos * x + s->sin * y, v = s->cos * y - s->sin * x;
    float du = s->cos * d.x + s->sin * d.y, dv = s->cos * d.y - s->sin * d.x;
    float near = -FAR_AWAY, far = FAR_AWAY;
    cut_to_slab(u + r, du, 2 * r, &near, &far);
    cut_to_slab(v + r, dv, 2 * r, &near, &far);
    cut_to_slab(o.z, d.z, s->height, &near, &far);
    return enter(near, far);
}

static inline float hit_cylinder(const solid *s, vec o, vec d)
{
    float x = o.x - s->x, y = o.y - s->y;
    float a = d.x * d.x + d.y * d.y + 1e-12f, b = x * d.x + y * d.y;
    float q = b * b - a * (x * x + y * y - s->radius * s->radius);
    if (q <= 0) {
        return FAR_AWAY;
    }
    float root = sqrtf(q), near = (-b - root) / a, far = (-b + root) / a;
    cut_to_slab(o.z, d.z, s->height, &near, &far);
    return enter(near, far);
}

// x^2 + y^2 = k^2 (height - z)^2 is a double cone. A ray flatter than its side (a > 0) is inside
// one half between the roots; a steeper one is inside the lower half on one side of one root.
static inline float hit_cone(const solid *s, vec o, vec d)
{
    float x = o.x - s->x, y = o.y - s->y, z = o.z - s->height;
    float k = s->radius / s->height, kk = k * k;
    float a = d.x * d.x + d.y * d.y - kk * d.z * d.z, b = x * d.x + y * d.y - kk * z * d.z;
    float q = b * b - a * (x * x + y * y - kk * z * z);
    if (q <= 0 || fabsf(a) < 1e-9f) {
        return FAR_AWAY;
    }
    float root = sqrtf(q), first = (-b - root) / a, second = (-b + root) / a, near, far;
    if (a > 0) {
        near = first;
        far = second;
    } else if (d.z < 0) {
        near = first; // a < 0 has swapped the roots: first is the later one
        far = FAR_AWAY;
    } else {
        near = -FAR_AWAY;
        far = second;
    }
    cut_to_slab(o.z, d.z, s->height, &near, &far);
    return enter(near, far);
}

static inline float hit(const solid *s, vec o, vec d)
{
    switch (s->shape) {
    case BLOCKS_CUBE:
        return hit_cube(s, o, d);
    case BLOCKS_BALL:
        return hit_ball(s, o, d);
    case BLOCKS_CYLINDER:
        return hit_cylinder(s, o, d);
    default:
        return hit_cone(s, o, d);
    }
}

// Bends a face's normal outwards near its rim, as if the edge were rounded: a knife edge has no
// highlight and looks like paper. inside = distance to the rim.
static vec bevel(vec normal, vec outward, float inside, float width)
{
    float t = 1 - clamp01(inside / width);
    return t <= 0 ? normal : unit(add(normal, scale(outward, 0.9f * t * t)));
}

static vec cube_normal(const solid *s, vec p)
{
    float x = p.x - s->x, y = p.y - s->y, r = s->radius, width = 0.12f * r + 0.02f;
    float local[3] = {s->cos * x + s->sin * y, s->cos * y - s->sin * x, p.z - r};
    vec axis[3] = {{s->cos, s->sin, 0}, {-s->sin, s->cos, 0}, {0, 0, 1}};
    int face = 0;
    for (int i = 1; i < 3; i++) {
        face = fabsf(local[i]) > fabsf(local[face]) ? i : face;
    }
    vec normal = scale(axis[face], local[face] < 0 ? -1.0f : 1.0f);
    for (int i = 0; i < 3; i++) {
        if (i != face) {
            vec outward = scale(axis[i], local[i] < 0 ? -1.0f : 1.0f);
            normal = bevel(normal, outward, r - fabsf(local[i]), width);
        }
    }
    return normal;
}

static vec cylinder_normal(const solid *s, vec p)
{
    float x = p.x - s->x, y = p.y - s->y, distance = sqrtf(x * x + y * y);
    float width = 0.12f * s->radius + 0.02f, below = s->height - p.z;
    vec outward = {x / (distance + 1e-6f), y / (distance + 1e-6f), 0}, upward = {0, 0, 1};
    if (below < s->radius - distance) {
        return bevel(upward, outward, s->radius - distance, width);
    }
    return bevel(outward, upward, below, width);
}

// Near the apex the normal turns upwards: a cone's tip is a little blunt.
static vec cone_normal(const solid *s, vec p)
{
    float x = p.x - s->x, y = p.y - s->y, distance = sqrtf(x * x + y * y) + 1e-6f;
    vec side = unit((vec){x / distance, y / distance, s->radius / s->height});
    return bevel(side, (vec){0, 0, 1}, s->height - p.z, 0.15f * s->height);
}

static vec normal_at(const solid *s, vec p)
{
    switch (s->shape) {
    case BLOCKS_CUBE:
        return cube_normal(s, p);
    case BLOCKS_BALL:
        return scale(sub(p, s->bound), 1.0f / s->radius);
    case BLOCKS_CYLINDER:
        return cylinder_normal(s, p);
    default:
        return cone_normal(s, p);
    }
}

// ---- setting up
// ----------------------------------------------------------------------------------

// The pixels of the projected bounding box.
static void project_bounds(const world *w, solid *s)
{
    float reach = s->shape == BLOCKS_CUBE ? s->radius * 1.4143f : s->radius;
    float aa = dot(w->across, w->across), uu = dot(w->up, w->up);
    float low_x = FAR_AWAY, high_x = -FAR_AWAY, low_y = FAR_AWAY, high_y = -FAR_AWAY;
    for (int corner = 0; corner < 8; corner++) {
        vec p = {s->x + (corner & 1 ? reach : -reach), s->y + (corner & 2 ? reach : -reach),
                 corner & 4 ? s->height : 0};
        vec d = sub(p, w->eye);
        float depth = dot(d, w->forward);
        depth = depth > 1e-3f ? depth : 1e-3f;
        float x = 0.5f * W + dot(d, w->across) / (aa * depth);
        float y = 0.5f * H - dot(d, w->up) / (uu * depth);
        low_x = fminf(low_x, x);
        high_x = fmaxf(high_x, x);
        low_y = fminf(low_y, y);
        high_y = fmaxf(high_y, y);
    }
    s->left = (int)fminf(fmaxf(low_x - 1, 0), W);
    s->right = (int)fminf(fmaxf(high_x + 2, 0), W);
    s->top = (int)fminf(fmaxf(low_y - 1, 0), H);
    s->bottom = (int)fminf(fmaxf(high_y + 2, 0), H);
}

static void set_up_solid(const world *w, const blocks_object *object, solid *s)
{
    float r = (float)object->radius;
    vec white = {1, 1, 1};
    *s = (solid){.shape = object->shape,
                 .x = (float)object->x,
                 .y = (float)object->y,
                 .radius = r,
                 .height = object->shape == BLOCKS_CYLINDER ? 1.8f * r
                           : object->shape == BLOCKS_CONE   ? 2.1f * r
                                                            : 2.0f * r,
                 .cos = cosf((float)object->rotation),
                 .sin = sinf((float)object->rotation),
                 .albedo = ALBEDO[object->color],
                 .metal = object->material == BLOCKS_METAL};
    s->mirror = mix(s->albedo, white, 0.06f);
    float half = 0.5f * s->height, reach = s->shape == BLOCKS_CUBE ? 1.4143f * r : r;
    s->bound = (vec){s->x, s->y, half};
    s->bound_radius = s->shape == BLOCKS_BALL ? r : sqrtf(reach * reach + half * half);
    project_bounds(w, s);
}

static void set_up_view(const blocks_scene *scene, world *w)
{
    const double *from = scene->camera, *to = scene->look_at;
    w->eye = (vec){(float)from[0], (float)from[1], (float)from[2]};
    w->forward = unit(sub((vec){(float)to[0], (float)to[1], (float)to[2]}, w->eye));
    vec right = unit(cross(w->forward, (vec){0, 0, 1}));
    float pixel = 2 * tanf(0.5f * (float)scene->field_of_view) / H;
    w->up = scale(cross(right, w->forward), pixel);
    w->across = scale(right, pixel);
}

static void set_up_light(const blocks_scene *scene, world *w)
{
    w->light = (vec){(float)scene->light[0], (float)scene->light[1], (float)scene->light[2]};
    vec down = unit(scale(w->light, -1));
    vec a = unit(cross(down, (vec){0, 1, 0}));
    w->light_a = scale(a, LIGHT_RADIUS);
    w->light_b = scale(cross(down, a), LIGHT_RADIUS);
    w->light_reach = dot(w->light, w->light);
    w->strength = (float)scene->light_strength;
    w->ambient = (float)scene->ambient;
}

static void set_up(const blocks_scene *scene, world *w)
{
    set_up_view(scene, w);
    w->count = scene->count < BLOCKS_MAX ? scene->count : BLOCKS_MAX;
    for (int i = 0; i < w->count; i++) {
        set_up_solid(w, &scene->object[i], &w->solid[i]);
    }
}

// ---- light
// ---------------------------------------------------------------------------------------

// Whether anything of s can lie between the light's disc and the ball (p, spread).
static inline int may_shade(const world *w, const solid *s, vec p, float spread)
{
    vec axis = sub(w->light, p), c = sub(s->bound, p);
    float t = clamp01(dot(c, axis) / dot(axis, axis));
    vec off = sub(c, scale(axis, t));
    float reach = s->bound_radius + spread * (1 - t) + LIGHT_RADIUS * t;
    return dot(off, off) < reach * reach;
}

// Strata of the unit disc, the outermost four first: where these agree the rest are not tried.
static const float DISC[SHADOW_SAMPLES][2] = {
    {-0.64f, -0.64f}, {0.64f, 0.64f},  {-0.64f, 0.64f}, {0.64f, -0.64f},
    {-0.24f, -0.88f}, {0.24f, 0.88f},  {-0.88f, 0.24f}, {0.88f, -0.24f},
    {0.25f, -0.80f},  {-0.25f, 0.80f}, {0.80f, 0.25f},  {-0.80f, -0.25f},
    {-0.26f, -0.26f}, {0.26f, 0.26f},  {-0.26f, 0.26f}, {0.26f, -0.26f},
};

static inline int blocked(const world *w, uint32_t mask, vec p, vec d)
{
    for (; mask; mask &= mask - 1) {
        if (hit(&w->solid[__builtin_ctz(mask)], p, d) < 1) {
            return 1;
        }
    }
    return 0;
}

// How much of the light is seen from p, 0..1; mask = solids that may be in between. jitter in 0..1
// turns the pattern, so that what is left of its steps falls differently on every pixel.
static float light_seen(const world *w, uint32_t mask, vec p, float jitter, int samples)
{
    uint32_t left = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int i = __builtin_ctz(rest);
        left |= may_shade(w, &w->solid[i], p, 0) ? 1u << i : 0;
    }
    if (!left) {
        return 1;
    }
    float angle = jitter * 0.5f, c = 1 - 0.5f * angle * angle, s = angle;
    int seen = 0, taken = 0;
    while (taken < samples) {
        float x = DISC[taken][0], y = DISC[taken][1];
        vec to =
            add(w->light, add(scale(w->light_a, c * x - s * y), scale(w->light_b, s * x + c * y)));
        seen += !blocked(w, left, p, sub(to, p));
        taken++;
        if (taken == SHADOW_PROBES && (seen == 0 || seen == taken)) {
            break;
        }
    }
    return (float)seen / (float)taken;
}

// The share of the half space above (p, normal) that the solids fill, each as if it were a ball.
static float hidden_sky(const world *w, uint32_t mask, vec p, vec normal)
{
    float hidden = 0;
    for (; mask; mask &= mask - 1) {
        const solid *s = &w->solid[__builtin_ctz(mask)];
        vec to = sub(s->bound, p);
        float square = dot(to, to), r = 1.1f * s->radius;
        float facing = dot(to, normal);
        if (facing > 0) {
            hidden += r * r * facing / (square * sqrtf(square));
        }
    }
    return hidden < 0.9f ? hidden : 0.9f;
}

// What a mirror sees where it sees no solid and no table: a studio, dim at eye level, bright above.
static vec studio(const world *w, vec d)
{
    float height = clamp01(d.z);
    vec level = scale(w->backdrop, 0.42f), above = {0.80f, 0.83f, 0.88f};
    vec sky = mix(level, above, smooth(0.05f, 0.85f, height));
    // A long window behind the camera, on the side away from the light.
    float side = w->light.x < 0 ? d.x : -d.x;
    float window = smooth(0.30f, 0.36f, side) * (1 - smooth(0.62f, 0.68f, side)) *
                   smooth(0.25f, 0.31f, d.z) * (1 - smooth(0.74f, 0.80f, d.z)) * (d.y < 0);
    return add(sky, scale((vec){0.55f, 0.56f, 0.58f}, window));
}

// ---- the table's look
// ----------------------------------------------------------------------------

static float lattice(uint32_t seed, int x, int y)
{
    uint32_t h = seed ^ (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return (float)(h >> 8) * 0x1p-24f;
}

// Value noise, -0.5..0.5.
static float mottling(uint32_t seed, float x, float y)
{
    float fx = floorf(x), fy = floorf(y), u = x - fx, v = y - fy;
    int ix = (int)fx, iy = (int)fy;
    u = u * u * (3 - 2 * u);
    v = v * v * (3 - 2 * v);
    float a = lattice(seed, ix, iy), b = lattice(seed, ix + 1, iy);
    float c = lattice(seed, ix, iy + 1), d = lattice(seed, ix + 1, iy + 1);
    return (a + u * (b - a)) * (1 - v) + (c + u * (d - c)) * v - 0.5f;
}

static vec table_color(const world *w, vec p)
{
    float grain = 0.10f * mottling(w->grain, 0.45f * p.x, 0.45f * p.y) +
                  0.05f * mottling(w->grain + 1, 1.7f * p.x, 1.7f * p.y);
    return scale(w->table, 1 + grain);
}

// ---- shading
// -------------------------------------------------------------------------------------

typedef struct point {
    vec at, normal;
    uint32_t shade, near; // candidates for light_seen and hidden_sky
    float jitter;
    int samples;
} point;

// Light that falls on a matte surface.
static vec incoming(const world *w, const point *p)
{
    vec to = sub(w->light, p->at);
    float square = dot(to, to), facing = dot(to, p->normal) / sqrtf(square);
    float key = 0;
    if (facing > 0) {
        key = w->strength * facing * (w->light_reach / square);
        key *= light_seen(w, p->shade, p->at, p->jitter, p->samples);
    }
    // The fill comes from beside the camera, on the other side than the light.
    vec fill_from = {w->light.x < 0 ? 0.62f : -0.62f, -0.62f, 0.48f};
    float fill = fmaxf(0, dot(fill_from, p->normal)) * 0.16f;
    float open = 1 - hidden_sky(w, p->near, p->at, p->normal);
    float sky = w->ambient * (0.62f + 0.38f * p->normal.z) * open;
    vec light = scale((vec){1.0f, 0.975f, 0.94f}, key);
    light = add(light, scale((vec){0.92f, 0.96f, 1.0f}, sky + fill * open));
    // What the table throws back.
    float bounce = 0.22f * (0.5f - 0.5f * p->normal.z) * w->strength;
    return add(light, scale(w->table, bounce * open));
}

static vec shade_table(const world *w, const point *p)
{
    float away = sqrtf(p->at.x * p->at.x + p->at.y * p->at.y);
    vec lit = mul(table_color(w, p->at), incoming(w, p));
    return mix(lit, w->backdrop, smooth(5.5f, 16.0f, away));
}

static float power(float v, int doublings)
{
    for (int i = 0; i < doublings; i++) {
        v *= v;
    }
    return v;
}

static uint32_t shaders_of(const world *w, vec p, int self)
{
    uint32_t mask = 0;
    for (int i = 0; i < w->count; i++) {
        mask |= i != self && may_shade(w, &w->solid[i], p, 0) ? 1u << i : 0;
    }
    return mask;
}

static vec shade_matte(const world *w, const solid *s, const point *p, vec view)
{
    vec color = mul(s->albedo, incoming(w, p));
    vec half = unit(sub(unit(sub(w->light, p->at)), view));
    float sheen = 0.045f * power(fmaxf(0, dot(half, p->normal)), 4) * w->strength;
    return add(color, (vec){sheen, sheen, sheen});
}

static vec look(const world *w, vec from, vec d, int self, float jitter);

static vec shade_metal(const world *w, int id, const point *p, vec view, float jitter)
{
    const solid *s = &w->solid[id];
    float facing = -dot(view, p->normal);
    vec d = sub(view, scale(p->normal, -2 * facing));
    vec seen = look(w, p->at, d, id, jitter);
    vec to = unit(sub(w->light, p->at));
    float key = light_seen(w, p->shade, p->at, p->jitter, p->samples);
    float glint = smooth(0.955f, 0.995f, dot(d, to)) * 2.4f * key;
    glint += 0.35f * power(fmaxf(0, dot(d, to)), 4) * key;
    float rim = power(1 - clamp01(facing), 2) * 0.25f;
    vec mirror = mix(s->mirror, (vec){1, 1, 1}, rim);
    vec color = scale(mul(s->albedo, incoming(w, p)), 0.42f);
    color = add(color, scale(mul(mirror, seen), 0.62f));
    return add(color, scale(mix(mirror, (vec){1, 1, 1}, 0.5f), glint * w->strength));
}

// What is seen in a mirror: matte surfaces only, one shadow ray.
static vec look(const world *w, vec from, vec d, int self, float jitter)
{
    float t = FAR_AWAY;
    int id = -1;
    for (int i = 0; i < w->count; i++) {
        const solid *s = &w->solid[i];
        vec c = sub(s->bound, from);
        float along = dot(c, d);
        if (i == self || along < 0 ||
            dot(c, c) - along * along > s->bound_radius * s->bound_radius) {
            continue;
        }
        float here = hit(s, from, d);
        if (here < t) {
            t = here;
            id = i;
        }
    }
    if (id < 0 && d.z > -0.02f) {
        return studio(w, d);
    }
    point p = {.jitter = jitter, .samples = SHADOW_PROBES, .near = (1u << w->count) - 1};
    if (id < 0) {
        p.at = add(from, scale(d, -from.z / d.z));
        p.at.z = 0;
        p.normal = (vec){0, 0, 1};
        p.shade = shaders_of(w, p.at, -1);
        return shade_table(w, &p);
    }
    p.at = add(from, scale(d, t));
    p.normal = normal_at(&w->solid[id], p.at);
    p.shade = shaders_of(w, p.at, id);
    p.near &= ~(1u << id);
    return shade_matte(w, &w->solid[id], &p, d);
}

// The light that comes along the ray through picture position (x, y), which sees solid id (-1 = the
// table) at distance t.
static vec shade(const world *w, float x, float y, int id, float t, float jitter, int samples)
{
    vec d = ray(w, x, y);
    point p = {.jitter = jitter, .samples = samples};
    if (id < 0) {
        int column = (int)x / TILE, row = (int)y / TILE;
        if (d.z > -0.01f) {
            return w->backdrop;
        }
        p.at = add(w->eye, scale(d, -w->eye.z / d.z));
        p.at.z = 0;
        p.normal = (vec){0, 0, 1};
        p.shade = w->shade[row][column];
        p.near = w->near[row][column];
        return shade_table(w, &p);
    }
    const solid *s = &w->solid[id];
    p.at = add(w->eye, scale(d, t));
    p.normal = normal_at(s, p.at);
    p.shade = shaders_of(w, p.at, id);
    p.near = ((1u << w->count) - 1) & ~(1u << id);
    vec view = unit(d);
    return s->metal ? shade_metal(w, id, &p, view, jitter) : shade_matte(w, s, &p, view);
}

// ---- what is where
// -------------------------------------------------------------------------------

// The nearest of the solids in mask at picture position (x, y).
static int nearest(const world *w, uint32_t mask, float x, float y, float *t)
{
    vec d = ray(w, x, y);
    int id = -1;
    *t = FAR_AWAY;
    for (; mask; mask &= mask - 1) {
        int i = __builtin_ctz(mask);
        float here = hit(&w->solid[i], w->eye, d);
        if (here < *t) {
            *t = here;
            id = i;
        }
    }
    return id;
}

// One row of ids and distances; total[i] grows by the pixels solid i has in this row on its own.
static void trace_row(const world *w, int y, int8_t *id, float *t, int *total)
{
    memset(id, -1, W);
    for (int x = 0; x < W; x++) {
        t[x] = FAR_AWAY;
    }
    for (int i = 0; i < w->count; i++) {
        const solid *s = &w->solid[i];
        if (y < s->top || y >= s->bottom) {
            continue;
        }
        for (int x = s->left; x < s->right; x++) {
            float here = hit(s, w->eye, ray(w, (float)x + 0.5f, (float)y + 0.5f));
            total[i] += here < FAR_AWAY;
            if (here < t[x]) {
                t[x] = here;
                id[x] = (int8_t)i;
            }
        }
    }
}

void blocks_render_ids(const blocks_scene *scene, int8_t *id)
{
    world w;
    float t[W];
    int total[BLOCKS_MAX] = {0};
    set_up(scene, &w);
    for (int y = 0; y < H; y++) {
        trace_row(&w, y, id + y * W, t, total);
    }
}

void blocks_render_measure(blocks_scene *scene)
{
    world w;
    int8_t id[W];
    float t[W];
    int total[BLOCKS_MAX] = {0};
    set_up(scene, &w);
    for (int i = 0; i < w.count; i++) {
        blocks_object *o = &scene->object[i];
        o->box[0] = W;
        o->box[1] = H;
        o->box[2] = o->box[3] = 0;
        o->visible = 0;
    }
    for (int y = 0; y < H; y++) {
        trace_row(&w, y, id, t, total);
        for (int x = 0; x < W; x++) {
            if (id[x] >= 0) {
                blocks_object *o = &scene->object[id[x]];
                o->visible++;
                o->box[0] = x < o->box[0] ? x : o->box[0];
                o->box[1] = y < o->box[1] ? y : o->box[1];
                o->box[2] = x + 1 > o->box[2] ? x + 1 : o->box[2];
                o->box[3] = y + 1;
            }
        }
    }
    for (int i = 0; i < w.count; i++) {
        blocks_object *o = &scene->object[i];
        o->total = total[i];
        if (!o->visible) {
            memset(o->box, 0, sizeof o->box);
        }
    }
}

// ---- the picture
// ---------------------------------------------------------------------------------

static void sort_tiles(world *w)
{
    for (int row = 0; row < TILES_Y; row++) {
        for (int column = 0; column < TILES_X; column++) {
            vec corner[4], centre = {0, 0, 0};
            float spread = 0;
            for (int i = 0; i < 4; i++) {
                vec d = ray(w, (float)((column + (i & 1)) * TILE), (float)((row + i / 2) * TILE));
                float t = d.z < -0.01f ? -w->eye.z / d.z : 100;
                corner[i] = add(w->eye, scale(d, t));
                corner[i].z = 0;
                centre = add(centre, scale(corner[i], 0.25f));
            }
            for (int i = 0; i < 4; i++) {
                vec off = sub(corner[i], centre);
                spread = fmaxf(spread, dot(off, off));
            }
            spread = sqrtf(spread) + 1e-3f;
            uint32_t shade_mask = 0, near_mask = 0;
            for (int i = 0; i < w->count; i++) {
                const solid *s = &w->solid[i];
                vec off = sub(s->bound, centre);
                float reach = spread + 7 * s->radius;
                shade_mask |= may_shade(w, s, centre, spread) ? 1u << i : 0;
                near_mask |= dot(off, off) < reach * reach ? 1u << i : 0;
            }
            w->shade[row][column] = (uint16_t)shade_mask;
            w->near[row][column] = (uint16_t)near_mask;
        }
    }
}

// Interleaved gradient noise (Jimenez 2014): neighbours differ evenly.
static float jitter_at(int x, int y)
{
    float v = 0.06711056f * (float)x + 0.00583715f * (float)y;
    v = 52.9829189f * (v - floorf(v));
    return v - floorf(v);
}

// Highlights are bent over instead of cut off.
static inline float shoulder(float v)
{
    return v < 0.7f ? v : 1 - 0.3f * 0.3f / (v - 0.4f);
}

static vec develop(const world *w, vec light, float x, float y)
{
    float u = (x - 0.5f * W) / (0.5f * W), v = (y - 0.5f * H) / (0.5f * H);
    float corner = 1 - 0.13f * (u * u + v * v);
    (void)w;
    return (vec){shoulder(light.x * corner), shoulder(light.y * corner),
                 shoulder(light.z * corner)};
}

static void put(const world *w, vec color, uint8_t *rgb)
{
    rgb[0] = w->gamma[(int)(color.x * (GAMMA_STEPS - 1) + 0.5f)];
    rgb[1] = w->gamma[(int)(color.y * (GAMMA_STEPS - 1) + 0.5f)];
    rgb[2] = w->gamma[(int)(color.z * (GAMMA_STEPS - 1) + 0.5f)];
}

static int contrast(const uint8_t *a, const uint8_t *b)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    }
    return sum;
}

// Pixels on the border between two solids, a solid and the table, or two faces.
static int is_edge(const int8_t *id, const uint8_t *rgb, int x, int y)
{
    int here = y * W + x;
    static const int STEP_X[4] = {1, -1, 0, 0}, STEP_Y[4] = {0, 0, 1, -1};
    for (int i = 0; i < 4; i++) {
        int nx = x + STEP_X[i], ny = y + STEP_Y[i], there = ny * W + nx;
        if (nx < 0 || nx >= W || ny < 0 || ny >= H) {
            continue;
        }
        if (id[there] != id[here] ||
            (id[here] >= 0 && contrast(rgb + here * 3, rgb + there * 3) > 60)) {
            return 1;
        }
    }
    return 0;
}

static void smooth_pixel(const world *w, int x, int y, uint8_t *rgb)
{
    static const float AT[EDGE_SAMPLES][2] = {{0.08f, 0.42f}, {0.25f, 0.92f}, {0.42f, 0.25f},
                                              {0.58f, 0.75f}, {0.75f, 0.08f}, {0.92f, 0.58f}};
    uint32_t mask = 0;
    for (int i = 0; i < w->count; i++) {
        const solid *s = &w->solid[i];
        mask |= x >= s->left && x < s->right && y >= s->top && y < s->bottom ? 1u << i : 0;
    }
    vec sum = {0, 0, 0};
    for (int i = 0; i < EDGE_SAMPLES; i++) {
        float px = (float)x + AT[i][0], py = (float)y + AT[i][1], t;
        int id = nearest(w, mask, px, py, &t);
        float jitter = (float)i / EDGE_SAMPLES;
        sum = add(sum, develop(w, shade(w, px, py, id, t, jitter, 8), px, py));
    }
    put(w, scale(sum, 1.0f / EDGE_SAMPLES), rgb);
}

static void set_up_picture(const blocks_scene *scene, world *w)
{
    set_up(scene, w);
    set_up_light(scene, w);
    const double *shade_of = scene->table_shade;
    w->table = (vec){(float)shade_of[0], (float)shade_of[1], (float)shade_of[2]};
    w->backdrop = scale(w->table, 0.55f);
    w->grain = (uint32_t)(scene->seed ^ (uint64_t)scene->image_id * 0x9e3779b9u);
    for (int i = 0; i < GAMMA_STEPS; i++) {
        float v = (float)i / (GAMMA_STEPS - 1);
        v = v < 0.0031308f ? 12.92f * v : 1.055f * powf(v, 1 / 2.4f) - 0.055f;
        w->gamma[i] = (uint8_t)(255 * v + 0.5f);
    }
    sort_tiles(w);
}

void blocks_render(const blocks_scene *scene, uint8_t *rgb)
{
    world w;
    int8_t id[W * H];
    uint8_t edge[W * H];
    float t[W];
    int total[BLOCKS_MAX] = {0};
    set_up_picture(scene, &w);
    for (int y = 0; y < H; y++) {
        trace_row(&w, y, id + y * W, t, total);
        for (int x = 0; x < W; x++) {
            float px = (float)x + 0.5f, py = (float)y + 0.5f;
            vec light = shade(&w, px, py, id[y * W + x], t[x], jitter_at(x, y), SHADOW_SAMPLES);
            put(&w, develop(&w, light, px, py), rgb + (y * W + x) * 3);
        }
    }
    for (int i = 0; i < W * H; i++) {
        edge[i] = (uint8_t)is_edge(id, rgb, i % W, i / W);
    }
    for (int i = 0; i < W * H; i++) {
        if (edge[i]) {
            smooth_pixel(&w, i % W, i / W, rgb + i * 3);
        }
    }
}
