// `visdial train` in several processes, by rank variables and under mpirun: the losses of one
// process, one writer of files, stops and resumes, and what is said when a process is missing,
// fails, or was started otherwise.
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/train/event_file.h"

enum { MOST = 50, MOST_RANKS = 3 };

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
    setenv("VISDIAL_GROUP_SECONDS", "60", 1);
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

// ---- ports --------------------------------------------------------------------------------------

// A socket of this machine that listens on a port of its own, which becomes MASTER_PORT.
static int take_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    char text[16];
    int line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(line >= 0);
    assert_int_equal(bind(line, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(line, 4), 0);
    assert_int_equal(getsockname(line, (struct sockaddr *)&at, &length), 0);
    snprintf(text, sizeof text, "%d", ntohs(at.sin_port));
    setenv("MASTER_PORT", text, 1);
    return line;
}

static void choose_port(void)
{
    close(take_port());
}

// ---- runs ---------------------------------------------------------------------------------------

// `visdial train` into tiny.directory/out, with more arguments; steps of four dialogs, two at a
// time, so that two processes take the pieces of one.
// Its first argument.
static const char *first = "--quiet";

static void start(support_program *run, const char *out, const char *const *more)
{
    char *directory = support_join(tiny.directory, out);
    const char *arguments[MOST] = {
        "train",         first,     "--data",   tiny.train, "--features",  tiny.features,
        "--out",         directory, "--embed",  "6",        "--hidden",    "4",
        "--batch",       "4",       "--epochs", "3",        "--min-count", "1",
        "--micro-batch", "2",       "--rate",   "0.01"};
    int count = 22;
    for (; *more && count < MOST - 1; more++)
        arguments[count++] = *more;
    arguments[count] = NULL;
    support_program_start(run, arguments, NULL, 0);
    free(directory);
}

static void set_rank(int rank, int size)
{
    char text[16];
    snprintf(text, sizeof text, "%d", rank);
    setenv("RANK", text, 1);
    snprintf(text, sizeof text, "%d", size);
    setenv("WORLD_SIZE", text, 1);
}

static void alone(void)
{
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    unsetenv("MASTER_PORT");
}

static void start_rank(support_program *run, int rank, int size, const char *out,
                       const char *const *more)
{
    set_rank(rank, size);
    start(run, out, more);
}

static void expect_alone(const char *out, const char *const *more)
{
    support_program run;
    alone();
    start(&run, out, more);
    support_program_wait(&run);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
}

// All ranks of a run, which must end well; only the first may say something.
static void expect_ranks(int size, const char *out, const char *const *more)
{
    support_program run[MOST_RANKS];
    choose_port();
    for (int r = size - 1; r >= 0; r--) // the first comes last
        start_rank(&run[r], r, size, out, more);
    for (int r = 0; r < size; r++) {
        support_program_wait(&run[r]);
        support_program_expect(&run[r], 0, NULL);
        if (r > 0)
            assert_string_equal(run[r].out, "");
        support_program_clear(&run[r]);
    }
    alone();
}

static void expect_rank(support_program *run, int code, const char *one, const char *two)
{
    support_program_wait(run);
    support_program_expect(run, code, one, two, NULL);
    support_program_clear(run);
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

// ---- by rank variables --------------------------------------------------------------------------

static void ranks_have_the_losses_of_one_process(void **state)
{
    (void)state;
    const char *const *const val = MORE("--val", tiny.val, "--val-features", tiny.features);
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
    expect_alone("dry", dry);
    expect_ranks(3, "three", dry);
    expect_same_losses("dry", "three");
}

static void sums_are_the_same_to_the_bit_in_every_run(void **state)
{
    (void)state;
    const char *const *const val = MORE("--val", tiny.val, "--val-features", tiny.features);
    expect_ranks(3, "again1", val);
    expect_ranks(3, "again2", val);
    expect_same_file("again1", "again2", "model.safetensors");
    expect_same_file("again1", "again2", "checkpoint.safetensors");
}

static void a_stopped_run_goes_on_in_several_processes_or_in_one(void **state)
{
    (void)state;
    expect_ranks(2, "whole", MORE());
    for (int i = 0; i < 2; i++) {
        const char *out = i ? "parts1" : "parts2";
        support_program run[2];
        choose_port();
        for (int r = 0; r < 2; r++)
            start_rank(&run[r], r, 2, out, MORE("--stop-after", "3"));
        for (int r = 0; r < 2; r++)
            expect_rank(&run[r], 0, r ? "" : "--resume continues it", NULL);
        if (i)
            expect_alone(out, MORE("--resume"));
        else
            expect_ranks(2, out, MORE("--resume"));
        expect_same_losses("whole", out);
    }
    expect_same_file("whole", "parts2", "model.safetensors");
    expect_same_file("whole", "parts2", "checkpoint.safetensors");
}

// torchrun listens on MASTER_PORT itself and says so.
static void under_torchrun_another_port_is_taken(void **state)
{
    (void)state;
    support_program run[2];
    int agent = take_port();
    setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1);
    for (int r = 0; r < 2; r++)
        start_rank(&run[r], r, 2, "torchrun", MORE());
    for (int r = 0; r < 2; r++)
        expect_rank(&run[r], 0, "", NULL);
    unsetenv("TORCHELASTIC_USE_AGENT_STORE");
    close(agent);
    alone();
    expect_same_losses("whole", "torchrun");
}

