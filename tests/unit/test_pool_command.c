// visdial pool build, and what comes of it in ask.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "engine/base/alloc.h"
#include "features/dialogs/answer_pool.h"
#include "tests/support/one_world.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static const char said[] =
    "{\"version\":\"1.0\",\"split\":\"train2018\",\"data\":{"
    "\"questions\":[\"is it red\"],"
    "\"answers\":[\"never\",\"no\",\"yes\",\"red\",\"yes it is\",\"no\"],"
    "\"dialogs\":[{\"image_id\":1,\"caption\":\"a cube\",\"dialog\":["
    "{\"question\":0,\"answer\":2,\"answer_options\":[0,2],\"gt_index\":1},"
    "{\"question\":0,\"answer\":1,\"answer_options\":[0,1],\"gt_index\":1},"
    "{\"question\":0,\"answer\":5,\"answer_options\":[0,5],\"gt_index\":1},"
    "{\"question\":0,\"answer\":4,\"answer_options\":[0,4],\"gt_index\":1}]},"
    "{\"image_id\":2,\"caption\":\"a ball\",\"dialog\":["
    "{\"question\":0,\"answer\":1,\"answer_options\":[0,1],\"gt_index\":1},"
    "{\"question\":0,\"answer\":2,\"answer_options\":[0,2],\"gt_index\":1},"
    "{\"question\":0,\"answer\":3,\"answer_options\":[0,3],\"gt_index\":1}]}]}}";

static char *write_dialogs(void)
{
    char *path = support_join(tiny.directory, "said.json");
    support_write_text(path, said);
    return path;
}

static void answers_are_counted_once_each(void **state)
{
    (void)state;
    char *path = write_dialogs();
    vd_visdial *data;
    vd_answer_pool pool;
    vd_error err;
    assert_int_equal(vd_visdial_read(path, &data, &err), VD_OK);
    assert_int_equal(vd_answer_pool_count(data, 0, &pool, &err), VD_OK);
    static const char *const expected[] = {"no", "yes", "red", "yes it is"};
    static const int64_t times[] = {3, 2, 1, 1};
    assert_int_equal(pool.count, 4); // "no" stands twice in the table, nobody said "never"
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(pool.answer[i], expected[i]);
        assert_int_equal(pool.times[i], times[i]);
    }
    vd_answer_pool_clear(&pool);
    assert_int_equal(vd_answer_pool_count(data, 2, &pool, &err), VD_OK);
    assert_int_equal(pool.count, 2);
    vd_answer_pool_clear(&pool);
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++)
            data->dialogs[d].rounds[r].answer = -1;
    support_refused(vd_answer_pool_count(data, 0, &pool, &err), VD_FORMAT, &err, "said.json",
                    "it holds no answers", NULL);
    vd_visdial_free(data);
    free(path);
}

static vd_status count_once(void *context, vd_error *err)
{
    vd_answer_pool pool;
    vd_status status = vd_answer_pool_count(context, 0, &pool, err);
    vd_answer_pool_clear(&pool);
    return status;
}

static void counting_out_of_memory_is_reported(void **state)
{
    (void)state;
    char *path = write_dialogs();
    vd_visdial *data;
    assert_int_equal(vd_visdial_read(path, &data, NULL), VD_OK);
    assert_int_equal(support_fail_each_allocation(count_once, data), 8);
    vd_visdial_free(data);
    free(path);
}

static void run(const char *const *arguments, int code, const char *out, const char *err)
{
    support_program program;
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, code, err, NULL);
    assert_non_null(strstr(program.out, out));
    support_program_clear(&program);
}

#define RUN(code, out, err, ...) run((const char *const[]){__VA_ARGS__, NULL}, code, out, err)

