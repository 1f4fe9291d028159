#include "tui/command.h"

#include <stdlib.h>

#include "engine/backend.h"

int main(int argc, char **argv)
{
    // A question's matrix products are small: waking a second thread costs what it saves, and on a
    // busy machine the threads wait for each other (9 times slower, a picture's regions 16 times).
    // One also gives the same numbers every time.
    if (!getenv("OPENBLAS_NUM_THREADS"))
        vd_backend_cpu_threads(1);
    return vd_command_main(argc, argv);
}
