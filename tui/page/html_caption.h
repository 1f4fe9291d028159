// A page of one or two captions of a picture, word by word: with every word its regions outlined,
// its probability, entropy and runners-up; words are stepped through, played and clicked, and looks
// chosen: of a layer, the mean over its heads or one of them. Without scripts all words stand below
// each other, as the top layer looked.
#ifndef VD_HTML_CAPTION_H
#define VD_HTML_CAPTION_H

#include "features/pictures/image.h"
#include "tui/session/caption_sheet.h"

// image NULL: the picture is not shown. Captioners that look back have the curve of what each word
// drew from the history with that of equal scores, and links to the words whose entries had more
// than 0.05; those with a gate have its curve.
vd_status vd_html_caption(const char *path, const vd_caption_sheet *sheet, const vd_image *image,
                          vd_error *err);

#endif