static void a_pool_and_its_vectors_go_beside_the_model(void **state)
{
    (void)state;
    char *data = write_dialogs(), *directory = support_join(tiny.directory, "run1");
    char *model = support_join(tiny.directory, "own.safetensors");
    char *pool = support_join(tiny.directory, "own_pool.txt");
    char *vectors = support_join(tiny.directory, "own.vectors.safetensors");
    tiny_world_model(&tiny, model, TINY_REGION_SIZE, "own_pool.txt");
    RUN(0, "4 answers, given 1 to 3 times", "", "pool", "build", "--data", data, "--model", model,
        "--quiet");
    char *text = support_read_file(pool, NULL);
    assert_string_equal(text, "3\tno\n2\tyes\n1\tred\n1\tyes it is\n");
    free(text);
    assert_true(support_exists(vectors));

    // ask with the vectors and without them says the same.
    support_program first, second;
    const char *const ask[] = {"ask", "--assets", tiny.directory, "--image",   "1", "--model",
                               model, "--json",   "--fold",       "is it red", NULL};
    support_program_run(&first, ask, NULL);
    support_program_expect(&first, 0, NULL);
    assert_int_equal(remove(vectors), 0);
    support_program_run(&second, ask, NULL);
    support_program_expect(&second, 0, NULL);
    char reason[200];
    yajl_val a = yajl_tree_parse(first.out, reason, sizeof reason);
    yajl_val b = yajl_tree_parse(second.out, reason, sizeof reason);
    const char *answers[] = {"answers", NULL}, *probability[] = {"probability", NULL};
    const char *alike[] = {"alike", NULL}, *words[] = {"text", NULL};
    yajl_val x = yajl_tree_get(a, answers, yajl_t_array),
             y = yajl_tree_get(b, answers, yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(x)->len, 3); // "yes" and "yes it is" are one
    double sum = 0;
    for (size_t i = 0; i < 3; i++) {
        yajl_val one = YAJL_GET_ARRAY(x)->values[i], other = YAJL_GET_ARRAY(y)->values[i];
        double p = YAJL_GET_DOUBLE(yajl_tree_get(one, probability, yajl_t_number));
        assert_true(p == YAJL_GET_DOUBLE(yajl_tree_get(other, probability, yajl_t_number)));
        const char *answer = YAJL_GET_STRING(yajl_tree_get(one, words, yajl_t_string));
        assert_non_null(answer);
        bool yes = strncmp(answer, "yes", 3) == 0;
        assert_int_equal(YAJL_GET_INTEGER(yajl_tree_get(one, alike, yajl_t_number)), yes);
        sum += p;
    }
    assert_float_equal(sum, 1, 1e-5);
    yajl_tree_free(a);
    yajl_tree_free(b);
    support_program_clear(&first);
    support_program_clear(&second);
    free(vectors);
    free(pool);
    free(model);
    free(directory);
    free(data);
}

static void a_generative_model_gets_its_pool_alone(void **state)
{
    (void)state;
    char *data = write_dialogs(), *model = support_join(tiny.directory, "generative.safetensors");
    char *pool = support_join(tiny.directory, "said_pool.txt");
    char *vectors = support_join(tiny.directory, "generative.vectors.safetensors");
    tiny_world_model(&tiny, model, TINY_REGION_SIZE, "said_pool.txt");
    RUN(0, "there are no vectors to write", "", "pool", "build", "--data", data, "--model", model,
        "--quiet");
    assert_true(support_exists(pool));
    assert_false(support_exists(vectors));
    free(vectors);
    free(pool);
    free(model);
    free(data);
}

static void what_cannot_be_built_is_refused(void **state)
{
    (void)state;
    char *data = write_dialogs(), *pool = support_join(tiny.directory, "top.txt");
    RUN(0, "2 answers, given 2 to 3 times", "", "pool", "build", "--data", data, "--top", "2",
        "--out", pool, "--force");
    RUN(2, "", "expected build; see", "pool");
    RUN(2, "", "expected build, found 'make'", "pool", "make");
    RUN(2, "", "--data is missing", "pool", "build");
    RUN(2, "", "name the file to write with --out", "pool", "build", "--data", data);
    RUN(2, "", "--top: expected", "pool", "build", "--data", data, "--out", pool, "--top", "0");
    RUN(3, "", "nowhere.json", "pool", "build", "--data", "nowhere.json", "--out", pool, "--force");
    RUN(3, "", "nowhere.safetensors", "pool", "build", "--data", data, "--model",
        "nowhere.safetensors");
    free(pool);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_counted_once_each),
        cmocka_unit_test(counting_out_of_memory_is_reported),
        cmocka_unit_test(a_pool_and_its_vectors_go_beside_the_model),
        cmocka_unit_test(a_generative_model_gets_its_pool_alone),
        cmocka_unit_test(what_cannot_be_built_is_refused),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
