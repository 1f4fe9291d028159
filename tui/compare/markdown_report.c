// The comparison as Markdown: the tables, then the cases.
#include "tui/compare/compare.h"
#include "tui/page/markdown.h"

static const char *model_name(const vd_compare *compare, int side)
{
    return compare->cases->name[side];
}

static void put_table(void *markup, vd_compare_kind kind, const vd_table *table)
{
    (void)kind;
    vd_markdown_table(markup, table);
}

// One model against the first.
static vd_status put_pair(vd_markup *m, const vd_compare *compare, int side, vd_error *err)
{
    if (compare->cases->models > 2)
        vd_markup_put(m, "## %s against %s\n\n", model_name(compare, side), model_name(compare, 0));
    return vd_compare_tables(compare, side, put_table, m, err);
}

static vd_status put_all(vd_markup *m, const vd_compare *compare, vd_error *err)
{
    const vd_cases *cases = compare->cases;
    char names[400];
    vd_cases_names(compare->cases, names, sizeof names);
    vd_markup_put(m,
                  "# %s, question by question\n\n%zu questions of %zu dialogs in %s; every "
                  "question continues from the human answers. Differences are %s minus %s; "
                  "intervals are 95 %%, from a paired bootstrap over dialogs.\n\n",
                  names, cases->count, cases->dialogs, cases->corpus->data,
                  cases->models > 2 ? "a model" : model_name(compare, 1), model_name(compare, 0));
    vd_status status = VD_OK;
    for (int side = 1; side < cases->models && status == VD_OK; side++)
        status = put_pair(m, compare, side, err);
    vd_markup_put(m, "## Cases\n\n%zu of %zu, by how far the models differ.\n\n", compare->count,
                  compare->shown_of);
    for (size_t i = 0; i < compare->count && status == VD_OK; i++) {
        vd_case_sheet made;
        status = vd_case_sheet_make(cases, compare->at[i], compare->by, compare->stop, &made, err);
        if (status)
            break;
        vd_markdown_sheet(m, &made.sheet);
        vd_case_sheet_clear(&made);
        if (compare->progress)
            vd_progress_update(compare->progress, (int64_t)i + 1, NULL);
    }
    return status;
}

vd_status vd_compare_markdown(const vd_compare *compare, const char *path, vd_error *err)
{
    vd_markup *m;
    vd_status status = vd_markup_create(path, VD_MARKUP_MARKDOWN, &m, err);
    if (status)
        return status;
    status = put_all(m, compare, err);
    if (status == VD_OK)
        return vd_markup_commit(m, err);
    vd_markup_abort(m);
    return status;
}
