// The chat in a real terminal.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <glib.h>

#include "engine/base/alloc.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/terminal.h"
#include "tui/train/event_file.h"

static void start(const char *environment)
{
    start_command(environment, "chat");
}

static void a_question_is_answered(void **state)
{
    (void)state;
    start("");
    await("Type a question and press Enter");
    await("base  cpu");
    tell("send-keys -t chat 'what color is the ball?'");
    await("> what color is the ball?");
    tell("send-keys -t chat Enter");
    await("Best of 4 in pool.txt");
    await(" 1 what color is the ball?");
    tell("send-keys -t chat 'and the cube?' Enter");
    await(" 2 and the cube?");
    await("1 what");
    tell("send-keys -t chat M-Up");
    await("Round 1: best of 4");
    tell("send-keys -t chat F5");
    await("History: weight of each round");
    assert_false(shows("#1") || shows("S>")); // all words are known; nobody said <S>
    tell("send-keys -t chat Escape");         // alone: with a key behind it, it would be Alt
    await("Round 1: best of 4");
    tell("send-keys -t chat F3");
    await(" was: "); // it was asked again
    assert_true(shows("improved  cpu"));
    tell("send-keys -t chat C-d");
    expect_restored("[exit 0]");
}

// By tmux itself: by default it takes no sequences.
static void an_answer_is_copied_and_the_conversation_written(void **state)
{
    (void)state;
    char *directory = support_temp_dir(), *page = support_join(directory, "chat.html"), line[400];
    start("");
    await("base  cpu");
    tell("send-keys -t chat 'what color is the ball?' Enter");
    await("Best of 4 in pool.txt");
    tell("send-keys -t chat '/copy round' Enter");
    await("copied to the terminal");
    bool there = false; // it is said, and then done
    for (int i = 0; i < 200 && !there; i++) {
        char *copied = tmux("show-buffer");
        there = strncmp(copied, "Q: what color is the ball?\nA: ", 30) == 0;
        free(copied);
        usleep(50000);
    }
    assert_true(there);
    snprintf(line, sizeof line, "send-keys -t chat '/export html %s' Enter", page);
    tell(line);
    await("the conversation is in");
    assert_true(support_exists(page));
    tell("send-keys -t chat C-d");
    expect_restored("[exit 0]");
    support_remove_tree(directory);
    free(page);
    free(directory);
}

static void two_models_answer_side_by_side(void **state)
{
    (void)state;
    start("");
    await("base  cpu");
    tell("send-keys -t chat 'what color is the ball?' Enter");
    await("Best of 4 in pool.txt");
    tell("send-keys -t chat F10");
    await("improved  shared answers");
    await("improved against base: ");
    tell("send-keys -t chat 'and the cube?' Enter");
    await("Round 2: and the cube?");
    await("improved against base: ");
    tell("send-keys -t chat Right M-h");
    await("improved  own answers");
    tell("send-keys -t chat M-Up");
    await("Round 1: what color is the ball?");
    tell("send-keys -t chat M-e");
    await("round 1> what color is the ball?");
    tell("send-keys -t chat C-u 'is it red?' Enter");
    await("rounds 1 to 2 were asked again");
    await("branch 2/2");
    tell("resize-window -t chat -x 40 -y 12");
    await(" own");
    tell("resize-window -t chat -x 120 -y 40");
    await(", distance ");
    tell("send-keys -t chat Escape");
    await("Round 1: best of 4");
    tell("send-keys -t chat M-n");
    await("branch 1/2");
    tell("send-keys -t chat C-d");
    expect_restored("[exit 0]");
}

