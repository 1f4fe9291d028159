// A caption word by word that is made up, the same one every time, for chats without an engine.
#ifndef VD_TEST_FAKE_CAPTION_H
#define VD_TEST_FAKE_CAPTION_H

#include "tui/session/caption_sheet.h"

// Captioners are called "captioner" and as the wish's second file; a second one has a history, and
// the first too when `history` says so. What is to be read is split at spaces, and "zebra" in it is
// not known. Regions that are left out get nothing, a forced word is
// said, and what comes after it is other words.
vd_caption_sheet *fake_caption(const vd_caption_wish *wish, int regions, bool history);

#endif
