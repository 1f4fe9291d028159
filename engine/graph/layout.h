// The parameters of a network: their names, shapes and initialisers, in the order in which they are
// laid out, aligned, in one block of memory; and a layout bound to such a block.
#ifndef VD_LAYOUT_H
#define VD_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/backend/backend.h"
#include "engine/base/rng.h"

// How a parameter is initialised; `scale` is the bound or the deviation.
typedef enum vd_init_kind {
    VD_INIT_VALUE,   // the scale itself
    VD_INIT_UNIFORM, // in +-scale
    VD_INIT_NORMAL,  // N(0, scale)
    VD_INIT_WORDS,   // the same with the row VD_PAD zero
    // Square blocks below each other, each with orthogonal rows of length 1 (Saxe et al. 2014).
    VD_INIT_ORTHOGONAL
} vd_init_kind;

typedef struct vd_init {
    vd_init_kind kind;
    double scale;
} vd_init;

// A parameter's name (of PyTorch's state_dict), put together as printf does.
enum { VD_PARAMETER_NAME = 96 };
typedef struct vd_name {
    char text[VD_PARAMETER_NAME];
} vd_name;
// Cut to 95 bytes. As an argument, vd_tape_linear(tape, x, vd_name_of("layer.%d", i).text), it
// lives until the end of that expression: no pointer to it may be kept.
vd_name vd_name_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef struct vd_parameter {
    char name[VD_PARAMETER_NAME];
    int dims; // 1 or 2
    size_t shape[3];
    size_t elements;
    size_t offset;  // in a block of memory, in elements
    size_t in_file; // in a file that has them without gaps
    bool matrix;    // a vd_matrix of shape[0] rows; else a vector
    size_t vector;  // of a vector: its index among the vectors alone
    vd_init init;
} vd_parameter;

// In elements. Products read matrices fastest that begin at multiples of 64 bytes.
enum { VD_MAX_PARAMETERS = 512, VD_LAYOUT_ALIGNMENT = 16 };

typedef struct vd_layout {
    int count;
    size_t elements; // of the whole block, the gaps included, which stay zero
    size_t numbers;  // of all parameters
    size_t vectors;  // of its vectors
    vd_parameter parameter[VD_MAX_PARAMETERS];
} vd_layout;

// Whether weight decay is for it: the matrices of layers. Biases, norms, positions and other
// vectors are not to be pulled towards zero; a row of a table of words has a gradient only where
// its word occurs, and would decay in all other steps.
static inline bool vd_parameter_decays(const vd_parameter *p)
{
    return p->matrix && p->init.kind != VD_INIT_WORDS;
}

// Appends a parameter called prefix ++ suffix; columns 0: one dimension. NULL when the layout is
// full.
vd_parameter *vd_layout_add(vd_layout *layout, const char *prefix, const char *suffix, bool matrix,
                            int rows, int columns, vd_init init);
// Leaves no gap before the last parameter: with the one before it, it is then one array.
void vd_layout_no_gap(vd_layout *layout);
// The parameter of a name; NULL when there is none.
const vd_parameter *vd_layout_find(const vd_layout *layout, const char *name);
// Initial values, drawn in the layout's order. Gaps are not written.
void vd_layout_init(const vd_layout *layout, vd_real *block, vd_rng *rng);

// name.weight (out, in) Kaiming uniform, and with `bias` name.bias (out) of zeros.
void vd_layout_linear(vd_layout *layout, const char *name, int in, int out, bool bias);
// The same with one result: a vector.
void vd_layout_score(vd_layout *layout, const char *name, int in, bool bias);
// A layer normalisation: name.weight and name.bias (size), ones and zeros.
void vd_layout_norm(vd_layout *layout, const char *name, int size);
// Layers of LSTMs (4 parts) or GRUs (3) with PyTorch's names below `name`.
void vd_layout_recurrent(vd_layout *layout, const char *name, int parts, int layers, int directions,
                         int in, int hidden);

static inline vd_init vd_init_zero(void)
{
    return (vd_init){VD_INIT_VALUE, 0};
}

// Kaiming uniform (He et al. 2015).
vd_init vd_init_kaiming(int fan_in);
vd_init vd_init_recurrent(int hidden); // uniform in +-1/sqrt(hidden)

// Where the parameters of a layout lie, in the backend's memory.
typedef struct vd_parameters {
    const vd_layout *layout;
    unsigned char *block; // NULL = nothing is bound
    vd_dtype type;
    vd_real *vectors; // NULL = they lie in the block
    bool in_file;     // the block is part of a file, without gaps
} vd_parameters;

vd_matrix vd_parameters_matrix(const vd_parameters *at, const vd_parameter *p);
vd_real *vd_parameters_vector(const vd_parameters *at, const vd_parameter *p);

#endif
