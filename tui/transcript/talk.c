// The line of a transcript that says how a conversation stands.
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/base/output.h"
#include "tui/transcript/lines.h"

// ---- writing ------------------------------------------------------------------------------------

static void emit_branch(yajl_gen json, const vd_chat_record *talk,
                        const vd_chat_record_branch *branch)
{
    size_t width = (size_t)talk->lane_count + 1;
    yajl_gen_array_open(json);
    for (int i = 0; i < branch->count; i++) {
        yajl_gen_array_open(json);
        for (size_t k = 0; k < width; k++)
            if (branch->text[(size_t)i * width + k])
                vd_output_string(json, branch->text[(size_t)i * width + k]);
            else
                yajl_gen_null(json);
        yajl_gen_array_close(json);
    }
    yajl_gen_array_close(json);
}

yajl_gen_status vd_chat_record_emit(yajl_gen json, void *context)
{
    const vd_chat_record *talk = context;
    yajl_gen_map_open(json);
    vd_member_map(json, "conversation");
    vd_member_integer(json, "image_id", talk->image_id);
    vd_member_string(json, "caption", talk->caption ? talk->caption : "");
    vd_output_string(json, "rounds");
    vd_output_said(json, talk->rounds, talk->count);
    if (talk->lane_count > 0) {
        vd_member_list(json, "models");
        for (int i = 0; i < talk->lane_count; i++) {
            yajl_gen_array_open(json);
            vd_output_string(json, talk->lanes[i].name);
            vd_output_string(json, talk->lanes[i].follow);
            yajl_gen_array_close(json);
        }
        yajl_gen_array_close(json);
    }
    if (talk->branch_count > 0) {
        vd_member_integer(json, "branch", talk->branch);
        vd_member_list(json, "branches");
        for (int i = 0; i < talk->branch_count; i++)
            emit_branch(json, talk, &talk->branches[i]);
        yajl_gen_array_close(json);
    }
    yajl_gen_map_close(json);
    return yajl_gen_map_close(json);
}

// ---- reading ------------------------------------------------------------------------------------

static vd_status copy_text(const vd_reading *r, const vd_json_value *value, char **out)
{
    *out = vd_strdup(value->text);
    return *out ? VD_OK : vd_error_memory(r->err, r->where);
}

static vd_status read_models(const vd_reading *r, const vd_json_value *list, vd_chat_record *talk)
{
    talk->lanes = vd_alloc(list->count, sizeof *talk->lanes);
    if (!talk->lanes)
        return vd_error_memory(r->err, r->where);
    for (const vd_json_value *pair = list->first; pair; pair = pair->next) {
        if (pair->type != VD_JSON_LIST || pair->count != 2 || pair->first->type != VD_JSON_TEXT ||
            pair->last->type != VD_JSON_TEXT)
            return vd_reading_refuse(r, "\"models\" holds something that is not [model, history]");
        vd_chat_record_lane *lane = &talk->lanes[talk->lane_count++];
        vd_status status = copy_text(r, pair->first, &lane->name);
        if (status == VD_OK)
            status = copy_text(r, pair->last, &lane->follow);
        if (status)
            return status;
    }
    return VD_OK;
}

static vd_status read_branch(const vd_reading *r, const vd_json_value *list, vd_chat_record *talk)
{
    static const char wrong[] =
        "\"branches\" holds something that is not a list of rounds, each with its "
        "question and every model's answer";
    size_t width = (size_t)talk->lane_count + 1;
    if (list->type != VD_JSON_LIST || list->count > 100000)
        return vd_reading_refuse(r, wrong);
    vd_chat_record_branch *branch = &talk->branches[talk->branch_count++];
    branch->text = vd_alloc(list->count, width * sizeof *branch->text);
    if (!branch->text)
        return vd_error_memory(r->err, r->where);
    for (const vd_json_value *round = list->first; round; round = round->next) {
        if (round->type != VD_JSON_LIST || round->count != width ||
            round->first->type != VD_JSON_TEXT)
            return vd_reading_refuse(r, wrong);
        char **to = branch->text + (size_t)branch->count++ * width;
        for (const vd_json_value *text = round->first; text; text = text->next, to++) {
            if (text->type != VD_JSON_TEXT && text->type != VD_JSON_NULL)
                return vd_reading_refuse(r, wrong);
            vd_status status = text->type == VD_JSON_TEXT ? copy_text(r, text, to) : VD_OK;
            if (status)
                return status;
        }
    }
    return VD_OK;
}

static vd_status read_branches(const vd_reading *r, const vd_json_value *map,
                               const vd_json_value *list, vd_chat_record *talk)
{
    int64_t branch = 0;
    if (list->count == 0 || list->count > 1000)
        return vd_reading_refuse(r, "\"branches\" holds none, or more than 1000");
    vd_status status = vd_reading_whole(r, map, "branch", 0, (int64_t)list->count - 1, &branch);
    if (status)
        return status;
    talk->branch = (int)branch;
    talk->branches = vd_alloc(list->count, sizeof *talk->branches);
    if (!talk->branches)
        return vd_error_memory(r->err, r->where);
    for (const vd_json_value *rounds = list->first; rounds && status == VD_OK;
         rounds = rounds->next)
        status = read_branch(r, rounds, talk);
    return status;
}

vd_status vd_chat_record_read(const vd_reading *r, const vd_json_value *map, vd_chat_record *out)
{
    *out = (vd_chat_record){0};
    const vd_json_value *models = vd_json_member(map, "models", VD_JSON_LIST);
    const vd_json_value *branches = vd_json_member(map, "branches", VD_JSON_LIST);
    vd_status status = vd_reading_whole(r, map, "image_id", INT64_MIN, INT64_MAX, &out->image_id);
    if (status == VD_OK)
        status = vd_reading_text(r, map, "caption", &out->caption);
    if (status == VD_OK)
        status = vd_reading_said(r, map, "rounds", &out->rounds, &out->count);
    if (status == VD_OK && models)
        status = models->count > 0 && models->count <= VD_MOST_RECORDED_LANES
                     ? read_models(r, models, out)
                     : vd_reading_refuse(r, "\"models\" holds none, or too many");
    if (status == VD_OK && branches)
        status = read_branches(r, map, branches, out);
    if (status)
        vd_chat_record_clear(out);
    return status;
}

// ---- memory -------------------------------------------------------------------------------------

static void free_open(vd_chat_record *talk)
{
    size_t width = (size_t)talk->lane_count + 1;
    for (int b = 0; b < talk->branch_count; b++) {
        for (size_t i = 0; i < (size_t)talk->branches[b].count * width; i++)
            vd_free(talk->branches[b].text[i]);
        vd_free(talk->branches[b].text);
    }
    for (int i = 0; i < talk->lane_count; i++) {
        vd_free(talk->lanes[i].name);
        vd_free(talk->lanes[i].follow);
    }
    vd_free(talk->branches);
    vd_free(talk->lanes);
}

void vd_chat_record_clear(vd_chat_record *talk)
{
    free_open(talk);
    vd_turns_free(talk->rounds, talk->count);
    vd_free(talk->caption);
    *talk = (vd_chat_record){0};
}

void vd_chat_record_reopen(vd_chat_record *talk, vd_chat_record *from)
{
    free_open(talk);
    talk->lanes = from->lanes;
    talk->lane_count = from->lane_count;
    talk->branches = from->branches;
    talk->branch_count = from->branch_count;
    talk->branch = from->branch;
    from->lanes = NULL;
    from->branches = NULL;
    from->lane_count = from->branch_count = 0;
    vd_chat_record_clear(from);
}
