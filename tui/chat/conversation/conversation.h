// The conversation about a picture as data: rounds (a question and the models' answers) in
// branches, and the conversations about pictures shown before. It is independent of screen, keys
// and models; the lanes ask the models (tui/chat/lanes/lanes.h).
//
// Invariants: one branch is in use, and `branch` points to it. A round keeps its place in its
// branch; rounds are added and dropped at the end. A response belongs to its round; it is cleared
// with it. `edition` changes whenever another branch comes into use.
#ifndef VD_CHAT_CONVERSATION_H
#define VD_CHAT_CONVERSATION_H

#include <glib.h>

#include "engine/measure/metrics.h"
#include "tui/session/request.h"

enum { VD_MODEL_NAME = 64, VD_BRANCHES = 16, VD_ASIDES = 100 };
// Pictures whose conversations are kept: so many, whose answers take so much together.
enum { VD_EARLIER = 64, VD_EARLIER_BYTES = 64 << 20 };
enum { VD_TOPIC_BYTES = 32 << 20 }; // of attention to the history's words that a picture keeps

// A model's previous answer, before it was asked again.
typedef struct vd_replaced {
    char *answer;      // owned; NULL: it was not asked again
    float probability; // negative: not known
    char model[VD_MODEL_NAME];
    bool other_question; // that it answered: not compared with what is answered now
} vd_replaced;

// One model's response to a round.
typedef struct vd_response {
    bool ready;     // otherwise the question is being answered or is queued
    long stamp;     // different for every answer
    vd_reply reply; // when ready
    int chosen;     // pool index of the answer with which its conversation continues
    vd_replaced before;
    char *wanted; // a recorded choice, to be made when the answer arrives, owned; NULL: the first
                  // answer
    vd_answerer by;
    char model[VD_MODEL_NAME]; // its name
    vd_pool_texts pool;        // that it was ranked in
    double entropy;            // of its probabilities, in bits
    vd_metrics metrics; // of this round over the data's candidates; empty if these are not known
} vd_response;

typedef struct vd_round {
    char *typed; // the question, owned
    int human;   // round of the people's dialog with this question, -1 none
    vd_response response[VD_MODELS];
} vd_round;

// Small talk, to which the program replies: it is shown in the dialog but not passed to any model.
typedef struct vd_aside {
    size_t before; // the index of the round that follows it
    char *typed, *reply;
} vd_aside;

typedef struct vd_branch {
    vd_round *rounds; // (count), owned
    size_t count;
    vd_aside *asides; // (aside_count), owned, as they were said
    size_t aside_count;
} vd_branch;

// The conversations about one picture.
typedef struct vd_branches {
    size_t picture; // its index
    vd_branch at[VD_BRANCHES];
    int count, used; // at least 1; the one in use
    bool returned;   // /new had left them
} vd_branches;

// What is in a picture.
typedef struct vd_contents {
    vd_region_name *things; // (count), owned; NULL: not known
    int count;
} vd_contents;

typedef struct vd_conversation {
    const vd_world *world;           // its pictures, and the dialogs that people had about them
    vd_branches branches;            // about the picture that is shown
    vd_branch *branch;               // the one of them that is in use
    vd_branches earlier[VD_EARLIER]; // about other pictures, the most recent last
    int earlier_count;
    bool leaving; // the chat is ending: conversations are visited and written, none is discarded
    vd_branches left;           // the conversations before /new; count 0: none
    vd_branch forgotten;        // undone rounds, for redo
    unsigned forgotten_edition; // their branch, which must still have the same length
    size_t forgotten_at;
    unsigned edition;
    int asked_again;  // first round that is being asked again, -1 none
    GArray *contents; // of vd_contents: of the pictures, once they were asked for
} vd_conversation;

void vd_conversation_init(vd_conversation *conversation, const vd_world *world, size_t picture);
void vd_conversation_free(vd_conversation *conversation);
void vd_conversation_clear(vd_conversation *conversation); // of every picture; this one stays

// ---- the picture --------------------------------------------------------------------------------

