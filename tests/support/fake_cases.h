// The screen of the cases with groups, ranks and answers that are made up, so that they are the
// same on every machine. Short names: tests of the screen are written in them.
#ifndef VD_TEST_FAKE_CASES_H
#define VD_TEST_FAKE_CASES_H

#include <stdbool.h>

#include "tests/support/tiny_world.h"
#include "tui/compare/cases_view.h"

extern vd_cases *cases, *two, *four; // of two models and of four; cases: the ones in use
extern vd_cases_view view;
extern bool left; // the last keys asked to leave
extern vd_grid grid;
extern const vd_case_filter by_human;

// Set-up and tear-down of a group of tests.
int open_view(void **state);
int close_view(void **state);

void open_list(vd_cases *of);
void serve(void);            // answers what the view asks for
void play(const char *keys); // "Down Enter a", text as '/quit': with every answer at once
void draw(int width, int height);
bool is_shown(const char *part); // by the grid that was drawn

#endif
