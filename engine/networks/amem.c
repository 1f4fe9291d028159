// Reasoning step by step with an attention memory: the steps of MAC (Hudson, Manning 2018;
// engine/networks/mac.c), and for every entry of the history a map of the regions that it is about
// (Seo et al. 2017), so that "it", "they" and "the other one" are recalled, not found again.
//
// w_s word states and q last states of the question, h_r last states of entry r (own: one
// layer of LSTMs, two directions each); regions x_n = W_2 elu(W_1 v_n) + W_0 v_n. Question t, steps
// i = 1..T, z = [c_i ; m_{i-1}]:
//   control  u = W_cq [c_{i-1} ; W_i q + b] + b, c_i = sum_s softmax_s(w_a . (u o w_s)) w_s
//   recall   a_r = softmax_r(w_h . elu(W_k h_r + age(t - r) + W_h z + b)), r <= t;
//            f = sum_r a_r f_r, what the entries were about; r' = sum_r a_r h_r
//   read     y_n = elu(K x_n o (1 + W_s z) + W_b z + W_f [f_n ; g_n] + (D v_n - D v) o W_d z),
//            two scores of elu(W_y y_n): p = softmax_n to choose, g = sigmoid to collect, so that
//            the network can count; v = sum_n p_n v_n is where the step before looked
//   write    m_i = W_w [sum_n p_n x_n ; sum_n g_n x_n ; r' ; m_{i-1} ; c_i] + b
// e = W elu(W [q ; m_T] + b) + b. Entry t + 1, which holds the question and its answer, is about
//   f_n = sigmoid(w . elu(F x_n o (1 + W_e [h ; m_T]) + W_g [h ; m_T] + W_m [f_n ; g_n ; p_n])),
// two such maps; the caption's comes from h_0 and m_0 alone. c_0, m_0 are trained.
// Attentions, index = step: question -> its words, rounds, regions (p).
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

enum { STEPS = 4, MAPS = 2, AGES = 12 };

static void declare(const vd_config *c, vd_layout *layout)
{
    int d = vd_width_even(c);
    const vd_init age = {VD_INIT_NORMAL, 0.1};
    vd_texts_declare(c, layout);
    vd_layout_linear(layout, "encoder.image.straight", c->region, d, true);
    vd_layout_linear(layout, "encoder.image.0", c->region, d, true);
    vd_layout_linear(layout, "encoder.image.2", d, d, true);
    for (int i = 0; i < vd_hops(c, STEPS); i++)
        vd_layout_linear(layout, vd_name_of("encoder.control.question.%d", i).text, d, d, true);
    vd_layout_add(layout, "encoder.control.start", "", false, 1, d, vd_init_zero());
    vd_layout_linear(layout, "encoder.control.join", 2 * d, d, true);
    vd_layout_score(layout, "encoder.control.score", d, false);
    vd_layout_linear(layout, "encoder.rounds.key", d, d, true);
    vd_layout_add(layout, "encoder.rounds.age", ".weight", false, AGES, d, age);
    vd_layout_linear(layout, "encoder.rounds.query", 2 * d, d, true);
    vd_layout_score(layout, "encoder.rounds.score", d, false);
    vd_layout_linear(layout, "encoder.regions.key", d, d, true);
    vd_layout_linear(layout, "encoder.regions.scale", 2 * d, d, true);
    vd_layout_linear(layout, "encoder.regions.shift", 2 * d, d, true);
    vd_layout_linear(layout, "encoder.regions.maps", MAPS + 1, d, true);
    vd_layout_linear(layout, "encoder.regions.difference", c->region, d, false);
    vd_layout_linear(layout, "encoder.regions.direction", 2 * d, d, true);
    vd_layout_linear(layout, "encoder.regions.mix", d, d, true);
    vd_layout_linear(layout, "encoder.regions.score", d, 2, true);
    vd_layout_add(layout, "encoder.memory.start", "", false, 1, d, vd_init_zero());
    vd_layout_linear(layout, "encoder.memory.write", 5 * d, d, true);
    vd_layout_linear(layout, "encoder.focus.key", d, d, true);
    vd_layout_linear(layout, "encoder.focus.scale", 2 * d, d, true);
    vd_layout_linear(layout, "encoder.focus.shift", 2 * d, d, true);
    vd_layout_linear(layout, "encoder.focus.maps", MAPS + 2, d, true);
    vd_layout_linear(layout, "encoder.focus.score", d, MAPS, true);
    vd_layout_linear(layout, "encoder.out.0", 2 * d, d, true);
    vd_layout_linear(layout, "encoder.out.2", d, c->hidden, true);
}

