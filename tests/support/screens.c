#include "tests/support/screens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/support.h"

void screens_expect(const char *name, char *played)
{
    char path[256];
    snprintf(path, sizeof path, "tests/screen/expected/%s.txt", name);
    if (getenv("VISDIAL_UPDATE")) {
        support_write_text(path, played);
    } else {
        char *expected = support_read_file(path, NULL);
        if (strcmp(played, expected) != 0)
            print_message("%s: the screens differ; played:\n%s", path, played);
        assert_string_equal(played, expected);
        free(expected);
    }
    free(played);
}
