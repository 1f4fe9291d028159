// Only the pixels inside a solid's projected box are tried against it, and which solids can shade a
// piece of the table is decided per tile, not per ray. Only pixels on edges are sampled more than
// once.
#include "assets/blocks/render.h"

#include "assets/blocks/studio.h"

enum { W = BLOCKS_WIDTH, H = BLOCKS_HEIGHT, TILE = 16, TILES_X = W / TILE, TILES_Y = H / TILE };
enum { SHADOW_SAMPLES = 16, EDGE_SAMPLES = 6, EDGE_SHADOW_SAMPLES = 8, GAMMA_STEPS = 4096 };
enum { EDGE_CONTRAST = 60, NO_SURFACE = -2 };

// Pixels whose centres may see a thing: [left, right) x [top, bottom).
typedef struct area {
    int left, right, top, bottom;
} area;

typedef struct view {
    vec eye, forward, across, up; // across, up: one pixel's step
    area solid[BLOCKS_MAX];
    area mirrored[BLOCKS_MAX]; // its mirror image in the table
} view;

typedef struct picture {
    blocks_studio studio;
    view view;
    uint16_t shade[TILES_Y][TILES_X]; // solids that may shade the table in this tile
    uint16_t near[TILES_Y][TILES_X];  // solids near enough to darken it by their presence
    uint16_t gloss[TILES_Y][TILES_X]; // solids that may be mirrored in it
    uint8_t gamma[GAMMA_STEPS];
} picture;

// ---- the camera --------------------------------------------------------------------------------

static inline vec ray(const view *v, float x, float y)
{
    return v->forward + (v->across * (x - 0.5f * W) + v->up * (0.5f * H - y));
}

static int clamp_int(float value, int high)
{
    return value < 0 ? 0 : value > (float)high ? high : (int)value;
}

// The pixels of a solid's projected bounding box; side = -1 for that of its mirror image.
static area project(const view *v, const blocks_solid *s, float side)
{
    float aa = vec_dot(v->across, v->across), uu = vec_dot(v->up, v->up);
    float low_x = W, high_x = 0, low_y = H, high_y = 0;
    for (int corner = 0; corner < 8; corner++) {
        vec p = {s->x + (corner & 1 ? s->reach : -s->reach),
                 s->y + (corner & 2 ? s->reach : -s->reach), corner & 4 ? side * s->height : 0};
        vec d = p - v->eye;
        float depth = fmaxf(vec_dot(d, v->forward), 1e-3f);
        float x = 0.5f * W + vec_dot(d, v->across) / (aa * depth);
        float y = 0.5f * H - vec_dot(d, v->up) / (uu * depth);
        low_x = fminf(low_x, x);
        high_x = fmaxf(high_x, x);
        low_y = fminf(low_y, y);
        high_y = fmaxf(high_y, y);
    }
    return (area){clamp_int(low_x - 1, W), clamp_int(high_x + 2, W), clamp_int(low_y - 1, H),
                  clamp_int(high_y + 2, H)};
}

static void init_view(const blocks_scene *scene, const blocks_solid *solid, int count, view *v)
{
    const double *from = scene->camera, *to = scene->look_at;
    v->eye = (vec){(float)from[0], (float)from[1], (float)from[2]};
    v->forward = vec_unit((vec){(float)to[0], (float)to[1], (float)to[2]} - v->eye);
    vec right = vec_unit(vec_cross(v->forward, (vec){0, 0, 1}));
    float pixel = 2 * tanf(0.5f * (float)scene->field_of_view) / H;
    v->up = vec_cross(right, v->forward) * pixel;
    v->across = right * pixel;
    for (int i = 0; i < count; i++) {
        v->solid[i] = project(v, &solid[i], 1);
        v->mirrored[i] = project(v, &solid[i], -1);
    }
}

static inline uint32_t solids_at(const area *areas, int count, int x, int y)
{
    uint32_t mask = 0;
    for (int i = 0; i < count; i++) {
        const area *a = &areas[i];
        mask |= x >= a->left && x < a->right && y >= a->top && y < a->bottom ? 1u << i : 0;
    }
    return mask;
}

// ---- what is where -----------------------------------------------------------------------------

