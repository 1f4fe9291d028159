// A chat without an engine: three pictures, a pool of twelve answers and replies made up from the
// question's letters, the same ones every time.
#ifndef VD_TEST_FAKE_CHAT_H
#define VD_TEST_FAKE_CHAT_H

#include "tui/chat/chat.h"

enum { FAKE_PICTURES = 3, FAKE_ANSWERS = 12, FAKE_REGIONS = 6 };

typedef struct fake_chat {
    vd_chat chat;
    vd_grid grid;
    bool hold;                // questions are not answered until fake_chat_release
    bool no_boxes;            // features without boxes
    bool model_lost;          // no model can be loaded; one whose name begins with "no/" never can
    bool no_walk;             // walks fail
    bool no_caption;          // captions fail
    bool history_of_captions; // the captioner has one
    bool full_size;           // replies with as many words and history words as the engine takes
    vd_request held;          // the question that waits
    int stops, leaves, redraws, suspends, mouse;  // requests for the terminal's side
    int asked, pictures, models, walks, captions; // requests for the engine
    char copied[1024], exported[256];             // to the clipboard; kind and file
    char history[1024]; // lane and history of the last question: "0: is it red? yes. is it? no."
} fake_chat;

// Its pictures and what people said about them, for a part of a chat by itself.
const vd_world *fake_chat_world(void);

// Starts at picture 0 with the model "improved", loaded at once; the grid is 80x24, mono, UTF-8.
// Sets LC_CTYPE to C.UTF-8.
void fake_chat_start(fake_chat *fake);
void fake_chat_caption(const char *text); // borrowed, of every picture until the next start
// What the networks show, until the next start: MVAN's attentions; none at all; one of rounds and
// two of regions, by step.
typedef enum fake_network { FAKE_MVAN, FAKE_WHOLE, FAKE_STEPS } fake_network;
void fake_chat_network(fake_network network);
void fake_chat_end(fake_chat *fake);
void fake_chat_size(fake_chat *fake, int width, int height); // also draws
vd_rect fake_chat_list(const fake_chat *fake); // where the first entry of the list is drawn

// Keys by name ("C-a", "M-Left", "F1"), separated by spaces; text in quotes is typed:
// "'how many?' Enter". Requests are served and the grid is drawn after every key.
void fake_chat_keys(fake_chat *fake, const char *keys);
void fake_chat_key(fake_chat *fake, vd_key key);
// Answers the held question: VD_OK or as failed with this status.
void fake_chat_release(fake_chat *fake, vd_status status);
char *fake_chat_text(fake_chat *fake); // the screen, free with vd_free
bool fake_chat_shows(fake_chat *fake, const char *text);

#endif
