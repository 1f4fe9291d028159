#include "tui/measure/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assets/blocks/world.h"
#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "features/extract/detect.h"

// ---- the scene ----------------------------------------------------------------------------------

void vd_scenes_beside(const char *data, char *out, size_t size)
{
    const char *slash = strrchr(data, '/'), *name = slash ? slash + 1 : data,
               *dot = strrchr(name, '.');
    static const char captions[] = "_captions";
    bool plain = strcmp(name, "dialogs.json") == 0;
    size_t stem = plain ? (size_t)(name - data)
                  : dot ? (size_t)(dot - data)
                        : strlen(data),
           length = sizeof captions - 1;
    if (stem > (size_t)(name - data) + length &&
        strncmp(data + stem - length, captions, length) == 0)
        stem -= length;
    snprintf(out, size, "%.*s%sscenes.json", (int)stem, data, plain ? "" : "_");
}

static vd_status read_scene(const char *path, int64_t image, blocks_scene *out, bool *found,
                            vd_error *err)
{
    blocks_scene *all;
    size_t count;
    vd_status status = blocks_scenes_read(path, &all, &count, err);
    if (status)
        return status;
    const blocks_scene *one = blocks_scenes_find(all, count, image);
    *found = one != NULL;
    if (one)
        *out = *one;
    vd_free(all);
    return VD_OK;
}

vd_status vd_verdict_scene(const vd_world *world, size_t picture, const char *scenes,
                           blocks_scene *out, bool *found, vd_error *err)
{
    static const char made[] = "blocks:";
    const char *own = vd_world_own_path(world, picture);
    int64_t image = vd_world_image_id(world, picture);
    *found = own && strncmp(own, made, sizeof made - 1) == 0;
    if (*found)
        blocks_scene_make(strtoull(own + sizeof made - 1, NULL, 10), BLOCKS_TEST, 0, out);
    if (*found || (own && !scenes))
        return VD_OK;
    char beside[4096];
    vd_scenes_beside(world->dialogs->path, beside, sizeof beside);
    const char *path = scenes ? scenes : beside;
    vd_status status = VD_OK;
    if (scenes || access(path, F_OK) == 0)
        status = read_scene(path, image, out, found, err);
    if (status == VD_OK && scenes && !*found)
        status = vd_error_set(err, VD_MISMATCH, "%.300s: no scene of image %" PRId64, path, image);
    return status;
}

// ---- in words -----------------------------------------------------------------------------------

typedef struct sentence {
    const blocks_scene *scene;
    const vd_picture_regions *regions;
    char *out;
    size_t size; // of out
} sentence;

// "a large red rubber cube", "an object"; "the", in place of "a", of an object.
static void add_kind(sentence *s, const char *article, blocks_kind kind)
{
    static const blocks_attribute order[] = {BLOCKS_SIZE, BLOCKS_COLOR, BLOCKS_MATERIAL,
                                             BLOCKS_SHAPE};
    char text[80] = "";
    for (int i = 0; i < BLOCKS_ATTRIBUTES; i++)
        if (kind.value[order[i]] >= 0)
            vd_append(text, sizeof text, " %s", blocks_value_name(order[i], kind.value[order[i]]));
    if (kind.value[BLOCKS_SHAPE] < 0)
        vd_append(text, sizeof text, " object");
    vd_append(s->out, s->size, "%s%s%s", article,
              strcmp(article, "a") == 0 && text[1] == 'o' ? "n" : "", text);
}

// The region of an object, from 0; -1: none.
static int region_of(const sentence *s, int object)
{
    int best = -1;
    float most = 0.5F, seen[4];
    const double size[4] = {BLOCKS_WIDTH, BLOCKS_HEIGHT, BLOCKS_WIDTH, BLOCKS_HEIGHT};
    for (int k = 0; k < 4; k++)
        seen[k] = (float)(s->scene->object[object].box[k] / size[k]);
    for (int r = 0; s->regions->boxes && r < s->regions->count; r++) {
        float share = vd_box_overlap(s->regions->boxes + (ptrdiff_t)4 * r, seen);
        if (share >= most) {
            most = share;
            best = r;
        }
    }
    return best;
}

static void add_object(sentence *s, const char *article, int object)
{
    int region = region_of(s, object);
    add_kind(s, article, blocks_kind_of(&s->scene->object[object], ~0u));
    if (region >= 0)
        vd_append(s->out, s->size, " (region %d)", region + 1);
}

