// What things look like: a role for every kind of text, a style for every role at every colour
// depth. Backgrounds stay the terminal's own, except for the status row; nothing is told by colour
// alone, so that the mono column says the same.
#ifndef VD_THEME_H
#define VD_THEME_H

#include "tui/grid.h"

// role, then attributes in mono, colours of 16 (index, -1 = default) and of 256/direct (index)
#define VD_ROLE_LIST(X)                                                                            \
    X(TEXT, 0, -1, -1, -1, -1, 0)                                                                  \
    X(FAINT, VD_DIM, 8, -1, 245, -1, 0)                                                            \
    X(TITLE, VD_BOLD, 6, -1, 110, -1, VD_BOLD)                                                     \
    X(QUESTION, VD_BOLD, -1, -1, -1, -1, VD_BOLD)                                                  \
    X(ANSWER, 0, 2, -1, 114, -1, 0)                                                                \
    X(FIRST, VD_BOLD, 10, -1, 114, -1, VD_BOLD)                                                    \
    X(BAR_FIRST, 0, 2, -1, 71, -1, 0)                                                              \
    X(BAR, 0, 4, -1, 67, -1, 0)                                                                    \
    X(BAR_REGION, 0, 3, -1, 178, -1, 0)                                                            \
    X(BAR_ROUND, 0, 5, -1, 139, -1, 0)                                                             \
    X(BAR_WORD, 0, 6, -1, 73, -1, 0)                                                               \
    X(STATUS, VD_REVERSE, 7, 0, 252, 236, 0)                                                       \
    X(STATUS_NAME, VD_REVERSE | VD_BOLD, 14, 0, 117, 236, VD_BOLD)                                 \
    X(STATUS_WARN, VD_REVERSE | VD_BOLD, 11, 0, 221, 236, VD_BOLD)                                 \
    X(PROMPT, VD_BOLD, 14, -1, 117, -1, VD_BOLD)                                                   \
    X(RULE, VD_DIM, 8, -1, 240, -1, 0)                                                             \
    X(NOTE, 0, 3, -1, 179, -1, 0)                                                                  \
    X(WRONG, VD_BOLD, 9, -1, 203, -1, VD_BOLD)                                                     \
    X(UP, VD_BOLD, 2, -1, 114, -1, 0)                                                              \
    X(DOWN, 0, 3, -1, 173, -1, 0)                                                                  \
    X(UNKNOWN, VD_UNDERLINE, 11, -1, 215, -1, VD_UNDERLINE)                                        \
    X(SELECTED, VD_REVERSE, -1, -1, -1, -1, VD_REVERSE)                                            \
    X(MATCH, VD_REVERSE, 0, 3, 16, 179, 0)                                                         \
    X(OUTLINE, VD_BOLD, 11, -1, 227, -1, VD_BOLD)                                                  \
    X(LABEL, VD_REVERSE | VD_BOLD, 0, 3, 16, 227, VD_BOLD)

typedef enum vd_role {
#define X(name, mono, fg16, bg16, fg256, bg256, attributes) VD_ROLE_##name,
    VD_ROLE_LIST(X)
#undef X
        VD_ROLES
} vd_role;

vd_style vd_theme(vd_look look, vd_role role);

#endif
