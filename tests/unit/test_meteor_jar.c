// METEOR 1.5 by its Java program: what is said to it and what it answers, with a java that is a
// script; what is missing or ends early is explained.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/caption_files.h"
#include "tests/support/must.h"
#include "tests/support/one_directory.h"
#include "tests/support/program.h"
#include "tui/measure/meteor_jar.h"

// Statistics are the number of words of the caption; a score is a hundredth of them, that of all a
// hundredth of the sum. Keeps what it was told, and where it was started.
static const char java[] =
    "#!/bin/sh\n"
    "echo \"$@\" >arguments\n"
    ": >heard\n"
    "while read -r line; do\n"
    "  echo \"$line\" >>heard\n"
    "  case $line in\n"
    "  SCORE*) set -- ${line##*|||}; echo \"$#.0 1.0\" ;;\n"
    "  EVAL*) sum=0\n"
    "    for n in $(echo \"$line\" | grep -o '[0-9]*\\.0 1.0' | cut -d. -f1)\n"
    "    do sum=$((sum + n)); echo \"0.0$n\"; done; echo \"0.$sum\" ;;\n"
    "  esac\n"
    "done\n";

static char *jar;

static void write_java(const char *script)
{
    char *path = support_join(directory, "java");
    support_write_text(path, script);
    assert_int_equal(chmod(path, 0755), 0);
    free(path);
}

static int begin(void **state)
{
    char path[4096];
    make_directory(state);
    jar = support_join(directory, "meteor-1.5.jar");
    support_write_text(jar, "not read");
    snprintf(path, sizeof path, "%s:%s", directory, getenv("PATH"));
    setenv("PATH", path, 1);
    return 0;
}

static int end(void **state)
{
    free(jar);
    return remove_directory(state);
}

static char *read_beside(const char *name)
{
    char *path = support_join(directory, name), *text = support_read_file(path, NULL);
    free(path);
    return text;
}

static const char *const first[] = {"a red ball", "two balls"}, *const second[] = {"a dog"};
static const vd_meteor_pair pairs[] = {{"a ball", 2, first}, {"a black dog", 1, second}};

static void it_is_told_all_and_answers(void **state)
{
    double score = 0;
    vd_error err;
    (void)state;
    write_java(java);
    must(vd_meteor_jar_run(jar, pairs, 2, &score, &err), &err);
    assert_true(score == 0.5);
    char *heard = read_beside("heard"), *arguments = read_beside("arguments"), expected[4200];
    assert_string_equal(heard, "SCORE ||| a red ball ||| two balls ||| a ball\n"
                               "SCORE ||| a dog ||| a black dog\n"
                               "EVAL ||| 2.0 1.0 ||| 3.0 1.0\n");
    snprintf(expected, sizeof expected, "-jar -Xmx2G %s - - -stdio -l en -norm\n", jar);
    assert_string_equal(arguments, expected);
    free(arguments);
    free(heard);
}

static void what_does_not_answer_is_explained(void **state)
{
    double score;
    vd_error err;
    (void)state;
    write_java("#!/bin/sh\nexit 1\n");
    support_refused(vd_meteor_jar_run(jar, pairs, 2, &score, &err), VD_FORMAT, &err,
                    "expected statistics, found no more lines", "meteor-1.5.jar", NULL);
    write_java("#!/bin/sh\necho Error: Invalid jarfile\ncat >/dev/null\n");
    support_refused(vd_meteor_jar_run(jar, pairs, 2, &score, &err), VD_FORMAT, &err,
                    "expected statistics, found Error: Invalid jarfile", "meteor-1.5.jar", NULL);
    write_java("#!/bin/sh\nread line; echo 1.0; read line; echo 2.0; read line; echo none\n");
    support_refused(vd_meteor_jar_run(jar, pairs, 2, &score, &err), VD_FORMAT, &err,
                    "expected a score, found none", NULL);
    support_refused(vd_meteor_jar_run("/nowhere/m.jar", pairs, 2, &score, &err), VD_NOT_FOUND, &err,
                    "--meteor-jar /nowhere/m.jar", "No such file", NULL);
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    support_refused(vd_meteor_jar_run(jar, pairs, 2, &score, &err), VD_NOT_FOUND, &err,
                    "there is no java on the PATH", NULL);
    setenv("PATH", path, 1);
    free(path);
}

static void eval_prints_it(void **state)
{
    char *references = support_join(directory, "coco.json"),
         *said = support_join(directory, "said");
    support_program run;
    (void)state;
    write_java(java);
    caption_files_coco(references);
    support_write_text(said, "[{\"image_id\": 9, \"caption\": \"A hat.\"}, {\"image_id\": 7, "
                             "\"caption\": \"a ball\"}, {\"image_id\": 4, \"caption\": \"\"}]");
    const char *const arguments[] = {"eval", "--task",       "caption",  "--results",
                                     said,   "--references", references, "--meteor-jar",
                                     jar,    "--resamples",  "20",       NULL};
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "METEOR     40.00                -\n")); // 2 + 2 + 0 words
    support_program_clear(&run);
    char *heard = read_beside("heard");
    assert_non_null(strstr(heard, "SCORE ||| a man 's hat ||| a hat\n"));
    assert_non_null(strstr(heard, "SCORE ||| a red ball ||| two balls ||| a ball\n"));
    free(heard);
    free(said);
    free(references);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_told_all_and_answers),
        cmocka_unit_test(what_does_not_answer_is_explained),
        cmocka_unit_test(eval_prints_it),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
