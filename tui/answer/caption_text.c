// Captions as text: of one captioner with the regions behind every word; of two side by side.
#include "tui/answer/caption_text.h"

#include <glib.h>
#include <stdio.h>

#include "engine/base/append.h"
#include "tui/base/output.h"
#include "tui/base/shares.h"

enum { SHOWN_REGIONS = 3 };

// ---- one ----------------------------------------------------------------------------------------

// The regions of the largest shares that are to speak of; returns how many.
static int regions_of(const vd_caption_sheet *sheet, const float *share,
                      vd_share top[SHOWN_REGIONS])
{
    int count = vd_shares_top(share, sheet->regions.count, 2, top, SHOWN_REGIONS);
    while (count > 0 && top[count - 1].share < 0.005)
        count--;
    return count;
}

static void print_word(const vd_caption_sheet *sheet, int t, int width, float *share)
{
    const vd_caption_side *side = &sheet->side[0];
    int padding = width - vd_output_width(side->word[t]);
    int top_layer = side->trace.layers - 1;
    vd_share top[SHOWN_REGIONS];
    vd_caption_side_look(side, t, top_layer, -1, share, NULL);
    printf("   %s%*s  %5s", side->word[t], padding > 0 ? padding : 0, "",
           vd_percent(side->trace.word[t].probability).text);
    if (side->trace.history)
        printf("  %7s", vd_percent(vd_caption_side_given(side, t, top_layer, -1)).text);
    printf("  ");
    for (int i = 0, count = regions_of(sheet, share, top); i < count; i++)
        printf("%s%s %s", i ? ", " : "", vd_region_label(sheet->regions.names, top[i].index).text,
               vd_percent(top[i].share).text);
    printf("\n");
}

static void print_words(const vd_caption_sheet *sheet, float *share)
{
    const vd_caption_side *side = &sheet->side[0];
    int width = 4;
    for (int t = 0; t < side->trace.words; t++) {
        int needed = vd_output_width(side->word[t]);
        width = needed > width && needed <= 24 ? needed : width;
    }
    printf("   %-*s  %5s%s  %s\n", width, "word", "p", side->trace.history ? "  history" : "",
           "regions");
    for (int t = 0; t < side->trace.words; t++)
        print_word(sheet, t, width, share);
}

// ---- two ----------------------------------------------------------------------------------------

static void add_half(const vd_caption_sheet *sheet, int which, int t, vd_table *table, float *share)
{
    const vd_caption_side *side = &sheet->side[which];
    vd_share top[SHOWN_REGIONS];
    if (t < 0) {
        vd_table_more(table, "-\t\t\t");
        return;
    }
    vd_caption_side_look(side, t, side->trace.layers - 1, -1, share, NULL);
    vd_table_more(table, "%s\t%s", side->word[t], vd_percent(side->trace.word[t].probability).text);
    if (regions_of(sheet, share, top))
        vd_table_more(table, "%s\t%s", vd_region_label(sheet->regions.names, top[0].index).text,
                      vd_percent(top[0].share).text);
    else
        vd_table_more(table, "\t");
}

static void print_aligned(const vd_caption_sheet *sheet, float *share)
{
    vd_table table = {0};
    vd_table_add(&table, "\tword of 1\tp\tlooks at\t\tword of 2\tp\tlooks at\t");
    for (int i = 0; i < sheet->rows; i++) {
        vd_table_add(&table, "%s", vd_caption_sheet_differs(sheet, i) ? "*" : "");
        for (int which = 0; which < sheet->sides; which++)
            add_half(sheet, which, vd_caption_sheet_word(sheet, which, i), &table, share);
    }
    vd_table_finish(&table, 3);
}

bool vd_caption_sheet_judges_twice(const vd_caption_sheet *sheet)
{
    return sheet->sides == 2 &&
           (sheet->captioners == 2 || sheet->side[0].changed || sheet->side[1].changed);
}

void vd_caption_sheet_under(const vd_caption_sheet *sheet, vd_table *out)
{
    vd_table_add(out, "log-probability\tunder 1\tunder 2");
    for (int i = 0; i < 2; i++)
        vd_table_add(out, "of caption %d\t%.3f\t%.3f", i + 1, sheet->side[i].under[0],
                     sheet->side[i].under[1]);
}

static void print_under(const vd_caption_sheet *sheet)
{
    vd_table table = {0};
    vd_caption_sheet_under(sheet, &table);
    vd_table_finish(&table, 3);
    for (int i = 0; i < 2 && sheet->captioners == 2; i++)
        if (sheet->side[i].unknown[!i])
            printf("   captioner %d does not know %d of the words of caption %d\n", 2 - i,
                   sheet->side[i].unknown[!i], i + 1);
    printf("\n");
}

// ---- both ---------------------------------------------------------------------------------------

void vd_caption_unknown_words(const vd_caption_side *side, char *out, size_t size)
{
    out[0] = '\0';
    for (int t = 0; t < side->trace.words; t++)
        if (!vd_caption_side_knows(side, t))
            vd_append(out, size, "%s%s", *out ? ", " : "", side->word[t]);
}

static void print_side(const vd_caption_sheet *sheet, int which)
{
    const vd_caption_side *side = &sheet->side[which];
    char label[4096], unknown[512], score[128];
    vd_caption_score_text(&side->score, score, sizeof score);
    vd_caption_side_label(sheet, which, label, sizeof label);
    vd_caption_unknown_words(side, unknown, sizeof unknown);
    if (sheet->sides == 2)
        printf("%d  %s\n   %s\n", which + 1, side->text, label);
    else
        printf("%s\n", side->text);
    printf("   log-probability %.3f, perplexity %.3f%s\n", side->trace.log_probability,
           vd_caption_side_perplexity(side), side->ended ? "" : "; cut at the longest");
    if (*unknown)
        printf("   words that the captioner does not know, read as <UNK>: %s\n", unknown);
    if (side->verdict.is != VD_NOT_JUDGED)
        printf("   %s: %s\n", vd_caption_judged_names[side->verdict.is], side->verdict.why);
    if (*score)
        printf("   %s\n", score);
}

// number: "2: ", or "" where there is one captioner.
static void print_origin(const vd_caption_side *side, const char *number)
{
    if (side->hard)
        printf("   %shard attention: %s\n", number, side->hard);
    if (side->signature)
        printf("   %strained with %s\n", number, side->signature);
}

void vd_caption_sheet_print(const vd_caption_sheet *sheet)
{
    float *share = g_new0(float, sheet->regions.count);
    for (int i = 0; i < sheet->sides; i++)
        print_side(sheet, i);
    if (sheet->sides == 2)
        printf("\n");
    if (vd_caption_sheet_judges_twice(sheet))
        print_under(sheet);
    (sheet->sides == 2 ? print_aligned : print_words)(sheet, share);
    for (int i = 0; i < sheet->captioners; i++)
        print_origin(&sheet->side[i], sheet->captioners == 1 ? "" : i ? "2: " : "1: ");
    g_free(share);
}
