#include "assets/blocks/claim.h"

#include "assets/blocks/caption.h"
#include "assets/blocks/state.h"

const char *const blocks_claim_names[BLOCKS_CLAIM_SORTS] = {
    [BLOCKS_CLAIM_THERE] = "there",       [BLOCKS_CLAIM_ONE] = "one",
    [BLOCKS_CLAIM_COUNT] = "count",       [BLOCKS_CLAIM_PLACE] = "place",
    [BLOCKS_CLAIM_RELATION] = "relation",
};

// ---- reading ------------------------------------------------------------------------------------

static blocks_letter noun(blocks_article article)
{
    return (blocks_letter){.slot = BLOCKS_NOUN, .article = article};
}

static blocks_letter reading_of(const char *pattern)
{
    return (blocks_letter){.slot = BLOCKS_PATTERN, .pattern = pattern};
}

static bool read_place(const char *text, blocks_claim *claim)
{
    char pattern[BLOCKS_PATTERN_ROOM];
    for (int d = 0; d < BLOCKS_DIRECTIONS; d++) {
        blocks_letter l[26] = {noun(BLOCKS_A), reading_of(blocks_caption_at[d])};
        blocks_caption_place((blocks_direction)d, pattern);
        if (!blocks_read(text, pattern, l))
            continue;
        *claim =
            (blocks_claim){BLOCKS_CLAIM_PLACE, l[0].kind, blocks_anything, 0, (blocks_direction)d};
        return true;
    }
    return false;
}

static bool read_one(const char *text, blocks_claim *claim)
{
    blocks_letter only[26] = {[2] = {.slot = BLOCKS_PREDICATE}};
    blocks_letter one[26] = {noun(BLOCKS_A), noun(BLOCKS_BARE)};
    if (blocks_read(text, blocks_caption_only, only))
        *claim = (blocks_claim){BLOCKS_CLAIM_ONE, only[2].kind, blocks_anything, 1, 0};
    else if (!blocks_read(text, blocks_caption_one, one))
        return false;
    else if (one[0].read)
        *claim = (blocks_claim){BLOCKS_CLAIM_THERE, one[0].kind, blocks_anything, 0, 0};
    else
        *claim = (blocks_claim){BLOCKS_CLAIM_ONE, one[1].kind, blocks_anything, 1, 0};
    return true;
}

static bool read_count(const char *text, blocks_claim *claim)
{
    blocks_letter l[26] = {{.slot = BLOCKS_NUMBER}, noun(BLOCKS_PLURAL)};
    if (!blocks_read(text, blocks_caption_all, l) && !blocks_read(text, blocks_caption_many, l))
        return false;
    *claim = (blocks_claim){BLOCKS_CLAIM_COUNT, l[1].read ? l[1].kind : blocks_anything,
                            blocks_anything, l[0].number, 0};
    return true;
}

static bool read_relation(const char *text, blocks_claim *claim)
{
    for (int d = 0; d < BLOCKS_DIRECTIONS; d++) {
        blocks_letter l[26] = {noun(BLOCKS_A), noun(BLOCKS_A),
                               reading_of(blocks_direction_words((blocks_direction)d))};
        if (!blocks_read(text, blocks_caption_relation, l))
            continue;
        *claim =
            (blocks_claim){BLOCKS_CLAIM_RELATION, l[0].kind, l[1].kind, 0, (blocks_direction)d};
        return true;
    }
    return false;
}

// Runs of blanks are one, none at the ends and before commas. False: it is too long.
static bool tidy(const char *text, char out[BLOCKS_TEXT])
{
    size_t used = 0;
    for (; *text; text++) {
        if (*text == ' ' && (used == 0 || out[used - 1] == ' '))
            continue;
        if (*text == ',' && used && out[used - 1] == ' ')
            used--;
        if (used + 1 == BLOCKS_TEXT)
            return false;
        out[used++] = *text;
    }
    while (used && out[used - 1] == ' ')
        used--;
    out[used] = 0;
    return used > 0;
}

bool blocks_claim_read(const char *text, blocks_claim *claim)
{
    char tidied[BLOCKS_TEXT];
    return tidy(text, tidied) && (read_place(tidied, claim) || read_one(tidied, claim) ||
                                  read_count(tidied, claim) || read_relation(tidied, claim));
}

// ---- judging ------------------------------------------------------------------------------------

