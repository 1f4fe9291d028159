// Batches hold what the dialogs and region files say, number by number.
#include "features/dialogs/dataset.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/backend/packed.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "features/text/tokenize.h"
#include "features/dialogs/pack.h"
#include "tests/support/must.h"
#include "tests/support/support.h"

enum { P = 5, D = 6 };

static char *directory, *features_path, *json_path;

typedef struct world {
    vd_visdial *dialogs;
    vd_regions *regions;
    vd_vocab *vocab;
    vd_dataset *set;
    vd_loader *loader;
} world;

static int set_up(void **state)
{
    (void)state;
    directory = support_temp_dir();
    features_path = support_join(directory, "features.safetensors");
    json_path = support_join(directory, "dialogs.json");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    free(features_path);
    free(json_path);
    return 0;
}

// Number k of region p of an image; zero beyond the regions the image has.
static float feature(int64_t image, int p, int k)
{
    return (float)((image * 31 + p * 7 + k) % 97 + 1) / 8;
}

static int regions_of(int64_t image)
{
    return 1 + (int)(image % (P - 1)); // never P: batches are cut to fewer
}

// Features for every image of the dialogs but `without`, in another order than theirs.
static void write_features(const vd_visdial *dialogs, int64_t without)
{
    vd_region_set regions;
    vd_error err = {0};
    size_t count = dialogs->dialog_count - (vd_visdial_find(dialogs, without) ? 1 : 0);
    must(vd_region_set_new(count, P, D, &regions, &err), &err);
    size_t row = 0;
    for (size_t d = dialogs->dialog_count; d-- > 0;) {
        int64_t image = dialogs->dialogs[d].image_id;
        if (image == without)
            continue;
        regions.image_id[row] = image;
        regions.used[row] = regions_of(image);
        for (int p = 0; p < regions_of(image); p++) {
            for (int k = 0; k < D; k++)
                regions.features[(row * P + (size_t)p) * D + (size_t)k] =
                    vd_half_from_float(feature(image, p, k));
            float *box = &regions.boxes[(row * P + (size_t)p) * 4];
            box[2] = box[3] = 1;
        }
        row++;
    }
    must(vd_region_set_write(&regions, features_path, "test", &err), &err);
    vd_region_set_clear(&regions);
}

static void open_world(world *w, const char *dialogs_path)
{
    vd_error err = {0};
    *w = (world){0};
    must(vd_visdial_read(dialogs_path, &w->dialogs, &err), &err);
    write_features(w->dialogs, -1);
    must(vd_regions_open(features_path, &w->regions, &err), &err);
    must(vd_dataset_vocab(w->dialogs, 1, &w->vocab, &err), &err);
    must(vd_dataset_new(w->dialogs, w->regions, w->vocab, &w->set, &err), &err);
    must(vd_loader_new(w->set, &w->loader, &err), &err);
}

static void close_world(world *w)
{
    vd_loader_free(w->loader);
    vd_dataset_free(w->set);
    vd_vocab_free(w->vocab);
    vd_regions_close(w->regions);
    vd_visdial_free(w->dialogs);
}

// ---- an independent account of what a batch must hold -------------------------------------------

typedef struct expected {
    int question_width, history_width, candidate_width, rounds, regions;
} expected;

static void check_row(const int32_t *row, int width, const int32_t *ids, int length, int *widest)
{
    for (int i = 0; i < width; i++)
        assert_int_equal(row[i], i < length ? ids[i] : VD_PAD);
    assert_true(length <= width);
    *widest = length > *widest ? length : *widest;
}

static int wrap(const world *w, const char *answer, int32_t *ids)
{
    int length;
    vd_error err = {0};
    must(vd_answer_ids(w->vocab, answer, 19, ids, &length, &err), &err);
    return length;
}

// Entry r: the caption cut to 39, or question 19, <S> answer </S> 19, </S>.
static int history(const world *w, const vd_visdial_dialog *dialog, int r, int32_t *ids)
{
    int length, found;
    vd_error err = {0};
    if (r == 0) {
        must(vd_text_ids(w->vocab, dialog->caption, false, 39, ids, &length, &found, &err), &err);
        return length;
    }
    const vd_visdial_round *before = &dialog->rounds[r - 1];
    must(vd_text_ids(w->vocab, w->dialogs->questions[before->question], true, 19, ids, &length,
                     &found, &err),
         &err);
    length += wrap(w, w->dialogs->answers[before->answer], ids + length);
    ids[length++] = VD_END;
    return length;
}

