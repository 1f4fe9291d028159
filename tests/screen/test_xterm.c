// The chat in an xterm that shows sixels, on a display of its own: what is seen is looked at.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/color.h"
#include "tests/support/support.h"
#include "tui/screen/pixels.h"

// The X server's own font, without smoothed edges: text has few colours.
enum { CELL_WIDTH = 6, CELL_HEIGHT = 13, COLUMNS = 35, ROWS = 13, FEW_COLORS = 24 };
enum { PATIENCE_MS = 20000, PAUSE_MS = 100 };

static pid_t server, terminal;
static char *directory, *screenshot;

static void run(const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "%s >/dev/null 2>&1", command);
    if (system(line) != 0)
        fail_msg("`%s` failed", command);
}

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
}

static pid_t start(const char *command)
{
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static int open_display(void **state)
{
    (void)state;
    if (system("command -v Xvfb && command -v xterm && command -v import && command -v xdotool"
               " >/dev/null") != 0)
        return 0;
    char command[512], *number = NULL;
    directory = support_temp_dir();
    screenshot = support_join(directory, "screen.png");
    char *display = support_join(directory, "display");
    snprintf(command, sizeof command,
             "exec Xvfb -displayfd 3 -screen 0 800x500x24 -nolisten tcp 3>'%s' >/dev/null 2>&1",
             display);
    server = start(command);
    for (int i = 0; i < PATIENCE_MS / PAUSE_MS && (!number || !strchr(number, '\n')); i++) {
        pause_briefly();
        free(number);
        number = support_exists(display) ? support_read_file(display, NULL) : NULL;
    }
    assert_true(number && *number);
    snprintf(command, sizeof command, ":%ld", strtol(number, NULL, 10));
    setenv("DISPLAY", command, 1);
    free(number);
    free(display);
    return 0;
}

static int close_display(void **state)
{
    (void)state;
    if (!server)
        return 0;
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
    support_remove_tree(directory);
    free(directory);
    free(screenshot);
    return 0;
}

// The chat as a job of a shell, so that it can be stopped.
static void start_chat(const char *options)
{
    if (!server)
        support_skip("xterm, xvfb, imagemagick or xdotool, which make deps installs");
    char script[1024], command[1024];
    const char *program = getenv("VISDIAL_BIN");
    char *path = support_join(directory, "chat.sh");
    snprintf(script, sizeof script,
             "set -m\nunset COLORTERM TMUX NO_COLOR\n%s chat --assets assets --no-transcript %s\n"
             "echo stopped\nread line\nfg\n",
             program ? program : "build/visdial", options);
    support_write_text(path, script);
    snprintf(command, sizeof command,
             "exec xterm -ti vt340 -xrm 'XTerm*numColorRegisters: 256' -u8 -b 0 -bw 0 +sb -fn fixed"
             " -geometry 80x24+0+0 -e sh '%s'",
             path);
    free(path);
    terminal = start(command);
}

static void end_chat(void)
{
    kill(terminal, SIGTERM);
    waitpid(terminal, NULL, 0);
}

static vd_image look(void)
{
    char command[512];
    vd_image image;
    vd_error err = {0};
    snprintf(command, sizeof command, "import -silent -window root -depth 8 '%s'", screenshot);
    run(command);
    if (vd_image_read(screenshot, &image, &err))
        fail_msg("%s", err.text);
    return image;
}

// How far what is seen at the picture's place is from the picture.
static double distance_to(const char *path)
{
    enum { STEP = 3 };
    vd_image seen = look(), picture, composed;
    const vd_look as = {.depth = VD_DEPTH_256,
                        .pictures = VD_PICTURE_SIXEL,
                        .cell_width = CELL_WIDTH,
                        .cell_height = CELL_HEIGHT};
    double sum = 0;
    int count = 0;
    assert_int_equal(vd_image_read(path, &picture, NULL), VD_OK);
    assert_int_equal(vd_pixels_compose(&picture, COLUMNS, ROWS, as, NULL, 0, &composed, NULL),
                     VD_OK);
    for (int y = 0; y < composed.height - 6; y += STEP)
        for (int x = 0; x < composed.width; x += STEP, count++) {
            const uint8_t *a = seen.rgb + 3 * ((y + CELL_HEIGHT) * seen.width + x);
            const uint8_t *b = composed.rgb + 3 * (y * composed.width + x);
            sum += color_distance((double[]){a[0], a[1], a[2]}, (double[]){b[0], b[1], b[2]});
        }
    vd_image_clear(&seen);
    vd_image_clear(&picture);
    vd_image_clear(&composed);
    return sum / count;
}

// Different colours on the screen outside of the picture's place, or with it.
static int count_colors(bool with_picture)
{
    vd_image seen = look();
    uint32_t colors[FEW_COLORS + 1];
    int count = 0;
    for (int i = 0; i < seen.width * seen.height && count <= FEW_COLORS; i++) {
        int x = i % seen.width, y = i / seen.width - CELL_HEIGHT;
        if (!with_picture && x < COLUMNS * CELL_WIDTH && y >= 0 && y < ROWS * CELL_HEIGHT)
            continue;
        const uint8_t *at = seen.rgb + 3 * i;
        uint32_t color = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
        int known = 0;
        while (known < count && colors[known] != color)
            known++;
        if (known == count)
            colors[count++] = color;
    }
    vd_image_clear(&seen);
    return count;
}

static void await_picture(const char *path)
{
    double distance = 100;
    for (int i = 0; i < PATIENCE_MS / PAUSE_MS && distance > 3; i++) {
        pause_briefly();
        distance = distance_to(path);
    }
    assert_true(distance <= 3);
    assert_true(count_colors(false) <= FEW_COLORS);
}

// Nothing of any picture is on the screen.
static void await_no_picture(void)
{
    int count = FEW_COLORS + 1;
    for (int i = 0; i < PATIENCE_MS / PAUSE_MS && count > FEW_COLORS; i++) {
        pause_briefly();
        count = count_colors(true);
    }
    assert_true(count <= FEW_COLORS);
}

static const char first[] = "assets/pictures/1000001.png", second[] = "assets/pictures/1000002.png";

static void an_xterm_shows_sixels(void **state)
{
    (void)state;
    start_chat("");
    await_picture(first);
    run("xdotool key F8");
    await_picture(second);
    end_chat();
}

static void nothing_of_a_picture_remains(void **state)
{
    (void)state;
    start_chat("");
    await_picture(first);
    run("xdotool key F1");
    await_no_picture();
    run("xdotool key Escape");
    await_picture(first);
    run("xdotool key F2"); // larger, and back
    pause_briefly();
    run("xdotool key Escape");
    await_picture(first);
    run("xdotool search --class xterm windowsize 480 260"); // 80x20
    pause_briefly();
    run("xdotool search --class xterm windowsize 720 400");
    pause_briefly();
    run("xdotool search --class xterm windowsize 480 312"); // 80x24
    await_picture(first);
    run("xdotool key ctrl+z");
    await_no_picture();
    run("xdotool key Return"); // fg
    await_picture(first);
    end_chat();
}

static void cells_and_none_send_no_sixels(void **state)
{
    (void)state;
    start_chat("--picture none");
    pause_briefly();
    await_no_picture();
    end_chat();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_xterm_shows_sixels),
        cmocka_unit_test(nothing_of_a_picture_remains),
        cmocka_unit_test(cells_and_none_send_no_sixels),
    };
    return cmocka_run_group_tests(tests, open_display, close_display);
}
