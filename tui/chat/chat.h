// The chat as state: keys and events go in, requests and a drawn grid come out. No terminal, no
// engine, no clock; the same keys and events give the same screens.
#ifndef VD_CHAT_CHAT_H
#define VD_CHAT_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/measure/metrics.h"
#include "features/text/fold.h"
#include "tui/screen/grid.h"
#include "tui/screen/keymap.h"
#include "tui/screen/layout.h"
#include "tui/screen/line_edit.h"
#include "tui/screen/picture.h"
#include "tui/session/request.h"
#include "tui/base/shares.h"

// ---- where pictures and people's dialogs come from ---------------------------------------------

// One round of the dialog people had about a picture. Borrowed.
typedef struct vd_human {
    const char *question; // without "?"
    const char *answer;   // NULL when the file does not say
    int coreference; // it is about what was said so many rounds before; 0 nothing, -1 not known
} vd_human;

typedef struct vd_chat_source {
    void *context;
    size_t (*count)(void *context); // pictures, at least 1
    int64_t (*image_id)(void *context, size_t index);
    const char *(*caption)(void *context, size_t index);
    bool (*human)(void *context, size_t index, int round, vd_human *out); // false: no such round
    // One of the candidates of that round, NULL past the last; how right people found it, 0..1,
    // negative when not known.
    const char *(*candidate)(void *context, size_t index, int round, int which, float *relevance);
    // What was found in a picture, "large blue metal cube; small ..."; "" when that is not known.
    void (*contents)(void *context, size_t index, char *out, size_t size);
    // Index of a picture by its id; the error names some that exist.
    vd_status (*find)(void *context, int64_t image_id, size_t *index, vd_error *err);
    vd_status (*picture)(void *context, size_t index, vd_image *out, vd_error *err);
} vd_chat_source;

// ---- state -------------------------------------------------------------------------------------

enum { VD_CHAT_REQUESTS = 16, VD_MODEL_NAME = 64, VD_OUTLINES = 9, VD_BRANCHES = 16 };
// Pictures whose conversations are kept: so many, whose answers take so much together.
enum { VD_PAGES = 64, VD_PAGE_BYTES = 64 << 20 };

// Whose answers a lane's history is made of. People's, where a round has none, are the shared ones.
typedef enum vd_follow {
    VD_FOLLOW_SHARED, // those of lane 0, as chosen
    VD_FOLLOW_OWN,    // what the lane answered itself
    VD_FOLLOW_HUMAN,  // what people answered
    VD_FOLLOWS
} vd_follow;

// A model that answers. Lane 0 holds the conversation; further ones are compared with it. Each lane
// asks, one after another, the first question it has no answer to yet (vd_chat_pump): a new one, or
// those after a round that was changed.
typedef struct vd_lane {
    char *name;                  // as it was asked for last, owned; NULL when the lane is free
    char model[VD_MODEL_NAME];   // loaded, "" none yet
    char loading[VD_MODEL_NAME]; // being loaded, "" none
    char backend[64];
    const char *const *answers; // (answer_count) texts of its pool, borrowed
    const int32_t *by_text;     // (answer_count) their order, borrowed; NULL: not known
    int answer_count;
    bool failed;  // the last one asked for could not be loaded
    bool stopped; // asks nothing until the next question (lane 0: until Ctrl-C)
    vd_follow follow;
    long serial; // of the question being answered, 0 none
    size_t at;   // its round
} vd_lane;

// One lane's answer to a round.
typedef struct vd_take {
    bool ready;     // else it is being asked, or waits for its turn
    long stamp;     // another one for every answer
    vd_reply reply; // when ready
    int chosen;     // pool index of the answer its conversation goes on with
    char *was;      // "blue (25 %, base)": what it was before it was asked again, owned; or NULL
    char *wanted;   // what was recorded and will be chosen when it comes, owned; NULL: the first
    char model[VD_MODEL_NAME];
    const char *const *answers; // (answer_count) texts of the pool it was ranked in
    const int32_t *by_text;     // as of the lane
    int answer_count;
    double entropy;     // of its probabilities, in bits
    vd_metrics metrics; // of this round among people's candidates; empty when they are not known
} vd_take;