static void check_candidates(const world *w, const vd_batch *batch, const vd_visdial_round *round,
                             const int32_t *options, unsigned char *seen, expected *e)
{
    for (int i = 0; i < round->option_count; i++) {
        int32_t ids[40] = {0}, u = options[i];
        const char *answer = w->dialogs->answers[round->options[i]];
        assert_in_range(u, 0, batch->distinct - 1);
        seen[u] = 1;
        int width = batch->candidate_width, length = wrap(w, answer, ids);
        assert_int_equal(batch->candidate_length[u], length);
        check_row(batch->candidate + (size_t)u * (size_t)width, width, ids, length,
                  &e->candidate_width);

        // What the generative decoder reads and predicts, each cut by itself.
        int32_t words[64], in[20] = {VD_START}, out[20], pool[20];
        int count, found, steps = 0;
        vd_error err = {0};
        must(vd_text_ids(w->vocab, answer, false, 64, words, &count, &found, &err), &err);
        for (steps = 0; steps <= count && steps < 19; steps++) {
            if (steps > 0)
                in[steps] = words[steps - 1];
            out[steps] = steps < count ? words[steps] : VD_END;
        }
        int ignored = 0;
        check_row(batch->candidate_in + (size_t)u * (size_t)width, width, in, steps, &ignored);
        check_row(batch->candidate_out + (size_t)u * (size_t)width, width, out, steps, &ignored);
        // Of a pool's tokens all but the last are read, all but the first said.
        must(vd_answer_ids(w->vocab, answer, VD_MAX_CANDIDATE, pool, &length, &err), &err);
        assert_int_equal(length - 1, steps);
        assert_memory_equal(pool, in, (size_t)steps * sizeof *in);
        assert_memory_equal(pool + 1, out, (size_t)steps * sizeof *out);
    }
}

static void check_dialog(const world *w, const vd_batch *batch, size_t b, size_t index,
                         unsigned char *seen, expected *e)
{
    const vd_visdial_dialog *dialog = vd_dataset_dialog(w->set, index);
    int R = batch->rounds, Tq = batch->question_width, Th = batch->history_width;
    e->rounds = dialog->round_count > e->rounds ? dialog->round_count : e->rounds;
    for (int r = 0; r < R; r++) {
        size_t place = b * (size_t)R + (size_t)r;
        int32_t ids[64];
        int length = 0, found;
        vd_error err = {0};
        const int32_t *options = batch->option + place * (size_t)batch->candidates;
        if (r >= dialog->round_count) {
            int ignored = 0;
            assert_int_equal(batch->question_length[place], 0);
            assert_int_equal(batch->history_length[place], 0);
            assert_int_equal(batch->truth[place], -1);
            check_row(batch->question + place * (size_t)Tq, Tq, ids, 0, &ignored);
            check_row(batch->history + place * (size_t)Th, Th, ids, 0, &ignored);
            check_row(options, batch->candidates, ids, 0, &ignored);
            continue;
        }
        const vd_visdial_round *round = &dialog->rounds[r];
        must(vd_text_ids(w->vocab, w->dialogs->questions[round->question], true, 19, ids, &length,
                         &found, &err),
             &err);
        assert_int_equal(batch->question_length[place], length);
        check_row(batch->question + place * (size_t)Tq, Tq, ids, length, &e->question_width);
        length = history(w, dialog, r, ids);
        assert_int_equal(batch->history_length[place], length);
        check_row(batch->history + place * (size_t)Th, Th, ids, length, &e->history_width);
        assert_int_equal(batch->truth[place], round->truth);
        check_candidates(w, batch, round, options, seen, e);
    }
}

static void check_image(const vd_batch *batch, size_t b, int64_t image, expected *e)
{
    int used = regions_of(image);
    e->regions = used > e->regions ? used : e->regions;
    assert_true(used <= batch->regions);
    for (int p = 0; p < batch->regions; p++)
        for (int k = 0; k < D; k++)
            assert_float_equal(
                batch->image[(b * (size_t)batch->regions + (size_t)p) * D + (size_t)k],
                p < used ? feature(image, p, k) : 0, 0);
}

