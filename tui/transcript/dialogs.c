// Conversations of a transcript read back, and which of them is continued by which line.
#include "tui/transcript/reading.h"

enum { MOST_BRANCHES = 1000, MOST_ASIDES = 100000 };

static void read_branch(vd_reading *r, const vd_json_value *list, vd_chat_record *record)
{
    static const char key[] = "branches";
    size_t width = (size_t)record->lane_count + 1;
    list = vd_reading_checked(r, list, key, 0, VD_MOST_RECORDED_ROUNDS);
    vd_chat_record_branch *branch = &record->branches[record->branch_count++];
    branch->text = g_new0(char *, list->count *width);
    char **to = branch->text;
    for (const vd_json_value *round = list->first; round && r->status == VD_OK;
         round = round->next) {
        branch->count++;
        const vd_json_value *text = vd_reading_checked(r, round, key, width, width)->first;
        if (text && text->type == VD_JSON_NULL)
            vd_reading_refuse(r, "\"%s\" holds a round without a question", key);
        for (; text; text = text->next, to++) // null: that model's answer is not known
            *to = text->type == VD_JSON_NULL ? NULL : vd_reading_copy(r, text, key);
    }
}

static int place(const vd_json_value *value, int64_t end)
{
    bool whole = value->type == VD_JSON_NUMBER && (double)value->whole == value->number;
    return whole && value->whole >= 0 && value->whole < end ? (int)value->whole : -1;
}

static void read_aside(vd_reading *r, const vd_json_value *parts, vd_chat_record *record)
{
    static const char key[] = "asides";
    const vd_json_value *at = vd_reading_checked(r, parts, key, 4, 4)->first;
    if (!at)
        return;
    vd_chat_record_aside *aside = &record->asides[record->aside_count++];
    aside->branch = place(at, record->branch_count ? record->branch_count : 1);
    aside->before = place(at->next, VD_MOST_RECORDED_ROUNDS + 1);
    if (aside->branch < 0 || aside->before < 0)
        vd_reading_refuse(r, "\"%s\" holds something that is not [branch, round, typed, reply]",
                          key);
    aside->typed = vd_reading_copy(r, at->next->next, key);
    aside->reply = vd_reading_copy(r, parts->last, key);
}

static void read_asides(vd_reading *r, const vd_json_value *map, vd_chat_record *out)
{
    if (!vd_json_member(map, "asides", VD_JSON_LIST))
        return;
    const vd_json_value *list = vd_reading_list(r, map, "asides", 0, MOST_ASIDES);
    out->asides = g_new0(vd_chat_record_aside, list->count);
    for (const vd_json_value *one = list->first; one && r->status == VD_OK; one = one->next)
        read_aside(r, one, out);
}

static void read_record(vd_reading *r, const vd_json_value *map, vd_chat_record *out)
{
    *out = (vd_chat_record){.image_id = vd_reading_whole(r, map, "image_id", INT64_MIN, INT64_MAX),
                            .caption = vd_reading_text(r, map, "caption")};
    out->picture = vd_reading_path(map, "picture");
    out->caption_by = vd_reading_caption_by(r, map);
    out->rounds = vd_reading_turns(r, map, "rounds", &out->count);
    out->returned = vd_json_true(map, "returned");
    if (vd_json_member(map, "models", VD_JSON_LIST)) {
        const vd_json_value *list = vd_reading_list(r, map, "models", 1, VD_MOST_RECORDED_LANES);
        out->lanes = g_new0(vd_chat_record_lane, list->count);
        for (const vd_json_value *pair = list->first; pair; pair = pair->next) {
            vd_chat_record_lane *lane = &out->lanes[out->lane_count++];
            vd_reading_pair(r, pair, "models", "model, history", &lane->name, &lane->follow);
        }
    }
    if (vd_json_member(map, "branches", VD_JSON_LIST)) {
        const vd_json_value *list = vd_reading_list(r, map, "branches", 1, MOST_BRANCHES);
        out->branch = (int)vd_reading_whole(r, map, "branch", 0, (int64_t)list->count - 1);
        out->branches = g_new0(vd_chat_record_branch, list->count);
        for (const vd_json_value *rounds = list->first; rounds && r->status == VD_OK;
             rounds = rounds->next)
            read_branch(r, rounds, out);
    }
    read_asides(r, map, out);
}

