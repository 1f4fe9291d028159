// The comparison as one HTML page and as Markdown: the numbers, then the cases; in HTML with a list
// to go through them.
#include <glib.h>

#include "tui/compare/compare.h"
#include "tui/page/html.h"
#include "tui/page/markdown.h"

typedef struct page {
    const vd_compare *compare;
    vd_markup *markup;
    bool html;
    int *size; // (dialogs of the corpus, 2) of the pictures in the HTML page; -1: there is none
} page;

static const char *model_name(const page *p, int side)
{
    return p->compare->cases->name[side];
}

// ---- what both say ------------------------------------------------------------------------------

static void put_about(page *p)
{
    const vd_cases *cases = p->compare->cases;
    vd_markup_put(p->markup,
                  "%zu questions of %zu dialogs in %s; every question continues from the human "
                  "answers. Differences are %s minus %s; intervals are 95 %%, from a paired "
                  "bootstrap over dialogs.",
                  cases->count, cases->dialogs, cases->corpus->data,
                  cases->models > 2 ? "a model" : model_name(p, 1), model_name(p, 0));
}

// ---- numbers ------------------------------------------------------------------------------------

static void put_table(void *context, vd_compare_kind kind, const vd_table *table)
{
    page *p = context;
    vd_table shown = *table;
    if (!p->html) {
        vd_markdown_table(p->markup, table);
        return;
    }
    if (kind >= VD_COMPARE_FAMILIES)
        shown.columns--; // "only / only": two of them fit beside each other without it
    vd_html_table(p->markup, &shown);
    if (kind == VD_COMPARE_METRICS)
        vd_markup_put(p->markup, "<div class=\"slices\">");
}

// One model against the first.
static vd_status put_pair(page *p, int side, vd_error *err)
{
    if (p->compare->cases->models > 2)
        vd_markup_put(p->markup,
                      "<h2 class=\"pair\"><span class=\"side-%d\">%s</span> against "
                      "<span class=\"side-0\">%s</span></h2>\n",
                      side, model_name(p, side), model_name(p, 0));
    vd_status status = vd_compare_tables(p->compare, side, put_table, p, err);
    vd_markup_put(p->markup, "</div>\n");
    return status;
}

static vd_status put_numbers(page *p, vd_error *err)
{
    const vd_cases *cases = p->compare->cases;
    vd_markup_put(p->markup, "<header class=\"top\"><h1>");
    for (int side = 0; side < cases->models; side++)
        vd_markup_put(p->markup, "%s<span class=\"side-%d\">%s</span>",
                      side == 0                   ? ""
                      : side == cases->models - 1 ? " and "
                                                  : ", ",
                      side, model_name(p, side));
    vd_markup_put(p->markup, "</h1>\n<p>");
    put_about(p);
    vd_markup_put(p->markup, "</p></header>\n<section class=\"sheet\" id=\"numbers\">"
                             "<h2>Size of the differences</h2>\n");
    vd_status status = VD_OK;
    for (int side = 1; side < cases->models && status == VD_OK; side++)
        status = put_pair(p, side, err);
    vd_markup_put(p->markup, "</section>\n");
    return status;
}

// ---- cases --------------------------------------------------------------------------------------

static void put_tools(page *p)
{
    const vd_compare *compare = p->compare;
    size_t counts[VD_CASE_GROUPS] = {0};
    for (size_t i = 0; i < compare->count; i++)
        counts[vd_case_group_of(compare->cases, compare->at[i], compare->by)]++;
    vd_markup_put(p->markup, "<div class=\"tools\" role=\"search\"><div class=\"buttons\">");
    for (int g = 0; g < VD_CASE_UNKNOWN; g++) {
        char name[96];
        const char *key = vd_case_group_key((vd_case_group)g);
        vd_case_group_name(compare->cases, (vd_case_group)g, name, sizeof name);
        vd_markup_put(p->markup,
                      "<button type=\"button\" class=\"group-%s\" data-group=\"%s\" "
                      "aria-pressed=\"true\"><kbd>%d</kbd> %s <b>%zu</b></button>",
                      key, key, g + 1, name, counts[g]);
    }
    vd_markup_put(p->markup, "</div>");
    if (compare->cases->family_count) {
        vd_markup_put(p->markup,
                      "<label>Family <select id=\"family\"><option value=\"\">all</option>");
        for (size_t i = 0; i < compare->cases->family_count; i++)
            vd_markup_put(p->markup, "<option>%s</option>", compare->cases->family[i]);
        vd_markup_put(p->markup, "</select></label>");
    }
    vd_markup_put(p->markup,
                  "<label>Find <input id=\"find\" type=\"search\" placeholder=\"words, or a "
                  "picture\xE2\x80\x99s number\"></label><label>Order <select id=\"order\"><option "
                  "value=\"moved\">how far they differ</option><option value=\"dialog\">picture "
                  "and round</option></select></label><span class=\"count\" id=\"count\" "
                  "role=\"status\"></span></div>\n");
}

