// One question as an article: picture with outlines, dialog, rankings, attentions.
#include <math.h>

#include "tui/page/html.h"
#include "tui/answer/attention.h"
#include "tui/base/shares.h"

enum { MOST_ANSWERS = 8 };

static void put_figure(vd_markup *html, const vd_sheet *sheet, int which)
{
    const vd_sheet_side *side = &sheet->side[which];
    const vd_answer *answer = &side->reply->answer;
    const vd_region_look look = {.image_id = sheet->image_id,
                                 .width = sheet->width,
                                 .height = sheet->height,
                                 .boxes = sheet->boxes,
                                 .names = sheet->names,
                                 .known = sheet->regions,
                                 .share = vd_answer_shares(answer, VD_AXIS_REGIONS),
                                 .regions = answer->regions,
                                 .by = side->model,
                                 .side = which};
    vd_html_figure(html, &look);
}

// ---- words --------------------------------------------------------------------------------------

static void put_words(vd_markup *html, const vd_sheet_side *side)
{
    const vd_reply *reply = side->reply;
    double most = 0.3;
    for (int i = 0; i < reply->words; i++)
        most = fmax(most, vd_word_share(&reply->answer, i));
    vd_markup_put(html, "<p class=\"words\"><span class=\"key\">Saw</span>");
    for (int i = 0; i < reply->words; i++) {
        double known = vd_word_share(&reply->answer, i), share = fmax(known, 0);
        const vd_percent_text percent = vd_percent(share);
        vd_markup_put(html, " <span class=\"word%s\" style=\"--w:%.3f\" title=\"%s%s\">%s",
                      reply->unknown[i] ? " unknown" : "", fmin(share / most, 1),
                      known >= 0 ? percent.text : "in the question",
                      reply->unknown[i] ? ", not in the vocabulary" : "", reply->word[i]);
        if (share >= 0.1)
            vd_markup_put(html, "<sub>%s</sub>", percent.text);
        vd_markup_put(html, "</span>");
    }
    vd_markup_put(html, " <span class=\"note\">shade: share of attention</span>");
    if (reply->cut > 0)
        vd_markup_put(html, " <span class=\"note\">%d more words were not seen</span>", reply->cut);
    vd_markup_put(html, "</p>\n");
}

static void put_further(vd_markup *html, const vd_sheet *sheet, int which)
{
    const vd_attention *a;
    for (int i = 0; (a = vd_answer_further(&sheet->side[which].reply->answer, i)); i++) {
        char title[64], largest[800];
        bool many = a->query != VD_AXIS_QUESTIONS && a->query != VD_AXIS_ANSWER_WORDS;
        vd_attention_title(a, title, sizeof title);
        if (many)
            vd_markup_put(html, "<details class=\"words\"><summary>%s</summary>\n", title);
        for (int row = 0; row < a->rows; row++) {
            vd_sheet_largest(sheet, which, a, row, largest, sizeof largest);
            if (*largest)
                vd_markup_put(html, "<p class=\"words\"><span class=\"key\">%s</span> %s</p>\n",
                              many ? "" : title, largest);
        }
        if (many)
            vd_markup_put(html, "</details>\n");
    }
}

// ---- ranking ------------------------------------------------------------------------------------

// The side that this one's places are compared with: of two the other, of more the first; -1: none.
static int compared_with(const vd_sheet *sheet, int which)
{
    if (sheet->sides == 2)
        return !which;
    return sheet->sides > 2 && which > 0 ? 0 : -1;
}

static void put_candidate(vd_markup *html, const vd_sheet *sheet, int which, int place)
{
    const vd_sheet_side *side = &sheet->side[which];
    const vd_answer *answer = &side->reply->answer;
    int index = answer->order[place - 1];
    vd_markup_put(html, "<tr%s><td class=\"place\">%d</td><td class=\"answer\">%s",
                  index == side->human ? " class=\"human\"" : "", place, side->texts[index]);
    if (index == side->human)
        vd_markup_put(html, " <span class=\"mark human\">human</span>");
    if (index == side->chosen && place != 1)
        vd_markup_put(html, " <span class=\"mark\">chosen</span>");
    if (side->relevance && side->relevance[index] > 0)
        vd_markup_put(
            html, " <span class=\"mark relevance\" title=\"relevance rated by people\">%.2f</span>",
            (double)side->relevance[index]);
    vd_markup_put(html, "</td>");
    vd_html_share(html, "td", (double)answer->probability[index], which);
    int against = compared_with(sheet, which);
    if (against >= 0) {
        int other = vd_answer_place(&sheet->side[against].reply->answer, index) + 1,
            move = other - place;
        if (move == 0)
            vd_markup_put(html, "<td class=\"move\" title=\"the same place\">=</td>");
        else
            vd_markup_put(html, "<td class=\"move %s\" title=\"place %d with %s\">%s&#8202;%d</td>",
                          move > 0 ? "up" : "down", other, sheet->side[against].model,
                          move > 0 ? "\xE2\x96\xB2" : "\xE2\x96\xBC", move > 0 ? move : -move);
    }
    vd_markup_put(html, "</tr>");
}

