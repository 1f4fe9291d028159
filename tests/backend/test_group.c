// Two processes against one: this program starts itself twice under mpirun, each with its part of
// the dialogs, and their losses must be those of one process that takes the same pieces, and
// without dropout those of one batch.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/train/group.h"
#include "engine/train/trainer.h"
#include "tests/support/must.h"
#include "tests/support/small_batch.h"
#include "tests/support/step.h"
#include "tests/support/support.h"

enum { STEPS = 6 };

static char build[4096], self[4096];

// Dialogs [from, to) of the small batch.
static vd_batch part_of(int from, int to)
{
    vd_batch b = *small_batch();
    size_t first = (size_t)from, rounds = first * (size_t)b.rounds;
    b.image += first * (size_t)b.regions * SMALL_REGION;
    b.question += rounds * (size_t)b.question_width;
    b.question_length += rounds;
    b.history += rounds * (size_t)b.history_width;
    b.history_length += rounds;
    b.option += rounds * (size_t)b.candidates;
    b.truth += rounds;
    b.dialogs = to - from;
    return b;
}

static vd_trainer *new_trainer(float dropout, vd_error *err)
{
    vd_config config = {.vocab = SMALL_VOCAB,
                        .embed = 6,
                        .hidden = 8,
                        .region = SMALL_REGION,
                        .gate = VD_GATE_LEAKY_RELU,
                        .positions = VD_POSITIONS_SINUSOIDAL};
    vd_train_options options = vd_train_defaults();
    options.rate = 1e-2;
    options.clip = 1;
    options.dropout = options.lstm_dropout = options.position_dropout = dropout;
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer = NULL;
    vd_status status = vd_trainer_new(&config, vocab, &options, &trainer, err);
    vd_vocab_free(vocab);
    return status == VD_OK ? trainer : NULL;
}

// ---- what mpirun starts -------------------------------------------------------------------------

// Rank 0 has one dialog, rank 1 the rest.
static int be_a_rank(float dropout)
{
    const char *const directories[] = {build, NULL};
    const vd_group *group;
    vd_error err;
    if (vd_group_join(directories, &group, &err) != VD_OK || !group || group->size != 2) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    vd_trainer *trainer = new_trainer(dropout, &err);
    vd_batch part = group->rank ? part_of(1, SMALL_DIALOGS) : part_of(0, 1);
    if (vd_trainer_join(trainer, group, &err) != VD_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int i = 0; i < STEPS; i++) {
        double loss, norm;
        if (step_gradient(trainer, &part, 1, vd_batch_totals(small_batch()), &loss, &err) ||
            vd_trainer_update(trainer, 1, &loss, &norm, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        if (group->rank == 0)
            printf("%.12g %.12g\n", loss, norm);
    }
    vd_trainer_free(trainer);
    group->leave();
    return 0;
}

// ---- tests --------------------------------------------------------------------------------------

// Open MPI loses memory of the modules it unloads.
static const char MPIRUN[] = "ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 "
                             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 "
                             "mpirun --oversubscribe -n 2 ";

static void need_mpirun(void)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/visdial-mpi.so", build);
    if (access(path, R_OK) == 0 && system("command -v mpirun >/dev/null") == 0)
        return;
    support_skip("mpirun, or the plugin that MPI's compiler makes");
}

static void compare_losses(float dropout, bool whole)
{
    char command[9000], line[128];
    vd_error err;
    snprintf(command, sizeof command, "%s '%s' --rank %g", MPIRUN, self, (double)dropout);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    vd_trainer *trainer = new_trainer(dropout, &err);
    assert_non_null(trainer);
    vd_totals of = vd_batch_totals(small_batch());
    vd_batch part[2] = {part_of(0, 1), part_of(1, SMALL_DIALOGS)};
    for (int i = 0; i < STEPS; i++) {
        double loss = 0, norm, found[2];
        if (whole) {
            must(step_take(trainer, small_batch(), 1, &loss, &norm, &err), &err);
        } else {
            must(step_gradient(trainer, part, 2, of, &loss, &err), &err);
            must(vd_trainer_update(trainer, 1, &loss, &norm, &err), &err);
        }
        assert_non_null(fgets(line, sizeof line, out));
        assert_int_equal(sscanf(line, "%lf %lf", &found[0], &found[1]), 2);
        if (!(fabs(found[0] - loss) <= 1e-5) || !(fabs(found[1] - norm) <= 1e-4 * norm))
            fail_msg("step %d: loss %.9g, norm %.9g; in one process %.9g, %.9g", i + 1, found[0],
                     found[1], loss, norm);
    }
    assert_int_equal(pclose(out), 0);
    vd_trainer_free(trainer);
}

static void two_processes_have_the_losses_of_one(void **state)
{
    (void)state;
    need_mpirun();
    compare_losses(0.25f, false);
    compare_losses(0, true);
}

static void alone_is_no_group(void **state)
{
    (void)state;
    const vd_group *group;
    vd_error err;
    assert_int_equal(vd_group_join(NULL, &group, &err), VD_OK);
    assert_null(group);
}

static void a_missing_plugin_is_told(void **state)
{
    (void)state;
    const char *const directories[] = {"/nowhere", NULL};
    const vd_group *group;
    vd_error err;
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    support_refused(vd_group_join(directories, &group, &err), VD_UNAVAILABLE, &err,
                    "started as one of 2 processes", "visdial-mpi.so in /nowhere",
                    "built without mpicc", NULL);
    unsetenv("OMPI_COMM_WORLD_SIZE");
}

// Two processes, the other of which says what this one does, plus `other`.
static double other;

static const char *sum_of_two(double *x, size_t n)
{
    assert_int_equal(n, 2);
    x[1] = x[0] + other;
    return NULL;
}

static const char *no_sum(double *x, size_t n)
{
    (void)x;
    (void)n;
    return "the line is cut";
}

static vd_status agree(void *context, vd_error *err)
{
    return vd_group_agree(context, "settings", "batch=4", err);
}

static void processes_agree_or_say_what_differs(void **state)
{
    (void)state;
    vd_error err;
    vd_group group = {.abi = VD_GROUP_ABI, .size = 2, .sum_doubles = sum_of_two};
    other = 0;
    assert_int_equal(support_fail_each_allocation(agree, &group), 1);
    assert_int_equal(vd_group_agree(NULL, "settings", "batch=4", &err), VD_OK);
    other = 1;
    support_refused(agree(&group, &err), VD_MISMATCH, &err,
                    "process 1 has other settings than process 0", "batch=4", NULL);
    group.sum_doubles = no_sum;
    support_refused(agree(&group, &err), VD_IO, &err, "the line is cut", NULL);
}

static int find_build(void)
{
    const char *program = getenv("VISDIAL_BIN");
    snprintf(build, sizeof build, "%s", program ? program : "build/visdial");
    char *slash = strrchr(build, '/');
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!slash || length < 1)
        return -1;
    *slash = '\0';
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_is_no_group),
        cmocka_unit_test(a_missing_plugin_is_told),
        cmocka_unit_test(processes_agree_or_say_what_differs),
        cmocka_unit_test(two_processes_have_the_losses_of_one),
    };
    if (find_build() != 0)
        return 1;
    if (argc == 3 && strcmp(argv[1], "--rank") == 0)
        return be_a_rank(strtof(argv[2], NULL));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