// One row of ids and distances; total[i] grows by the pixels solid i has in this row on its own.
static void trace_row(const view *v, const blocks_solid *solid, int count, int y, int8_t *id,
                      float *t, int *total)
{
    memset(id, -1, W);
    for (int x = 0; x < W; x++)
        t[x] = BLOCKS_MISS;
    for (int i = 0; i < count; i++) {
        const area *a = &v->solid[i];
        if (y < a->top || y >= a->bottom)
            continue;
        for (int x = a->left; x < a->right; x++) {
            vec d = ray(v, (float)x + 0.5f, (float)y + 0.5f);
            float here = blocks_solid_hit(&solid[i], v->eye, d);
            total[i] += here < BLOCKS_MISS;
            if (here < t[x]) {
                t[x] = here;
                id[x] = (int8_t)i;
            }
        }
    }
}

static void count_pixel(blocks_object *o, int x, int y)
{
    if (!o->visible++) {
        o->box[0] = x;
        o->box[1] = y;
        o->box[2] = x + 1;
    }
    o->box[0] = x < o->box[0] ? x : o->box[0];
    o->box[2] = x + 1 > o->box[2] ? x + 1 : o->box[2];
    o->box[3] = y + 1;
}

void blocks_render_measure(blocks_scene *scene, int8_t *id)
{
    blocks_solid solid[BLOCKS_MAX] = {0};
    view v;
    int8_t row[W];
    float t[W];
    int total[BLOCKS_MAX] = {0}, count = scene->count;
    for (int i = 0; i < count; i++) {
        blocks_solid_init(&scene->object[i], &solid[i]);
        scene->object[i].visible = 0;
        memset(scene->object[i].box, 0, sizeof scene->object[i].box);
    }
    init_view(scene, solid, count, &v);
    for (int y = 0; y < H; y++) {
        int8_t *seen = id ? id + y * W : row;
        trace_row(&v, solid, count, y, seen, t, total);
        for (int x = 0; x < W; x++)
            if (seen[x] >= 0)
                count_pixel(&scene->object[seen[x]], x, y);
    }
    for (int i = 0; i < count; i++)
        scene->object[i].total = total[i];
}

// ---- tiles of the table ------------------------------------------------------------------------

static vec on_table(const view *v, float x, float y)
{
    vec d = ray(v, x, y);
    float t = d[2] < -0.01f ? -v->eye[2] / d[2] : 100;
    vec at = v->eye + d * t;
    at[2] = 0;
    return at;
}

static void init_tile(picture *p, int row, int column)
{
    vec corner[4], centre = {0, 0, 0};
    float spread = 0;
    for (int i = 0; i < 4; i++) {
        int right = column + (i & 1), below = row + (i >> 1);
        corner[i] = on_table(&p->view, (float)(right * TILE), (float)(below * TILE));
        centre += corner[i] * 0.25f;
    }
    for (int i = 0; i < 4; i++) {
        vec off = corner[i] - centre;
        spread = fmaxf(spread, vec_dot(off, off));
    }
    spread = sqrtf(spread) + 1e-3f;
    uint32_t shade = 0, near = 0, gloss = 0;
    for (int i = 0; i < p->studio.count; i++) {
        const blocks_solid *s = &p->studio.solid[i];
        vec off = s->bound - centre;
        float reach = spread + 7 * s->radius;
        shade |= blocks_studio_may_shade(&p->studio, i, centre, spread) ? 1u << i : 0;
        near |= vec_dot(off, off) < reach * reach ? 1u << i : 0;
        const area *m = &p->view.mirrored[i];
        gloss |= m->left < (column + 1) * TILE && m->right > column * TILE &&
                         m->top < (row + 1) * TILE && m->bottom > row * TILE
                     ? 1u << i
                     : 0;
    }
    p->shade[row][column] = (uint16_t)shade;
    p->near[row][column] = (uint16_t)near;
    p->gloss[row][column] = (uint16_t)gloss;
}

