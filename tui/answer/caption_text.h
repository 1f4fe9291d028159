// A caption word by word (tui/session/caption_sheet.h) as text (caption_text.c) and as JSON
// (caption_json.c).
#ifndef VD_CAPTION_TEXT_H
#define VD_CAPTION_TEXT_H

#include <yajl/yajl_gen.h>

#include "tui/base/table.h"
#include "tui/session/caption_sheet.h"

// On standard output.
void vd_caption_sheet_print(const vd_caption_sheet *sheet);
// Members of the object that is open.
void vd_caption_sheet_json(yajl_gen json, const vd_caption_sheet *sheet);
// Whether the sides differ in more than their captions: two captioners, or something changed.
bool vd_caption_sheet_judges_twice(const vd_caption_sheet *sheet);
// The log-probability of each caption under each side.
void vd_caption_sheet_under(const vd_caption_sheet *sheet, vd_table *out);
// The words of a side's caption that its captioner does not know, "zebra, giraffe"; "" none.
void vd_caption_unknown_words(const vd_caption_side *side, char *out, size_t size);

#endif
