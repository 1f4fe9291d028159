// A conversation as a transcript keeps it, with the models that were compared, what their histories
// are made of and every branch; and taken up again.
#ifndef VD_CHAT_RECORD_H
#define VD_CHAT_RECORD_H

#include "tui/chat/lanes/lanes.h"
#include "tui/transcript/transcript.h"

// How it stands, its texts borrowed; false while an answer is missing, or when memory is out.
bool vd_lanes_describe(const vd_lanes *lanes, vd_chat_record *out);
void vd_lanes_describe_free(vd_chat_record *record);
// Goes on as the record stands; it is about the same picture. False: memory is out.
bool vd_lanes_restore(vd_lanes *lanes, const vd_chat_record *record);

#endif
