// Transcripts of chats: questions with everything about their answers, one JSON object a line:
//
//   {"transcript": 1, "program": "visdial 1.0", "started": "2026-03-01T12:00:00Z"}
//   {"files": {"assets", "data", "features", "dense", "images", "captioner": path}}
//   {"pool": {"hash", "answers": [text]}}
//   {"answer": {"lane", "name", "model", "image_id", "caption", "history": [[question, answer]],
//               "typed", "question", "words": [text], "unknown": [bool], "cut", "milliseconds",
//               "decoder", "model_hash", "pool_hash", "features_hash", "answers": [[text,
//               probability]], "scores": [number], "best": [number], "log_sum": number,
//               "region_count", "attentions": [attention], "boxes": [[x1, y1, x2, y2]],
//               "names": [of each region, "" not known]}}
//   {"conversation": {"image_id", "caption", "rounds": [[question, answer]],
//               "models": [[name, history]], "branch": number, "branches": [branch],
//               "asides": [[branch, round, typed, reply]],
//               "returned": true if /new had ended it and that was undone}}
//
// "files" are those named by --data and the like; bundled files are left out. The line of a pool
// comes before the first answer that ranks it.
//
// "scores" has a score for each answer of the pool, in the pool's order. If the pool has more than
// 1,000 answers, it has those of the best 1,000, "best" their indices in the pool, and "log_sum"
// the logarithm of the sum of all exp(score).
//
// For an opened picture, answers and conversations also have "picture", its path ("blocks:7": a
// generated picture); the id is computed from the path. "features_hash" identifies the picture's
// features at that time. "caption_by" is the origin of the caption: "captioner", "scene", "found"
// or "typed". It is missing for human captions.
//
// An attention is {"name", "part", "index", "of", "query", "key", "shares": [row]}, as in
// engine/networks/attention.h. "part", "index" and "of" are missing if there is only one, and
// "nothing": true is there if rows can attend to nothing. Attentions to or from the words of the
// history have "entries" instead of "shares": a matrix for each entry, null for all but the
// strongest; they are not read back.
//
// A branch is a list of rounds [question, answer of each model or null]. "rounds" are those of the
// branch in use (number "branch") with the first model's answers, up to the first question without
// an answer. "branches" is left out if it would equal "rounds". "decoder" is the one that ranked:
// "discriminative", "generative" or "both".
//
// An aside is small talk with the program's reply, in this branch, before the round with this
// number (from 0); "asides" is left out if there is none.
//
// The line of an answer has all that the answer depends on, so that each can be verified alone. The
// line of a conversation is written whenever the conversation changes; the last one about a picture
// is its final state. Hashes are SHA-256 of the model's file, the pool's answers and the picture's
// features with boxes. Each line is one write, so a killed program loses none and a full disk
// leaves no partial line.
#ifndef VD_TRANSCRIPT_H
#define VD_TRANSCRIPT_H

#include <glib.h>
#include <time.h>

#include "tui/answer/sheet.h"

// ---- the files of a chat (files.c) -------------------------------------------------------

enum { VD_RECORDED_FILES = 6 };
extern const char *const vd_recorded_file_names[VD_RECORDED_FILES];

typedef struct vd_recorded_files {
    char *path[VD_RECORDED_FILES]; // absolute, owned; NULL: none was named
} vd_recorded_files;

void vd_recorded_files_of(const vd_world_files *files, vd_recorded_files *out);
bool vd_recorded_files_same(const vd_recorded_files *a, const vd_recorded_files *b);
// Those that are not named in *files; borrowed.
void vd_recorded_files_use(const vd_recorded_files *recorded, vd_world_files *files);
void vd_recorded_files_clear(vd_recorded_files *files);

// JSON is UTF-8, names of files are bytes: a path that is no UTF-8 is recorded as a file:// URI.
char *vd_recorded_path(const char *path); // g_free
// The name of a picture: "7", or of one's own (path not NULL) "my.png".
void vd_recorded_picture(const char *path, int64_t image_id, char *out, size_t size);

// ---- writing ------------------------------------------------------------------------------------

// Limits of a line: entries of the history (caption and rounds) with the attention of their words,
// and scores. Other scores are -INFINITY when they are read back.
enum { VD_TOPIC_ENTRIES = 20, VD_RECORDED_SCORES = 1000 };

typedef struct vd_transcript vd_transcript;

// path: continued if it exists, else created with the first line; VD_FORMAT if it is not a
// transcript. NULL: a new one in $XDG_STATE_HOME/visdial/transcripts. A last line without an end is
// moved to FILE.torn. The file is locked; one that another chat has locked is left alone, and
// FILE-2.jsonl is written instead.
vd_status vd_transcript_start(const char *path, vd_transcript **out, vd_error *err);
void vd_transcript_close(vd_transcript *transcript); // NULL is fine
// Records the files with the next line; borrowed until the transcript is closed.
void vd_transcript_about(vd_transcript *transcript, const vd_recorded_files *files);
// A message for the user about the file that is written, returned once; NULL: none.
const char *vd_transcript_remark(vd_transcript *transcript);
// Whether another file than the named one is written.
bool vd_transcript_elsewhere(const vd_transcript *transcript);
const char *vd_transcript_path(const vd_transcript *transcript);
bool vd_transcript_begun(const vd_transcript *transcript); // something was written
// Continues under another name, which no file may have: a file with a generated name is renamed,
// any other is copied.
vd_status vd_transcript_rename(vd_transcript *transcript, const char *path, vd_error *err);

