// C-c and SIGTERM as a flag that long work checks from time to time.
#ifndef VD_INTERRUPT_H
#define VD_INTERRUPT_H

#include <stdatomic.h>

// From this call on the first SIGINT or SIGTERM sets the flag to the signal's number; the second
// ends the process as usual. There is one flag per process.
const atomic_int *vd_interrupt_watch(void);
// Restores the earlier handlers.
void vd_interrupt_release(void);

#endif
