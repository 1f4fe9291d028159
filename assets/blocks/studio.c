#include "assets/blocks/studio.h"

enum { PATTERN = 16, PROBES = 4 };

static const float LIGHT_RADIUS = 1.2f, CEILING = 9.0f;
static const vec WHITE = {1, 1, 1}, UPWARDS = {0, 0, 1};

// Chosen to stay apart under every light and in both materials.
static const vec ALBEDO[BLOCKS_COLORS] = {
    [BLOCKS_RED] = {0.64f, 0.020f, 0.026f},   [BLOCKS_GREEN] = {0.022f, 0.37f, 0.060f},
    [BLOCKS_BLUE] = {0.022f, 0.085f, 0.66f},  [BLOCKS_YELLOW] = {0.90f, 0.73f, 0.018f},
    [BLOCKS_PURPLE] = {0.25f, 0.032f, 0.50f}, [BLOCKS_ORANGE] = {0.93f, 0.285f, 0.010f},
    [BLOCKS_WHITE] = {0.88f, 0.88f, 0.87f},   [BLOCKS_BLACK] = {0.013f, 0.013f, 0.015f},
};

void blocks_studio_init(const blocks_scene *scene, blocks_studio *studio)
{
    const double *light = scene->light, *shade = scene->table_shade;
    *studio = (blocks_studio){.count = scene->count,
                              .light = {(float)light[0], (float)light[1], (float)light[2]},
                              .strength = (float)scene->light_strength,
                              .ambient = (float)scene->ambient,
                              .table = {(float)shade[0], (float)shade[1], (float)shade[2]}};
    for (int i = 0; i < studio->count; i++)
        blocks_solid_init(&scene->object[i], &studio->solid[i]);
    vec down = vec_unit(studio->light * -1);
    vec a = vec_unit(vec_cross(down, (vec){0, 1, 0}));
    studio->light_a = a * LIGHT_RADIUS;
    studio->light_b = vec_cross(down, a) * LIGHT_RADIUS;
    // Beside the camera, on the other side than the light.
    studio->fill = (vec){light[0] < 0 ? 0.62f : -0.62f, -0.62f, 0.48f};
    studio->backdrop = studio->table * 0.62f;
    studio->grain = (uint32_t)(scene->seed ^ (uint64_t)scene->image_id * 0x9e3779b9u);
}

int blocks_studio_hit(const blocks_studio *studio, uint32_t mask, vec from, vec d, float *t)
{
    int id = -1;
    *t = BLOCKS_MISS;
    for (; mask; mask &= mask - 1) {
        int i = __builtin_ctz(mask);
        float here = blocks_solid_hit(&studio->solid[i], from, d);
        if (here < *t) {
            *t = here;
            id = i;
        }
    }
    return id;
}

static inline float at_least_0(float v)
{
    return v > 0 ? v : 0;
}

// ---- shadows -----------------------------------------------------------------------------------

int blocks_studio_may_shade(const blocks_studio *studio, int i, vec at, float spread)
{
    const blocks_solid *s = &studio->solid[i];
    vec axis = studio->light - at, c = s->bound - at;
    float t = clamp01(vec_dot(c, axis) / vec_dot(axis, axis));
    vec off = c - axis * t;
    float reach = s->bound_radius + spread * (1 - t) + LIGHT_RADIUS * t;
    return vec_dot(off, off) < reach * reach;
}

// Strata of the unit disc, the outermost four first.
static const float DISC[PATTERN][2] = {
    {-0.64f, -0.64f}, {0.64f, 0.64f},  {-0.64f, 0.64f}, {0.64f, -0.64f},
    {-0.24f, -0.88f}, {0.24f, 0.88f},  {-0.88f, 0.24f}, {0.88f, -0.24f},
    {0.25f, -0.60f},  {-0.25f, 0.60f}, {0.60f, 0.25f},  {-0.60f, -0.25f},
    {-0.22f, -0.22f}, {0.22f, 0.22f},  {-0.22f, 0.22f}, {0.22f, -0.22f},
};

static inline int is_blocked(const blocks_studio *studio, uint32_t mask, vec from, vec d)
{
    for (; mask; mask &= mask - 1)
        if (blocks_solid_hit(&studio->solid[__builtin_ctz(mask)], from, d) < 1)
            return 1;
    return 0;
}

