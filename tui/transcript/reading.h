// Reads the members of a transcript's lines; checks the type and length of each.
#ifndef VD_READING_H
#define VD_READING_H

#include <glib.h>

#include "engine/base/json_tree.h"
#include "tui/transcript/transcript.h"

enum { VD_MOST_RECORDED_ROUNDS = 100000 };

// After the first failure the functions below return zeros, texts and empty lists. What was read
// before is in the structs of the file, which are cleared together.
typedef struct vd_reading {
    vd_transcript_file *file;
    GHashTable *dialog_of; // by picture: 1 + the index of its last conversation
    char where[320];       // "path, line 7"
    size_t line;
    vd_status status;
    vd_error *err;
} vd_reading;

// Texts, lists and numbers that are returned belong to the caller (g_free), unless they are const.
void vd_reading_refuse(vd_reading *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// For numbers; NULL after a failure, or when memory is out, which is one.
void *vd_reading_room(vd_reading *r, size_t count, size_t size);
char *vd_reading_copy(vd_reading *r, const vd_json_value *value, const char *key);
char *vd_reading_text(vd_reading *r, const vd_json_value *map, const char *key);
char *vd_reading_path(const vd_json_value *map, const char *key); // NULL: none
vd_fingerprint vd_reading_hash(vd_reading *r, const vd_json_value *map, const char *key);
// Refuses what is not within low to high.
int64_t vd_reading_whole(vd_reading *r, const vd_json_value *map, const char *key, int64_t low,
                         int64_t high);
// Never NULL; a list of fewer than `least` or more than `most` members is refused.
const vd_json_value *vd_reading_checked(vd_reading *r, const vd_json_value *value, const char *key,
                                        size_t least, size_t most);
const vd_json_value *vd_reading_list(vd_reading *r, const vd_json_value *map, const char *key,
                                     size_t least, size_t most);
float *vd_reading_numbers(vd_reading *r, const vd_json_value *map, const char *key, size_t count);
// A list of lists of numbers.
float *vd_reading_matrix(vd_reading *r, const vd_json_value *map, const char *key, int rows,
                         int columns);
// A new element at the end of *list.
void *vd_reading_add(void *list, size_t *count, size_t size);
// what: the names of the two texts, for the error.
void vd_reading_pair(vd_reading *r, const vd_json_value *pair, const char *key, const char *what,
                     char **first, char **second);
vd_turn *vd_reading_turns(vd_reading *r, const vd_json_value *map, const char *key, int *count);
vd_caption_by vd_reading_caption_by(vd_reading *r, const vd_json_value *map);
bool vd_same_turns(const vd_turn *a, const vd_turn *b, int count, bool answers);

// ---- conversations (dialogs.c)
// --------------------------------------------------------------------

void vd_reading_conversation(vd_reading *r, const vd_json_value *map);
// After the last line: removes empty places and sets `again` and `later` of conversations.
void vd_reading_dialogs_end(const vd_reading *r);
void vd_chat_record_clear(vd_chat_record *record); // one that was read back

#endif
