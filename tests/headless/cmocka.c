#include "tests/headless/cmocka.h"

jmp_buf headless_failed;
