// `visdial train` in several processes under mpirun: the losses of one process, one writer of
// files, stops and resumes, and what is said when a process fails, or was started otherwise.
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/train/event_file.h"

enum { MOST = 50 };

static tiny_world tiny;
static char binary[4096];

static int make_tiny(void **state)
{
    (void)state;
    const char *given = getenv("VISDIAL_BIN");
    if (!realpath(given ? given : "build/visdial", binary))
        return -1;
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    return 0;
}

static int remove_tiny(void **state)
{
    (void)state;
    tiny_world_remove(&tiny);
    return 0;
}

#define MORE(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__ __VA_OPT__(, ) NULL                                                            \
    }

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

// ---- runs ---------------------------------------------------------------------------------------

// `visdial train` into tiny.directory/out, with more arguments; steps of four dialogs, two at a
// time, so that two processes take the micro-batches of one.
static void start(support_program *run, const char *out, const char *const *more)
{
    char *directory = support_join(tiny.directory, out);
    const char *arguments[MOST] = {
        "train",   "--data",   tiny.train, "--features",  tiny.features, "--out",
        directory, "--embed",  "6",        "--hidden",    "4",           "--batch",
        "4",       "--epochs", "3",        "--min-count", "1",           "--micro-batch",
        "2",       "--rate",   "0.01"};
    int count = 21;
    for (; *more && count < MOST - 1; more++)
        arguments[count++] = *more;
    arguments[count] = NULL;
    support_program_start(run, arguments, NULL, 0);
    free(directory);
}

static void expect_run(support_program *run, int code, const char *one, const char *two)
{
    support_program_wait(run);
    support_program_expect(run, code, one, two, NULL);
    support_program_clear(run);
}

static void expect_alone(const char *out, const char *const *more)
{
    support_program run;
    start(&run, out, more);
    expect_run(&run, 0, "", NULL);
}

static bool have_mpirun(void)
{
    char plugin[4200];
    snprintf(plugin, sizeof plugin, "%.4080s-mpi.so", binary);
    return access(plugin, R_OK) == 0 && system("command -v mpirun >/dev/null") == 0;
}

static void need_mpirun(void)
{
    if (!have_mpirun())
        support_skip("mpirun, or the plugin that MPI's compiler makes");
}

// mpirun with a process for each of `own`, its arguments beyond those that all have. Each writes
// its number to tiny.directory/pid.RANK. What mpirun starts is $VISDIAL_BIN.
static void start_ranks(support_program *run, int size, const char *const *own, const char *out,
                        const char *const *more)
{
    // Open MPI loses memory of the modules it unloads.
    static const char head[] = "#!/bin/sh\n"
                               "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
                               "export OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0\n"
                               "exec mpirun --oversubscribe";
    char text[32768], *script = support_join(tiny.directory, "mpirun.sh");
    char *program = strdup(getenv("VISDIAL_BIN") ? getenv("VISDIAL_BIN") : binary);
    size_t length = (size_t)snprintf(text, sizeof text, "%s", head);
    for (int r = 0; r < size; r++)
        length += (size_t)snprintf(
            text + length, sizeof text - length,
            "%s -n 1 sh -c 'echo $$ >%s/pid.%d; exec \"$0\" \"$@\"' '%s' \"$@\" %s", r ? " :" : "",
            tiny.directory, r, program, own ? own[r] : "");
    assert_true(length + 1 < sizeof text);
    snprintf(text + length, sizeof text - length, "\n");
    support_write_text(script, text);
    assert_int_equal(chmod(script, 0755), 0);
    setenv("VISDIAL_BIN", script, 1);
    start(run, out, more);
    setenv("VISDIAL_BIN", program, 1);
    free(program);
    free(script);
}

static int count_of(const char *text, const char *words)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        count++;
    return count;
}

