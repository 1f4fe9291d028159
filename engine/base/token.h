// The ids that mean the same in every vocabulary.
#ifndef VD_TOKEN_H
#define VD_TOKEN_H

enum { VD_PAD = 0, VD_START = 1, VD_END = 2, VD_UNKNOWN = 3, VD_FIRST_WORD = 4 };

#endif
