// The network's small tools: memory of a pass, packed sequences, dropout.
#include "engine/backend/packed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/networks/pass.h"
#include "engine/base/rng.h"
#include "tests/support/support.h"

// ---- arena --------------------------------------------------------------------------------------

static void pieces_are_aligned_apart_and_zeroed_where_promised(void **state)
{
    (void)state;
    vd_arena arena = {0};
    for (int round = 0; round < 3; round++) {
        unsigned char *last = NULL;
        for (size_t n = 0; n < 3000; n = 2 * n + 1) {
            unsigned char *piece = vd_arena_take(&arena, n, 3), *raw;
            assert_non_null(piece);
            assert_true((uintptr_t)piece % 64 == 0 && piece != last);
            for (size_t i = 0; i < 3 * n; i++)
                assert_int_equal(piece[i], 0);
            memset(piece, 0xff, 3 * n);
            raw = vd_arena_take_raw(&arena, 20000, 1);
            assert_non_null(raw);
            memset(raw, 0xff, 20000);
            for (size_t i = 0; i < 3 * n; i++)
                assert_int_equal(piece[i], 0xff);
            last = piece;
        }
        vd_arena_reset(&arena);
    }
    vd_arena_free(&arena);
}

static void a_second_pass_of_a_size_allocates_nothing(void **state)
{
    (void)state;
    vd_arena arena = {0};
    size_t made = 1;
    for (int pass = 0; pass < 3; pass++) {
        vd_alloc_fail_at(0);
        vd_arena_reset(&arena);
        for (int i = 0; i < 50; i++)
            assert_non_null(vd_arena_reals(&arena, 5000));
        made = vd_alloc_fail_at(0);
        assert_true((pass == 0) == (made > 0));
    }
    vd_arena_free(&arena);
}

// Batches differ: what one of them left too little room for must not be asked for again and again.
static void passes_of_all_sizes_keep_to_a_few_times_the_largest(void **state)
{
    (void)state;
    enum { MOST = 1 << 16, PIECES = 40 };
    vd_arena arena = {0};
    vd_rng rng = vd_rng_seed(3, 3);
    size_t largest = 0;
    for (int pass = 0; pass < 500; pass++) {
        size_t taken = 0;
        vd_arena_reset(&arena);
        for (int i = 0; i < PIECES; i++) {
            size_t n = (size_t)vd_rng_range(&rng, 1, MOST);
            unsigned char *piece = vd_arena_take_raw(&arena, n, 1);
            assert_non_null(piece);
            memset(piece, 0xff, n); // for the sanitizers
            taken += n;
        }
        largest = taken > largest ? taken : largest;
    }
    assert_true(arena.host.total <= 4 * largest);
    vd_arena_free(&arena);
}

static void an_impossible_size_fails_until_the_reset(void **state)
{
    (void)state;
    vd_arena arena = {0};
    assert_null(vd_arena_take(&arena, SIZE_MAX / 2, 3));
    assert_null(vd_arena_take_raw(&arena, SIZE_MAX, 1));
    assert_true(arena.failed);
    assert_non_null(vd_arena_ints(&arena, 4));
    assert_true(arena.failed);
    vd_arena_reset(&arena);
    assert_false(arena.failed);
    vd_arena_free(&arena);
}

// ---- packed -------------------------------------------------------------------------------------

enum { WIDTH = 6, MOST = 9 };

static void check_rows(const vd_packed *p, const int32_t *ids)
{
    int row = 0;
    for (int s = 0; s < p->sequences; s++) {
        assert_int_equal(p->start[s], row);
        for (int i = 0; i < p->length[s]; i++, row++) {
            assert_int_equal(p->id[row], ids[s * WIDTH + i]);
            assert_int_equal(p->position[row], i);
            assert_int_equal(p->owner[row], s);
        }
    }
    assert_int_equal(p->start[p->sequences], row);
    assert_int_equal(p->tokens, row);
}

