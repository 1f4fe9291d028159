// Transcripts of chats: questions with everything about their answers, one JSON object a line:
//
//   {"transcript": 1, "program": "visdial 1.0", "started": "2026-03-01T12:00:00Z"}
//   {"files": {"assets", "data", "features", "dense", "images", "captioner": path}} what --data and
//   so
//                                                       on named; left out: the bundled ones
//   {"pool": {"hash", "answers": [text]}}                        before the first answer from it
//   {"answer": {"lane", "name", "model", "image_id", "caption", "history": [[question, answer]],
//               "typed", "question", "words": [text], "unknown": [bool], "cut", "milliseconds",
//               "decoder", "model_hash", "pool_hash", "features_hash", "answers": [[text,
//               probability]], "scores": [number], "best": [number], "log_sum": number,
//               "region_count", "attentions": [attention], "boxes": [[x1, y1, x2, y2]],
//               "names": [of each region, "" not known]}}
//   {"conversation": {"image_id", "caption", "rounds": [[question, answer]],
//               "models": [[name, history]], "branch": number, "branches": [branch],
//               "asides": [[branch, round, typed, reply]],
//               "returned": true where /new had ended it, and that was undone}}
//
// "scores" are those of the pool in its order; where it has more than 1,000 answers, of the best
// 1,000, which "best" gives the places of in the pool, and "log_sum" the logarithm of the sum of
// all exp(score). Else both are missing.
//
// Of a picture of one's own both lines have "picture", its path ("blocks:7": a new picture), behind
// the id, which is made of the path. What was in the file then is known by "features_hash". Behind
// "caption" they have "caption_by", whose words it is: "captioner", "scene", "found" or "typed";
// earlier programs had what was found, or what the scene of a new picture says, and did not say so.
//
// An attention is {"name", "part", "index", "of", "query", "key", "shares": [row]}, as in
// engine/networks/attention.h; "part", "index" and "of" are left out where there is one, "nothing":
// true is there where rows look at nothing, too. Of those to or from the words of the history
// "entries" has, instead of "shares", a matrix for each entry; null for all but the strongest of
// many. They are not read back. Earlier programs wrote "rounds": [share], "topic" (for entry and
// word), "regions": [share] and "region_words": [row] instead.
//
// A branch is a list of rounds [question, answer of each model or null]; "rounds" are those of
// number "branch" with the first model's history, up to the first question that still waited for an
// answer when the chat was left. "branches" is left out where it would equal
// "rounds"; "models", "branches", "names" and "decoder" (which ranked: "discriminative",
// "generative", "both") are missing in files of earlier programs.
//
// An aside is small talk that the program itself replied to, in this branch, before the round with
// this number (from 0); "asides" is left out where there is none.
//
// An answer's line has everything that it depends on, so that each can be verified alone. A
// conversation's line is written whenever the conversation changed; the last one of a picture is
// how it ended. Hashes are SHA-256 of the model's file, the pool's answers and the picture's
// features with boxes; earlier programs left that of the features empty at times. Lines are written
// whole, one write each: a killed program loses none, and a full disk leaves no part of one.
#ifndef VD_TRANSCRIPT_H
#define VD_TRANSCRIPT_H

#include <time.h>

#include "tui/answer/sheet.h"

// ---- the files that it is about (files.c) -------------------------------------------------------

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

// ---- writing ------------------------------------------------------------------------------------

// What a line has at most: entries of the history (caption and rounds) with their words' attention,
// and scores. The others are -INFINITY when they are read back.
enum { VD_TOPIC_ENTRIES = 20, VD_RECORDED_SCORES = 1000 };

typedef struct vd_transcript vd_transcript;

// path: taken over when it exists (a chat that goes on), else made with the first line; VD_FORMAT
// when it holds something else than a transcript. NULL: a new one in
// $XDG_STATE_HOME/visdial/transcripts. A last line without an end is moved to FILE.torn. The file
// is locked; one that another chat has locked is left alone, and FILE-2.jsonl is written instead.
vd_status vd_transcript_start(const char *path, vd_transcript **out, vd_error *err);
void vd_transcript_close(vd_transcript *transcript); // NULL is fine
// What it is about, when the file does not say so yet; borrowed until it is closed.
void vd_transcript_about(vd_transcript *transcript, const vd_recorded_files *files);
// What the person should know about the file that is written, said once; NULL: nothing.
const char *vd_transcript_remark(vd_transcript *transcript);
// Whether another file is written than the one that was named.
bool vd_transcript_elsewhere(const vd_transcript *transcript);
const char *vd_transcript_path(const vd_transcript *transcript);
bool vd_transcript_begun(const vd_transcript *transcript); // something was written
// Goes on under another name, which no file has: one that was named itself after its time gets the
// name, any other stays as it is and is copied.
vd_status vd_transcript_rename(vd_transcript *transcript, const char *path, vd_error *err);

// sheet: one answer with its history and where it comes from, of one side.
vd_status vd_transcript_answer(vd_transcript *transcript, const vd_sheet *sheet, vd_error *err);

enum { VD_MOST_RECORDED_LANES = 64 };