// ---- what does not change from round to round ---------------------------------------------------

typedef struct dialogs {
    vd_tape *tape;
    vd_inputs *in;
    int longest;                                  // rounds of the longest dialog
    int known;                                    // entries whose maps a chat has kept
    const vd_value *words, *q;                    // of all questions
    const vd_value *h, *recalls;                  // entries, and their keys
    const vd_value *x, *key, *difference, *focus; // regions
    const vd_value **map;                         // (longest + 1, MAPS): (K, 1) of each region
} dialogs;

// The maps that were made of earlier entries, and where those of this pass will be.
static void use_kept(dialogs *d, vd_memo *memo)
{
    int regions = d->in->region_start[1];
    d->known = memo->entries < d->longest ? memo->entries : d->longest;
    for (int i = 0; i < d->known * MAPS; i++)
        d->map[i] = vd_tape_constant(d->tape, VD_AXIS_REGIONS,
                                     memo->numbers + (size_t)i * (size_t)regions, regions, 1);
    memo->width = regions;
    memo->known = d->known * MAPS;
    memo->made = d->longest - d->known;
    memo->values = memo->made * MAPS;
    memo->value = d->map + memo->known;
}

static dialogs read_dialogs(vd_tape *tape, vd_inputs *in)
{
    dialogs d = {.tape = tape, .in = in};
    for (int b = 0; b < in->span->dialogs; b++) {
        int rounds = in->span->question_start[b + 1] - in->span->question_start[b];
        d.longest = rounds > d.longest ? rounds : d.longest;
    }
    d.q = vd_text_sentences(tape, in, vd_text_questions(in), 0);
    d.h = vd_text_sentences(tape, in, vd_text_entries(in), 0);
    d.words = in->states->question;
    d.recalls = vd_tape_linear(tape, d.h, "encoder.rounds.key");
    vd_value *x = vd_tape_map(tape, VD_ELU, vd_tape_linear(tape, in->raw, "encoder.image.0"));
    x = vd_tape_linear(tape, x, "encoder.image.2");
    d.x = vd_tape_add(tape, x, vd_tape_linear(tape, in->raw, "encoder.image.straight"));
    d.key = vd_tape_linear(tape, d.x, "encoder.regions.key");
    d.difference = vd_tape_linear(tape, in->raw, "encoder.regions.difference");
    d.focus = vd_tape_linear(tape, d.x, "encoder.focus.key");
    d.map = vd_arena_take(tape->arena, (size_t)(d.longest + 1) * MAPS, sizeof *d.map);
    if (!d.map)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the rounds of dialogs");
    else if (in->memo)
        use_kept(&d, in->memo);
    return d;
}

// ---- a round: one question of every dialog that has so many -------------------------------------

typedef struct round_rows {
    int t, rows;
    bool last;
    int *question, *dialog; // (rows)
    const vd_pairing *words, *entries, *regions;
    const vd_value *q, *recalls; // questions; keys of the entries that each sees, with their age
    const vd_value *recalled[MAPS], *collected, *chosen, *memory; // so far
} round_rows;

static const vd_pairing *look(const dialogs *d, const round_rows *r, vd_axis axis)
{
    vd_pair_group *group = vd_arena_take_raw(d->tape->arena, (size_t)r->rows, sizeof *group);
    for (int i = 0; i < r->rows && group; i++)
        group[i] =
            (vd_pair_group){.query = {i, 1}, .key = {vd_inputs_seen(d->in, axis, r->question[i])}};
    return vd_tape_pairing(d->tape, VD_AXIS_QUESTIONS, r->rows, axis, vd_inputs_rows(d->in, axis),
                           group, r->rows, "what the questions look at");
}

