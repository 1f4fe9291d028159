// Between the files that write and read a transcript's lines.
#ifndef VD_TRANSCRIPT_LINES_H
#define VD_TRANSCRIPT_LINES_H

#include <yajl/yajl_gen.h>

#include "engine/base/json_tree.h"
#include "tui/transcript/transcript.h"

typedef struct vd_reading {
    vd_transcript_file *file;
    char where[320]; // "path, line 7"
    size_t line;
    vd_error *err;
} vd_reading;

bool vd_transcript_is_head(const vd_json_value *line); // a transcript's first line

vd_status vd_reading_refuse(const vd_reading *r, const char *what); // VD_FORMAT with its line
// Members of a map; one that is missing or another one is refused. Texts and lists are new memory.
vd_status vd_reading_text(const vd_reading *r, const vd_json_value *map, const char *key,
                          char **out);
vd_status vd_reading_whole(const vd_reading *r, const vd_json_value *map, const char *key,
                           int64_t low, int64_t high, int64_t *out);
// What was read before a failure is in *out, too: vd_turns_free.
vd_status vd_reading_said(const vd_reading *r, const vd_json_value *map, const char *key,
                          vd_turn **out, int *count);

// A list of numbers, null for what is none: new memory, how many in *count. SIZE_MAX: any number.
vd_status vd_reading_numbers(const vd_reading *r, const vd_json_value *list, const char *key,
                             size_t expected, float **out, size_t *count);

void vd_output_said(yajl_gen json, const vd_turn *rounds, int count);

// An answer's scores, of the best of a large pool (scores.c). Ranking and probabilities
// follow from them; pool: how many answers it has.
void vd_scores_emit(yajl_gen json, const vd_answer *answer);
vd_status vd_scores_read(const vd_reading *r, const vd_json_value *map, size_t pool,
                         vd_answer *answer);

// How a conversation stands (talk.c).
yajl_gen_status vd_chat_record_emit(yajl_gen json, void *talk);
vd_status vd_chat_record_read(const vd_reading *r, const vd_json_value *map, vd_chat_record *out);
void vd_chat_record_clear(vd_chat_record *talk);
// What is open beside the rounds comes from another one, which is cleared.
void vd_chat_record_reopen(vd_chat_record *talk, vd_chat_record *from);

#endif