float blocks_studio_seen(const blocks_studio *studio, uint32_t mask, vec at, float jitter,
                         int samples)
{
    uint32_t left = 0;
    for (; mask; mask &= mask - 1) {
        int i = __builtin_ctz(mask);
        left |= blocks_studio_may_shade(studio, i, at, 0) ? 1u << i : 0;
    }
    if (!left)
        return 1;
    // A turn by up to 0.4 radians, to second order.
    float s = 0.8f * (jitter - 0.5f), c = 1 - 0.5f * s * s;
    vec to = studio->light - at;
    int seen = 0, taken = 0;
    while (taken < samples) {
        float x = DISC[taken][0], y = DISC[taken][1];
        vec off = studio->light_a * (c * x - s * y) + studio->light_b * (s * x + c * y);
        seen += !is_blocked(studio, left, at, to + off);
        taken++;
        if (taken == PROBES && (seen == 0 || seen == taken))
            break;
    }
    return (float)seen / (float)taken;
}

// ---- what falls on a surface -------------------------------------------------------------------

// The share of the half space above a point that the solids fill, each as if it were a ball.
static float hidden_sky(const blocks_studio *studio, const blocks_point *p)
{
    float hidden = 0;
    for (uint32_t mask = p->near; mask; mask &= mask - 1) {
        const blocks_solid *s = &studio->solid[__builtin_ctz(mask)];
        vec to = s->bound - p->at;
        float square = vec_dot(to, to), facing = vec_dot(to, p->normal), r = 1.1f * s->radius;
        hidden += facing > 0 ? r * r * facing / (square * sqrtf(square)) : 0;
    }
    return hidden < 0.9f ? hidden : 0.9f;
}

static vec incoming(const blocks_studio *studio, const blocks_point *p)
{
    vec to = studio->light - p->at;
    float square = vec_dot(to, to), facing = vec_dot(to, p->normal) / sqrtf(square);
    // Of unit strength at the middle of the table.
    float key = facing <= 0 ? 0
                            : studio->strength * facing * p->seen *
                                  (vec_dot(studio->light, studio->light) / square);
    float fill = 0.24f * at_least_0(vec_dot(studio->fill, p->normal));
    float sky = studio->ambient * (0.62f + 0.38f * p->normal[2]);
    float bounce = 0.22f * studio->strength * (0.5f - 0.5f * p->normal[2]);
    float open = 1 - hidden_sky(studio, p);
    vec light = (vec){1.0f, 0.975f, 0.94f} * key;
    light += (vec){0.92f, 0.96f, 1.0f} * ((sky + fill) * open);
    return light + studio->table * (bounce * open);
}

// v to the power 2^doublings.
static float power(float v, int doublings)
{
    v = at_least_0(v);
    for (int i = 0; i < doublings; i++)
        v *= v;
    return v;
}

static vec matte(const blocks_studio *studio, const blocks_solid *s, const blocks_point *p)
{
    vec half = vec_unit(vec_unit(studio->light - p->at) - p->view);
    float sheen = 0.05f * power(vec_dot(half, p->normal), 4) * studio->strength * p->seen;
    vec color = ALBEDO[s->color] * incoming(studio, p);
    return color + WHITE * sheen;
}

// ---- the table ---------------------------------------------------------------------------------

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
    // Rounds down: the table is nowhere near so wide that x could be below -1024.
    int ix = (int)(x + 1024) - 1024, iy = (int)(y + 1024) - 1024;
    float u = x - (float)ix, v = y - (float)iy;
    u = u * u * (3 - 2 * u);
    v = v * v * (3 - 2 * v);
    float a = lattice(seed, ix, iy), b = lattice(seed, ix + 1, iy);
    float c = lattice(seed, ix, iy + 1), d = lattice(seed, ix + 1, iy + 1);
    return (a + u * (b - a)) * (1 - v) + (c + u * (d - c)) * v - 0.5f;
}

// The table is waxed: it mirrors what stands on it, faintly and only near the foot.
static vec add_gloss(const blocks_studio *studio, const blocks_point *p, vec color)
{
    vec d = {p->view[0], p->view[1], -p->view[2]};
    float t;
    int id = blocks_studio_hit(studio, p->gloss, p->at, d, &t);
    if (id < 0)
        return color;
    blocks_point q = {.at = p->at + d * t, .view = d, .seen = 0.8f};
    q.normal = blocks_solid_normal(&studio->solid[id], q.at);
    vec mirrored = ALBEDO[studio->solid[id].color] * incoming(studio, &q);
    float fading = 1 - clamp01(q.at[2] / 1.3f);
    return vec_mix(color, mirrored, 0.20f * fading * fading);
}