// The keys of the entries, pair by pair, and how long ago each was.
static vd_value *age_entries(const dialogs *d, const round_rows *r)
{
    const vd_pairing *p = r->entries;
    int *age = vd_arena_ints(d->tape->arena, (size_t)p->pairs), pair = 0;
    for (int i = 0; i < r->rows && age; i++)
        for (int left = p->group[i].key[0].count; left > 0; left--)
            age[pair++] = left <= AGES ? left - 1 : AGES - 1;
    vd_value *ages = vd_tape_choose(d->tape, vd_tape_vector(d->tape, "encoder.rounds.age.weight"),
                                    age, p->pairs, VD_AXIS_PAIRS);
    return vd_tape_add(d->tape, vd_tape_keys(d->tape, p, d->recalls), ages);
}

static vd_value *start(const dialogs *d, const round_rows *r, const char *name)
{
    return vd_tape_repeat(d->tape, vd_tape_vector(d->tape, name), r->rows, VD_AXIS_QUESTIONS);
}

static round_rows make_round(const dialogs *d, int t)
{
    const vd_geometry *span = d->in->span;
    round_rows r = {.t = t, .last = t == d->longest - 1};
    r.question = vd_arena_ints(d->tape->arena, (size_t)span->dialogs);
    r.dialog = vd_arena_ints(d->tape->arena, (size_t)span->dialogs);
    if (!r.question || !r.dialog) {
        vd_tape_fail(d->tape, VD_NO_MEMORY, "out of memory: the rounds of dialogs");
        return r;
    }
    for (int b = 0; b < span->dialogs; b++)
        if (span->question_start[b] + t < span->question_start[b + 1]) {
            r.question[r.rows] = span->question_start[b] + t;
            r.dialog[r.rows++] = b;
        }
    r.words = look(d, &r, VD_AXIS_QUESTION_WORDS);
    r.entries = look(d, &r, VD_AXIS_ENTRIES);
    r.regions = look(d, &r, VD_AXIS_REGIONS);
    if (d->tape->status != VD_OK)
        return r;
    r.q = vd_tape_choose(d->tape, d->q, r.question, r.rows, VD_AXIS_QUESTIONS);
    r.recalls = age_entries(d, &r);
    r.memory = start(d, &r, "encoder.memory.start");
    const vd_real *none = vd_arena_take(d->tape->arena, (size_t)r.regions->pairs, sizeof *none);
    r.collected = vd_tape_given_pairs(d->tape, r.regions, none);
    // Nothing was looked at before: all alike.
    r.chosen = vd_tape_softmax(d->tape, r.collected);
    for (int k = 0; k < MAPS; k++)
        r.recalled[k] = r.collected;
    return r;
}

// ---- maps ---------------------------------------------------------------------------------------

// f = sum_r a_r f_r.
static void recall(const dialogs *d, round_rows *r, const vd_value *a)
{
    vd_tape *tape = d->tape;
    for (int entry = 0; entry <= r->t && tape->status == VD_OK; entry++) {
        int *pair = vd_arena_ints(tape->arena, (size_t)r->rows); // the tape keeps it
        for (int i = 0; i < r->rows && pair; i++) {
            const vd_pair_group *g = &r->entries->group[i];
            pair[i] = entry < g->key[0].count ? g->at + entry : -1;
        }
        vd_value *weight = vd_tape_choose(tape, a, pair, r->rows, VD_AXIS_QUESTIONS);
        for (int k = 0; k < MAPS; k++) {
            vd_value *part = vd_tape_weigh(
                tape, vd_tape_keys(tape, r->regions, d->map[entry * MAPS + k]), weight);
            r->recalled[k] = entry ? vd_tape_add(tape, r->recalled[k], part) : part;
        }
    }
}

