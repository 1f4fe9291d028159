#include "tui/page/markdown.h"

#include "tui/answer/attention.h"
#include "tui/base/shares.h"

enum { MOST_ANSWERS = 5, MOST_REGIONS = 5 };

static void put_dialog(vd_markup *m, const vd_sheet *sheet)
{
    bool by = sheet->caption_by != VD_CAPTION_PEOPLE;
    vd_markup_put(m, by ? "*%s* (%s)\n\n" : "*%s*%s\n\n", sheet->caption,
                  vd_caption_by_text(sheet->caption_by));
    for (int r = 0; r < sheet->rounds; r++) {
        vd_markup_put(m, "%d. %s%s", r + 1, sheet->history[r].question,
                      vd_sheet_mark(sheet->history[r].question));
        if (sheet->history[r].answer)
            vd_markup_put(m, " **%s**", sheet->history[r].answer);
        vd_markup_put(m, "\n");
    }
    vd_markup_put(m, sheet->rounds ? "\n**%s%s**\n\n" : "**%s%s**\n\n", sheet->question,
                  vd_sheet_mark(sheet->question));
    if (sheet->human)
        vd_markup_put(m, "Human: **%s**\n\n", sheet->human);
}

static void put_candidate(vd_markup *m, const vd_sheet_side *side, int place)
{
    const vd_answer *answer = &side->reply->answer;
    int index = answer->order[place - 1];
    vd_markup_put(m, "| %d | %s%s%s | %s |", place, side->texts[index],
                  index == side->human ? " (human)" : "",
                  index == side->chosen && place > 1 ? " (chosen)" : "",
                  vd_percent((double)answer->probability[index]).text);
    if (side->relevance)
        vd_markup_put(m, " %.2f |", (double)side->relevance[index]);
    vd_markup_put(m, "\n");
}

static void put_ranking(vd_markup *m, const vd_sheet_side *side)
{
    const vd_answer *answer = &side->reply->answer;
    int candidates = answer->candidates;
    int shown = candidates < MOST_ANSWERS ? candidates : MOST_ANSWERS;
    vd_markup_put(m,
                  side->relevance
                      ? "| place | %s, of %d | share | relevance |\n| ---: | --- | ---: | ---: |\n"
                      : "| place | %s, of %d | share |\n| ---: | --- | ---: |\n",
                  side->model, candidates);
    for (int place = 1; place <= shown; place++)
        put_candidate(m, side, place);
    int human = vd_answer_place(answer, side->human) + 1;
    int chosen = vd_answer_place(answer, side->chosen) + 1;
    if (human > shown)
        put_candidate(m, side, human);
    if (chosen > shown && chosen != human)
        put_candidate(m, side, chosen);
    vd_markup_put(m, "\n");
}

static void put_further(vd_markup *m, const vd_sheet *sheet, int which)
{
    const vd_attention *a;
    for (int i = 0; (a = vd_answer_further(&sheet->side[which].reply->answer, i)); i++) {
        char title[64], largest[800];
        vd_attention_title(a, title, sizeof title);
        for (int row = 0; row < a->rows; row++) {
            vd_sheet_largest(sheet, which, a, row, largest, sizeof largest);
            if (*largest)
                vd_markup_put(m, "\n* %s: %s", title, largest);
        }
    }
}

static void put_attention(vd_markup *m, const vd_sheet *sheet, int which)
{
    const vd_sheet_side *side = &sheet->side[which];
    const vd_reply *reply = side->reply;
    const vd_answer *answer = &reply->answer;
    vd_share top[MOST_REGIONS];
    const float *regions = vd_answer_shares(answer, VD_AXIS_REGIONS);
    const float *rounds = vd_answer_shares(answer, VD_AXIS_ENTRIES);
    int count = regions ? vd_shares_top(regions, answer->regions, 0.9, top, MOST_REGIONS) : 0;
    char step[48];
    vd_answer_step(answer, VD_AXIS_REGIONS, step, sizeof step);
    vd_markup_put(m, regions ? "* looked at%s%s" : "* " VD_NO_REGIONS, step, *step ? ":" : "");
    for (int i = 0; i < count; i++) {
        vd_markup_put(m, "%s region %s: %s", i ? ";" : "",
                      vd_sheet_region(sheet, top[i].index).text, vd_percent(top[i].share).text);
        if (sheet->boxes && top[i].index < sheet->regions) {
            const float *box = sheet->boxes + (size_t)4 * (size_t)top[i].index;
            vd_markup_put(m, " (%.2f %.2f %.2f %.2f)", (double)box[0], (double)box[1],
                          (double)box[2], (double)box[3]);
        }
    }
    vd_answer_step(answer, VD_AXIS_ENTRIES, step, sizeof step);
    if (rounds)
        vd_markup_put(m, "\n* drew on%s%s", step, *step ? ":" : "");
    for (int i = 0; i < answer->rounds && rounds; i++) {
        if (i == 0)
            vd_markup_put(m, " the caption");
        else
            vd_markup_put(m, "; round %d", i);
        vd_markup_put(m, ": %s", vd_percent((double)rounds[i]).text);
    }
    put_further(m, sheet, which);
    vd_markup_put(m, vd_word_share(answer, 0) < 0 ? "\n* saw:"
                                                  : "\n* saw, with the share of attention:");
    for (int i = 0; i < reply->words; i++) {
        double share = vd_word_share(answer, i);
        vd_markup_put(m, " %s%s %s%s", reply->word[i], reply->unknown[i] ? " (unknown)" : "",
                      share >= 0 ? vd_percent(share).text : "", i + 1 < reply->words ? ";" : "");
    }
    vd_markup_put(m, "\n\n");
}

void vd_markdown_sheet(vd_markup *m, const vd_sheet *sheet)
{
    vd_markup_put(m, "### %s", sheet->title);
    if (sheet->group)
        vd_markup_put(m, ": %s", sheet->group_name);
    if (sheet->family)
        vd_markup_put(m, " (%s)", sheet->family);
    vd_markup_put(m, "\n\n");
    if (sheet->moved >= 0)
        vd_markup_put(m, "Distance of the rankings: %.0f %%.\n\n", 100 * sheet->moved);
    put_dialog(m, sheet);
    for (int i = 0; i < sheet->sides; i++) {
        const vd_sheet_side *side = &sheet->side[i];
        const vd_answer *answer = &side->reply->answer;
        vd_markup_put(m, "%s: **%s**", side->model,
                      answer->candidates ? side->texts[answer->order[0]] : "");
        if (side->judged)
            vd_markup_put(m, side->right ? " \xE2\x9C\x93" : " \xE2\x9C\x97");
        vd_markup_put(m, "\n\n");
        put_ranking(m, side);
        put_attention(m, sheet, i);
    }
}

void vd_markdown_table(vd_markup *m, const vd_table *table)
{
    for (int row = 0; row < table->rows; row++) {
        vd_markup_put(m, "|");
        for (int column = 0; column < table->columns; column++)
            vd_markup_put(m, " %s |", vd_table_cell(table, row, column));
        for (int column = 0; column < table->columns && row == 0; column++)
            vd_markup_put(m, column ? " ---: |" : "\n| --- |");
        vd_markup_put(m, "\n");
    }
    vd_markup_put(m, "\n");
}
