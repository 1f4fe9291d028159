// The caption of the picture word by word, as it is and with what is changed.
#include <string.h>

#include "tui/chat/lanes/lanes.h"

// The picture, and which of the captioner's captions it has; of people's, typed and other ones the
// captioner's first stands here.
static vd_caption_wish wish_now(const vd_lanes *lanes)
{
    const vd_picture_caption caption = vd_conversation_caption(lanes->conversation);
    bool said = caption.by == VD_CAPTION_CAPTIONER && caption.place > 0;
    return (vd_caption_wish){.picture = lanes->conversation->branches.picture,
                             .place = said ? caption.place : 1};
}

static bool is_of(const vd_caption_wish *wish, const vd_caption_wish *now)
{
    return wish->picture == now->picture && wish->place == now->place;
}

// From now on the picture's present caption is wanted; returns whether it was another one before.
static bool want_now(vd_lanes *lanes)
{
    vd_caption_wish *wanted = &lanes->caption.wanted;
    const vd_caption_wish now = wish_now(lanes);
    if (is_of(wanted, &now))
        return false;
    wanted->picture = now.picture;
    wanted->place = now.place;
    wanted->switches.count = 0;
    wanted->read[0] = '\0';
    lanes->caption.failed = false;
    return true;
}

bool vd_lanes_caption(vd_lanes *lanes)
{
    vd_lane_caption *own = &lanes->caption;
    bool other = want_now(lanes);
    if (own->dialog)
        vd_caption_wish_read(&own->wanted, vd_conversation_caption(lanes->conversation).text);
    if (own->serial || own->failed ||
        (own->sheet && vd_caption_wish_same(&own->sheet->wish, &own->wanted)))
        return other;
    vd_request request = {.kind = VD_REQUEST_CAPTION,
                          .caption = g_memdup2(&own->wanted, sizeof own->wanted)};
    own->serial = vd_lanes_post(lanes, request);
    return other;
}

const vd_caption_sheet *vd_lanes_captioned(const vd_lanes *lanes)
{
    const vd_caption_sheet *sheet = lanes->caption.sheet;
    const vd_caption_wish now = wish_now(lanes);
    return sheet && is_of(&sheet->wish, &now) ? sheet : NULL;
}

// What comes after a word that is said instead of another is said anew.
static void drop_later(vd_switches *switches, int place)
{
    int kept = 0;
    for (int i = 0; i < switches->count; i++) {
        const vd_switch *one = &switches->at[i];
        if (one->kind != VD_SWITCH_WORD || one->index <= place)
            switches->at[kept++] = *one;
    }
    switches->count = kept;
}

void vd_lanes_caption_flip(vd_lanes *lanes, int side, const vd_switch *one)
{
    vd_caption_wish *wanted = &lanes->caption.wanted;
    if (!one || (wanted->second[0] && side != wanted->changed))
        wanted->switches.count = 0;
    wanted->changed = side;
    lanes->caption.failed = false;
    if (!one)
        return;
    if (one->kind == VD_SWITCH_WORD && !*wanted->read)
        drop_later(&wanted->switches, one->index);
    if (!vd_switches_flip(&wanted->switches, one))
        vd_notice_complain(lanes->notice, "%d changes at most", VD_SWITCHES);
}

void vd_lanes_captioner(vd_lanes *lanes, const char *path)
{
    vd_caption_wish *wanted = &lanes->caption.wanted;
    if (strlen(path) >= sizeof wanted->second) {
        vd_notice_complain(lanes->notice, "a path of %zu bytes; expected at most %zu", strlen(path),
                           sizeof wanted->second - 1);
        return;
    }
    memcpy(wanted->second, path, strlen(path) + 1);
    wanted->switches.count = 0;
    lanes->caption.failed = false;
}

void vd_lanes_read(vd_lanes *lanes, const char *text)
{
    vd_lane_caption *own = &lanes->caption;
    want_now(lanes);
    own->dialog = !text;
    vd_caption_wish_read(&own->wanted, text ? text : "");
    own->wanted.switches.count = 0;
    own->failed = false;
}

bool vd_lanes_reads(const vd_lanes *lanes)
{
    const vd_caption_wish now = wish_now(lanes);
    return *lanes->caption.wanted.read && is_of(&lanes->caption.wanted, &now);
}

// What cannot be said so is wanted as it was before, or without a second captioner and with nothing
// to be read.
static void no_caption(vd_lanes *lanes, const vd_event *event)
{
    vd_lane_caption *own = &lanes->caption;
    bool more = own->wanted.second[0] || own->wanted.read[0];
    if (vd_lanes_captioned(lanes)) {
        own->dialog &= strcmp(own->wanted.read, own->sheet->wish.read) == 0;
        own->wanted = own->sheet->wish;
    } else {
        own->dialog = false;
        own->wanted.switches.count = 0;
        own->wanted.second[0] = '\0';
        own->wanted.read[0] = '\0';
        own->failed = !more;
    }
    vd_notice_complain(lanes->notice, "%s", event->error.text);
}

void vd_lanes_caption_came(vd_lanes *lanes, vd_event *event)
{
    vd_lane_caption *own = &lanes->caption;
    if (!own->serial || own->serial != event->serial)
        return;
    own->serial = 0;
    if (event->status) {
        no_caption(lanes, event);
        return;
    }
    vd_caption_sheet_free(own->sheet);
    own->sheet = event->caption;
    own->stamp = event->serial;
    event->caption = NULL;
}
