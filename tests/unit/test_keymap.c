#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tui/screen/keymap.h"

static vd_action action_of(vd_place place, const char *name, bool line_empty)
{
    vd_key key;
    assert_true(vd_key_parse(name, &key));
    return vd_keymap_action(place, key, line_empty);
}

static void names_and_keys_go_both_ways(void **state)
{
    (void)state;
    static const char *const names[] = {"Ctrl-A",   "Alt-b",     "F1",    "F12",          "PgUp",
                                        "Alt-Left", "Ctrl-Home", "?",     "\xe7\x90\x83", "Enter",
                                        "Esc",      "Space",     "Alt-9", "Shift-F3",     "-"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vd_key key;
        char name[24];
        assert_true(vd_key_parse(names[i], &key));
        vd_key_name(key, name, sizeof name);
        assert_string_equal(name, names[i]);
    }
    vd_key key;
    assert_true(vd_key_parse("C-a", &key));
    assert_int_equal(key.code, 'a');
    assert_int_equal(key.modifiers, VD_CTRL);
    static const char *const wrong[] = {"", "F99", "Foo", "C-", "ab", "X-a"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (vd_key_parse(wrong[i], &key))
            // "C-" alone is no key; it must not be taken for Ctrl with nothing.
            fail_msg("'%s' was taken for a key", wrong[i]);
}

static void question_mark_and_end_of_input_depend_on_the_line(void **state)
{
    (void)state;
    assert_int_equal(action_of(VD_PLACE_CHAT, "?", true), VD_ACTION_HELP);
    assert_int_equal(action_of(VD_PLACE_CHAT, "?", false), VD_ACTION_NONE);
    assert_int_equal(action_of(VD_PLACE_CHAT, "C-d", true), VD_ACTION_LEAVE);
    assert_int_equal(action_of(VD_PLACE_CHAT, "C-d", false), VD_ACTION_EDIT_DELETE);
    assert_int_equal(action_of(VD_PLACE_DETAIL, "Left", true), VD_ACTION_LEFT);
    assert_int_equal(action_of(VD_PLACE_DETAIL, "Left", false), VD_ACTION_EDIT_LEFT);
}

static void the_usual_editing_keys_work_wherever_there_is_a_line(void **state)
{
    (void)state;
    static const char *const keys[] = {"C-a",  "C-e", "C-b", "C-f",      "C-k", "C-u",
                                       "C-w",  "C-y", "C-t", "M-b",      "M-f", "M-d",
                                       "Home", "End", "Del", "Backspace"};
    for (int place = 0; place < VD_PLACE_HELP; place++)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            assert_true(action_of((vd_place)place, keys[i], false) >= VD_ACTION_EDIT_START);
}

static void every_answer_key_chooses(void **state)
{
    (void)state;
    char name[8];
    for (int i = 1; i <= 9; i++) {
        snprintf(name, sizeof name, "M-%d", i);
        assert_int_equal(action_of(VD_PLACE_CHAT, name, true), VD_ACTION_CHOOSE_ANSWER);
    }
    assert_int_equal(action_of(VD_PLACE_CHAT, "M-0", true), VD_ACTION_NONE);
}

// Whether the key that a name of the help stands for ("click" is none) does something in a place.
static bool works(vd_place place, const char *name)
{
    const char *range = strstr(name, "..");
    char key[32];
    snprintf(key, sizeof key, "%.*s", (int)(range ? range - name : (long)strlen(name)), name);
    return strcmp(key, "click") == 0 || action_of(place, key, true) != VD_ACTION_NONE ||
           action_of(place, key, false) != VD_ACTION_NONE;
}

// The help is made from the table; each line must name keys that do something there.
static void every_line_of_the_help_names_keys_that_work(void **state)
{
    (void)state;
    for (int place = 0; place < VD_ALL_PLACES; place++) {
        char keys[96];
        const char *meaning;
        size_t lines = 0;
        bool help = false, leaves = false;
        assert_non_null(vd_keymap_title((vd_place)place));
        for (; vd_keymap_help((vd_place)place, lines, keys, sizeof keys, &meaning); lines++) {
            help |= strstr(keys, "F1") != NULL;
            leaves |= strstr(keys, "Ctrl-D") != NULL;
            assert_true(keys[0] && meaning[0]);
            for (char *rest = keys, *name; (name = strsep(&rest, ",")) != NULL;)
                assert_true(works((vd_place)place, name + strspn(name, " ")));
        }
        assert_true(help && leaves && lines > 3);
    }
}

// What a line of the help says, by one of its keys; NULL: no line names it.
static const char *meaning_of(vd_place place, const char *key)
{
    static char keys[96];
    const char *meaning;
    for (size_t i = 0; vd_keymap_help(place, i, keys, sizeof keys, &meaning); i++)
        for (char *rest = keys, *name; (name = strsep(&rest, ",")) != NULL;)
            if (strcmp(name + strspn(name, " "), key) == 0)
                return meaning;
    return NULL;
}

// A key that means something else in a place is said there with that meaning alone.
static void help_says_what_a_key_means_here(void **state)
{
    (void)state;
    assert_string_equal(meaning_of(VD_PLACE_CASE_MAPS, "Down"), "scroll down");
    assert_string_equal(meaning_of(VD_PLACE_CASE_MAPS, "n"), "the next case");
    assert_string_equal(meaning_of(VD_PLACE_CASE, "Down"), "the next case");
    assert_string_equal(meaning_of(VD_PLACE_CASES_AND_CASE, "Esc"), "show all cases");
    assert_string_equal(meaning_of(VD_PLACE_CASE, "Esc"), "back to where you were");
    assert_string_equal(meaning_of(VD_PLACE_CHAT, "Esc"),
                        "cancel the edit, or reading a picture; back to the last round");
    assert_null(meaning_of(VD_PLACE_CHAT, "q"));
}

static void ranges_have_bounds(void **state)
{
    (void)state;
    assert_int_equal(action_of(VD_PLACE_CASES, "0", true), VD_ACTION_NONE);
    assert_int_equal(action_of(VD_PLACE_CASES, "1", true), VD_ACTION_GROUP);
    assert_int_equal(action_of(VD_PLACE_CASES, "4", true), VD_ACTION_GROUP);
    assert_int_equal(action_of(VD_PLACE_CASES, "5", true), VD_ACTION_NONE);
    assert_int_equal(action_of(VD_PLACE_CHAT, "1", true), VD_ACTION_NONE);
}

// Characters are typed wherever there is a line with something in it.
static void characters_are_typed(void **state)
{
    (void)state;
    for (int place = 0; place < VD_PLACE_HELP; place++)
        for (uint32_t code = ' '; code < 0x7F; code++)
            assert_int_equal(vd_keymap_action((vd_place)place, (vd_key){.code = code}, false),
                             VD_ACTION_NONE);
}

// The first place of each screen.
static const vd_place screens[] = {VD_PLACE_CHAT, VD_PLACE_CASES, VD_PLACE_CURVES, VD_PLACE_RUN};

static void every_action_is_reached(void **state)
{
    (void)state;
    bool reached[VD_ACTIONS] = {[VD_ACTION_NONE] = true};
    for (size_t s = 0; s < sizeof screens / sizeof *screens; s++) {
        const vd_binding *binding, *last = NULL;
        for (size_t i = 0; (binding = vd_keymap_command(screens[s], i)) != NULL; i++) {
            assert_true(binding->command[0] == '/' && binding->meaning[0]);
            reached[binding->action] = true;
            assert_true(!last || strcmp(last->command, binding->command) < 0); // each once
            last = binding;
        }
    }
    for (int place = 0; place < VD_ALL_PLACES; place++)
        for (int modifiers = 0; modifiers < 4; modifiers++)
            for (uint32_t code = 0; code < VD_KEY_F0 + 13;
                 code = code == 0x7F ? VD_KEY_NONE : code + 1) {
                const vd_key key = {.code = code, .modifiers = (uint8_t)modifiers};
                reached[vd_keymap_action((vd_place)place, key, true)] = true;
                reached[vd_keymap_action((vd_place)place, key, false)] = true;
            }
    for (int action = 0; action < VD_ACTIONS; action++)
        if (!reached[action])
            fail_msg("nothing leads to action %d", action);
}

static bool has_command(vd_place screen, vd_action action)
{
    const vd_binding *binding;
    for (size_t i = 0; (binding = vd_keymap_command(screen, i)) != NULL; i++)
        if (binding->action == action)
            return true;
    return false;
}

// Keyboards without Alt, and terminals that take function keys: all but Enter and the line's own
// keys can be typed. In lists typing filters; Enter, Esc and the arrows are on every keyboard.
static void every_key_has_a_command(void **state)
{
    (void)state;
    static const vd_place places[] = {VD_PLACE_CHAT,      VD_PLACE_ZOOM,   VD_PLACE_DETAIL,
                                      VD_PLACE_COMPARE,   VD_PLACE_WALK,   VD_PLACE_CASES,
                                      VD_PLACE_CASE_MAPS, VD_PLACE_CURVES, VD_PLACE_RUN};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char keys[96];
        const char *meaning;
        vd_place screen = places[i] < VD_PLACES         ? VD_PLACE_CHAT
                          : places[i] < VD_PLACE_CURVES ? VD_PLACE_CASES
                                                        : places[i];
        for (size_t k = 0; vd_keymap_help(places[i], k, keys, sizeof keys, &meaning); k++)
            for (char *rest = keys, *name; (name = strsep(&rest, ",")) != NULL;) {
                char key[32];
                name += strspn(name, " ");
                snprintf(key, sizeof key, "%.*s", (int)strcspn(name, "."), name);
                if (strcmp(key, "click") == 0)
                    continue;
                vd_action action = action_of(places[i], key, true);
                if (action != VD_ACTION_ASK && action != VD_ACTION_COMMAND &&
                    action < VD_ACTION_EDIT_START && !has_command(screen, action))
                    fail_msg("no command does what %s does (%s)", key, meaning);
            }
    }
}

