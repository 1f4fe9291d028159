#include "tests/support/caption_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "assets/blocks/claim.h"
#include "assets/blocks/world.h"
#include "engine/base/alloc.h"
#include "features/captions/captions.h"
#include "features/captions/results.h"
#include "tests/support/support.h"

const char caption_karpathy[] =
    "{\"dataset\": \"small\", \"images\": [\n"
    "{\"filepath\": \"val2014\", \"cocoid\": 7, \"imgid\": 0, \"split\": \"train\", \"sentids\": "
    "[0, 1], \"sentences\": [\n"
    " {\"tokens\": [\"a\", \"red\", \"ball\"], \"raw\": \"A red ball.\", \"imgid\": 0, \"sentid\": "
    "0},\n"
    " {\"tokens\": [\"two\", \"balls\"], \"raw\": \"Two balls!\", \"imgid\": 0, \"sentid\": 1}]},\n"
    "{\"cocoid\": 9, \"imgid\": 1, \"split\": \"restval\", \"sentences\": [\n"
    " {\"tokens\": [\"the\", \"dog\", \"'s\", \"ball\", \",\", \"a\", \"red\", \"ball\"]}]},\n"
    "{\"imgid\": 4, \"split\": \"val\", \"sentences\": [\n"
    " {\"tokens\": [], \"raw\": \"\"}, {\"tokens\": [\"a\", \"dog\"], \"raw\": \"a dog\"}]}]}\n";

const char caption_coco[] =
    "{\"info\": {\"year\": 2014}, \"licenses\": [],\n"
    "\"annotations\": [{\"caption\": \"A man's hat\", \"image_id\": 9, \"id\": 1},\n"
    " {\"image_id\": 7, \"id\": 2, \"caption\": \"A red ball.\"},\n"
    " {\"image_id\": 4, \"id\": 4, \"caption\": \"a dog\"},\n"
    " {\"image_id\": 7, \"id\": 3, \"caption\": \"Two balls\"}],\n"
    "\"images\": [{\"id\": 7, \"file_name\": \"7.jpg\", \"height\": 2, \"width\": 3},\n"
    " {\"height\": 2, \"id\": 9}, {\"id\": 4}]}\n";

const char caption_results[] = "[{\"image_id\": 9, \"caption\": \"a ball\"},\n"
                               " {\"caption\": \"two \\\"red\\\" balls\", \"image_id\": 7},\n"
                               " {\"image_id\": 4, \"caption\": \"\"}]\n";

const char caption_scenes[] =
    "[{\"image_id\": 7, \"seed\": \"12\", \"objects\": [\n"
    " {\"shape\": \"ball\", \"color\": \"red\", \"material\": \"rubber\", \"size\": \"small\", "
    "\"position\": [-1.5, 0.25], \"radius\": 0.39, \"box\": [1, 2, 3, 4]},\n"
    " {\"shape\": \"cube\", \"color\": \"blue\", \"material\": \"metal\", \"size\": \"large\", "
    "\"position\": [2, 1], \"radius\": 0.64}]},\n"
    "{\"image_id\": 4, \"objects\": [\n"
    " {\"shape\": \"cone\", \"color\": \"red\", \"material\": \"metal\", \"size\": \"small\", "
    "\"position\": [0, 0], \"radius\": 0.43}]}]\n";

void caption_files_scenes(const char *path)
{
    support_write_text(path, caption_scenes);
}

void caption_files_karpathy(const char *path)
{
    support_write_text(path, caption_karpathy);
}

void caption_files_coco(const char *path)
{
    support_write_text(path, caption_coco);
}

void caption_files_results(const char *path)
{
    support_write_text(path, caption_results);
}

static void use(const vd_captions *captions)
{
    size_t letters = 0;
    for (size_t i = 0; i < captions->count; i++) {
        const vd_captioned *image = &captions->image[i];
        assert_true(image->image_id >= 0 && image->captions > 0 && image->split);
        for (int c = 0; c < image->captions; c++) {
            const vd_tokens words = image->caption[c].words;
            letters += strlen(image->caption[c].text);
            for (int w = 0; w < words.count; w++)
                letters += strlen(captions->words.words[words.id[w]].text);
        }
    }
    assert_true(vd_captions_total(captions) >= captions->count || letters);
}

vd_status caption_files_read(const char *path, vd_error *err)
{
    vd_captions *captions;
    vd_status status = vd_captions_read(path, &captions, err);
    assert_true((status == VD_OK) == (captions != NULL));
    if (captions)
        use(captions);
    vd_captions_free(captions);
    return status;
}

vd_status caption_files_read_results(const char *path, vd_error *err)
{
    vd_results *results;
    vd_status status = vd_results_read(path, &results, err);
    assert_true((status == VD_OK) == (results != NULL));
    for (size_t i = 0; results && i < results->count; i++)
        assert_ptr_equal(vd_results_find(results, results->list[i].image_id),
                         results->list[i].caption);
    vd_results_free(results);
    return status;
}

vd_status caption_files_read_scenes(const char *path, vd_error *err)
{
    blocks_scene *scenes;
    size_t count;
    blocks_claim claim;
    vd_status status = blocks_scenes_read(path, &scenes, &count, err);
    assert_true((status == VD_OK) == (scenes != NULL));
    assert_true(blocks_claim_read("a red thing is left of a blue thing", &claim));
    for (size_t i = 0; i < count; i++) {
        blocks_claim_judge(&claim, &scenes[i]);
        assert_ptr_equal(blocks_scenes_find(scenes, count, scenes[i].image_id), &scenes[i]);
    }
    vd_free(scenes);
    return status;
}
