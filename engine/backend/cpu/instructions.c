#include "engine/backend/cpu/instructions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const char *const vd_cpu_instruction_names[VD_INSTRUCTIONS] = {"portable", "avx2", "avx512"};
static vd_instructions chosen;
static pthread_once_t choose_once = PTHREAD_ONCE_INIT;

static bool processor_has(vd_instructions set)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    // Every processor with AVX2 converts half precision too; not every compiler lets one ask.
    bool small = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (set == VD_AVX2)
        return small;
    if (set == VD_AVX512)
        return small && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return set == VD_PORTABLE;
}

static bool choose(const char *name)
{
    for (int i = 0; i < VD_INSTRUCTIONS; i++)
        if (strcmp(vd_cpu_instruction_names[i], name) == 0 && processor_has((vd_instructions)i)) {
            chosen = (vd_instructions)i;
            return true;
        }
    return false;
}

static void choose_best(void)
{
    const char *asked = getenv("VISDIAL_CPU");
    for (int i = 0; i < VD_INSTRUCTIONS; i++)
        choose(vd_cpu_instruction_names[i]); // the best one last
    if (asked)
        choose(asked);
}

bool vd_cpu_choose(const char *name)
{
    pthread_once(&choose_once, choose_best);
    return choose(name);
}

vd_instructions vd_cpu_instructions(void)
{
    pthread_once(&choose_once, choose_best);
    return chosen;
}
