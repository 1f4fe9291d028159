#include "tui/chat/lanes/notice.h"

#include <stdarg.h>
#include <stdio.h>

bool vd_notice_put(vd_notice *notice, vd_notice_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    notice->kind = kind;
    vsnprintf(notice->text, sizeof notice->text, format, arguments);
    va_end(arguments);
    return false;
}
