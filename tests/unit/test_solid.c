// Rays meet the four solids where the solids are.
#include "assets/blocks/solid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/base/rng.h"

enum { RAYS = 4000 };

static blocks_solid draw_solid(vd_rng *rng, blocks_shape shape)
{
    blocks_object object = {.shape = shape,
                            .x = vd_rng_range(rng, -2, 2),
                            .y = vd_rng_range(rng, -2, 2),
                            .rotation = vd_rng_range(rng, 0, 6.3),
                            .radius = vd_rng_range(rng, 0.3, 0.9)};
    blocks_solid s;
    blocks_solid_init(&object, &s);
    return s;
}

// How far a point is inside a solid, written down from the solid's definition: positive inside,
// negative outside, in table units or thereabouts.
static double depth_in(const blocks_solid *s, vec p)
{
    double x = p[0] - s->x, y = p[1] - s->y, axis = hypot(x, y);
    double slab = fmin((double)p[2], (double)(s->height - p[2]));
    double u = fabs(s->cos * x + s->sin * y), v = fabs(s->cos * y - s->sin * x);
    switch (s->shape) {
    case BLOCKS_CUBE:
        return fmin(slab, s->radius - fmax(u, v));
    case BLOCKS_BALL:
        return s->radius - sqrt(axis * axis + (p[2] - s->radius) * (p[2] - s->radius));
    case BLOCKS_CYLINDER:
        return fmin(slab, s->radius - axis);
    default:
        return fmin(slab, s->radius * (1 - p[2] / s->height) - axis);
    }
}

// A ray from somewhere above the table, outside the solid, towards its neighbourhood.
static void draw_ray(vd_rng *rng, const blocks_solid *s, vec *origin, vec *direction)
{
    do {
        *origin = (vec){s->x + (float)vd_rng_range(rng, -4, 4),
                        s->y + (float)vd_rng_range(rng, -4, 4), (float)vd_rng_range(rng, 0, 4)};
    } while (depth_in(s, *origin) > -0.01);
    vec target = {s->x + (float)vd_rng_range(rng, -1.2, 1.2),
                  s->y + (float)vd_rng_range(rng, -1.2, 1.2), (float)vd_rng_range(rng, -0.5, 2)};
    *direction = (target - *origin) * (float)vd_rng_range(rng, 0.2, 1);
}

static void a_ray_enters_where_the_solid_begins(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(1, 0);
    for (int shape = 0; shape < BLOCKS_SHAPES; shape++) {
        int hits = 0;
        for (int i = 0; i < RAYS; i++) {
            blocks_solid s = draw_solid(&rng, (blocks_shape)shape);
            vec origin, direction;
            draw_ray(&rng, &s, &origin, &direction);
            float t = blocks_solid_hit(&s, origin, direction);
            // No point of the ray before t is inside by more than rounding.
            double end = t < BLOCKS_MISS ? t : 40;
            for (int step = 0; step < 500; step++) {
                vec p = origin + direction * (float)(end * step / 500);
                assert_true(depth_in(&s, p) < 2e-3);
            }
            if (t < BLOCKS_MISS) {
                hits++;
                assert_true(t > 0);
                assert_true(fabs(depth_in(&s, origin + direction * t)) < 2e-3);
            }
        }
        assert_in_range(hits, RAYS / 20, RAYS - RAYS / 20);
    }
}

static void a_normal_is_of_unit_length_and_points_outwards(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(2, 0);
    for (int i = 0; i < BLOCKS_SHAPES * RAYS; i++) {
        blocks_solid s = draw_solid(&rng, (blocks_shape)(i % BLOCKS_SHAPES));
        vec origin, direction;
        draw_ray(&rng, &s, &origin, &direction);
        float t = blocks_solid_hit(&s, origin, direction);
        vec at = origin + direction * t;
        if (t < BLOCKS_MISS && at[2] > 0.01f) { // the underside is never seen
            vec normal = blocks_solid_normal(&s, at);
            assert_float_equal(vec_dot(normal, normal), 1, 1e-3);
            assert_true(depth_in(&s, at + normal * 0.02f) < 0.002);
        }
    }
}

static void the_bounding_sphere_holds_the_solid(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(3, 0);
    for (int i = 0; i < BLOCKS_SHAPES * RAYS; i++) {
        blocks_solid s = draw_solid(&rng, (blocks_shape)(i % BLOCKS_SHAPES));
        vec p = {s.x + (float)vd_rng_range(&rng, -1.4, 1.4),
                 s.y + (float)vd_rng_range(&rng, -1.4, 1.4), (float)vd_rng_range(&rng, 0, 2)};
        if (depth_in(&s, p) > 0) {
            vec off = p - s.bound;
            assert_true(sqrtf(vec_dot(off, off)) <= s.bound_radius * 1.001f);
            assert_true(hypotf(off[0], off[1]) <= s.reach * 1.001f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ray_enters_where_the_solid_begins),
        cmocka_unit_test(a_normal_is_of_unit_length_and_points_outwards),
        cmocka_unit_test(the_bounding_sphere_holds_the_solid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
