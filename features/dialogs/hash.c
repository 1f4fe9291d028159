// What tells one set of dialogs from another.
#include <inttypes.h>
#include <stdio.h>

#include "features/dialogs/pack.h"
#include "features/dialogs/store.h"

// FNV-1a (Fowler, Noll, Vo), eight bytes at a time.
static uint64_t hash_with(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = hash_with(hash, (unsigned char)*text);
    return hash_with(hash, 0);
}

// What `data pack` has found already; false in files of before it did.
static bool packed_hash(const vd_packed_file *packed, uint64_t *out)
{
    const char *content = vd_safetensors_metadata(packed->file, "content");
    int read = 0;
    return content && sscanf(content, "%16" SCNx64 "%n", out, &read) == 1 && !content[read];
}

uint64_t vd_visdial_hash(const vd_visdial *data)
{
    const vd_packed_file *packed = ((const vd_visdial_store *)data)->packed;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (packed && packed_hash(packed, &hash))
        return hash;
    hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < data->dialog_count; i++) {
        const vd_visdial_dialog *dialog = &data->dialogs[i];
        hash = hash_text(hash_with(hash, (uint64_t)dialog->image_id), dialog->caption);
        for (int32_t r = 0; r < dialog->round_count; r++) {
            const vd_visdial_round *round = &dialog->rounds[r];
            hash = hash_text(hash, data->questions[round->question]);
            hash = hash_text(hash, round->answer >= 0 ? data->answers[round->answer] : "");
            hash = hash_with(hash, (uint64_t)(uint32_t)round->truth);
        }
    }
    return hash;
}
