#include "tui/answer/panels.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "tui/base/shares.h"
#include "tui/screen/layout.h"

// ---- head ---------------------------------------------------------------------------------------

int vd_sheet_draw_name(vd_grid *grid, vd_rect at, const vd_sheet_side *side, bool selected)
{
    return vd_grid_text(grid, at.x, at.y, at.width, side->model,
                        selected ? VD_ROLE_SELECTED : VD_ROLE_TITLE);
}

// The right end of the head, "" where there is nothing to say.
static void end_of_head(const vd_sheet_side *side, int width, char *out, size_t size)
{
    out[0] = '\0';
    if (side->note && side->reply)
        snprintf(out, size, "%.1f ms", side->reply->answer.milliseconds);
    else if (side->human_rank > 0)
        snprintf(out, size, width < 32 ? "*%g" : "human: place %g", side->human_rank);
}

void vd_sheet_draw_head(vd_grid *grid, vd_rect at, const vd_sheet_side *side, bool selected)
{
    enum { LEAST_ANSWER = 10, LEAST_RELEVANCE = 16 };
    char end_text[32], text[32];
    end_of_head(side, at.width, end_text, sizeof end_text);
    int name = side->note ? at.width : at.width - LEAST_ANSWER;
    int x = at.x + vd_sheet_draw_name(grid, (vd_rect){at.x, at.y, name, 1}, side, selected);
    if (side->judged)
        vd_grid_put(grid, x + 1, at.y, side->right ? 0x2713 : 0x2717, side->right ? '+' : '-',
                    side->right ? VD_ROLE_ANSWER : VD_ROLE_WRONG);
    x += side->judged || !side->note ? 3 : at.width < 26 ? 1 : 2;
    int note = (int)strlen(end_text), end = at.x + at.width - note - 1;
    if (side->note)
        x += vd_grid_text(grid, x, at.y, at.x + at.width - x, side->note, VD_ROLE_FAINT);
    if (side->note && x > end)
        return;
    vd_grid_right(grid, end + 1, at.y, note, end_text, side->note ? VD_ROLE_FAINT : VD_ROLE_NOTE);
    if (side->note || !side->reply || side->reply->answer.candidates == 0)
        return;
    int first = side->reply->answer.order[0];
    x += vd_grid_text(grid, x, at.y, end - x, side->texts[first], VD_ROLE_FIRST);
    if (!side->relevance || end + 1 - x <= LEAST_RELEVANCE)
        return;
    snprintf(text, sizeof text, "relevance %.2g", (double)side->relevance[first]);
    vd_grid_text(grid, x + 1, at.y, end - 1 - x, text, VD_ROLE_FAINT);
}

// ---- picture ------------------------------------------------------------------------------------

// Nine outlines would hide a small picture: the strongest few, as the size allows.
static int outlines_in(vd_rect place)
{
    enum { LEAST = 3, CELLS_EACH = 80 };
    int fits = place.width * place.height / CELLS_EACH;
    return fits < LEAST ? LEAST : fits > VD_OUTLINES ? VD_OUTLINES : fits;
}

// The regions of the largest shares, or all.
static int outlines_of(const vd_shared_picture *of, vd_rect place, vd_outline *out)
{
    if (!of->share || !of->boxes)
        return 0;
    vd_share top[VD_OUTLINES_MOST];
    int most = of->all ? VD_OUTLINES_MOST : outlines_in(place);
    int count = vd_shares_top(of->share, of->regions, of->all ? 2 : 0.9, top, most);
    for (int i = 0; i < count; i++) {
        out[i] = (vd_outline){.share = top[i].share, .number = top[i].index + 1};
        memcpy(out[i].box, of->boxes + 4 * top[i].index, sizeof out[i].box);
    }
    return count;
}

void vd_shared_picture_draw(const vd_shared_picture *of, vd_grid *grid, vd_rect room)
{
    vd_picture *picture = of->picture;
    vd_rect place = vd_panels_fit(room, picture->image.width, picture->image.height);
    vd_error fault = {0};
    bool wrong = of->error && *of->error;
    if (room.width <= 0 || room.height <= 0)
        return;
    vd_outline outlines[VD_OUTLINES_MOST];
    int count = outlines_of(of, place, outlines);
    if (wrong || vd_picture_draw(picture, grid, place, outlines, count, &fault))
        vd_grid_wrapped(grid, (vd_rect){room.x + 1, room.y, room.width - 2, room.height},
                        wrong ? of->error : fault.text, VD_ROLE_NOTE);
}

void vd_sheet_draw_picture(vd_grid *grid, vd_rect room, vd_picture *picture, const char *error,
                           const vd_sheet *sheet, int side)
{
    const vd_reply *reply = side >= 0 ? sheet->side[side].reply : NULL;
    bool same = reply && reply->answer.regions == sheet->regions;
    const vd_shared_picture of = {.picture = picture,
                                  .error = error,
                                  .share = same ? vd_answer_shares(&reply->answer, VD_AXIS_REGIONS)
                                                : NULL,
                                  .boxes = sheet->boxes,
                                  .regions = sheet->regions};
    vd_shared_picture_draw(&of, grid, room);
}

// ---- attention ----------------------------------------------------------------------------------

