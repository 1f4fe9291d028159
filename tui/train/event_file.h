// TensorBoard's event files: scalars of a run, appended as it goes; what `tensorboard --logdir`
// and `visdial curves` read.
//
// A file is a sequence of TFRecords, all little-endian: u64 length, u32 masked CRC32C of those
// eight bytes, `length` bytes, u32 masked CRC32C of them. The mask is ((crc >> 15) | (crc << 17)) +
// 0xa282ead8. The bytes are an Event (protocol buffers): double wall_time = 1, int64 step = 2,
// string file_version = 3 ("brain.Event:2", the first record), Summary summary = 5 { repeated
// Value value = 1 { string tag = 1; float simple_value = 2; } }. Files are called
// events.out.tfevents.<seconds>.<host>.
#ifndef VD_EVENT_FILE_H
#define VD_EVENT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef struct vd_scalar {
    const char *tag; // "train/loss"
    double value;    // kept as float
} vd_scalar;

typedef struct vd_events vd_events;

// Continues the newest event file of the directory after its first `records` records. What follows
// them is cut off: records of a run that was killed, an incomplete record, everything from a
// damaged record on. Without an event file a new one is started.
vd_status vd_events_open(const char *directory, int64_t records, vd_events **out, vd_error *err);
// Which damage the opened file had, NULL: none.
const char *vd_events_damage(const vd_events *events);
int64_t vd_events_count(const vd_events *events); // records so far, the first one included
// One record; it is in the file when the call returns.
vd_status vd_events_add(vd_events *events, int64_t step, const vd_scalar *scalars, int count,
                        vd_error *err);
void vd_events_close(vd_events *events);

typedef void (*vd_event_sink)(void *context, int64_t step, const char *tag, double value);
// Calls sink with every scalar of the file from byte *offset on, and moves *offset after the last
// complete record: a running program may not have written the rest yet. A record with a wrong
// checksum or contents is VD_FORMAT with its place.
vd_status vd_events_read(const char *path, size_t *offset, vd_event_sink sink, void *context,
                         vd_error *err);
// The newest event file of a directory as a new string (vd_free); VD_NOT_FOUND when there is none.
vd_status vd_events_find(const char *directory, char **path, vd_error *err);

// CRC-32C (Castagnoli; RFC 3720, B.4) of `size` bytes, not masked.
uint32_t vd_crc32c(const void *data, size_t size);

#endif
