#include "assets/blocks/dialog.h"

#include "assets/blocks/talk.h"

// One kind of question: how it is made, how often it comes.
typedef enum {
    WHEN_ANY,  // needs nothing said before
    WHEN_LONE, // speaks of one thing, which would then be another "it"
    WHEN_IT,
    WHEN_THEY,
    WHEN_OTHER // refers to what was said in some other way
} when;

typedef struct question {
    when when;
    double weight;
    bool (*ask)(blocks_talk *, blocks_draft *);
    bool (*ask_about)(blocks_talk *, blocks_naming, blocks_draft *);
    blocks_naming naming;
} question;

static const question questions[] = {
    {WHEN_ANY, 17, blocks_ask_count, 0, 0},
    {WHEN_ANY, 3, blocks_ask_count_all, 0, 0},
    {WHEN_ANY, 22, blocks_ask_exist, 0, 0},
    {WHEN_ANY, 3, blocks_ask_number, 0, 0},
    {WHEN_ANY, 10, blocks_ask_all, 0, 0},
    {WHEN_ANY, 5, blocks_ask_more, 0, 0},
    {WHEN_ANY, 3, blocks_ask_which_more, 0, 0},
    {WHEN_ANY, 5.5, blocks_ask_absent, 0, 0},
    {WHEN_ANY, 1.5, blocks_ask_present, 0, 0},
    {WHEN_ANY, 1.2, blocks_ask_scene, 0, 0},
    {WHEN_ANY, 2.5, blocks_ask_no_such, 0, 0},
    {WHEN_LONE, 24, 0, blocks_ask_attribute, TARGET_NAMED},
    {WHEN_LONE, 12, 0, blocks_ask_verify, TARGET_NAMED},
    {WHEN_LONE, 8, 0, blocks_ask_attribute, TARGET_PLACE},
    {WHEN_LONE, 4, 0, blocks_ask_verify, TARGET_PLACE},
    {WHEN_LONE, 8, 0, blocks_ask_what, TARGET_PLACE},
    {WHEN_LONE, 4, 0, blocks_ask_attribute, TARGET_SIZE},
    {WHEN_LONE, 2, 0, blocks_ask_verify, TARGET_SIZE},
    {WHEN_LONE, 8, 0, blocks_ask_attribute, TARGET_NEIGHBOUR},
    {WHEN_LONE, 9, 0, blocks_ask_neighbour, TARGET_NAMED},
    {WHEN_LONE, 5, 0, blocks_ask_anything, TARGET_NAMED},
    {WHEN_LONE, 3, 0, blocks_ask_pair, TARGET_NAMED},
    {WHEN_LONE, 2, 0, blocks_ask_where, TARGET_NAMED},
    {WHEN_LONE, 4, 0, blocks_ask_same, TARGET_NAMED},
    {WHEN_LONE, 3, blocks_ask_bigger, 0, 0},
    {WHEN_LONE, 4, 0, blocks_ask_else, TARGET_NAMED},
    {WHEN_IT, 80, 0, blocks_ask_attribute, TARGET_IT},
    {WHEN_IT, 40, 0, blocks_ask_verify, TARGET_IT},
    {WHEN_IT, 6, 0, blocks_ask_what, TARGET_IT},
    {WHEN_IT, 12, 0, blocks_ask_neighbour, TARGET_IT},
    {WHEN_IT, 8, 0, blocks_ask_anything, TARGET_IT},
    {WHEN_IT, 3, 0, blocks_ask_pair, TARGET_IT},
    {WHEN_IT, 3, 0, blocks_ask_where, TARGET_IT},
    {WHEN_IT, 4, 0, blocks_ask_same, TARGET_IT},
    {WHEN_IT, 5, 0, blocks_ask_else, TARGET_IT},
    {WHEN_THEY, 45, blocks_ask_they_count, 0, 0},
    {WHEN_THEY, 40, blocks_ask_they_all, 0, 0},
    {WHEN_THEY, 25, blocks_ask_they_any, 0, 0},
    {WHEN_THEY, 20, blocks_ask_they_what, 0, 0},
    {WHEN_THEY, 4, blocks_ask_others, 0, 0},
    {WHEN_OTHER, 24, 0, blocks_ask_attribute, TARGET_THAT},
    {WHEN_OTHER, 12, 0, blocks_ask_verify, TARGET_THAT},
    {WHEN_OTHER, 0.6, 0, blocks_ask_attribute, TARGET_BEFORE},
    {WHEN_OTHER, 0.6, 0, blocks_ask_verify, TARGET_BEFORE},
    {WHEN_OTHER, 14, blocks_ask_and_attribute, 0, 0},
    {WHEN_OTHER, 8, blocks_ask_and_count, 0, 0},
    {WHEN_OTHER, 8, blocks_ask_and_exist, 0, 0},
};

