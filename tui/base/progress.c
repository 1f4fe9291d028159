#include "tui/base/progress.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/utf8.h"
#include "tui/base/safe_output.h"

static const double PLAIN_INTERVAL = 30, TERMINAL_INTERVAL = 0.1;

// "1:02:03", "2:03"; "-" when it is not known.
static void duration(char *out, size_t size, double seconds)
{
    if (!(seconds >= 0) || seconds > 1e8) {
        snprintf(out, size, "-");
        return;
    }
    long s = lround(seconds);
    if (s >= 3600)
        snprintf(out, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, size, "%ld:%02ld", s / 60, s % 60);
}

static void rate_text(char *out, size_t size, double rate)
{
    if (!(rate > 0) || rate > 1e9)
        snprintf(out, size, "-/s");
    else
        snprintf(out, size, rate < 10 ? "%.2f/s" : rate < 100 ? "%.1f/s" : "%.0f/s", rate);
}

// "[####......] " of so many cells; nothing for 0.
static const char *draw_bar(char *out, int cells, double share)
{
    int filled = share < 0 ? 0 : share > 1 ? cells : (int)(share * cells);
    if (cells == 0)
        return "";
    out[0] = '[';
    for (int i = 0; i < cells; i++)
        out[1 + i] = i < filled ? '#' : '.';
    memcpy(out + 1 + cells, "] ", 3);
    return out;
}

void vd_progress_line(char *out, size_t size, size_t width, const char *what, int64_t done,
                      int64_t total, int64_t first, double seconds, const char *suffix)
{
    enum { MOST_CELLS = 20, SPACE = 4 }; // by how much the numbers may still grow
    char rate[32], left[32], bar[MOST_CELLS + 4], line[512];
    double per_second = seconds > 0 ? (double)(done - first) / seconds : 0;
    rate_text(rate, sizeof rate, per_second);
    if (!suffix)
        suffix = "";
    if (total > 0) {
        double share = (double)done / (double)total;
        duration(left, sizeof left, per_second > 0 ? (double)(total - done) / per_second : -1);
        // A narrow terminal gets no bar.
        for (int cells = MOST_CELLS; cells >= 0; cells -= MOST_CELLS / 2) {
            int length = snprintf(line, sizeof line, "%s %s%lld/%lld %3d%% %s %s left%s%s", what,
                                  draw_bar(bar, cells, share), (long long)done, (long long)total,
                                  (int)(100 * share), rate, left, *suffix ? "  " : "", suffix);
            if (length >= 0 && (size_t)length + SPACE <= width)
                break;
        }
    } else {
        snprintf(line, sizeof line, "%s %lld %s%s%s", what, (long long)done, rate,
                 *suffix ? "  " : "", suffix);
    }
    line[vd_utf8_whole(line, strlen(line), width)] = '\0';
    snprintf(out, size, "%s", line);
}

void vd_progress_start(vd_progress *progress, const char *what, int64_t total, int64_t first,
                       bool quiet)
{
    *progress = (vd_progress){.what = what, .total = total, .first = first};
    progress->stream = quiet ? NULL : stderr;
    progress->terminal = isatty(STDERR_FILENO);
    if (progress->terminal && progress->stream)
        progress->stream = vd_safe_output_terminal(stderr); // for its "\r"
    progress->interval = progress->terminal ? TERMINAL_INTERVAL : PLAIN_INTERVAL;
    progress->began = vd_seconds();
    progress->shown = progress->terminal ? 0 : progress->began;
}

static size_t columns(void)
{
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
        return window.ws_col - 1u; // a full line would wrap on some terminals
    return 79;
}

static void show(vd_progress *progress, double now, int64_t done, const char *suffix)
{
    char line[512];
    size_t width = progress->terminal ? columns() : 200;
    vd_progress_line(line, sizeof line, width, progress->what, done, progress->total,
                     progress->first, now - progress->began, suffix);
    progress->shown = now;
    if (!progress->terminal) {
        fprintf(progress->stream, "%s\n", line);
        return;
    }
    size_t length = strlen(line);
    int blanks = progress->width > length ? (int)(progress->width - length) : 0;
    fprintf(progress->stream, "\r%s%*s", line, blanks, "");
    fflush(progress->stream);
    progress->width = length;
}

void vd_progress_update(vd_progress *progress, int64_t done, const char *suffix)
{
    if (!progress->stream)
        return;
    double now = vd_seconds();
    if (now - progress->shown >= progress->interval)
        show(progress, now, done, suffix);
}

void vd_progress_report(void *progress, size_t done)
{
    vd_progress_update(progress, (int64_t)done, NULL);
}

void vd_progress_clear(vd_progress *progress)
{
    if (!progress->stream || !progress->terminal || progress->width == 0)
        return;
    fprintf(progress->stream, "\r%*s\r", (int)progress->width, "");
    fflush(progress->stream);
    progress->width = 0;
}

void vd_progress_end(vd_progress *progress, int64_t done, bool good)
{
    if (!good)
        vd_progress_clear(progress);
    if (!good || !progress->stream)
        return;
    show(progress, vd_seconds(), done, NULL);
    if (progress->terminal)
        fputc('\n', progress->stream);
    progress->width = 0;
}

// ---- interruption -------------------------------------------------------------------------------

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static atomic_int caught;
static struct sigaction previous[SIGNALS];

static void handle(int number)
{
    atomic_store(&caught, number);
    for (int i = 0; i < SIGNALS; i++) // of a terminal that is closed SIGHUP comes several times
        if (signals[i] == number && number != SIGHUP)
            sigaction(number, &previous[i], NULL);
}

const atomic_int *vd_interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = handle};
    sigemptyset(&action.sa_mask);
    atomic_store(&caught, 0);
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &previous[i]);
        if (signals[i] != SIGHUP || previous[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
    return &caught;
}

void vd_interrupt_release(void)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &previous[i], NULL);
}
