#include "tui/page/html_caption.h"

#include <glib.h>
#include <math.h>

#include "tui/answer/caption_text.h"
#include "tui/base/shares.h"
#include "tui/page/html.h"

enum { PICTURE = 1 }; // the page's only one

// Which row of the alignment a word stands in.
static int row_of(const vd_caption_sheet *sheet, int which, int word)
{
    int row = 0;
    while (vd_caption_sheet_word(sheet, which, row) != word)
        row++;
    return row;
}

// ---- looks: of a layer, the mean over its heads or one of them ----------------------------------

static int looks_of(const vd_caption_side *side)
{
    int each = side->trace.heads + 1;
    return side->trace.layers * each;
}

static int layer_of(const vd_caption_side *side, int look)
{
    return look / (side->trace.heads + 1);
}

// Below 0: the mean.
static int head_of(const vd_caption_side *side, int look)
{
    return look % (side->trace.heads + 1) - 1;
}

// What is shown first, and without scripts.
static int first_look(const vd_caption_side *side)
{
    return (side->trace.layers - 1) * (side->trace.heads + 1);
}

// With one layer and one head there is one look, which needs no number.
static bool has_looks(const vd_caption_side *side)
{
    return side->trace.layers > 1 || side->trace.heads > 1;
}

static const char *hidden(const vd_caption_side *side, int look)
{
    return look == first_look(side) ? "" : " away";
}

// ---- curve and links ----------------------------------------------------------------------------

// The drawing of one caption, in pixels: the curve above its words, links below.
enum { COLUMN = 64, CURVE = 70, WORDS = 92, LINKS = 104, BOTTOM = 160 };

static double column(int word)
{
    return COLUMN * (word + 0.5);
}

// What the curve of a side shows for a word in a look; below 0: nothing.
static double level(const vd_caption_side *side, int word, int look)
{
    return side->trace.history
               ? vd_caption_side_given(side, word, layer_of(side, look), head_of(side, look))
               : side->trace.word[word].gate;
}

// How many looks its curve has.
static int curves_of(const vd_caption_side *side)
{
    return side->trace.history ? looks_of(side) : 1;
}

static bool has_curve(const vd_caption_side *side)
{
    return side->trace.words > 0 && level(side, 0, 0) >= 0;
}

static void put_point(vd_markup *html, int word, double share)
{
    vd_markup_put(html, "%.1f,%.1f ", column(word), CURVE - 4 - (CURVE - 12) * fmin(share, 1));
}

// name: class of the line.
static void put_curve(vd_markup *html, const vd_caption_side *side, const char *name, int number,
                      int words)
{
    for (int look = 0; look < curves_of(side); look++) {
        bool one = curves_of(side) == 1;
        vd_markup_put(html, "<polyline class=\"curve %s side-%d%s\"", name, number,
                      one ? "" : hidden(side, look));
        if (!one)
            vd_markup_put(html, " data-look=\"%d\"", look);
        vd_markup_put(html, " points=\"");
        for (int t = 0; t < side->trace.words && t < words; t++)
            put_point(html, t, level(side, t, look));
        vd_markup_put(html, "\"/>");
    }
}

static void put_chance(vd_markup *html, const vd_caption_side *side)
{
    vd_markup_put(html, "<polyline class=\"curve chance\" points=\"");
    for (int t = 0; t < side->trace.words; t++)
        put_point(html, t, vd_caption_side_chance(side, t));
    vd_markup_put(html, "\"/>");
}

// An arc to an earlier word, thicker for more; the step's own entry is a disc below the word.
static void put_link(vd_markup *html, int word, int entry, double share)
{
    double from = column(word), to = column(entry), low = LINKS + 8 + 14 * (double)(word - entry);
    if (entry == word)
        vd_markup_put(html, "<circle class=\"own\" cx=\"%.1f\" cy=\"%d\" r=\"%.1f\">", from,
                      LINKS + 4, 2 + 6 * share);
    else
        vd_markup_put(html,
                      "<path class=\"link\" d=\"M%.1f,%d Q%.1f,%.1f %.1f,%d\" "
                      "stroke-width=\"%.1f\" stroke-opacity=\"%.2f\">",
                      from, LINKS, (from + to) / 2, fmin(low, BOTTOM + 30), to, LINKS,
                      1 + 8 * share, fmin(1, 0.35 + share));
    vd_markup_put(html, "<title>%s</title></%s>", vd_percent(share).text,
                  entry == word ? "circle" : "path");
}

