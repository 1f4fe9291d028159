#include "tui/command.h"

#include <stdlib.h>

#include "engine/backend.h"

int main(int argc, char **argv)
{
    // The backend has threads of its own; OpenBLAS, should a large product need it, starts none.
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    vd_backend_cpu_threads(threads ? (int)strtol(threads, NULL, 10) : 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    return vd_command_main(argc, argv);
}