// A model that answers, and whose answers its history is made of (vd_follow_name).
typedef struct vd_chat_record_lane {
    char *name, *follow;
} vd_chat_record_lane;

typedef struct vd_chat_record_branch {
    int count;   // rounds
    char **text; // (count, 1 + lanes) the question, then the answer that each lane goes on with,
                 // NULL where it is not known
} vd_chat_record_branch;

// Small talk, which the program replied to (vd_aside).
typedef struct vd_chat_record_aside {
    int branch, before;
    char *typed, *reply;
} vd_chat_record_aside;

// How a conversation stands.
typedef struct vd_chat_record {
    int64_t image_id;
    char *picture; // path of a picture of one's own; NULL: one of the data
    char *caption;
    vd_caption_by caption_by;
    vd_turn *rounds; // (count) with the first lane's history
    int count;
    vd_chat_record_lane *lanes; // (lane_count) 0: not known
    int lane_count;
    vd_chat_record_branch *branches; // (branch_count) 0: `rounds` are all
    int branch_count, branch;        // the one in use
    vd_chat_record_aside *asides;    // (aside_count) of all branches, as they were said
    int aside_count;
    bool returned;     // it had ended, and goes on all the same
    bool closed;       // ended: another one about the picture began
    bool taken;        // read back: it has been taken up, and asked again
    bool again, later; // read back: there is another one about the picture before it, behind it
} vd_chat_record;

// Writes nothing when this was the last one.
vd_status vd_transcript_conversation(vd_transcript *transcript, const vd_chat_record *talk,
                                     vd_error *err);

// ---- sessions (sessions.c): the transcripts of $XDG_STATE_HOME/visdial/transcripts by name
// -------

enum { VD_SAVED_NAME = 128, VD_SAVED_QUESTION = 120 };

typedef struct vd_saved {
    char name[VD_SAVED_NAME]; // of the file, without ".jsonl"
    struct timespec when;     // it was written last
    bool looked;              // what follows is known: how its last conversation stands
    int64_t image_id;
    int rounds;
    char question[VD_SAVED_QUESTION]; // the last one
} vd_saved;

// Where a session of this name is, or would be (vd_free); VD_USAGE for what can be no name.
vd_status vd_saved_path(const char *name, char **out, vd_error *err);
bool vd_saved_name(const char *path, char out[VD_SAVED_NAME]); // false: it lies elsewhere
bool vd_saved_unnamed(const char *name);                       // it is a time: nobody has named it
// All, the one written last first (vd_free).
vd_status vd_saved_list(vd_saved **out, size_t *count, vd_error *err);
void vd_saved_look(vd_saved *saved);

// ---- reading ------------------------------------------------------------------------------------

typedef struct vd_record {
    size_t line;    // of the file, from 1
    vd_sheet sheet; // of one side; what it points to belongs to the record, texts to the file
    vd_reply reply; // of that side
    size_t earlier; // 1 + the index of another record of the same hash; 0: none
} vd_record;

typedef struct vd_recorded_pool {
    vd_fingerprint hash;
    char **answers; // (count)
    size_t count;
} vd_recorded_pool;

typedef struct vd_transcript_file {
    char *path;
    vd_recorded_files files; // as named last
    size_t record_count, talk_count, pool_count;
    vd_record *records;
    vd_chat_record *talks; // conversations as they ended, with at least one round
    vd_recorded_pool *pools;
    size_t *newest; // (newest_count) by hash of a question: 1 + the index of its last record
    size_t newest_count;
} vd_transcript_file;

// A last line that was cut off is left out; any other damage is VD_FORMAT with the line.
vd_status vd_transcript_read(const char *path, vd_transcript_file *out, vd_error *err);
// The session written last that has a conversation; VD_NOT_FOUND when none has one.
vd_status vd_transcript_newest(vd_transcript_file *out, vd_error *err);
// Opens the pictures of one's own that the file is about, so that they are found by their ids, with
// the captions that they had.
// One that is not there any more is left out; *why then says so (may be NULL).
void vd_transcript_open_pictures(const vd_transcript_file *file, const vd_world *world,
                                 vd_error *why);
void vd_transcript_clear(vd_transcript_file *file);

// The answer of a lane to a round of a talk, given after the same rounds; the last when there are
// several, NULL when there is none.
const vd_record *vd_transcript_find(const vd_transcript_file *file, const vd_chat_record *talk,
                                    int round, int lane);
// The last record of the same question to the same model, pool and features after the same history.
const vd_record *vd_transcript_find_same(const vd_transcript_file *file, const vd_sheet *like);

// ---- exports (export.c) -------------------------------------------------------------------------

// world: for the pictures; NULL: without.
vd_status vd_transcript_html(const vd_transcript_file *file, const vd_world *world,
                             const char *path, vd_error *err);
vd_status vd_transcript_markdown(const vd_transcript_file *file, const char *path, vd_error *err);
// VisDial v1.0: the answers' best 100 candidates are each round's options. Questions are as models
// read them; where another text was typed, the round has it too ("typed"). Small talk is in the
// dialog's "asides": [[round, typed, reply]], before the round with this number (from 0).
vd_status vd_transcript_visdial(const vd_transcript_file *file, const char *path, vd_error *err);

#endif
