// The plugin's entry: finds a device and fills the table.
#include "cuda/device.cuh"

#include <initializer_list>

#include <stdio.h>

static vd_backend table;
static char description[512];

// The wanted device, modulo the number of devices.
static const char *fill(int wanted, int *device, char *text, size_t room)
{
    int count = 0, driver = 0, runtime = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0) { // without a driver the runtime says that it is too old
        snprintf(text, room, "no CUDA device: there is no NVIDIA driver on this machine");
        return text;
    }
    if (error == cudaErrorInsufficientDriver) {
        snprintf(
            text, room,
            "the NVIDIA driver knows CUDA %d.%d, this program was built for CUDA %d.%d: a newer "
            "driver is needed",
            driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
        return text;
    }
    if (error != cudaSuccess || count < 1) {
        snprintf(text, room, "the NVIDIA driver shows no device (%s)", cudaGetErrorString(error));
        return text;
    }
    *device = wanted % count;
    cudaDeviceProp p;
    error = cudaSetDevice(*device);
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&p, *device);
    if (error != cudaSuccess) {
        snprintf(text, room, "device %d cannot be used (%s)", *device, cudaGetErrorString(error));
        return text;
    }
    if (p.major * 10 + p.minor < 75) {
        snprintf(text, room, "%s has compute capability %d.%d; 7.5 or newer is needed", p.name,
                 p.major, p.minor);
        return text;
    }
    snprintf(description, sizeof description,
             "%s, compute capability %d.%d, %.0f GB, driver for CUDA %d.%d, runtime %d.%d", p.name,
             p.major, p.minor, static_cast<double>(p.totalGlobalMem) / 1e9, driver / 1000,
             driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return NULL;
}

extern "C" __attribute__((visibility("default"))) const vd_backend *
vd_backend_plugin(int abi, int device, char *text, size_t room)
{
    if (abi != VD_BACKEND_ABI) {
        snprintf(text, room, "it is for another version of this program (%d, expected %d)",
                 VD_BACKEND_ABI, abi);
        return NULL;
    }
    if (fill(device, &table.device, text, room))
        return NULL;
    table.abi = VD_BACKEND_ABI;
    table.size = sizeof table;
    table.name = "cuda";
    table.description = description;
    for (vd_cuda_family *fill_in :
         {vd_cuda_stream, vd_cuda_matrix, vd_cuda_pointwise, vd_cuda_rows, vd_cuda_lstm,
          vd_cuda_context, vd_cuda_words, vd_cuda_region, vd_cuda_tape, vd_cuda_gru, vd_cuda_loss,
          vd_cuda_rank, vd_cuda_group})
        fill_in(&table);
    return &table;
}