// How many rows of the dialog a round takes, and what that depends on.
typedef struct vd_laid {
    int width, lane, chosen, rows;
} vd_laid;

// One question and what the lanes answered.
typedef struct vd_round {
    char *typed;
    vd_laid laid;
    int human; // round of the people's dialog with this question, -1 none
    vd_take take[VD_MODELS];
} vd_round;

// The walk through the answer that is looked at (walk.c).
typedef struct vd_chat_walk {
    vd_walk *walk; // owned; NULL: not there (yet)
    long stamp;    // the answer it is of, and the model that walks
    char model[VD_MODEL_NAME];
    long serial;          // of the request being served, 0 none
    bool failed;          // nothing more is asked for
    int page;             // a stage, then what-if
    int at;               // cursor in the what-ifs
    vd_switches switches; // as they are wanted
    vd_rect list;         // where the what-ifs were drawn, from number `first` on
    int first;
} vd_chat_walk;

// What is kept of the answer that a lane shows, so that it is not computed again for every key
// (ranked.c). All owned but the pools, NULL until it is needed.
typedef struct vd_lane_ranking {
    const char *const *answers; // the pool that group is of
    int32_t *group;
    const char *const *pool, *const *first; // the pool that `same` is of, and leads to
    int32_t *same;
    long stamp;      // the answer that list and row are of, 0 none
    bool folded;     // and whether alike ones are one in row
    vd_folded *list; // (count)
    int count;
    int32_t *row; // of each answer of the pool
} vd_lane_ranking;

// Answers that are alike shown as one.
typedef struct vd_chat_fold {
    bool on;
    vd_lane_ranking lane[VD_MODELS];
} vd_chat_fold;

// What an old answer's words looked at, computed again (recall.c).
enum { VD_TOPIC_BYTES = 32 << 20 }; // that a picture's answers keep together

typedef struct vd_chat_recall {
    long serial; // of the request being served, 0 none
    long stamp;  // the answer it is of, or was tried for in vain
    size_t round;
} vd_chat_recall;

// A conversation about the picture that is set aside.
typedef struct vd_branch {
    vd_round *rounds;
    size_t count, room;
} vd_branch;

// The conversations about a picture that is not looked at.
typedef struct vd_page {
    size_t index; // picture
    vd_branch branches[VD_BRANCHES];
    int branch_count, branch;
} vd_page;

typedef struct vd_chat vd_chat;

struct vd_chat {
    vd_chat_source source;
    size_t index; // picture
    vd_picture picture;
    char picture_error[768];
    float *boxes; // (regions, 4), NULL: none
    int regions;

    vd_round *rounds; // owned
    size_t round_count, round_room;
    int selected; // round being looked at, -1 = the newest

    vd_branch branches[VD_BRANCHES]; // the one in use is empty: its rounds are above
    int branch_count, branch;
    vd_page *pages; // (VD_PAGES) the one left last behind; NULL: none yet
    int page_count;
    int editing;     // round whose question is in the line, -1 none
    int asked_again; // first round that is being asked again, -1 none
    vd_lane lanes[VD_MODELS];
    int lane_count;         // at least 1
    bool compare_when_free; // comparing was asked for while a question was answered
    int lane;               // whose answers and attention the places show

    vd_place place;            // = stack[depth]
    vd_place stack[VD_PLACES]; // the way here, from the chat on
    int depth;
    vd_line line;
    vd_line filter;  // of the place that filters
    int list_at;     // cursor in the filtered list
    char **contents; // (pictures) what is in them, once it was asked for; owned
    size_t contents_count;
    int word; // of the detail view
    vd_chat_walk walk;
    vd_chat_recall recall;
    int suggestion; // people's rounds already suggested for this picture
    char suggested[VD_LINE_MAX + 1];
    bool pasting;
    size_t unpasted; // characters that the line had no room for
    bool no_outlines;
    vd_chat_fold fold;
    vd_theme_name theme;