static void init_picture(const blocks_scene *scene, picture *p)
{
    blocks_studio_init(scene, &p->studio);
    init_view(scene, p->studio.solid, p->studio.count, &p->view);
    for (int i = 0; i < TILES_X * TILES_Y; i++)
        init_tile(p, i / TILES_X, i % TILES_X);
    for (int i = 0; i < GAMMA_STEPS; i++) {
        float v = (float)i / (GAMMA_STEPS - 1);
        v = v < 0.0031308f ? 12.92f * v : 1.055f * powf(v, 1 / 2.4f) - 0.055f;
        p->gamma[i] = (uint8_t)(255 * v + 0.5f);
    }
}

// ---- the picture -------------------------------------------------------------------------------

// The surface at picture position (x, y): solid id (-1 = the table) at distance t. `seen` is left
// to the caller; *shade = the solids that may stand between it and the light.
static blocks_point surface(const picture *p, float x, float y, int id, float t, uint32_t *shade)
{
    blocks_point point = {0};
    int column = (int)x, row = (int)y;
    if (id < 0) {
        point.at = on_table(&p->view, x, y);
        point.normal = (vec){0, 0, 1};
        point.near = p->near[row / TILE][column / TILE];
        point.gloss = p->gloss[row / TILE][column / TILE];
        *shade = p->shade[row / TILE][column / TILE];
    } else {
        point.at = p->view.eye + ray(&p->view, x, y) * t;
        point.normal = blocks_solid_normal(&p->studio.solid[id], point.at);
        point.near = ((1u << p->studio.count) - 1) & ~(1u << id);
        *shade = point.near;
    }
    point.view = vec_unit(point.at - p->view.eye);
    return point;
}

// Interleaved gradient noise (Jimenez 2014): any 3x3 neighbours differ evenly.
static float jitter_at(int x, int y)
{
    float v = 0.06711056f * (float)x + 0.00583715f * (float)y;
    v = 52.9829189f * (v - (float)(int)v);
    return v - (float)(int)v;
}

// Highlights are bent over instead of cut off.
static inline float shoulder(float v)
{
    return v < 0.7f ? v : 1 - 0.3f * 0.3f / (v - 0.4f);
}

static vec develop(const picture *p, const blocks_point *point, int id, float x, float y)
{
    vec light = id < 0 ? blocks_studio_table(&p->studio, point)
                       : blocks_studio_solid(&p->studio, id, point);
    float u = x / (0.5f * W) - 1, v = y / (0.5f * H) - 1, vignette = 1 - 0.12f * (u * u + v * v);
    return (vec){shoulder(light[0] * vignette), shoulder(light[1] * vignette),
                 shoulder(light[2] * vignette)};
}

static void put(const picture *p, vec color, uint8_t *rgb)
{
    rgb[0] = p->gamma[(int)(color[0] * (GAMMA_STEPS - 1) + 0.5f)];
    rgb[1] = p->gamma[(int)(color[1] * (GAMMA_STEPS - 1) + 0.5f)];
    rgb[2] = p->gamma[(int)(color[2] * (GAMMA_STEPS - 1) + 0.5f)];
}

// Three rows of surfaces around the one that is shaded. seen[i][x + 1], id[i][x + 1] belong to
// point[i][x]; the rim has an id that is no surface's.
typedef struct strip {
    blocks_point point[3][W];
    float seen[3][W + 2]; // how much of the light, sampled
    int8_t id[3][W + 2];
} strip;

static void trace_points(const picture *p, int y, const int8_t *id, const float *t, int slot,
                         strip *rows)
{
    rows->id[slot][0] = rows->id[slot][W + 1] = NO_SURFACE;
    rows->seen[slot][0] = rows->seen[slot][W + 1] = 0;
    for (int x = 0; x < W; x++) {
        uint32_t shade;
        rows->point[slot][x] = surface(p, (float)x + 0.5f, (float)y + 0.5f, id[x], t[x], &shade);
        rows->seen[slot][x + 1] = blocks_studio_seen(&p->studio, shade, rows->point[slot][x].at,
                                                     jitter_at(x, y), SHADOW_SAMPLES);
        rows->id[slot][x + 1] = id[x];
    }
}

