#include "engine/networks/dialog_tokens.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "engine/networks/parts.h"

// ---- one sequence -------------------------------------------------------------------------------

// The token sequences of the dialogs so far, on the host.
typedef struct builder {
    const vd_inputs *in;
    int rows, words, positions; // rows: the kept ones count
    int kept;                   // rows of the one dialog that a chat has kept
    int *from, *id, *position;  // vd_dialog_tokens
    int *before, *next;         // the same
    int *origin;                // column of vd_dialog_tokens.rollout, -1: it has none
    vd_pair_group *group;       // (dialogs + words) the regions of each dialog, then each word
    int *last;                  // (N) group of a question's last word, -1: it has none
    vd_pair_group *seen;        // (N) vd_dialog_tokens
    int first, regions;         // of the dialog at hand: its first row, its regions
    int most_regions;           // of a dialog
    int columns;                // of vd_dialog_tokens.rollout
} builder;

static void add_regions(builder *s, int b)
{
    const int *start = s->in->region_start;
    s->first = s->rows;
    s->regions = start[b + 1] - start[b];
    if (s->kept) { // their group has no queries
        s->rows += s->regions;
        return;
    }
    const vd_range all = {s->first, s->regions};
    s->group[b] = (vd_pair_group){.query = all, .key = {all}};
    for (int k = start[b]; k < start[b + 1]; k++) {
        s->origin[s->rows] = k - start[b];
        s->from[s->rows++] = k;
    }
}

enum {
    TOGETHER = 32,
    ENTRIES = 16 // a rollout has columns for a multiple of so many: kept rows stay as wide
};

// Rows have room for a multiple of so many keys, which makes one block of as many words.
static int room_for(int keys)
{
    return (keys + TOGETHER - 1) / TOGETHER * TOGETHER;
}

// Words that see the first `seen` rows of their dialog, and those from row `at` up to themselves.
static void add_words(builder *s, const vd_packed *text, int sequence, int seen, int at, int origin)
{
    int dialogs = s->in->span->dialogs, regions = s->kept ? 0 : s->in->region_start[dialogs];
    for (int i = text->start[sequence]; i < text->start[sequence + 1]; i++, s->words++) {
        int row = s->rows++ - s->kept;
        const vd_range before = {s->first, seen}, own = {at, s->rows - at};
        int position = seen + own.count - 1 - s->regions;
        s->id[s->words] = text->id[i];
        s->position[s->words] = position < s->positions ? position : s->positions - 1;
        s->before[s->words] = position == 0 ? -1 : own.count > 1 ? row - 1 : s->first + seen - 1;
        s->next[s->words] = position == 0 ? -1 : text->id[i];
        s->group[dialogs + s->words] = (vd_pair_group){
            .query = {row, 1}, .key = {before, own}, .stride = room_for(seen + own.count)};
        s->origin[row] = origin;
        s->from[row] = regions + s->words;
    }
}

static bool begins_with(const vd_packed *entries, int entry, const vd_packed *questions, int n)
{
    size_t words = (size_t)questions->length[n];
    return questions->length[n] <= entries->length[entry] &&
           memcmp(entries->id + entries->start[entry], questions->id + questions->start[n],
                  words * sizeof *questions->id) == 0;
}

// first: the group of the dialog's first word.
static void add_question(builder *s, int b, int n, int first)
{
    const vd_geometry *span = s->in->span;
    const vd_packed *questions = s->in->question_words, *entries = s->in->history_words;
    int heard = vd_inputs_seen(s->in, VD_AXIS_HISTORY_WORDS, n).count,
        next = span->entry_start[b] + span->seen[n];
    vd_range *seen = s->seen[n].key;
    seen[0] = (vd_range){s->first, s->regions + heard};
    seen[1] = (vd_range){s->first + s->regions + heard, questions->length[n]};
    if (next < span->entry_start[b + 1] && begins_with(entries, next, questions, n)) {
        s->last[n] = first + heard + questions->length[n] - 1;
    } else {
        seen[1].first = s->rows;
        add_words(s, questions, n, s->regions + heard, s->rows, -1);
        s->last[n] = span->dialogs + s->words - 1;
    }
    if (questions->length[n] == 0)
        s->last[n] = -1;
}