static void check_batch(const world *w, const vd_batch *batch, const size_t *index, size_t count)
{
    expected e = {0};
    unsigned char *seen = calloc((size_t)batch->distinct, 1);
    assert_int_equal(batch->dialogs, count);
    for (size_t b = 0; b < count; b++) {
        check_dialog(w, batch, b, index[b], seen, &e);
        check_image(batch, b, vd_dataset_dialog(w->set, index[b])->image_id, &e);
    }
    for (int u = 0; u < batch->distinct; u++)
        assert_true(seen[u]); // no candidate that nobody offers
    free(seen);
    // Widths are those of this batch.
    assert_int_equal(batch->rounds, e.rounds);
    assert_int_equal(batch->regions, e.regions);
    assert_int_equal(batch->question_width, e.question_width);
    assert_int_equal(batch->history_width, e.history_width);
    assert_int_equal(batch->candidate_width, e.candidate_width);
    const vd_totals of = vd_batch_totals(batch);
    vd_totals found;
    vd_dataset_totals(w->set, index, count, &found);
    assert_int_equal(found.questions, of.questions);
    assert_int_equal(found.words, of.words);
    assert_int_equal(found.text, of.text);
}

// ---- tests --------------------------------------------------------------------------------------

static void batches_hold_the_dialogs(void **state)
{
    (void)state;
    world w;
    open_world(&w, "tests/fixtures/dialogs.json");
    assert_int_equal(vd_dataset_data(w.set)->dialog_count, 3);
    static const size_t orders[][3] = {{0, 1, 2}, {2, 0, 1}, {1, 1, 1}, {2, 2, 0}};
    for (size_t i = 0; i < 4; i++)
        for (size_t count = 1; count <= 3; count++) {
            const vd_batch *batch;
            vd_error err = {0};
            must(vd_loader_batch(w.loader, orders[i], count, NULL, &batch, &err), &err);
            check_batch(&w, batch, orders[i], count);
        }
    close_world(&w);
}

static void long_answers_are_cut(void **state)
{
    (void)state;
    world w;
    vd_error err = {0};
    const vd_batch *batch;
    open_world(&w, "tests/fixtures/dialogs_long.json"); // of 17, 18, 19 and 30 words
    must(vd_loader_batch(w.loader, &(size_t){0}, 1, NULL, &batch, &err), &err);
    check_batch(&w, batch, &(size_t){0}, 1);
    assert_int_equal(batch->candidate_width, VD_CUT_CANDIDATE);
    close_world(&w);
}

static void packed_dialogs_give_the_same_batches(void **state)
{
    (void)state;
    static const char *const files[] = {"tests/fixtures/dialogs.json",
                                        "tests/fixtures/dialogs_test.json"};
    for (size_t f = 0; f < 2; f++) {
        world w;
        vd_error err = {0};
        const vd_batch *batch;
        vd_visdial *json;
        must(vd_visdial_read(files[f], &json, &err), &err);
        must(vd_visdial_pack(json, NULL, "a test", json_path, &err), &err);
        vd_visdial_free(json);
        open_world(&w, json_path);
        const size_t some[] = {1, 0};
        must(vd_loader_batch(w.loader, some, 2, NULL, &batch, &err), &err);
        check_batch(&w, batch, some, 2);
        close_world(&w);
    }
}

static void test_splits_have_rounds_without_candidates(void **state)
{
    (void)state;
    world w;
    open_world(&w, "tests/fixtures/dialogs_test.json");
    const size_t both[] = {0, 1};
    const vd_batch *batch;
    vd_error err = {0};
    must(vd_loader_batch(w.loader, both, 2, NULL, &batch, &err), &err);
    check_batch(&w, batch, both, 2);
    assert_int_equal(batch->candidates, 3);
    assert_int_equal(batch->truth[1], -1);
    assert_true(batch->question_length[1] > 0);
    close_world(&w);
}