// What entry `entry` is about, from its words and from how the question in it was answered.
static void remember(dialogs *d, const round_rows *r, int entry)
{
    vd_tape *tape = d->tape;
    const vd_geometry *span = d->in->span;
    int regions = d->in->region_start[span->dialogs], pair = 0;
    int *row = vd_arena_ints(tape->arena, (size_t)r->rows);
    int *back = vd_arena_ints(tape->arena, (size_t)regions);
    for (int n = 0; n < regions && back; n++)
        back[n] = -1;
    for (int i = 0; i < r->rows && row && back; i++) {
        int b = r->dialog[i], at = span->entry_start[b] + entry;
        row[i] = at < span->entry_start[b + 1] ? at : -1;
        for (int n = d->in->region_start[b]; n < d->in->region_start[b + 1]; n++)
            back[n] = pair++;
    }
    vd_value *z = vd_tape_concat(tape, vd_tape_choose(tape, d->h, row, r->rows, VD_AXIS_QUESTIONS),
                                 r->memory);
    vd_value *y = vd_tape_products(tape, r->regions, vd_tape_linear(tape, z, "encoder.focus.scale"),
                                   d->focus);
    y = vd_tape_add(tape, y, vd_tape_keys(tape, r->regions, d->focus));
    y = vd_tape_add(
        tape, y, vd_tape_queries(tape, r->regions, vd_tape_linear(tape, z, "encoder.focus.shift")));
    const vd_value *const maps[] = {r->recalled[0], r->recalled[1], r->collected, r->chosen};
    vd_value *map = vd_tape_concat_all(tape, maps, MAPS + 2);
    y = vd_tape_add(tape, y, vd_tape_linear(tape, map, "encoder.focus.maps"));
    y = vd_tape_linear(tape, vd_tape_map(tape, VD_ELU, y), "encoder.focus.score");
    y = vd_tape_map(tape, VD_SIGMOID, y);
    for (int k = 0; k < MAPS && tape->status == VD_OK; k++)
        d->map[entry * MAPS + k] =
            vd_tape_choose(tape, vd_tape_columns(tape, y, k, 1), back, regions, VD_AXIS_REGIONS);
}

// ---- what people see of it ----------------------------------------------------------------------

static void explain_texts(const dialogs *d)
{
    const vd_explained stage = {
        .title = "Words, history and regions",
        .why = "The question and every entry of the history are read word by word. The numbers of "
               "each region become a vector of the same size.",
        .formula = {"q, w = read(question), h_r = read(entry r)",
                    "x_n = W_2 elu(W_1 v_n) + W_0 v_n"},
        .in = {{"v", "regions", d->in->raw}},
        .out = {{"q", "the question", d->q},
                {"h", "the entries of the history", d->h},
                {"x", "the regions", d->x}}};
    vd_tape_explain(d->tape, &stage);
}

static void explain_words(const dialogs *d, const vd_value *c, const vd_value *heard,
                          const vd_value *before)
{
    const vd_explained stage = {
        .title = "Words and history",
        .why = "Attention over the words of the question makes c, which says what this step looks "
               "for. With c and the memory so far, attention over the history recalls f, the "
               "regions that its entries were about. (c', m': of the step before; o: product "
               "number by number; age: a vector for how many rounds ago an entry was.)",
        .formula = {"u = W_u [c' ; W_i q + b_i] + b_u",
                    "c = sum_s softmax_s(w_c . (u o w_s)) w_s, z = [c ; m']",
                    "a_r = softmax_r(w_a . elu(W_h h_r + age + W_z z + b_z))",
                    "h = sum_r a_r h_r, f_n = sum_r a_r f_rn"},
        .in = {{"q", "the question", d->q}, {"m'", "the memory so far", before}},
        .out = {{"c", "what this step looks for", c}, {"h", "recalled from the history", heard}}};
    vd_tape_explain(d->tape, &stage);
}

