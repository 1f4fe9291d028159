#include "tui/chat/recorder.h"

#include <glib.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const float SAME_SCORE = 1e-4f; // rounding of the written numbers, other processors

// ---- start --------------------------------------------------------------------------------------

static vd_status read_past(vd_recorder *recorder, const char *path, int64_t *image_id,
                           const char **model, vd_error *err)
{
    vd_status status = path ? vd_transcript_read(path, &recorder->resumed, err)
                            : vd_transcript_newest(&recorder->resumed, err);
    if (status)
        return status;
    if (recorder->resumed.dialog_count == 0)
        return vd_error_set(err, VD_FORMAT, "%.400s: has no conversation to continue", path);
    const vd_chat_record *record = &recorder->resumed.dialogs[recorder->resumed.dialog_count - 1];
    *image_id = record->image_id;
    if (record->lane_count)
        *model = record->lanes[0].name;
    return VD_OK;
}

vd_status vd_recorder_start(vd_recorder *recorder, bool resume, const char *path, int64_t *image_id,
                            const char **model, vd_error *err)
{
    vd_status status = resume ? read_past(recorder, path, image_id, model, err) : VD_OK;
    if (status)
        return status;
    status = vd_transcript_start(path ? path : recorder->resumed.path, &recorder->transcript,
                                 &recorder->no_place);
    return status == VD_OK || status == VD_UNAVAILABLE || status == VD_IO
               ? VD_OK
               : vd_error_set(err, status, "%s", recorder->no_place.text);
}

vd_status vd_recorder_open_pictures(const vd_transcript_file *past, const vd_world *world,
                                    vd_error *err)
{
    const vd_chat_record *last = past->dialog_count ? &past->dialogs[past->dialog_count - 1] : NULL;
    vd_error why = {0};
    size_t index;
    vd_transcript_open_pictures(past, world);
    if (!last || !last->picture || !vd_world_find(world, last->image_id, &index, NULL))
        return VD_OK;
    if (vd_world_open_path(world, last->picture, &index, &why) == VD_OK)
        vd_error_set(&why, VD_NOT_FOUND, "%.400s: it names another file now", last->picture);
    return vd_error_set(err, why.status,
                        "%s: the conversation is about this picture; put it back, or continue "
                        "another session (--sessions lists them)",
                        why.text);
}

void vd_recorder_set_files(vd_recorder *recorder, vd_world_files *files)
{
    vd_recorded_files_use(&recorder->resumed.files, files);
    vd_recorded_files_of(files, &recorder->files);
    if (recorder->transcript && !vd_recorded_files_same(&recorder->files, &recorder->resumed.files))
        vd_transcript_about(recorder->transcript, &recorder->files);
}

// The conversation about a picture as it stood last, unless it was given up; NULL: none.
static vd_chat_record *last_dialog(vd_transcript_file *past, int64_t image_id)
{
    for (size_t i = past->dialog_count; i-- > 0;) {
        vd_chat_record *dialog = &past->dialogs[i];
        if (dialog->image_id == image_id)
            return dialog->taken || (dialog->closed && i + 1 < past->dialog_count) ? NULL : dialog;
    }
    return NULL;
}

// Those about other pictures, the oldest first, so that it is the first to go.
static void take_up_others(vd_recorder *recorder, vd_chat *chat)
{
    size_t picture;
    for (size_t i = 0; i + 1 < recorder->resumed.dialog_count; i++) {
        const vd_chat_record *dialog = &recorder->resumed.dialogs[i];
        if (dialog->later || dialog->closed)
            continue;
        if (vd_world_find(chat->conversation.world, dialog->image_id, &picture, NULL) != VD_OK) {
            recorder->missing++;
            continue;
        }
        vd_lanes_restore_earlier(&chat->lanes, dialog, picture);
        recorder->pictures++;
    }
}

void vd_recorder_restore(vd_recorder *recorder, vd_chat *chat)
{
    size_t dialogs = recorder->resumed.dialog_count;
    if (dialogs) {
        vd_lanes_restore(&chat->lanes, &recorder->resumed.dialogs[dialogs - 1]);
        take_up_others(recorder, chat);
    }
    recorder->image_id = vd_conversation_image_id(&chat->conversation);
    recorder->resuming = last_dialog(&recorder->resumed, recorder->image_id);
    if (recorder->no_place.status)
        vd_notice_complain(&chat->notice, "no transcript is written: %s", recorder->no_place.text);
}

void vd_recorder_free(vd_recorder *recorder)
{
    vd_transcript_clear(&recorder->resumed);
    vd_transcript_close(recorder->transcript);
    vd_recorded_files_clear(&recorder->files);
    *recorder = (vd_recorder){0};
}

