// The GPU backend without a GPU: its kernels compiled for the host (tests/cuda_host/cuda_host.h)
// run the backend tests, the golden checks, a training run and a dialog, each a program of its own.
// Nothing but the backend's operations can reach that backend's memory, so a stage that reads it
// ends its program.
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/backend/open.h"
#include "tests/support/random_model.h"
#include "tests/support/support.h"

static char build[4096], plugin[4200];

static int find_build(void **state)
{
    (void)state;
    const char *program = getenv("VISDIAL_BIN");
    snprintf(build, sizeof build, "%s", program ? program : "build/visdial");
    char *slash = strrchr(build, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    snprintf(plugin, sizeof plugin, "%s/host/visdial-cuda.so", build);
    return support_exists(plugin) ? 0 : -1;
}

static void passes_on_the_plugin(const char *program)
{
    char command[8600];
    snprintf(command, sizeof command, "VISDIAL_TEST_PLUGIN='%s' '%s/tests/%s' >/dev/null", plugin,
             build, program);
    if (system(command) != 0)
        fail_msg("%s fails: %s", program, command);
}

static void operations(void **state)
{
    (void)state;
    passes_on_the_plugin("backend/test_operations");
    passes_on_the_plugin("backend/test_tape_operations");
}

static void lstm(void **state)
{
    (void)state;
    passes_on_the_plugin("backend/test_lstm");
}

static void golden_network(void **state)
{
    (void)state;
    passes_on_the_plugin("golden/test_network");
    passes_on_the_plugin("golden/test_networks");
    passes_on_the_plugin("golden/test_captions");
}

static void golden_training(void **state)
{
    (void)state;
    passes_on_the_plugin("golden/test_training");
}

static void pictures(void **state)
{
    (void)state;
    passes_on_the_plugin("backend/test_pictures");
}

static void dialogs(void **state)
{
    (void)state;
    passes_on_the_plugin("unit/test_dialog");
    passes_on_the_plugin("unit/test_encoders_chat");
}

// ---- opening ------------------------------------------------------------------------------------

static void a_file_that_is_no_plugin_is_refused(void **state)
{
    (void)state;
    const vd_backend *be;
    vd_error err;
    char *directory = support_temp_dir(), *path = support_join(directory, "visdial-cuda.so");
    support_write_text(path, "not a shared object");
    support_refused(vd_backend_open_plugin(path, 0, &be, &err), VD_UNAVAILABLE, &err, path,
                    "does not open", NULL);
    assert_null(be);
    support_remove_tree(directory);
    free(path);
    free(directory);
}

static void another_abi_and_no_device_are_refused(void **state)
{
    (void)state;
    const vd_backend *be;
    vd_error err;
    char text[256];
    void *shared = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    const vd_backend *(*door)(int, int, char *, size_t);
    assert_non_null(shared);
    *(void **)&door = dlsym(shared, "vd_backend_plugin");
    assert_null(door(VD_BACKEND_ABI + 1, 0, text, sizeof text));
    assert_non_null(strstr(text, "another version of this program"));
    // The eighth process of a machine with three devices.
    setenv("VISDIAL_HOST_DEVICES", "3", 1);
    assert_int_equal(vd_backend_open_plugin(plugin, 7, &be, &err), VD_OK);
    assert_int_equal(be->device, 1);
    setenv("VISDIAL_HOST_DEVICES", "0", 1);
    support_refused(vd_backend_open_plugin(plugin, 0, &be, &err), VD_UNAVAILABLE, &err,
                    "shows no device", NULL);
    unsetenv("VISDIAL_HOST_DEVICES");
    dlclose(shared);
}

// ---- the program --------------------------------------------------------------------------------

// The program in a directory of its own, with a driver that is nothing but there; what it prints.
static char *program_says(const char *directory, const char *arguments)
{
    char command[9200], *out = support_join(directory, "out"), *text;
    snprintf(command, sizeof command,
             "cd '%s' && VISDIAL_ASSETS=\"$OLDPWD/assets\" LD_LIBRARY_PATH=\"$OLDPWD/%s/host\" "
             "./visdial %s >out 2>&1",
             directory, build, arguments);
    // NOLINTNEXTLINE(cert-env33-c) a test's own command
    (void)!system(command);
    text = support_read_file(out, NULL);
    free(out);
    return text;
}

static void says(const char *directory, const char *arguments, const char *expected)
{
    char *text = program_says(directory, arguments);
    if (!strstr(text, expected))
        fail_msg("visdial %s: expected \"%s\" in: %s", arguments, expected, text);
    free(text);
}

static void copy_into(const char *directory, const char *from)
{
    char command[9200];
    snprintf(command, sizeof command, "cp '%s' '%s/'", from, directory);
    assert_int_equal(system(command), 0);
}

static void the_program_takes_the_plugin_beside_it(void **state)
{
    (void)state;
    static const char ask[] = "ask --image 1000001 --top 3 \"how many balls?\"";
    char *directory = support_temp_dir(), program[4200], arguments[256];
    snprintf(program, sizeof program, "%s/visdial", build);
    copy_into(directory, program);
    says(directory, "info", "the NVIDIA driver is installed, but visdial-cuda.so is not in ");
    snprintf(arguments, sizeof arguments, "%s --backend cuda", ask);
    says(directory, arguments,
         "--backend cuda: the NVIDIA driver is installed, but visdial-cuda.so is not in ");
    char *cpu = program_says(directory, ask);
    copy_into(directory, plugin);
    says(directory, "info", "the host in place of a GPU");
    char *cuda = program_says(directory, ask);
    assert_non_null(strstr(cpu, "model best, cpu, "));
    assert_non_null(strstr(cuda, "model best, cuda, "));
    assert_string_equal(strstr(cpu, ", cpu") + 5, strstr(cuda, ", cuda") + 6);
    free(cpu);
    free(cuda);
    support_remove_tree(directory);
    free(directory);
}

// ---- errors -------------------------------------------------------------------------------------

typedef struct broken {
    const vd_backend *be;
    void (*stage)(int memory_at, int lost_at);
    vd_model *model;
} broken;

static broken open_broken(void)
{
    static const vd_config config = {.vocab = 20,
                                     .embed = 5,
                                     .hidden = 6,
                                     .region = 7,
                                     .gate = VD_GATE_SIGMOID,
                                     .positions = VD_POSITIONS_NONE,
                                     .decoders = VD_DISCRIMINATIVE};
    broken b;
    vd_error err;
    assert_int_equal(vd_backend_open_plugin(plugin, 0, &b.be, &err), VD_OK);
    void *shared = dlopen(plugin, RTLD_NOW | RTLD_NOLOAD);
    *(void **)&b.stage = dlsym(shared, "vd_host_fail");
    assert_non_null(b.stage);
    b.model = support_random_model(&config);
    return b;
}

static void out_of_memory_leaves_the_model_where_it_was(void **state)
{
    (void)state;
    broken b = open_broken();
    vd_error err;
    for (int n = 1; n <= 2; n++) {
        assert_int_equal(vd_model_use(b.model, b.be, &err), VD_OK); // lanes have what they need
        assert_int_equal(vd_model_use(b.model, vd_backend_cpu(), &err), VD_OK);
        b.stage(n, 0);
        support_refused(vd_model_use(b.model, b.be, &err), VD_NO_MEMORY, &err, "memory", NULL);
        b.stage(0, 0);
        assert_ptr_equal(vd_model_backend(b.model), vd_backend_cpu());
    }
    vd_model_free(b.model);
}

// What could not be computed for want of memory can be, once there is some.
static void an_error_is_reported_once(void **state)
{
    enum { N = 1000 };
    (void)state;
    broken b = open_broken();
    vd_error err;
    vd_real *x = b.be->memory->allocate(N * sizeof *x);
    assert_non_null(x);
    b.be->memory->zero(x, N * sizeof *x);
    b.stage(1, 0);
    b.be->square_sum(x, N);
    support_refused(vd_backend_status(b.be, &err), VD_UNAVAILABLE, &err, "scratch memory", NULL);
    b.stage(0, 0);
    assert_true(b.be->square_sum(x, N) == 0);
    assert_int_equal(vd_backend_status(b.be, &err), VD_OK);
    b.be->memory->release(x);
    vd_model_free(b.model);
}

static void a_lost_device_says_so_and_the_cpu_takes_over(void **state)
{
    (void)state;
    broken b = open_broken();
    vd_error err;
    assert_int_equal(vd_model_use(b.model, b.be, &err), VD_OK);
    b.stage(0, 1);
    support_refused(vd_backend_status(b.be, &err), VD_UNAVAILABLE, &err, "the GPU",
                    "an illegal memory access", NULL);
    assert_int_equal(vd_model_use(b.model, vd_backend_cpu(), &err), VD_OK);
    b.stage(0, 0);
    assert_int_equal(vd_backend_status(b.be, &err), VD_OK);
    vd_model_free(b.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_no_plugin_is_refused),
        cmocka_unit_test(another_abi_and_no_device_are_refused),
        cmocka_unit_test(out_of_memory_leaves_the_model_where_it_was),
        cmocka_unit_test(an_error_is_reported_once),
        cmocka_unit_test(a_lost_device_says_so_and_the_cpu_takes_over),
        cmocka_unit_test(the_program_takes_the_plugin_beside_it),
        cmocka_unit_test(operations),
        cmocka_unit_test(lstm),
        cmocka_unit_test(golden_network),
        cmocka_unit_test(golden_training),
        cmocka_unit_test(dialogs),
        cmocka_unit_test(pictures),
    };
    return cmocka_run_group_tests(tests, find_build, NULL);
}
