// A world (the bundled or chosen pictures with dialogs, features and answers) and a session (a
// conversation in text with one model). No terminal here.
#ifndef VD_SESSION_H
#define VD_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/model/dialog.h"
#include "features/text/fold.h"
#include "features/pictures/image.h"
#include "features/pictures/photos.h"
#include "features/dialogs/answer_pool.h"
#include "features/regions/regions.h"
#include "features/dialogs/dataset.h"
#include "tui/base/decoder_choice.h"
#include "tui/session/entry_words.h"

// SHA-256 (FIPS 180-4) of something that an answer depends on, to find out later whether it has
// changed.
typedef struct vd_fingerprint {
    char text[65]; // 64 hexadecimal digits, or "" when it is not known
} vd_fingerprint;

// ---- world: one data set with its pictures, features and answers --------------------------------

// Directory layout (assets/ has it):
//   dialogs.json features.safetensors pictures/<image_id>.png; may be missing: dense.json pool.txt
//   base.safetensors improved.safetensors extractor.safetensors captioner.safetensors; the
//   program's own serve where they are missing
// Behind the pictures of the dialogs come those that were opened from files, and those that were
// made: they have no people's dialogs.
typedef struct vd_world {
    char *directory;
    vd_visdial *dialogs; // captions and the human dialogs
    vd_regions *regions;
    vd_answer_pool pool;
    char *pool_path;   // the file that it was read from, or the dialogs that it was counted in
    vd_photos *photos; // of a world made of files; NULL: pictures/ of the directory, or none
    bool files;        // of vd_world_files.data
    struct vd_own_pictures *own;      // tui/session/own_pictures.h
    struct vd_captioning *captioning; // tui/session/captioning.h
    const vd_backend *backend;        // where models of sessions compute; NULL = on the CPU
    vd_decoder_choice decoder; // which of a model's decoders rank its pool (vd_pool_score_by)
} vd_world;

// A world of public files instead of a directory: dialogs (JSON or packed) and region features of
// any format; dense annotations and a directory of photos, each may be NULL. The pool is made of
// the human answers of the dialogs. data NULL: a directory; features are then those of the first
// picture that is opened. captioner: of pictures that nobody has described; NULL: the program's
// own, where there is one. Backend and decoder: as in vd_world.
typedef struct vd_world_files {
    const char *directory; // of bundled models and the pool; NULL: as vd_world_open finds it
    const char *data, *features, *dense, *images, *captioner;
    const vd_backend *backend;
    vd_decoder_choice decoder;
} vd_world_files;

vd_status vd_world_open_files(const vd_world_files *files, vd_world **out, vd_error *err);

// directory NULL: $VISDIAL_ASSETS, then ./assets, then <executable's directory>/../assets, then
// PREFIX/share/visdial. The error lists where it looked.
// A $VISDIAL_ASSETS that holds no world is an error, not skipped.
vd_status vd_world_open(const char *directory, vd_world **out, vd_error *err);
// Adds the relevance of the candidates, where the directory has dense.json: a quarter of the time
// that opening takes, and only some look at it. Public files were opened with theirs.
vd_status vd_world_read_relevance(vd_world *world, vd_error *err);
// Only the look-up of the directory (vd_free *out).
vd_status vd_world_directory(const char *directory, char **out, vd_error *err);
// Leaves out the pictures that have no features, or refuses them (vd_visdial_match).
vd_status vd_world_match(vd_world *world, vd_missing missing, size_t *skipped, vd_error *err);
// Path of a file that comes with the program (base.safetensors, ...): in `directory` (may be NULL),
// else in the first of the directories above that has it (vd_free); NULL when memory is out. Where
// none has it the path says where it is expected.
char *vd_world_file(const char *directory, const char *name);
void vd_world_close(vd_world *world);

// ---- its pictures -------------------------------------------------------------------------------

size_t vd_world_count(const vd_world *world); // in the order of dialogs.json, opened ones behind
int64_t vd_world_image_id(const vd_world *world, size_t index);
// People's dialog about it; NULL: a picture that was opened or made.
const vd_visdial_dialog *vd_world_dialog(const vd_world *world, size_t index);
// "" of an opened picture until its regions are known.
const char *vd_world_caption(const vd_world *world, size_t index);

