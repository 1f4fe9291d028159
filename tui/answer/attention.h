// The attentions of an answer in words, by their axes.
#ifndef VD_ANSWER_ATTENTION_H
#define VD_ANSWER_ATTENTION_H

#include "tui/answer/sheet.h"

// The words of an entry of the history, 0 the caption, as the answer saw them; none where they are
// not known.
void vd_sheet_entry_words(const vd_sheet *sheet, const vd_answer *answer, int entry,
                          vd_entry_words *out);
// What the index-th of an axis is called: "red", "round 2", "region 3", "ball@2" of round 2.
void vd_sheet_item(const vd_sheet *sheet, int side, vd_axis axis, int index, char *out,
                   size_t size);

// The index-th attention besides the question's last one to the regions and its last one to the
// entries, which all views show; NULL: no more.
const vd_attention *vd_answer_further(const vd_answer *answer, int index);
// Which of several looks over this axis vd_answer_shares is: ", step 4 of 4"; "" of a single one.
void vd_answer_step(const vd_answer *answer, vd_axis key, char *out, size_t size);
// The largest shares of a row: of the question "region 3 57 %, region 1 20 %", of others with their
// name, "what -> yellow@0 51 %, cubes@1 90 %" (the largest of each entry, where the shares are each
// entry's). "": it has none.
void vd_sheet_largest(const vd_sheet *sheet, int side, const vd_attention *attention, int row,
                      char *out, size_t size);

#endif