static void an_answer_is_walked_through(void **state)
{
    (void)state;
    start("");
    await("base  cpu");
    tell("send-keys -t chat 'what color is the ball?' Enter");
    await("Best of 4 in pool.txt");
    tell("send-keys -t chat F12");
    await("1/9 Word states");
    static const char *const stages[] = {
        "2/9 Context matching", "3/9 Topic aggregation", "4/9 Topic view", "5/9 Context view",
        "6/9 Fusion",           "7/9 Candidate scores",  "8/9 Softmax",    "9/9 What if?"};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        tell("send-keys -t chat Right");
        await(stages[i]);
    }
    await("[ ] region 2");
    tell("send-keys -t chat Enter");
    await("[x] region 2");
    tell("resize-window -t chat -x 40 -y 12");
    await("attention points");
    assert_true(shows("[x] region 2"));
    tell("resize-window -t chat -x 10 -y 5");
    await("40x12;");
    tell("resize-window -t chat -x 120 -y 40");
    await("[x] region 2");
    tell("send-keys -t chat Left");
    await("changed: region 2");
    tell("send-keys -t chat Right Down Enter");
    await("[x] region 1");
    tell("send-keys -t chat Delete");
    await("[ ] region 2");
    assert_true(shows("[ ] region 1"));
    tell("send-keys -t chat '/what-if picture' Enter");
    await("[x] picture blank");
    tell("send-keys -t chat C-u 'and the cube?' Enter"); // a question asked here is answered here
    await("[ ] picture blank");
    tell("send-keys -t chat Escape");
    await(" 2 and the cube?");
    assert_false(shows("What if?"));
    tell("send-keys -t chat F12");
    await("/9 ");
    tell("send-keys -t chat C-d"); // leaves from there, too
    expect_restored("[exit 0]");
}

static void resizing_down_to_nothing_and_back_keeps_the_chat(void **state)
{
    (void)state;
    start("");
    await("base  cpu");
    tell("send-keys -t chat 'what color is it?' Enter");
    await("Best of");
    tell("resize-window -t chat -x 10 -y 5");
    await("40x12;");
    tell("resize-window -t chat -x 120 -y 40");
    await("F12 walk");
    tell("resize-window -t chat -x 40 -y 12");
    await("Best of");
    tell("resize-window -t chat -x 80 -y 24");
    await("F5 attention");
    assert_true(shows("what color is it?"));
    tell("send-keys -t chat '/quit' Enter");
    expect_restored("[exit 0]");
}

static void signals_leave_the_terminal_as_it_was(void **state)
{
    (void)state;
    const int signals[] = {SIGTERM, SIGHUP,  SIGSEGV, SIGABRT,  SIGTRAP,     SIGUSR1,
                           SIGALRM, SIGXCPU, SIGSYS,  SIGRTMIN, SIGRTMIN + 8};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char code[32];
        start("ASAN_OPTIONS=handle_segv=0:handle_abort=0");
        await("base  cpu");
        expect_format("#{alternate_on}", "1");
        assert_int_equal(kill(program_pid(), signals[i]), 0);
        snprintf(code, sizeof code, "[exit %d]", 128 + signals[i]);
        expect_restored(code);
    }
}

// Starts the chat as a job of a shell, which goes on when the job stops and brings it back after a
// line was typed.
static void start_job(void)
{
    char script[2048];
    const char *program = getenv("VISDIAL_BIN");
    char *path = support_join(terminal_directory, "job.sh");
    snprintf(script, sizeof script,
             "set -m\nenv -u NO_COLOR XDG_STATE_HOME='%s' XDG_CONFIG_HOME='%s/config'"
             " TERM=tmux-256color sh -c 'echo $$ >%s/pid; exec %s --assets %s'\n"
             "echo \"[stopped $?]\"\nread line\necho \"[typed $line]\"\nfg >%s/fg\n"
             "echo \"[exit $?]\"\nexec cat\n",
             terminal_directory, terminal_directory, terminal_directory,
             program ? program : "build/visdial", terminal_world.directory, terminal_directory);
    support_write_text(path, script);
    tell("kill-session -t chat");
    free(tmux("new-session -d -s chat -x 80 -y 24 'sh %s'", path));
    free(path);
    await("base  cpu");
}

// However it was stopped: the terminal is the shell's meanwhile, and the screen comes back at once.
static void a_stopped_chat_is_drawn_again_at_once(void **state)
{
    (void)state;
    for (int by_signal = 0; by_signal < 2; by_signal++) {
        start_job();
        if (by_signal)
            assert_int_equal(kill(program_pid(), SIGTSTP), 0);
        else
            tell("send-keys -t chat C-z");
        await("[stopped ");
        expect_format("#{alternate_on}", "0");
        tell("set-buffer 'a line'");
        tell("paste-buffer -p -t chat"); // with marks around it where a program asked for them
        tell("send-keys -t chat Enter");
        await("base  cpu");
        expect_format("#{alternate_on}", "1");
        tell("send-keys -t chat /quit Enter");
        await("[exit 0]");
        assert_true(shows("[typed a line]"));
    }
}