static void explain_regions(const dialogs *d, const round_rows *r, const vd_value *const found[5])
{
    const vd_explained stage = {
        .title = "Regions",
        .why = "Each region is compared with what this step looks for, with what was recalled, "
               "and with v, the region chosen in the step before. One region is chosen (the "
               "shares p add up to 1), and any number are collected (each g from 0 to 1), so that "
               "they can be counted.",
        .formula = {"y_n = elu(W_x x_n o (1 + W_1 z) + W_2 z + W_f [f_n ; g'_n] + b_y",
                    "    + (W_v v_n - W_v v) o W_3 z)",
                    "p = softmax_n(w_p . elu(W_y y_n)), g_n = sigmoid(w_g . elu(W_y y_n))",
                    "m = W_m [sum_n p_n x_n ; sum_n g_n x_n ; h ; m' ; c] + b_m"},
        .in = {{"c", "what this step looks for", found[4]},
               {"h", "recalled from the history", found[2]},
               {"m'", "the memory so far", found[3]}},
        .out = {{"p x", "the chosen region", found[0]},
                {"g x", "the collected regions", found[1]},
                {"m", "the memory after this step", r->memory}},
        .gate = {"collected", "each region by itself", r->collected}};
    vd_tape_explain(d->tape, &stage);
}

// ---- steps --------------------------------------------------------------------------------------

// The attention of the newest question is what people see and can make even.
static vd_value *attend(const dialogs *d, const round_rows *r, const vd_value *scores,
                        const char *name, int step)
{
    return r->last ? vd_tape_attend(d->tape, scores, name, step) : vd_tape_softmax(d->tape, scores);
}

static vd_value *control(const dialogs *d, const round_rows *r, const vd_value *before, int step)
{
    static const vd_scoring score = {.own = VD_SCORE_PRODUCT, .name = "encoder.control.score"};
    vd_tape *tape = d->tape;
    vd_value *u = vd_tape_concat(
        tape, before,
        vd_tape_linear(tape, r->q, vd_name_of("encoder.control.question.%d", step).text));
    u = vd_tape_linear(tape, u, "encoder.control.join");
    vd_value *s = vd_score_pairs(tape, score, r->words, u, d->words, 0);
    return vd_tape_mix(tape, attend(d, r, s, "question-words", step), d->words);
}

// r', and the maps of what it is about.
static vd_value *read_entries(const dialogs *d, round_rows *r, const vd_value *z, int step)
{
    vd_tape *tape = d->tape;
    vd_value *y =
        vd_tape_queries(tape, r->entries, vd_tape_linear(tape, z, "encoder.rounds.query"));
    y = vd_tape_map(tape, VD_ELU, vd_tape_add(tape, r->recalls, y));
    vd_value *a = attend(d, r, vd_tape_linear(tape, y, "encoder.rounds.score"), "rounds", step);
    recall(d, r, a);
    return vd_tape_mix(tape, a, d->h);
}

// (D v_n - D v) o W_d z.
static vd_value *compare_places(const dialogs *d, const round_rows *r, const vd_value *z)
{
    vd_tape *tape = d->tape;
    vd_value *before = vd_tape_mix(tape, r->chosen, d->difference);
    before = vd_tape_queries(tape, r->regions, vd_tape_scale(tape, before, -1));
    vd_value *by = vd_tape_add(tape, vd_tape_keys(tape, r->regions, d->difference), before);
    by->pairing = r->regions;
    return vd_tape_products(tape, r->regions, vd_tape_linear(tape, z, "encoder.regions.direction"),
                            by);
}

