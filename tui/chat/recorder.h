// The chat's transcript: writes it after events, and resumes a conversation from it.
#ifndef VD_CHAT_RECORDER_H
#define VD_CHAT_RECORDER_H

#include "tui/chat/chat.h"

typedef struct vd_recorder {
    vd_transcript *transcript;  // NULL: none is written
    vd_error no_place;          // why there is no place for one
    vd_recorded_files files;    // that the chat is about
    vd_transcript_file resumed; // of a resumed session: what was recorded before
    vd_chat_record *resuming;   // the conversation of it that is being asked again; NULL: none
    int64_t image_id;           // the picture shown last
    int verified, mismatched;   // its answers: as recorded, with other scores
    int incomparable;           // recorded with another model file, pool or features
    int switched;               // recorded with another model that answered the conversation then
    char switched_from[VD_MODEL_NAME]; // its name
    int pictures, missing;             // others with conversations; of these, that cannot be opened
} vd_recorder;

// Writes to `path`, or to a new transcript when it is NULL; when none can be made the chat runs
// without one, and vd_recorder_restore says so. resume: the newest one with a conversation, or that
// at `path`, goes on: *image_id becomes the picture of its last conversation, and *model (borrowed)
// the model that answered there, when the file says so; vd_recorder_restore follows.
vd_status vd_recorder_start(vd_recorder *recorder, bool resume, const char *path, int64_t *image_id,
                            const char **model, vd_error *err);
void vd_recorder_free(vd_recorder *recorder);
// Takes over the files that the chat is about: those named, and of the resumed session where none
// are. Call it before the world is opened.
void vd_recorder_set_files(vd_recorder *recorder, vd_world_files *files);
// Then opens the pictures of one's own that a session (recorder->resumed) is about. VD_* with the
// reason when that of the last conversation is not there any more; others are left out.
vd_status vd_recorder_open_pictures(const vd_transcript_file *past, const vd_world *world,
                                    vd_error *err);
// Restores the last conversation where there is one: the models that were compared, what their
// histories are made of, its branches; and those about other pictures as they stood. The questions
// of the branch in use are asked again at once, all others when they are looked at; each goes on
// with the answer that was chosen then. A score that is not as recorded (by more than 1e-4) is
// reported, and so are rounds that another model answered then.
void vd_recorder_restore(vd_recorder *recorder, vd_chat *chat);

// After keys, before vd_recorder_step: handles the request to name the session or to continue
// another one.
void vd_recorder_handle_wish(vd_recorder *recorder, vd_chat *chat);
// The command that continues the session later; false: nothing was written.
bool vd_recorder_farewell(const vd_recorder *recorder, char *out, size_t size);

// Passes the event to the chat and writes the result. If the transcript cannot be written, the chat
// continues without it and says so.
void vd_recorder_event(vd_recorder *recorder, vd_chat *chat, vd_event *event);
// Writes the conversation about the picture that is shown, with every model's answers.
vd_status vd_recorder_export(const vd_chat *chat, vd_export_kind kind, const char *path,
                             vd_error *err);
// After keys and events: writes the conversation when it changed.
void vd_recorder_step(vd_recorder *recorder, vd_chat *chat);
// Questions that had no answer at the end.
typedef struct vd_left {
    int waiting; // are asked when the session is resumed
    int lost;    // are not: nothing of their conversation was answered
} vd_left;

// At the end: writes the conversations in which questions wait for an answer.
vd_left vd_recorder_leave(vd_recorder *recorder, vd_chat *chat);

#endif