// All ranks of a run, which must end well; only the first may report.
static void expect_ranks(int size, const char *out, const char *const *more)
{
    support_program run;
    start_ranks(&run, size, NULL, out, more);
    support_program_wait(&run);
    support_program_expect(&run, 0, "processes; gradients are summed by MPI in host memory", NULL);
    assert_int_equal(count_of(run.err, "gradients are summed"), 1);
    assert_int_equal(count_of(run.out, "epoch 3 "), 1);
    support_program_clear(&run);
}

static pid_t pid_of(int rank)
{
    char name[16];
    snprintf(name, sizeof name, "pid.%d", rank);
    char *path = support_join(tiny.directory, name), *text = support_read_file(path, NULL);
    pid_t pid = (pid_t)strtol(text, NULL, 10);
    assert_true(pid > 1);
    free(text);
    free(path);
    return pid;
}

// A process that has ended has no program, though nobody may have asked yet how it ended.
static void await_end(pid_t pid)
{
    char path[64], program[8];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    for (int i = 0; i < 3000 && readlink(path, program, sizeof program) > 0; i++)
        pause_shortly();
    assert_true(readlink(path, program, sizeof program) < 0);
}

// Until the first epoch of a run has ended.
static void await_epoch(const char *out)
{
    char name[64];
    snprintf(name, sizeof name, "%s/log.tsv", out);
    char *log = support_join(tiny.directory, name);
    for (int i = 0; i < 3000 && !support_exists(log); i++)
        pause_shortly();
    assert_true(support_exists(log));
    free(log);
}

// ---- what a run left ----------------------------------------------------------------------------

typedef struct losses {
    double loss[64], norm[64];
    int steps, norms;
} losses;

static void take_scalar(void *context, int64_t step, const char *tag, double value)
{
    losses *l = context;
    assert_true(step <= 64);
    if (strcmp(tag, "train/loss") == 0)
        l->loss[l->steps++] = value;
    if (strcmp(tag, "train/gradient_norm") == 0)
        l->norm[l->norms++] = value;
}

static losses losses_of(const char *out)
{
    losses found = {.steps = 0};
    char *run = support_join(tiny.directory, out), *path;
    size_t offset = 0;
    vd_error err;
    assert_int_equal(vd_events_find(run, &path, &err), VD_OK);
    assert_int_equal(vd_events_read(path, &offset, take_scalar, &found, &err), VD_OK);
    vd_free(path);
    free(run);
    return found;
}

static void expect_same_losses(const char *a, const char *b)
{
    losses x = losses_of(a), y = losses_of(b);
    double most = 0;
    assert_int_equal(x.steps, y.steps);
    assert_true(x.steps > 0);
    for (int i = 0; i < x.steps; i++) {
        double d = fabs(x.loss[i] - y.loss[i]);
        if (!(d <= 1e-5) || !(fabs(x.norm[i] - y.norm[i]) <= 1e-4 * x.norm[i]))
            fail_msg("step %d: loss %.9g, norm %.9g; in one process %.9g, %.9g", i + 1, y.loss[i],
                     y.norm[i], x.loss[i], x.norm[i]);
        most = d > most ? d : most;
    }
    print_message("%s: %d steps, losses within %.2g of one process\n", b, x.steps, most);
}