    int scroll;         // dialog: lines above the bottom
    int top[VD_PLACES]; // of places that scroll as a page: the first row in sight
    bool follow;        // scroll so that the selected round is seen
    char search[256];
    char message[512];  // in the last row until the next key
    bool message_wrong; // an error

    uint64_t random;
    long serial;
    vd_request request[VD_CHAT_REQUESTS]; // ring
    int request_first, request_count;

    // Written while drawing, read by keys that depend on what is seen.
    vd_panels layout;
    int page;                   // lines of what scrolls in this place
    int scroll_most;            // how far it can scroll
    int row_round[VD_GRID_MAX]; // round (in lists: entry) shown in a row of the screen, -1 none
};

// Starts at a picture with a model to load; both are requested. seed: of random pictures.
vd_status vd_chat_init(vd_chat *chat, const vd_chat_source *source, size_t index, const char *model,
                       uint64_t seed, vd_error *err);
void vd_chat_free(vd_chat *chat);

void vd_chat_key(vd_chat *chat, vd_key key);
void vd_chat_event(vd_chat *chat, vd_event *event); // takes it: *event is zeroed
// The oldest request not taken yet, ownership moves; false when there is none.
bool vd_chat_take_request(vd_chat *chat, vd_request *out);

// Draws everything into the grid, whatever its size.
void vd_chat_draw(vd_chat *chat, vd_grid *grid);

// ---- places ------------------------------------------------------------------------------------

// What fills the screen between the status row and the question line, one file each. A place is a
// row of VD_PLACE_LIST, its keys rows of the table in keymap.c, and one of these. Every pointer may
// be NULL unless it says otherwise.
typedef struct vd_view {
    const char *title;  // of its help, never NULL
    const char *filter; // prompt; typing then goes into chat->filter, not into the question line
    bool of_round;      // shows an answer: cannot be opened, and closes, while there is none
    void (*open)(vd_chat *chat); // it becomes the place; top and filter are at their start already
    // Where things go; NULL: all of the room (vd_panels_full without a side panel).
    vd_panels (*arrange)(const vd_chat *chat, int width, int height);
    // Draws into chat->layout; sets chat->page and chat->scroll_most when it scrolls. Never NULL.
    void (*draw)(vd_chat *chat, vd_grid *grid);
    // Moves by lines, towards the end when positive; NULL: chat->top of this place moves within
    // 0..scroll_most.
    void (*scroll)(vd_chat *chat, int lines);
    // An action that only means something here, or something else than in the chat; false: not
    // taken, the chat's own meaning holds.
    bool (*act)(vd_chat *chat, vd_action action, vd_key key);
    void (*click)(vd_chat *chat, int x, int y); // inside the screen
} vd_view;

#define X(name, view) extern const vd_view vd_view_##view;
VD_PLACE_LIST(X)
#undef X

const vd_view *vd_view_of(vd_place place);

// ---- between the files of the view -------------------------------------------------------------

void vd_chat_say(vd_chat *chat, const char *format, ...) __attribute__((format(printf, 2, 3)));
void vd_chat_complain(vd_chat *chat, const char *format, ...) __attribute__((format(printf, 2, 3)));
// False (and a message) when too much waits already or memory is out.
bool vd_chat_post(vd_chat *chat, vd_request_kind kind, int lane, const char *text, size_t index);
bool vd_chat_post_request(vd_chat *chat, vd_request *request); // takes it, gives it a serial
bool vd_chat_busy(const vd_chat *chat);                        // a question is being answered
void vd_chat_ask(vd_chat *chat, const char *typed);
void vd_chat_again(vd_chat *chat);
void vd_chat_undo(vd_chat *chat);
void vd_chat_go_picture(vd_chat *chat, size_t index);
void vd_chat_start_over(vd_chat *chat); // with this picture
void vd_chat_random_picture(vd_chat *chat);
void vd_chat_use_model(vd_chat *chat, int lane, const char *name);
void vd_chat_find(vd_chat *chat, const char *text); // the next older round with this text
void vd_chat_open(vd_chat *chat, vd_place place);
// The answer at a place of the ranking becomes the one the conversation continues with.
void vd_chat_choose(vd_chat *chat, int place);

