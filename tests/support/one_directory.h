// One temporary directory for a test program: made before its tests, removed after them.
#ifndef VD_TEST_ONE_DIRECTORY_H
#define VD_TEST_ONE_DIRECTORY_H

#include <stdlib.h>

#include "tests/support/support.h"

static char *directory;

static inline int make_directory(void **state)
{
    (void)state;
    directory = support_temp_dir();
    return 0;
}

static inline int remove_directory(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    return 0;
}

#endif
