#include "tui/screen/line_edit.h"

#include <glib.h>
#include <string.h>
#include <utf8proc.h>

#include "engine/base/utf8.h"
#include "tui/screen/wrap.h"

void vd_line_free(vd_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        g_free(line->history[i]);
    g_free(line->history);
    *line = (vd_line){0};
}

void vd_line_set(vd_line *line, const char *text)
{
    line->length = vd_utf8_whole(text, strlen(text), VD_LINE_MAX);
    memmove(line->text, text, line->length);
    line->text[line->length] = '\0';
    line->cursor = line->length;
    line->cutting = false;
    line->changes++;
}

void vd_line_clear(vd_line *line)
{
    vd_line_set(line, "");
    line->at = line->count;
}

// ---- places in the line ------------------------------------------------------------------------

static size_t right_of(const vd_line *line, size_t at)
{
    if (at >= line->length)
        return line->length;
    vd_cluster cluster;
    vd_cluster_next(line->text + at, line->length - at, &cluster);
    return at + cluster.bytes;
}

// Clusters can only be found from the left.
static size_t left_of(const vd_line *line, size_t at)
{
    size_t here = 0;
    while (here < at) {
        size_t next = right_of(line, here);
        if (next >= at)
            return here;
        here = next;
    }
    return 0;
}

static bool is_word(const vd_line *line, size_t at)
{
    size_t used;
    utf8proc_category_t category =
        utf8proc_category(vd_utf8_next(line->text + at, line->length - at, &used));
    return at < line->length && category >= UTF8PROC_CATEGORY_LU &&
           category <= UTF8PROC_CATEGORY_NO;
}

static size_t word_left(const vd_line *line)
{
    size_t at = line->cursor;
    while (at > 0 && !is_word(line, left_of(line, at)))
        at = left_of(line, at);
    while (at > 0 && is_word(line, left_of(line, at)))
        at = left_of(line, at);
    return at;
}

static size_t word_right(const vd_line *line)
{
    size_t at = line->cursor;
    while (at < line->length && !is_word(line, at))
        at = right_of(line, at);
    while (at < line->length && is_word(line, at))
        at = right_of(line, at);
    return at;
}

// C-w goes by white space, as in a shell.
static size_t blank_left(const vd_line *line)
{
    size_t at = line->cursor;
    while (at > 0 && line->text[at - 1] == ' ')
        at--;
    while (at > 0 && line->text[at - 1] != ' ')
        at--;
    return at;
}

// ---- changes -----------------------------------------------------------------------------------

static void insert_text(vd_line *line, const char *text, size_t length)
{
    length = vd_utf8_whole(text, length, VD_LINE_MAX - line->length);
    memmove(line->text + line->cursor + length, line->text + line->cursor,
            line->length - line->cursor + 1);
    memcpy(line->text + line->cursor, text, length);
    line->length += length;
    line->cursor += length;
    line->cutting = false;
    line->changes++;
    // A combining mark joins the cluster before it, and the text after may join the new text.
    size_t at = 0;
    while (at < line->cursor)
        at = right_of(line, at);
    line->cursor = at;
}

bool vd_line_insert(vd_line *line, uint32_t code)
{
    if (code < ' ' || (code >= 0x7F && code < 0xA0))
        code = ' ';
    utf8proc_uint8_t bytes[4];
    if (code > 0x10FFFF || !utf8proc_codepoint_valid((utf8proc_int32_t)code))
        return true;
    utf8proc_ssize_t length = utf8proc_encode_char((utf8proc_int32_t)code, bytes);
    if (line->length + (size_t)length > VD_LINE_MAX)
        return false;
    insert_text(line, (const char *)bytes, (size_t)length);
    return true;
}

static void erase(vd_line *line, size_t from, size_t to)
{
    memmove(line->text + from, line->text + to, line->length - to + 1);
    line->length -= to - from;
    line->cursor = from;
    line->changes++;
}