static void expect_same_file(const char *a, const char *b, const char *name)
{
    char path[2][200], *full[2], *bytes[2];
    size_t size[2];
    const char *run[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", run[i], name);
        full[i] = support_join(tiny.directory, path[i]);
        bytes[i] = support_read_file(full[i], &size[i]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    for (int i = 0; i < 2; i++) {
        free(full[i]);
        free(bytes[i]);
    }
}

static size_t files_in(const char *out)
{
    char *directory = support_join(tiny.directory, out);
    size_t count = support_count_entries(directory);
    free(directory);
    return count;
}

// ---- tests --------------------------------------------------------------------------------------

static void processes_have_the_losses_of_one(void **state)
{
    (void)state;
    const char *const *const val = MORE("--val", tiny.val, "--val-features", tiny.features);
    need_mpirun();
    expect_alone("one", val);
    expect_ranks(2, "two", val);
    expect_same_losses("one", "two");
    assert_int_equal(files_in("two"), files_in("one")); // one writer, nothing left behind
}

// Three processes share two dialogs of the last step of an epoch: one has none.
static void a_rank_without_dialogs_takes_the_step_too(void **state)
{
    (void)state;
    const char *const *const dry =
        MORE("--dropout", "0", "--lstm-dropout", "0", "--position-dropout", "0", "--batch", "6");
    need_mpirun();
    expect_alone("dry", dry);
    expect_ranks(3, "three", dry);
    expect_same_losses("dry", "three");
}

static void sums_are_the_same_to_the_bit_in_every_run(void **state)
{
    (void)state;
    const char *const *const val = MORE("--val", tiny.val, "--val-features", tiny.features);
    need_mpirun();
    expect_ranks(3, "again1", val);
    expect_ranks(3, "again2", val);
    expect_same_file("again1", "again2", "model.safetensors");
    expect_same_file("again1", "again2", "checkpoint.safetensors");
}

static void a_stopped_run_goes_on_in_several_processes_or_in_one(void **state)
{
    (void)state;
    need_mpirun();
    expect_ranks(2, "whole", MORE());
    for (int i = 0; i < 2; i++) {
        const char *out = i ? "parts1" : "parts2";
        support_program run;
        start_ranks(&run, 2, NULL, out, MORE("--stop-after", "3"));
        support_program_wait(&run);
        support_program_expect(&run, 0, "--resume continues it", NULL);
        assert_int_equal(count_of(run.err, "--resume"), 1);
        support_program_clear(&run);
        if (i)
            expect_alone(out, MORE("--resume"));
        else
            expect_ranks(2, out, MORE("--resume"));
        expect_same_losses("whole", out);
    }
    expect_same_file("whole", "parts2", "model.safetensors");
    expect_same_file("whole", "parts2", "checkpoint.safetensors");
}

// ---- GPUs ---------------------------------------------------------------------------------------

// The program becomes one with a driver, the GPU backend for the host and an NCCL beside it.
static char *take_plugin(void)
{
    static const char *const files[] = {"host/visdial-cuda.so", "host/libnccl.so.2",
                                        "host/libcuda.so.1", "visdial-mpi.so"};
    char *directory = support_join(tiny.directory, "program"), command[9000], build[4096];
    mkdir(directory, 0755);
    snprintf(build, sizeof build, "%s", binary);
    *strrchr(build, '/') = '\0';
    snprintf(command, sizeof command, "cp '%s' '%s/visdial'", binary, directory);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(command, sizeof command, "cp '%s/%s' '%s/'", build, files[i], directory);
        assert_int_equal(system(command), 0);
    }
    char *program = support_join(directory, "visdial");
    setenv("VISDIAL_BIN", program, 1);
    setenv("LD_LIBRARY_PATH", directory, 1);
    free(program);
    return directory;
}

static void leave_plugin(char *directory)
{
    setenv("VISDIAL_BIN", binary, 1);
    unsetenv("LD_LIBRARY_PATH");
    free(directory);
}

// Two ranks, of which the second may have another backend; how the first says gradients are summed.
static void expect_sums(const char *out, const char *second, const char *how,
                        const char *const *more)
{
    support_program run;
    const char *const own[] = {"--backend=cuda", second};
    start_ranks(&run, 2, own, out, more);
    expect_run(&run, 0, "2 processes; gradients are summed", how);
}

static void gpus_sum_by_nccl_and_have_the_losses_of_one(void **state)
{
    (void)state;
    need_mpirun();
    char *directory = take_plugin();
    expect_alone("gpu1", MORE("--backend", "cuda", "--epochs", "1"));
    expect_sums("gpu2", "--backend=cuda", "by NCCL 2.28.9 on the devices", MORE("--epochs", "1"));
    expect_same_losses("gpu1", "gpu2");
    assert_int_equal(files_in("gpu2"), files_in("gpu1"));
    leave_plugin(directory);
}

static void gpus_without_nccl_sum_in_host_memory(void **state)
{
    (void)state;
    need_mpirun();
    char *directory = take_plugin(), *library = support_join(directory, "libnccl.so.2");
    setenv("FAKE_NCCL_FAILS", "init", 1);
    expect_sums("gpu3", "--backend=cuda",
                "by MPI in host memory (NCCL does not start: invalid usage)",
                MORE("--epochs", "1"));
    unsetenv("FAKE_NCCL_FAILS");
    expect_same_losses("gpu1", "gpu3");
    // Without dropout: the CPU packs candidates otherwise, so its masks are others.
    const char *const *const dry =
        MORE("--epochs", "1", "--dropout", "0", "--lstm-dropout", "0", "--position-dropout", "0");
    expect_alone("gpu0", dry);
    expect_sums("gpu4", "--backend=cpu", "in host memory (another process cannot do it on its",
                dry);
    expect_same_losses("gpu0", "gpu4");
    support_write_text(library, "no library");
    expect_sums("gpu5", "--backend=cuda", "in host memory (no NCCL: ", MORE("--epochs", "1"));
    expect_same_losses("gpu1", "gpu5");
    free(library);
    leave_plugin(directory);
}

static void a_sum_that_fails_ends_all(void **state)
{
    (void)state;
    static const char *const fails[][2] = {
        {"sum", "the sum of the gradients by NCCL: invalid usage"},
        {"later", "by NCCL: remote process exited or there was a network error"},
        {"hang", "by NCCL: another process has not answered for 10 seconds"}};
    need_mpirun();
    char *directory = take_plugin();
    for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
        support_program run;
        const char *const own[] = {"--backend=cuda", "--backend=cuda"};
        setenv("FAKE_NCCL_FAILS", fails[i][0], 1);
        start_ranks(&run, 2, own, fails[i][0], MORE("--peer-timeout", "10"));
        expect_run(&run, 6, "the training processes", fails[i][1]);
    }
    unsetenv("FAKE_NCCL_FAILS");
    leave_plugin(directory);
}

