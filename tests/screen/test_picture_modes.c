// The chat in terminals that say what they can: a terminal is played here, its side of each
// protocol rebuilds the pictures.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/color.h"
#include "tests/support/decoders.h"
#include "tests/support/pty.h"
#include "tests/support/support.h"
#include "tui/screen/pixels.h"

static const char kitty[] = "\033_Gi=31;OK\033\\\033[6;20;10t\033[?62;c";
static const char sixel[] = "\033[?1;0;256S\033[6;18;9t\033[?63;1;2;4c";
static const char iterm[] = "\033P>|iTerm2 3.4.15\033\\\033[6;18;9t\033[?62;c";

static void start(const char *mode)
{
    const char *const arguments[] = {"chat",      "--assets", "assets", "--no-transcript",
                                     "--picture", mode,       NULL};
    assert_true(pty_start(arguments, 80, 24));
}

// All that is on its way, also where the machine is busy.
static void settle(void)
{
    for (int i = 0; i < 4; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        pty_drain();
    }
}

// The terminal answers at once.
static void answer(const char *answers)
{
    assert_true(pty_await("\033[c"));
    assert_true(pty_tell(answers));
    assert_true(pty_await("best  cpu"));
    settle();
}

// The whole screen and nothing else is what was read last.
static void draw_anew(void)
{
    pty_forget();
    assert_true(pty_tell("\014") && pty_await("F1 help"));
    settle();
}

static void start_in(const char *answers)
{
    start("auto");
    answer(answers);
}

static shown_images seen(void (*decode)(const char *, size_t, shown_images *))
{
    size_t length;
    const char *output = pty_output(&length);
    shown_images shown = {0};
    decode(output, length, &shown);
    return shown;
}

// An image of the picture, without outlines.
static void expect_picture(const vd_image *image, const char *path, int columns, int rows,
                           vd_look look)
{
    vd_image picture, composed;
    assert_int_equal(vd_image_read(path, &picture, NULL), VD_OK);
    assert_int_equal(vd_pixels_compose(&picture, columns, rows, look, NULL, 0, &composed, NULL),
                     VD_OK);
    assert_int_equal(image->width, composed.width);
    assert_in_range(image->height, composed.height - 5, composed.height);
    double sum = 0;
    int points = image->width * image->height, count = 0;
    for (int i = 0; i < points; i += 7, count++) {
        double a[3], b[3];
        for (int c = 0; c < 3; c++) {
            a[c] = image->rgb[3 * i + c];
            b[c] = composed.rgb[3 * i + c];
        }
        sum += color_distance(a, b);
    }
    assert_true(sum / count < 2);
    vd_image_clear(&picture);
    vd_image_clear(&composed);
}

static void terminals_get_what_they_said_they_show(void **state)
{
    (void)state;
    static const struct {
        const char *answers;
        void (*decode)(const char *, size_t, shown_images *);
        int cell_width, cell_height;
    } terminals[] = {
        {kitty, decode_kitty, 10, 20}, {sixel, decode_sixel, 9, 18}, {iterm, decode_iterm, 9, 18}};
    for (int i = 0; i < 3; i++) {
        start_in(terminals[i].answers);
        shown_images shown = seen(terminals[i].decode);
        assert_int_equal(shown.sent, 1); // in cells before it said so: not even for a moment
        vd_look look = {.depth = VD_DEPTH_256,
                        .cell_width = terminals[i].cell_width,
                        .cell_height = terminals[i].cell_height};
        expect_picture(&shown.at[0].image, "assets/pictures/1000001.png", 35, 13, look);
        shown_images_clear(&shown);
        pty_end();
    }
}

static void terminals_that_show_none_get_cells(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "\033[?6c", "\033[6;20;10t\033[?62;22c",
        "\033_Gi=31;ENOTSUPPORTED:no\033\\\033P>|other 1.0\033\\\033[?62;c",
        "\033[?1;0;16S\033[6;20;10t\033[?63;4c", // sixels of 16 colours show less than cells do
        "\033[?63;4c"};                          // nor without the size of a cell
    for (int i = 0; i < 5; i++) {
        start_in(answers[i]);
        assert_false(pty_showed("\033_Ga=T"));
        assert_false(pty_showed("\033]1337"));
        assert_false(pty_showed(";1q\"") || pty_showed(";0q\""));
        assert_true(pty_showed("\xe2\x96")); // block elements
        pty_end();
    }
}