enum { QUESTIONS = sizeof questions / sizeof *questions, ENOUGH = 3 };

static double weight_now(const blocks_talk *talk, const question *q)
{
    switch (q->when) {
    case WHEN_IT:
        return talk->it < 0 ? 0 : blocks_it_clear(talk) ? q->weight : 0.05 * q->weight;
    case WHEN_THEY:
        return !talk->they ? 0 : blocks_they_clear(talk) ? q->weight : 0.05 * q->weight;
    case WHEN_LONE:
        // First talk about what is clearly "it", then go on to others.
        return talk->it >= 0 && blocks_it_clear(talk) && talk->references < ENOUGH
                   ? 0.15 * q->weight
                   : q->weight;
    default:
        return q->weight;
    }
}

static bool said_before(const blocks_talk *talk, const blocks_draft *draft)
{
    for (int r = 1; r < talk->round; r++)
        if (talk->topics[r - 1] == draft->topic ||
            !strcmp(talk->dialog->round[r - 1].question, draft->text))
            return true;
    return false;
}

static void draw_question(blocks_talk *talk, blocks_draft *draft)
{
    double weight[QUESTIONS], total;
    for (;;) {
        total = 0;
        for (int i = 0; i < QUESTIONS; i++)
            total += weight[i] = weight_now(talk, &questions[i]);
        double draw = vd_rng_uniform(&talk->rng) * total;
        int i = 0;
        while (i < QUESTIONS - 1 && (draw -= weight[i]) >= 0)
            i++;
        const question *q = &questions[i];
        bool made = q->ask ? q->ask(talk, draft) : q->ask_about(talk, q->naming, draft);
        if (made && !said_before(talk, draft))
            return;
    }
}

// ---- what a question and its answer change
// --------------------------------------------------------

static void set_it(blocks_talk *talk, int object)
{
    if (talk->it >= 0 && talk->it != object)
        talk->before = talk->it;
    talk->it = object;
    talk->it_entry = talk->round;
    talk->singles |= (blocks_set)(1u << object);
    talk->last[object] = talk->round;
}

static void learn(blocks_talk *talk, const blocks_draft *draft, int answer)
{
    const blocks_meaning *m = &draft->meaning;
    for (int i = 0; i < talk->scene->count; i++)
        talk->known[i] |= draft->named[i];
    if (draft->about >= 0)
        talk->known[draft->about] |= blocks_answer_says(answer);
    bool polar = m->ask == ASK_ONE && m->attribute < BLOCKS_ATTRIBUTES;
    if (polar && (m->yes || blocks_values(m->attribute) == 2))
        talk->known[draft->about] |= 1u << m->attribute;
    if (draft->kind_told)
        blocks_tell(talk, draft->kind,
                    m->ask == ASK_COUNT || !m->objects ? blocks_size_of(m->objects)
                    : blocks_answer_number(answer) > 0 ? blocks_answer_number(answer)
                                                       : -1);
}