// Whose words a caption is.
typedef enum vd_caption_by {
    VD_CAPTION_PEOPLE,    // of the data
    VD_CAPTION_CAPTIONER, // said by the captioner
    VD_CAPTION_SCENE,     // what the scene of a picture that was made is said to show
    VD_CAPTION_FOUND,     // made of what the extractor found
    VD_CAPTION_TYPED,
    VD_CAPTION_BYS
} vd_caption_by;
extern const char *const vd_caption_by_names[]; // in files: "people", "captioner", ...

// A picture's caption. A changed one is another text at another place; each stays as it is until
// the world is closed.
typedef struct vd_picture_caption {
    const char *text;
    vd_caption_by by;
    int place, of;          // which of the captioner's hypotheses, from 1; 0: not known
    double log_probability; // of one, when the place is known
} vd_picture_caption;
vd_picture_caption vd_world_captioned(const vd_world *world, size_t index);
// "by the captioner"; "" of people's.
const char *vd_caption_by_text(vd_caption_by by);
// "by the captioner, 2 of 5"; "" of people's, and while there is no caption.
void vd_caption_mark(const vd_picture_caption *caption, char *out, size_t size);
// Another caption of an opened or made picture: the first of a conversation's history is then
// another one. One that it has already changes nothing. VD_USAGE: people described the picture, or
// the text is empty. Only for one thread at a time.
vd_status vd_world_set_caption(const vd_world *world, size_t index, const char *text,
                               vd_caption_by by, vd_error *err);
// The next of those that there are: the captioner's, best first, what the scene or the extractor
// says; then the first again. VD_UNAVAILABLE: there is no other.
vd_status vd_world_next_caption(const vd_world *world, size_t index, vd_error *err);
// What people know it by: its id, or the name of its file.
void vd_world_name(const vd_world *world, size_t index, char *out, size_t size);
// Of a picture that was opened or made its path in full ("blocks:7" when made), which
// vd_world_open_path takes; NULL of others.
const char *vd_world_own_path(const vd_world *world, size_t index);
// Why what is said about the picture means nothing: it does not look like those that the extractor
// knows. NULL: it does, or its regions are not known yet, or come from elsewhere.
const char *vd_world_doubt(const vd_world *world, size_t index);
// Index of an image id; the error lists some that exist.
vd_status vd_world_find(const vd_world *world, int64_t image_id, size_t *index, vd_error *err);
// Index of the picture that --image names: by its number ("7"), or by a path, whatever digits are
// in it; another picture than the world's own is opened. "blocks:7" is one that is made.
vd_status vd_world_named(const vd_world *world, const char *text, size_t *index, vd_error *err);
// Opens a picture, or all of a folder (*index: the first); one that is open is found again. Like
// vd_world_make_picture only for one thread at a time; others may read meanwhile.
vd_status vd_world_open_path(const vd_world *world, const char *path, size_t *index, vd_error *err);
// A new picture of the Blocks world, the same for the same seed.
vd_status vd_world_make_picture(const vd_world *world, uint64_t seed, size_t *index, vd_error *err);
// Path of the picture file (vd_free), NULL with an error when there is none.
char *vd_world_picture_path(const vd_world *world, size_t index, vd_error *err);
// What a region is called: what the detector believes it to be, read back from its features
// (features/extract/extract.h), "blue metal cone"; "" where it is not sure of it.
typedef struct vd_region_name {
    char text[32];
} vd_region_name;

vd_status vd_world_image(const vd_world *world, size_t index, vd_image *out, vd_error *err);
// The regions of one picture. Its boxes (count, 4) are in 0..1; NULL where the file has none.
typedef struct vd_picture_regions {
    int count, size;         // size: D
    float *features, *boxes; // owned
    vd_region_name *names;   // (count), owned; NULL where the features are of another kind
} vd_picture_regions;

// Of an opened picture they are found the first time: that takes some 50 ms.
vd_status vd_world_regions(const vd_world *world, size_t index, vd_picture_regions *out,
                           vd_error *err);
// Whether some picture may have regions of so many numbers.
bool vd_world_has_regions(const vd_world *world, int size);
vd_status vd_picture_regions_read(const vd_regions *file, int64_t image_id, vd_picture_regions *out,
                                  vd_error *err);