static void add_dialog(builder *s, int b)
{
    const vd_geometry *span = s->in->span;
    int first = span->dialogs + s->words;
    add_regions(s, b);
    for (int r = span->entry_start[b]; r < span->entry_start[b + 1]; r++)
        if (s->kept > s->rows)
            s->rows += s->in->history_words->length[r];
        else
            add_words(s, s->in->history_words, r, 0, s->first,
                      s->most_regions + r - span->entry_start[b]);
    for (int n = span->question_start[b]; n < span->question_start[b + 1]; n++)
        add_question(s, b, n, first);
}

static bool take_builder(builder *s, vd_arena *arena)
{
    const vd_inputs *in = s->in;
    size_t words = (size_t)(in->history_words->tokens + in->question_words->tokens);
    size_t dialogs = (size_t)in->span->dialogs;
    s->from = vd_arena_ints(arena, words + (size_t)in->region_start[dialogs]);
    s->origin = vd_arena_ints(arena, words + (size_t)in->region_start[dialogs]);
    s->id = vd_arena_ints(arena, words);
    s->position = vd_arena_ints(arena, words);
    s->before = vd_arena_ints(arena, words);
    s->next = vd_arena_ints(arena, words);
    s->last = vd_arena_ints(arena, (size_t)in->span->questions);
    s->seen = vd_arena_take(arena, (size_t)in->span->questions, sizeof *s->seen);
    s->group = vd_arena_take(arena, words + dialogs, sizeof *s->group);
    for (int b = 0; b < in->span->dialogs; b++) {
        int regions = in->region_start[b + 1] - in->region_start[b];
        s->most_regions = regions > s->most_regions ? regions : s->most_regions;
    }
    s->columns = s->most_regions + (in->span->most + ENTRIES - 1) / ENTRIES * ENTRIES;
    return !arena->failed;
}

// Of a question, what its last word sees: the regions first, then the entries' words.
static const vd_pair_group *last_group(const vd_dialog_tokens *d, int n)
{
    return &d->sees->group[d->last[n]];
}

static const int *list_questions(const vd_dialog_tokens *d)
{
    int questions = d->in->span->questions;
    int *row = vd_arena_ints(d->tape->arena, (size_t)questions);
    for (int n = 0; n < questions && row; n++)
        row[n] = d->last[n] < 0 ? -1 : last_group(d, n)->query.first;
    return vd_arena_upload(d->tape->arena, row, (size_t)questions, sizeof *row);
}

// ---- what questions see -------------------------------------------------------------------------

// Which of the keys of question n's last word they are.
static vd_range keys_of(const vd_dialog_tokens *d, int n, vd_usual_pairing sight)
{
    int regions = vd_inputs_seen(d->in, VD_AXIS_REGIONS, n).count,
        heard = vd_inputs_seen(d->in, VD_AXIS_HISTORY_WORDS, n).count;
    return sight == VD_SEES_REGIONS ? (vd_range){0, regions}
           : sight == VD_SEES_HISTORY_WORDS
               ? (vd_range){regions, heard}
               : (vd_range){regions + heard, d->in->question_words->length[n]};
}

// p: questions and regions, or words.
static vd_token_look find_pairs(const vd_dialog_tokens *d, vd_usual_pairing sight)
{
    const vd_pairing *p = vd_inputs_pairing(d->tape, d->in, sight);
    size_t count = p ? (size_t)d->heads * (size_t)p->pairs : 0;
    int *pair = vd_arena_ints(d->tape->arena, count), *at = pair;
    for (int h = 0; h < d->heads && p && pair; h++)
        for (int n = 0; n < d->in->span->questions; n++) {
            vd_range keys = keys_of(d, n, sight);
            int first = h * d->sees->pairs + keys.first;
            for (int k = 0; k < keys.count; k++)
                *at++ = d->last[n] < 0 ? -1 : first + last_group(d, n)->at + k;
        }
    return (vd_token_look){p, vd_arena_upload(d->tape->arena, pair, count, sizeof *pair)};
}

