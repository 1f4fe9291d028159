// The chat without a terminal, an engine or a clock: keys and events go in, requests and a drawn
// grid come out; the same keys and events give the same screens. It has these parts; each uses only
// those before it:
//
//   conversation/  rounds, branches, pictures: plain data
//   lanes/         the models that answer, what each was asked, requests and events
//   navigation/    what is shown: places, cursors, scrolling, the line
//   actions/       what keys and commands do to all three (struct vd_chat)
//   views/         what fills the screen, one file a place
//
// and here: the frame around the views, and the recorder, which writes the transcript.
#ifndef VD_CHAT_CHAT_H
#define VD_CHAT_CHAT_H

#include "tui/chat/actions/actions.h"

// Starts at a picture with a model to load; both are requested. seed: of random pictures. The chat
// stays where it is in memory.
vd_status vd_chat_init(vd_chat *chat, const vd_world *world, size_t index, const char *model,
                       uint64_t seed, vd_error *err);
void vd_chat_free(vd_chat *chat);

// Keys: vd_chat_key of actions.h; requests: vd_lanes_take_request of lanes.h.
void vd_chat_event(vd_chat *chat, vd_event *event); // takes it: *event is zeroed

// Draws everything into the grid, whatever its size (frame.c).
void vd_chat_draw(vd_chat *chat, vd_grid *grid);

#endif
