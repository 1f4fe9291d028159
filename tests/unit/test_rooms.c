// The check of who may use whom (tests/rooms), on trees that break its rules.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/support/one_directory.h"

static void folders(const char *path)
{
    char part[512];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%s/%.*s", directory, (int)(slash - path), path);
        mkdir(part, 0755);
    }
}

static void write_source(const char *path, const char *text)
{
    folders(path);
    char *full = support_join(directory, path);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(full);
}

// What the check says of the tree, and its exit status.
static int check(const char *build, char *out, size_t size)
{
    char command[1200];
    snprintf(command, sizeof command, "tests/rooms --root '%s' %s%s", directory,
             *build ? directory : "", build);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    out[fread(out, 1, size - 1, pipe)] = 0;
    return pclose(pipe) >> 8;
}

static void expect(const char *build, const char *breach)
{
    char out[4096];
    int code = check(build, out, sizeof out);
    if (code != (breach != NULL) || (breach && !strstr(out, breach)))
        fail_msg("status %d, expected %s: %s", code, breach ? breach : "no breach", out);
}

static void compile(const char *path)
{
    char command[1200];
    char object[256];
    snprintf(object, sizeof object, "build/%s", path);
    folders(object);
    snprintf(command, sizeof command, "cd '%s' && cc -I. -c -o build/%.*s.o %s", directory,
             (int)strlen(path) - 2, path, path);
    assert_int_equal(system(command), 0); // NOLINT: a command of our own
}

static void an_include_goes_down_only(void **state)
{
    (void)state;
    write_source("engine/base/low.h", "int low(void);\n");
    write_source("engine/model/high.h", "#include \"engine/base/low.h\"\nint high(void);\n");
    write_source("features/text/words.c", "#include \"engine/model/high.h\"\n");
    expect("", NULL);
    write_source("engine/base/low.c", "\n#include \"engine/model/high.h\"\n");
    expect("", "engine/base/low.c:2: engine/base may not include engine/model/high.h");
    write_source("engine/base/low.c", "#include \"features/text/words.h\"\n");
    expect("", "\"features/text/words.h\" is not a path");
    write_source("features/text/words.h", "\n");
    expect("", "engine/base may not include features/text/words.h");
    write_source("engine/base/low.c",
                 "#include \"engine/base/low.h\"\nint low(void) { return 1; }\n");
    expect("", NULL);
}

static void a_circle_without_an_include_is_found_too(void **state)
{
    (void)state;
    write_source("engine/model/high.c",
                 "#include \"engine/model/high.h\"\nint high(void) { return low(); }\n");
    compile("engine/base/low.c");
    compile("engine/model/high.c");
    expect("/build", NULL);
    write_source("engine/base/low.c", "int high(void);\nint low(void) { return high(); }\n");
    compile("engine/base/low.c");
    expect("", NULL);
    expect("/build", "engine/base/low.c: uses high of engine/model/high.c, which is above it");
    // A function of which there is one for each processor, chosen when the program starts.
    write_source("engine/model/wide.c", "static int one(void) { return 1; }\n"
                                        "static int (*choose(void))(void) { return one; }\n"
                                        "int wide(void) __attribute__((ifunc(\"choose\")));\n");
    write_source("engine/base/low.c", "int wide(void);\nint low(void) { return wide(); }\n");
    compile("engine/base/low.c");
    compile("engine/model/wide.c");
    expect("/build", "engine/base/low.c: uses wide of engine/model/wide.c, which is above it");
}

static void the_parts_of_a_room_have_an_order_and_no_circle(void **state)
{
    (void)state;
    write_source("engine/base/low.c", "int low(void) { return 1; }\n");
    compile("engine/base/low.c");
    write_source("tui/chat/lanes/low.c", "int ask(void) { return 1; }\n");
    write_source("tui/chat/lanes/low.h", "int ask(void);\n");
    write_source("tui/chat/views/high.h", "#include \"tui/chat/lanes/low.h\"\nint draw(void);\n");
    write_source("tui/chat/top.c", "#include \"tui/chat/views/high.h\"\n");
    expect("", NULL);
    write_source("tui/chat/lanes/up.c", "#include \"tui/chat/views/high.h\"\n");
    expect("", "tui/chat/lanes/up.c:1: tui/chat/lanes may not include tui/chat/views/high.h");
    write_source("tui/chat/lanes/up.c", "int ask(void);\nint pump(void) { return ask(); }\n");
    compile("tui/chat/lanes/low.c");
    compile("tui/chat/lanes/up.c");
    expect("/build", NULL);
    write_source("tui/chat/lanes/low.c", "int pump(void);\nint ask(void) { return pump(); }\n");
    compile("tui/chat/lanes/low.c");
    expect("/build",
           "a circle: tui/chat/lanes/low.c -> tui/chat/lanes/up.c -> tui/chat/lanes/low.c");
    write_source("tui/chat/lanes/low.c", "int ask(void) { return 1; }\n");
    compile("tui/chat/lanes/low.c");
    write_source("tui/chat/attic/old.c", "\n");
    expect("", "tui/chat/attic is no part");
    char *old = support_join(directory, "tui/chat/attic/old.c");
    assert_int_equal(remove(old), 0);
    free(old);
}

static void the_parts_of_networks_have_an_order_and_what_lies_beside_them_none(void **state)
{
    (void)state;
    write_source("engine/networks/text/text.c", "#include \"engine/networks/table.h\"\n"
                                                "int table(void);\n"
                                                "int text(void) { return table(); }\n");
    write_source("engine/networks/table.h", "int table(void);\n");
    write_source("engine/networks/table.c",
                 "int text(void);\nint table(void) { return text(); }\n");
    compile("engine/networks/text/text.c");
    compile("engine/networks/table.c");
    expect("/build", NULL);
    write_source("engine/networks/mvan/words.c", "int words(void) { return 1; }\n");
    write_source("engine/networks/text/text.c", "int words(void);\n"
                                                "int text(void) { return words(); }\n");
    compile("engine/networks/mvan/words.c");
    compile("engine/networks/text/text.c");
    expect("/build", "engine/networks/text/text.c: uses words of engine/networks/mvan/words.c, "
                     "which is above it");
    write_source("engine/networks/text/text.c", "int text(void) { return 1; }\n");
    compile("engine/networks/text/text.c");
    expect("/build", NULL);
}

static void a_room_that_nobody_planned_is_refused(void **state)
{
    (void)state;
    write_source("engine/attic/old.c", "\n");
    expect("", "engine/attic is no room");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_include_goes_down_only),
        cmocka_unit_test(a_circle_without_an_include_is_found_too),
        cmocka_unit_test(the_parts_of_a_room_have_an_order_and_no_circle),
        cmocka_unit_test(the_parts_of_networks_have_an_order_and_what_lies_beside_them_none),
        cmocka_unit_test(a_room_that_nobody_planned_is_refused),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