// For each entry that a question sees, 1 for each of its words.
static const vd_value *sum_entries(const vd_dialog_tokens *d)
{
    const vd_pairing *rounds = vd_inputs_pairing(d->tape, d->in, VD_SEES_ROUNDS);
    const vd_pairing *words = d->at_words.p;
    const vd_packed *text = d->in->history_words;
    size_t pairs = rounds && words ? (size_t)rounds->pairs : 0;
    vd_pair_group *group = vd_arena_take(d->tape->arena, pairs, sizeof *group);
    for (int pair = 0, n = 0; pair < (int)pairs && group; n++)
        for (int r = 0, at = words->group[n].at; r < rounds->group[n].key[0].count; r++, pair++) {
            int length = text->length[rounds->group[n].key[0].first + r];
            group[pair] = (vd_pair_group){.query = {pair, 1}, .key = {{at, length}}};
            at += length;
        }
    return vd_ones(d->tape,
                   vd_pairing_make(d->tape->arena, VD_AXIS_PAIRS, (int)pairs, VD_AXIS_PAIRS,
                                   words ? words->pairs : 0, group, (int)pairs));
}

// Each token is made of itself.
static const vd_value *begin_rollout(const vd_dialog_tokens *d, const builder *s)
{
    int columns = s->columns;
    size_t n = (size_t)columns * (size_t)columns;
    vd_real *one = vd_arena_take(d->tape->arena, n, sizeof *one);
    for (int i = 0; i < columns && one; i++)
        one[(size_t)i * (size_t)columns + (size_t)i] = 1;
    const vd_value *ones = vd_tape_given(d->tape, VD_AXIS_NONE, one, columns, columns);
    return vd_tape_choose(d->tape, ones, s->origin, d->rows, VD_AXIS_NONE);
}

// Lists for the backend, once all dialogs are there; those that memory was out for are NULL.
static void make_lists(vd_dialog_tokens *d, const builder *s)
{
    vd_arena *arena = d->tape->arena;
    size_t words = (size_t)s->words, int_size = sizeof *s->id;
    d->from = vd_arena_upload(arena, s->from, (size_t)d->rows, int_size);
    d->id = vd_arena_upload(arena, s->id, words, int_size);
    d->position = vd_arena_upload(arena, s->position, words, int_size);
    d->question = list_questions(d);
    if (d->in->next_word != 0) {
        d->before = vd_arena_upload(arena, s->before, words, int_size);
        d->next = vd_arena_upload(arena, s->next, words, int_size);
    }
    if (!d->shown)
        return;
    d->at_regions = find_pairs(d, VD_SEES_REGIONS);
    d->at_words = find_pairs(d, VD_SEES_HISTORY_WORDS);
    d->at_own = find_pairs(d, VD_SEES_OWN_WORDS);
    d->sum = sum_entries(d);
    d->rollout = begin_rollout(d, s);
}

// What a chat has kept: the regions, and the words of some entries.
static void use_memo(vd_dialog_tokens *d, builder *s, int layers)
{
    vd_memo *memo = d->in->memo;
    int width = layers * (2 * d->in->config->embed + s->columns);
    if (!memo)
        return;
    d->made = vd_arena_take(d->tape->arena, 3 * (size_t)layers, sizeof *d->made);
    if (memo->width != width || d->in->question_words->tokens == 0)
        memo->entries = 0;
    memo->width = width;
    if (memo->entries)
        d->kept = s->kept = d->in->region_start[1] + d->in->history_words->start[memo->entries];
    d->memory = vd_tape_constant(d->tape, VD_AXIS_NONE, memo->numbers, d->kept, width);
}

