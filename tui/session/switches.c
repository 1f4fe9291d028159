#include "tui/session/switches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/append.h"

static const struct {
    const char *name;
    vd_switch_kind kind;
    int from; // what its number counts from; -1: it has none
    int most;
} names[] = {
    {"caption", VD_SWITCH_ENTRY, -1, 0},         {"round", VD_SWITCH_ENTRY, 0, 100000},
    {"region", VD_SWITCH_REGION, 1, 1000},       {"word", VD_SWITCH_WORD, 1, 20},
    {"attention", VD_SWITCH_ATTENTION, 1, 1000}, {"positions", VD_SWITCH_POSITIONS, -1, 0},
    {"picture", VD_SWITCH_PICTURE, -1, 0},       {"history", VD_SWITCH_HISTORY, -1, 0},
};
enum { NAMES = sizeof names / sizeof *names };

static vd_status refuse(const char *text, vd_switch_of of, vd_error *err)
{
    static const char *const expected[] = {
        [VD_OF_ANSWER] = "caption, round N, region N, word N, word N=OTHER, attention N or NAME, "
                         "positions or picture",
        [VD_OF_CAPTION] = "region N, word N=OTHER or history"};
    return vd_error_set(err, VD_USAGE, "what-if '%.60s': expected %s", text, expected[of]);
}

vd_status vd_switch_parse(const char *text, vd_switch_of of, vd_switch *out, vd_error *err)
{
    size_t length = strcspn(text, " ");
    for (int i = 0; i < NAMES; i++) {
        if (strlen(names[i].name) != length || strncmp(text, names[i].name, length) != 0)
            continue;
        *out = (vd_switch){.kind = names[i].kind};
        const char *rest = text + length + strspn(text + length, " ");
        if (names[i].from < 0)
            return *rest ? refuse(text, of, err) : VD_OK;
        char *end;
        long number = strtol(rest, &end, 10);
        if (end == rest && *rest && out->kind == VD_SWITCH_ATTENTION && !strchr(rest, ' ') &&
            strlen(rest) < sizeof out->word) {
            out->index = -1;
            snprintf(out->word, sizeof out->word, "%s", rest);
            return VD_OK;
        }
        if (end == rest)
            return refuse(text, of, err);
        if (number < 1 || number > names[i].most)
            return vd_error_set(err, VD_USAGE, "what-if '%.60s': a %s's number is 1 to %d", text,
                                names[i].name, names[i].most);
        out->index = (int)number - names[i].from;
        if (*end == '=' && out->kind == VD_SWITCH_WORD && end[1] && !strchr(end, ' ') &&
            strlen(end + 1) < sizeof out->word) {
            snprintf(out->word, sizeof out->word, "%s", end + 1);
            return VD_OK;
        }
        return *end ? refuse(text, of, err) : VD_OK;
    }
    return refuse(text, of, err);
}

void vd_switch_name(const vd_switch *one, char *out, size_t size)
{
    bool caption = one->kind == VD_SWITCH_ENTRY && one->index == 0;
    for (int i = 0; i < NAMES; i++) {
        if (names[i].kind != one->kind || (one->kind == VD_SWITCH_ENTRY && caption != (i == 0)))
            continue;
        if (names[i].from < 0)
            snprintf(out, size, "%s", names[i].name);
        else if (one->kind == VD_SWITCH_ATTENTION && one->index < 0)
            snprintf(out, size, "%s %s", names[i].name, one->word);
        else if (one->kind == VD_SWITCH_ATTENTION)
            snprintf(out, size, "%s %d", names[i].name, one->index + names[i].from);
        else
            snprintf(out, size, "%s %d%s%s", names[i].name, one->index + names[i].from,
                     one->word[0] ? "=" : "", one->word);
        return;
    }
}

void vd_switches_text(const vd_switches *switches, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < switches->count; i++) {
        char name[64];
        vd_switch_name(&switches->at[i], name, sizeof name);
        vd_append(out, size, "%s%s", i ? ", " : "", name);
    }
}

bool vd_switch_leaves_out(const vd_switch *one)
{
    return one->kind == VD_SWITCH_ENTRY || one->kind == VD_SWITCH_REGION ||
           (one->kind == VD_SWITCH_WORD && !one->word[0]);
}

// The same thing, whatever the word.
static bool same_switch(const vd_switch *a, const vd_switch *b)
{
    bool named = a->kind == VD_SWITCH_ATTENTION && a->word[0] && b->word[0];
    return a->kind == b->kind && (named ? strcmp(a->word, b->word) == 0 : a->index == b->index);
}

const vd_switch *vd_switches_find(const vd_switches *switches, const vd_switch *one)
{
    for (int i = 0; i < switches->count; i++)
        if (same_switch(&switches->at[i], one))
            return &switches->at[i];
    return NULL;
}

bool vd_switches_same(const vd_switches *a, const vd_switches *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!same_switch(&a->at[i], &b->at[i]) || strcmp(a->at[i].word, b->at[i].word) != 0)
            return false;
    return true;
}

bool vd_switches_flip(vd_switches *switches, const vd_switch *one)
{
    vd_switch *there = (vd_switch *)vd_switches_find(switches, one);
    if (there && one->kind == VD_SWITCH_WORD && strcmp(there->word, one->word) != 0) {
        *there = *one;
        return true;
    }
    if (there) {
        const vd_switch *last = &switches->at[--switches->count];
        memmove(there, there + 1, (size_t)(last - there) * sizeof *there);
        return true;
    }
    if (switches->count == VD_SWITCHES)
        return false;
    switches->at[switches->count++] = *one;
    return true;
}

vd_status vd_switches_add(vd_switches *switches, vd_switch_of of, const char *option,
                          const char *text, vd_error *err)
{
    vd_switch one;
    vd_status status = vd_switch_parse(text, of, &one, err);
    const vd_switch *there = status ? NULL : vd_switches_find(switches, &one);
    if (there && one.kind == VD_SWITCH_WORD && strcmp(there->word, one.word) != 0) {
        char before[64];
        vd_switch_name(there, before, sizeof before);
        return vd_error_set(err, VD_USAGE,
                            "--%s: \"%.100s\" after \"%s\": a word can be changed once", option,
                            text, before);
    }
    if (status || there || vd_switches_flip(switches, &one))
        return status;
    return vd_error_set(err, VD_USAGE, "--%s: more than %d changes", option, VD_SWITCHES);
}
