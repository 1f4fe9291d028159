// Scripted screens: every file tests/screen/scripts/NAME.keys is played to a chat without an
// engine; the screens it asks for are compared with tests/screen/expected/NAME.txt.
//
//   # a comment              size 80 24          look ascii | utf8 | color
//   keys 'is it red?' Enter F1                   screen what to call it
//   everywhere what to call it                   the screen at 80x24, 120x40 and 40x12
//   history: captions have one              tick: a playing caption goes on by a word
//   hold: questions wait for their answer        release: it comes        fail: it does not
//
// VISDIAL_UPDATE=1 writes the expected files instead; read the difference before committing it.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/fake_chat.h"
#include "tests/support/screens.h"

enum { MOST_SCRIPTS = 64 };
static char names[MOST_SCRIPTS][64];

static void add_screen(FILE *out, fake_chat *fake, const char *title)
{
    char *text = fake_chat_text(fake);
    fprintf(out, "==== %s (%dx%d, cursor %d %d)\n%s", title, fake->grid.width, fake->grid.height,
            fake->grid.cursor_x, fake->grid.cursor_y, text);
    vd_free(text);
}

static void add_screen_everywhere(FILE *out, fake_chat *fake, const char *title)
{
    static const int sizes[][2] = {{120, 40}, {40, 12}, {80, 24}};
    int width = fake->grid.width, height = fake->grid.height;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fake_chat_size(fake, sizes[i][0], sizes[i][1]);
        add_screen(out, fake, title);
    }
    fake_chat_size(fake, width, height);
}

static void play_line(FILE *out, fake_chat *fake, char *line)
{
    int width, height;
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '#' || line[0] == '\0')
        return;
    if (sscanf(line, "size %d %d", &width, &height) == 2) {
        fake_chat_size(fake, width, height);
    } else if (strncmp(line, "look ", 5) == 0) {
        fake->grid.look.ascii = strcmp(line + 5, "ascii") == 0;
        fake->grid.look.depth = strcmp(line + 5, "color") == 0 ? VD_DEPTH_256 : VD_DEPTH_MONO;
        vd_chat_draw(&fake->chat, &fake->grid);
    } else if (strncmp(line, "keys ", 5) == 0) {
        fake_chat_keys(fake, line + 5);
    } else if (strncmp(line, "screen ", 7) == 0) {
        add_screen(out, fake, line + 7);
    } else if (strncmp(line, "everywhere ", 11) == 0) {
        add_screen_everywhere(out, fake, line + 11);
    } else if (strcmp(line, "history") == 0) {
        fake->history_of_captions = true;
    } else if (strcmp(line, "tick") == 0) {
        for (int i = 0; i < VD_FADES; i++)
            vd_chat_tick(&fake->chat);
        vd_chat_draw(&fake->chat, &fake->grid);
    } else if (strcmp(line, "hold") == 0) {
        fake->hold = true;
    } else if (strcmp(line, "release") == 0) {
        fake_chat_release(fake, VD_OK);
        fake->hold = false;
    } else if (strcmp(line, "fail") == 0) {
        fake_chat_release(fake, VD_IO);
        fake->hold = false;
    } else {
        fail_msg("no such line in a script: %s", line);
    }
}

static void a_script_gives_the_expected_screens(void **state)
{
    static fake_chat fake;
    char path[256], line[512], *played = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "tests/screen/scripts/%s.keys", (const char *)*state);
    FILE *script = fopen(path, "r");
    assert_non_null(script);
    FILE *out = open_memstream(&played, &size);
    assert_non_null(out);
    fake_chat_start(&fake);
    while (fgets(line, sizeof line, script))
        play_line(out, &fake, line);
    fake_chat_end(&fake);
    fclose(script);
    fclose(out);
    screens_expect(*state, played);
}

int main(void)
{
    struct CMUnitTest tests[MOST_SCRIPTS];
    size_t count = 0;
    DIR *directory = opendir("tests/screen/scripts");
    if (!directory) {
        fprintf(stderr, "tests/screen/scripts is not here: run from the project's root\n");
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(directory)) && count < MOST_SCRIPTS;) {
        char *end = strstr(entry->d_name, ".keys");
        if (!end || end[5])
            continue;
        snprintf(names[count], sizeof names[count], "%.*s", (int)(end - entry->d_name),
                 entry->d_name);
        tests[count] = (struct CMUnitTest){names[count], a_script_gives_the_expected_screens, NULL,
                                           NULL, names[count]};
        count++;
    }
    closedir(directory);
    if (count < 8) {
        fprintf(stderr, "only %zu scripts were found\n", count);
        return 1;
    }
    return _cmocka_run_group_tests("scripts", tests, count, NULL, NULL);
}
