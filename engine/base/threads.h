// The CPU backend's threads: one piece of work each, asleep when there is none.
//
// Results never depend on how many threads there are or which piece a thread gets: pieces write
// what no other piece writes, and every sum is made by one piece in one order.
#ifndef VD_BASE_THREADS_H
#define VD_BASE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

// Piece `index` of the work that `job` describes.
typedef void (*vd_threads_item)(void *job, int index);

// Does pieces 0..count-1, each once, on the calling thread and those that are free; returns when
// all are done. Called from within a piece, or while another thread uses the workers, it does them
// one after the other.
void vd_threads_run(int count, vd_threads_item piece, void *job);

// Whether this thread does all pieces itself from now on: where every processor has a thread with
// work of its own, sharing it would only make them wait for each other.
void vd_threads_alone(bool alone);

// How many threads share work, the calling one included.
int vd_threads_count(void);
// That many from now on; 0: one for each processor, as without this call.
void vd_threads_use(int threads);
// Of so many processors, where no number of threads was asked for; before the first work.
void vd_threads_processors(int count);

// Items from..to-1 of the work that `job` describes.
typedef void (*vd_threads_range)(void *job, size_t from, size_t to);

// The same with items that take `cost` nanoseconds (roughly) each, cut into as many ranges as are
// worth waking somebody for. What comes out must not depend on where the cuts are.
void vd_threads_ranges(size_t items, double cost, vd_threads_range range, void *job);

#endif
