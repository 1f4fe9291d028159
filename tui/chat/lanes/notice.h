// A message for the person: what has happened last.
#ifndef VD_CHAT_NOTICE_H
#define VD_CHAT_NOTICE_H

typedef enum vd_notice_kind {
    VD_NOTICE_NONE,
    VD_NOTICE_SAID,
    VD_NOTICE_WAIT, // holds until the question that is being answered has its answer
    VD_NOTICE_WRONG // an error
} vd_notice_kind;

typedef struct vd_notice {
    vd_notice_kind kind;
    char text[512]; // "" when there is none
} vd_notice;

void vd_notice_say(vd_notice *notice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vd_notice_complain(vd_notice *notice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vd_notice_wait(vd_notice *notice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
