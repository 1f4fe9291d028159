#include "tui/commands/command.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"

#define RUN(...)                                                                                   \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__ __VA_OPT__(, ) NULL                                                            \
    }

// What a printing function prints.
static char *printed(void (*print)(FILE *out))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(out);
    fclose(out);
    return text;
}

// ---- help ---------------------------------------------------------------------------------------

static void help_lists_every_command_and_every_exit_code(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, RUN("--help"), NULL);
    support_program_expect(&run, 0, NULL);
    assert_string_equal(run.err, "");
    for (const vd_command *const *at = vd_commands; *at; at++) {
        const vd_command *command = *at;
        assert_non_null(strstr(run.out, command->name));
        assert_non_null(strstr(run.out, command->summary));
    }
    assert_non_null(strstr(run.out, "Example"));
#define X(code, text, exit_code) assert_non_null(strstr(run.out, text));
    VD_STATUS_LIST(X)
#undef X
    support_program_clear(&run);
}

// The text with each run of white space as one space.
static char *unwrapped(const char *text)
{
    char *out = calloc(strlen(text) + 1, 1), *at = out;
    assert_non_null(out);
    for (; *text; text++) {
        bool space = isspace((unsigned char)*text);
        if (!space || at == out || at[-1] != ' ')
            *at++ = space ? ' ' : *text;
    }
    return out;
}

static void every_command_explains_itself_with_an_example(void **state)
{
    (void)state;
    for (const vd_command *const *at = vd_commands; *at; at++) {
        const vd_command *command = *at;
        support_program asked, named;
        support_program_run(&asked, RUN(command->name, "--help"), NULL);
        support_program_run(&named, RUN("help", command->name), NULL);
        support_program_expect(&asked, 0, NULL);
        assert_string_equal(asked.out, named.out);
        char example[40];
        snprintf(example, sizeof example, "visdial %s", command->name);
        char *shown = strstr(asked.out, "\nExample:\n");
        assert_non_null(shown);
        assert_non_null(strstr(shown, example));
        char *flat = unwrapped(asked.out);
        for (const vd_option *option = command->options; option->name; option++) {
            assert_non_null(strstr(flat, option->name));
            assert_non_null(strstr(flat, option->help));
        }
        free(flat);
        for (char *line = asked.out, *end; (end = strchr(line, '\n')); line = end + 1)
            if (end - line > 80)
                fail_msg("wider than 80 columns: %.*s", (int)(end - line), line);
        support_program_clear(&asked);
        support_program_clear(&named);
    }
}

static void presets_do_not_care_where_options_stand(void **state)
{
    (void)state;
    char *flat = unwrapped(vd_cmd_train.text);
    assert_non_null(strstr(flat, "other options override those, in any order"));
    free(flat);
}

// The name of a file may hold ends of lines: the error is one line all the same.
static void an_error_is_one_line(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, RUN("info", "no\nsuch\r\nfile"), NULL);
    support_program_expect(&run, 3, "visdial info: no such  file", NULL);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
    support_program_clear(&run);
}

// These mean something different in each command, or in the one that is named before them.
// clang-format off
static const char *const differing[] = {
    "train captioner", "cases", "train decoder", "epochs", "html", "image", "index", "markdown",
    "model", "other-model", "out", "pool", "rate", "pictures", "resume", "scenes", "seed",
    "screen", "split", "top", "train", "val", "vocab", "what-if", NULL};
// clang-format on

static bool may_differ(const vd_command *command, const char *name)
{
    bool found = false;
    for (const char *const *at = differing; *at; at++) {
        const char *own = strchr(*at, ' ');
        size_t length = own ? (size_t)(own - *at) : 0;
        found = found || (strcmp(own ? own + 1 : *at, name) == 0 &&
                          strncmp(*at, command->name, length) == 0);
    }
    return found;
}

