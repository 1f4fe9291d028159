// The part of yajl that the engine uses, for machines without it (tests/headless/json.c).
#ifndef TESTS_HEADLESS_YAJL_PARSE_H
#define TESTS_HEADLESS_YAJL_PARSE_H

#include <stddef.h>

typedef struct yajl_alloc_funcs {
    void *(*malloc)(void *ctx, size_t size);
    void *(*realloc)(void *ctx, void *memory, size_t size);
    void (*free)(void *ctx, void *memory);
    void *ctx;
} yajl_alloc_funcs;

typedef struct yajl_callbacks {
    int (*yajl_null)(void *ctx);
    int (*yajl_boolean)(void *ctx, int value);
    int (*yajl_integer)(void *ctx, long long value);
    int (*yajl_double)(void *ctx, double value);
    int (*yajl_number)(void *ctx, const char *text, size_t length);
    int (*yajl_string)(void *ctx, const unsigned char *text, size_t length);
    int (*yajl_start_map)(void *ctx);
    int (*yajl_map_key)(void *ctx, const unsigned char *text, size_t length);
    int (*yajl_end_map)(void *ctx);
    int (*yajl_start_array)(void *ctx);
    int (*yajl_end_array)(void *ctx);
} yajl_callbacks;

typedef enum yajl_status {
    yajl_status_ok,
    yajl_status_client_canceled,
    yajl_status_error
} yajl_status;
typedef struct yajl_handle_t *yajl_handle;

yajl_handle yajl_alloc(const yajl_callbacks *callbacks, yajl_alloc_funcs *memory, void *ctx);
yajl_status yajl_parse(yajl_handle handle, const unsigned char *text, size_t length);
yajl_status yajl_complete_parse(yajl_handle handle);
size_t yajl_get_bytes_consumed(yajl_handle handle);
unsigned char *yajl_get_error(yajl_handle handle, int verbose, const unsigned char *text,
                              size_t length);

#endif
