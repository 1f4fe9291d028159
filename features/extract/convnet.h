// A small convolutional network: a list of convolutions that each read the picture or an earlier
// layer, may add another earlier layer, and may be rectified. Forward and backward, on OpenBLAS.
//
// Shapes: N pictures in a pass, H x W pixels, C channels; every tensor is (N, H, W, C), channels
// innermost, so that gathering a window copies whole pixels.
//
//   z = conv(x, weight)                      zero padding keeps the size (or halves it at stride 2)
//   z = gamma (z - mean) / sqrt(var + e)     only where `norm`, only while training
//   y = max(0, z + bias + add)               add: another layer, enlarged by 2 when half as big
//
// Batch normalisation (Ioffe and Szegedy 2015) is folded into weight and bias for inference:
// vd_convnet_fold. One thread at a time per pass; passes may share a net that is not changed
// meanwhile.
#ifndef VD_CONVNET_H
#define VD_CONVNET_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/backend/arena.h"
#include "engine/base/error.h"
#include "engine/base/real.h"
#include "engine/base/rng.h"

enum { VD_CONV_MAX = 16, VD_CONV_PICTURE = -1, VD_CONV_NONE = -2 };

typedef struct vd_conv {
    const char *name;
    int in, out;                  // channels
    int kernel, stride, dilation; // kernel odd; stride 1 or 2
    int from;                     // an earlier layer or VD_CONV_PICTURE
    int add;                      // an earlier layer or VD_CONV_NONE
    bool norm, relu;
} vd_conv;

typedef struct vd_convnet {
    int layers;
    vd_conv layer[VD_CONV_MAX];
    int channels, width, height; // of the picture
    int out_width[VD_CONV_MAX], out_height[VD_CONV_MAX];
    size_t weight[VD_CONV_MAX]; // where in param: (kernel, kernel, in, out)
    size_t bias[VD_CONV_MAX];   // (out)
    size_t gamma[VD_CONV_MAX];  // (out), where norm
    size_t stats[VD_CONV_MAX];  // where in mean and var: (out), where norm
    size_t params, norms;
    vd_real *param;      // (params)
    vd_real *mean, *var; // (norms) running statistics
} vd_convnet;

// Checks the list (VD_MISMATCH names the layer that does not fit) and allocates; all weights zero.
vd_status vd_convnet_new(const vd_conv *layer, int layers, int channels, int width, int height,
                         vd_convnet **out, vd_error *err);
void vd_convnet_free(vd_convnet *net);
// Weights after He et al. 2015, gamma 1, bias 0, statistics 0 and 1.
void vd_convnet_init(vd_convnet *net, vd_rng *rng);
// folded (of the same layers) becomes net with its running statistics, for inference.
void vd_convnet_fold(const vd_convnet *net, vd_convnet *folded);

// The tensors of one run through a net.
typedef struct vd_conv_pass {
    const vd_convnet *net;
    int batch;
    bool training;
    vd_real *input;            // (N, height, width, channels), filled by the caller
    vd_real *y[VD_CONV_MAX];   // (N, H, W, out)
    vd_real *z[VD_CONV_MAX];   // training, norm: the same before normalisation
    vd_real *dy[VD_CONV_MAX];  // training: gradient of y
    vd_real *mean, *var;       // training: (norms) of this batch
    vd_real *gradient;         // training: (params)
    vd_real *window, *dwindow; // gathered windows of a tile of pixels
    vd_arena arena;            // that all of these lie in
} vd_conv_pass;

// training false: forward only, and normalisation is taken to be folded.
vd_status vd_conv_pass_new(const vd_convnet *net, int batch, bool training, vd_conv_pass **out,
                           vd_error *err);
void vd_conv_pass_free(vd_conv_pass *pass);
// Output of the last layer, borrowed from the pass.
const vd_real *vd_conv_forward(vd_conv_pass *pass);
// After a training forward: the caller has filled the last layer's dy; pass->gradient is
// overwritten. (dy is used up.)
void vd_conv_backward(vd_conv_pass *pass);
// running += share (batch - running)
void vd_convnet_absorb(vd_convnet *net, const vd_conv_pass *pass, vd_real share);

#endif