static void put_links(vd_markup *html, const vd_caption_sheet *sheet, int which, int word, int look)
{
    const double least = 0.05;
    const vd_caption_side *side = &sheet->side[which];
    float share[VD_SIDE_WORDS];
    vd_caption_trace_look(&side->trace, word, layer_of(side, look), head_of(side, look), NULL,
                          share);
    vd_markup_put(html, "<g class=\"links%s\" data-row=\"%d\" data-look=\"%d\">",
                  hidden(side, look), row_of(sheet, which, word), look);
    for (int i = 0; i < side->trace.words; i++)
        if ((double)share[i] > least)
            put_link(html, word, i, (double)share[i]);
    vd_markup_put(html, "</g>");
}

static void put_legend(vd_markup *html, const vd_caption_sheet *sheet, int which, bool both)
{
    const vd_caption_side *side = &sheet->side[which];
    vd_markup_put(html, "<figcaption>%s%s%s</figcaption></figure>\n",
                  side->trace.history ? "Curve: what each word drew from the history; broken line: "
                                        "with all scores equal."
                                      : "Curve: the gate of each word.",
                  both ? " Thin: the other caption's, by place." : "",
                  side->trace.history ? " Below: the earlier words it drew on (more than 5 %), the "
                                        "disc: its own entry."
                                      : "");
}

static void put_chart(vd_markup *html, const vd_caption_sheet *sheet, int which)
{
    const vd_caption_side *side = &sheet->side[which], *other = &sheet->side[!which];
    int words = side->trace.words;
    bool both = sheet->sides == 2 && has_curve(other) &&
                (side->trace.history != NULL) == (other->trace.history != NULL);
    if (!has_curve(side))
        return;
    vd_markup_put(html,
                  "<figure class=\"chart\"><div class=\"scroll\"><svg viewBox=\"0 0 %d %d\" "
                  "width=\"%d\" role=\"img\" aria-label=\"%s, word by word\">",
                  COLUMN * words, side->trace.history ? BOTTOM : WORDS + 10, COLUMN * words,
                  side->trace.history ? "What is drawn from the history" : "The gate");
    if (side->trace.history)
        put_chance(html, side);
    if (both)
        put_curve(html, other, "thin", !which, words);
    put_curve(html, side, "own", which, words);
    for (int t = 0; t < words; t++)
        vd_markup_put(html, "<text data-row=\"%d\" x=\"%.1f\" y=\"%d\">%s</text>",
                      row_of(sheet, which, t), column(t), WORDS, side->word[t]);
    for (int t = 0; t < words && side->trace.history; t++)
        for (int look = 0; look < looks_of(side); look++)
            put_links(html, sheet, which, t, look);
    vd_markup_put(html, "</svg></div>");
    put_legend(html, sheet, which, both);
}

// ---- words --------------------------------------------------------------------------------------

static void put_buttons(vd_markup *html, const vd_caption_sheet *sheet, int which)
{
    const vd_caption_side *side = &sheet->side[which];
    vd_markup_put(html, "<p class=\"sentence\">");
    for (int t = 0; t < side->trace.words; t++) {
        int row = row_of(sheet, which, t);
        vd_markup_put(html, "<button type=\"button\" class=\"caption-word%s%s\" data-row=\"%d\">%s",
                      vd_caption_sheet_differs(sheet, row) ? " differs" : "",
                      vd_caption_side_knows(side, t) ? "" : " unknown", row, side->word[t]);
        vd_markup_put(html, "<sub>%s</sub></button> ",
                      vd_percent(side->trace.word[t].probability).text);
    }
    vd_markup_put(html, "</p>\n");
}

static void put_runners_up(vd_markup *html, const vd_caption_side *side, int which, int t)
{
    const vd_generated_word *w = &side->trace.word[t];
    vd_markup_put(html, "<table class=\"ranking\"><thead><tr><th></th><th>likeliest words</th>"
                        "<th>share</th></tr></thead><tbody>");
    for (int i = 0; i < w->likelies; i++) {
        vd_markup_put(html, "<tr%s><td class=\"place\">%d</td><td class=\"answer\">%s</td>",
                      w->likely[i].id == w->id ? " class=\"caption-word-here\"" : "", i + 1,
                      side->likely[t][i]);
        vd_html_share(html, "td", w->likely[i].probability, which);
        vd_markup_put(html, "</tr>");
    }
    vd_markup_put(html, "</tbody></table>\n");
}

