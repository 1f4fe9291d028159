// Seconds of a clock that only goes forward, from some moment.
#ifndef VD_BASE_CLOCK_H
#define VD_BASE_CLOCK_H

#include <time.h>

static inline double vd_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
