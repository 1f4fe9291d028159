// The chat's transcript: what is written after which event, and a conversation taken up again.
#ifndef VD_CHAT_RECORDER_H
#define VD_CHAT_RECORDER_H

#include "tui/transcript.h"
#include "tui/view_chat.h"

typedef struct vd_recorder {
    vd_transcript *transcript; // NULL: none is written
    vd_fingerprint model[VD_LANES], pool[VD_LANES], features;
    vd_talk resumed; // rounds to ask again
    int next;        // of them
} vd_recorder;

// Writes to `path`, or a new transcript when it is NULL. resume: the newest one, or that at `path`,
// goes on: *image_id becomes the picture of its last conversation, whose rounds vd_recorder_step
// will ask again.
vd_status vd_recorder_start(vd_recorder *recorder, bool resume, const char *path, int64_t *image_id,
                            vd_error *err);
void vd_recorder_free(vd_recorder *recorder);

// Hands the event to the chat and writes what came of it. The chat goes on without a transcript
// that cannot be written, and says so.
void vd_recorder_event(vd_recorder *recorder, vd_chat *chat, vd_event *event);
// After keys and events: writes the conversation when it changed; while a conversation is being
// taken up, asks its next question.
void vd_recorder_step(vd_recorder *recorder, vd_chat *chat);

#endif