static void put_list(page *p)
{
    const vd_compare *compare = p->compare;
    vd_markup_put(p->markup, "<ol class=\"list\" id=\"list\" aria-label=\"Cases\">");
    for (size_t i = 0; i < compare->count; i++) {
        const vd_case *at = compare->at[i];
        const char *key = vd_case_group_key(vd_case_group_of(compare->cases, at, compare->by));
        char marks[4 * VD_MODELS];
        vd_case_marks(compare->cases, at, compare->by, false, marks, sizeof marks);
        vd_markup_put(p->markup,
                      "<li class=\"group-%s\"><a href=\"#case-%lld-%d\"><span class=\"marks\">%s"
                      "</span> <span class=\"asked\">%s?</span> <span class=\"far\" "
                      "style=\"--w:%.3f\">%.0f</span></a></li>\n",
                      key ? key : "", (long long)vd_case_dialog(compare->cases, at)->image_id,
                      at->round + 1, marks, vd_case_question(compare->cases, at), (double)at->moved,
                      100 * (double)at->moved);
    }
    vd_markup_put(p->markup, "</ol>\n");
}

// The picture goes into the page when its first case does.
static vd_status put_html_case(page *p, const vd_case *at, vd_sheet *sheet, vd_error *err)
{
    int *size = p->size + (size_t)2 * at->dialog;
    if (size[0] == 0) {
        vd_image image = {0};
        char *path = vd_corpus_picture(p->compare->cases->corpus, sheet->image_id);
        vd_status status = path ? vd_image_read(path, &image, err) : VD_OK;
        g_free(path);
        if (status)
            return status;
        size[0] = image.rgb ? image.width : -1;
        size[1] = image.height;
        if (image.rgb)
            vd_html_picture(p->markup, sheet->image_id, &image);
        vd_image_clear(&image);
    }
    sheet->width = size[0] > 0 ? size[0] : 0;
    sheet->height = size[1];
    vd_html_sheet(p->markup, sheet);
    return VD_OK;
}

// Asks the models about each case that is shown.
static vd_status each_case(page *p, vd_error *err)
{
    const vd_compare *compare = p->compare;
    vd_status status = VD_OK;
    for (size_t i = 0; i < compare->count && status == VD_OK; i++) {
        const vd_case *at = compare->at[i];
        vd_case_sheet made;
        status = vd_case_sheet_make(compare->cases, at, compare->by, compare->stop, &made, err);
        if (status)
            break;
        if (p->html)
            status = put_html_case(p, at, &made.sheet, err);
        else
            vd_markdown_sheet(p->markup, &made.sheet);
        vd_case_sheet_clear(&made);
        if (compare->progress)
            vd_progress_update(compare->progress, (int64_t)i + 1, NULL);
    }
    return status;
}

static vd_status put_cases(page *p, vd_error *err)
{
    const vd_compare *compare = p->compare;
    vd_markup_put(p->markup, "<section id=\"cases\" class=\"browser\"><h2>Case by case</h2>\n");
    if (compare->count < compare->shown_of)
        vd_markup_put(p->markup,
                      "<p class=\"note\">Of each group the cases in which the models differ most: "
                      "%zu of %zu.</p>\n",
                      compare->count, compare->shown_of);
    put_tools(p);
    vd_markup_put(p->markup, "<div class=\"panes\"><nav>");
    put_list(p);
    vd_markup_put(p->markup, "<p class=\"keys\"><kbd>j</kbd> <kbd>k</kbd> next, previous "
                             "<kbd>1</kbd>\xE2\x80\x93<kbd>4</kbd> groups <kbd>/</kbd> find "
                             "<kbd>Esc</kbd> everything</p></nav>\n<div class=\"shown\">\n");
    vd_status status = each_case(p, err);
    vd_markup_put(p->markup, "<p class=\"none\">No case matches. <kbd>Esc</kbd> shows all.</p>\n"
                             "</div></div></section>\n");
    return status;
}

vd_status vd_compare_html(const vd_compare *compare, const char *path, vd_error *err)
{
    page p = {.compare = compare, .html = true};
    char title[440], names[400];
    vd_cases_names(compare->cases, names, sizeof names);
    snprintf(title, sizeof title, "%s, question by question", names);
    p.size = g_new0(int, 2 * compare->cases->corpus->dialogs->dialog_count);
    vd_status status = vd_html_create(path, title, "compare", &p.markup, err);
    if (status == VD_OK)
        status = put_numbers(&p, err);
    if (status == VD_OK)
        status = put_cases(&p, err);
    if (status == VD_OK)
        status = vd_html_commit(p.markup, err);
    else
        vd_markup_abort(p.markup);
    g_free(p.size);
    return status;
}

// ---- Markdown -----------------------------------------------------------------------------------

vd_status vd_compare_markdown(const vd_compare *compare, const char *path, vd_error *err)
{
    page p = {.compare = compare};
    char names[400];
    vd_cases_names(compare->cases, names, sizeof names);
    vd_status status = vd_markup_create(path, VD_MARKUP_MARKDOWN, &p.markup, err);
    if (status)
        return status;
    vd_markup_put(p.markup, "# %s, question by question\n\n", names);
    put_about(&p);
    vd_markup_put(p.markup, "\n\n");
    for (int side = 1; side < compare->cases->models && status == VD_OK; side++) {
        if (compare->cases->models > 2)
            vd_markup_put(p.markup, "## %s against %s\n\n", model_name(&p, side),
                          model_name(&p, 0));
        status = vd_compare_tables(compare, side, put_table, &p, err);
    }
    vd_markup_put(p.markup, "## Cases\n\n%zu of %zu, by how far the models differ.\n\n",
                  compare->count, compare->shown_of);
    if (status == VD_OK)
        status = each_case(&p, err);
    if (status == VD_OK)
        return vd_markup_commit(p.markup, err);
    vd_markup_abort(p.markup);
    return status;
}