static void a_light_background_gets_the_light_theme(void **state)
{
    (void)state;
    static const char light_row[] = "\033[38;5;235m\033[48;5;252m", dark_row[] = "48;5;236m";
    start_in("\033]11;rgb:ffff/ffff/dddd\033\\\033[?62;c");
    draw_anew();
    assert_true(pty_showed(light_row));
    assert_false(pty_showed(dark_row));
    pty_end();
    start_in("\033]11;rgb:0000/2b2b/3636\033\\\033[?62;c");
    draw_anew();
    assert_true(pty_showed(dark_row));
    pty_end();
    start("none"); // without pictures, too
    answer("\033]11;rgb:ffff/ffff/dddd\033\\\033[?62;c");
    draw_anew();
    assert_true(pty_showed(light_row));
    pty_end();
}

static void answers_never_stand_in_the_line(void **state)
{
    (void)state;
    start("auto");
    assert_true(pty_await("\033[c"));
    // Typed before and while they come.
    assert_true(pty_tell("is\033_Gi=31;OK\033\\ it\033[6;20;10t"));
    assert_true(pty_await("Type a question"));
    assert_true(pty_tell("\033[?6"));
    nanosleep(&(struct timespec){.tv_nsec = 80000000}, NULL); // cut in two
    assert_true(pty_tell("2;c red?"));
    assert_true(pty_await("red?"));
    settle();
    draw_anew();
    assert_true(pty_showed("is it red?"));
    assert_false(pty_showed("62;c") || pty_showed("31;OK") || pty_showed("20;10t"));
    pty_end();
}

static void a_silent_terminal_is_not_waited_for(void **state)
{
    (void)state;
    start("auto");
    assert_true(pty_await("\033[c"));
    double asked = support_milliseconds();
    assert_true(pty_await("Type a question"));
    double waited = support_milliseconds() - asked;
    printf("a silent terminal sees the screen %.0f ms after it was asked\n", waited);
    assert_true(waited < 5000); // 60, and what a busy machine takes
    assert_true(pty_await("best  cpu"));
    settle();
    assert_true(pty_tell(kitty)); // better late than never
    assert_true(pty_await("\033_Gm=0;"));
    settle();
    shown_images shown = seen(decode_kitty);
    assert_int_equal(shown.count, 1);
    shown_images_clear(&shown);
    assert_true(pty_tell("\004"));
    assert_true(pty_wait());
}

static void nothing_is_asked_where_nothing_depends_on_it(void **state)
{
    (void)state;
    setenv("COLORTERM", "truecolor", 1);
    start("cells");
    assert_true(pty_await("best  cpu"));
    assert_true(pty_showed("\033]11;?\033\\\033[c")); // of the theme
    assert_false(pty_showed("\033_G") || pty_showed("\033[16t"));
    pty_end();
    unsetenv("COLORTERM");
    start("none");
    assert_true(pty_await("best  cpu"));
    assert_false(pty_showed("\033_G") || pty_showed("\033[16t"));
    assert_false(pty_showed("\xe2\x96"));
    // All that was not asked is when pictures are wanted.
    assert_true(pty_tell("/picture-mode kitty\r") && pty_await("\033_G"));
    pty_end();
    setenv("NO_COLOR", "1", 1);
    start("none");
    assert_true(pty_await("best  cpu"));
    assert_false(pty_showed("\033[c"));
    pty_end();
    unsetenv("NO_COLOR");
}

// A tmux between, which passes on what is in an envelope. It asks, too: the answers are typed when
// it starts the chat.
static void start_in_tmux(const char *answers)
{
    char command[1024], name[64];
    const char *own = getenv("VISDIAL_BIN");
    char *program = strdup(own ? own : "build/visdial");
    static int servers; // the last one may be ending still
    snprintf(name, sizeof name, "visdial-modes-%ld-%d", (long)getpid(), servers++);
    snprintf(command, sizeof command, "read line; exec %s chat --assets assets --no-transcript",
             program);
    const char *const arguments[] = {
        "tmux", "-u", "-L",          name,    "-f", "/dev/null", "set", "-g", "allow-passthrough",
        "on",   ";",  "new-session", command, NULL};
    setenv("VISDIAL_BIN", "/usr/bin/env", 1);
    bool started = pty_start(arguments, 80, 24);
    setenv("VISDIAL_BIN", program, 1);
    free(program);
    assert_true(started && pty_await("\033[>q")); // tmux wants to know the name itself
    assert_true(pty_tell(strstr(answers, "\033P>|")));
    assert_true(pty_showed("[0]") || pty_await("[0]")); // its own row: it is there
    for (int i = 0; i < 50 && !pty_showed("\033_Gi=31"); i++) {
        assert_true(pty_tell("\r")); // until its shell reads
        settle();
    }
    assert_true(pty_tell(answers));
    assert_true(pty_showed("best  cpu") || pty_await("best  cpu"));
    settle();
}

