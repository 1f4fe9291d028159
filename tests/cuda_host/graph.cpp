// Graphs on the host (cuda_host.h): the work of a thread between begin and end of a capture is
// recorded, and done when the graph is launched. What CUDA refuses during a capture is refused
// here; what CUDA accepts but fails later stops the program.
#include "tests/cuda_host/private.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <vector>

struct vd_host_node {
    std::string kind; // "" = not one of CUDA's
    vd_host_work work;
};

struct vd_host_graph {
    std::vector<vd_host_node> nodes;
    std::map<const void *, size_t>
        taken; // memory allocated during the capture, and the number of nodes before it
};

struct vd_host_graph_exec {
    std::vector<vd_host_node> nodes;
};

static thread_local vd_host_graph *recording;
static thread_local bool invalid;
static std::atomic<int> made, launched;

bool vd_host_is_recording()
{
    return recording;
}

void vd_host_taken(const void *memory)
{
    if (recording)
        recording->taken[memory] = recording->nodes.size();
}

bool vd_host_may_free(const void *memory)
{
    if (!recording)
        return true;
    auto found = recording->taken.find(memory);
    return found != recording->taken.end() && found->second == recording->nodes.size();
}

void vd_host_keep(const char *kind, const vd_host_work &work)
{
    recording->nodes.push_back({kind, work});
}

cudaError_t vd_host_refuse()
{
    if (!recording)
        return cudaSuccess;
    invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

void vd_host_graphs(int *instances, int *launches)
{
    *instances = made;
    *launches = launched;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode)
{
    if (recording)
        return cudaErrorStreamCaptureUnsupported;
    recording = new vd_host_graph();
    invalid = false;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    if (!recording)
        vd_host_stop("the end of a capture that did not begin");
    *graph = recording;
    recording = NULL;
    if (!invalid)
        return cudaSuccess;
    for (const auto &node : (*graph)->nodes)
        if (node.kind.empty())
            node.work();
    delete *graph;
    *graph = NULL;
    return cudaErrorStreamCaptureInvalidated;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = new vd_host_graph_exec();
    (*exec)->nodes = graph->nodes;
    made++;
    return cudaSuccess;
}

static std::vector<std::string> kinds_of(const std::vector<vd_host_node> &nodes)
{
    std::vector<std::string> kinds;
    for (const auto &node : nodes)
        if (!node.kind.empty())
            kinds.push_back(node.kind);
    return kinds;
}

// The same work in the same order may have other arguments.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *)
{
    if (kinds_of(exec->nodes) != kinds_of(graph->nodes))
        return cudaErrorGraphExecUpdateFailure;
    exec->nodes = graph->nodes;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t)
{
    if (recording)
        vd_host_stop("a graph is launched while another is captured");
    launched++;
    cudaError_t error = cudaSuccess;
    for (const auto &node : exec->nodes) // after a failure only what is not CUDA's
        if (error == cudaSuccess || node.kind.empty())
            error = std::max(error, node.work());
    return error;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    return cudaSuccess;
}
