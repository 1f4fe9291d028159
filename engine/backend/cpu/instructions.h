// Which instructions the CPU's operations use. Loops over numbers that the compiler makes vector
// code of are compiled for each set as well (VD_TARGET_CLONES, cpu.h) and follow the processor
// alone.
#ifndef VD_CPU_INSTRUCTIONS_H
#define VD_CPU_INSTRUCTIONS_H

#include <stdbool.h>

typedef enum vd_instructions { VD_PORTABLE, VD_AVX2, VD_AVX512, VD_INSTRUCTIONS } vd_instructions;

// The best that the processor has, or the one that $VISDIAL_CPU names ("portable", "avx2",
// "avx512"), or the one chosen last.
vd_instructions vd_cpu_instructions(void);

extern const char *const vd_cpu_instruction_names[VD_INSTRUCTIONS];
// For tests: false when the processor does not have it or there is none of that name.
bool vd_cpu_choose(const char *name);

#endif
