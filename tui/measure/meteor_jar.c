#include "tui/measure/meteor_jar.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct process {
    const char *jar;
    GPid child;
    FILE *in, *out; // what java reads, what it says
    char *line;
    size_t room;
} process;

// ---- the program --------------------------------------------------------------------------------

static vd_status find(const char *jar, char **java, vd_error *err)
{
    if (access(jar, R_OK) != 0)
        return vd_error_set(err, VD_NOT_FOUND, "--meteor-jar %.400s: %s; expected meteor-1.5.jar",
                            jar, strerror(errno));
    *java = g_find_program_in_path("java");
    return *java ? VD_OK
                 : vd_error_set(err, VD_NOT_FOUND,
                                "--meteor-jar: there is no java on the PATH; METEOR needs it, "
                                "without it METEOR-es is computed");
}

static vd_status start(process *p, const char *java, vd_error *err)
{
    char *jar = g_canonicalize_filename(p->jar, NULL), *folder = g_path_get_dirname(jar);
    const char *const command[] = {java,     "-jar", "-Xmx2G", jar,     "-", "-",
                                   "-stdio", "-l",   "en",     "-norm", NULL};
    int in, out;
    GError *why = NULL;
    bool done = g_spawn_async_with_pipes(folder, (gchar **)command, NULL, G_SPAWN_DO_NOT_REAP_CHILD,
                                         NULL, NULL, &p->child, &in, &out, NULL, &why);
    vd_status status =
        done ? VD_OK
             : vd_error_set(err, VD_IO, "--meteor-jar: %.200s cannot be started: %.200s", java,
                            why->message);
    if (done) {
        p->in = fdopen(in, "w");
        p->out = fdopen(out, "r");
    }
    g_clear_error(&why);
    g_free(folder);
    g_free(jar);
    return status;
}

static void end(process *p)
{
    if (p->in)
        fclose(p->in);
    if (p->out)
        fclose(p->out);
    if (p->child)
        waitpid(p->child, NULL, 0);
    free(p->line);
}

// ---- what is said -------------------------------------------------------------------------------

static vd_status refuse(const process *p, const char *expected, vd_error *err)
{
    return vd_error_set(err, VD_FORMAT,
                        "--meteor-jar %.300s: expected %s, found %s%.100s; is it meteor-1.5.jar?",
                        p->jar, expected, p->line ? "" : "no more lines", p->line ? p->line : "");
}

// The next line without its end, in p->line.
static vd_status read_line(process *p, const char *expected, vd_error *err)
{
    ssize_t length = fflush(p->in) == 0 ? getline(&p->line, &p->room, p->out) : -1;
    if (length < 0) {
        free(p->line);
        p->line = NULL;
        return refuse(p, expected, err);
    }
    g_strchomp(p->line);
    return VD_OK;
}

static vd_status read_number(process *p, double *out, vd_error *err)
{
    char *end_of = NULL;
    vd_status status = read_line(p, "a score", err);
    if (status)
        return status;
    *out = g_ascii_strtod(p->line, &end_of);
    return end_of != p->line && *end_of == 0 ? VD_OK : refuse(p, "a score", err);
}

// Of one picture: adds its statistics to the line of all.
static vd_status add_pair(process *p, const vd_meteor_pair *pair, GString *all, vd_error *err)
{
    fprintf(p->in, "SCORE");
    for (int i = 0; i < pair->references; i++)
        fprintf(p->in, " ||| %s", pair->reference[i]);
    fprintf(p->in, " ||| %s\n", pair->caption);
    vd_status status = read_line(p, "statistics", err);
    if (status == VD_OK && !g_ascii_isdigit(p->line[0]))
        status = refuse(p, "statistics", err);
    if (status == VD_OK)
        g_string_append_printf(all, " ||| %s", p->line);
    return status;
}

static vd_status run(process *p, const vd_meteor_pair *pair, size_t count, double *score,
                     vd_error *err)
{
    GString *all = g_string_new("EVAL");
    vd_status status = VD_OK;
    for (size_t i = 0; i < count && status == VD_OK; i++)
        status = add_pair(p, &pair[i], all, err);
    if (status == VD_OK)
        fprintf(p->in, "%s\n", all->str);
    for (size_t i = 0; i <= count && status == VD_OK; i++) // of the pictures, then that of all
        status = read_number(p, score, err);
    g_string_free(all, TRUE);
    return status;
}

vd_status vd_meteor_jar_run(const char *jar, const vd_meteor_pair *pair, size_t count,
                            double *score, vd_error *err)
{
    process p = {.jar = jar};
    char *java = NULL;
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    vd_status status = find(jar, &java, err);
    sigaction(SIGPIPE, &ignored, &before); // java may end before it has read all
    if (status == VD_OK)
        status = start(&p, java, err);
    if (status == VD_OK)
        status = run(&p, pair, count, score, err);
    end(&p);
    sigaction(SIGPIPE, &before, NULL);
    g_free(java);
    return status;
}
