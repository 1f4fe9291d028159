// A chat with its engine and transcript, without a screen: requests are served at once.
#ifndef VD_TEST_PLAIN_CHAT_H
#define VD_TEST_PLAIN_CHAT_H

#include "tui/chat/recorder.h"
#include "tui/session/service.h"

typedef struct plain_chat {
    vd_chat chat;
    vd_service *service[VD_MODELS];
    vd_recorder recorder;
} plain_chat;

// About the first picture, with the model "improved"; resume: as the transcript in `file` has it.
void plain_chat_open(vd_world *world, plain_chat *p, bool resume, const char *file);
void plain_chat_close(plain_chat *p);
void plain_chat_serve(plain_chat *p);
void plain_chat_serve_some(plain_chat *p, int questions); // and all before the last of them
void plain_chat_enter(plain_chat *p, const char *text);   // ASCII, and Enter
void plain_chat_type(plain_chat *p, const char *text); // the same, and waits for what it asks for
void plain_chat_ask(plain_chat *p, const char *question); // and waits for every answer
vd_transcript_file plain_chat_read_back(const char *file);
// Reads the transcript of this name and frees it again: a support_call.
vd_status plain_chat_read_once(void *file, vd_error *err);

#endif