vec blocks_studio_table(const blocks_studio *studio, const blocks_point *p)
{
    float grain = 0.07f * mottling(studio->grain, 0.45f * p->at[0], 0.45f * p->at[1]) +
                  0.04f * mottling(studio->grain + 1, 1.7f * p->at[0], 1.7f * p->at[1]);
    vec color = studio->table * (1 + grain) * incoming(studio, p);
    if (p->gloss)
        color = add_gloss(studio, p, color);
    float away = sqrtf(p->at[0] * p->at[0] + p->at[1] * p->at[1]);
    return vec_mix(color, studio->backdrop, smooth_step(5.0f, 16.0f, away));
}

// ---- metal -------------------------------------------------------------------------------------

// What a mirror sees above the table: a dim room with two long rows of lamps under its ceiling.
static vec room(const blocks_studio *studio, vec from, vec d)
{
    vec wall = studio->backdrop * 0.55f;
    if (d[2] < 0.03f)
        return wall;
    float t = (CEILING - from[2]) / d[2];
    float x = fabsf(from[0] + t * d[0]), y = from[1] + t * d[1];
    float lamp = smooth_step(1.6f, 2.6f, x) * (1 - smooth_step(4.4f, 5.6f, x)) *
                 smooth_step(-9.0f, -5.0f, y) * (1 - smooth_step(13.0f, 20.0f, y));
    vec ceiling = (vec){0.46f, 0.475f, 0.50f} + (vec){0.85f, 0.84f, 0.82f} * lamp;
    return vec_mix(wall, ceiling, smooth_step(0.03f, 0.30f, d[2]));
}

// What is seen in a mirror; metals in it look matte.
static vec mirrored(const blocks_studio *studio, int self, vec from, vec d)
{
    float t;
    uint32_t near = 0; // those whose bounding sphere the ray meets
    for (int i = 0; i < studio->count; i++) {
        const blocks_solid *s = &studio->solid[i];
        vec c = s->bound - from;
        float along = vec_dot(c, d);
        if (i != self && along >= 0 &&
            vec_dot(c, c) - along * along <= s->bound_radius * s->bound_radius)
            near |= 1u << i;
    }
    int id = blocks_studio_hit(studio, near, from, d, &t);
    if (id < 0 && d[2] > -0.02f)
        return room(studio, from, d);
    const uint32_t all = (1u << studio->count) - 1;
    blocks_point p = {.view = d, .near = id < 0 ? all : all & ~(1u << id)};
    t = id < 0 ? -from[2] / d[2] : t;
    p.at = from + d * t;
    p.seen = blocks_studio_seen(studio, p.near, p.at, 0.5f, PATTERN);
    if (id < 0) {
        p.at[2] = 0;
        p.normal = UPWARDS;
        return blocks_studio_table(studio, &p);
    }
    p.normal = blocks_solid_normal(&studio->solid[id], p.at);
    return matte(studio, &studio->solid[id], &p);
}

static vec metal(const blocks_studio *studio, int i, const blocks_point *p)
{
    vec albedo = ALBEDO[studio->solid[i].color];
    float facing = -vec_dot(p->view, p->normal);
    vec d = p->view + p->normal * (2 * facing);
    vec seen = mirrored(studio, i, p->at, d);
    float towards = vec_dot(d, vec_unit(studio->light - p->at));
    float glint = smooth_step(0.955f, 0.992f, towards) * 2.2f + 0.25f * power(towards, 4);
    float rim = 0.30f * power(1 - clamp01(facing), 2);
    vec tint = vec_mix(vec_mix(albedo, WHITE, 0.05f), WHITE, rim);
    vec color = albedo * incoming(studio, p) * 0.30f;
    color += tint * seen * 0.85f;
    return color + vec_mix(tint, WHITE, 0.5f) * (glint * p->seen * studio->strength);
}

vec blocks_studio_solid(const blocks_studio *studio, int i, const blocks_point *p)
{
    const blocks_solid *s = &studio->solid[i];
    return s->material == BLOCKS_METAL ? metal(studio, i, p) : matte(studio, s, p);
}