// Bytes of a help text before what a command may add to it: a default, or a remark.
static size_t common_part(const char *help)
{
    const char *at = help;
    while (*at && strncmp(at, "; ", 2) != 0 && strncmp(at, " (default", 9) != 0 &&
           !(strncmp(at, " (", 2) == 0 && isdigit((unsigned char)at[2])))
        at++;
    return (size_t)(at - help);
}

// How many options of other commands say the same as this one.
static int same_elsewhere(const vd_command *const *command, const vd_option *option)
{
    int same = 0;
    size_t part = common_part(option->help);
    for (const vd_command *const *other = command + 1; *other; other++) {
        for (const vd_option *at = (*other)->options; at->name; at++) {
            if (strcmp(at->name, option->name) != 0 || may_differ(*command, at->name) ||
                may_differ(*other, at->name))
                continue;
            if (common_part(at->help) != part || strncmp(at->help, option->help, part) != 0)
                fail_msg("--%s says one thing in %s and another in %s", at->name, (*command)->name,
                         (*other)->name);
            same++;
        }
    }
    return same;
}

static void the_same_option_has_the_same_help(void **state)
{
    (void)state;
    int same = 0;
    for (const vd_command *const *command = vd_commands; *command; command++)
        for (const vd_option *option = (*command)->options; option->name; option++)
            same += same_elsewhere(command, option);
    assert_true(same > 50);
}

static void help_behind_two_dashes_is_a_word(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, RUN("help", "--", "--help"), NULL);
    support_program_expect(&run, 2, "there is no command '--help'", NULL);
    support_program_clear(&run);
}

static void version_is_one_line(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, RUN("--version"), NULL);
    support_program_expect(&run, 0, NULL);
    assert_string_equal(run.out, "visdial " VD_VERSION "\n");
    support_program_clear(&run);
}

// ---- wrong commands -----------------------------------------------------------------------------

static void an_unknown_command_is_answered_with_the_nearest(void **state)
{
    (void)state;
    static const char *const typed[][2] = {
        {"trian", "train"}, {"evla", "eval"}, {"bloks", "blocks"}, {"hlep", "help"}};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        char expected[40];
        snprintf(expected, sizeof expected, "did you mean `visdial %s`?", typed[i][1]);
        support_program run;
        support_program_run(&run, RUN(typed[i][0]), NULL);
        support_program_expect(&run, 2, expected, NULL);
        assert_string_equal(run.out, "");
        support_program_clear(&run);
    }
    support_program run;
    support_program_run(&run, RUN("frobnicate"), NULL);
    support_program_expect(&run, 2, "there is no command 'frobnicate'; `visdial --help`", NULL);
    support_program_clear(&run);
    support_program_run(&run, RUN("no/such.png"), NULL);
    support_program_expect(&run, 2, "visdial: there is no picture file or command 'no/such.png'\n",
                           NULL);
    support_program_clear(&run);
    support_program_run(&run, RUN("how many balls are there?"), NULL);
    support_program_expect(&run, 2, "`visdial ask --image PICTURE \"how many balls are there?\"`",
                           NULL);
    support_program_clear(&run);
}