static blocks_verdict beyond(const blocks_scene *scene, int a, blocks_direction direction, int b)
{
    return blocks_lies(scene, a, direction, b)              ? BLOCKS_TRUE
           : blocks_beyond_by(scene, a, direction, b) > 0.0 ? BLOCKS_DOUBTFUL
                                                            : BLOCKS_FALSE;
}

// The least of an object's verdicts against all others.
static blocks_verdict judge_extreme(const blocks_scene *scene, int object, blocks_direction d)
{
    blocks_verdict least = BLOCKS_TRUE;
    for (int i = 0; i < scene->count; i++) {
        blocks_verdict verdict = i == object ? BLOCKS_TRUE : beyond(scene, object, d, i);
        least = verdict < least ? verdict : least;
    }
    return least;
}

static blocks_verdict judge_place(const blocks_claim *claim, const blocks_scene *scene)
{
    blocks_verdict best = BLOCKS_FALSE;
    for (int i = 0; i < scene->count; i++) {
        if (!blocks_is(&scene->object[i], claim->kind))
            continue;
        blocks_verdict verdict = judge_extreme(scene, i, claim->direction);
        best = verdict > best ? verdict : best;
    }
    return best;
}

// The two objects of the best verdict; of equal ones the first.
static blocks_verdict find_related(const blocks_claim *claim, const blocks_scene *scene,
                                   blocks_evidence *found)
{
    blocks_verdict best = BLOCKS_FALSE;
    for (int i = 0; i < scene->count; i++)
        for (int j = 0; j < scene->count; j++) {
            if (i == j || !blocks_has(found->kinds, i) || !blocks_has(found->others, j))
                continue;
            blocks_verdict verdict = beyond(scene, i, claim->direction, j);
            if (found->one >= 0 && verdict <= best)
                continue;
            best = verdict;
            found->one = i;
            found->other = j;
        }
    return best;
}

static blocks_evidence all_of_kind(const blocks_claim *claim, const blocks_scene *scene)
{
    bool relation = claim->sort == BLOCKS_CLAIM_RELATION;
    return (blocks_evidence){blocks_find(scene, claim->kind),
                             relation ? blocks_find(scene, claim->other) : 0, -1, -1};
}

static blocks_verdict judge_relation(const blocks_claim *claim, const blocks_scene *scene)
{
    blocks_evidence found = all_of_kind(claim, scene);
    return find_related(claim, scene, &found);
}

blocks_evidence blocks_claim_evidence(const blocks_claim *claim, const blocks_scene *scene)
{
    blocks_evidence found = all_of_kind(claim, scene);
    if (claim->sort == BLOCKS_CLAIM_RELATION)
        find_related(claim, scene, &found);
    for (int i = 0; i < scene->count && claim->sort == BLOCKS_CLAIM_PLACE; i++)
        if (found.one < 0 || blocks_beyond_by(scene, i, claim->direction, found.one) > 0.0)
            found.one = i;
    return found;
}

blocks_verdict blocks_claim_judge(const blocks_claim *claim, const blocks_scene *scene)
{
    int count = blocks_number(scene, claim->kind);
    switch (claim->sort) {
    case BLOCKS_CLAIM_THERE:
        return count ? BLOCKS_TRUE : BLOCKS_FALSE;
    case BLOCKS_CLAIM_ONE:
        return count == 1 ? BLOCKS_TRUE : BLOCKS_FALSE;
    case BLOCKS_CLAIM_COUNT:
        return count == claim->number ? BLOCKS_TRUE : BLOCKS_FALSE;
    case BLOCKS_CLAIM_PLACE:
        return judge_place(claim, scene);
    default:
        return judge_relation(claim, scene);
    }
}

// ---- mentions -----------------------------------------------------------------------------------

static void mention(blocks_kind kind, const blocks_scene *scene, blocks_mentions *sums)
{
    int named = __builtin_popcount(blocks_kind_mask(kind)), most = 0;
    for (int i = 0; i < scene->count; i++) {
        int right = 0;
        for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
            right += kind.value[a] >= 0 &&
                     kind.value[a] == blocks_value(&scene->object[i], (blocks_attribute)a);
        most = right > most ? right : most;
    }
    sums->mentions += named > 0;
    sums->absent += most < named;
    sums->attributes += named;
    sums->wrong += named - most;
}

blocks_mentions blocks_claim_mentions(const blocks_claim *claim, const blocks_scene *scene)
{
    blocks_mentions sums = {0};
    mention(claim->kind, scene, &sums);
    if (claim->sort == BLOCKS_CLAIM_RELATION)
        mention(claim->other, scene, &sums);
    return sums;
}