// ---- under mpirun -------------------------------------------------------------------------------

static bool have_mpirun(void)
{
    char plugin[4200];
    snprintf(plugin, sizeof plugin, "%.4080s-mpi.so", binary);
    if (access(plugin, R_OK) == 0 && system("command -v mpirun >/dev/null") == 0)
        return true;
    printf("left out: there is no mpirun or no %s\n", plugin);
    return false;
}

// The program becomes mpirun with two processes of it, the second with other arguments where
// `second` says so.
static void start_mpirun(support_program *run, const char *out, const char *second,
                         const char *const *more)
{
    char text[13000], *script = support_join(tiny.directory, "mpirun.sh");
    static const char head[] = "#!/bin/sh\n"
                               "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
                               "export OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0\n";
    if (second)
        snprintf(text, sizeof text,
                 "%sexec mpirun --oversubscribe -n 1 '%s' \"$@\" : -n 1 '%s' \"$@\" %s\n", head,
                 binary, binary, second);
    else
        snprintf(text, sizeof text, "%sexec mpirun --oversubscribe -n 2 '%s' \"$@\"\n", head,
                 binary);
    support_write_text(script, text);
    assert_int_equal(chmod(script, 0755), 0);
    setenv("VISDIAL_BIN", script, 1);
    alone();
    start(run, out, more);
    setenv("VISDIAL_BIN", binary, 1);
    free(script);
}

static void mpirun_has_the_losses_of_one_process_and_resumes(void **state)
{
    (void)state;
    support_program run;
    if (!have_mpirun())
        skip();
    expect_alone("single", MORE());
    start_mpirun(&run, "mpi", NULL, MORE());
    expect_rank(&run, 0, "", NULL);
    expect_same_losses("single", "mpi");
    assert_int_equal(files_in("mpi"), files_in("single"));
    start_mpirun(&run, "mpi2", NULL, MORE("--stop-after", "3"));
    support_program_wait(&run);
    assert_non_null(strstr(run.err, "--resume continues it"));
    assert_int_equal(run.code, 0);
    support_program_clear(&run);
    start_mpirun(&run, "mpi2", NULL, MORE("--resume"));
    expect_rank(&run, 0, "", NULL);
    expect_same_losses("single", "mpi2");
}

static void under_mpirun_the_failure_of_one_ends_all(void **state)
{
    (void)state;
    support_program run;
    if (!have_mpirun())
        skip();
    start_mpirun(&run, "mpi3", "--rate 0.02", MORE());
    expect_rank(&run, 5, "process 1 has other training options than process 0", NULL);
    start_mpirun(&run, "mpi4", "--from /nowhere.safetensors", MORE());
    expect_rank(&run, 3, "/nowhere.safetensors", NULL);
}

// ---- GPUs ---------------------------------------------------------------------------------------

// The program becomes one with a driver, the GPU backend for the host and an NCCL beside it.
static char *take_plugin(void)
{
    static const char *const files[] = {"host/visdial-cuda.so", "host/libnccl.so.2",
                                        "host/libcuda.so.1"};
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
    support_program run[2];
    choose_port();
    first = "--backend=cuda";
    start_rank(&run[0], 0, 2, out, more);
    first = second;
    start_rank(&run[1], 1, 2, out, more);
    expect_rank(&run[0], 0, "2 processes; gradients are summed", how);
    expect_rank(&run[1], 0, "", NULL);
    first = "--quiet";
    alone();
}