bool vd_dialog_tokens_make(vd_tape *tape, vd_inputs *in, const vd_dialog_sizes *sizes,
                           vd_dialog_tokens *out)
{
    builder s = {.in = in, .positions = sizes->positions};
    *out = (vd_dialog_tokens){.tape = tape,
                              .in = in,
                              .heads = sizes->heads,
                              .positions = sizes->positions,
                              .shown = !tape->dw,
                              .keys_values = vd_arena_take(tape->arena, 2 * (size_t)sizes->layers,
                                                           sizeof *out->keys_values)};
    if (tape->status == VD_OK && take_builder(&s, tape->arena)) {
        use_memo(out, &s, sizes->layers);
        for (int b = 0; b < in->span->dialogs; b++)
            add_dialog(&s, b);
        out->rows = s.rows - s.kept;
        out->words = s.words;
        out->last = s.last;
        out->seen = s.seen;
        out->entries = s.most_regions;
        out->sees = vd_pairing_make(tape->arena, VD_AXIS_NONE, out->rows, VD_AXIS_NONE, s.rows,
                                    s.group, in->span->dialogs + s.words);
    }
    if (out->sees)
        make_lists(out, &s);
    if (!out->sees || tape->arena->failed)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the dialog as one sequence");
    return tape->status == VD_OK;
}

// ---- answers ------------------------------------------------------------------------------------

// The answers from `first` on that go on from the same question.
static int same_question(const vd_token_branches *b, int first)
{
    int next = first;
    while (next < b->answers->sequences && b->asked[next] == b->asked[first])
        next++;
    return next;
}

static bool in_one_piece(const vd_range seen[2])
{
    return seen[1].count == 0 || seen[0].first + seen[0].count == seen[1].first;
}

// The rows that the answers see, from the first to the last; how many are in pieces.
static int find_window(vd_token_branches *b)
{
    int end = 0, apart = 0;
    b->window.first = b->answers->sequences > 0 ? INT_MAX : 0;
    for (int s = 0; s < b->answers->sequences; s = same_question(b, s)) {
        const vd_range *seen = b->from->seen[b->asked[s]].key;
        for (int k = 0; k < 2; k++) {
            int behind = seen[k].first + seen[k].count;
            b->window.first = seen[k].first < b->window.first ? seen[k].first : b->window.first;
            end = behind > end ? behind : end;
        }
        apart += in_one_piece(seen) ? 0 : seen[0].count + seen[1].count;
    }
    b->window.count = end - b->window.first;
    return apart;
}

// What the words after a question see of the dialog, in one piece of the rows that `list` holds.
static vd_range join_seen(vd_token_branches *b, const vd_range seen[2], int *list)
{
    vd_range all = {seen[0].first - b->window.first, seen[0].count + seen[1].count};
    if (in_one_piece(seen))
        return all;
    all.first = b->keys;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < seen[k].count; i++)
            list[b->keys++] = seen[k].first - b->window.first + i;
    return all;
}

// Lists of the words of answers, on the host.
typedef struct branch_words {
    int *position; // vd_dialog_tokens
    vd_pair_group *group;
} branch_words;

// Of answers first to last - 1, which see the same of the dialog; their own keys are counted from
// their first word.
static void add_answers(const vd_dialog_tokens *d, int first, int last, vd_range seen,
                        const branch_words *at)
{
    const vd_packed *answers = d->branches.answers;
    int words = seen.count - vd_inputs_seen(d->in, VD_AXIS_REGIONS, d->branches.asked[first]).count,
        longest = 0;
    for (int s = first; s < last; s++)
        longest = answers->length[s] > longest ? answers->length[s] : longest;
    for (int s = first; s < last; s++)
        for (int i = 0, row = answers->start[s]; i < answers->length[s]; i++, row++) {
            at->position[row] = words + i < d->positions ? words + i : d->positions - 1;
            at->group[row] = (vd_pair_group){.query = {row, 1},
                                             .key = {seen, {answers->start[s], i + 1}},
                                             .stride = seen.count + longest};
        }
}

