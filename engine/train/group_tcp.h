// A group over TCP, for processes that were told their ranks but have no MPI: every process but the
// first holds a connection to the first, which adds what they send in the order of their ranks.
// So sums are the same to the bit in every run. What a process pays is its own numbers twice over
// its line, the first process that times the others; for gradients of GPUs see backend.h.
#ifndef VD_GROUP_TCP_H
#define VD_GROUP_TCP_H

#include "engine/train/group.h"

typedef struct vd_rendezvous {
    int rank, size, local; // as in vd_group
    const char *address;   // name or number of the first process' machine
    int port;              // that it listens on, 1..65535
    double seconds;        // how long the processes wait until all are there
} vd_rendezvous;

// Waits until all processes are there. VD_UNAVAILABLE: some did not come (which ones), the port is
// taken, the address is unknown or nobody answers there, or who answers has another group.
vd_status vd_group_tcp(const vd_rendezvous *where, const vd_group **out, vd_error *err);

#endif