// ---- writing ------------------------------------------------------------------------------------

static void give_up(vd_recorder *recorder, vd_chat *chat, const vd_error *why)
{
    vd_notice_complain(&chat->notice, "no transcript from here on: %s", why->text);
    vd_transcript_close(recorder->transcript);
    recorder->transcript = NULL;
}

// The largest difference of their scores; those of other pools are not comparable.
static float furthest(const vd_answer *a, const vd_answer *b)
{
    float most = 0;
    for (int i = 0; i < a->candidates && i < b->candidates; i++)
        if (a->score[i] > -INFINITY) // of a large pool the best were recorded
            most = fmaxf(most, fabsf(a->score[i] - b->score[i]));
    return most;
}

// The recorded answer is of another model, or of another file, pool or features.
static void count_other(vd_recorder *recorder, const vd_sheet_side *then, const vd_sheet_side *now)
{
    if (strcmp(then->name, now->name) == 0) {
        recorder->incomparable++;
        return;
    }
    bool one = !recorder->switched || strcmp(recorder->switched_from, then->model) == 0;
    g_strlcpy(recorder->switched_from, one ? then->model : "other models", VD_MODEL_NAME);
    recorder->switched++;
}

// Whether the transcript has this answer already, score for score, and none of another model after
// it: the last one is what the conversation has.
static bool is_recorded(vd_recorder *recorder, const vd_sheet *sheet)
{
    const vd_record *other;
    const vd_record *record = vd_transcript_find_same(&recorder->resumed, sheet, &other);
    if (recorder->resuming && other)
        count_other(recorder, &other->sheet.side[0], &sheet->side[0]);
    if (!record)
        return false;
    bool same = furthest(&record->reply.answer, &sheet->side[0].reply->answer) <= SAME_SCORE;
    recorder->verified += same;
    recorder->mismatched += !same;
    return same && !other && record->sheet.side[0].lane == sheet->side[0].lane &&
           !vd_transcript_elsewhere(recorder->transcript);
}

// What an answer is about, as its event says: the picture's own event may come later.
typedef struct picture {
    vd_picture_regions regions;
    vd_fingerprint features;
} picture;

// history: of the lane, before the round.
static vd_sheet sheet_of(const vd_chat *chat, const picture *about, int lane, size_t at,
                         const vd_turn *history)
{
    const vd_conversation *conversation = &chat->conversation;
    const vd_response *response = &conversation->branch->rounds[at].response[lane];
    const vd_picture_caption caption = vd_conversation_caption(conversation);
    bool known = about->regions.count == response->reply.answer.regions;
    return (vd_sheet){
        .image_id = vd_conversation_image_id(conversation),
        .picture = vd_world_own_path(conversation->world, conversation->branches.picture),
        .caption = caption.text,
        .caption_by = caption.by,
        .history = history,
        .rounds = (int)at,
        .boxes = known ? about->regions.boxes : NULL,
        .names = known ? about->regions.names : NULL,
        .regions = about->regions.count,
        .features_hash = about->features,
        .sides = 1,
        .side = {{.lane = lane,
                  .name = vd_lane_name(&chat->lanes.lane[lane]),
                  .model = response->model,
                  .reply = &response->reply,
                  .texts = response->pool.text,
                  .model_hash = response->by.model,
                  .pool_hash = response->by.pool}},
    };
}

// recorder: of which `to` is; it may have the answer already. NULL: it is a new one.
static vd_status write_answer(vd_recorder *recorder, const vd_chat *chat, const picture *about,
                              int lane, size_t at, vd_transcript *to, vd_error *err)
{
    vd_turn *history = vd_lanes_history(&chat->lanes, lane, at);
    const vd_sheet sheet = sheet_of(chat, about, lane, at, history);
    bool there = recorder && is_recorded(recorder, &sheet);
    vd_status status = there ? VD_OK : vd_transcript_answer(to, &sheet, err);
    vd_turns_free(history, (int)at);
    return status;
}

void vd_recorder_event(vd_recorder *recorder, vd_chat *chat, vd_event *event)
{
    int lane = event->lane;
    bool answer = event->kind == VD_REQUEST_ASK && event->status == VD_OK &&
                  chat->lanes.lane[lane].serial == event->serial;
    size_t at = chat->lanes.lane[lane].at;
    picture about = {0};
    vd_error err = {0};
    if (answer) {
        about = (picture){event->regions, event->features_hash};
        event->regions = (vd_picture_regions){0};
    }
    vd_chat_event(chat, event);
    if (answer && recorder->transcript && at < chat->conversation.branch->count &&
        chat->conversation.branch->rounds[at].response[lane].ready &&
        write_answer(recorder, chat, &about, lane, at, recorder->transcript, &err))
        give_up(recorder, chat, &err);
    vd_picture_regions_clear(&about.regions);
}

