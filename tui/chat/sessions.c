// Sessions of other names: what /save and /load ask of the transcript.
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "tui/base/output.h"
#include "tui/chat/recorder.h"

// The command with a name or path behind it, as a shell understands it (g_free).
static char *quoted_command(const char *options, const char *name)
{
    g_autofree char *quoted = g_shell_quote(name);
    return g_strdup_printf("%s %s %s", vd_called, options, quoted);
}

static void save(vd_recorder *recorder, vd_chat *chat, const char *path)
{
    vd_error err = {0};
    const char *name = chat->wished;
    g_autofree char *command = quoted_command("--session", name);
    if (strcmp(path, vd_transcript_path(recorder->transcript)) == 0)
        vd_notice_say(&chat->notice, "this session is called %s already", name);
    else if (access(path, F_OK) == 0)
        vd_notice_complain(&chat->notice,
                           "/save %s: there is a session of this name; /load goes to it, or "
                           "choose another name",
                           name);
    else if (vd_transcript_rename(recorder->transcript, path, &err))
        vd_notice_complain(&chat->notice, "/save %s: %s", name, err.text);
    else
        vd_notice_say(&chat->notice, "this session is called %s; %s continues it", name, command);
}

// That the session at `path` can go on here: about the same files, a picture that is there.
static vd_status read_session(const vd_recorder *recorder, const vd_chat *chat, const char *path,
                              vd_transcript_file *past, size_t *picture, vd_error *err)
{
    vd_status status = vd_transcript_read(path, past, err);
    if (status)
        return status;
    if (past->dialog_count == 0)
        status = vd_error_set(err, VD_FORMAT, "nothing was asked in it");
    else if (!vd_recorded_files_same(&past->files, &recorder->files)) {
        g_autofree char *command = quoted_command("--session", chat->wished);
        status = vd_error_set(err, VD_MISMATCH,
                              "it is about other files: leave, then %s continues it", command);
    }
    if (status == VD_OK)
        status = vd_recorder_open_pictures(past, chat->conversation.world, err);
    return status ? status
                  : vd_world_find(chat->conversation.world,
                                  past->dialogs[past->dialog_count - 1].image_id, picture, err);
}

static void take_over(vd_recorder *recorder, vd_chat *chat, vd_transcript *transcript,
                      vd_transcript_file *past)
{
    vd_transcript_close(recorder->transcript);
    vd_transcript_clear(&recorder->resumed);
    recorder->transcript = transcript;
    recorder->resumed = *past;
    *past = (vd_transcript_file){0};
    recorder->verified = recorder->mismatched = recorder->incomparable = recorder->switched =
        recorder->pictures = recorder->missing = 0;
    const vd_chat_record *dialog = &recorder->resumed.dialogs[recorder->resumed.dialog_count - 1];
    if (dialog->lane_count && strcmp(dialog->lanes[0].name, chat->lanes.lane[0].name) != 0)
        vd_lanes_use_model(&chat->lanes, 0, dialog->lanes[0].name);
    vd_recorder_restore(recorder, chat);
}

static void load(vd_recorder *recorder, vd_chat *chat, const char *path)
{
    vd_error err = {0};
    vd_transcript_file past = {0};
    vd_transcript *transcript = NULL;
    size_t picture;
    const char *name = chat->wished;
    if (strcmp(path, vd_transcript_path(recorder->transcript)) == 0) {
        vd_notice_say(&chat->notice, "this session is %s", name);
        return;
    }
    if (access(path, F_OK) != 0) {
        vd_notice_complain(&chat->notice,
                           "/load %s: there is no session of this name; /sessions lists them",
                           name);
        return;
    }
    if (vd_lanes_must_wait(&chat->lanes))
        return;
    vd_status status = read_session(recorder, chat, path, &past, &picture, &err);
    if (status == VD_OK)
        status = vd_transcript_start(path, &transcript, &err);
    if (status)
        vd_notice_complain(&chat->notice, "/load %s: %s", name, err.text);
    else if (vd_chat_leave_session(chat, picture))
        take_over(recorder, chat, transcript, &past);
    else
        vd_transcript_close(transcript);
    vd_transcript_clear(&past);
}

void vd_recorder_handle_wish(vd_recorder *recorder, vd_chat *chat)
{
    vd_error err = {0};
    g_autofree char *path = NULL;
    vd_wish wish = chat->wish;
    chat->wish = VD_WISH_NONE;
    if (wish == VD_WISH_NONE)
        return;
    if (!recorder->transcript)
        vd_notice_complain(&chat->notice, "no transcript is written, so this session has no name");
    else if (vd_saved_path(chat->wished, &path, &err))
        vd_notice_complain(&chat->notice, "%s", err.text);
    else
        (wish == VD_WISH_SAVE ? save : load)(recorder, chat, path);
}

bool vd_recorder_farewell(const vd_recorder *recorder, char *out, size_t size)
{
    char name[VD_SAVED_NAME];
    if (!recorder->transcript || !vd_transcript_begun(recorder->transcript))
        return false;
    const char *path = vd_transcript_path(recorder->transcript);
    bool ours = vd_saved_name(path, name);
    if (ours && vd_saved_unnamed(name)) {
        snprintf(out, size, "%s --resume\nLater: %s --session %s", vd_called, vd_called, name);
        return true;
    }
    g_autofree char *command =
        ours ? quoted_command("--session", name) : quoted_command("--resume --transcript", path);
    g_strlcpy(out, command, size);
    return true;
}