// Whether the program ends; it may wait for its shell to notice.
static bool ends(pid_t program)
{
    char path[64], *text = NULL;
    bool ended = false;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)program);
    for (int i = 0; i < 500 && !ended; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        const char *behind =
            g_file_get_contents(path, &text, NULL, NULL) ? strrchr(text, ')') : NULL;
        ended = !behind || behind[2] == 'Z';
        g_free(text);
        text = NULL;
    }
    return ended;
}

// `kill %1`: the terminal is the shell's, and nothing is written to it.
static void a_stopped_chat_can_be_ended(void **state)
{
    (void)state;
    start_job();
    tell("send-keys -t chat C-z");
    await("[stopped ");
    pid_t program = program_pid();
    assert_int_equal(kill(program, SIGTERM), 0);
    assert_int_equal(kill(program, SIGCONT), 0);
    assert_true(ends(program));
    assert_true(shows("[stopped "));
    tell("send-keys -t chat Enter");
    await("[exit ");
}

static void closing_the_terminal_ends_the_program(void **state)
{
    (void)state;
    static const char *const before[] = {"", "env --ignore-signal=HUP"}; // as nohup has it
    for (int i = 0; i < 2; i++) {
        start(before[i]);
        await("base  cpu");
        expect_end_with_terminal();
    }
}

static void questions_of_an_earlier_chat_are_in_the_history(void **state)
{
    (void)state;
    start("");
    await("base  cpu");
    tell("send-keys -t chat 'which cube is older?' Enter");
    await(" 1 which cube is older?");
    tell("send-keys -t chat C-d");
    await("[exit 0]");
    start("");
    await("base  cpu");
    tell("send-keys -t chat Up");
    await("> which cube is older?");
    tell("send-keys -t chat C-u C-d");
    await("[exit 0]");
}

static void pasting_lines_asks_nothing_before_enter(void **state)
{
    (void)state;
    start("");
    await("base  cpu");
    tell("set-buffer 'what color\nis it?'");
    tell("paste-buffer -p -t chat");
    await("2 lines were pasted: Enter asks them one after another");
    tell("send-keys -t chat Enter");
    await(" 2 is it?");
    tell("send-keys -t chat C-d");
    await("[exit 0]");
}

// 100 kB: a screen is not drawn for every letter of them, and what was left out is said.
static void a_large_paste_is_taken_in_one_go(void **state)
{
    (void)state;
    enum { BYTES = 100000 };
    char *path = support_join(terminal_directory, "paste.txt"), *text = malloc(BYTES + 1);
    assert_non_null(text);
    for (int i = 0; i < BYTES; i++)
        text[i] = "what is it "[i % 11];
    text[BYTES] = '\0';
    support_write_text(path, text);
    start("");
    await("base  cpu");
    free(tmux("load-buffer '%s'", path));
    tell("paste-buffer -p -t chat");
    await("a line holds 2000 bytes: the last 98000 characters were not pasted");
    tell("send-keys -t chat Enter");
    await("not seen"); // words beyond what the model takes
    tell("send-keys -t chat C-d");
    await("[exit 0]");
    free(text);
    free(path);
}

// After a question: walk, what-if and comparison, by commands, which every terminal can send.
// coloured: whether their screens have colours.
static void look_at_walk_and_compare(bool coloured)
{
    tell("send-keys -t chat '/walk' Enter");
    await("1/9 Word states");
    assert_int_equal(is_coloured(), coloured);
    tell("send-keys -t chat '/what-if region 1' Enter");
    await("[x] region 1");
    assert_int_equal(is_coloured(), coloured);
    tell("send-keys -t chat '/compare' Enter");
    await(" against ");
    assert_int_equal(is_coloured(), coloured);
}

static void no_color_is_respected_when_it_is_not_empty(void **state)
{
    (void)state;
    start("NO_COLOR=1");
    await("base  cpu");
    assert_false(is_coloured());
    tell("send-keys -t chat 'what color is it?' Enter");
    await("Best of");
    assert_false(is_coloured());
    look_at_walk_and_compare(false);
    start("NO_COLOR=");
    await("base  cpu");
    assert_true(is_coloured());
    tell("send-keys -t chat 'what color is it?' Enter");
    await("Best of");
    look_at_walk_and_compare(true);
}

