#include "features/regions/parts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"

// Instructions of pickle (Python's pickletools lists them all).
enum {
    PROTO = 0x80,
    FRAME = 0x95,
    EMPTY_DICT = '}',
    BINPUT = 'q',
    LONG_BINPUT = 'r',
    MEMOIZE = 0x94,
    MARK = '(',
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    LONG1 = 0x8a,
    SETITEM = 's',
    SETITEMS = 'u',
    STOP = '.'
};

typedef struct machine {
    const char *path;
    const unsigned char *bytes;
    size_t size, at, instruction; // where the reading is, where the instruction began
    bool dictionary, marked, stopped;
    int64_t pending; // a key that waits for its value
    bool has_pending;
    size_t loose; // pairs since the mark or the last SETITEM(S)
    vd_pickle_pair *pairs;
    size_t count, room;
    vd_error *err;
} machine;

static vd_status refuse(machine *m, const char *words)
{
    return vd_error_set(
        m->err, VD_FORMAT,
        "%s: byte %zu: %s; a pickled dictionary {image id: row} of whole numbers is expected",
        m->path, m->instruction, words);
}

// The next `count` bytes as a little-endian number.
static vd_status operand(machine *m, size_t count, uint64_t *out)
{
    if (m->size - m->at < count)
        return refuse(m, "the file is cut short");
    *out = 0;
    for (size_t i = 0; i < count; i++)
        *out |= (uint64_t)m->bytes[m->at + i] << (8 * i);
    m->at += count;
    return VD_OK;
}

static vd_status push(machine *m, int64_t value)
{
    if (!m->dictionary)
        return refuse(m, "a number where the dictionary should begin");
    if (!m->has_pending) {
        m->pending = value;
        m->has_pending = true;
        return VD_OK;
    }
    if (!vd_make_room(&m->pairs, &m->room, m->count + 1, sizeof *m->pairs))
        return vd_error_memory(m->err, "an index of images");
    m->pairs[m->count++] = (vd_pickle_pair){m->pending, value};
    m->has_pending = false;
    m->loose++;
    return VD_OK;
}

static vd_status push_long(machine *m, uint64_t length)
{
    uint64_t bits = 0;
    if (length < 1 || length > 8)
        return refuse(m, "a number of more than eight bytes");
    vd_status status = operand(m, (size_t)length, &bits);
    if (status != VD_OK)
        return status;
    if (length < 8 && bits >> (8 * length - 1) & 1) // two's complement
        bits |= UINT64_MAX << (8 * length);
    return push(m, (int64_t)bits);
}

static vd_status store(machine *m, bool many)
{
    if (m->has_pending || m->marked != many || (!many && m->loose != 1))
        return refuse(m, "pairs that are not complete");
    m->marked = false;
    m->loose = 0;
    return VD_OK;
}

static vd_status step(machine *m)
{
    // 1 and the bytes of an instruction's operand; 0: not part of such an index.
    static const unsigned char known[256] = {
        [PROTO] = 2, [FRAME] = 9,   [EMPTY_DICT] = 1, [BINPUT] = 2,  [LONG_BINPUT] = 5,
        [MARK] = 1,  [MEMOIZE] = 1, [BININT] = 5,     [BININT1] = 2, [BININT2] = 3,
        [LONG1] = 2, [SETITEM] = 1, [SETITEMS] = 1,   [STOP] = 1,
    };
    uint64_t number = 0;
    m->instruction = m->at;
    if (m->at == m->size)
        return refuse(m, "the file is cut short");
    int instruction = m->bytes[m->at++];
    if (!known[instruction]) {
        char words[64];
        snprintf(words, sizeof words, "instruction 0x%02x is not part of such an index",
                 (unsigned)instruction);
        return refuse(m, words);
    }
    vd_status status = operand(m, known[instruction] - 1u, &number);
    if (status != VD_OK)
        return status;
    switch (instruction) {
    case PROTO:
        return number >= 2 && number <= 5 ? VD_OK : refuse(m, "an unknown pickle protocol");
    case EMPTY_DICT:
        if (m->dictionary)
            return refuse(m, "a second dictionary");
        m->dictionary = true;
        return VD_OK;
    case MARK:
        if (!m->dictionary || m->marked || m->has_pending || m->loose)
            return refuse(m, "a mark out of place");
        m->marked = true;
        return VD_OK;
    case BININT:
        return push(m, (int32_t)(uint32_t)number);
    case BININT1:
    case BININT2:
        return push(m, (int64_t)number);
    case LONG1:
        return push_long(m, number);
    case SETITEM:
    case SETITEMS:
        return store(m, instruction == SETITEMS);
    case STOP:
        if (!m->dictionary || m->has_pending || m->loose || m->marked)
            return refuse(m, "the end comes before the dictionary is complete");
        m->stopped = true;
        return m->at == m->size ? VD_OK : refuse(m, "more bytes after the end");
    default: // frames and the memo change nothing
        return VD_OK;
    }
}

vd_status vd_pickle_read(const char *path, vd_pickle_pair **out, size_t *count, vd_error *err)
{
    enum { MOST = 256 << 20 };
    *out = NULL;
    char *bytes = NULL;
    size_t size = 0;
    vd_status status = vd_file_read(path, MOST, &bytes, &size, err);
    machine m = {.path = path, .bytes = (unsigned char *)bytes, .size = size, .err = err};
    if (status == VD_OK && (size < 2 || m.bytes[0] != PROTO))
        status = refuse(&m, "this is not a pickle of protocol 2 to 5");
    while (status == VD_OK && !m.stopped)
        status = step(&m);
    vd_free(bytes);
    if (status != VD_OK) {
        vd_free(m.pairs);
        return status;
    }
    *out = m.pairs;
    *count = m.count;
    return VD_OK;
}
