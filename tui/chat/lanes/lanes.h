// The models that answer. A lane is a model with a history of its own; lane 0 holds the
// conversation, further ones are compared with it. Each lane asks, one after another, the first
// question it has no answer to yet (vd_lanes_pump): a new one, or those after a round that was
// changed. Lanes know no screen and no keys: requests go out, events come in, and a notice says
// what happened.
//
// Invariants: at most one question of a lane is waited for (`serial`), and it is one of the branch
// in use. So whatever changes the rounds of the conversation while lanes are there goes through
// this header, which no longer waits for answers that are not wanted; late ones are dropped.
#ifndef VD_CHAT_LANES_H
#define VD_CHAT_LANES_H

#include "tui/chat/conversation/conversation.h"
#include "tui/screen/notice.h"
#include "tui/session/request.h"
#include "tui/transcript/transcript.h"

// Whose answers a lane's history is made of. To a round that the data has no answer to, the shared
// one stands for it.
typedef enum vd_follow {
    VD_FOLLOW_SHARED, // those of lane 0, as chosen
    VD_FOLLOW_OWN,    // what the lane answered itself
    VD_FOLLOW_DATA,   // those in the data
    VD_FOLLOWS
} vd_follow;

typedef struct vd_lane {
    char *name;      // as it was asked for last, owned; NULL when the lane is free
    char *answering; // the name of the one that is loaded, owned; NULL: none yet
    bool loaded;     // one is: by this name
    char model[VD_MODEL_NAME];
    vd_answerer by;
    long loading;               // the request for the one that was asked for last, 0: it is there
    char coming[VD_MODEL_NAME]; // its name
    char backend[64];
    vd_pool_texts pool;
    const vd_vocab *vocab; // borrowed; NULL: none yet
    vd_error failed;       // why the last one asked for could not be loaded; VD_OK: it could be
    bool stopped;          // asks nothing until the next question (lane 0: until Ctrl-C)
    vd_follow follow;
    long serial; // of the question being answered, 0 none
    size_t at;   // its round
} vd_lane;

// The attention of an old answer to the words of its history, computed again.
typedef struct vd_recall {
    long serial; // of the request being served, 0 none
    long stamp;  // the answer it is of, or that it could not be asked for
    size_t round;
} vd_recall;

// The walk through one answer, for what-ifs too.
typedef struct vd_lane_walk {
    vd_walk *walk; // owned; NULL: not there (yet)
    long stamp;    // the answer it is of, and the model that walks
    vd_answerer by;
    long serial;          // of the request being served, 0 none
    long came;            // that of the walk that is there
    bool failed;          // nothing more is asked for
    vd_switches switches; // as they are wanted
} vd_lane_walk;

// The caption of the picture word by word. It is asked of the first lane's thread, but not of a
// model that answers.
typedef struct vd_lane_caption {
    vd_caption_sheet *sheet; // owned; NULL: not there (yet)
    vd_caption_wish wanted;  // as it is wanted
    bool dialog;             // the dialog's caption is to be read, whichever it is
    long stamp;              // of the sheet, another one each time
    long serial;             // of the request being served, 0 none
    bool failed;             // nothing more is asked for
} vd_lane_caption;

typedef struct vd_lanes {
    vd_conversation *conversation; // borrowed
    vd_notice *notice;             // borrowed
    vd_lane lane[VD_MODELS];
    int count;              // at least 1
    bool compare_when_free; // comparing was asked for while a question was answered
    vd_recall recall;
    vd_lane_walk walk;
    vd_lane_caption caption;
    GArray *requests; // of vd_request: not taken yet, the oldest first
    long serial;      // of the newest request
    long picture;     // of that of the picture that is shown
    long image;       // of that for its pixels, 0: none is being served
} vd_lanes;

void vd_lanes_init(vd_lanes *lanes, vd_conversation *conversation, vd_notice *notice);
void vd_lanes_free(vd_lanes *lanes);