void vd_picture_regions_clear(vd_picture_regions *regions);
// A region as everything that shows one writes it: its number, which is its row in the features + 1
// whatever the answer looks at, and its name: "3 blue metal cone". names NULL: "3".
enum { VD_REGION_LABEL = sizeof(vd_region_name) + 16 };
void vd_region_label(const vd_region_name *names, int row, char out[VD_REGION_LABEL]);
vd_region_name *vd_region_names_copy(const vd_region_name *names, int count); // NULL: none, or OOM
// Of the picture's features and boxes.
vd_status vd_world_features_fingerprint(const vd_world *world, size_t index, vd_fingerprint *out,
                                        vd_error *err);
// What the extractor found in a picture, read back from its features (features/extract/extract.h):
// "large blue metal cube; small ...", cut to size. "" when the features are of another kind.
void vd_world_contents(const vd_world *world, size_t index, char *out, size_t size);
// The names of its 16 attributes in the order of the channels: colours, shapes, materials, sizes.
extern const char *const vd_attribute_names[];
// The bundled model after `name` (tui/base/bundled.h), round and round, of those whose files are in
// the world's directory; of all of them where it has none. NULL: the first, which answers where no
// model is named.
const char *vd_world_next_model(const vd_world *world, const char *name);
// Path of a model given by its bundled name (in the world's directory, else among the program's own
// assets) or as a path (vd_free).
char *vd_world_model_path(const vd_world *world, const char *name, vd_error *err);

// ---- session: a model, its pool, one picture, the conversation ----------------------------------

typedef struct vd_session vd_session;

// The answer to one typed question. Owned by the caller; vd_reply_clear.
typedef struct vd_reply {
    char *typed;                   // as typed
    char *question;                // as the model's training text would have it, without "?"
    int words;                     // tokens the model saw, "?" included
    char *word[VD_MAX_QUESTION];   // (words) the token, or what was typed where it is unknown
    bool unknown[VD_MAX_QUESTION]; // (words)
    int cut;                       // tokens beyond the model's limit that it did not see
    int32_t ids[VD_MAX_QUESTION];  // (words)
    char *remark;                  // about these words (tui/session/remark.h), NULL or "": none
    vd_answer answer;              // indices are into the session's pool
    char *given; // the answer whose words look at the dialog (vd_answer); NULL without any
    char *said;  // the most probable generated answer; NULL without a generative decoder
    vd_decoder_choice ranked; // by which decoders; not made: not known
} vd_reply;

// Words of an utterance with spaces between them (vd_free).
vd_status vd_utterance_text(const vd_own_words *own, const vd_utterance *said, char **out,
                            vd_error *err);

// The index-th of the words of an answer, which look at the dialog: those of reply->given, then its
// end. Names that do not fit are cut between characters, here and below.
void vd_reply_given_word(const vd_reply *reply, int index, char *out, size_t size);
// The entry that a word of the dialog is in, -1: it is one of the question, which come last.
int vd_answer_entry(const vd_answer *answer, int word);
// A word of the dialog: "ball@2" of the history, with its entry, 0 the caption; "ball" of the
// question. words: the entry's; where they are not known it is "#3@2".
void vd_reply_dialog_word(const vd_reply *reply, int word, const vd_entry_words *words, char *out,
                          size_t size);

void vd_reply_clear(vd_reply *reply);
vd_status vd_reply_copy(const vd_reply *from, vd_reply *to, vd_error *err);
// Fills in what a model with this vocabulary sees of reply->question: ids, words, unknown, cut.
vd_status vd_reply_see(vd_reply *reply, const vd_vocab *vocab, vd_error *err);

enum { VD_MODELS = 4 }; // that answer the same question, at most

// One turn of a conversation (entry 0 of the history is the caption, not a turn).
typedef struct vd_turn {
    char *question; // as typed
    char *answer;   // need not be in the pool; NULL in data that does not say it
} vd_turn;

// Entries of the history as tokens, as the evaluation has them: the caption; a turn, its question
// as the training text has it, its answer NULL where it is not known.
// A model that copies words sees those that it lacks by their own numbers, others as <UNK>.
vd_status vd_caption_ids(const vd_model *model, vd_own_words *own, const char *caption,
                         int32_t ids[VD_MAX_HISTORY], int *length, vd_error *err);
