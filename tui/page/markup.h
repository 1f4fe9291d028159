// Writes HTML, Markdown or plain text to a file or to standard output. Text given as %s is escaped,
// so that text of files or users cannot become markup or control the terminal.
#ifndef VD_MARKUP_H
#define VD_MARKUP_H

#include <stddef.h>

#include "engine/base/error.h"

typedef enum vd_markup_kind { VD_MARKUP_HTML, VD_MARKUP_MARKDOWN, VD_MARKUP_TEXT } vd_markup_kind;

typedef struct vd_markup vd_markup;

// path NULL: standard output.
vd_status vd_markup_create(const char *path, vd_markup_kind kind, vd_markup **out, vd_error *err);
// format: markup with %s (escaped; NULL as nothing), %d, %zu, %lld, %ld and %.<n>f. In HTML, %s may
// stand between tags and in attributes in quotes. The first failure is kept for the commit.
void vd_markup_put(vd_markup *markup, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vd_markup_bytes(vd_markup *markup, const void *bytes, size_t size); // as they are
// Makes the commit fail with this error, unless there is an earlier one.
void vd_markup_fail(vd_markup *markup, const vd_error *why);
// Creates the file. Frees markup whether it succeeds or not.
vd_status vd_markup_commit(vd_markup *markup, vd_error *err);
void vd_markup_abort(vd_markup *markup); // no file is created; NULL is fine

#endif