// ---- errors -------------------------------------------------------------------------------------

static void other_settings_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *argument, *what;
    } other[] = {{"--rate 0.02", "training options"},
                 {"--batch 2", "training options"},
                 {"--hidden 5", "settings of the network"},
                 {"--seed 7", "training options"}};
    need_mpirun();
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        support_program run;
        const char *const own[] = {"", other[i].argument};
        char out[16], words[128];
        snprintf(out, sizeof out, "other%zu", i);
        snprintf(words, sizeof words, "process 1 has other %s than process 0", other[i].what);
        start_ranks(&run, 2, own, out, MORE());
        expect_run(&run, 5, words, NULL);
    }
}

static void the_failure_of_one_ends_all(void **state)
{
    (void)state;
    support_program run;
    const char *const own[] = {"", "--from /nowhere.safetensors"};
    need_mpirun();
    start_ranks(&run, 2, own, "fails", MORE());
    expect_run(&run, 3, "/nowhere.safetensors", NULL);
    start_ranks(&run, 3, NULL, "killed", MORE("--epochs", "1000"));
    await_epoch("killed");
    kill(pid_of(2), SIGKILL);
    expect_run(&run, 128 + SIGKILL, "", NULL);
    for (int r = 0; r < 2; r++)
        await_end(pid_of(r)); // mpirun ends them
}

