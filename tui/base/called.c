#include "tui/base/called.h"

#include <string.h>

static const char *called = "visdial";

void vd_called_as(const char *name)
{
    if (strchr(name, '/'))
        called = name;
}

const char *vd_called(void)
{
    return called;
}
