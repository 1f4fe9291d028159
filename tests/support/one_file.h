// One temporary directory for a test program and in it the path of a file, whose name ONE_FILE says
// before this is included.
#ifndef VD_TEST_ONE_FILE_H
#define VD_TEST_ONE_FILE_H

#include "tests/support/one_directory.h"

static char *path;

static inline int make_file(void **state)
{
    make_directory(state);
    path = support_join(directory, ONE_FILE);
    return 0;
}

static inline int remove_file(void **state)
{
    free(path);
    return remove_directory(state);
}

#endif