static void put_numbers(vd_markup *html, const vd_caption_side *side, int t)
{
    const vd_generated_word *w = &side->trace.word[t];
    vd_markup_put(html, "<p class=\"words\"><b>%s</b> %s <span class=\"note\">entropy %.2f bits",
                  side->word[t], vd_percent(w->probability).text, w->entropy / log(2));
    for (int look = 0; look < looks_of(side) && side->trace.history; look++)
        vd_markup_put(html, "<span class=\"drawn%s\" data-look=\"%d\">; from the history %s</span>",
                      hidden(side, look), look, vd_percent(level(side, t, look)).text);
    if (w->gate >= 0)
        vd_markup_put(html, "; let in %s", vd_percent(w->gate).text);
    if (w->chosen >= 0)
        vd_markup_put(html, "; looked at region %d alone", w->chosen + 1);
    vd_markup_put(html, "</span></p>\n");
}

// share: (looks, regions).
static void put_step(vd_markup *html, const vd_caption_sheet *sheet, int which, int t,
                     vd_region_look *look, float *share)
{
    const vd_caption_side *side = &sheet->side[which];
    size_t regions = (size_t)side->trace.regions;
    for (int i = 0; i < looks_of(side); i++)
        vd_caption_side_look(side, t, layer_of(side, i), head_of(side, i),
                             share + (size_t)i * regions, NULL);
    look->share = share + (size_t)first_look(side) * regions;
    look->other = share;
    look->others = has_looks(side) ? looks_of(side) : 0;
    vd_markup_put(html, "<div class=\"step\" data-row=\"%d\">\n", row_of(sheet, which, t));
    vd_html_figure(html, look);
    put_numbers(html, side, t);
    put_runners_up(html, side, which, t);
    vd_markup_put(html, "</div>\n");
}

// ---- page ---------------------------------------------------------------------------------------

static void put_head(vd_markup *html, const vd_caption_sheet *sheet, int which)
{
    const vd_caption_side *side = &sheet->side[which];
    char label[4096], unknown[512], score[128];
    vd_caption_score_text(&side->score, score, sizeof score);
    vd_caption_side_label(sheet, which, label, sizeof label);
    vd_caption_unknown_words(side, unknown, sizeof unknown);
    vd_markup_put(html, "<h4>%s <span class=\"first\">%s</span></h4>\n", label, side->text);
    vd_markup_put(html, "<p class=\"note\">log-probability %.3f, perplexity %.3f%s</p>\n",
                  side->trace.log_probability, vd_caption_side_perplexity(side),
                  side->ended ? "" : "; cut at the longest");
    if (*unknown)
        vd_markup_put(html,
                      "<p class=\"note\">words that the captioner does not know, read as "
                      "&lt;UNK&gt;: %s</p>\n",
                      unknown);
    if (side->verdict.is != VD_NOT_JUDGED)
        vd_markup_put(html, "<p class=\"verdict\"><b>%s</b>: %s</p>\n",
                      vd_caption_judged_names[side->verdict.is], side->verdict.why);
    if (*score)
        vd_markup_put(html, "<p class=\"note\">%s</p>\n", score);
    if (side->signature)
        vd_markup_put(html, "<p class=\"facts\">%s</p>\n", side->signature);
}

static void put_side(vd_markup *html, const vd_caption_sheet *sheet, int which,
                     const vd_image *image, float *share)
{
    const vd_caption_side *side = &sheet->side[which];
    vd_region_look look = {.image_id = PICTURE,
                           .width = image ? image->width : 0,
                           .height = image ? image->height : 0,
                           .boxes = sheet->regions.boxes,
                           .names = sheet->regions.names,
                           .known = sheet->regions.count,
                           .regions = sheet->regions.count,
                           .by = "a word",
                           .side = which};
    vd_markup_put(html, "<section class=\"side side-%d\" data-layers=\"%d\" data-heads=\"%d\">",
                  which, side->trace.layers, side->trace.heads);
    if (has_looks(side))
        vd_html_region_parts(html, &look);
    put_head(html, sheet, which);
    put_buttons(html, sheet, which);
    put_chart(html, sheet, which);
    for (int t = 0; t < side->trace.words; t++)
        put_step(html, sheet, which, t, &look, share);
    vd_markup_put(html, "</section>\n");
}

