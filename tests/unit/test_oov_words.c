// Unknown words in batches of a data set, and in a packed one: each has a number of its own beside
// its <UNK>, the same wherever it stands.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "features/dialogs/dataset.h"
#include "features/dialogs/pack.h"
#include "engine/base/alloc.h"
#include "features/text/tokenize.h"
#include "tests/support/must.h"
#include "tests/support/support.h"
#include "tui/session/session.h"

enum { P = 3, D = 4 };

// "zebra", "okapi" and "lion" are not in the vocabulary.
static const char dialogs_json[] =
    "{\"version\": \"1.0\", \"split\": \"train\", \"data\": {\"questions\": [\"is the zebra near "
    "the okapi\", \"is the okapi big\"], \"answers\": [\"the zebra\", \"the lion\", \"yes\"], "
    "\"dialogs\": [{\"image_id\": 1, \"caption\": \"a zebra\", \"dialog\": [{\"question\": 0, "
    "\"answer\": 0, \"answer_options\": [0, 1, 2], \"gt_index\": 0}, {\"question\": 1, \"answer\": "
    "2, \"answer_options\": [2, 1, 0], \"gt_index\": 0}]}]}}";

typedef struct world {
    char *directory, *json, *packed, *features;
    vd_visdial *dialogs;
    vd_regions *regions;
    vd_vocab *vocab;
    vd_dataset *set;
    vd_loader *loader;
} world;

static void open_world(world *w, bool packed)
{
    static const char *const words[] = {"is", "the", "near", "big", "?", "yes", "a"};
    vd_region_set regions;
    vd_error err = {0};
    w->directory = support_temp_dir();
    w->json = support_join(w->directory, "dialogs.json");
    w->packed = support_join(w->directory, "dialogs.safetensors");
    w->features = support_join(w->directory, "features.safetensors");
    support_write_text(w->json, dialogs_json);
    must(vd_visdial_read(w->json, &w->dialogs, &err), &err);
    if (packed) {
        vd_word_counts counts = {0};
        must(vd_visdial_count_words(w->dialogs, true, &counts, &err), &err);
        must(vd_visdial_pack(w->dialogs, &counts, "test", w->packed, &err), &err);
        vd_word_counts_clear(&counts);
        vd_visdial_free(w->dialogs);
        must(vd_visdial_read(w->packed, &w->dialogs, &err), &err);
    }
    must(vd_region_set_new(1, P, D, &regions, &err), &err);
    regions.image_id[0] = 1;
    regions.used[0] = 1;
    regions.boxes[2] = regions.boxes[3] = 1;
    must(vd_region_set_write(&regions, w->features, "test", &err), &err);
    vd_region_set_clear(&regions);
    must(vd_regions_open(w->features, &w->regions, &err), &err);
    must(vd_vocab_from_words(words, sizeof words / sizeof *words, &w->vocab, &err), &err);
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
    support_remove_tree(w->directory);
    free(w->features);
    free(w->packed);
    free(w->json);
    free(w->directory);
}

// Known words have their ids in both, unknown ones a number and <UNK>.
static void check_known(const world *w, const int32_t *own, const int32_t *known, int count)
{
    int vocab = vd_vocab_size(w->vocab);
    for (int i = 0; i < count; i++) {
        assert_int_equal(known[i], own[i] < vocab ? own[i] : VD_UNKNOWN);
        assert_true(own[i] != VD_UNKNOWN);
    }
}

static void check_batch(const world *w, const vd_batch *b)
{
    vd_error err;
    must(vd_batch_check(b, vd_vocab_size(w->vocab), &err), &err);
    check_known(w, b->own.question, b->question, 2 * b->question_width);
    check_known(w, b->own.history, b->history, 2 * b->history_width);
    check_known(w, b->own.candidate_in, b->candidate_in, b->distinct * b->candidate_width);
    check_known(w, b->own.candidate_out, b->candidate_out, b->distinct * b->candidate_width);
    int32_t zebra = b->own.question[2], okapi = b->own.question[5]; // is the zebra near the okapi
    int vocab = vd_vocab_size(w->vocab);
    assert_true(zebra >= vocab && okapi >= vocab && zebra != okapi);
    assert_int_equal(b->own.question[b->question_width + 2], okapi);
    assert_int_equal(b->own.history[1], zebra);                    // a zebra
    assert_int_equal(b->own.history[b->history_width + 2], zebra); // the question again
    const int32_t *out = b->own.candidate_out;
    for (int u = 0; u < 2; u++) { // the zebra, the lion
        int32_t said = out[u * b->candidate_width + 1];
        assert_true(said >= vocab && said != okapi && (said == zebra) == (u == 0));
        assert_int_equal(b->own.candidate_in[u * b->candidate_width + 2], said);
    }
}