// The bundled files beside an installed program are named without a way back.
static void files_beside_the_program_have_plain_names(void **state)
{
    (void)state;
    const char *own = getenv("VISDIAL_BIN");
    char *top = support_temp_dir(), *directory = support_join(top, "bin");
    char *program = support_join(directory, "visdial"), *assets = support_join(top, "assets");
    char *dialogs = support_join(assets, "dialogs.json"), command[1024];
    snprintf(command, sizeof command, "mkdir '%s' '%s' && cp '%s' '%s' && echo {} >'%s'", directory,
             assets, own && *own ? own : "build/visdial", program, dialogs);
    assert_int_equal(system(command), 0);
    char *here = g_get_current_dir(), *before = g_strdup(own);
    assert_int_equal(chdir(directory), 0);
    setenv("VISDIAL_BIN", program, 1);
    support_program run;
    support_program_run(&run, RUN("ask", "--image", "1", "is it red"), NULL);
    support_program_expect(&run, 4, dialogs, NULL);
    support_program_clear(&run);
    assert_int_equal(chdir(here), 0);
    before ? setenv("VISDIAL_BIN", before, 1) : unsetenv("VISDIAL_BIN");
    support_remove_tree(top);
    char *const all[] = {top, directory, program, assets, dialogs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    g_free(here);
    g_free(before);
}

static void instructions_that_are_not_there_are_wrong_use(void **state)
{
    (void)state;
    support_program run;
    setenv("VISDIAL_CPU", "portable", 1);
    support_program_run(&run, RUN("--version"), NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    setenv("VISDIAL_CPU", "mmx", 1);
    support_program_run(&run, RUN("--version"), NULL);
    support_program_expect(&run, 2, "VISDIAL_CPU is 'mmx'", "portable, avx2 or avx512", NULL);
    support_program_clear(&run);
    unsetenv("VISDIAL_CPU");
}

static void an_unknown_option_of_any_command_is_wrong_use(void **state)
{
    (void)state;
    for (const vd_command *const *at = vd_commands; *at; at++) {
        const vd_command *command = *at;
        support_program run;
        support_program_run(&run, RUN(command->name, "--no-such-option"), NULL);
        support_program_expect(&run, 2, "no-such-option", NULL);
        assert_string_equal(run.out, "");
        support_program_clear(&run);
    }
}

static void without_a_terminal_the_chat_is_refused_and_no_screen_opened(void **state)
{
    (void)state;
    support_program run;
    tiny_world tiny;
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    support_program_run(&run, RUN(NULL), NULL);
    unsetenv("VISDIAL_ASSETS");
    tiny_world_remove(&tiny);
    assert_int_not_equal(run.code, 0);
    assert_string_equal(run.out, "");
    assert_null(strchr(run.err, '\x1b'));
    assert_non_null(strstr(run.err, "ask"));
    support_program_clear(&run);
}

static void a_full_disk_is_an_error_of_every_print(void **state)
{
    (void)state;
    char command[300];
    const char *binary = getenv("VISDIAL_BIN");
    snprintf(command, sizeof command, "%s --help >/dev/full 2>/dev/null; test $? = 6",
             binary && *binary ? binary : "build/visdial");
    assert_int_equal(system(command), 0);
}

// ---- what is made from the table ----------------------------------------------------------------

static void bash(FILE *out)
{
    vd_command_print_completion(VD_BASH, out);
}

static void zsh(FILE *out)
{
    vd_command_print_completion(VD_ZSH, out);
}

static void fish(FILE *out)
{
    vd_command_print_completion(VD_FISH, out);
}

// `make install` keeps what these print.
static void man_page_and_completions_are_those_of_the_table(void **state)
{
    (void)state;
    static const struct {
        void (*print)(FILE *out);
        const char *option, *shell;
    } made[] = {
        {bash, "--completion", "bash"},
        {zsh, "--completion", "zsh"},
        {fish, "--completion", "fish"},
        {vd_command_print_manual, "--manual", NULL},
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        support_program run;
        char *text = printed(made[i].print);
        support_program_run(&run, RUN("help", made[i].option, made[i].shell), NULL);
        support_program_expect(&run, 0, NULL);
        assert_string_equal(run.out, text);
        support_program_clear(&run);
        free(text);
    }
    support_program run;
    support_program_run(&run, RUN("help", "--completion", "tcsh"), NULL);
    support_program_expect(&run, 2, "--completion: expected bash, zsh or fish, found 'tcsh'", NULL);
    support_program_clear(&run);
}

// An option in man pages is written with roff's minus.
static bool names_option(const char *text, const char *name)
{
    char dashed[80] = "\\-\\-";
    size_t length = 4;
    for (; *name && length < sizeof dashed - 3; name++) {
        if (*name == '-')
            dashed[length++] = '\\';
        dashed[length++] = *name;
    }
    dashed[length] = '\0';
    return strstr(text, dashed);
}

static void the_man_page_names_every_command_and_option(void **state)
{
    (void)state;
    char *text = printed(vd_command_print_manual);
    for (const vd_command *const *at = vd_commands; *at; at++) {
        const vd_command *command = *at;
        char head[40];
        snprintf(head, sizeof head, "\n.SS visdial %s ", command->name);
        assert_non_null(strstr(text, head));
        for (const vd_option *option = command->options; option->name; option++)
            assert_true(names_option(text, option->name));
    }
    free(text);
}

// Every picture that an example names: --image and the number, and the file.
static void examples_ask_about_pictures_that_are_there(void **state)
{
    (void)state;
    char *text = printed(vd_command_print_manual), path[80];
    int found = 0;
    for (const char *at = text; (at = strstr(at, "\\-image ")); at++) {
        long id = strtol(at + 8, NULL, 10); // 0: ID
        snprintf(path, sizeof path, "assets/pictures/%ld.png", id);
        if (id != 0 && !support_exists(path))
            fail_msg("the examples name %s", path);
        found += id != 0;
    }
    for (const char *at = text; (at = strstr(at, "assets/pictures/")); at++, found++) {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, " \n"), at);
        if (!support_exists(path))
            fail_msg("the examples name %s", path);
    }
    assert_true(found > 5);
    free(text);
}