static void candidates_are_distinct(void **state)
{
    (void)state;
    world w;
    open_world(&w, "tests/fixtures/dialogs.json");
    const size_t all[] = {0, 1, 2};
    const vd_batch *batch;
    vd_error err = {0};
    must(vd_loader_batch(w.loader, all, 3, NULL, &batch, &err), &err);
    assert_int_equal(batch->distinct, 6);
    int order[6]; // sorted, so that the network need not
    must(vd_packed_sort(batch->candidate, batch->candidate_length, batch->candidate_width, 6, order,
                        &err),
         &err);
    assert_memory_equal(order, batch->candidate_order, sizeof order);
    must(vd_loader_batch(w.loader, all, 1, NULL, &batch, &err), &err);
    assert_int_equal(batch->distinct, 5); // nobody in the first dialog offers the last
    close_world(&w);
}

// Batches that share the candidates of all dialogs say the same with other numbers.
static void candidates_can_be_shared(void **state)
{
    (void)state;
    world w;
    open_world(&w, "tests/fixtures/dialogs.json");
    vd_candidates all, first;
    const size_t index[] = {2, 0};
    const vd_batch *batch;
    vd_error err = {0};
    must(vd_dataset_candidates(w.set, 0, 3, &all, &err), &err);
    must(vd_dataset_candidates(w.set, 0, 1, &first, &err), &err);
    assert_int_equal(all.count, 6);
    assert_int_equal(first.count, 5);
    vd_loader_share(w.loader, &all);
    must(vd_loader_batch(w.loader, index, 2, NULL, &batch, &err), &err);
    assert_int_equal(batch->distinct, 6);
    assert_ptr_equal(batch->candidate, all.tokens);
    unsigned char seen[6] = {0};
    expected e = {0};
    check_dialog(&w, batch, 0, 2, seen, &e);
    check_dialog(&w, batch, 1, 0, seen, &e);
    vd_loader_share(w.loader, &first);
    support_refused(vd_loader_batch(w.loader, (const size_t[]){0, 1}, 2, NULL, &batch, &err),
                    VD_USAGE, &err, "is not among the candidates that the batches share", NULL);
    assert_null(batch);
    vd_loader_share(w.loader, NULL);
    must(vd_loader_batch(w.loader, index, 2, NULL, &batch, &err), &err);
    check_batch(&w, batch, index, 2);
    vd_candidates_clear(&first);
    support_refused(vd_dataset_candidates(w.set, 2, 2, &first, &err), VD_USAGE, &err,
                    "candidates of dialogs 2 to 4: there are 3", NULL);
    vd_candidates_clear(&all);
    close_world(&w);
}

static size_t span_of(const world *w, size_t first, size_t count, size_t answers)
{
    size_t span;
    vd_error err = {0};
    must(vd_dataset_span(w->set, first, count, answers, &span, &err), &err);
    return span;
}

// The first dialog offers five answers, all of them six.
static void dialogs_are_counted_by_their_answers(void **state)
{
    (void)state;
    world w;
    open_world(&w, "tests/fixtures/dialogs.json");
    vd_error err = {0};
    size_t span;
    assert_int_equal(span_of(&w, 0, 3, 6), 3);
    assert_int_equal(span_of(&w, 0, 2, 6), 2);
    assert_true(span_of(&w, 0, 3, 5) < 3);
    assert_int_equal(span_of(&w, 0, 3, 1), 1);
    assert_int_equal(span_of(&w, 3, 0, 1), 0);
    support_refused(vd_dataset_span(w.set, 2, 2, 6, &span, &err), VD_USAGE, &err,
                    "candidates of dialogs 2 to 4: there are 3", NULL);
    close_world(&w);
}

static void views_hide_what_they_say(void **state)
{
    (void)state;
    world w;
    open_world(&w, "tests/fixtures/dialogs.json");
    const size_t index[] = {0, 2};
    const vd_batch *batch;
    vd_error err = {0};
    vd_dataset_view view = {.no_history = true};
    must(vd_loader_batch(w.loader, index, 2, &view, &batch, &err), &err);
    assert_int_equal(batch->history_width, 1);
    for (int b = 0; b < 2; b++)
        for (int r = 0; r < batch->rounds; r++) {
            bool there = r < w.dialogs->dialogs[index[b]].round_count;
            assert_int_equal(batch->history_length[b * batch->rounds + r], there);
            assert_int_equal(batch->history[b * batch->rounds + r], there ? VD_UNKNOWN : VD_PAD);
        }
    view = (vd_dataset_view){.other_image = true};
    must(vd_loader_batch(w.loader, index, 2, &view, &batch, &err), &err);
    expected e = {0};
    check_image(batch, 0, w.dialogs->dialogs[1].image_id, &e);
    check_image(batch, 1, w.dialogs->dialogs[0].image_id, &e); // the last sees the first's
    assert_int_equal(batch->regions, e.regions);
    close_world(&w);
}