// "Regions 4 blue metal cone 57 %  2 27 %": the largest of some shares, as many as a row has room
// for; none: where there are no shares. sheet: of the regions; NULL: these are rounds of the
// history.
static void draw_shares(vd_grid *grid, vd_rect at, const char *title, const float *shares,
                        int count, const vd_sheet *sheet, const char *none)
{
    vd_share top[VD_OUTLINES];
    int shown = shares ? vd_shares_top(shares, count, 0.9, top, VD_OUTLINES) : 0;
    int end = at.x + at.width;
    int x = at.x + 1 + vd_grid_text(grid, at.x, at.y, at.width, title, VD_ROLE_TITLE);
    if (!shares)
        vd_grid_text(grid, x, at.y, end - x, none, VD_ROLE_FAINT);
    for (int i = 0; i < shown; i++) {
        char name[sizeof(vd_region_text)];
        const vd_percent_text percent = vd_percent(top[i].share);
        if (sheet)
            g_strlcpy(name, vd_sheet_region(sheet, top[i].index).text, sizeof name);
        else
            snprintf(name, sizeof name, top[i].index ? "round %d" : "caption", top[i].index);
        int wide = (int)strlen(name), share = (int)strlen(percent.text);
        if (sheet && i == 0 && x + wide + 1 + share > end) // its number alone
            wide = snprintf(name, sizeof name, "%d", top[i].index + 1);
        if (x + wide + 1 + share > end)
            break;
        vd_grid_text(grid, x, at.y, wide, name, sheet ? VD_ROLE_REGION : VD_ROLE_TEXT);
        vd_grid_text(grid, x + wide + 1, at.y, share, percent.text, VD_ROLE_TEXT);
        x += wide + 1 + share + 2;
    }
}

void vd_sheet_draw_regions(vd_grid *grid, vd_rect at, const vd_sheet *sheet, int side)
{
    const vd_answer *answer = &sheet->side[side].reply->answer;
    draw_shares(grid, at, "Regions", vd_answer_shares(answer, VD_AXIS_REGIONS), answer->regions,
                sheet, VD_NO_REGIONS);
}

// What is to be said behind the words, "" nothing.
static void note_of_words(const vd_reply *reply, char *out, size_t size)
{
    bool unknown = false;
    for (int i = 0; i < reply->words; i++)
        unknown |= reply->unknown[i];
    out[0] = '\0';
    if (reply->cut > 0)
        snprintf(out, size, "%d not seen", reply->cut);
    else if (unknown)
        snprintf(out, size, "[ ] not known");
}

// What the bars behind the words are, after column x of the first row or in the next one.
static void draw_legend(vd_grid *grid, vd_rect at, int x)
{
    static const char text[] = "bar: share of attention";
    int width = (int)strlen(text);
    bool behind = x + width <= at.x + at.width;
    if (behind || (at.height > 1 && at.width >= 4 + width))
        vd_grid_text(grid, behind ? x : at.x + 4, behind ? at.y : at.y + 1, width, text,
                     VD_ROLE_FAINT);
}

void vd_sheet_draw_words(vd_grid *grid, vd_rect at, const vd_reply *reply)
{
    if (at.height <= 0)
        return;
    double most = 0.3; // smaller shares are no full bars
    for (int i = 0; i < reply->words; i++)
        most = fmax(most, vd_word_share(&reply->answer, i));
    char note[64];
    note_of_words(reply, note, sizeof note);
    int note_width = note[0] ? (int)strlen(note) + 1 : 0;
    int x = at.x, y = at.y, end = at.x + at.width;
    x += vd_grid_text(grid, x, y, at.width, "Saw ", VD_ROLE_TITLE);
    for (int i = 0; i < reply->words; i++) {
        char text[128];
        snprintf(text, sizeof text, reply->unknown[i] ? "[%.100s]" : "%.100s", reply->word[i]);
        int width = vd_text_width(text, strlen(text)) + 2;
        if (x + width > end && y + 1 < at.y + at.height) {
            x = at.x + 4;
            y++;
        }
        bool last_row = y == at.y + at.height - 1;
        if (x + width > end - (last_row ? note_width + 2 : 0) &&
            (i + 1 < reply->words || x + width > end - note_width)) {
            vd_grid_put(grid, x, y, 0x2026, '~', VD_ROLE_FAINT);
            x += 2;
            break;
        }
        x += vd_grid_text(grid, x, y, end - x, text,
                          reply->unknown[i] ? VD_ROLE_UNKNOWN : VD_ROLE_TEXT);
        if (vd_word_share(&reply->answer, i) >= 0)
            vd_grid_level(grid, x, y, vd_word_share(&reply->answer, i) / most, VD_ROLE_BAR_WORD);
        x += 2;
    }
    if (note[0] && x + note_width > end + 1 && y + 1 < at.y + at.height) {
        x = at.x + 4;
        y++;
    }
    x += vd_grid_text(grid, x, y, end - x, note, VD_ROLE_NOTE) + 1;
    if (vd_word_share(&reply->answer, 0) >= 0)
        draw_legend(grid, (vd_rect){at.x, y, at.width, at.y + at.height - y}, x);
}

void vd_sheet_draw_attention(vd_grid *grid, vd_rect at, const vd_sheet *sheet, int side)
{
    const vd_reply *reply = sheet->side[side].reply;
    at.height = 1;
    vd_sheet_draw_regions(grid, at, sheet, side);
    at.y++;
    draw_shares(grid, at, "History", vd_answer_shares(&reply->answer, VD_AXIS_ENTRIES),
                reply->answer.rounds, NULL, VD_NO_ROUNDS);
    at.y++;
    vd_sheet_draw_words(grid, at, reply);
}