static void kittys_pictures_go_through_tmux(void **state)
{
    (void)state;
    static const char placeholder[] = "\xf4\x8e\xbb\xae";
    start_in_tmux("\033_Gi=31;OK\033\\\033P>|kitty(0.35.2)\033\\");
    shown_images shown = seen(decode_kitty);
    assert_int_equal(shown.count, 1);
    assert_true(shown.at[0].virtual);
    assert_int_equal(shown.at[0].columns, 32); // tmux has a row for itself
    vd_look look = {.depth = VD_DEPTH_256, .cell_width = 16, .cell_height = 32}; // tmux says
    expect_picture(&shown.at[0].image, "assets/pictures/1000001.png", 32, 12, look);
    char color[32];
    snprintf(color, sizeof color, "38;5;%u", shown.at[0].id); // the number of the image
    assert_true(pty_showed(placeholder) && pty_showed(color));
    shown_images_clear(&shown);
    assert_true(pty_tell("\004"));
    assert_true(pty_wait());
    start_in_tmux("\033_Gi=31;OK\033\\\033P>|kitty(0.26.5)\033\\"); // which cannot do that yet
    assert_false(pty_showed("a=T") || pty_showed(placeholder));
    assert_true(pty_showed("\xe2\x96"));
    assert_true(pty_tell("\004"));
    assert_true(pty_wait());
}

// The last image at a place, with nothing drawn over it; NULL: it has not come yet. Where tmux
// draws in parts, the picture is sent again.
static const char *last_iterm(const char *wanted)
{
    size_t length;
    const char *image = NULL, *end;
    for (const char *at = pty_output(&length); (at = strstr(at, wanted)); at++)
        image = at;
    end = image ? strchr(image, '\a') : NULL;
    return end && !strstr(end, "\xe2\x96") ? image : NULL;
}

// The last image, at the row and column of the terminal's, over cells that came before it.
static void expect_iterm_at(const char *place, int columns, int rows)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\033[%sH\033]1337;File=", place);
    for (int i = 0; i < 50 && !last_iterm(wanted); i++)
        settle();
    size_t length;
    const char *image = last_iterm(wanted), *output = pty_output(&length);
    assert_non_null(image);
    assert_true(image - output > 1000); // cells
    shown_images shown = seen(decode_iterm);
    assert_int_equal(shown.at[shown.count - 1].columns, columns);
    vd_look look = {.depth = VD_DEPTH_256, .cell_width = 16, .cell_height = 32}; // tmux says
    expect_picture(&shown.at[shown.count - 1].image, "assets/pictures/1000001.png", columns, rows,
                   look);
    shown_images_clear(&shown);
}

// tmux passes an image on to any place of the terminal: it is said which.
static void iterms_pictures_go_through_tmux_to_their_place(void **state)
{
    (void)state;
    start_in_tmux("\033P>|iTerm2 3.5.0\033\\");
    expect_iterm_at("2;1", 32, 12);
    static const char *const keys[] = {"\002", ":", "set status-position top", "\r"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) { // at once they would be a paste
        assert_true(pty_tell(keys[i]));
        settle();
    }
    pty_forget();
    assert_true(pty_tell("\014"));
    assert_true(pty_await("\033]1337"));
    settle();
    expect_iterm_at("3;1", 32, 12);
    assert_true(pty_tell("\004"));
    assert_true(pty_wait());
}

// tmux takes sixels itself since 3.4 and says so in any terminal; what its terminal shows it says
// when it is asked by its command, which is played here.
static void sixels_go_to_tmux_where_its_terminal_shows_them(void **state)
{
    (void)state;
    static const char *const features[] = {"256,sixel,title", "256,title", ""};
    char *directory = support_temp_dir(), *command = support_join(directory, "tmux");
    char *before = strdup(getenv("PATH")), path[4096], script[128];
    snprintf(path, sizeof path, "%s:%s", directory, before);
    setenv("PATH", path, 1);
    setenv("TMUX", "played", 1);
    setenv("TMUX_PANE", "%7", 1);
    for (int i = 0; i < 3; i++) {
        snprintf(script, sizeof script, "#!/bin/sh\necho '%s'\n[ -n '%s' ]\n", features[i],
                 features[i]);
        support_write_text(command, script);
        assert_int_equal(chmod(command, 0755), 0);
        start_in(sixel);
        shown_images shown = seen(decode_sixel);
        assert_int_equal(shown.sent, i == 0);
        shown_images_clear(&shown);
        pty_end();
    }
    setenv("PATH", before, 1);
    unsetenv("TMUX");
    unsetenv("TMUX_PANE");
    support_remove_tree(directory);
    free(before);
    free(command);
    free(directory);
}