// Cuts [from, to) into the cut buffer; cuts in a row add up, in the order of the line.
static void cut(vd_line *line, size_t from, size_t to)
{
    if (from == to)
        return;
    size_t added = to - from, kept = line->cutting ? strlen(line->cut) : 0;
    if (kept + added > VD_LINE_MAX)
        kept = 0;
    bool before = to == line->cursor; // cut to the left of the cursor
    if (before)
        memmove(line->cut + added, line->cut, kept);
    memcpy(line->cut + (before ? 0 : kept), line->text + from, added);
    line->cut[kept + added] = '\0';
    erase(line, from, to);
    line->cutting = true;
}

// Swaps the clusters around the cursor (the last two at the end of the line).
static void swap(vd_line *line)
{
    size_t middle = line->cursor == line->length ? left_of(line, line->cursor) : line->cursor;
    if (middle == 0 || line->length == 0)
        return;
    size_t left = left_of(line, middle), right = right_of(line, middle);
    char copy[VD_LINE_MAX];
    memcpy(copy, line->text + left, middle - left);
    memmove(line->text + left, line->text + middle, right - middle);
    memcpy(line->text + left + (right - middle), copy, middle - left);
    line->cursor = right;
    line->changes++;
}

static void history_go(vd_line *line, size_t to)
{
    if (line->at == line->count)
        memcpy(line->draft, line->text, line->length + 1);
    line->at = to;
    vd_line_set(line, to == line->count ? line->draft : line->history[to]);
}

// ---- searching the history ---------------------------------------------------------------------

// The next line from `from` on, in steps of 1 or -1, that has what is wanted and is another one
// than what is shown (`other`); it is shown then.
static void search_from(vd_line *line, size_t from, int step, bool other)
{
    const char *part = NULL;
    size_t at = from;
    for (; at < line->count; at += (size_t)step) { // below 0 it is above count
        bool shown = other && strcmp(line->history[at], line->text) == 0;
        part = shown ? NULL : vd_text_find(line->history[at], line->wanted);
        if (part)
            break;
    }
    line->lost = !part && line->wanted[0];
    if (!part || !line->wanted[0])
        return;
    size_t place = (size_t)(part - line->history[at]);
    history_go(line, at);
    for (line->cursor = 0; line->cursor < place;)
        line->cursor = right_of(line, line->cursor);
}

static void begin_search(vd_line *line)
{
    line->searching = true;
    line->lost = false;
    line->wanted[0] = '\0';
}

static void look_for(vd_line *line, uint32_t code)
{
    size_t used = strlen(line->wanted);
    if (used + 5 > sizeof line->wanted)
        return;
    used += (size_t)utf8proc_encode_char((utf8proc_int32_t)code,
                                         (utf8proc_uint8_t *)line->wanted + used);
    line->wanted[used] = '\0';
    search_from(line, line->at < line->count ? line->at : line->count - 1, -1, false);
}

static void look_for_less(vd_line *line)
{
    size_t used = strlen(line->wanted);
    while (used > 0 && ((unsigned char)line->wanted[--used] & 0xC0) == 0x80)
        ;
    line->wanted[used] = '\0';
    search_from(line, line->count - 1, -1, false);
}

bool vd_line_search(vd_line *line, vd_key key, vd_action action)
{
    bool ctrl_g = key.code == 'g' && key.modifiers == VD_CTRL;
    if (!line->searching)
        return false;
    if (key.code >= ' ' && key.code < VD_KEY_NONE && !key.modifiers) {
        look_for(line, key.code);
    } else if (action == VD_ACTION_EDIT_SEARCH) {
        search_from(line, line->at - 1, -1, true);
    } else if (action == VD_ACTION_SEARCH) {
        search_from(line, line->at + 1, 1, true);
    } else if (action == VD_ACTION_EDIT_BACKSPACE) {
        look_for_less(line);
    } else {
        line->searching = false;
        if ((action == VD_ACTION_STOP || ctrl_g) && line->at < line->count)
            history_go(line, line->count);
        return action == VD_ACTION_STOP || ctrl_g || action == VD_ACTION_BACK;
    }
    return true;
}

static const size_t NOWHERE = SIZE_MAX;

