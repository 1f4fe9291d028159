// What a file of dialogs holds, as a table on stdout.
#ifndef VD_DATA_INFO_H
#define VD_DATA_INFO_H

#include "engine/model/vocab.h"
#include "features/dialogs/visdial.h"

// vocab may be NULL; else the `top` most frequent words it lacks are listed.
vd_status vd_data_info(const vd_visdial *data, const vd_vocab *vocab, int64_t top, vd_error *err);

#endif
