// The comparison as tables, on standard output.
#include <string.h>

#include "tui/base/output.h"
#include "tui/compare/compare.h"
#include "tui/screen/wrap.h"

static const char *name_of(const vd_compare *compare, int side)
{
    return compare->cases->name[side];
}

// How often which of several models are right together.
static void print_patterns(const vd_compare *compare)
{
    const vd_cases *cases = compare->cases;
    bool relevance = compare->slices.slice[0].comparison.metrics[0].dense_rounds > 0;
    size_t count[2][1 << VD_MODELS] = {{0}}, total[2] = {0};
    for (size_t i = 0; i < cases->count; i++)
        for (int by = 0; by < 2; by++) {
            unsigned pattern = 0;
            if (vd_case_group_of(cases, &cases->at[i], (vd_right)by) == VD_CASE_UNKNOWN)
                continue;
            for (int side = 0; side < cases->models; side++)
                pattern |= (unsigned)vd_case_right(&cases->at[i], side, (vd_right)by)
                           << (cases->models - 1 - side);
            count[by][pattern]++;
            total[by]++;
        }
    for (int side = 0; side < cases->models; side++)
        printf("%-10.10s ", name_of(compare, side));
    printf("%18s%s\n", "the human answer", relevance ? "        relevance 1" : "");
    for (unsigned i = 1u << cases->models; i-- > 0;) {
        for (int side = 0; side < cases->models; side++)
            printf("%-10s ", i >> (cases->models - 1 - side) & 1 ? "right" : "wrong");
        for (int by = 0; by < 1 + relevance; by++)
            printf(" %9zu  %5.1f %%", count[by][i],
                   total[by] > 0 ? 100 * (double)count[by][i] / (double)total[by] : 0.0);
        printf("\n");
    }
}

static void print_table(void *context, vd_compare_kind kind, const vd_table *table)
{
    (void)context;
    if (kind != VD_COMPARE_GROUPS)
        printf("\n");
    vd_table_print(table, 0, stdout);
}

// Columns of the longest name.
static int names_width(const vd_cases *cases)
{
    int width = (int)strlen("human");
    for (int side = 0; side < cases->models; side++) {
        int own = vd_text_width(cases->name[side], strlen(cases->name[side]));
        width = own > width ? own : width;
    }
    return width;
}

static void print_name(const char *name, int width)
{
    printf("%s%*s", name, width - vd_text_width(name, strlen(name)), "");
}

static void print_answer(const vd_cases *cases, const vd_case *at, int side, vd_right by, bool utf8)
{
    const vd_case_side *s = &at->side[side];
    const vd_visdial_round *round = vd_case_round(cases, at);
    const char *tick = vd_case_right(at, side, by) ? utf8 ? "\u2713" : "+" : utf8 ? "\u2717" : "-";
    if (vd_case_group_of(cases, at, by) == VD_CASE_UNKNOWN)
        tick = " ";
    printf("      ");
    print_name(cases->name[side], names_width(cases));
    printf(" %s %s", tick, vd_case_option(cases, at, s->first));
    const char *before = "  (";
    if (round->relevance) {
        printf("%srelevance %.2f", before, (double)round->relevance[s->first]);
        before = ", ";
    }
    if (s->rank > 0) {
        printf("%shuman answer: place %g", before, (double)s->rank);
        before = ", ";
    }
    printf("%s\n", *before == ',' ? ")" : "");
}

void vd_case_print(const vd_cases *cases, const vd_case *at, vd_right by, bool utf8)
{
    const char *human = vd_case_human(cases, at);
    printf("%s?\n      ", vd_case_question(cases, at));
    print_name("human", names_width(cases));
    printf("   %s\n", human ? human : "-");
    for (int side = 0; side < cases->models; side++)
        print_answer(cases, at, side, by, utf8);
}

static void print_cases(const vd_compare *compare)
{
    enum { MOST = 10 };
    bool utf8 = vd_output_utf8();
    const vd_cases *cases = compare->cases;
    printf("\nwhere they differ most%s\n",
           compare->count ? "" : ": no question fits what was asked for");
    for (size_t i = 0; i < compare->count && i < MOST; i++) {
        const vd_case *at = compare->at[i];
        printf("%3.0f %%  picture %lld, round %d: ", 100 * (double)at->moved,
               (long long)vd_case_dialog(cases, at)->image_id, at->round + 1);
        vd_case_print(cases, at, compare->by, utf8);
    }
}

vd_status vd_compare_print(const vd_compare *compare, vd_error *err)
{
    const vd_cases *cases = compare->cases;
    for (int side = 0; side < cases->models; side++)
        printf("%-8s %s (%s)\n", side ? "" : "models", name_of(compare, side),
               vd_model_path(cases->model[side]));
    printf("data     %s, %zu dialog%s, %zu question%s\n\n", cases->corpus->data, cases->dialogs,
           cases->dialogs == 1 ? "" : "s", cases->count, cases->count == 1 ? "" : "s");
    if (cases->models > 2)
        print_patterns(compare);
    vd_status status = VD_OK;
    for (int side = 1; side < cases->models && status == VD_OK; side++) {
        if (cases->models > 2)
            printf("\n---- %s against %s\n\n", name_of(compare, side), name_of(compare, 0));
        status = vd_compare_tables(compare, side, print_table, NULL, err);
    }
    if (status == VD_OK)
        print_cases(compare);
    return status;
}