// The k-th row of a step belongs to the k-th longest sequence, and to it alone.
static void check_steps(const vd_packed *p)
{
    int row = 0;
    for (int k = 1; k < p->sequences; k++) {
        int before = p->order[k - 1], now = p->order[k];
        assert_true(p->length[before] > p->length[now] ||
                    (p->length[before] == p->length[now] && before < now));
    }
    for (int step = 0; step < p->longest; step++) {
        assert_int_equal(p->offset[step], row);
        assert_true(p->active[step] > 0);
        for (int k = 0; k < p->active[step]; k++, row++) {
            int s = p->order[k];
            assert_true(step < p->length[s]);
            assert_int_equal(p->forward[row], p->start[s] + step);
            assert_int_equal(p->backward[row], p->start[s + 1] - 1 - step);
        }
        if (p->active[step] < p->sequences)
            assert_true(p->length[p->order[p->active[step]]] <= step);
    }
    assert_int_equal(p->offset[p->longest], row);
    assert_int_equal(p->tokens, row);
}

// Every row is inner when others go on from it, which lie together, and is listed with its step.
static void check_inner(const vd_packed *p)
{
    const vd_packed_inner *inner = &p->inner;
    int listed = 0, widest = 0;
    for (int step = 0; step < p->longest; step++) {
        widest = p->active[step] > widest ? p->active[step] : widest;
        assert_int_equal(inner->start[step], listed);
        for (int k = 0; k < p->active[step]; k++) {
            int row = p->offset[step] + k, children = 0;
            for (int later = 0; step + 1 < p->longest && later < p->active[step + 1]; later++) {
                int child = p->offset[step + 1] + later;
                if ((p->parent ? p->parent[child] : p->offset[step] + later) != row)
                    continue;
                assert_true(inner->at[row] == listed);
                assert_int_equal(child, inner->child[listed] + children);
                children++;
            }
            if (children == 0) {
                assert_int_equal(inner->at[row], -1);
                continue;
            }
            assert_int_equal(inner->row[listed], row);
            assert_int_equal(inner->child[listed] + children, inner->child[listed + 1]);
            listed++;
        }
    }
    assert_int_equal(inner->start[p->longest], listed);
    assert_int_equal(inner->count, listed);
    assert_int_equal(p->widest, widest);
}

// Tokens are the same distinct word when their ids are, and their positions where these count.
static void check_distinct(const vd_packed *p, int vocab, bool apart, vd_arena *arena)
{
    vd_distinct_words d;
    vd_error err;
    int seen = 0;
    assert_int_equal(vd_packed_distinct(p, vocab, apart, arena, &d, &err), VD_OK);
    for (int row = 0; row < p->tokens; row++) {
        assert_true(d.word[row] >= 0 && d.word[row] < d.count);
        assert_int_equal(d.id[d.word[row]], p->id[row]);
        assert_true(!apart || d.position[d.word[row]] == p->position[row]);
        bool first = true;
        for (int other = 0; other < row; other++) {
            bool same =
                p->id[row] == p->id[other] && (!apart || p->position[row] == p->position[other]);
            assert_int_equal(d.word[row] == d.word[other], same);
            first = first && !same;
        }
        seen += first;
    }
    assert_int_equal(d.count, seen);
}

static void every_word_has_one_row_in_each_order(void **state)
{
    (void)state;
    vd_arena arena = {0};
    vd_error err;
    for (uint64_t seed = 0; seed < 300; seed++) {
        vd_rng rng = vd_rng_seed(seed, 1);
        int32_t ids[MOST * WIDTH], lengths[MOST];
        int sequences = vd_rng_below(&rng, MOST + 1), longest = vd_rng_below(&rng, WIDTH + 1);
        vd_packed p;
        for (int i = 0; i < MOST * WIDTH; i++)
            ids[i] = vd_rng_below(&rng, 1000);
        for (int s = 0; s < sequences; s++)
            lengths[s] = vd_rng_below(&rng, longest + 1);
        vd_arena_reset(&arena);
        assert_int_equal(vd_packed_make(ids, lengths, sequences, WIDTH, &arena, &p, &err), VD_OK);
        assert_int_equal(p.sequences, sequences);
        check_rows(&p, ids);
        check_steps(&p);
        check_inner(&p);
        for (int i = 0; i < p.tokens; i++)
            p.id[i] %= 5;
        check_distinct(&p, 5, seed % 2, &arena);
    }
    vd_arena_free(&arena);
}