static void expect_shown(int count, int columns, int rows)
{
    shown_images shown = seen(decode_kitty);
    assert_int_equal(shown.count, count);
    if (count == 1) {
        assert_int_equal(shown.at[0].columns, columns);
        assert_int_equal(shown.at[0].rows, rows);
    }
    shown_images_clear(&shown);
}

// Types, and waits for what is to come of it and for all that is drawn then.
static void press(const char *keys, const char *awaited)
{
    assert_true(pty_tell(keys));
    assert_true(pty_await(awaited));
    settle();
}

static void nothing_remains_of_a_picture(void **state)
{
    (void)state;
    start_in(kitty);
    expect_shown(1, 35, 13);
    press("\033[19~", "\033_Gm=0;"); // F8
    expect_shown(1, 35, 13);
    press("what is it?\r", "Best of");
    expect_shown(1, 35, 13);
    press("\033OQ", "Esc back"); // F2
    expect_shown(1, 53, 20);
    press("\033OP", "Keys"); // F1: no picture
    expect_shown(0, 0, 0);
    press("\033", "Saw");
    expect_shown(1, 53, 20);
    assert_true(pty_resize(100, 30));
    settle();
    shown_images shown = seen(decode_kitty);
    assert_int_equal(shown.count, 1);
    shown_images_clear(&shown);
    press("/picture-mode cells\r", "\033_Ga=d,d=I");
    expect_shown(0, 0, 0);
    press("/picture-mode auto\r", "\033_Gm=0;");
    assert_true(pty_tell("\004"));
    assert_true(pty_wait());
    expect_shown(0, 0, 0);
}

// Beside each other, of models that have or have not answered.
static void a_picture_is_shown_at_several_places(void **state)
{
    (void)state;
    start_in(kitty);
    assert_true(pty_resize(220, 40));
    settle();
    press("\033[21~", "is compared"); // F10
    expect_shown(2, 0, 0);
    press("/compare improved\r", "improved is compared");
    expect_shown(3, 0, 0);
    press("what is it?\r", "istance");
    expect_shown(3, 0, 0);
    press("/compare off\r", "answers alone");
    shown_images shown = seen(decode_kitty);
    assert_int_equal(shown.count, 1);
    shown_images_clear(&shown);
    pty_end();
    assert_true(pty_showed("\033\\\033[?2004l")); // a picture that is being sent ends first
}

// By a description of our own, whichever are installed.
static void colours_have_24_bits_where_they_are_promised(void **state)
{
    (void)state;
    static const char *const promises[] = {"truecolor", "24bit", "no"};
    for (int i = 0; i < 3; i++) {
        setenv("COLORTERM", promises[i], 1);
        start("cells");
        assert_true(pty_await("best  cpu"));
        settle();
        assert_int_equal(pty_showed("\033[38;2;"), i < 2);
        pty_end();
    }
    unsetenv("COLORTERM");
}

// It may say so where COLORTERM was lost on the way (ssh).
static void colours_have_24_bits_where_the_terminal_says_so(void **state)
{
    (void)state;
    start_in("\033P1$r48:2:1:2:3m\033\\\033[?62;c");
    assert_true(pty_showed("\033[38;2;"));
    // The numbers of regions are black, not the palette's first colour, which is grey in bold.
    assert_true(pty_tell("what is it?\r"));
    assert_true(pty_await("\033[38;2;0;0;8m\033[48;2;255;255;95m"));
    pty_end();
    start_in("\033P1$r48:5:16m\033\\\033[?62;c");
    assert_false(pty_showed("\033[38;2;"));
    pty_end();
}

int main(void)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("COLORTERM");
    unsetenv("TMUX");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminals_get_what_they_said_they_show),
        cmocka_unit_test(terminals_that_show_none_get_cells),
        cmocka_unit_test(a_light_background_gets_the_light_theme),
        cmocka_unit_test(answers_never_stand_in_the_line),
        cmocka_unit_test(a_silent_terminal_is_not_waited_for),
        cmocka_unit_test(nothing_is_asked_where_nothing_depends_on_it),
        cmocka_unit_test(kittys_pictures_go_through_tmux),
        cmocka_unit_test(iterms_pictures_go_through_tmux_to_their_place),
        cmocka_unit_test(sixels_go_to_tmux_where_its_terminal_shows_them),
        cmocka_unit_test(nothing_remains_of_a_picture),
        cmocka_unit_test(a_picture_is_shown_at_several_places),
        cmocka_unit_test(colours_have_24_bits_where_they_are_promised),
        cmocka_unit_test(colours_have_24_bits_where_the_terminal_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
