// The chat as state: keys and events go in, requests and a drawn grid come out. No terminal, no
// engine, no clock; the same keys and events give the same screens.
#ifndef VD_VIEW_CHAT_H
#define VD_VIEW_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/grid.h"
#include "tui/keymap.h"
#include "tui/layout.h"
#include "tui/line_edit.h"
#include "tui/picture.h"
#include "tui/request.h"

// ---- where pictures and people's dialogs come from ---------------------------------------------

// One round of the dialog people had about a picture. Borrowed.
typedef struct vd_human {
    const char *question; // without "?"
    const char *answer;   // NULL when the file does not say
} vd_human;

typedef struct vd_chat_source {
    void *context;
    size_t (*count)(void *context); // pictures, at least 1
    int64_t (*image_id)(void *context, size_t index);
    const char *(*caption)(void *context, size_t index);
    bool (*human)(void *context, size_t index, int round, vd_human *out); // false: no such round
    // How right people found an answer to that round, 0..1; negative when not known.
    float (*relevance)(void *context, size_t index, int round, const char *answer);
    // Index of a picture by its id; the error names some that exist.
    vd_status (*find)(void *context, int64_t image_id, size_t *index, vd_error *err);
    vd_status (*picture)(void *context, size_t index, vd_image *out, vd_error *err);
} vd_chat_source;

// ---- state -------------------------------------------------------------------------------------

enum { VD_CHAT_REQUESTS = 16, VD_MODEL_NAME = 64, VD_OUTLINES = 9 };

// One question and its answer, as shown.
typedef struct vd_round {
    char *typed;
    bool pending;   // still being answered
    long serial;    // of its request
    vd_reply reply; // unless pending
    int chosen;     // pool index of the answer that went into the conversation
    char model[VD_MODEL_NAME];
    const char *const *answers; // (answer_count) texts of the pool it was ranked in
    int answer_count;
    int human; // round of the people's dialog with this question, -1 none
} vd_round;

typedef struct vd_chat {
    vd_chat_source source;
    size_t index; // picture
    vd_picture picture;
    char picture_error[768];
    float *boxes; // (regions, 4), NULL: none
    int regions;

    vd_round *rounds; // owned
    size_t round_count, round_room;
    int selected; // round being looked at, -1 = the newest

    char model[VD_MODEL_NAME];   // loaded, "" none yet
    char loading[VD_MODEL_NAME]; // being loaded, "" none
    char backend[64];
    const char *const *answers;
    int answer_count;
    bool model_failed;

    vd_place place;
    vd_place before_help;
    vd_line line;
    vd_line filter; // of the answers list
    int answers_at; // cursor in the filtered list
    int word;       // of the detail view
    int suggestion; // people's rounds already suggested for this picture
    char suggested[VD_LINE_MAX + 1];
    bool pasting;
    bool no_outlines;

    int scroll; // dialog: lines above the bottom
    int help_scroll;
    int detail_scroll;
    bool follow; // scroll so that the selected round is seen
    char search[256];
    char message[512];  // in the last row until the next key
    bool message_wrong; // an error
    char before[160];   // what the model before answered to the question asked again

    uint64_t random;
    long serial;
    vd_request request[VD_CHAT_REQUESTS]; // ring
    int request_first, request_count;

    // Written while drawing, read by keys that depend on what is seen.
    vd_panels layout;
    int page;                   // lines of the dialog, list or help on the screen
    int scroll_most;            // how far it can scroll
    int row_round[VD_GRID_MAX]; // round shown in a row of the screen, -1 none
} vd_chat;

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

// ---- between the files of the view -------------------------------------------------------------

void vd_chat_say(vd_chat *chat, const char *format, ...) __attribute__((format(printf, 2, 3)));
void vd_chat_complain(vd_chat *chat, const char *format, ...) __attribute__((format(printf, 2, 3)));
// False (and a message) when too much waits already or memory is out.
bool vd_chat_post(vd_chat *chat, vd_request_kind kind, const char *text, size_t index);
bool vd_chat_busy(const vd_chat *chat); // a question is being answered
void vd_chat_ask(vd_chat *chat, const char *typed);
void vd_chat_again(vd_chat *chat);
void vd_chat_undo(vd_chat *chat);
void vd_chat_go_picture(vd_chat *chat, size_t index);
void vd_chat_random_picture(vd_chat *chat);
void vd_chat_use_model(vd_chat *chat, const char *name);
void vd_chat_find(vd_chat *chat, const char *text); // the next older round with this text
void vd_chat_open(vd_chat *chat, vd_place place);
// The answer at a place of the ranking becomes the one the conversation continues with.
void vd_chat_choose(vd_chat *chat, int place);

void vd_chat_drop_rounds(vd_chat *chat, size_t keep); // all but the first `keep`
void vd_chat_switch_model(vd_chat *chat);
void vd_chat_step_round(vd_chat *chat, int step);
void vd_chat_toggle(vd_chat *chat, vd_place place); // opens it, or goes back to the chat
void vd_chat_suggest(vd_chat *chat);
// The round of people's dialog that asks this (as the model saw it, without "?"), -1 none.
int vd_chat_human_round(const vd_chat *chat, const char *question);
void vd_chat_pick(vd_chat *chat); // the answer under the list's cursor

void vd_chat_command(vd_chat *chat, const char *line); // line starts with '/'
void vd_chat_complete(vd_chat *chat);                  // Tab on a line that starts with '/'
// Lines of the help about commands; false past the last.
bool vd_chat_command_help(size_t index, char *usage, size_t usage_size, const char **meaning);

// The round whose ranking and attention are shown: selected, else the newest answered; NULL none.
const vd_round *vd_chat_shown(const vd_chat *chat);
const char *vd_round_answer(const vd_round *round, int pool_index); // never NULL
// Does the answer at a place of the ranking match the filter; how many do.
bool vd_chat_matches(const vd_chat *chat, const vd_round *round, int place);
int vd_chat_filtered(const vd_chat *chat, const vd_round *round);

// The largest of n shares, largest first, until `mass` of their sum is reached; at most `most`.
typedef struct vd_share {
    int index;
    double share;
} vd_share;
int vd_shares_top(const float *shares, int n, double mass, vd_share *out, int most);
void vd_percent(char *out, size_t size, double fraction); // "62 %", ">99 %", "0.4 %"

// Parts of the drawing, each into its own file's rectangle.
void vd_chat_draw_attention(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_chat_draw_words(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_chat_draw_detail(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_chat_draw_answers(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_chat_draw_answer_list(vd_chat *chat, vd_grid *grid, vd_rect at);
void vd_chat_draw_dialog(vd_chat *chat, vd_grid *grid, vd_rect at);

#endif
