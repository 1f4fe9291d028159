// Forced into every file (Makefile, -include): calls that overrun or cannot report an error do not
// compile. After git's banned.h.
#ifndef VD_BANNED_H
#define VD_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VD_BANNED(call) sorry_##call##_is_banned_here

#undef strcpy
#define strcpy(a, b) VD_BANNED(strcpy)
#undef strcat
#define strcat(a, b) VD_BANNED(strcat)
#undef strtok
#define strtok(a, b) VD_BANNED(strtok)
#undef sprintf
#define sprintf(...) VD_BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) VD_BANNED(vsprintf)
#undef atoi
#define atoi(a) VD_BANNED(atoi)
#undef atof
#define atof(a) VD_BANNED(atof)

#endif
