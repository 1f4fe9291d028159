// What is known of ranges of addresses: weights are named by pointers, and some have another form
// somewhere else (fp16_weights.h, packed_weights.h).
#ifndef VD_CPU_PLACES_H
#define VD_CPU_PLACES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { VD_MOST_PLACES = 64 };

typedef struct vd_places {
    pthread_mutex_t change;
    atomic_int used; // entries that were ever used
    struct {
        _Atomic uintptr_t from; // 0: free
        _Atomic uintptr_t to;
        _Atomic(void *) what;
    } place[VD_MOST_PLACES];
} vd_places;

#define VD_NO_PLACES                                                                               \
    {                                                                                              \
        .change = PTHREAD_MUTEX_INITIALIZER                                                        \
    }

// Of from..to (not included) `what` is known from now on; false when there is no room. Ranges do
// not overlap.
bool vd_places_add(vd_places *places, const void *from, const void *to, void *what);
// What was known of the range that begins there; NULL = nothing.
void *vd_places_remove(vd_places *places, const void *from);
// What is known of an address, from any thread; NULL = nothing. It is looked up only while what it
// belongs to is there; others come and go meanwhile.
void *vd_places_find(vd_places *places, const void *at);

#endif