int64_t vd_conversation_image_id(const vd_conversation *conversation);
vd_picture_caption vd_conversation_caption(const vd_conversation *conversation);
// Of a picture of the world. Computed once.
vd_contents vd_conversation_contents(vd_conversation *conversation, size_t index);
// Keeps the current picture's conversations and switches to those about picture `index`; returns
// whether there are any.
bool vd_conversation_show(vd_conversation *conversation, size_t index);
// Replaces the kept conversations about a picture that is not shown; takes ownership.
void vd_conversation_keep(vd_conversation *conversation, vd_branches *branches);

// ---- rounds and branches ------------------------------------------------------------------------

void vd_branches_free(vd_branches *branches); // their rounds
// Adds a round without answers.
vd_round *vd_branch_add(vd_branch *branch, const char *typed);
// Small talk before a round, copied; of more than VD_ASIDES the oldest goes.
void vd_branch_add_aside(vd_branch *branch, size_t before, const char *typed, const char *reply);
// The last rounds that the first model has not answered: how many; whether there are any.
size_t vd_conversation_pending(const vd_conversation *conversation);
bool vd_conversation_waits(const vd_conversation *conversation);
void vd_conversation_remove(vd_conversation *conversation, size_t at); // one round
void vd_conversation_drop(vd_conversation *conversation, size_t keep); // all but the first `keep`
// Continues in a new branch with a copy of the first `keep` rounds; if there are too many branches
// the oldest is removed. False: memory is out, nothing has changed.
bool vd_conversation_fork(vd_conversation *conversation, size_t keep);
void vd_conversation_use(vd_conversation *conversation, int branch);
// Undoes the last round, or redoes the last undone one if nothing else was asked or shown since;
// returns whether there was one. Compared models are asked again.
void vd_conversation_forget_last(vd_conversation *conversation);
bool vd_conversation_bring_back(vd_conversation *conversation);
// The answers before them have changed, so that theirs do not hold any more: nothing to redo.
void vd_conversation_clear_undone(vd_conversation *conversation);
// Starts over with the picture, and undoes this if nothing was asked since; returns whether there
// was something to undo.
void vd_conversation_leave(vd_conversation *conversation);
bool vd_conversation_return(vd_conversation *conversation);
void vd_conversation_restart(vd_conversation *conversation); // one branch without rounds
// Changes the question of a round. The responses stay.
void vd_conversation_change(vd_conversation *conversation, size_t round, const char *typed);
// The picture's caption has changed: clears all responses about it except those in use, and the
// undone rounds.
void vd_conversation_recaption(vd_conversation *conversation);
// Clears a lane's responses outside the branch in use.
void vd_conversation_forget_aside(vd_conversation *conversation, int lane);
// Frees the oldest answers' attention to the words of the history (NULL then), never that of
// `keep`'s: all of it grows with the square of a conversation, 1.6 GB after 1,000 rounds.
void vd_conversation_trim_topics(vd_conversation *conversation, const vd_response *keep);

// ---- responses ----------------------------------------------------------------------------------

void vd_response_clear(vd_response *response);
// Clears it and stores the previous answer in `before`.
void vd_response_replace(vd_response *response);
const char *vd_response_text(const vd_response *response, int pool_index); // never NULL
// Number of an answer's text in the pool, -1 when that does not have it; and its place in the
// ranking, from 0.
int vd_response_index(const vd_response *response, const char *text);
int vd_response_rank(const vd_response *response, const char *text);
bool vd_response_changed(const vd_response *response); // it was another answer before
// The previous answer, "blue (25 %, base)"; "" if it was not asked again.
void vd_response_before(const vd_response *response, char *out, size_t size);

// ---- the human dialog ---------------------------------------------------------------------------

// A round of the human dialog about the picture; NULL: it has no such round.
const vd_visdial_round *vd_people_dialog(const vd_conversation *conversation, int round);
// The round of the human dialog with this question (as the model saw it, without "?") and the same
// meaning as the conversation's round `at`; -1 none.
int vd_people_round(const vd_conversation *conversation, const char *question, size_t at);
// NULL: not known.
const char *vd_people_answer(const vd_conversation *conversation, const vd_round *round);
// Relevance of an answer to the round, 0..1; negative: unknown.
float vd_people_relevance(const vd_conversation *conversation, const vd_round *round,
                          const char *answer);
// Metrics of the data's candidates ranked by the response's scores; empty if one of them is not in
// its pool.
vd_metrics vd_people_metrics(const vd_conversation *conversation, const vd_round *round,
                             const vd_response *response);

#endif