// ---- rebinding ---------------------------------------------------------------------------------

static vd_error err;
static vd_rebinding mine[4];

static void rebind(const char *key, const char *to)
{
    static int count;
    count = key ? count : 0;
    if (key)
        assert_int_equal(vd_rebinding_read(key, to, &mine[count++], &err), VD_OK);
    vd_keymap_rebind(mine, count);
}

static void a_key_does_what_another_does_or_nothing(void **state)
{
    (void)state;
    rebind("F8", "F7");
    rebind("F7", "F8");
    rebind("C-g", "M-3");
    rebind("F12", "none");
    assert_int_equal(action_of(VD_PLACE_CHAT, "F8", true), VD_ACTION_PREVIOUS_PICTURE);
    assert_int_equal(action_of(VD_PLACE_CHAT, "F7", true), VD_ACTION_NEXT_PICTURE);
    assert_int_equal(action_of(VD_PLACE_CHAT, "C-g", true), VD_ACTION_CHOOSE_ANSWER);
    char says[2];
    assert_string_equal(vd_keymap_says(mine[2].key, says), "3");
    assert_int_equal(action_of(VD_PLACE_CHAT, "F12", true), VD_ACTION_NONE);
    assert_string_equal(meaning_of(VD_PLACE_CHAT, "F7"), "next picture");
    assert_string_equal(meaning_of(VD_PLACE_CHAT, "F8"), "previous picture");
    assert_non_null(strstr(meaning_of(VD_PLACE_CHAT, "Ctrl-G"), "continue with the answer"));
    assert_null(meaning_of(VD_PLACE_CHAT, "F12"));
    assert_non_null(meaning_of(VD_PLACE_CHAT, "Alt-w")); // its other key
    char hints[256];
    vd_keymap_hints(VD_PLACE_CHAT, 200, hints, sizeof hints);
    assert_null(strstr(hints, "F8 next"));
    assert_null(strstr(hints, "F12"));
    rebind(NULL, NULL);
    assert_int_equal(action_of(VD_PLACE_CHAT, "F12", true), VD_ACTION_WALK);
}

