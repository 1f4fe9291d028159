// Finding a picture: all of them as a list, filtered by words of the caption, by id or by what is
// in the picture.
#include <string.h>

#include "tui/chat/views/draw.h"

// ---- what matches ------------------------------------------------------------------------------

// Also in the singular, or as the regions' names call it.
static bool has_word(const char *text, char *word)
{
    size_t last = strlen(word) - 1;
    const char *name = vd_attribute_meant(word);
    if (vd_text_find(text, word) || (name && vd_text_find(text, name)))
        return true;
    bool several = last > 1 && word[last] == 's';
    if (several)
        word[last] = '\0';
    return several && vd_text_find(text, word);
}

// Whether the text has every word of the filter.
static bool has_words(const char *text, const char *filter)
{
    char word[128];
    for (const char *at = filter + strspn(filter, " "); *at;) {
        size_t size = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)(size < 120 ? size : 120), at);
        if (!has_word(text, word))
            return false;
        at += size;
        at += strspn(at, " ");
    }
    return true;
}

// The one thing in the picture that has every word; NULL none.
static const char *find_thing(vd_chat *chat, size_t index)
{
    const vd_contents contents = vd_conversation_contents(&chat->conversation, index);
    for (int i = 0; i < contents.count; i++)
        if (has_words(contents.things[i].text, chat->nav.filter.text))
            return contents.things[i].text;
    return NULL;
}

static bool matches_picture(const vd_list *list, int index)
{
    vd_chat *chat = list->chat;
    const char *caption = vd_world_caption(chat->conversation.world, (size_t)index);
    char name[128];
    vd_world_name(chat->conversation.world, (size_t)index, name, sizeof name);
    return has_words(caption, chat->nav.filter.text) || strstr(name, chat->nav.filter.text) ||
           find_thing(chat, (size_t)index);
}

// ---- drawing -----------------------------------------------------------------------------------

static void draw_row(const vd_list *list, vd_grid *grid, vd_rect at, int entry, bool selected)
{
    vd_chat *chat = list->chat;
    size_t index = (size_t)entry;
    char text[64];
    const char *caption = vd_world_caption(chat->conversation.world, index);
    snprintf(text, sizeof text, "%zu", index + 1);
    vd_grid_right(grid, at.x, at.y, 5, text, VD_ROLE_FAINT);
    if (index == chat->conversation.branches.picture) // the one being talked about
        vd_grid_put(grid, at.x + 5, at.y, 0x25B8, '>', VD_ROLE_PROMPT);
    int x = at.x + 7, end = at.x + at.width;
    if (at.width >= 50) {
        vd_world_name(chat->conversation.world, index, text, sizeof text);
        x += vd_grid_text(grid, x, at.y, end - x, text, VD_ROLE_TITLE) + 2;
    }
    vd_role role = selected ? VD_ROLE_SELECTED : VD_ROLE_TEXT;
    const char *thing = NULL;
    if (chat->nav.filter.length && !has_words(caption, chat->nav.filter.text))
        thing = find_thing(chat, index);
    if (thing) { // why it is here, when the caption does not say so
        x += vd_grid_text(grid, x, at.y, end - x, "has: ", VD_ROLE_NOTE);
        vd_grid_text(grid, x, at.y, end - x, thing, role);
    } else {
        vd_grid_text(grid, x, at.y, end - x, caption, role);
    }
}

static void pick_picture(const vd_list *list, int index)
{
    vd_chat_open(list->chat, VD_PLACE_CHAT);
    vd_chat_go_picture(list->chat, (size_t)index);
}

static vd_list list_pictures(vd_chat *chat)
{
    return (vd_list){.chat = chat,
                     .at = &chat->nav.list_at,
                     .count = (int)vd_world_count(chat->conversation.world),
                     .matches = matches_picture,
                     .draw_row = draw_row,
                     .pick = pick_picture};
}

// The picture under the cursor, read when it is another one than before.
static void draw_preview(vd_chat *chat, vd_grid *grid, vd_rect at, int index)
{
    vd_preview *preview = &chat->preview;
    bool there = preview->picture.image.rgb || preview->error[0];
    if (index < 0)
        return;
    if (!there || preview->index != (size_t)index)
        vd_chat_preview(chat, (size_t)index);
    const vd_sheet plain = {0};
    vd_sheet_draw_picture(grid, at, &preview->picture, preview->error, &plain, -1);
}

static void draw_pictures(vd_chat *chat, vd_grid *grid)
{
    enum { MOST_PREVIEW = 64 };
    vd_rect at = chat->nav.layout.picture, beside = at;
    vd_list list = list_pictures(chat);
    beside.width = at.width / 3 < MOST_PREVIEW ? at.width / 3 : MOST_PREVIEW;
    beside.x = at.x + at.width - beside.width;
    beside.y++;
    beside.height -= 2;
    at.width -= beside.width + 1;
    chat->nav.places.seen = at.height - 2;
    vd_grid_text(grid, at.x + 1, at.y, at.width - 2, "Pictures: caption, id, or what is in them",
                 VD_ROLE_TITLE);
    int total = vd_list_draw(&list, grid, (vd_rect){at.x, at.y + 1, at.width - 1, at.height - 2});
    draw_preview(chat, grid, beside, total ? vd_list_entry(&list) : -1);
    char text[160];
    if (total == 0)
        snprintf(text, sizeof text, "no picture matches \"%.24s\"; try: small red cube",
                 chat->nav.filter.text);
    else
        snprintf(text, sizeof text, "picture %d of %d%s", chat->nav.list_at + 1, total,
                 chat->nav.filter.length ? " that match" : "; typing finds some: small red cube");
    vd_grid_text(grid, at.x + 1, at.y + at.height - 1, at.width - 2, text, VD_ROLE_NOTE);
}

static void open_pictures(vd_chat *chat)
{
    chat->nav.list_at = (int)chat->conversation.branches.picture;
}

const vd_view vd_view_pictures = {.action = VD_ACTION_PICTURES,
                                  .filter = " find> ",
                                  .open = open_pictures,
                                  .draw = draw_pictures,
                                  .list = list_pictures};