static void put_under(vd_markup *html, const vd_caption_sheet *sheet)
{
    vd_table table = {0};
    vd_caption_sheet_under(sheet, &table);
    vd_html_table(html, &table);
    vd_table_clear(&table);
}

// A choice of 1 to `count`, or (first) something else; one that is chosen already.
static void put_choice(vd_markup *html, const char *name, const char *first, int count, int chosen)
{
    vd_markup_put(html, " <label>%s <select data-choose=\"%s\">", name, name);
    if (first)
        vd_markup_put(html, "<option value=\"-1\">%s</option>", first);
    for (int i = 0; i < count; i++)
        vd_markup_put(html, "<option value=\"%d\"%s>%d</option>", i, i == chosen ? " selected" : "",
                      i + 1);
    vd_markup_put(html, "</select></label>");
}

// The most layers and heads of all sides.
static void put_choices(vd_markup *html, const vd_caption_sheet *sheet)
{
    int layers = 1, heads = 1;
    for (int i = 0; i < sheet->sides; i++) {
        const vd_caption_trace *trace = &sheet->side[i].trace;
        layers = trace->layers > layers ? trace->layers : layers;
        heads = trace->heads > heads ? trace->heads : heads;
    }
    if (layers > 1)
        put_choice(html, "layer", NULL, layers, layers - 1);
    if (heads > 1)
        put_choice(html, "head", "mean", heads, -1);
}

static void put_player(vd_markup *html, const vd_caption_sheet *sheet)
{
    vd_markup_put(html,
                  "<p class=\"player\"><button type=\"button\" data-go=\"back\">Back</button> "
                  "<button type=\"button\" data-go=\"play\">Play</button> "
                  "<button type=\"button\" data-go=\"forth\">Next</button>");
    put_choices(html, sheet);
    vd_markup_put(html, " <span class=\"keys\"><kbd>&#8592;</kbd> <kbd>&#8594;</kbd> word, "
                        "<kbd>Home</kbd> <kbd>End</kbd> "
                        "first and last, <kbd>Space</kbd> play, <kbd>Esc</kbd> pause, <kbd>l</kbd> "
                        "<kbd>h</kbd> layer and head</span></p>\n");
}

static void put_page(vd_markup *html, const vd_caption_sheet *sheet, const vd_image *image,
                     float *share)
{
    if (image)
        vd_html_picture(html, PICTURE, image);
    vd_markup_put(html, "<header class=\"top\"><h1>Picture %s, word by word</h1></header>\n",
                  sheet->picture);
    if (sheet->doubt)
        vd_markup_put(html, "<p class=\"doubt\">%s</p>\n", sheet->doubt);
    if (vd_caption_sheet_judges_twice(sheet))
        put_under(html, sheet);
    put_player(html, sheet);
    vd_markup_put(
        html, "<article class=\"case captions sides-%d\" data-rows=\"%d\"><div class=\"sides\">\n",
        sheet->sides, sheet->rows);
    for (int i = 0; i < sheet->sides; i++)
        put_side(html, sheet, i, image, share);
    vd_markup_put(html, "</div></article>\n");
}

static int most_looks(const vd_caption_sheet *sheet)
{
    int most = 1;
    for (int i = 0; i < sheet->sides; i++)
        most = looks_of(&sheet->side[i]) > most ? looks_of(&sheet->side[i]) : most;
    return most;
}

vd_status vd_html_caption(const char *path, const vd_caption_sheet *sheet, const vd_image *image,
                          vd_error *err)
{
    vd_markup *html;
    char title[200];
    snprintf(title, sizeof title, "Picture %.100s, word by word", sheet->picture);
    vd_status status = vd_html_create(path, title, "caption", &html, err);
    if (status)
        return status;
    float *share = g_new0(float, (size_t)most_looks(sheet) * (size_t)sheet->regions.count);
    put_page(html, sheet, image, share);
    g_free(share);
    return vd_html_commit(html, err);
}
