// C-c and SIGTERM as a flag that long work looks at between two pieces.
#ifndef VD_INTERRUPT_H
#define VD_INTERRUPT_H

#include <stdatomic.h>

// From here on the first SIGINT or SIGTERM sets the flag to the signal's number; the second ends
// the process as usual. The flag is the process' only one.
const atomic_int *vd_interrupt_watch(void);
// Back to what was before.
void vd_interrupt_release(void);

#endif