// d->branches is set but for what is seen.
static void find_seen(vd_dialog_tokens *d)
{
    vd_token_branches *b = &d->branches;
    vd_arena *arena = d->tape->arena;
    int apart = find_window(b), count = b->answers->sequences;
    size_t words = (size_t)d->words, keys = (size_t)(b->window.count + apart);
    const branch_words at = {vd_arena_ints(arena, words),
                             vd_arena_take(arena, words, sizeof *at.group)};
    int *list = vd_arena_ints(arena, keys);
    if (arena->failed)
        return;
    for (b->keys = 0; b->keys < b->window.count; b->keys++)
        list[b->keys] = b->keys;
    for (int s = 0; s < count; s = same_question(b, s))
        add_answers(d, s, same_question(b, s), join_seen(b, b->from->seen[b->asked[s]].key, list),
                    &at);
    for (size_t i = 0; i < words; i++)
        at.group[i].key[1].first += b->keys;
    d->position = vd_arena_upload(arena, at.position, words, sizeof *at.position);
    b->joined = apart ? vd_arena_upload(arena, list, keys, sizeof *list) : NULL;
    d->sees = vd_pairing_make(arena, VD_AXIS_NONE, d->rows, VD_AXIS_NONE, b->keys + d->words,
                              at.group, d->words);
}

bool vd_dialog_tokens_branch(vd_tape *tape, const vd_dialog_tokens *from, const vd_packed *answers,
                             const int *asked, vd_dialog_tokens *out)
{
    *out = (vd_dialog_tokens){.tape = tape,
                              .in = from->in,
                              .heads = from->heads,
                              .rows = answers->tokens,
                              .words = answers->tokens,
                              .positions = from->positions,
                              .id = answers->rows.id,
                              .branches = {.from = from, .answers = answers, .asked = asked}};
    if (tape->status == VD_OK)
        find_seen(out);
    if (!out->sees || tape->arena->failed)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: answers that go on from the dialog");
    return tape->status == VD_OK;
}

// The rows of keys, or values, of the dialog that answers see; x: of all its tokens.
static const vd_value *read_window(vd_tape *tape, const vd_token_branches *b, const vd_value *x)
{
    size_t from = (size_t)b->window.first * (size_t)x->columns;
    vd_value *seen = vd_tape_constant(tape, VD_AXIS_NONE, x->x + from, b->window.count, x->columns);
    if (x->dx && tape->status == VD_OK)
        seen->dx = x->dx + from; // the tape of the dialog goes back after this one
    return b->joined ? vd_tape_rows(tape, seen, b->joined, b->keys, VD_AXIS_NONE) : seen;
}

// ---- what a chat keeps --------------------------------------------------------------------------

// x below the rows that were kept; every pass asks for the same values in the same order.
static const vd_value *below_kept(vd_dialog_tokens *d, const vd_value *x)
{
    vd_tape *tape = d->tape;
    int from = d->columns;
    if (!d->in->memo || tape->status != VD_OK)
        return x;
    d->made[d->values++] = x;
    d->columns += x->columns;
    return d->kept ? vd_tape_stack(tape, vd_tape_columns(tape, d->memory, from, x->columns), x) : x;
}

const vd_value *vd_dialog_tokens_all(vd_dialog_tokens *d, const vd_value *x, int index)
{
    const vd_token_branches *b = &d->branches;
    if (d->tape->status != VD_OK)
        return x;
    if (b->from)
        return vd_tape_stack(d->tape, read_window(d->tape, b, b->from->keys_values[index]), x);
    return d->keys_values[index] = below_kept(d, x);
}

void vd_dialog_tokens_keep(const vd_dialog_tokens *d)
{
    vd_memo *memo = d->in->memo;
    if (!memo || d->tape->status != VD_OK)
        return;
    const vd_value *all = vd_tape_concat_all(d->tape, d->made, d->values);
    int rows = d->rows - d->in->question_words->tokens;
    d->made[0] = vd_tape_constant(d->tape, VD_AXIS_NONE, all->x, rows, all->columns);
    memo->known = d->kept;
    memo->made = d->in->history_words->sequences - memo->entries;
    memo->values = rows > 0;
    memo->value = d->made;
}

// ---- what people see and can make even ----------------------------------------------------------

// Which attentions are to be even.
typedef struct flat {
    bool regions, rounds, words, own;
} flat;