static void gpus_sum_by_nccl_and_have_the_losses_of_one(void **state)
{
    (void)state;
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
    char *directory = take_plugin(), *library = support_join(directory, "libnccl.so.2");
    setenv("FAKE_NCCL_FAILS", "init", 1);
    expect_sums("gpu3", "--backend=cuda",
                "by TCP in host memory (NCCL does not start: invalid usage)",
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
        {"later", "by NCCL: remote process exited or there was a network error"}};
    char *directory = take_plugin();
    for (size_t i = 0; i < 2; i++) {
        support_program run[2];
        setenv("FAKE_NCCL_FAILS", fails[i][0], 1);
        choose_port();
        first = "--backend=cuda";
        for (int r = 0; r < 2; r++)
            start_rank(&run[r], r, 2, i ? "gpu7" : "gpu6", MORE());
        for (int r = 0; r < 2; r++)
            expect_rank(&run[r], 6, "the processes that train together", fails[i][1]);
        first = "--quiet";
    }
    unsetenv("FAKE_NCCL_FAILS");
    leave_plugin(directory);
    alone();
}

// ---- trouble ------------------------------------------------------------------------------------

static void a_missing_rank_is_named(void **state)
{
    (void)state;
    support_program run[2];
    setenv("VISDIAL_GROUP_SECONDS", "1", 1);
    choose_port();
    start_rank(&run[0], 0, 3, "missing", MORE());
    start_rank(&run[1], 2, 3, "missing", MORE());
    expect_rank(&run[0], 8, "1 of 3 processes did not come", "(ranks 1)");
    expect_rank(&run[1], 8, "gave up waiting for the others", NULL);
    start_rank(&run[0], 1, 2, "missing", MORE());
    expect_rank(&run[0], 8, "process 1: nobody answers at 127.0.0.1", "is process 0 (RANK=0)");
    setenv("VISDIAL_GROUP_SECONDS", "60", 1);
    alone();
    char *directory = support_join(tiny.directory, "missing");
    assert_false(support_exists(directory));
    free(directory);
}

static void a_port_in_use_is_told(void **state)
{
    (void)state;
    support_program run;
    int line = take_port();
    start_rank(&run, 0, 2, "taken", MORE());
    expect_rank(&run, 8, "process 0 cannot listen on port", "set MASTER_PORT to another");
    start_rank(&run, 1, 2, "taken", MORE());
    int other = accept(line, NULL, NULL);
    close(other);
    expect_rank(&run, 8, "who answers at 127.0.0.1", "is no process 0");
    close(line);
    alone();
}

static bool has_ended(const support_program *run)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

// What connects and says something else is sent away, and the processes still meet.
static void strangers_and_doubles_are_sent_away(void **state)
{
    (void)state;
    support_program run[2], twice, other;
    choose_port();
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)strtol(getenv("MASTER_PORT"), NULL, 10))};
    start_rank(&run[0], 0, 3, "strangers", MORE());
    int line = -1;
    for (int i = 0; i < 3000; i++) {
        line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(line, (struct sockaddr *)&at, sizeof at) == 0)
            break;
        close(line);
        pause_shortly();
    }
    assert_int_equal(send(line, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL), 18);
    start_rank(&other, 1, 2, "strangers", MORE());
    expect_rank(&other, 8, "waits for another number of processes (WORLD_SIZE)", "MASTER_PORT");
    start_rank(&run[1], 1, 3, "strangers", MORE());
    start_rank(&twice, 1, 3, "strangers", MORE());
    // One of the two is in; the other is refused. All go on when rank 2 is there.
    support_program last;
    while (!has_ended(&run[1]) && !has_ended(&twice))
        pause_shortly();
    start_rank(&last, 2, 3, "strangers", MORE());
    expect_rank(&last, 0, "", NULL);
    expect_rank(&run[0], 0, "", NULL);
    support_program_wait(&run[1]);
    support_program_wait(&twice);
    assert_int_equal(run[1].code + twice.code, 8);
    assert_non_null(strstr(run[1].code ? run[1].err : twice.err, "(RANK)"));
    support_program_clear(&run[1]);
    support_program_clear(&twice);
    close(line);
    alone();
}

static void other_settings_are_told_by_all(void **state)
{
    (void)state;
    static const struct {
        const char *option, *value, *what;
    } other[] = {{"--rate", "0.02", "training options"},
                 {"--batch", "2", "settings"},
                 {"--hidden", "5", "settings of the network"},
                 {"--seed", "7", "training options"}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        support_program run[2];
        char out[16], words[128];
        snprintf(out, sizeof out, "other%zu", i);
        snprintf(words, sizeof words, "process 1 has other %s than process 0", other[i].what);
        choose_port();
        start_rank(&run[0], 0, 2, out, MORE());
        start_rank(&run[1], 1, 2, out, MORE(other[i].option, other[i].value));
        for (int r = 0; r < 2; r++)
            expect_rank(&run[r], 5, words, NULL);
    }
    alone();
}

