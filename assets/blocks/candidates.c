// The answer of a round, and its candidates.
#include "assets/blocks/answers.h"

#include <string.h>

// How likely people are to answer such a question in this form; 0: never. What the question asks
// decides, not what is true, so that the candidates do not reveal the answer.
// clang-format off
static const float form_weight[BLOCKS_ASKS][BLOCKS_FORMS] = {
    [ASK_THERE] = {[FORM_YES] = 10, [FORM_YES_THERE] = 2, [FORM_YES_ONE] = 6, [FORM_YES_COUNT] = 3,
        [FORM_NO] = 10, [FORM_NO_THERE] = 4, [FORM_NO_BLOCKS] = 1},
    [ASK_ANOTHER] = {[FORM_YES] = 10, [FORM_YES_THERE] = 3, [FORM_YES_ONE] = 2,
        [FORM_YES_MORE] = 3, [FORM_NO] = 10, [FORM_NO_THERE] = 3, [FORM_NO_MORE] = 3},
    [ASK_ANY] = {[FORM_YES] = 10, [FORM_YES_ONE] = 2, [FORM_YES_COUNT] = 5, [FORM_NO] = 10,
        [FORM_NO_NONE] = 4},
    [ASK_ONE] = {[FORM_YES] = 10, [FORM_YES_IT] = 2, [FORM_YES_VALUE] = 0.7f, [FORM_NO] = 9,
        [FORM_NO_IT] = 1.5f, [FORM_NO_VALUE] = 2, [FORM_NO_SIDE] = 1.5f},
    [ASK_ALL] = {[FORM_YES] = 8, [FORM_YES_THEY] = 2, [FORM_YES_ALL] = 1, [FORM_NO] = 8,
        [FORM_NO_THEY] = 1, [FORM_NO_ALL] = 1, [FORM_NO_SOME] = 1, [FORM_NO_NONE] = 1},
    [ASK_SAME] = {[FORM_YES] = 8, [FORM_YES_THEY] = 2, [FORM_NO] = 8, [FORM_NO_THEY] = 1,
        [FORM_NO_DIFFERENT] = 2},
    [ASK_POLAR] = {[FORM_YES] = 1, [FORM_NO] = 1},
    [ASK_COUNT] = {[FORM_COUNT] = 1},
    [ASK_VALUE] = {[FORM_VALUE] = 1, [FORM_NO_SUCH] = 1},
    [ASK_SHARED] = {[FORM_VALUE] = 3, [FORM_SHARED] = 2, [FORM_LIST] = 3, [FORM_DIFFERENT] = 2,
        [FORM_MORE] = 3},
    [ASK_WHICH] = {[FORM_A] = 6, [FORM_THE] = 2, [FORM_VALUE] = 2, [FORM_NOTHING] = 1},
    [ASK_CHOICE] = {[FORM_A] = 0.5f, [FORM_THE] = 8, [FORM_VALUE] = 0.5f, [FORM_BOTH] = 8,
        [FORM_PLACE] = 4, [FORM_SIDE] = 0.5f},
    [ASK_WHERE] = {[FORM_PLACE] = 1, [FORM_SIDE] = 0.2f},
    [ASK_SIDE] = {[FORM_PLACE] = 1, [FORM_SIDE] = 2},
    [ASK_MOST] = {[FORM_VALUE] = 3, [FORM_MORE] = 1},
    [ASK_MORE] = {[FORM_MORE] = 1, [FORM_SAME] = 1},
    [ASK_EXTENT] = {[FORM_EXTENT] = 1},
    [ASK_ASPECT] = {[FORM_ASPECT] = 4, [FORM_DIFFERENT] = 2, [FORM_NOTHING] = 1},
    [ASK_SCENE] = {[FORM_SCENE] = 1, [FORM_TELL] = 1, [FORM_SHARED] = 1, [FORM_LIST] = 3},
};
// clang-format on

// The same for one answer of the form.
static float answer_weight(const blocks_meaning *m, const blocks_answer *a)
{
    float weight = form_weight[m->ask][a->form] * a->weight;
    unsigned says = a->named;
    bool about = m->attribute < BLOCKS_ATTRIBUTES && says >> m->attribute & 1;
    if ((m->ask == ASK_WHICH || m->ask == ASK_CHOICE) && a->form == FORM_VALUE)
        about = says == 1u << BLOCKS_SHAPE;
    bool must = a->form == FORM_VALUE || a->form == FORM_SHARED || a->form == FORM_YES_VALUE ||
                a->form == FORM_NO_VALUE || a->form == FORM_LIST ||
                (a->form == FORM_MORE && (m->ask == ASK_SHARED || m->ask == ASK_MOST));
    if ((a->form == FORM_NO_DIFFERENT && a->number != (int)m->attribute) ||
        (a->form == FORM_NO_SIDE && m->toward < 0))
        return 0;
    // "what shape are they": "cubes", not "cube".
    bool one =
        m->ask == ASK_SHARED && a->form == FORM_VALUE && (a->it || m->attribute == BLOCKS_SHAPE);
    return one || (must && !about) ? 0 : weight;
}

