// One small world (tiny_world.h) for a test program, which the program under test finds.
#ifndef VD_TEST_ONE_WORLD_H
#define VD_TEST_ONE_WORLD_H

#include <stdlib.h>

#include "tests/support/tiny_world.h"

static tiny_world tiny;

static inline int make_tiny(void **state)
{
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    return 0;
}

static inline int remove_tiny(void **state)
{
    (void)state;
    tiny_world_remove(&tiny);
    return 0;
}

#endif