static void a_dialog_without_features_is_refused(void **state)
{
    (void)state;
    vd_visdial *dialogs;
    vd_regions *regions;
    vd_vocab *vocab;
    vd_dataset *set = (vd_dataset *)1;
    vd_error err = {0};
    must(vd_visdial_read("tests/fixtures/dialogs.json", &dialogs, &err), &err);
    write_features(dialogs, 12);
    must(vd_regions_open(features_path, &regions, &err), &err);
    must(vd_dataset_vocab(dialogs, 1, &vocab, &err), &err);
    support_refused(vd_dataset_new(dialogs, regions, vocab, &set, &err), VD_NOT_FOUND, &err, "12",
                    NULL);
    assert_null(set);
    vd_vocab_free(vocab);
    vd_regions_close(regions);
    vd_visdial_free(dialogs);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    world w;
    open_world(&w, "tests/fixtures/dialogs.json");
    const vd_batch *batch = (const vd_batch *)1;
    vd_error err = {0};
    const size_t index[] = {0, 3};
    support_refused(vd_loader_batch(w.loader, index, 0, NULL, &batch, &err), VD_USAGE, &err, "0",
                    NULL);
    assert_null(batch);
    support_refused(vd_loader_batch(w.loader, index, 2, NULL, &batch, &err), VD_USAGE, &err,
                    "dialog 3 of 3", NULL);
    close_world(&w);
}

static void a_caption_without_words_is_one_unknown_word(void **state)
{
    (void)state;
    static const char empty[] =
        "{\"version\": \"1.0\", \"split\": \"val\", \"data\": {\"questions\": [\"a\"], "
        "\"answers\": [\"b\", \"\"], \"dialogs\": [{\"image_id\": 1, \"caption\": \" \", "
        "\"dialog\": [{\"question\": 0, \"answer\": 1, \"answer_options\": [0, 1], "
        "\"gt_index\": 1}]}]}}";
    support_write_text(json_path, empty);
    world w;
    open_world(&w, json_path);
    const size_t index = 0;
    const vd_batch *batch;
    vd_error err = {0};
    must(vd_loader_batch(w.loader, &index, 1, NULL, &batch, &err), &err);
    assert_int_equal(batch->history_length[0], 1);
    assert_int_equal(batch->history[0], VD_UNKNOWN);
    assert_int_equal(batch->candidate_length[1], 2); // of the empty answer: <S> </S>
    const vd_dataset_view view = {.other_image = true};
    support_refused(vd_loader_batch(w.loader, &index, 1, &view, &batch, &err), VD_USAGE, &err,
                    "other picture", NULL);
    close_world(&w);
}

static void words_are_counted_as_often_as_they_are_said(void **state)
{
    (void)state;
    vd_visdial *dialogs;
    vd_vocab *vocab;
    vd_error err = {0};
    must(vd_visdial_read("tests/fixtures/dialogs.json", &dialogs, &err), &err);
    // "?" six times, "a" in 3 captions and 2 questions, "is" in 4 questions and an answer; strings
    // of the tables count as often as dialogs use them.
    must(vd_dataset_vocab(dialogs, 5, &vocab, &err), &err);
    assert_int_equal(vd_vocab_id(vocab, "?"), VD_FIRST_WORD);
    assert_int_equal(vd_vocab_id(vocab, "a"), VD_FIRST_WORD + 1);
    assert_int_equal(vd_vocab_id(vocab, "is"), VD_FIRST_WORD + 2);
    assert_int_equal(vd_vocab_size(vocab), VD_FIRST_WORD + 3);
    vd_vocab_free(vocab);
    must(vd_dataset_vocab(dialogs, 1, &vocab, &err), &err);
    assert_true(vd_vocab_id(vocab, "n't") != VD_UNKNOWN);
    assert_true(vd_vocab_id(vocab, "``") == VD_UNKNOWN);
    assert_true(vd_vocab_id(vocab, "“") != VD_UNKNOWN);
    // Words of one count keep the order of the file: the first caption's come first.
    assert_true(vd_vocab_id(vocab, "front") < vd_vocab_id(vocab, "blue"));
    assert_true(vd_vocab_id(vocab, "blue") < vd_vocab_id(vocab, "café"));
    vd_vocab_free(vocab);
    vd_visdial_free(dialogs);
}