static void a_locale_without_utf_8_gets_ascii(void **state)
{
    (void)state;
    start("LC_ALL=C");
    await("base  cpu");
    tell("send-keys -t chat 'what color is it?' Enter");
    await("Best of");
    static const char *const places[][2] = {{"/attention", "Regions: share"},
                                            {"/walk", "1/9 Word states"},
                                            {"/what-if region 1", "[x] region 1"},
                                            {"/compare", " against "}};
    for (size_t i = 0; i <= sizeof places / sizeof *places; i++) {
        char *screen = tmux("capture-pane -p -t chat");
        for (const char *at = screen; *at; at++)
            assert_in_range((unsigned char)*at, '\n', '~');
        free(screen);
        if (i == sizeof places / sizeof *places)
            break;
        free(tmux("send-keys -t chat '%s' Enter", places[i][0]));
        await(places[i][1]);
    }
}

// The rest of a line is not lost behind a byte that is not UTF-8, and UTF-8 is read in any locale.
static void bytes_that_are_not_utf_8_are_shown(void **state)
{
    (void)state;
    char *directory = support_temp_dir(), *name = support_join(directory, "pasted");
    support_write_file(name, "ab\xE9t\xE9 cd caf\xC3\xA9 efg", 19);
    static const char *const locales[] = {"LC_ALL=C.UTF-8", "LC_ALL=C"};
    static const char *const lines[] = {"ab\xEF\xBF\xBDt\xEF\xBF\xBD cd caf\xC3\xA9 efg",
                                        "ab?t? cd caf? efg"};
    for (int i = 0; i < 2; i++) {
        start(locales[i]);
        await("base  cpu");
        free(tmux("load-buffer %s", name));
        free(tmux("paste-buffer -p -t chat"));
        await(lines[i]);
        await("not valid UTF-8: 2 bytes were pasted");
    }
    free(name);
    support_remove_tree(directory);
    free(directory);
}

static void the_configuration_is_read_and_the_command_line_goes_first(void **state)
{
    (void)state;
    configure("theme = mono\nmodel = improved\nmouse = off\n");
    start("");
    await("improved  cpu");
    assert_false(is_coloured());
    expect_format("#{mouse_any_flag}", "0");
    static const char *const themes[] = {"light", "safe", "dark"};
    for (size_t i = 0; i < sizeof themes / sizeof *themes; i++) {
        free(tmux("send-keys -t chat '/theme %s' Enter", themes[i]));
        char said[64];
        snprintf(said, sizeof said, "theme %s; ", themes[i]);
        await(said);
        assert_true(is_coloured());
    }
    tell("send-keys -t chat C-d");
    await("[exit 0]");
    configure("theme = pink\nkey C-g = /walk\n"); // a typo is said, and the chat starts
    start("");
    await("'pink',"); // words that stand in one row
    await("base  cpu");
    tell("send-keys -t chat C-g");
    await("ask something first");
    tell("send-keys -t chat C-d");
    await("[exit 0]");
    configure("model = imporved\n");
    start("");
    await("did you mean improved?");
    await("base  cpu"); // and what comes first in the directory answers
    tell("send-keys -t chat C-d");
    await("[exit 0]");
    configure("");
}

static void other_terminals_work(void **state)
{
    (void)state;
    static const char *const names[] = {"xterm-256color", "xterm", "linux", "vt100", "screen"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char environment[64];
        // On the Linux console curses opens the mouse's library, which leaks ten bytes.
        snprintf(environment, sizeof environment, "ASAN_OPTIONS=detect_leaks=0 TERM=%s", names[i]);
        start(environment);
        await("base  cpu");
        tell("send-keys -t chat 'what color is it?' Enter");
        await("Best of");
        look_at_walk_and_compare(strcmp(names[i], "vt100") != 0);
        tell("send-keys -t chat C-d");
        await("[end]");
        assert_true(shows("[exit 0]\n")); // nothing is left in the row where the shell goes on
    }
}