static void a_key_runs_a_command(void **state)
{
    (void)state;
    rebind("C-g", "/walk");
    rebind("F9", "/theme light");
    assert_string_equal(vd_keymap_line(VD_PLACE_CHAT, mine[1].key), "/theme light");
    assert_string_equal(vd_keymap_line(VD_PLACE_ZOOM, mine[0].key), "/walk");
    assert_null(vd_keymap_line(VD_PLACE_HELP, mine[0].key));
    assert_non_null(strstr(meaning_of(VD_PLACE_CHAT, "Ctrl-G"), "a walk through"));
    assert_string_equal(meaning_of(VD_PLACE_CHAT, "F9"), "/theme light");
    assert_null(vd_keymap_line(VD_PLACE_CASES, mine[0].key)); // no /walk is there
    assert_null(meaning_of(VD_PLACE_CASES, "Ctrl-G"));
    assert_string_equal(vd_keymap_line(VD_PLACE_CASES, mine[1].key), "/theme light");
    assert_string_equal(meaning_of(VD_PLACE_CASES, "F9"), "/theme light");
    rebind(NULL, NULL);
}

static void refused(const char *key, const char *to, const char *says)
{
    vd_rebinding out;
    assert_int_equal(vd_rebinding_read(key, to, &out, &err), VD_FORMAT);
    if (!strstr(err.text, says))
        fail_msg("expected '%s', found '%s'", says, err.text);
}

