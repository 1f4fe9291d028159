#include "tui/commands/command.h"

#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/threads.h"
#include "engine/backend/cpu/instructions.h"
#include "tui/base/output.h"
#include "tui/base/safe_output.h"
#include "tui/screen/screen.h"

// Where the shell closed one of them ("2>&-"), a file that is opened later would get its number,
// and messages would be written into it.
static void open_standard_files(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", O_RDWR) != file)
            _exit(vd_status_exit_code(VD_IO));
}

static void on_signal(int number)
{
    _exit(128 + number);
}

// The kernel gives the first process of a container no default actions: these signals would do
// nothing. Commands that end in another way set their own.
static void obey_signals_as_first_process(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    for (size_t i = 0; getpid() == 1 && i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_signal);
}

// GLib ends the program with a signal where memory is out; this ends it with a message and the exit
// code for that. Files under their final names are complete then as always.
static GLogWriterOutput on_glib_message(GLogLevelFlags level, const GLogField *field, gsize fields,
                                        gpointer context)
{
    if (!(level & G_LOG_LEVEL_ERROR))
        return g_log_writer_default(level, field, fields, context);
    vd_screen_rescue();
    const char *text = "out of memory";
    for (gsize i = 0; i < fields; i++)
        if (strcmp(field[i].key, "MESSAGE") == 0)
            text = field[i].value;
    const char *const parts[] = {"visdial: ", text, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
            break;
    _exit(vd_status_exit_code(VD_NO_MEMORY));
}

int main(int argc, char **argv)
{
    open_standard_files();
    if (argc > 0 && strchr(argv[0], '/'))
        vd_called = argv[0];
    g_log_set_writer_func(on_glib_message, NULL, NULL);
    obey_signals_as_first_process();
    vd_safe_output_begin();
    // The backend has threads of its own; OpenBLAS, should a large product need it, starts none.
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    vd_threads_use(threads ? (int)strtol(threads, NULL, 10) : 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    const char *instructions = getenv("VISDIAL_CPU");
    if (instructions && *instructions && !vd_cpu_choose(instructions)) {
        fprintf(stderr,
                "visdial: VISDIAL_CPU is '%.80s'; expected portable, avx2 or avx512, where the "
                "processor has it\n",
                instructions);
        return vd_status_exit_code(VD_USAGE);
    }
    return vd_command_main(argc, argv);
}