vd_status vd_turn_ids(const vd_model *model, vd_own_words *own, const char *question,
                      const char *answer, int32_t ids[VD_MAX_HISTORY], int *length, vd_error *err);
// The same of what a model sees of a question (vd_reply_see): reply->ids.
vd_status vd_reply_number(vd_reply *reply, const vd_model *model, vd_own_words *own, vd_error *err);

void vd_turns_free(vd_turn *turns, int count); // both may be what a failure left
// Loads the model and encodes the pool. Keeps a reference to world.
vd_status vd_session_new(vd_world *world, const char *model, vd_session **out, vd_error *err);
void vd_session_free(vd_session *session);

// For a conversation of more than one question, which this makes quicker (vd_model_pack).
vd_status vd_session_settle(vd_session *session, vd_error *err);

// Where the vectors of a model's pool are kept: beside it (vd_free); NULL when memory is out.
char *vd_session_vectors_path(const vd_model *model);
// group (borrowed): for each answer of the pool the first that is alike (features/text/fold.h).
vd_status vd_session_fold(vd_session *session, const int32_t **group, vd_error *err);
const vd_model *vd_session_model(const vd_session *session);
vd_own_words *vd_session_words(vd_session *session);        // that its model lacks and was told of
const char *vd_session_backend(const vd_session *session);  // "cpu", "cuda"
vd_decoders vd_session_decoders(const vd_session *session); // that rank
// Why the CPU computes although the world has another backend; NULL = it does not. Where a device
// runs out of memory or is lost, the CPU takes over with the whole conversation.
const char *vd_session_fallback(const vd_session *session);
// Of the model's file and of its pool.
vd_status vd_session_fingerprints(const vd_session *session, vd_fingerprint *model,
                                  vd_fingerprint *pool, vd_error *err);

// Starts a new conversation about picture `index` of the world.
vd_status vd_session_picture(vd_session *session, size_t index, vd_error *err);
// Whether it is the one chosen, with the caption that it has now.
bool vd_session_has_picture(const vd_session *session, size_t index);
// Boxes (P, 4) of the picture's regions in 0..1, P = regions; NULL when the file has none.
const float *vd_session_boxes(const vd_session *session, int *regions);
const vd_region_name *vd_session_region_names(const vd_session *session); // NULL: not known

// Makes reply->given of reply->answer.given; words that the model lacks are as in the pool's text.
vd_status vd_session_given(vd_session *session, vd_reply *reply, vd_error *err);
// Answers; the conversation is unchanged until vd_session_accept. An empty question is VD_USAGE.
vd_status vd_session_ask(vd_session *session, const char *typed, const atomic_int *stop,
                         vd_reply *reply, vd_error *err);
// vd_dialog_ask_if about the conversation so far.
vd_status vd_session_ask_if(vd_session *session, const int32_t *ids, int words,
                            const vd_intervention *what_if, const atomic_int *stop, vd_answer *out,
                            vd_trace *trace, vd_error *err);
const char *vd_session_caption(const vd_session *session);
vd_caption_by vd_session_caption_by(const vd_session *session);
// Takes the question with answer `chosen` of the pool into the conversation and clears *reply,
// which a failure leaves as it is.
vd_status vd_session_accept(vd_session *session, vd_reply *reply, int chosen, vd_error *err);
// Makes the conversation these `count` turns, which are copied. The turns that it begins with
// already stay as they are; the others are encoded, but not asked. stop may be NULL; when it
// becomes non-zero this ends early with VD_INTERRUPTED. After a failure the conversation is a
// shorter one.
vd_status vd_session_continue(vd_session *session, const vd_turn *turns, int count,
                              const atomic_int *stop, vd_error *err);
int vd_session_turns(const vd_session *session);
const vd_turn *vd_session_turn(const vd_session *session, int index);
int vd_session_answers(const vd_session *session);              // of its pool
const char *const *vd_session_texts(const vd_session *session); // (vd_session_answers)
// Where those come from: the file of the pool, or the dialogs that they were counted in.
const char *vd_session_pool_path(const vd_session *session);

#endif
