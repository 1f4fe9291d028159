// Sheets as Markdown (CommonMark with tables).
#ifndef VD_MARKDOWN_H
#define VD_MARKDOWN_H

#include "tui/base/table.h"
#include "tui/page/markup.h"
#include "tui/answer/sheet.h"

// A section of level three: dialog so far, question, human answer, each model's answers with their
// shares, where it looked and what it drew on.
void vd_markdown_sheet(vd_markup *markdown, const vd_sheet *sheet);
void vd_markdown_table(vd_markup *markdown, const vd_table *table);

#endif