// ---- requests -----------------------------------------------------------------------------------

// Both return the request's serial, which is above 0.
long vd_lanes_send(vd_lanes *lanes, vd_request_kind kind, int lane, const char *text, size_t index);
long vd_lanes_post(vd_lanes *lanes, vd_request request); // takes it
// About the question of a round, after the history of the lane; owned by the caller.
vd_request vd_lanes_prepare(const vd_lanes *lanes, vd_request_kind kind, int lane, size_t round);
// The oldest request not taken yet, ownership moves; false when there is none.
bool vd_lanes_take_request(vd_lanes *lanes, vd_request *out);

// ---- histories ----------------------------------------------------------------------------------

const char *vd_follow_name(vd_follow follow);    // "own", "shared", "data"
const char *vd_follow_answers(vd_follow follow); // "own answers", "answers in the data"
// Also the start of a name, and "people's", as data was called. False: it is none.
bool vd_follow_named(const char *word, vd_follow *out);
// The answer to a round that is in a lane's history; NULL while there is none.
const char *vd_lanes_answer(const vd_lanes *lanes, int lane, size_t round);
// The lane whose answer that is; -1: it is in the data.
int vd_lanes_source(const vd_lanes *lanes, int lane, size_t round);
// The first `count` rounds as a lane's history has them (vd_turns_free); NULL: 0.
vd_turn *vd_lanes_history(const vd_lanes *lanes, int lane, size_t count);

// ---- questions ----------------------------------------------------------------------------------

// Whether the first lane's answer is pending and will come: without a model none does.
bool vd_lanes_wait(const vd_lanes *lanes);
bool vd_lanes_must_wait(vd_lanes *lanes); // the same; a notice then says so
void vd_lanes_pump(vd_lanes *lanes);      // asks what is missing
// False: there is no model. While others are being answered it waits for its turn.
bool vd_lanes_ask(vd_lanes *lanes, const char *typed);
void vd_lanes_again(vd_lanes *lanes); // the last question
// Undoes the last round, or /new.
void vd_lanes_undo(vd_lanes *lanes);
void vd_lanes_redo(vd_lanes *lanes); // redoes the round
// The conversation of a lane continues with the answer at a rank: in a new branch if later rounds
// exist. False: not possible; a notice may say why.
bool vd_lanes_choose(vd_lanes *lanes, int lane, size_t round, int rank);
// Changes a round's question in a new branch and asks all later ones again. False: as
// vd_lanes_fork.
bool vd_lanes_change(vd_lanes *lanes, size_t round, const char *typed);
void vd_lanes_follow(vd_lanes *lanes, int lane, vd_follow follow);
// vd_conversation_fork; false (and a notice) when memory is out.
bool vd_lanes_fork(vd_lanes *lanes, size_t keep);
void vd_lanes_use_branch(vd_lanes *lanes, int branch);
// The picture's caption, the first history entry, has changed: asks all rounds again.
void vd_lanes_recaption(vd_lanes *lanes);
// Shows another picture, or starts its conversations over, which leaves its pixels as they are.
// image: its pixels are asked for, too, where vd_lanes_reads_image.
void vd_lanes_show_picture(vd_lanes *lanes, size_t index, bool image);
void vd_lanes_start_over(vd_lanes *lanes);
// Whether a thread reads a picture's pixels: of the user's files, which may be large.
bool vd_lanes_reads_image(const vd_lanes *lanes, size_t index);
// Asks for the pixels of a file, or of picture `index` (path NULL). Returns the request's serial.
long vd_lanes_read_image(vd_lanes *lanes, const char *path, size_t index);
// Clears the conversations about all pictures. False (and a notice): it must wait.
bool vd_lanes_leave_session(vd_lanes *lanes, size_t index);
void vd_lanes_drop(vd_lanes *lanes, size_t keep); // vd_conversation_drop
// Forgets a lane's answers from a round on; they are asked again.
void vd_lanes_forget(vd_lanes *lanes, int lane, size_t from);