void vd_chat_record_clear(vd_chat_record *record)
{
    size_t width = (size_t)record->lane_count + 1;
    for (int b = 0; b < record->branch_count; b++) {
        for (size_t i = 0; i < (size_t)record->branches[b].count * width; i++)
            g_free(record->branches[b].text[i]);
        g_free(record->branches[b].text);
    }
    for (int i = 0; i < record->lane_count; i++) {
        g_free(record->lanes[i].name);
        g_free(record->lanes[i].follow);
    }
    for (int i = 0; i < record->aside_count; i++) {
        g_free(record->asides[i].typed);
        g_free(record->asides[i].reply);
    }
    g_free(record->asides);
    g_free(record->branches);
    g_free(record->lanes);
    vd_turns_free(record->rounds, record->count);
    g_free(record->picture);
    g_free(record->caption);
    *record = (vd_chat_record){0};
}

// Gives a record without rounds those of another one.
static void move_rounds(vd_chat_record *from, vd_chat_record *to)
{
    g_free(to->rounds);
    to->rounds = from->rounds;
    to->count = from->count;
    from->rounds = NULL;
    from->count = 0;
}

static size_t dialog_of(const vd_reading *r, int64_t image_id)
{
    return GPOINTER_TO_SIZE(g_hash_table_lookup(r->dialog_of, &image_id));
}

static void set_dialog_of(const vd_reading *r, int64_t image_id, size_t dialog)
{
    int64_t *key = g_new(int64_t, 1);
    *key = image_id;
    g_hash_table_insert(r->dialog_of, key, GSIZE_TO_POINTER(dialog));
}

// The conversation that this line continues: the last one, or an earlier one about the same picture
// that this line begins with (another beginning is another conversation). NULL: none, or it has
// ended.
static vd_chat_record *find_open(const vd_reading *r, const vd_chat_record *record)
{
    size_t at = dialog_of(r, record->image_id);
    vd_chat_record *found = at > 0 ? &r->file->dialogs[at - 1] : NULL;
    bool goes_on = found && (at == r->file->dialog_count || record->count == 0 ||
                             (record->count >= found->count &&
                              vd_same_turns(record->rounds, found->rounds, found->count, true)));
    return goes_on && (!found->closed || record->returned) ? found : NULL;
}

// Replaces the conversation about the same picture that it continues, unless that one has ended: a
// line without rounds ends it. The last line's conversation is the last of the list: the place that
// it had before stays empty until vd_reading_dialogs_end.
void vd_reading_conversation(vd_reading *r, const vd_json_value *map)
{
    vd_chat_record record;
    read_record(r, map, &record);
    vd_chat_record *before = r->status ? NULL : find_open(r, &record);
    bool given_up = record.count == 0 && (!before || record.branch_count < 2);
    if (before && given_up)
        before->closed = true;
    if (r->status || given_up) {
        vd_chat_record_clear(&record);
        return;
    }
    if (before && record.count == 0) // an empty branch: other branches have rounds
        move_rounds(before, &record);
    if (before)
        vd_chat_record_clear(before);
    vd_chat_record *to = before;
    if (!before || before != &r->file->dialogs[r->file->dialog_count - 1])
        to = vd_reading_add(&r->file->dialogs, &r->file->dialog_count, sizeof *to);
    *to = record;
    set_dialog_of(r, record.image_id, r->file->dialog_count);
}

void vd_reading_dialogs_end(const vd_reading *r)
{
    vd_transcript_file *file = r->file;
    size_t kept = 0;
    g_hash_table_remove_all(r->dialog_of);
    for (size_t i = 0; i < file->dialog_count; i++) {
        if (!file->dialogs[i].caption)
            continue;
        vd_chat_record *dialog = &file->dialogs[kept++];
        *dialog = file->dialogs[i];
        size_t earlier = dialog_of(r, dialog->image_id);
        dialog->again = earlier > 0;
        if (earlier > 0)
            file->dialogs[earlier - 1].later = true;
        set_dialog_of(r, dialog->image_id, kept);
    }
    file->dialog_count = kept;
}