static void a_terminal_with_16_colours_works_in_every_theme(void **state)
{
    (void)state;
    char environment[600];
    describe_16_colours(environment, sizeof environment);
    start(environment);
    await("base  cpu");
    tell("send-keys -t chat 'what color is it?' Enter");
    await("Best of");
    static const char *const themes[] = {"light", "safe", "mono", "dark"};
    for (size_t i = 0; i < sizeof themes / sizeof *themes; i++) {
        free(tmux("send-keys -t chat '/theme %s' Enter", themes[i]));
        char said[64];
        snprintf(said, sizeof said, "theme %s; ", themes[i]);
        await(said);
        assert_int_equal(is_coloured(), strcmp(themes[i], "mono") != 0);
        char *screen = tmux("capture-pane -e -p -t chat");
        assert_null(strstr(screen, "38;5;1")); // nothing of 256: 16 has no 38;5;16 and beyond
        assert_null(strstr(screen, "38;5;2"));
        free(screen);
    }
    look_at_walk_and_compare(true);
    tell("send-keys -t chat C-d");
    await("[exit 0]");
}

static void terminals_that_cannot_do_it_get_a_message(void **state)
{
    (void)state;
    start("TERM=dumb");
    await("[end]");
    assert_true(shows("cannot place the cursor"));
    assert_true(shows("visdial ask"));
    assert_true(shows("[exit 8]"));
    start("TERM=no-such-terminal");
    await("[end]");
    assert_true(shows("no-such-terminal"));
    assert_true(shows("[exit 8]"));
    start("TERM=");
    await("[end]");
    assert_true(shows("[exit 8]"));
}

static void without_a_terminal_the_command_line_is_suggested(void **state)
{
    (void)state;
    support_program program = {0};
    const char *const arguments[] = {"chat", "--assets", terminal_world.directory, NULL};
    support_program_run(&program, arguments, "what color is it?\n");
    support_program_expect(&program, 8, "needs a terminal", "visdial ask", NULL);
    assert_string_equal(program.out, "");
    support_program_clear(&program);
}

static void wrong_options_are_refused_before_the_screen_opens(void **state)
{
    (void)state;
    support_program program = {0};
    const char *const picture[] = {"chat",    "--assets", terminal_world.directory,
                                   "--image", "4242",     NULL};
    support_program_run(&program, picture, "");
    support_program_expect(&program, 3, "4242", NULL);
    support_program_clear(&program);
    const char *const nowhere[] = {"chat", "--assets", "/nonexistent", NULL};
    support_program_run(&program, nowhere, "");
    support_program_expect(&program, 3, "/nonexistent", NULL);
    support_program_clear(&program);
    const char *const operand[] = {"chat", "what color is it?", NULL};
    support_program_run(&program, operand, "");
    support_program_expect(&program, 3, "visdial ask", NULL);
    support_program_clear(&program);
}

static void a_conversation_is_taken_up(void **state)
{
    (void)state;
    start("");
    await("base  cpu");
    tell("send-keys -t chat 'is the cube blue?' Enter");
    await(" 1 is the cube blue?");
    await("Best of 4 in pool.txt");
    tell("send-keys -t chat M-3");
    await("chosen");
    tell("send-keys -t chat C-d");
    await("[exit 0]");
    start_command("", "chat --resume");
    await("continued a conversation of 1 round; every score is as recorded");
    await(" 1 is the cube blue?");
    await("chosen");
    tell("send-keys -t chat F10");
    await("improved against base: ");
    tell("send-keys -t chat Right M-h");
    await("improved  own answers");
    tell("send-keys -t chat M-e C-u 'and the ball?' Enter");
    await("branch 2/2");
    await("improved against base: ");
    tell("send-keys -t chat C-d");
    await("[exit 0]");
    start_command("", "chat --resume");
    await("continued a conversation of 1 round, 2 branches; every score is as recorded");
    tell("send-keys -t chat F10");
    await("improved  own answers");
    await("Round 1: and the ball?");
    tell("send-keys -t chat M-n");
    await("Round 1: is the cube blue?");
    await("improved against base: ");
    tell("send-keys -t chat C-d");
    expect_restored("[exit 0]");
}

// Puts something there that cannot be read.
static void spoil_curves(const char *out)
{
    char *path;
    vd_error err;
    assert_int_equal(vd_events_find(out, &path, &err), VD_OK);
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    vd_free(path);
}

