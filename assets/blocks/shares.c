// How many scenes each claim is true of: tables by kind, filled in one pass over the scenes.
#include <math.h>
#include <stdint.h>

#include "assets/blocks/claim.h"
#include "engine/base/alloc.h"

// Kinds have numbers: the values from 0 on, "any" included, as digits.
enum {
    KINDS = (BLOCKS_COLORS + 1) * (BLOCKS_SHAPES + 1) * (BLOCKS_MATERIALS + 1) * (BLOCKS_SIZES + 1),
    MASKS = 1 << BLOCKS_ATTRIBUTES,
    COUNTS = BLOCKS_MAX + 1
};

struct blocks_shares {
    size_t scenes;
    uint32_t number[KINDS][COUNTS]; // scenes with so many of the kind
    uint32_t place[BLOCKS_DIRECTIONS][KINDS];
    // [0]: a k left of a j, [1]: in front of it; the other two directions are these turned around.
    uint32_t relation[2][KINDS][KINDS];
};

static int kind_number(blocks_kind kind)
{
    int number = 0;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        number = number * (blocks_values((blocks_attribute)a) + 1) + kind.value[a] + 1;
    return number;
}

// The kinds that an object is of.
typedef struct kinds {
    int of[MASKS];
} kinds;

static kinds kinds_of(const blocks_object *object)
{
    kinds k;
    for (unsigned mask = 0; mask < MASKS; mask++)
        k.of[mask] = kind_number(blocks_kind_of(object, mask));
    return k;
}

static void count_kinds(blocks_shares *s, const blocks_scene *scene, const kinds *object)
{
    int times[KINDS] = {0};
    for (int i = 0; i < scene->count; i++)
        for (int m = 0; m < MASKS; m++)
            times[object[i].of[m]]++;
    for (int k = 0; k < KINDS; k++)
        s->number[k][times[k]]++;
}

static void count_places(blocks_shares *s, const blocks_scene *scene, const kinds *object)
{
    for (int d = 0; d < BLOCKS_DIRECTIONS; d++) {
        int extreme = blocks_extreme(scene, blocks_all(scene), (blocks_direction)d);
        for (int m = 0; extreme >= 0 && m < MASKS; m++)
            s->place[d][object[extreme].of[m]]++;
    }
}

// last: the scene, from 1 on, that a pair of kinds was counted for last; pairs of objects of the
// same kinds are counted once.
static void count_relations(blocks_shares *s, const blocks_scene *scene, const kinds *object,
                            uint32_t (*last)[KINDS][KINDS], uint32_t now)
{
    static const blocks_direction toward[] = {BLOCKS_LEFT, BLOCKS_FRONT};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < scene->count; i++)
            for (int j = 0; j < scene->count; j++) {
                if (i == j || !blocks_lies(scene, i, toward[d], j))
                    continue;
                for (int pair = 0; pair < MASKS * MASKS; pair++) {
                    int k = object[i].of[pair / MASKS], l = object[j].of[pair % MASKS];
                    s->relation[d][k][l] += last[d][k][l] != now;
                    last[d][k][l] = now;
                }
            }
}

vd_status blocks_shares_new(const blocks_scene *scene, size_t count, blocks_shares **out,
                            vd_error *err)
{
    *out = NULL;
    if (count == 0 || count >= UINT32_MAX)
        return vd_error_set(err, VD_USAGE, "shares of %zu scenes; expected 1 or more", count);
    blocks_shares *s = vd_alloc(1, sizeof *s);
    uint32_t(*last)[KINDS][KINDS] = vd_alloc(2, sizeof *last);
    if (!s || !last) {
        vd_free(s);
        vd_free(last);
        return vd_error_memory(err, "the shares of claims");
    }
    s->scenes = count;
    for (size_t n = 0; n < count; n++) {
        kinds object[BLOCKS_MAX];
        for (int i = 0; i < scene[n].count; i++)
            object[i] = kinds_of(&scene[n].object[i]);
        count_kinds(s, &scene[n], object);
        count_places(s, &scene[n], object);
        count_relations(s, &scene[n], object, last, (uint32_t)n + 1);
    }
    vd_free(last);
    *out = s;
    return VD_OK;
}

void blocks_shares_free(blocks_shares *shares)
{
    vd_free(shares);
}

static double scenes_with(const blocks_shares *s, const blocks_claim *claim)
{
    int kind = kind_number(claim->kind), other = kind_number(claim->other);
    bool side = claim->direction == BLOCKS_LEFT || claim->direction == BLOCKS_RIGHT;
    bool turned = claim->direction == BLOCKS_RIGHT || claim->direction == BLOCKS_BEHIND;
    switch (claim->sort) {
    case BLOCKS_CLAIM_THERE:
        return (double)s->scenes - s->number[kind][0];
    case BLOCKS_CLAIM_ONE:
        return s->number[kind][1];
    case BLOCKS_CLAIM_COUNT:
        return claim->number < COUNTS ? s->number[kind][claim->number] : 0.0;
    case BLOCKS_CLAIM_PLACE:
        return s->place[claim->direction][kind];
    default:
        return s->relation[!side][turned ? other : kind][turned ? kind : other];
    }
}

double blocks_shares_bits(const blocks_shares *shares, const blocks_claim *claim)
{
    return log2((double)shares->scenes / fmax(1.0, scenes_with(shares, claim)));
}

double blocks_caption_bits(const blocks_shares *shares, const char *text, const blocks_scene *scene)
{
    blocks_claim claim;
    if (!blocks_claim_read(text, &claim) || blocks_claim_judge(&claim, scene) != BLOCKS_TRUE)
        return 0.0;
    return blocks_shares_bits(shares, &claim);
}
