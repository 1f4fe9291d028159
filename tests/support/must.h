// What a test goes on from: a call that must succeed, or the test fails with what it said.
#ifndef VD_TEST_MUST_H
#define VD_TEST_MUST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/error.h"

static inline void must(vd_status status, const vd_error *err)
{
    if (status != VD_OK)
        fail_msg("%s", err->text);
}

#endif