// Of one word, which sees what question n sees of the dialog and `own` words of that: what its
// scores are multiplied with, and what is added then. Every entry gets the same, however long.
static void even_word(const vd_dialog_tokens *d, const vd_pair_group *word, int n, int own,
                      const flat *of, vd_real *keep, vd_real *plus)
{
    const vd_packed *text = d->in->history_words;
    vd_range heard = vd_inputs_seen(d->in, VD_AXIS_HISTORY_WORDS, n);
    int regions = vd_inputs_seen(d->in, VD_AXIS_REGIONS, n).count, said = regions + heard.count;
    for (int h = 0; h < d->heads; h++)
        for (int k = 0; k < said + own; k++) {
            size_t at = (size_t)h * (size_t)d->sees->pairs + (size_t)(word->at + k);
            bool entries = k >= regions && k < said;
            if (k < regions ? of->regions : entries ? of->rounds || of->words : of->own)
                keep[at] = 0;
            if (entries && of->rounds)
                plus[at] =
                    -(vd_real)log((double)text->length[text->owner[heard.first + k - regions]]);
        }
}

static void even_all(const vd_dialog_tokens *d, const flat *of, vd_real *keep, vd_real *plus)
{
    const vd_token_branches *b = &d->branches;
    const int *length = d->in->question_words->length;
    for (int row = 0; b->from && row < d->words; row++) {
        int n = b->asked[b->answers->owner[row]];
        even_word(d, &d->sees->group[row], n, length[n], of, keep, plus);
    }
    for (int n = 0; !b->from && n < d->in->span->questions; n++)
        for (int own = d->last[n] < 0 ? 0 : length[n]; own > 0; own--)
            even_word(d, last_group(d, n) - (length[n] - own), n, own, of, keep, plus);
}

const vd_value *vd_dialog_tokens_make_uniform(const vd_dialog_tokens *d, const vd_value *scores)
{
    const char *const *names = d->tape->uniform;
    const flat of = {vd_is_uniform(names, "regions"), vd_is_uniform(names, "rounds"),
                     vd_is_uniform(names, "history-words"), vd_is_uniform(names, "question-words")};
    if (!(of.regions || of.rounds || of.words || of.own) || d->tape->status != VD_OK)
        return scores;
    vd_real *keep = vd_arena_take_raw(d->tape->arena, (size_t)scores->rows, sizeof *keep);
    vd_real *plus = vd_arena_take(d->tape->arena, (size_t)scores->rows, sizeof *plus);
    for (int i = 0; i < scores->rows && keep; i++)
        keep[i] = 1;
    if (keep && plus)
        even_all(d, &of, keep, plus);
    const vd_value *kept = vd_tape_given(d->tape, VD_AXIS_PAIRS, keep, scores->rows, 1);
    scores = vd_tape_multiply(d->tape, scores, kept);
    return vd_tape_add(d->tape, scores,
                       vd_tape_given(d->tape, VD_AXIS_PAIRS, plus, scores->rows, 1));
}

static vd_value *mean_of_heads(const vd_dialog_tokens *d, const vd_token_look *look,
                               const vd_value *x, bool scores)
{
    vd_value *sum = NULL;
    for (int h = 0; h < d->heads && d->tape->status == VD_OK; h++) {
        const int *pair = look->pair + (size_t)h * (size_t)look->p->pairs;
        vd_value *part = vd_tape_rows(d->tape, x, pair, look->p->pairs, VD_AXIS_PAIRS);
        part->pairing = look->p;
        part = scores ? vd_tape_softmax(d->tape, part) : part;
        sum = sum ? vd_tape_add(d->tape, sum, part) : part;
    }
    return sum ? vd_tape_scale(d->tape, sum, 1 / (vd_real)d->heads) : &d->tape->nothing;
}

vd_value *vd_dialog_tokens_of_regions(const vd_dialog_tokens *d, const vd_value *attention)
{
    return mean_of_heads(d, &d->at_regions, attention, false);
}

