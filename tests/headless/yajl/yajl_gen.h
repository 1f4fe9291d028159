// The part of yajl that the engine uses, for machines without it (tests/headless/json.c).
#ifndef TESTS_HEADLESS_YAJL_GEN_H
#define TESTS_HEADLESS_YAJL_GEN_H

#include "tests/headless/yajl/yajl_parse.h"

typedef enum yajl_gen_status { yajl_gen_status_ok, yajl_gen_invalid_string } yajl_gen_status;
typedef enum yajl_gen_option { yajl_gen_validate_utf8 } yajl_gen_option;
typedef struct yajl_gen_t *yajl_gen;

yajl_gen yajl_gen_alloc(yajl_alloc_funcs *memory);
int yajl_gen_config(yajl_gen gen, yajl_gen_option option, ...);
yajl_gen_status yajl_gen_integer(yajl_gen gen, long long value);
yajl_gen_status yajl_gen_number(yajl_gen gen, const char *text, size_t length);
yajl_gen_status yajl_gen_bool(yajl_gen gen, int value);
yajl_gen_status yajl_gen_null(yajl_gen gen);
yajl_gen_status yajl_gen_string(yajl_gen gen, const unsigned char *text, size_t length);
yajl_gen_status yajl_gen_map_open(yajl_gen gen);
yajl_gen_status yajl_gen_map_close(yajl_gen gen);
yajl_gen_status yajl_gen_array_open(yajl_gen gen);
yajl_gen_status yajl_gen_array_close(yajl_gen gen);
yajl_gen_status yajl_gen_get_buf(yajl_gen gen, const unsigned char **text, size_t *length);

#endif