// ---- export -------------------------------------------------------------------------------------

// All that is known of the conversation, as a transcript of it alone.
static vd_status write_draft(const vd_chat *chat, const char *path, vd_error *err)
{
    vd_transcript *draft;
    const vd_branch *branch = chat->conversation.branch;
    picture about = {.regions = chat->shown.regions};
    vd_world_features_fingerprint(chat->conversation.world, chat->conversation.branches.picture,
                                  &about.features, NULL);
    vd_status status = vd_transcript_start(path, &draft, err);
    for (size_t at = 0; at < branch->count && status == VD_OK; at++)
        for (int lane = 0; lane < chat->lanes.count && status == VD_OK; lane++)
            if (branch->rounds[at].response[lane].ready)
                status = write_answer(NULL, chat, &about, lane, at, draft, err);
    if (status == VD_OK && vd_conversation_waits(&chat->conversation)) {
        status = vd_error_set(err, VD_UNAVAILABLE, "an answer is still missing");
    } else if (status == VD_OK) {
        vd_chat_record record = vd_lanes_describe(&chat->lanes);
        status = vd_transcript_conversation(draft, &record, err);
        vd_lanes_describe_free(&record);
    }
    vd_transcript_close(draft);
    return status;
}

static vd_status render(const vd_transcript_file *file, const vd_world *world, vd_export_kind kind,
                        const char *path, vd_error *err)
{
    if (kind == VD_EXPORT_HTML)
        return vd_transcript_html(file, world, path, err);
    return kind == VD_EXPORT_MARKDOWN ? vd_transcript_markdown(file, world, path, err)
                                      : vd_transcript_visdial(file, path, err);
}

vd_status vd_recorder_export(const vd_chat *chat, vd_export_kind kind, const char *path,
                             vd_error *err)
{
    g_autofree char *draft = NULL;
    vd_transcript_file file = {0};
    int made = g_file_open_tmp("visdial-XXXXXX.jsonl", &draft, NULL);
    if (made < 0)
        return vd_error_set(err, VD_IO, "%s: no file can be created there", g_get_tmp_dir());
    close(made);
    vd_status status = write_draft(chat, draft, err);
    if (status == VD_OK)
        status = vd_transcript_read(draft, &file, err);
    if (status == VD_OK)
        status = render(&file, chat->conversation.world, kind, path, err);
    vd_transcript_clear(&file);
    unlink(draft);
    return status;
}

// ---- step ---------------------------------------------------------------------------------------

// Nothing is loaded and no answer is waited for.
static bool is_quiet(const vd_chat *chat)
{
    for (int i = 0; i < chat->lanes.count; i++)
        if (chat->lanes.lane[i].serial || chat->lanes.lane[i].loading)
            return false;
    return !vd_conversation_waits(&chat->conversation);
}

// Rounds of the branch in use that go on with another answer than they did.
static int other_answers(const vd_chat *chat, const vd_chat_record *record)
{
    int count = 0;
    for (int i = 0; i < record->count && i < (int)chat->conversation.branch->count; i++) {
        const char *answer = vd_lanes_answer(&chat->lanes, 0, (size_t)i);
        count += !answer || strcmp(answer, record->rounds[i].answer) != 0;
    }
    return count;
}