// Where the cursor goes with an action, or the text ends that it takes away; NOWHERE: it does
// something else.
static size_t reach(const vd_line *line, vd_action action)
{
    switch ((int)action) {
    case VD_ACTION_EDIT_START:
    case VD_ACTION_EDIT_KILL_START:
        return 0;
    case VD_ACTION_EDIT_END:
    case VD_ACTION_EDIT_KILL_END:
        return line->length;
    case VD_ACTION_EDIT_LEFT:
    case VD_ACTION_EDIT_BACKSPACE:
        return left_of(line, line->cursor);
    case VD_ACTION_EDIT_RIGHT:
    case VD_ACTION_EDIT_DELETE:
        return right_of(line, line->cursor);
    case VD_ACTION_EDIT_WORD_LEFT:
        return word_left(line);
    case VD_ACTION_EDIT_WORD_RIGHT:
    case VD_ACTION_EDIT_KILL_WORD_RIGHT:
        return word_right(line);
    case VD_ACTION_EDIT_KILL_WORD:
        return blank_left(line);
    default:
        return NOWHERE;
    }
}

bool vd_line_action(vd_line *line, vd_action action)
{
    size_t at = line->cursor, to = reach(line, action), left = MIN(at, to), right = MAX(at, to);
    bool cuts = action >= VD_ACTION_EDIT_KILL_END && action <= VD_ACTION_EDIT_KILL_WORD_RIGHT;
    if (action != VD_ACTION_NONE && !cuts)
        line->cutting = false;
    if (cuts)
        cut(line, left, right);
    else if (action == VD_ACTION_EDIT_BACKSPACE || action == VD_ACTION_EDIT_DELETE)
        erase(line, left, right);
    else if (to != NOWHERE)
        line->cursor = to;
    else if (action == VD_ACTION_EDIT_YANK)
        insert_text(line, line->cut, strlen(line->cut));
    else if (action == VD_ACTION_EDIT_SWAP)
        swap(line);
    else if (action == VD_ACTION_EDIT_SEARCH)
        begin_search(line);
    else if (action == VD_ACTION_EDIT_OLDER && line->at > 0)
        history_go(line, line->at - 1);
    else if (action == VD_ACTION_EDIT_NEWER && line->at < line->count)
        history_go(line, line->at + 1);
    return action >= VD_ACTION_EDIT_START && action <= VD_ACTION_EDIT_SEARCH;
}

bool vd_line_key(vd_line *line, vd_key key, vd_action action)
{
    bool typed = action == VD_ACTION_NONE && vd_key_is_typed(key);
    if (typed)
        vd_line_insert(line, key.code);
    return typed || vd_line_action(line, action);
}

void vd_line_remember(vd_line *line, const char *text)
{
    bool again = line->count > 0 && strcmp(line->history[line->count - 1], text) == 0;
    if (!line->history)
        line->history = g_new(char *, VD_LINE_HISTORY);
    if (text[0] && !again && line->count == VD_LINE_HISTORY) {
        g_free(line->history[0]);
        memmove(line->history, line->history + 1, --line->count * sizeof *line->history);
    }
    if (text[0] && !again)
        line->history[line->count++] = g_strdup(text);
    line->at = line->count;
}

vd_line_view vd_line_visible(const vd_line *line, int width)
{
    vd_line_view view = {0};
    if (width < 1)
        return view;
    // The cursor needs a column of its own after the last character. When the line does not fit,
    // it scrolls by halves, so that it does not move at every key.
    int before = vd_text_width(line->text, line->cursor);
    int skip = 0, step = width > 3 ? width / 2 : 1;
    while (before - skip > width - 2 && before - skip > 0)
        skip += step;
    int left = 0;
    while (left < skip && view.first < line->cursor) {
        vd_cluster cluster;
        vd_cluster_next(line->text + view.first, line->length - view.first, &cluster);
        left += cluster.width;
        view.first += cluster.bytes;
    }
    view.column = before - left;
    view.length = vd_text_fit(line->text + view.first, line->length - view.first, width);
    view.more_left = view.first > 0;
    view.more_right = view.first + view.length < line->length;
    return view;
}
