// The cases in a real terminal.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/support.h"
#include "tests/support/terminal.h"

static void cases_are_gone_through(void **state)
{
    (void)state;
    char command[1024];
    snprintf(command, sizeof command, "compare --quiet --data %s --features %s --screen",
             terminal_world.val, terminal_world.features);
    start_command("", command);
    await("1 of 12");
    tell("send-keys -t chat Down Enter");
    await("2 of 12");
    await("Regions ");
    await("picture ");
    tell("send-keys -t chat s");
    await(" find>");
    tell("send-keys -t chat 'ball' Enter");
    await(" of 8");
    tell("send-keys -t chat q");
    expect_restored("[exit 0]");
    snprintf(command, sizeof command, "replay --data %s --features %s --screen --image 3",
             terminal_world.val, terminal_world.features);
    start_command("", command);
    await("picture 3, round 1 of 3");
    tell("send-keys -t chat n");
    await("picture 3, round 2 of 3");
    tell("send-keys -t chat C-d");
    expect_restored("[exit 0]");
}

// Cases of four models, one of them open with its attentions.
static void start_cases(const char *environment)
{
    char command[1024];
    snprintf(command, sizeof command,
             "compare --quiet --resamples 100 --model base --model improved --model %s --model %s "
             "--data %s --features %s --screen",
             terminal_world.base, terminal_world.improved, terminal_world.val,
             terminal_world.features);
    start_command(environment, command);
    await("1 of 12");
    tell("send-keys -t chat Enter");
    await("Regions ");
    await("3 of 4 models");
}

static void look_at_attentions(bool coloured)
{
    assert_int_equal(is_coloured(), coloured);
    tell("send-keys -t chat a");
    await("History: weight of each round");
    assert_int_equal(is_coloured(), coloured);
    tell("send-keys -t chat Tab Right");
    await("improved ");
    tell("send-keys -t chat a");
    await("Regions ");
}

static void cases_are_shown_on_every_terminal(void **state)
{
    (void)state;
    static const char *const themes[] = {"light", "dark", "mono", "safe", "auto"}; // as 't' goes
    char environment[600];
    start_cases("NO_COLOR=1");
    look_at_attentions(false);
    tell("send-keys -t chat q");
    expect_restored("[exit 0]");
    static const char *const names[] = {"linux", "vt100", "xterm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(environment, sizeof environment, "ASAN_OPTIONS=detect_leaks=0 TERM=%s", names[i]);
        start_cases(environment);
        look_at_attentions(strcmp(names[i], "vt100") != 0);
        tell("send-keys -t chat q");
        await("[exit 0]");
    }
    describe_16_colours(environment, sizeof environment);
    start_cases(environment);
    for (size_t i = 0; i < sizeof themes / sizeof *themes; i++) {
        char said[64];
        tell("send-keys -t chat t");
        snprintf(said, sizeof said, "theme %s; ", themes[i]);
        await(said);
        look_at_attentions(strcmp(themes[i], "mono") != 0);
        char *screen = tmux("capture-pane -e -p -t chat");
        assert_null(strstr(screen, "38;5;1")); // nothing of 256
        assert_null(strstr(screen, "38;5;2"));
        free(screen);
    }
    tell("resize-window -t chat -x 40 -y 12");
    await("2 of 4 models");
    tell("resize-window -t chat -x 20 -y 6");
    await("visdial needs");
    tell("resize-window -t chat -x 120 -y 40");
    await("so far");
    tell("send-keys -t chat C-c");
    expect_restored("[exit 0]");
    start_cases("LC_ALL=C");
    char *screen = tmux("capture-pane -p -t chat");
    for (const char *at = screen; *at; at++)
        assert_in_range((unsigned char)*at, '\n', '~');
    free(screen);
    start_command("TERM=dumb", "compare --quiet --limit 2 --screen");
    await("[end]");
    assert_true(shows("cannot place the cursor; omit"));
    assert_true(shows("[exit 8]"));
    start_command("TERM=dumb", "replay --image 1 --screen");
    await("[end]");
    assert_true(shows("cannot place the cursor; omit"));
    assert_true(shows("[exit 8]"));
    // Text alone goes anywhere.
    start_program("TERM=dumb", "replay --assets %s --data %s --features %s --image 1",
                  terminal_world.directory, terminal_world.val, terminal_world.features);
    await("[end]");
    assert_true(shows("[exit 0]"));
}

// However the person goes, or the program is ended: from the list, a case, its attentions.
static void leaving_gives_the_terminal_back(void **state)
{
    (void)state;
    static const struct {
        const char *keys; // before
        const char *leave;
        int signal;
        const char *code;
    } ways[] = {
        {"a", "q", 0, "[exit 0]"},          {"Enter", "C-d", 0, "[exit 0]"},
        {"a", "C-c", 0, "[exit 0]"},        {"?", "C-c", 0, "[exit 0]"},
        {"s", "C-d", 0, "[exit 0]"},        {"/", "quit Enter", 0, "[exit 0]"},
        {"a", NULL, SIGTERM, "[exit 143]"}, {"Enter", NULL, SIGHUP, "[exit 129]"},
        {"a", NULL, SIGSEGV, "[exit 139]"}, {"/", NULL, SIGABRT, "[exit 134]"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        start_cases("ASAN_OPTIONS=handle_segv=0:handle_abort=0");
        expect_format("#{alternate_on}", "1");
        free(tmux("send-keys -t chat %s", ways[i].keys));
        if (ways[i].leave)
            free(tmux("send-keys -t chat %s", ways[i].leave));
        else
            assert_int_equal(kill(program_pid(), ways[i].signal), 0);
        expect_restored(ways[i].code);
    }
    start_cases("");
    expect_end_with_terminal();
}

static void the_configuration_goes_for_cases_too(void **state)
{
    (void)state;
    configure("theme = mono\nmouse = off\n");
    start_cases("");
    assert_false(is_coloured());
    expect_format("#{mouse_any_flag}", "0");
    tell("send-keys -t chat t"); // mono is followed by safe
    await("theme safe");
    assert_true(is_coloured());
    configure("theme = pink\n");
    start_command("", "compare --quiet --limit 2 --screen"); // said, and no reason not to start
    await("1 of 6");
    tell("send-keys -t chat q");
    await("[end]");
    assert_true(shows("found theme = 'pink'"));
    assert_true(shows("[exit 0]"));
    configure("");
    start_cases("");
    expect_format("#{mouse_any_flag}", "1");
    tell("send-keys -t chat q");
    expect_restored("[exit 0]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_are_gone_through),
        cmocka_unit_test(cases_are_shown_on_every_terminal),
        cmocka_unit_test(leaving_gives_the_terminal_back),
        cmocka_unit_test(the_configuration_goes_for_cases_too),
    };
    return cmocka_run_group_tests(tests, terminal_open, terminal_close);
}
