#include "engine/backend/cpu/places.h"

#include <stddef.h>

bool vd_places_add(vd_places *places, const void *from, const void *to, void *what)
{
    pthread_mutex_lock(&places->change);
    int at = 0;
    while (at < VD_MOST_PLACES && places->place[at].from != 0)
        at++;
    if (at < VD_MOST_PLACES) {
        places->place[at].what = what;
        places->place[at].to = (uintptr_t)to;
        places->place[at].from = (uintptr_t)from;
        if (at >= places->used)
            places->used = at + 1;
    }
    pthread_mutex_unlock(&places->change);
    return at < VD_MOST_PLACES;
}

void *vd_places_remove(vd_places *places, const void *from)
{
    void *what = NULL;
    pthread_mutex_lock(&places->change);
    for (int i = 0; from && i < places->used; i++)
        if (places->place[i].from == (uintptr_t)from) {
            what = places->place[i].what;
            places->place[i].from = 0;
        }
    pthread_mutex_unlock(&places->change);
    return what;
}

void *vd_places_find(vd_places *places, const void *at)
{
    uintptr_t address = (uintptr_t)at;
    int count = atomic_load_explicit(&places->used, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        uintptr_t from = places->place[i].from, to = places->place[i].to;
        void *what = places->place[i].what;
        // An entry that became another one meanwhile is not that of the address.
        if (from != 0 && address >= from && address < to && places->place[i].from == from)
            return what;
    }
    return NULL;
}
