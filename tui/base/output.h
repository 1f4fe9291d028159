// Helpers for what the commands print on stdout.
#ifndef VD_OUTPUT_H
#define VD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <yajl/yajl_gen.h>

#define VD_VERSION "1.0"

// Whether the locale's characters are UTF-8. Sets LC_CTYPE from the environment.
bool vd_output_utf8(void);

int vd_output_width(const char *text); // characters

// A line of a description: a name, and at column 12 its value.
void vd_output_row(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

// share (0..1) of `width` cells (at most 40), padded with spaces.
enum { VD_BAR_SIZE = 40 * 3 + 1 };
const char *vd_output_bar(char out[VD_BAR_SIZE], double share, int width, bool utf8);

// Parts of the JSON of captions; everything else uses vd_json_put. Numbers have nine digits.
void vd_output_number(yajl_gen json, double value);
void vd_output_string(yajl_gen json, const char *text);
// Members of a map: a key and its value, or a key and the start of a list or map.
void vd_member_string(yajl_gen json, const char *key, const char *text); // NULL: ""
void vd_member_number(yajl_gen json, const char *key, double value);
void vd_member_integer(yajl_gen json, const char *key, int64_t value);
void vd_member_numbers(yajl_gen json, const char *key, const float *values, size_t count);
void vd_member_list(yajl_gen json, const char *key);
void vd_member_map(yajl_gen json, const char *key);
// A generator with an open object. yajl does not check what its allocator returns: when memory is
// out, the program ends with a message.
yajl_gen vd_output_object(void);
void vd_output_object_end(yajl_gen json); // closes it, writes it to stdout, frees json

#endif