// The words that lead to a row, read backwards from it.
static void follow(const vd_packed *p, int row, const int32_t *ids, int length)
{
    for (int i = length - 1; i >= 0; i--) {
        assert_true(row >= p->offset[i] && row < p->offset[i] + p->active[i]);
        assert_int_equal(p->id[row], ids[i]);
        assert_int_equal(p->position[row], i);
        assert_int_equal(p->forward[row], row);
        row = p->parent[row];
    }
    assert_int_equal(row, -1);
}

// Every sequence of a tree twice, by itself.
static void check_apart(const vd_packed *tree, const int *last, int count, vd_arena *arena)
{
    int end[2 * MOST], *row, words = 0;
    vd_packed p;
    vd_error err;
    for (int s = 0; s < 2 * count; s++)
        end[s] = last[s % count];
    assert_int_equal(vd_packed_apart(tree, end, 2 * count, arena, &p, &row, &err), VD_OK);
    assert_int_equal(p.sequences, 2 * count);
    for (int s = 0; s < p.sequences; s++) {
        int at = last[s % count];
        words += p.length[s];
        assert_int_equal(p.length[s], at < 0 ? 0 : tree->position[at] + 1);
        assert_int_equal(end[s], at < 0 ? -1 : words - 1);
        for (int k = end[s]; k >= p.start[s] && at >= 0; k--, at = tree->parent[at]) {
            assert_int_equal(row[k], at);
            assert_int_equal(p.id[k], tree->id[at]);
        }
    }
    assert_int_equal(p.tokens, words);
}

static void more_words_than_can_be_counted_are_refused(void **state)
{
    (void)state;
    vd_packed tree = {.longest = VD_MAX_CANDIDATE}, p;
    vd_error err;
    int *row;
    assert_int_equal(vd_packed_apart(&tree, NULL, 200000000, NULL, &p, &row, &err), VD_USAGE);
    assert_non_null(strstr(err.text, "200000000 sequences of up to 20 words"));
}

static void every_prefix_has_one_row(void **state)
{
    (void)state;
    vd_arena arena = {0};
    vd_error err;
    for (uint64_t seed = 0; seed < 300; seed++) {
        vd_rng rng = vd_rng_seed(seed, 2);
        int32_t ids[MOST * WIDTH], lengths[MOST];
        int count = vd_rng_below(&rng, MOST + 1), order[MOST], last[MOST];
        vd_packed p;
        for (int i = 0; i < MOST * WIDTH; i++)
            ids[i] = vd_rng_below(&rng, 3);
        for (int s = 0; s < count; s++)
            lengths[s] = vd_rng_below(&rng, WIDTH + 1);
        vd_arena_reset(&arena);
        assert_int_equal(vd_packed_sort(ids, lengths, WIDTH, count, order, &err), VD_OK);
        assert_int_equal(
            vd_packed_prefixes(ids, lengths, WIDTH, order, count, &arena, &p, last, &err), VD_OK);
        for (int i = 0; i < count; i++)
            follow(&p, last[i], ids + order[i] * WIDTH, lengths[order[i]]);
        check_inner(&p);
        check_distinct(&p, 3, seed % 2, &arena);
        check_apart(&p, last, count, &arena);
        for (int row = 0; row < p.tokens; row++)
            for (int other = 0; other < row; other++)
                assert_true(p.position[row] != p.position[other] ||
                            p.parent[row] != p.parent[other] || p.id[row] != p.id[other]);
    }
    vd_arena_free(&arena);
}