static vd_status load_everything(void *context, vd_error *err)
{
    const world *w = context;
    const size_t index[] = {1, 0};
    vd_vocab *vocab = NULL;
    vd_dataset *set = NULL;
    vd_loader *loader = NULL;
    const vd_batch *batch;
    vd_status status = vd_dataset_vocab(w->dialogs, 1, &vocab, err);
    if (status == VD_OK)
        status = vd_dataset_new(w->dialogs, w->regions, vocab, &set, err);
    if (status == VD_OK)
        status = vd_loader_new(set, &loader, err);
    if (status == VD_OK) {
        status = vd_loader_batch(loader, index, 2, NULL, &batch, err);
        assert_true((status == VD_OK) == (batch != NULL));
    }
    vd_candidates candidates = {0};
    size_t span;
    if (status == VD_OK)
        status = vd_dataset_span(set, 0, 2, 1, &span, err);
    if (status == VD_OK)
        status = vd_dataset_candidates(set, 0, 2, &candidates, err);
    vd_candidates_clear(&candidates);
    vd_loader_free(loader);
    vd_dataset_free(set);
    vd_vocab_free(vocab);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    world w;
    open_world(&w, "tests/fixtures/dialogs.json");
    assert_true(support_fail_each_allocation(load_everything, &w) > 30);
    close_world(&w);
}

static void a_loader_goes_on_after_running_out_of_memory(void **state)
{
    (void)state;
    world w;
    open_world(&w, "tests/fixtures/dialogs.json");
    const size_t index[] = {0, 1, 2};
    for (size_t n = 1; n < 40; n++) {
        const vd_batch *batch;
        vd_error err = {0};
        vd_loader_free(w.loader);
        must(vd_loader_new(w.set, &w.loader, &err), &err);
        vd_alloc_fail_at(n);
        vd_status status = vd_loader_batch(w.loader, index, 3, NULL, &batch, &err);
        vd_alloc_fail_at(0);
        assert_true(status == VD_OK || status == VD_NO_MEMORY);
        must(vd_loader_batch(w.loader, index, 3, NULL, &batch, &err), &err);
        check_batch(&w, batch, index, 3);
    }
    close_world(&w);
}

static void real_dialogs_become_the_batches_they_should(void **state)
{
    (void)state;
    world w;
    open_world(&w, support_shared("data/visdial/visdial_1.0_val_sample.json"));
    vd_rng rng = vd_rng_seed(8, 8);
    size_t index[32];
    for (int i = 0; i < 12; i++) {
        size_t count = i < 8 ? (size_t)(1 + vd_rng_below(&rng, 8)) : 32;
        for (size_t b = 0; b < count; b++)
            index[b] = (size_t)vd_rng_below(&rng, 97);
        const vd_batch *batch;
        vd_error err = {0};
        must(vd_loader_batch(w.loader, index, count, NULL, &batch, &err), &err);
        check_batch(&w, batch, index, count);
    }
    close_world(&w);
    open_world(&w, support_shared("data/visdial/visdial_1.0_test_sample.json"));
    for (size_t b = 0; b < 32; b++)
        index[b] = b;
    const vd_batch *batch;
    vd_error err = {0};
    must(vd_loader_batch(w.loader, index, 32, NULL, &batch, &err), &err);
    check_batch(&w, batch, index, 32);
    close_world(&w);
}