void vd_dialog_tokens_show(const vd_dialog_tokens *d, const vd_value *scores, int index)
{
    if (!d->shown)
        return;
    vd_value *words = mean_of_heads(d, &d->at_words, scores, true);
    vd_value *rounds = vd_tape_mix(d->tape, d->sum, words);
    rounds->pairing = d->in->usual[VD_SEES_ROUNDS];
    vd_tape_show(d->tape, mean_of_heads(d, &d->at_regions, scores, true), "regions", index);
    vd_tape_show(d->tape, rounds, "rounds", index);
    vd_tape_show(d->tape, words, "history-words", index);
    vd_tape_show(d->tape, mean_of_heads(d, &d->at_own, scores, true), "question-words", index);
}

// ---- rollout ------------------------------------------------------------------------------------

void vd_dialog_tokens_roll(vd_dialog_tokens *d, const vd_value *attention)
{
    vd_tape *tape = d->tape;
    if (!d->shown)
        return;
    const vd_value **each = vd_arena_take(tape->arena, (size_t)d->heads, sizeof *each);
    const vd_value *all = below_kept(d, d->rollout);
    for (int h = 0; h < d->heads && each; h++)
        each[h] = all;
    if (!each) {
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the rollout of the attention");
        return;
    }
    const vd_value *found = vd_tape_concat_all(tape, each, d->heads);
    found = vd_tape_mix(tape, attention, found);
    const vd_value *sum = vd_tape_scale(tape, d->rollout, (vd_real)d->heads);
    for (int h = 0; h < d->heads; h++)
        sum = vd_tape_add(tape, sum, vd_tape_columns(tape, found, h * sum->columns, sum->columns));
    d->rollout = vd_tape_scale(tape, sum, 1 / (vd_real)(2 * d->heads));
}

// p: questions and what columns of the rollout from `first` are of; rolled: a row a question.
static void show_columns(const vd_dialog_tokens *d, const vd_pairing *p, const float *rolled,
                         int first, const char *name)
{
    vd_pairing *derived = vd_arena_take(d->tape->arena, 1, sizeof *derived);
    vd_real *share = vd_arena_take_raw(d->tape->arena, (size_t)p->pairs, sizeof *share);
    for (int i = 0, pair = 0; i < p->count && share; i++) {
        int keys = p->group[i].key[0].count;
        for (int q = 0; q < p->group[i].query.count; q++, rolled += d->rollout->columns) {
            double sum = 0;
            for (int k = 0; k < keys; k++)
                sum += (double)rolled[first + k];
            for (int k = 0; k < keys; k++, pair++)
                share[pair] = (vd_real)(sum > 0 ? (double)rolled[first + k] / sum : 1. / keys);
        }
    }
    vd_value *shown = share ? vd_tape_given_pairs(d->tape, p, share) : NULL;
    if (!derived || !shown || shown->rows == 0) {
        if (p->pairs > 0)
            vd_tape_fail(d->tape, VD_NO_MEMORY, "out of memory: the rollout of the attention");
        return;
    }
    *derived = *p;
    derived->derived = true;
    shown->pairing = derived;
    vd_tape_show(d->tape, shown, name, 0);
}

void vd_dialog_tokens_show_rollout(const vd_dialog_tokens *d)
{
    vd_tape *tape = d->tape;
    if (!d->shown || tape->status != VD_OK)
        return;
    int questions = d->in->span->questions, columns = d->rollout->columns;
    size_t n = (size_t)questions * (size_t)columns;
    const vd_value *rows =
        vd_tape_rows(tape, d->rollout, d->question, questions, VD_AXIS_QUESTIONS);
    float *rolled = vd_arena_take_raw(tape->arena, n, sizeof *rolled);
    if (!rolled)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: what the questions are made of");
    if (!rolled || tape->status != VD_OK)
        return;
    tape->be->read_floats(rows->x, rolled, n);
    show_columns(d, d->at_regions.p, rolled, 0, "rollout");
    show_columns(d, d->in->usual[VD_SEES_ROUNDS], rolled, d->entries, "rollout-rounds");
}