// ---- models -------------------------------------------------------------------------------------

void vd_lanes_use_model(vd_lanes *lanes, int lane, const char *name);
// The lane, from `first` on, that was asked for by this name; -1: none.
int vd_lanes_named(const vd_lanes *lanes, int first, const char *model);
// For the first lane; it changes places with the second one where that has this model already.
void vd_lanes_first_model(vd_lanes *lanes, const char *name);
void vd_lanes_switch_model(vd_lanes *lanes); // to the next model; two compared models change places
void vd_lanes_compare_with(vd_lanes *lanes, const char *model); // adds a lane; "": at least two
void vd_lanes_stop_comparing(vd_lanes *lanes);
void vd_lanes_remove_last(vd_lanes *lanes);

// ---- what places show of one answer -------------------------------------------------------------

// Requests the walk through a lane's answer if it is missing; returns whether it belongs to another
// answer.
bool vd_lanes_walk(vd_lanes *lanes, int lane, size_t round);
bool vd_lanes_walks(const vd_lanes *lanes, int lane, const vd_response *response); // it is there
void vd_lanes_flip(vd_lanes *lanes, const vd_switch *one);
void vd_lanes_walk_came(vd_lanes *lanes, vd_event *event);
// Requests the caption of the picture, word by word and unchanged, if it is not there yet. Returns
// whether it was requested.
bool vd_lanes_caption(vd_lanes *lanes);
// The caption word by word, if it belongs to the picture's present caption; else NULL.
const vd_caption_sheet *vd_lanes_captioned(const vd_lanes *lanes);
// Changes one side's caption (another word, a region or the history left out) or undoes that
// change; one NULL: undoes all. Another word undoes the changes of later words.
void vd_lanes_caption_flip(vd_lanes *lanes, int side, const vd_switch *one);
void vd_lanes_captioner(vd_lanes *lanes, const char *path); // a second captioner; "": none
// A caption that the captioner reads; NULL: the dialog's, also of pictures to come; "": none.
void vd_lanes_read(vd_lanes *lanes, const char *text);
// Whether one is wanted beside the picture's present caption.
bool vd_lanes_reads(const vd_lanes *lanes);
void vd_lanes_caption_came(vd_lanes *lanes, vd_event *event);
// Requests the attention over history words of a lane's old answer if it was not kept.
void vd_lanes_recall(vd_lanes *lanes, int lane, size_t round);
bool vd_lanes_recalls(const vd_lanes *lanes, const vd_response *response); // it is on its way
bool vd_lanes_recall_came(vd_lanes *lanes, vd_event *event); // false: the event is another one's

// ---- transcripts --------------------------------------------------------------------------------

// The name of the lane's model in transcripts: the one in use, also while another is being loaded.
const char *vd_lane_name(const vd_lane *lane);

// The record of the conversation for the transcript: its models, their histories and every branch;
// texts are borrowed. Waiting questions are only in its branches.
vd_chat_record vd_lanes_describe(const vd_lanes *lanes);
void vd_lanes_describe_free(vd_chat_record *record);
// Restores the conversation of a record about the same picture.
void vd_lanes_restore(vd_lanes *lanes, const vd_chat_record *record);
// The same for another picture: its questions are asked again when it is shown.
void vd_lanes_restore_earlier(vd_lanes *lanes, const vd_chat_record *record, size_t picture);

// ---- events -------------------------------------------------------------------------------------

// The effect of an event, for the views.
typedef struct vd_arrival {
    bool answered;  // the first lane has an answer
    char *question; // a question removed from the conversation unanswered, owned; or NULL
} vd_arrival;

// Handles an event: a model, an answer, a walk or a failure; may take what the event holds.
vd_arrival vd_lanes_event(vd_lanes *lanes, vd_event *event);

#endif