static void check_world(bool packed)
{
    const size_t index = 0;
    const vd_batch *batch;
    vd_candidates shared;
    vd_error err;
    world w;
    open_world(&w, packed);
    must(vd_loader_batch(w.loader, &index, 1, NULL, &batch, &err), &err);
    check_batch(&w, batch);
    must(vd_dataset_candidates(w.set, 0, 1, &shared, &err), &err);
    vd_loader_share(w.loader, &shared);
    must(vd_loader_batch(w.loader, &index, 1, NULL, &batch, &err), &err);
    check_batch(&w, batch);
    vd_candidates_clear(&shared);
    close_world(&w);
}

static void words_have_the_same_number_everywhere(void **state)
{
    (void)state;
    check_world(false);
}

static void words_of_packed_dialogs_too(void **state)
{
    (void)state;
    check_world(true);
}

static void answers_have_boundaries(void **state)
{
    int32_t ids[8], id;
    int length;
    vd_oov_words own = {0};
    vd_error err;
    world w;
    (void)state;
    open_world(&w, false);
    own.vocab = w.vocab;
    must(vd_answer_oov_ids(&own, "the gnu", 8, ids, &length, &err), &err);
    must(vd_oov_words_id(&own, "gnu", &id, &err), &err);
    assert_int_equal(length, 4);
    assert_int_equal(ids[0], VD_START);
    assert_int_equal(ids[2], id);
    assert_int_equal(id, vd_vocab_size(w.vocab));
    assert_int_equal(ids[3], VD_END);
    vd_word_counts_clear(&own.more);
    close_world(&w);
}

// Words of people have any length and any letters.
static void long_words_are_whole_and_names_end_between_letters(void **state)
{
    enum { WORDS = 18, LETTERS = 60 };
    char word[2 * LETTERS + 1] = "", name[24], *text;
    vd_oov_words own = {0};
    vd_error err;
    world w;
    vd_generated_answer said = {.length = WORDS};
    int32_t start[] = {0, 2};
    vd_reply reply = {.answer = {.rounds = 1, .history_start = start}, .words = 1, .word = {word}};
    vd_entry_words words = {.count = 2, .word = {"", "gnu"}};
    (void)state;
    open_world(&w, false);
    for (int i = 0; i < LETTERS; i++)
        memcpy(word + 2 * i, "ä", 3);
    own.vocab = w.vocab;
    for (int i = 0; i < WORDS; i++)
        must(vd_oov_words_id(&own, word, &said.word[i], &err), &err);
    text = vd_generated_answer_text(&own, &said);
    assert_int_equal(strlen(text), WORDS * (2 * LETTERS + 1) - 1);
    reply.given = text;
    vd_reply_given_word(&reply, WORDS - 1, name, sizeof name);
    assert_string_equal(name, "äääääääääää");
    vd_reply_given_word(&reply, WORDS, name, sizeof name);
    assert_string_equal(name, "(end)");
    vd_reply_dialog_word(&reply, 2, NULL, name, sizeof name);
    assert_string_equal(name, "äääääääääää");
    vd_reply_dialog_word(&reply, 3, NULL, name, sizeof name);
    assert_string_equal(name, "#2");
    memcpy(words.word[0], word, 30);
    vd_reply_dialog_word(&reply, 0, &words, name, sizeof name);
    assert_string_equal(name, "ääääääääää@0");
    vd_reply_dialog_word(&reply, 1, &words, name, sizeof name);
    assert_string_equal(name, "gnu@0");
    words.count = 1;
    vd_reply_dialog_word(&reply, 1, &words, name, sizeof name);
    assert_string_equal(name, "#2@0");
    vd_free(text);
    vd_word_counts_clear(&own.more);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_the_same_number_everywhere),
        cmocka_unit_test(words_of_packed_dialogs_too),
        cmocka_unit_test(answers_have_boundaries),
        cmocka_unit_test(long_words_are_whole_and_names_end_between_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