// The mean over the neighbours on the same surface: nine differently turned sampling patterns.
static void mean_seen(const strip *rows, int middle, float *mean)
{
    const int8_t *own = rows->id[middle];
    float count[W];
    for (int x = 0; x < W; x++)
        mean[x] = count[x] = 0;
    for (int row = 0; row < 3; row++) {
        for (int step = 0; step < 3; step++) {
            const int8_t *id = rows->id[row] + step;
            const float *seen = rows->seen[row] + step;
            for (int x = 0; x < W; x++) {
                float same = id[x] == own[x + 1] ? 1.0f : 0.0f;
                mean[x] += same * seen[x];
                count[x] += same;
            }
        }
    }
    for (int x = 0; x < W; x++)
        mean[x] /= count[x];
}

static void paint(const picture *p, int8_t *id, uint8_t *rgb)
{
    strip rows;
    float t[W], mean[W];
    int total[BLOCKS_MAX] = {0};
    memset(rows.id, NO_SURFACE, sizeof rows.id);
    memset(rows.seen, 0, sizeof rows.seen);
    // Rows are shaded one row after they are traced, so that both neighbours are known.
    for (int y = 0; y <= H; y++) {
        if (y < H) {
            trace_row(&p->view, p->studio.solid, p->studio.count, y, id + y * W, t, total);
            trace_points(p, y, id + y * W, t, y % 3, &rows);
        } else {
            memset(rows.id[y % 3], NO_SURFACE, sizeof rows.id[0]);
        }
        int now = y - 1;
        if (now < 0)
            continue;
        mean_seen(&rows, now % 3, mean);
        for (int x = 0; x < W; x++) {
            int here = now * W + x;
            blocks_point *point = &rows.point[now % 3][x];
            point->seen = mean[x];
            put(p, develop(p, point, id[here], (float)x + 0.5f, (float)now + 0.5f), rgb + here * 3);
        }
    }
}

static int contrast(const uint8_t *a, const uint8_t *b)
{
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
}

// On the border between two solids, a solid and the table, two faces, or within a sharp mirror
// image.
static int is_edge(const int8_t *id, const uint8_t *rgb, int x, int y)
{
    static const int STEP_X[4] = {1, -1, 0, 0}, STEP_Y[4] = {0, 0, 1, -1};
    int here = y * W + x;
    for (int i = 0; i < 4; i++) {
        int nx = x + STEP_X[i], ny = y + STEP_Y[i], there = ny * W + nx;
        if (nx >= 0 && nx < W && ny >= 0 && ny < H &&
            (id[there] != id[here] ||
             (id[here] >= 0 && contrast(rgb + here * 3, rgb + there * 3) > EDGE_CONTRAST)))
            return 1;
    }
    return 0;
}

static void smooth_pixel(const picture *p, int x, int y, uint8_t *rgb)
{
    static const float AT[EDGE_SAMPLES][2] = {{0.08f, 0.42f}, {0.25f, 0.92f}, {0.42f, 0.25f},
                                              {0.58f, 0.75f}, {0.75f, 0.08f}, {0.92f, 0.58f}};
    uint32_t mask = solids_at(p->view.solid, p->studio.count, x, y);
    vec sum = {0, 0, 0};
    for (int i = 0; i < EDGE_SAMPLES; i++) {
        float px = (float)x + AT[i][0], py = (float)y + AT[i][1], t;
        int id = blocks_studio_hit(&p->studio, mask, p->view.eye, ray(&p->view, px, py), &t);
        uint32_t shade;
        blocks_point point = surface(p, px, py, id, t, &shade);
        point.seen = blocks_studio_seen(&p->studio, shade, point.at, (float)i / EDGE_SAMPLES,
                                        EDGE_SHADOW_SAMPLES);
        sum += develop(p, &point, id, px, py);
    }
    put(p, sum * (1.0f / EDGE_SAMPLES), rgb);
}

void blocks_render(const blocks_scene *scene, uint8_t *rgb)
{
    picture p;
    int8_t id[H * W];
    uint8_t edge[H * W];
    init_picture(scene, &p);
    paint(&p, id, rgb);
    for (int i = 0; i < H * W; i++)
        edge[i] = (uint8_t)is_edge(id, rgb, i % W, i / W);
    for (int i = 0; i < H * W; i++)
        if (edge[i])
            smooth_pixel(&p, i % W, i / W, rgb + i * 3);
}
