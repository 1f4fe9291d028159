#include "tui/chat/lanes/notice.h"

#include <stdarg.h>
#include <stdio.h>

static void set(vd_notice *notice, vd_notice_kind kind, const char *format, va_list arguments)
{
    notice->kind = kind;
    vsnprintf(notice->text, sizeof notice->text, format, arguments);
}

void vd_notice_say(vd_notice *notice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(notice, VD_NOTICE_SAID, format, arguments);
    va_end(arguments);
}

void vd_notice_complain(vd_notice *notice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(notice, VD_NOTICE_WRONG, format, arguments);
    va_end(arguments);
}

void vd_notice_wait(vd_notice *notice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(notice, VD_NOTICE_WAIT, format, arguments);
    va_end(arguments);
}