static void the_failure_of_one_ends_all(void **state)
{
    (void)state;
    support_program run[3];
    choose_port();
    start_rank(&run[0], 0, 2, "fails", MORE());
    start_rank(&run[1], 1, 2, "fails", MORE("--from", "/nowhere.safetensors"));
    expect_rank(&run[0], 6, "process 1 has ended or cannot be reached", NULL);
    expect_rank(&run[1], 3, "/nowhere.safetensors", NULL);
    choose_port();
    for (int r = 0; r < 3; r++)
        start_rank(&run[r], r, 3, "killed", MORE("--epochs", "1000"));
    char *log = support_join(tiny.directory, "killed/log.tsv");
    for (int i = 0; i < 3000 && !support_exists(log); i++)
        pause_shortly();
    assert_true(support_exists(log));
    kill(run[2].pid, SIGKILL);
    expect_rank(&run[0], 6, "process 2 has ended or cannot be reached", NULL);
    expect_rank(&run[1], 6, "process 0 has ended or cannot be reached", NULL);
    expect_rank(&run[2], 128 + SIGKILL, "", NULL);
    free(log);
    alone();
}

static void a_stop_of_one_stops_all(void **state)
{
    (void)state;
    support_program run[2];
    choose_port();
    for (int r = 0; r < 2; r++)
        start_rank(&run[r], r, 2, "stops", MORE("--epochs", "1000"));
    char *log = support_join(tiny.directory, "stops/log.tsv");
    for (int i = 0; i < 3000 && !support_exists(log); i++)
        pause_shortly();
    kill(run[1].pid, SIGTERM);
    support_program_wait(&run[0]);
    support_program_expect(&run[0], 130, "stopped after step", "stops/checkpoint.safetensors",
                           NULL);
    support_program_wait(&run[1]);
    support_program_expect(&run[1], 130, NULL);
    assert_string_equal(run[1].err, ""); // the first says it for all
    for (int r = 0; r < 2; r++)
        support_program_clear(&run[r]);
    free(log);
    alone();
}

static void wrong_variables_are_refused(void **state)
{
    (void)state;
    support_program run;
    set_rank(2, 2);
    start(&run, "wrong", MORE());
    expect_rank(&run, 2, "RANK is '2', expected a number from 0 to 1", NULL);
    unsetenv("RANK");
    start(&run, "wrong", MORE());
    expect_rank(&run, 2, "RANK is not set, but this process is one of several", NULL);
    setenv("WORLD_SIZE", "many", 1);
    start(&run, "wrong", MORE());
    expect_rank(&run, 2, "WORLD_SIZE is 'many', expected a number from 1", NULL);
    set_rank(0, 2);
    setenv("MASTER_PORT", "0", 1);
    start(&run, "wrong", MORE());
    expect_rank(&run, 2, "MASTER_PORT is '0', expected a number from 1 to 65535", NULL);
    setenv("MASTER_PORT", "29500", 1);
    setenv("MASTER_ADDR", "no.such.machine.invalid", 1);
    start(&run, "wrong", MORE());
    expect_rank(&run, 8, "MASTER_ADDR: the machine 'no.such.machine.invalid' is not known", NULL);
    unsetenv("MASTER_ADDR");
    alone();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_have_the_losses_of_one_process),
        cmocka_unit_test(a_rank_without_dialogs_takes_the_step_too),
        cmocka_unit_test(sums_are_the_same_to_the_bit_in_every_run),
        cmocka_unit_test(a_stopped_run_goes_on_in_several_processes_or_in_one),
        cmocka_unit_test(under_torchrun_another_port_is_taken),
        cmocka_unit_test(mpirun_has_the_losses_of_one_process_and_resumes),
        cmocka_unit_test(under_mpirun_the_failure_of_one_ends_all),
        cmocka_unit_test(gpus_sum_by_nccl_and_have_the_losses_of_one),
        cmocka_unit_test(gpus_without_nccl_sum_in_host_memory),
        cmocka_unit_test(a_sum_that_fails_ends_all),
        cmocka_unit_test(a_missing_rank_is_named),
        cmocka_unit_test(a_port_in_use_is_told),
        cmocka_unit_test(strangers_and_doubles_are_sent_away),
        cmocka_unit_test(other_settings_are_told_by_all),
        cmocka_unit_test(the_failure_of_one_ends_all),
        cmocka_unit_test(a_stop_of_one_stops_all),
        cmocka_unit_test(wrong_variables_are_refused),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