// Which object the words of question and answer bring up alone, -1 = none.
static int brought_up(const blocks_draft *draft, int answer)
{
    const blocks_meaning *m = &draft->meaning;
    int only = blocks_only(m->objects);
    if (draft->single >= 0)
        return draft->single;
    if (draft->kind_told && only >= 0) {
        bool told_one = m->ask == ASK_COUNT || !draft->plural || blocks_answer_says(answer) ||
                        blocks_answer_number(answer) == 1;
        return told_one ? only : -1;
    }
    return -1;
}

static void move_on(blocks_talk *talk, const blocks_draft *draft, int answer)
{
    const blocks_meaning *m = &draft->meaning;
    blocks_entry *entry = &talk->entry[talk->round];
    int one = brought_up(draft, answer);
    *entry = (blocks_entry){.object = draft->crowded ? -1 : one,
                            .ask = m->ask,
                            .attribute = m->attribute,
                            .kind = m->ask == ASK_VALUE ? draft->target : draft->kind};
    entry->value = m->ask == ASK_VALUE && m->objects;
    entry->count = m->ask == ASK_COUNT && draft->group && draft->kind_told;
    entry->exist = m->ask == ASK_THERE && draft->kind_told && draft->coreference == 0;
    entry->words = blocks_kind_words(draft->kind);
    for (int i = 0; i < talk->scene->count; i++)
        entry->words |= blocks_kind_words(blocks_kind_of(&talk->scene->object[i], draft->named[i]));
    if (draft->about >= 0)
        entry->words |= blocks_kind_words(
            blocks_kind_of(&talk->scene->object[draft->about], blocks_answer_says(answer)));
    if (draft->crowded) {
        // Several were named: nobody can say which one "it" would be.
        talk->it = -1;
        for (int i = 0; i < talk->scene->count; i++)
            if (draft->named[i])
                talk->singles |= (blocks_set)(1u << i);
        if (draft->about >= 0)
            talk->singles |= (blocks_set)(1u << draft->about);
    } else if (one >= 0) {
        set_it(talk, one);
    }
    if (draft->other_group) {
        talk->groups += 2; // no clear "they" any more
        talk->they = false;
    }
    bool many =
        blocks_size_of(m->objects) >= 2 && ((m->ask != ASK_THERE && m->ask != ASK_ANY) || m->yes);
    if (draft->group && many) {
        talk->groups +=
            !talk->they || talk->they_entry == 0 || !blocks_kind_same(talk->they_kind, draft->kind);
        talk->they = true;
        talk->they_kind = draft->kind;
        talk->they_entry = talk->round;
    }
}

// "is there": "yes, there is"; "are there": "yes, there are"; otherwise either.
static blocks_verb verb_of(const char *text)
{
    return !strncmp(text, "is ", 3) ? VERB_IS : !strncmp(text, "are ", 4) ? VERB_ARE : VERB_ANY;
}

void blocks_dialog_make(const blocks_scene *scene, blocks_dialog *dialog)
{
    blocks_talk talk = {.scene = scene, .dialog = dialog, .it = -1, .before = -1};
    talk.rng = vd_rng_seed(scene->seed ^ 0x6469616c6f67u, (uint64_t)scene->image_id);
    memset(dialog, 0, sizeof *dialog);
    for (int i = 0; i < BLOCKS_MAX; i++)
        talk.last[i] = -1;
    blocks_caption(&talk);
    for (talk.round = 1; talk.round <= BLOCKS_ROUNDS; talk.round++) {
        blocks_round *round = &dialog->round[talk.round - 1];
        blocks_draft draft;
        draw_question(&talk, &draft);
        draft.meaning.verb = verb_of(draft.text);
        snprintf(round->question, sizeof round->question, "%s", draft.text);
        round->family = draft.family;
        round->coreference = draft.coreference;
        round->answer = blocks_answer_draw(scene, &draft.meaning, &talk.rng);
        blocks_candidates(scene, &draft.meaning, &talk.rng, round);
        talk.topics[talk.round - 1] = draft.topic;
        talk.references += draft.coreference > 0;
        learn(&talk, &draft, round->answer);
        move_on(&talk, &draft, round->answer);
    }
}
