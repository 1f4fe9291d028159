// FNV-1a (Fowler, Noll, Vo) of texts, 64 bits; a number counts as one unit, not as eight bytes.
#ifndef VD_BASE_HASH_H
#define VD_BASE_HASH_H

#include <stdint.h>

#define VD_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t vd_hash_with(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

// Its bytes and an end: "ab", "c" is not "a", "bc".
static inline uint64_t vd_hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = vd_hash_with(hash, (unsigned char)*text);
    return vd_hash_with(hash, 0);
}

#endif
