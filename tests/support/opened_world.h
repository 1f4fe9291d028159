// One small world (tiny_world.h) for a test program, opened.
#ifndef VD_TEST_OPENED_WORLD_H
#define VD_TEST_OPENED_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/tiny_world.h"
#include "tui/session/session.h"

static tiny_world tiny;
static vd_world *world;

static inline int open_world(void **state)
{
    (void)state;
    vd_error err = {0};
    tiny_world_make(&tiny);
    assert_int_equal(
        vd_world_open_files(&(vd_world_files){.directory = tiny.directory}, &world, &err), VD_OK);
    return 0;
}

static inline int close_world(void **state)
{
    (void)state;
    vd_world_close(world);
    tiny_world_remove(&tiny);
    return 0;
}

#endif