static void completions_name_every_command_and_option(void **state)
{
    (void)state;
    void (*const print[])(FILE *) = {bash, zsh, fish};
    for (size_t i = 0; i < 3; i++) {
        char *text = printed(print[i]);
        for (const vd_command *const *at = vd_commands; *at; at++) {
            const vd_command *command = *at;
            assert_non_null(strstr(text, command->name));
            for (const vd_option *option = command->options; option->name; option++) {
                char word[60];
                snprintf(word, sizeof word, "%s%s", i == 2 ? "-l " : "--", option->name);
                assert_non_null(strstr(text, word));
            }
        }
        free(text);
    }
}

// What the shell leaves with after `script`, in which FILE is a file with its completions.
static int shell_says(void (*print)(FILE *out), const char *script)
{
    char *directory = support_temp_dir(), *path = support_join(directory, "completions");
    char *text = printed(print), command[4400];
    support_write_text(path, text);
    snprintf(command, sizeof command, "FILE='%s'; export FILE; %s", path, script);
    int status = system(command);
    support_remove_tree(directory);
    free(text);
    free(path);
    free(directory);
    return status;
}

static void the_shells_take_their_completions(void **state)
{
    (void)state;
    // bash is there wherever make is; the others where they are installed.
    assert_int_equal(shell_says(bash, "bash -n \"$FILE\""), 0);
    assert_int_equal(shell_says(zsh, "! command -v zsh >/dev/null || zsh -n \"$FILE\""), 0);
    assert_int_equal(
        shell_says(fish, "! command -v fish >/dev/null || fish --no-execute \"$FILE\""), 0);
    assert_int_equal(
        shell_says(bash, "bash -c '. \"$FILE\"; COMP_WORDS=(visdial tr); COMP_CWORD=1; _visdial; "
                         "test \"${COMPREPLY[*]}\" = train'"),
        0);
    assert_int_equal(
        shell_says(bash, "bash -c '. \"$FILE\"; COMP_WORDS=(visdial train --chec); COMP_CWORD=2; "
                         "_visdial; test ${#COMPREPLY[*]} = 2'"),
        0);
    assert_int_equal( // names and files
        shell_says(bash, "cd \"$(dirname \"$FILE\")\" && touch bx && bash -c '. \"$FILE\"; "
                         "COMP_WORDS=(visdial ask --model b); COMP_CWORD=3; _visdial; "
                         "test \"${COMPREPLY[*]}\" = \"best base bx\"'"),
        0);
    assert_int_equal(
        shell_says(bash, "bash -c '. \"$FILE\"; COMP_WORDS=(visdial blocks w); COMP_CWORD=2; "
                         "_visdial; test \"${COMPREPLY[*]}\" = world'"),
        0);
    // A picture is a first word, too.
    assert_int_equal(shell_says(bash,
                                "bash -c '. \"$FILE\"; COMP_WORDS=(visdial assets/screenshot-w); "
                                "COMP_CWORD=1; _visdial; "
                                "test \"${COMPREPLY[*]}\" = assets/screenshot-walk.png'"),
                     0);
}