static void a_wrong_rebinding_says_what_is_wrong(void **state)
{
    (void)state;
    refused("Ctrl-", "/walk", "there is no key 'Ctrl-'");
    refused("Click", "/walk", "there is no key 'Click'");
    refused("F99999999999999999999", "/walk", "there is no key 'F99999999999999999999'");
    refused("x", "/walk", "'x' is typed in questions");
    refused("F9", "/wlak", "there is no command /wlak; did you mean /walk?");
    refused("F9", "/walk here", "/walk takes no argument, found 'here'");
    refused("F9", "walk", "found 'walk', expected a /command, another key or none");
}

// Each hint is clicked at its first and last column, and between two of them nothing is.
static void hints_are_clicked(void **state)
{
    (void)state;
    for (int place = 0; place < VD_ALL_PLACES; place++)
        for (int width = 20; width < 130; width += 13) {
            char hints[256];
            vd_keymap_hints((vd_place)place, width, hints, sizeof hints);
            int end = (int)strlen(hints);
            for (int x = -1; x <= width; x++) {
                bool gap = x < 0 || x >= end || (hints[x] == ' ' && hints[x + 1] == ' ') ||
                           (x > 0 && hints[x] == ' ' && hints[x - 1] == ' ');
                vd_key key = vd_keymap_hint_key((vd_place)place, width, x);
                assert_int_equal(key.code == VD_KEY_NONE, gap);
                if (!gap)
                    assert_int_not_equal(vd_keymap_action((vd_place)place, key, true),
                                         VD_ACTION_NONE);
            }
        }
    vd_key key = vd_keymap_hint_key(VD_PLACE_CASES, 80, 0);
    assert_int_equal(key.code, VD_KEY_F0 + 1);
    key = vd_keymap_hint_key(VD_PLACE_CASES, 80, 9);
    assert_int_equal(key.code, 'q');
}

static void hints_fit_the_width(void **state)
{
    (void)state;
    for (int place = 0; place < VD_ALL_PLACES; place++)
        for (int width = 0; width < 130; width++) {
            char hints[256];
            vd_keymap_hints((vd_place)place, width, hints, sizeof hints);
            assert_true((int)strlen(hints) <= width);
            if (width >= 40)
                assert_non_null(strstr(hints, "F1 help"));
        }
    char small[8]; // the buffer counts, too
    vd_keymap_hints(VD_PLACE_CHAT, 100, small, sizeof small);
    assert_true(strlen(small) < sizeof small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_keys_go_both_ways),
        cmocka_unit_test(question_mark_and_end_of_input_depend_on_the_line),
        cmocka_unit_test(the_usual_editing_keys_work_wherever_there_is_a_line),
        cmocka_unit_test(every_answer_key_chooses),
        cmocka_unit_test(every_line_of_the_help_names_keys_that_work),
        cmocka_unit_test(help_says_what_a_key_means_here),
        cmocka_unit_test(ranges_have_bounds),
        cmocka_unit_test(characters_are_typed),
        cmocka_unit_test(every_action_is_reached),
        cmocka_unit_test(every_key_has_a_command),
        cmocka_unit_test(a_key_does_what_another_does_or_nothing),
        cmocka_unit_test(a_key_runs_a_command),
        cmocka_unit_test(a_wrong_rebinding_says_what_is_wrong),
        cmocka_unit_test(hints_fit_the_width),
        cmocka_unit_test(hints_are_clicked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