// Training under the eyes of a person, the same run looked at from another terminal, and again.
static void curves_are_watched(void **state)
{
    (void)state;
    char *out = support_join(terminal_directory, "run");
    char *checkpoint = support_join(out, "checkpoint.safetensors");
    start_program("", "train --data %s --features %s --out %s --hidden 8 --epochs 1000 --watch",
                  terminal_world.train, terminal_world.features, out);
    await("train/loss");
    await("q saves and stops");
    tell("send-keys -t chat Escape"); // stops nothing
    tell("resize-window -t chat -x 60 -y 15");
    await("more: enlarge the window");
    usleep(300000); // until Escape was read, too: what follows it at once is Alt and a key
    assert_false(shows("stopping after this step"));
    tell("send-keys -t chat q");
    expect_restored("[exit 130]");
    assert_true(support_exists(checkpoint));
    start_program("", "curves --watch --tag train/ %s", out);
    await("train/loss");
    await("q leaves");
    assert_false(shows("val/"));
    tell("send-keys -t chat q");
    expect_restored("[exit 0]");
    start_program("LANG=C", "curves --tag train/loss %s", out);
    expect_restored("[exit 0]");
    assert_true(shows("train/loss"));
    // It is stopped as a signal stops it, too.
    static const int signals[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < 2; i++) {
        start_program("", "train --data %s --features %s --out %s --resume --watch",
                      terminal_world.train, terminal_world.features, out);
        await("train/loss");
        kill(program_pid(), signals[i]);
        expect_restored("[exit 130]");
        assert_true(shows("stopped after step"));
    }
    // Curves that cannot be read are no reason to stop it.
    spoil_curves(out);
    start_program("", "train --data %s --features %s --out %s --resume --watch",
                  terminal_world.train, terminal_world.features, out);
    await("no scalars yet");
    await("q saves and stops");
    tell("send-keys -t chat q");
    expect_restored("[exit 130]");
    assert_true(shows("training continues without curves"));
    free(checkpoint);
    free(out);
}

static void training_outlives_its_terminal_by_a_checkpoint(void **state)
{
    (void)state;
    char *out = support_join(terminal_directory, "left");
    char *checkpoint = support_join(out, "checkpoint.safetensors");
    // Long epochs: until it is stopped there is no checkpoint.
    start_program("",
                  "train --data assets/dialogs.json --features assets/features.safetensors "
                  "--out %s --batch 1 --epochs 1000 --watch",
                  out);
    await("train/loss");
    assert_false(support_exists(checkpoint));
    expect_end_with_terminal();
    assert_true(support_exists(checkpoint));
    free(checkpoint);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_answered),
        cmocka_unit_test(an_answer_is_copied_and_the_conversation_written),
        cmocka_unit_test(two_models_answer_side_by_side),
        cmocka_unit_test(an_answer_is_walked_through),
        cmocka_unit_test(resizing_down_to_nothing_and_back_keeps_the_chat),
        cmocka_unit_test(signals_leave_the_terminal_as_it_was),
        cmocka_unit_test(a_stopped_chat_is_drawn_again_at_once),
        cmocka_unit_test(a_stopped_chat_can_be_ended),
        cmocka_unit_test(closing_the_terminal_ends_the_program),
        cmocka_unit_test(questions_of_an_earlier_chat_are_in_the_history),
        cmocka_unit_test(a_conversation_is_taken_up),
        cmocka_unit_test(curves_are_watched),
        cmocka_unit_test(training_outlives_its_terminal_by_a_checkpoint),
        cmocka_unit_test(pasting_lines_asks_nothing_before_enter),
        cmocka_unit_test(a_large_paste_is_taken_in_one_go),
        cmocka_unit_test(no_color_is_respected_when_it_is_not_empty),
        cmocka_unit_test(a_locale_without_utf_8_gets_ascii),
        cmocka_unit_test(bytes_that_are_not_utf_8_are_shown),
        cmocka_unit_test(the_configuration_is_read_and_the_command_line_goes_first),
        cmocka_unit_test(other_terminals_work),
        cmocka_unit_test(a_terminal_with_16_colours_works_in_every_theme),
        cmocka_unit_test(terminals_that_cannot_do_it_get_a_message),
        cmocka_unit_test(without_a_terminal_the_command_line_is_suggested),
        cmocka_unit_test(wrong_options_are_refused_before_the_screen_opens),
    };
    return cmocka_run_group_tests(tests, terminal_open, terminal_close);
}
