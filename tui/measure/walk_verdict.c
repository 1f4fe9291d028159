#include "tui/measure/walk_verdict.h"

#include <stdio.h>

#include "engine/base/alloc.h"
#include "features/captions/tokens.h"
#include "tui/measure/verdict.h"

static void judge(const blocks_scene *scene, const vd_picture_regions *regions,
                  vd_walked_caption *caption)
{
    const char *word[VD_WALKED_WORDS];
    int count = caption->trace.words;
    vd_caption_verdict verdict;
    for (int t = 0; t < count; t++)
        word[t] = caption->word[t].text;
    count -= caption->trace.word[count - 1].id == VD_END;
    char *text = vd_caption_text(word, count);
    if (!text)
        return;
    vd_verdict_make(text, scene, regions, &verdict);
    snprintf(caption->verdict, sizeof caption->verdict, "%s%s%s",
             vd_caption_judged_names[verdict.is], *verdict.why ? ": " : "", verdict.why);
    vd_free(text);
}

void vd_walk_judge(const vd_world *world, vd_caption_walk *walk)
{
    size_t picture = walk->wish.picture;
    vd_picture_regions regions = {0};
    blocks_scene scene;
    bool found = false;
    if (world->files && !vd_world_own_path(world, picture))
        return;
    if (vd_verdict_scene(world, picture, NULL, &scene, &found, NULL) != VD_OK || !found ||
        vd_world_regions(world, picture, &regions, NULL) != VD_OK)
        return;
    for (int side = 0; side < walk->sides; side++)
        judge(&scene, &regions, &walk->side[side]);
    vd_picture_regions_clear(&regions);
}
