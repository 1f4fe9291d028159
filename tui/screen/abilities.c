#include "tui/screen/abilities.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "tui/screen/tmux.h"

// The C locale by omission (a bare container, a rescue shell) says nothing about the terminal,
// and terminals are UTF-8; the C locale by name is respected.
bool vd_abilities_utf8(void)
{
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *said = NULL;
    for (int i = 0; i < 3 && !said; i++) {
        const char *value = getenv(names[i]);
        said = value && *value ? value : NULL;
    }
    if (!said || !setlocale(LC_CTYPE, ""))
        if (!setlocale(LC_CTYPE, "C.UTF-8"))
            setlocale(LC_CTYPE, "C.utf8");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool vd_abilities_no_color(void)
{
    const char *refusal = getenv("NO_COLOR");
    return refusal && *refusal;
}

bool vd_abilities_question(vd_abilities *abilities, const vd_look *look, char *out, size_t size)
{
    const char *name = getenv("TERM"), *tmux = getenv("TMUX");
    name = name ? name : "";
    abilities->tmux = (tmux && *tmux) || strncmp(name, "tmux", 4) == 0;
    // Consoles that would print what they do not understand, and GNU screen, which passes on half
    // of it, are not asked.
    bool mute =
        strncmp(name, "linux", 5) == 0 || (strncmp(name, "screen", 6) == 0 && !abilities->tmux);
    bool colors = look->depth == VD_DEPTH_256;
    bool all =
        abilities->wanted != VD_PICTURE_NONE && (abilities->wanted != VD_PICTURE_CELLS || colors);
    bool theme = look->depth != VD_DEPTH_MONO && abilities->asked <= 0;
    if (mute || abilities->all_asked || (!all && !theme))
        return false;
    if (all)
        vd_replies_question(abilities->tmux, colors, out, size);
    else
        snprintf(out, size, "%s", vd_replies_background_question);
    abilities->all_asked = all;
    abilities->asked = vd_seconds();
    return true;
}

// tmux, too, is asked once.
static bool has_sixel(vd_abilities *abilities)
{
    enum { ENOUGH_COLORS = 200 };
    const vd_replies *said = &abilities->replies;
    bool colors = said->sixel_colors == 0 || said->sixel_colors >= ENOUGH_COLORS;
    if (!said->sixel || !colors || !abilities->tmux)
        return said->sixel && colors;
    if (!abilities->tmux_asked)
        abilities->tmux_sixel = vd_tmux_shows_sixel();
    abilities->tmux_asked = true;
    return abilities->tmux_sixel;
}

static vd_picture_mode best(vd_abilities *abilities, const vd_look *look, bool size_known)
{
    const vd_replies *said = &abilities->replies;
    if (abilities->wanted != VD_PICTURE_AUTO)
        return abilities->wanted;
    if (look->ascii || vd_abilities_no_color())
        return VD_PICTURE_CELLS;
    if (said->kitty && (!abilities->tmux || said->placeholders))
        return VD_PICTURE_KITTY;
    if (said->iterm)
        return VD_PICTURE_ITERM;
    return size_known && has_sixel(abilities) ? VD_PICTURE_SIXEL : VD_PICTURE_CELLS;
}

bool vd_abilities_look(vd_abilities *abilities, int width, int height, vd_look *look)
{
    enum { USUAL_WIDTH = 10, USUAL_HEIGHT = 20 };
    vd_look before = *look;
    if (abilities->replies.cell_width) {
        width = abilities->replies.cell_width;
        height = abilities->replies.cell_height;
    }
    bool known = width > 0 && height > 0;
    look->cell_width = known ? width : USUAL_WIDTH;
    look->cell_height = known ? height : USUAL_HEIGHT;
    look->theme = abilities->replies.light ? VD_THEME_LIGHT : VD_THEME_DARK;
    look->pictures = best(abilities, look, known);
    bool passed_on = look->pictures == VD_PICTURE_KITTY || look->pictures == VD_PICTURE_ITERM;
    look->tmux = abilities->tmux && passed_on; // sixels tmux itself takes
    return before.theme != look->theme || before.pictures != look->pictures ||
           before.cell_width != look->cell_width || before.cell_height != look->cell_height;
}
