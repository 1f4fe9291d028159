// Remarks of the program itself about typed text. No model answers here; views mark such a text as
// the program's.
#ifndef VD_REMARK_H
#define VD_REMARK_H

#include "tui/session/session.h"

#define VD_PROGRAM_SAYS "visdial says: "

// The reply to a greeting, thanks, praise, blame, a farewell or a call for help, which are no
// questions about a picture; NULL: the text is none of these.
const char *vd_small_talk(const char *typed);

// About a question that is too long; words that the model reads otherwise (tui/session/spelling.h):
// "spheer: read as sphere"; and words that it does not know: "teh: the?". Where most are unknown
// also what can be asked, from people's questions about this picture or others. "" when all are
// read and known.
vd_status vd_question_remark(const vd_reply *reply, const vd_vocab *vocab, const vd_world *world,
                             size_t picture, char *out, size_t size, vd_error *err);

#endif
