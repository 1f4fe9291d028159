#ifndef VD_VERSION_H
#define VD_VERSION_H

#define VD_VERSION "1.0"

#endif