int blocks_answer_draw(const blocks_scene *scene, const blocks_meaning *meaning, vd_rng *rng)
{
    int drawn = -1;
    float total[BLOCKS_FORMS] = {0}, all = 0;
    float weight[ANSWERS_MAX];
    int count = blocks_answer_count();
    // A form first, by its own weight, so that a form with many true members is not favoured.
    for (int i = 0; i < count; i++) {
        const blocks_answer *a = blocks_answer_at(i);
        weight[i] = answer_weight(meaning, a);
        // "is there a red ball": "yes, a red one" would be true and dull.
        if (a->form == FORM_YES_ONE && !(a->named & ~meaning->given))
            weight[i] = 0;
        if (weight[i] > 0 && blocks_relevance(scene, meaning, i) < 1)
            weight[i] = 0;
        total[a->form] += weight[i];
    }
    for (int f = 0; f < BLOCKS_FORMS; f++)
        all += total[f] > 0 ? form_weight[meaning->ask][f] : 0;
    float at_form = (float)vd_rng_uniform(rng) * all;
    blocks_form chosen = FORM_YES;
    for (int f = 0; f < BLOCKS_FORMS; f++) {
        if (total[f] <= 0)
            continue;
        chosen = (blocks_form)f;
        at_form -= form_weight[meaning->ask][f];
        if (at_form < 0)
            break;
    }
    float draw = (float)vd_rng_uniform(rng) * total[chosen];
    for (int i = 0; i < count; i++) {
        if (blocks_answer_at(i)->form != chosen || weight[i] <= 0)
            continue;
        drawn = i;
        draw -= weight[i];
        if (draw < 0)
            break;
    }
    return drawn;
}

// ---- candidates -------------------------------------------------------------------------------

// The first `take` become a random choice of all, in random order.
static void shuffle(vd_rng *rng, int *list, int count, int take)
{
    for (int i = 0; i < take; i++) {
        int j = i + vd_rng_below(rng, count - i), t = list[i];
        list[i] = list[j];
        list[j] = t;
    }
}

// Answers that any question may get.
static bool popular(const blocks_answer *a)
{
    if (a->form == FORM_COUNT)
        return a->weight >= 8 && a->number <= 5;
    return a->form == FORM_YES || a->form == FORM_YES_THERE || a->form == FORM_YES_IT ||
           a->form == FORM_NO || a->form == FORM_NO_IT;
}

// As VisDial's: the truth, plausible answers to such a question, popular ones, random ones. All
// that could answer the question are in, whatever is true, as far as there is room. Room is kept
// for answers of every other kind: a network that never meets them as wrong answers does not learn
// that they are, and gives a color where the whole pool is ranked and a thing was asked for. Long
// lists, more than all other answers to their questions, get ten places.
void blocks_candidates(const blocks_scene *scene, const blocks_meaning *meaning, vd_rng *rng,
                       blocks_round *round)
{
    static const int kept[] = {89, 40, 32, 0}; // room for the tiers that follow
    int tier[4][ANSWERS_MAX], size[4] = {0}, count = blocks_answer_count(), n = 0;
    for (int i = 0; i < count; i++) {
        if (i == round->answer)
            continue;
        const blocks_answer *a = blocks_answer_at(i);
        bool fits = answer_weight(meaning, a) > 0;
        int t = fits ? __builtin_popcount(a->listed) <= 3 : popular(a) ? 2 : 3;
        tier[t][size[t]++] = i;
    }
    round->options[n++] = round->answer;
    for (int t = 0; t < 4; t++) {
        int room = BLOCKS_CANDIDATES - kept[t] - n;
        int take = size[t] < room ? size[t] : room;
        shuffle(rng, tier[t], size[t], take);
        memcpy(round->options + n, tier[t], (size_t)take * sizeof *tier[t]);
        n += take;
    }
    shuffle(rng, round->options, BLOCKS_CANDIDATES, BLOCKS_CANDIDATES);
    for (int i = 0; i < BLOCKS_CANDIDATES; i++) {
        if (round->options[i] == round->answer)
            round->truth = i;
        round->relevance[i] = blocks_relevance(scene, meaning, round->options[i]);
    }
}
