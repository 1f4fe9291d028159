// The number the network computes in: float. The gradient test compiles the same files in double
// (-DVD_DOUBLE) so that finite differences can tell a wrong gradient from rounding.
#ifndef VD_REAL_H
#define VD_REAL_H

#ifdef VD_DOUBLE
typedef double vd_real;
#else
typedef float vd_real;
#endif

#endif