// One that is stopped by SIGSTOP neither answers nor ends. What was done is kept.
static void one_that_hangs_is_noticed(void **state)
{
    (void)state;
    need_mpirun();
    for (int by_signal = 0; by_signal < 2; by_signal++) {
        support_program run;
        const char *out = by_signal ? "hangs2" : "hangs1";
        start_ranks(&run, 2, NULL, out,
                    MORE("--epochs", "1000", "--peer-timeout", by_signal ? "1000" : "10"));
        await_epoch(out);
        kill(pid_of(1), SIGSTOP);
        if (by_signal) {
            // Until the first waits for it: the steps before take milliseconds.
            nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
            kill(pid_of(0), SIGTERM);
        }
        expect_run(&run, 6, "the training processes",
                   by_signal ? "interrupted while waiting for another process"
                             : "another process has not answered for 10 seconds");
        expect_alone(out, MORE("--epochs", "1000", "--resume", "--stop-after", "1"));
    }
}

static void a_stop_of_one_stops_all(void **state)
{
    (void)state;
    support_program run;
    need_mpirun();
    start_ranks(&run, 2, NULL, "stops", MORE("--epochs", "1000"));
    await_epoch("stops");
    kill(pid_of(1), SIGTERM);
    support_program_wait(&run);
    support_program_expect(&run, 130, "stopped after step", "stops/checkpoint.safetensors", NULL);
    assert_int_equal(count_of(run.err, "stopped after step"), 1); // the first says it for all
    support_program_clear(&run);
}

// Several processes, but nothing that joins them: each would train, and write, all of it.
static void processes_without_mpi_are_refused(void **state)
{
    (void)state;
    support_program run;
    setenv("WORLD_SIZE", "2", 1);
    start(&run, "wrong", MORE());
    expect_run(&run, 8, "WORLD_SIZE is 2, but there is no MPI", "mpirun -n 2 visdial train");
    setenv("WORLD_SIZE", "many", 1);
    start(&run, "wrong", MORE());
    expect_run(&run, 2, "WORLD_SIZE is 'many', expected a number from 1", NULL);
    setenv("WORLD_SIZE", "1", 1);
    start(&run, "alone", MORE("--stop-after", "1"));
    expect_run(&run, 0, "", NULL);
    if (have_mpirun()) { // a variable of the whole job, under mpirun
        setenv("WORLD_SIZE", "7", 1);
        expect_ranks(2, "within", MORE());
    }
    unsetenv("WORLD_SIZE");
    if (!have_mpirun())
        return;
    // srun has started two, but MPI knows of none of them.
    const char *options = getenv("ASAN_OPTIONS");
    char *kept = options ? strdup(options) : NULL;
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // Open MPI's own leaks
    setenv("SLURM_STEP_NUM_TASKS", "2", 1);
    start(&run, "wrong", MORE());
    expect_run(&run, 8, "2 processes were started, but MPI connects 1", "--mpi=pmix");
    unsetenv("SLURM_STEP_NUM_TASKS");
    if (kept)
        setenv("ASAN_OPTIONS", kept, 1);
    else
        unsetenv("ASAN_OPTIONS");
    free(kept);
    char *directory = support_join(tiny.directory, "wrong");
    assert_false(support_exists(directory));
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_have_the_losses_of_one),
        cmocka_unit_test(a_rank_without_dialogs_takes_the_step_too),
        cmocka_unit_test(sums_are_the_same_to_the_bit_in_every_run),
        cmocka_unit_test(a_stopped_run_goes_on_in_several_processes_or_in_one),
        cmocka_unit_test(gpus_sum_by_nccl_and_have_the_losses_of_one),
        cmocka_unit_test(gpus_without_nccl_sum_in_host_memory),
        cmocka_unit_test(a_sum_that_fails_ends_all),
        cmocka_unit_test(other_settings_are_told),
        cmocka_unit_test(the_failure_of_one_ends_all),
        cmocka_unit_test(one_that_hangs_is_noticed),
        cmocka_unit_test(a_stop_of_one_stops_all),
        cmocka_unit_test(processes_without_mpi_are_refused),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
