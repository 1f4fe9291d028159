// Options for generating captions, the same in every command.
#ifndef VD_GENERATION_H
#define VD_GENERATION_H

#include "engine/model/captioner.h"
#include "tui/base/options.h"

#define VD_BUNDLED_CAPTIONER "captioner.safetensors"

// The default, before vd_arguments_read: a beam of five.
vd_generation vd_generation_usual(void);
// After that: a caption is searched or drawn.
vd_status vd_generation_check(vd_generation *how, const vd_arguments *given, vd_error *err);

// Where captioners of the kind sat-hard look: VD_HARD_LARGEST and so on.
extern const char *const vd_hard_names[];
// hard: an index of them. Where regions are drawn, a caption is greedy unless --beam is given.
// True: they are.
bool vd_generation_draws(vd_generation *how, int hard, const vd_arguments *given);
bool vd_captioner_is_hard(const vd_captioner *captioner); // of that kind; false for NULL

// The option names, for commands that refuse them in some modes.
#define VD_GENERATION_NAMES                                                                        \
    "hard beam longest length-power temperature no-repeat no-trigram no-dangling merge-repeats"

// clang-format off
// NOLINTBEGIN(bugprone-macro-parentheses): `how` names a member
// Rows for a type of settings with a vd_generation `how`.
#define VD_GENERATION_OPTIONS(type, how)                                                               \
    {"beam", "N", "beam size of the search (5); 1: greedy",            \
     VD_INTO(type, how.beam), 1, VD_MOST_BEAMS},                                                   \
    {"longest", "N", "largest number of words (20)", VD_INTO(type, how.longest), 1, VD_MAX_CAPTION},            \
    {"length-power", "X", "rank captions by log-probability / length^X (0)",                       \
     VD_INTO(type, how.length_power), .least = 0, .most = 10},                                     \
    {"temperature", "X", "sample every word from p^(1/X) instead of beam search",                      \
     VD_INTO(type, how.temperature), .least = 0.01, .most = 100},                                  \
    {"no-repeat", NULL, "never repeat a word immediately", VD_INTO(type, how.no_repeat)},                \
    {"no-trigram", NULL, "never repeat a trigram", VD_INTO(type, how.no_trigram)},      \
    {"no-dangling", NULL, "do not end with \"a\", \"the\", \"of\" and the like",                       \
     VD_INTO(type, how.no_dangling)},                                                              \
    {"merge-repeats", NULL, "merge immediate repetitions of a word",                       \
     VD_INTO(type, how.merge_repeats)}
// hard: an int, an index of vd_hard_names.
#define VD_HARD_OPTION(type, hard)                                                                 \
    {"hard", "NAME",                                                                               \
     "captioner sat-hard: each word attends to the region of the largest weight (largest, "        \
     "default), a sampled one (draw), or all of them, weighted (expected)",                        \
     VD_INTO(type, hard), .choices = "largest, draw or expected"}
// NOLINTEND(bugprone-macro-parentheses)
// clang-format on

#endif