void vd_chat_drop_rounds(vd_chat *chat, size_t keep); // all but the first `keep`
void vd_chat_switch_model(vd_chat *chat);
void vd_chat_back(vd_chat *chat); // to the place this one was opened from
void vd_chat_step_round(vd_chat *chat, int step);
void vd_chat_toggle(vd_chat *chat, vd_place place); // opens it, or goes back to the chat

// People's dialog about the picture (people.c).
void vd_chat_suggest(vd_chat *chat);
// The round of people's dialog that asks this (as the model saw it, without "?") and means what it
// means as the chat's round `at`; -1 none.
int vd_chat_human_round(const vd_chat *chat, const char *question, size_t at);
const char *vd_chat_human_answer(const vd_chat *chat, const vd_round *round); // NULL: not known
// How right people found an answer to the round, 0..1; negative when not known.
float vd_chat_relevance(const vd_chat *chat, const vd_round *round, const char *answer);
// Ranks people's candidates by the take's scores; empty when one of them is not in its pool.
vd_metrics vd_chat_measure(const vd_chat *chat, const vd_round *round, const vd_take *take);

// Lanes (lanes.c).
void vd_chat_pump(vd_chat *chat); // asks what is missing
void vd_chat_model_came(vd_chat *chat, vd_event *event);
void vd_chat_answer_came(vd_chat *chat, vd_event *event);
// Forgets a lane's answers from a round on; they are asked again.
void vd_chat_forget(vd_chat *chat, int lane, size_t from);
// After another answer was chosen: every lane whose history it is in forgets what came after it.
void vd_chat_rechosen(vd_chat *chat, int lane, size_t round);
// The answer to a round that is in a lane's history; NULL while there is none.
const char *vd_chat_heard(const vd_chat *chat, int lane, size_t round);
bool vd_chat_hears_itself(const vd_chat *chat, int lane, size_t round); // that answer is its own
const char *vd_follow_name(vd_follow follow); // "own", "shared", "people's"
void vd_chat_follow(vd_chat *chat, int lane, vd_follow follow);
void vd_chat_compare_with(vd_chat *chat, const char *model); // one more lane; "": two at least
void vd_chat_stop_comparing(vd_chat *chat);

// The first `count` rounds as a lane hears them, in one block. NULL: out of memory.
vd_turn *vd_chat_history(const vd_chat *chat, int lane, size_t count);

// A lane's ranking as it is shown (ranked.c): answers that are alike as one when that is
// wanted, each by itself when not, or when memory is out. Rows of it, and one of them.
int vd_chat_ranked(vd_chat *chat, int lane, const vd_take *take);
vd_folded vd_chat_ranked_at(const vd_chat *chat, int lane, const vd_take *take, int row);
// The row that an answer of the pool is in; -1: memory is out.
int vd_chat_ranked_row(vd_chat *chat, int lane, const vd_take *take, int answer);
// A row of a lane's ranking (the best of those that are alike), and that of the same answer in the
// first lane's: returns its number, -1 where it has none.
int vd_chat_ranked_in_first(vd_chat *chat, int lane, const vd_take *take, const vd_take *first,
                            int row, vd_folded *now, vd_folded *there);
void vd_chat_fold_answers(vd_chat *chat, bool on); // and says so
void vd_chat_fold_free(vd_chat_fold *fold);

// Walk (walk.c).
void vd_chat_walk_pump(vd_chat *chat); // asks for the walk that the screen needs
void vd_chat_walk_came(vd_chat *chat, vd_event *event);
void vd_chat_walk_drop(vd_chat *chat);
void vd_chat_what_if(vd_chat *chat, const char *text); // "region 2", "none", "" only looks

