// The CPU backend's thread pool. Threads sleep when there is no work.
//
// Results never depend on the number of threads or on which thread runs a task: no two tasks write
// the same memory, and every sum is computed by one task in one order.
#ifndef VD_BASE_THREADS_H
#define VD_BASE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

// Runs task `index` of `job`.
typedef void (*vd_threads_item)(void *job, int index);

// Runs tasks 0..count-1, each once, on the calling thread and the free workers; returns when all
// are done. Called from within a task, or while another thread uses the pool, it runs them one
// after the other.
void vd_threads_run(int count, vd_threads_item item, void *job);

// Whether this thread runs all tasks itself from now on: where every processor has a thread with
// work of its own, sharing tasks would only make them wait for each other.
void vd_threads_alone(bool alone);

// How many threads share tasks, including the calling one.
int vd_threads_count(void);
// Sets that number; 0: one per processor, the default.
void vd_threads_use(int threads);
// Sets the number of processors where no number of threads was asked for; call it before the first
// task.
void vd_threads_processors(int count);

// Processes items from..to-1 of `job`.
typedef void (*vd_threads_range)(void *job, size_t from, size_t to);

// The same for items that take about `cost` nanoseconds each, split into as many ranges as are
// worth waking a thread for. Results must not depend on where the ranges are split.
void vd_threads_ranges(size_t items, double cost, vd_threads_range range, void *job);

#endif