static void sum_up_taken(vd_recorder *recorder, vd_chat *chat)
{
    vd_chat_record *record = recorder->resuming;
    int rounds = (int)chat->conversation.branch->count, other = other_answers(chat, record);
    int all = record->branch_count ? record->branches[record->branch].count : record->count;
    char text[192] = "", branches[32] = "", others[64] = "", missing[64] = "";
    recorder->resuming = NULL;
    record->taken = true;
    if (rounds < all)
        return; // it was stopped, and the chat said so
    if (chat->conversation.branches.count > 1)
        snprintf(branches, sizeof branches, ", %d branches", chat->conversation.branches.count);
    if (recorder->mismatched > 0)
        snprintf(text, sizeof text, "; %d of %d answers have scores that differ from the record",
                 recorder->mismatched, recorder->mismatched + recorder->verified);
    else if (other > 0)
        snprintf(text, sizeof text, "; %d answer%s not in this pool", other,
                 other == 1 ? " is" : "s are");
    else if (recorder->incomparable > 0)
        snprintf(text, sizeof text,
                 "; the model, its pool or the features have changed: scores of %d answer%s cannot "
                 "be compared",
                 recorder->incomparable, recorder->incomparable == 1 ? "" : "s");
    else if (recorder->switched > 0)
        snprintf(text, sizeof text, "; %d round%s answered by %s before, now by %s",
                 recorder->switched, recorder->switched == 1 ? " was" : "s were",
                 recorder->switched_from, chat->lanes.lane[0].model);
    else if (recorder->verified > 0)
        snprintf(text, sizeof text, "; every score is as recorded");
    if (recorder->pictures)
        snprintf(others, sizeof others, ", and those about %d other picture%s", recorder->pictures,
                 recorder->pictures == 1 ? "" : "s");
    if (recorder->missing)
        snprintf(missing, sizeof missing, "; %d picture%s cannot be opened any more",
                 recorder->missing, recorder->missing == 1 ? "" : "s");
    recorder->pictures = recorder->missing = 0; // are said once
    vd_notice_say(&chat->notice, "continued a conversation of %d round%s%s%s%s%s", rounds,
                  rounds == 1 ? "" : "s", branches, others, missing, text);
}

// Behind what was just said, if anything was.
static void say_remark(vd_recorder *recorder, vd_chat *chat)
{
    const char *remark = recorder->transcript ? vd_transcript_remark(recorder->transcript) : NULL;
    vd_notice said = chat->notice;
    if (remark)
        vd_notice_complain(&chat->notice, "%s%s%s", said.text, said.kind ? "; " : "", remark);
}

static void write_conversation(vd_recorder *recorder, vd_chat *chat)
{
    vd_error err = {0};
    if (!recorder->transcript)
        return;
    vd_chat_record record = vd_lanes_describe(&chat->lanes);
    if (vd_transcript_conversation(recorder->transcript, &record, &err))
        give_up(recorder, chat, &err);
    vd_lanes_describe_free(&record);
}

void vd_recorder_step(vd_recorder *recorder, vd_chat *chat)
{
    int64_t image_id = vd_conversation_image_id(&chat->conversation);
    if (image_id != recorder->image_id) {
        recorder->image_id = image_id;
        recorder->verified = recorder->mismatched = recorder->incomparable = recorder->switched = 0;
        recorder->resuming = last_dialog(&recorder->resumed, image_id);
    }
    if (recorder->resuming && is_quiet(chat) && chat->lanes.lane[0].loaded)
        sum_up_taken(recorder, chat);
    if (!recorder->resuming)
        say_remark(recorder, chat);
    if (!recorder->resuming && !vd_conversation_waits(&chat->conversation) &&
        chat->lanes.lane[0].loaded && !chat->lanes.lane[0].loading)
        write_conversation(recorder, chat);
}

// ---- leaving ------------------------------------------------------------------------------------

// The last questions of a branch, when they were never asked before: 0 where none wait.
static int count_waiting(const vd_branch *branch)
{
    size_t answered = 0;
    while (answered < branch->count && branch->rounds[answered].response[0].ready)
        answered++;
    const vd_response *first =
        answered < branch->count ? &branch->rounds[answered].response[0] : NULL;
    return first && !first->wanted && !first->before.answer ? (int)(branch->count - answered) : 0;
}

// One that has no answer at all is no conversation yet.
static void write_waiting(vd_recorder *recorder, vd_chat *chat, vd_left *left)
{
    const vd_branch *branch = chat->conversation.branch;
    int waiting = count_waiting(branch);
    bool kept = (size_t)waiting < branch->count;
    if (waiting > 0 && kept)
        write_conversation(recorder, chat);
    *(kept ? &left->waiting : &left->lost) += waiting;
}

vd_left vd_recorder_leave(vd_recorder *recorder, vd_chat *chat)
{
    vd_left left = {0};
    vd_conversation *conversation = &chat->conversation;
    size_t shown = conversation->branches.picture, other[VD_EARLIER];
    int count = 0;
    if (!recorder->transcript || recorder->resuming)
        return left;
    for (int i = 0; i < conversation->earlier_count; i++) {
        const vd_branches *earlier = &conversation->earlier[i];
        if (count_waiting(&earlier->at[earlier->used]))
            other[count++] = earlier->picture;
    }
    conversation->leaving = true;
    for (int i = 0; i < count; i++) {
        vd_conversation_show(conversation, other[i]);
        write_waiting(recorder, chat, &left);
    }
    vd_conversation_show(conversation, shown);
    if (count && !vd_conversation_waits(conversation)) // the last one goes on first
        write_conversation(recorder, chat);
    write_waiting(recorder, chat, &left);
    return left;
}