// Recall (recall.c). Trim lets go of the oldest answers' attention to the words of the history
// (NULL then), never of `keep`'s; pump asks for that of the answer looked at in the detail view.
void vd_chat_recall_trim(vd_chat *chat, const vd_take *keep);
size_t vd_chat_topic_bytes(const vd_take *take); // that its topic attention takes
void vd_chat_recall_pump(vd_chat *chat);
bool vd_chat_recall_came(vd_chat *chat, vd_event *event);       // false: the event is another one's
bool vd_chat_recalls(const vd_chat *chat, const vd_take *take); // it is on its way

// Branches (branches.c).
void vd_take_clear(vd_take *take);
bool vd_take_changed(const vd_take *take); // it was another answer before it was asked again
bool vd_chat_make_room(vd_chat *chat);     // for one more round
// Sets the conversation aside and goes on with a copy of its first `keep` rounds. False (and a
// message) when memory is out.
bool vd_chat_fork(vd_chat *chat, size_t keep);
void vd_chat_use_branch(vd_chat *chat, int branch);
void vd_chat_drop_branches(vd_chat *chat);
// Keeps the conversations about the picture that is left, and goes on with those about picture
// `index`: whether there are any.
bool vd_chat_turn_page(vd_chat *chat, size_t index);
void vd_chat_drop_pages(vd_chat *chat);
void vd_chat_forget_aside(vd_chat *chat, int lane); // a lane's answers in all that is set aside
void vd_chat_edit(vd_chat *chat); // puts the selected round's question into the line
void vd_chat_stop_editing(vd_chat *chat);
void vd_chat_change(vd_chat *chat, size_t round, const char *typed); // and asks all after it again

void vd_chat_command(vd_chat *chat, const char *line); // line starts with '/'
void vd_chat_complete(vd_chat *chat);                  // Tab on a line that starts with '/'
// Lines of the help about commands; false past the last.
bool vd_chat_command_help(size_t index, char *usage, size_t usage_size, const char **meaning);

// The round whose ranking and attention are shown: selected, else the newest answered; NULL none.
// Its answer by chat->lane, NULL with it.
const vd_round *vd_chat_shown(const vd_chat *chat);
const vd_take *vd_chat_take(const vd_chat *chat);
const char *vd_take_answer(const vd_take *take, int pool_index); // never NULL
// Number of an answer's text in the pool, -1 when that does not have it; and its place in the
// ranking, from 0.
int vd_take_index(const vd_take *take, const char *text);
int vd_take_place(const vd_take *take, const char *text);
bool vd_text_contains(const char *text, const char *part); // letters of either case
int vd_clamp(int value, int most);                         // into 0..most; 0 when most < 0

// Parts that places share, each drawn into a rectangle.
// The picture with the regions that an answer looked at, NULL: without.
void vd_chat_draw_picture(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_take *take);
void vd_chat_draw_caption(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_chat_draw_attention(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_chat_draw_words(vd_grid *grid, vd_rect at, const vd_take *take);
void vd_chat_draw_answers(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_chat_draw_dialog(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_chat_draw_ranking_title(const vd_chat *chat, vd_grid *grid, vd_rect at);
// One row of a ranking: place (from 0), text, bar, share.
void vd_chat_draw_candidate(vd_grid *grid, vd_rect at, const vd_take *take, const vd_folded *row,
                            bool selected);
// The answer's text and how many are alike: "yes (+3 alike)", "yes +3" where that does not fit.
void vd_chat_draw_alike(vd_grid *grid, vd_rect at, const char *text, int alike, vd_style style);
// Text over several lines, the last one cut with an ellipsis; returns the rows used.
int vd_chat_draw_wrapped(vd_grid *grid, vd_rect at, const char *text, vd_style style);
// Marks that more lies above (first row > 0) and below (first row < most).
void vd_chat_draw_more(vd_grid *grid, vd_rect at, int first, int most);

#endif
