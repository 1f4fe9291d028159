// What a training run writes, for `visdial info`: its log, its event file, what it reads, and the
// directory with all of this.
#include "tui/commands/command.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/file.h"
#include "tui/train/event_file.h"
#include "tui/train/run_inputs.h"

typedef struct scalars {
    size_t count;
    int64_t step;
    char tags[400]; // each with a space before and behind it
} scalars;

static void take_scalar(void *context, int64_t step, const char *tag, double value)
{
    scalars *s = context;
    char name[64];
    (void)value;
    s->count++;
    s->step = step > s->step ? step : s->step;
    snprintf(name, sizeof name, " %.60s ", tag);
    if (!strstr(s->tags, name) && strlen(s->tags) + strlen(name) < sizeof s->tags)
        vd_append(s->tags, sizeof s->tags, "%s", name);
}

vd_status vd_info_events(const char *path, vd_error *err)
{
    scalars s = {0};
    size_t offset = 0;
    vd_status status = vd_events_read(path, &offset, take_scalar, &s, err);
    if (status)
        return status;
    printf("%s: an event file of a training run, for TensorBoard and `visdial curves`\n", path);
    vd_output_row("values", "%zu", s.count);
    vd_output_row("steps", "up to %" PRId64, s.step);
    vd_output_row("curves", "%s", s.tags + (s.tags[0] == ' '));
    return VD_OK;
}

vd_status vd_info_log(const char *path, vd_error *err)
{
    enum { MOST = 1 << 24 };
    char *text;
    size_t size, lines = 0;
    vd_status status = vd_file_read(path, MOST, &text, &size, err);
    if (status)
        return status;
    const char *last = text;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n') {
            lines++;
            last = i + 1 < size ? text + i + 1 : last;
        }
    printf("%s: the log of a training run\n", path);
    vd_output_row("epochs", "%zu", lines ? lines - 1 : 0);
    vd_output_row("columns", "%.*s", (int)strcspn(text, "\r\n"), text);
    if (lines > 1)
        vd_output_row("last", "%.*s", (int)strcspn(last, "\r\n"), last);
    vd_free(text);
    return VD_OK;
}

vd_status vd_info_inputs(const char *path, vd_error *err)
{
    vd_run_inputs inputs = {0};
    vd_json_value *kept;
    vd_status status = vd_run_inputs_read(&inputs, NULL, path, &kept, err);
    if (status == VD_OK) {
        printf("%s: what a training run reads\n", path);
        vd_output_row("data", "%s", inputs.data ? inputs.data : "-");
        vd_output_row("features", "%s", inputs.features ? inputs.features : "-");
    }
    vd_json_value_free(kept);
    return status;
}

// ---- the directory of a run ---------------------------------------------------------------------

// DIR/name if there is such a file (g_free).
static char *file_of(const char *directory, const char *name)
{
    char *path = g_build_filename(directory, name, NULL);
    if (access(path, F_OK) == 0)
        return path;
    g_free(path);
    return NULL;
}

char *vd_info_weights(const char *directory)
{
    char *checkpoint = file_of(directory, "checkpoint.safetensors");
    return checkpoint ? checkpoint : file_of(directory, "model.safetensors");
}

vd_status vd_info_run(const char *path, const char *weights, bool tensors, vd_error *err)
{
    char *events, *log = file_of(path, "log.tsv");
    printf("%s: the directory of a training run\n", path);
    if (vd_events_find(path, &events, NULL) == VD_OK)
        vd_output_row("curves", "%s; visdial curves %s", events, path);
    if (log)
        vd_output_row("log", "%s", log);
    putchar('\n');
    vd_status status = vd_info_print(weights, tensors, err);
    vd_free(events);
    g_free(log);
    return status;
}