static void tell_kinds(sentence *s, blocks_kind kind, blocks_set set)
{
    int count = blocks_size_of(set), told = 0;
    vd_append(s->out, s->size, "%d of %d objects %s ", count, s->scene->count,
              count == 1 ? "is" : "are");
    add_kind(s, "a", kind);
    for (int i = 0; i < s->scene->count; i++)
        if (blocks_has(set, i)) {
            vd_append(s->out, s->size, "%s", told++ ? ", " : ": ");
            add_object(s, "the", i);
        }
}

static void tell_count(sentence *s, const blocks_claim *claim, const blocks_evidence *found)
{
    if (blocks_kind_mask(claim->kind))
        tell_kinds(s, claim->kind, found->kinds);
    else
        vd_append(s->out, s->size, "%d objects", s->scene->count);
    if (claim->sort == BLOCKS_CLAIM_THERE)
        vd_append(s->out, s->size, "; it says at least 1");
    else
        vd_append(s->out, s->size, "; it says exactly %d", claim->number);
}

static const char *const ways[BLOCKS_DIRECTIONS] = {"to the left", "to the right", "in front",
                                                    "behind"};

static void tell_place(sentence *s, const blocks_claim *claim, const blocks_evidence *found)
{
    vd_append(s->out, s->size, "farthest %s is ", ways[claim->direction]);
    add_object(s, "the", found->one);
    vd_append(s->out, s->size, "; it says ");
    add_kind(s, "a", claim->kind);
}

static void tell_relation(sentence *s, const blocks_claim *claim, const blocks_evidence *found,
                          blocks_verdict verdict)
{
    static const char *const sides[BLOCKS_DIRECTIONS] = {"left of", "right of", "in front of",
                                                         "behind"};
    bool first = found->kinds == 0;
    if (found->one < 0) {
        vd_append(s->out, s->size, "no %sobject is ", first || !found->others ? "" : "other ");
        add_kind(s, "a", first ? claim->kind : claim->other);
        return;
    }
    add_object(s, "the", found->one);
    vd_append(s->out, s->size, " is %s%s ", verdict == BLOCKS_FALSE ? "not " : "",
              sides[claim->direction]);
    add_object(s, "the", found->other);
}

static void tell(sentence *s, const blocks_claim *claim, blocks_verdict verdict)
{
    blocks_evidence found = blocks_claim_evidence(claim, s->scene);
    if (claim->sort == BLOCKS_CLAIM_RELATION)
        tell_relation(s, claim, &found, verdict);
    else if (claim->sort == BLOCKS_CLAIM_PLACE)
        tell_place(s, claim, &found);
    else
        tell_count(s, claim, &found);
    vd_append(s->out, s->size, "%s", verdict == BLOCKS_DOUBTFUL ? "; by little" : "");
}

void vd_verdict_make(const char *caption, const blocks_scene *scene,
                     const vd_picture_regions *regions, vd_caption_verdict *out)
{
    static const vd_caption_judged judged[] = {[BLOCKS_FALSE] = VD_JUDGED_FALSE,
                                               [BLOCKS_DOUBTFUL] = VD_JUDGED_DOUBTFUL,
                                               [BLOCKS_TRUE] = VD_JUDGED_FAITHFUL};
    sentence s = {scene, regions, out->why, sizeof out->why};
    blocks_claim claim;
    *out = (vd_caption_verdict){.is = VD_JUDGED_NOT_READ};
    if (!blocks_claim_read(caption, &claim)) {
        vd_append(s.out, s.size, "only captions worded as in Blocks can be checked");
        return;
    }
    blocks_verdict verdict = blocks_claim_judge(&claim, scene);
    out->is = judged[verdict];
    tell(&s, &claim, verdict);
}

vd_status vd_verdict_sheet(const vd_world *world, const char *scenes, vd_caption_sheet *sheet,
                           vd_error *err)
{
    blocks_scene scene;
    bool known;
    vd_status status = vd_verdict_scene(world, sheet->wish.picture, scenes, &scene, &known, err);
    for (int i = 0; i < sheet->sides && status == VD_OK && known; i++)
        vd_verdict_make(sheet->side[i].text, &scene, &sheet->regions, &sheet->side[i].verdict);
    return status;
}
