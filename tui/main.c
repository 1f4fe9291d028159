#include "tui/commands/command.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/backend/backend.h"
#include "engine/base/threads.h"
#include "engine/backend/cpu/instructions.h"
#include "tui/base/safe_output.h"

int main(int argc, char **argv)
{
    vd_safe_output_begin();
    // The backend has threads of its own; OpenBLAS, should a large product need it, starts none.
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    vd_threads_use(threads ? (int)strtol(threads, NULL, 10) : 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    const char *instructions = getenv("VISDIAL_CPU");
    if (instructions && *instructions && !vd_cpu_choose(instructions)) {
        fprintf(stderr,
                "visdial: VISDIAL_CPU is '%.80s'; expected portable, avx2 or avx512, where the "
                "processor has it\n",
                instructions);
        return vd_status_exit_code(VD_USAGE);
    }
    return vd_command_main(argc, argv);
}