static void put_ranking(vd_markup *html, const vd_sheet *sheet, int which)
{
    const vd_sheet_side *side = &sheet->side[which];
    const vd_answer *answer = &side->reply->answer;
    vd_markup_put(
        html, "<table class=\"ranking\"><thead><tr><th></th><th>answer, of %d</th><th>share</th>",
        answer->candidates);
    if (compared_with(sheet, which) >= 0)
        vd_markup_put(html, "<th title=\"places above or below the other model's\">vs. %s</th>",
                      sheet->side[compared_with(sheet, which)].model);
    vd_markup_put(html, "</tr></thead><tbody>");
    int shown = answer->candidates < MOST_ANSWERS ? answer->candidates : MOST_ANSWERS;
    for (int place = 1; place <= shown; place++)
        put_candidate(html, sheet, which, place);
    int also[] = {side->human, side->chosen};
    for (int i = 0; i < 2; i++) {
        int place = also[i] >= 0 && (i == 0 || also[1] != also[0])
                        ? vd_answer_place(answer, also[i]) + 1
                        : 0;
        if (place > shown) {
            vd_markup_put(html, "<tr class=\"gap\"><td colspan=\"%d\">&#8942;</td></tr>",
                          compared_with(sheet, which) >= 0 ? 4 : 3);
            put_candidate(html, sheet, which, place);
        }
    }
    vd_markup_put(html, "</tbody></table>\n");
}

// ---- dialog -------------------------------------------------------------------------------------

static void put_history_shares(vd_markup *html, const vd_sheet *sheet, int entry)
{
    for (int i = 0; i < sheet->sides; i++) {
        const vd_answer *answer = &sheet->side[i].reply->answer;
        const float *share = vd_answer_shares(answer, VD_AXIS_ENTRIES);
        if (entry < answer->rounds && share)
            vd_html_share(html, "td", (double)share[entry], i);
        else
            vd_markup_put(html, "<td></td>");
    }
}

static void put_dialog(vd_markup *html, const vd_sheet *sheet)
{
    vd_markup_put(html, "<table class=\"dialog\"><thead><tr><th></th><th>The dialog so far, and "
                        "the attention to it</th>");
    for (int i = 0; i < sheet->sides; i++)
        vd_markup_put(html, "<th title=\"attention to each round\">%s</th>", sheet->side[i].model);
    vd_markup_put(html, "</tr></thead><tbody><tr><td class=\"place\"></td><td class=\"caption\">%s",
                  sheet->caption);
    if (sheet->caption_by != VD_CAPTION_PEOPLE)
        vd_markup_put(html, " <span class=\"note\">%s</span>",
                      vd_caption_by_text(sheet->caption_by));
    vd_markup_put(html, "</td>");
    put_history_shares(html, sheet, 0);
    vd_markup_put(html, "</tr>");
    for (int r = 0; r < sheet->rounds; r++) {
        vd_markup_put(html,
                      "<tr><td class=\"place\">%d</td><td>%s%s <span class=\"said\">%s</span></td>",
                      r + 1, sheet->history[r].question, vd_sheet_mark(sheet->history[r].question),
                      sheet->history[r].answer);
        put_history_shares(html, sheet, r + 1);
        vd_markup_put(html, "</tr>");
    }
    vd_markup_put(html, "</tbody></table>\n");
}

// ---- article ------------------------------------------------------------------------------------

static void put_head(vd_markup *html, const vd_sheet *sheet)
{
    vd_markup_put(html, "<header><h3><a href=\"#%s\">%s</a></h3><p class=\"tags\">", sheet->id,
                  sheet->title);
    if (sheet->group)
        vd_markup_put(html, "<span class=\"tag group-%s\">%s</span> ", sheet->group,
                      sheet->group_name);
    if (sheet->family)
        vd_markup_put(html, "<span class=\"tag\">%s</span> ", sheet->family);
    if (sheet->moved >= 0)
        vd_markup_put(html, "<span class=\"tag\">distance %s</span>",
                      vd_percent(sheet->moved).text);
    vd_markup_put(html, "</p></header>\n<p class=\"question\">%s%s</p>", sheet->question,
                  vd_sheet_mark(sheet->question));
    if (sheet->human)
        vd_markup_put(html, "<p class=\"answered\"><span class=\"key\">Human</span> %s</p>\n",
                      sheet->human);
}

static void put_side(vd_markup *html, const vd_sheet *sheet, int which)
{
    const vd_sheet_side *side = &sheet->side[which];
    const vd_answer *answer = &side->reply->answer;
    vd_markup_put(html, "<section class=\"side side-%d\"><h4>%s", which, side->model);
    if (side->judged)
        vd_markup_put(html, " <span class=\"tick %s\" title=\"%s\">%s</span>",
                      side->right ? "right" : "wrong", side->right ? "right" : "not right",
                      side->right ? "\xE2\x9C\x93" : "\xE2\x9C\x97");
    vd_markup_put(html, " <span class=\"first\">%s</span></h4>\n",
                  answer->candidates ? side->texts[answer->order[0]] : "");
    put_figure(html, sheet, which);
    vd_markup_put(html, "<div class=\"found\">");
    put_words(html, side);
    put_further(html, sheet, which);
    put_ranking(html, sheet, which);
    vd_markup_put(html, "</div></section>\n");
}

void vd_html_sheet(vd_markup *html, const vd_sheet *sheet)
{
    vd_markup_put(html, "<article class=\"case sides-%d\" id=\"%s\" tabindex=\"-1\"", sheet->sides,
                  sheet->id);
    if (sheet->group)
        vd_markup_put(html, " data-group=\"%s\"", sheet->group);
    if (sheet->family)
        vd_markup_put(html, " data-family=\"%s\"", sheet->family);
    vd_markup_put(html, " data-round=\"%d\">\n", sheet->rounds + 1);
    put_head(html, sheet);
    put_dialog(html, sheet);
    vd_markup_put(html, "<div class=\"sides\">\n");
    for (int i = 0; i < sheet->sides; i++)
        put_side(html, sheet, i);
    vd_markup_put(html, "</div>\n</article>\n");
}