static void read_regions(const dialogs *d, round_rows *r, const vd_value *z, int step)
{
    vd_tape *tape = d->tape;
    vd_value *y = vd_tape_products(tape, r->regions,
                                   vd_tape_linear(tape, z, "encoder.regions.scale"), d->key);
    y = vd_tape_add(tape, y, vd_tape_keys(tape, r->regions, d->key));
    vd_value *shift = vd_tape_linear(tape, z, "encoder.regions.shift");
    y = vd_tape_add(tape, y, vd_tape_queries(tape, r->regions, shift));
    const vd_value *const maps[] = {r->recalled[0], r->recalled[1], r->collected};
    vd_value *map = vd_tape_concat_all(tape, maps, MAPS + 1);
    y = vd_tape_add(tape, y, vd_tape_linear(tape, map, "encoder.regions.maps"));
    y = vd_tape_add(tape, y, compare_places(d, r, z));
    y = vd_tape_linear(tape, vd_tape_map(tape, VD_ELU, y), "encoder.regions.mix");
    y = vd_tape_linear(tape, vd_tape_map(tape, VD_ELU, y), "encoder.regions.score");
    vd_value *s = vd_tape_columns(tape, y, 0, 1), *g = vd_tape_columns(tape, y, 1, 1);
    s->pairing = g->pairing = r->regions;
    r->chosen = attend(d, r, s, "regions", step);
    g = vd_tape_map(tape, VD_SIGMOID, g);
    g->pairing = r->regions;
    r->collected = g;
}

static vd_value *answer(const dialogs *d, round_rows *r)
{
    vd_tape *tape = d->tape;
    const vd_value *c = start(d, r, "encoder.control.start");
    for (int i = 0; i < vd_hops(d->in->config, STEPS) && tape->status == VD_OK; i++) {
        c = control(d, r, c, i);
        const vd_value *z = vd_tape_concat(tape, c, r->memory);
        const vd_value *heard = read_entries(d, r, z, i);
        if (r->last)
            explain_words(d, c, heard, r->memory);
        read_regions(d, r, z, i);
        const vd_value *const found[] = {vd_tape_mix(tape, r->chosen, d->x),
                                         vd_tape_mix(tape, r->collected, d->x), heard, r->memory,
                                         c};
        r->memory =
            vd_tape_linear(tape, vd_tape_concat_all(tape, found, 5), "encoder.memory.write");
        if (r->last)
            explain_regions(d, r, found);
    }
    vd_value *e = vd_tape_dropout(tape, vd_tape_concat(tape, r->q, r->memory), d->in->dropout);
    e = vd_tape_map(tape, VD_ELU, vd_tape_linear(tape, e, "encoder.out.0"));
    e = vd_tape_linear(tape, e, "encoder.out.2");
    if (r->last)
        vd_explain_vector(tape, "e = W_2 elu(W_1 [q ; m] + b_1) + b_2", r->q,
                          (vd_named){"m", "the memory", r->memory}, e);
    return e;
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    dialogs d = read_dialogs(tape, in);
    vd_value *all = NULL;
    int *of_question = vd_arena_ints(tape->arena, (size_t)in->span->questions), rows = 0;
    for (int n = 0; n < in->span->questions && of_question; n++)
        of_question[n] = -1;
    // How the last question was answered says what the entry after it is about.
    for (int t = d.known ? d.known - 1 : 0; t < d.longest && tape->status == VD_OK; t++) {
        round_rows r = make_round(&d, t);
        if (tape->status != VD_OK)
            break;
        if (t == 0 && !d.known)
            remember(&d, &r, 0);
        if (r.last)
            explain_texts(&d);
        vd_value *e = answer(&d, &r);
        for (int i = 0; i < r.rows && of_question && tape->status == VD_OK; i++)
            of_question[r.question[i]] = rows++;
        if (!r.last)
            remember(&d, &r, t + 1);
        all = all ? vd_tape_stack(tape, all, e) : e;
    }
    // In the order of the questions; zeros of those that were not asked again.
    return all ? vd_tape_choose(tape, all, of_question, in->span->questions, VD_AXIS_QUESTIONS)
               : &tape->nothing;
}

const vd_encoder vd_encoder_amem = {.name = "amem",
                                    .title = "reasoning steps with an attention memory",
                                    .reads_earlier = true,
                                    .text = &vd_text_bilstm_layer,
                                    .reads = "hops dropout",
                                    .declare = declare,
                                    .build = build,
                                    .question_width = vd_width_even,
                                    .part = "step"};