static vd_status pack(void *context, vd_error *err)
{
    static const int32_t ids[2 * WIDTH] = {5, 6, 7, 8}, lengths[2] = {4, 0};
    vd_arena arena = {0};
    vd_packed p;
    (void)context;
    int order[2], last[2];
    vd_status status = vd_packed_make(ids, lengths, 2, WIDTH, &arena, &p, err);
    if (status == VD_OK)
        status = vd_packed_sort(ids, lengths, WIDTH, 2, order, err);
    if (status == VD_OK)
        status = vd_packed_prefixes(ids, lengths, WIDTH, order, 2, &arena, &p, last, err);
    vd_distinct_words words;
    if (status == VD_OK)
        status = vd_packed_distinct(&p, 9, true, &arena, &words, err);
    vd_packed apart;
    int *row;
    if (status == VD_OK)
        status = vd_packed_apart(&p, last, 2, &arena, &apart, &row, err);
    vd_arena_free(&arena);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(pack, NULL) >= 2);
}

// ---- dropout ------------------------------------------------------------------------------------

enum { N = 200000 };

static void dropout_keeps_the_expected_share_and_the_mean(void **state)
{
    (void)state;
    static const vd_real rates[] = {0.1f, 0.25f, 0.4f, 0.9f};
    vd_real *x = vd_alloc(N, sizeof *x), *y = vd_alloc(N, sizeof *y);
    for (int i = 0; i < N; i++)
        x[i] = 1;
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (uint64_t key = 1; key <= 5; key++) {
            double rate = (double)rates[r], kept = 0, pairs = 0, sum = 0;
            vd_backend_cpu()->dropout(x, y, N, rates[r], vd_rng_mix(key));
            for (int i = 0; i < N; i++) {
                kept += y[i] != 0;
                pairs += i > 0 && y[i] != 0 && y[i - 1] != 0;
                sum += (double)y[i];
            }
            // Five standard deviations; neighbours are independent.
            double share = 1 - rate, spread = 5 * sqrt(share * rate / N);
            assert_true(fabs(kept / N - share) < spread);
            assert_true(fabs(sum / N - 1) < spread / share);
            assert_true(fabs(pairs / N - share * share) < 5 * sqrt(share * rate / N) * 2);
        }
    vd_free(x);
    vd_free(y);
}

static void the_gradient_gets_the_mask_of_the_pass(void **state)
{
    (void)state;
    vd_arena arena = {0};
    vd_pass pass = {.be = vd_backend_cpu(), .arena = &arena, .key = 77};
    vd_real *x = vd_alloc(N, sizeof *x), *first = vd_alloc(N, sizeof *first);
    size_t differ = 0;
    for (int i = 0; i < N; i++)
        x[i] = 1;
    assert_ptr_equal(vd_pass_drop(&pass, x, N, 0, VD_SITE_FUSION), x);
    for (int site = VD_SITE_QUESTION_WORDS; site <= VD_SITE_ANSWER_WORDS; site++) {
        vd_arena_reset(&arena);
        const vd_real *y = vd_pass_drop(&pass, x, N, 0.25f, (vd_site)site);
        vd_real *d = vd_arena_reals(&arena, N);
        memcpy(d, x, N * sizeof *d);
        vd_pass_drop_backward(&pass, d, N, 0.25f, (vd_site)site);
        assert_memory_equal(y, d, N * sizeof *d);
        // No two positions share a mask.
        bool other = false;
        for (int i = 0; i < N; i++)
            other = other || first[i] != y[i];
        differ += site > 0 && other;
        memcpy(first, y, N * sizeof *y);
    }
    assert_int_equal(differ, VD_SITE_ANSWER_WORDS);
    vd_free(x);
    vd_free(first);
    vd_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_apart_and_zeroed_where_promised),
        cmocka_unit_test(a_second_pass_of_a_size_allocates_nothing),
        cmocka_unit_test(passes_of_all_sizes_keep_to_a_few_times_the_largest),
        cmocka_unit_test(an_impossible_size_fails_until_the_reset),
        cmocka_unit_test(every_word_has_one_row_in_each_order),
        cmocka_unit_test(every_prefix_has_one_row),
        cmocka_unit_test(more_words_than_can_be_counted_are_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(dropout_keeps_the_expected_share_and_the_mean),
        cmocka_unit_test(the_gradient_gets_the_mask_of_the_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