// What `visdial help --completion` offers for a value, in bash.
static void expect_values(const char *words, int at, const char *expected)
{
    char script[600];
    snprintf(script, sizeof script,
             "bash -c '. \"$FILE\"; COMP_WORDS=(%s); COMP_CWORD=%d; _visdial; "
             "test \"${COMPREPLY[*]}\" = \"%s\" || { echo \"${COMPREPLY[*]}\"; exit 1; }'",
             words, at, expected);
    assert_int_equal(shell_says(bash, script), 0);
}

static void values_are_completed(void **state)
{
    (void)state;
    expect_values("visdial --theme \"\"", 2, "auto light dark mono safe");
    expect_values("visdial chat --theme l", 3, "light");
    expect_values("visdial chat --theme = l", 4, "light");
    expect_values("visdial chat --theme =", 3, "auto light dark mono safe");
    expect_values("visdial --th", 1, "--theme");
    expect_values("visdial train --gate e", 3, "elu");
    expect_values("visdial ask --decoder g", 3, "generative");
    expect_values("visdial ask --backend \"\"", 3, "auto cpu cuda");
    expect_values("visdial help --completion f", 3, "fish");
    expect_values("visdial ask --model imp", 3, "improved");
    expect_values("visdial ask --assets asse", 3, "assets");
    expect_values("visdial ask --top \"\"", 3, ""); // a number
    char *text = printed(zsh);
    assert_non_null(strstr(text, ":NAME:(auto light dark mono safe)'"));
    assert_non_null(strstr(text, ":DIR:_files -/'"));
    free(text);
    text = printed(fish);
    assert_non_null(strstr(text, "-l theme -x -a 'auto light dark mono safe'"));
    assert_non_null(
        strstr(text, "-n '__fish_use_subcommand; or __fish_seen_subcommand_from chat'"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_lists_every_command_and_every_exit_code),
        cmocka_unit_test(every_command_explains_itself_with_an_example),
        cmocka_unit_test(presets_do_not_care_where_options_stand),
        cmocka_unit_test(an_error_is_one_line),
        cmocka_unit_test(the_same_option_has_the_same_help),
        cmocka_unit_test(instructions_that_are_not_there_are_wrong_use),
        cmocka_unit_test(help_behind_two_dashes_is_a_word),
        cmocka_unit_test(version_is_one_line),
        cmocka_unit_test(an_unknown_command_is_answered_with_the_nearest),
        cmocka_unit_test(files_beside_the_program_have_plain_names),
        cmocka_unit_test(an_unknown_option_of_any_command_is_wrong_use),
        cmocka_unit_test(without_a_terminal_the_chat_is_refused_and_no_screen_opened),
        cmocka_unit_test(a_full_disk_is_an_error_of_every_print),
        cmocka_unit_test(man_page_and_completions_are_those_of_the_table),
        cmocka_unit_test(the_man_page_names_every_command_and_option),
        cmocka_unit_test(examples_ask_about_pictures_that_are_there),
        cmocka_unit_test(completions_name_every_command_and_option),
        cmocka_unit_test(the_shells_take_their_completions),
        cmocka_unit_test(values_are_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