// sheet: one answer of one model, with its history and provenance.
vd_status vd_transcript_answer(vd_transcript *transcript, const vd_sheet *sheet, vd_error *err);

enum { VD_MOST_RECORDED_LANES = 64 };

// A model, and whose answers are in its history (vd_follow_name).
typedef struct vd_chat_record_lane {
    char *name, *follow;
} vd_chat_record_lane;

typedef struct vd_chat_record_branch {
    int count; // rounds
    char *
        *text; // (count, 1 + lanes) the question, then each lane's answer, NULL if it is not known
} vd_chat_record_branch;

// Small talk with the program's reply (vd_aside).
typedef struct vd_chat_record_aside {
    int branch, before;
    char *typed, *reply;
} vd_chat_record_aside;

// The state of a conversation.
typedef struct vd_chat_record {
    int64_t image_id;
    char *picture; // path of an opened picture; NULL: one of the data
    char *caption;
    vd_caption_by caption_by;
    vd_turn *rounds; // (count) with the first lane's history
    int count;
    vd_chat_record_lane *lanes; // (lane_count) 0: not known
    int lane_count;
    vd_chat_record_branch *branches; // (branch_count) 0: `rounds` are all
    int branch_count, branch;        // the one in use
    vd_chat_record_aside *asides;    // (aside_count) of all branches, in order
    int aside_count;
    bool returned;     // it had been ended, and that was undone
    bool closed;       // ended: another one about the picture began
    bool taken;        // read back: it was continued, and its questions asked again
    bool again, later; // read back: there is another one about the picture before it, after it
} vd_chat_record;

// Writes nothing if the last one written was the same.
vd_status vd_transcript_conversation(vd_transcript *transcript, const vd_chat_record *dialog,
                                     vd_error *err);

// ---- sessions: named transcripts in $XDG_STATE_HOME/visdial/transcripts (sessions.c) ------------

enum { VD_SAVED_NAME = 128, VD_SAVED_PICTURE = 40, VD_SAVED_QUESTION = 120 };

typedef struct vd_saved {
    char name[VD_SAVED_NAME]; // of the file, without ".jsonl"
    struct timespec when;     // of the last change
    bool looked;              // what follows is known, of the last conversation with a question
    char picture[VD_SAVED_PICTURE]; // its image id, or the name of a picture of one's own
    int rounds;
    char question[VD_SAVED_QUESTION]; // the last one
} vd_saved;

// The path of a session of this name (g_free); VD_USAGE if it is not a valid name.
vd_status vd_saved_path(const char *name, char **out, vd_error *err);
bool vd_saved_name(const char *path, char out[VD_SAVED_NAME]); // false: another directory
bool vd_saved_unnamed(const char *name);                       // a generated name
// All that are not empty, the newest first (g_free).
vd_status vd_saved_list(vd_saved **out, size_t *count, vd_error *err);
void vd_saved_look(vd_saved *saved);

// ---- reading ------------------------------------------------------------------------------------

typedef struct vd_record {
    size_t line;    // of the file, from 1
    vd_sheet sheet; // of one side; its pointers belong to the record, the texts to the file
    vd_reply reply; // of that side
    const struct vd_record *earlier; // the record before it of the same hash; NULL: none
} vd_record;

typedef struct vd_recorded_pool {
    vd_fingerprint hash;
    char **answers; // (count)
    size_t count;
} vd_recorded_pool;

typedef struct vd_transcript_file {
    char *path;
    vd_recorded_files files; // of the last such line
    size_t record_count, dialog_count, pool_count;
    vd_record *records;
    vd_chat_record *dialogs; // final states of conversations with at least one round
    vd_recorded_pool *pools;
    GHashTable *newest; // by hash of a question: its last record
    bool cut;           // its last line is incomplete, and was left out
} vd_transcript_file;

// An incomplete last line is ignored; any other damage is VD_FORMAT with the line.
vd_status vd_transcript_read(const char *path, vd_transcript_file *out, vd_error *err);
// The newest session that has a conversation; VD_NOT_FOUND if there is none.
vd_status vd_transcript_newest(vd_transcript_file *out, vd_error *err);
// Opens the pictures that the file names by path, so that they are found by their ids, with their
// captions. Those that do not exist any more are left out.
void vd_transcript_open_pictures(const vd_transcript_file *file, const vd_world *world);
void vd_transcript_clear(vd_transcript_file *file);

// The last recorded answer of a lane to a round of a dialog, after the same rounds; NULL if there
// is none.
const vd_record *vd_transcript_find(const vd_transcript_file *file, const vd_chat_record *dialog,
                                    int round, int lane);
// The last record with the same question, history, model file, pool and features; NULL: none.
// *other: of those after it, the last one of a model with this name, but with another file, pool or
// features; in the first lane also that of a model with another name. NULL: none.
const vd_record *vd_transcript_find_same(const vd_transcript_file *file, const vd_sheet *like,
                                         const vd_record **other);

// ---- exports (export.c) -------------------------------------------------------------------------

// world: for the pictures; NULL: no pictures.
vd_status vd_transcript_html(const vd_transcript_file *file, const vd_world *world,
                             const char *path, vd_error *err);
vd_status vd_transcript_markdown(const vd_transcript_file *file, const vd_world *world,
                                 const char *path, vd_error *err);
// VisDial v1.0: the options of a round are the 100 best candidates. Questions are normalised; if
// the typed text differs, the round has it as "typed". Small talk is in the dialog's "asides":
// [[round, typed, reply]], before the round with this number (from 0).
vd_status vd_transcript_visdial(const vd_transcript_file *file, const char *path, vd_error *err);

#endif