// A file with one dialog of one round that offers these candidates, each id written as "w<id>".
static void write_candidates(const vd_tensor *opt, size_t count, size_t width)
{
    FILE *file = fopen(json_path, "w");
    assert_non_null(file);
    fputs("{\"version\": \"1.0\", \"split\": \"val\", \"data\": {\"questions\": [\"a\"], "
          "\"answers\": [",
          file);
    for (size_t i = 0; i < count; i++) {
        int64_t ids[64];
        vd_error err = {0};
        must(vd_tensor_ints(opt, i * width, width, ids, &err), &err);
        fputs(i ? ", \"" : "\"", file);
        for (size_t k = 1; k < width && ids[k] != VD_END && ids[k] != VD_PAD; k++)
            fprintf(file, "%sw%" PRId64, k > 1 ? " " : "", ids[k]);
        fputs("\"", file);
    }
    fputs("], \"dialogs\": [{\"image_id\": 1, \"caption\": \"w4\", \"dialog\": "
          "[{\"question\": 0, \"answer\": 0, \"gt_index\": 0, \"answer_options\": [",
          file);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s%zu", i ? ", " : "", i);
    fputs("]}]}]}}", file);
    assert_int_equal(fclose(file), 0);
}

// The public code's candidates: the same words give the same three rows.
static void candidates_are_the_public_codes(void **state)
{
    (void)state;
    vd_safetensors *file;
    vd_error err = {0};
    must(vd_safetensors_open("tests/golden/data/mvan_tiny.safetensors", &file, &err), &err);
    const vd_tensor *opt = vd_safetensors_find(file, "in.opt");
    const vd_tensor *in = vd_safetensors_find(file, "in.opt_in");
    const vd_tensor *out = vd_safetensors_find(file, "in.opt_out");
    size_t width = opt->shape[3], count = opt->elements / width;
    write_candidates(opt, count, width);

    world w = {0};
    const char *words[36];
    char names[36][16];
    for (int i = 0; i < 36; i++) {
        snprintf(names[i], sizeof names[i], "w%d", i + 4);
        words[i] = names[i];
    }
    must(vd_visdial_read(json_path, &w.dialogs, &err), &err);
    write_features(w.dialogs, -1);
    must(vd_regions_open(features_path, &w.regions, &err), &err);
    must(vd_vocab_from_words(words, 36, &w.vocab, &err), &err);
    must(vd_dataset_new(w.dialogs, w.regions, w.vocab, &w.set, &err), &err);
    must(vd_loader_new(w.set, &w.loader, &err), &err);
    const vd_batch *batch;
    must(vd_loader_batch(w.loader, (const size_t[]){0}, 1, NULL, &batch, &err), &err);
    assert_int_equal(batch->candidates, count);
    const vd_tensor *tensors[] = {opt, in, out};
    const int32_t *ours[] = {batch->candidate, batch->candidate_in, batch->candidate_out};
    for (size_t i = 0; i < count; i++)
        for (int t = 0; t < 3; t++) {
            int64_t theirs[64];
            must(vd_tensor_ints(tensors[t], i * width, width, theirs, &err), &err);
            const int32_t *row =
                ours[t] + (size_t)batch->option[i] * (size_t)batch->candidate_width;
            for (size_t k = 0; k < width; k++)
                assert_int_equal(k < (size_t)batch->candidate_width ? row[k] : 0, theirs[k]);
        }
    close_world(&w);
    vd_safetensors_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_hold_the_dialogs),
        cmocka_unit_test(long_answers_are_cut),
        cmocka_unit_test(packed_dialogs_give_the_same_batches),
        cmocka_unit_test(test_splits_have_rounds_without_candidates),
        cmocka_unit_test(candidates_are_distinct),
        cmocka_unit_test(candidates_can_be_shared),
        cmocka_unit_test(dialogs_are_counted_by_their_answers),
        cmocka_unit_test(views_hide_what_they_say),
        cmocka_unit_test(a_dialog_without_features_is_refused),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(a_caption_without_words_is_one_unknown_word),
        cmocka_unit_test(words_are_counted_as_often_as_they_are_said),
        cmocka_unit_test(running_out_of_memory_is_reported),
        cmocka_unit_test(a_loader_goes_on_after_running_out_of_memory),
        cmocka_unit_test(real_dialogs_become_the_batches_they_should),
        cmocka_unit_test(candidates_are_the_public_codes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
