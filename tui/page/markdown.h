// Sheets as Markdown (CommonMark with tables).
#ifndef VD_MARKDOWN_H
#define VD_MARKDOWN_H

#include "tui/base/table.h"
#include "tui/page/markup.h"
#include "tui/answer/sheet.h"

// A section of level three: dialog so far, question, human answer, and each model's answers with
// their probabilities and its attention to regions and rounds.
void vd_markdown_sheet(vd_markup *markdown, const vd_sheet *sheet);
void vd_markdown_table(vd_markup *markdown, const vd_table *table);

#endif
