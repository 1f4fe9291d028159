#include "tests/support/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#include "tests/support/support.h"

// One step of a loaded machine; nothing waits this long when all is well.
enum { MOST_MILLISECONDS = 180000 };

static const char *program(void)
{
    static const char *const places[] = {"/usr/bin/chromium", "/usr/bin/chromium-browser"};
    const char *named = getenv("VISDIAL_CHROMIUM");
    if (named)
        return access(named, X_OK) == 0 ? named : NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

bool support_browser_here(void)
{
    return program() != NULL;
}

// ---- messages: JSON, a zero byte behind each ----------------------------------------------------

static void send_text(support_browser *b, const char *text)
{
    size_t left = strlen(text) + 1;
    while (left > 0) {
        ssize_t sent = write(b->to, text, left);
        if (sent <= 0)
            fail_msg("the browser is gone");
        text += sent;
        left -= (size_t)sent;
    }
}

// The next message; yajl_tree_free.
static yajl_val receive(support_browser *b)
{
    char *end;
    while (!(end = b->used ? memchr(b->buffer, 0, b->used) : NULL)) {
        if (b->room - b->used < 65536) {
            b->room = 2 * b->room + 65536;
            b->buffer = realloc(b->buffer, b->room);
            assert_non_null(b->buffer);
        }
        struct pollfd wait = {.fd = b->from, .events = POLLIN};
        if (poll(&wait, 1, MOST_MILLISECONDS) != 1)
            fail_msg("the browser says nothing");
        ssize_t got = read(b->from, b->buffer + b->used, b->room - b->used);
        if (got <= 0)
            fail_msg("the browser is gone");
        b->used += (size_t)got;
    }
    char reason[200];
    yajl_val tree = yajl_tree_parse(b->buffer, reason, sizeof reason);
    if (!tree)
        fail_msg("the browser said what is no JSON: %s", reason);
    size_t taken = (size_t)(end - b->buffer) + 1;
    memmove(b->buffer, b->buffer + taken, b->used - taken);
    b->used -= taken;
    return tree;
}

static yajl_val at(yajl_val tree, const char *a, const char *b, const char *c)
{
    const char *path[] = {a, b, c, NULL};
    return yajl_tree_get(tree, path, yajl_t_any);
}

static void note_event(support_browser *b, yajl_val message)
{
    yajl_val method = at(message, "method", NULL, NULL);
    if (!YAJL_IS_STRING(method))
        return;
    const char *name = YAJL_GET_STRING(method);
    if (strcmp(name, "Page.loadEventFired") == 0)
        b->loaded = true;
    yajl_val text = NULL;
    if (strcmp(name, "Runtime.exceptionThrown") == 0)
        text = at(message, "params", "exceptionDetails", "text");
    else if (strcmp(name, "Log.entryAdded") == 0)
        text = at(message, "params", "entry", "text");
    if (!text)
        return;
    b->faults++;
    snprintf(b->fault, sizeof b->fault, "%.390s",
             YAJL_IS_STRING(text) ? YAJL_GET_STRING(text) : "?");
}

// Sends a command and gives the result; yajl_tree_free. parameters: a JSON object.
static yajl_val command(support_browser *b, const char *method, const char *parameters)
{
    size_t size = strlen(parameters) + 300;
    char *text = malloc(size);
    assert_non_null(text);
    int id = ++b->id;
    snprintf(text, size, "{\"id\":%d,\"method\":\"%s\",\"params\":%s%s%s%s}", id, method,
             parameters, *b->page ? ",\"sessionId\":\"" : "", b->page, *b->page ? "\"" : "");
    send_text(b, text);
    free(text);
    for (;;) {
        yajl_val message = receive(b), number = at(message, "id", NULL, NULL);
        note_event(b, message);
        if (YAJL_IS_INTEGER(number) && YAJL_GET_INTEGER(number) == id) {
            yajl_val error = at(message, "error", "message", NULL);
            if (error)
                fail_msg("%s: %s", method, YAJL_GET_STRING(error));
            return message;
        }
        yajl_tree_free(message);
    }
}

static void order(support_browser *b, const char *method, const char *parameters)
{
    yajl_tree_free(command(b, method, parameters));
}

// {"key": "text"} with the text quoted as JSON wants it.
static char *object(const char *key, const char *text, const char *more)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    const unsigned char *quoted;
    size_t length;
    yajl_gen_string(json, (const unsigned char *)text, strlen(text));
    yajl_gen_get_buf(json, &quoted, &length);
    size_t size = length + strlen(key) + strlen(more) + 16;
    char *out = malloc(size);
    assert_non_null(out);
    snprintf(out, size, "{\"%s\":%s%s}", key, (const char *)quoted, more);
    yajl_gen_free(json);
    return out;
}

// ---- life ---------------------------------------------------------------------------------------

static void become_browser(const support_browser *b, int to[2], int from[2], int width, int height)
{
    char profile[300], size[64];
    snprintf(profile, sizeof profile, "--user-data-dir=%s", b->profile);
    snprintf(size, sizeof size, "--window-size=%d,%d", width, height);
    setenv("HOME", b->profile, 1);
    int in = fcntl(to[0], F_DUPFD, 10), out = fcntl(from[1], F_DUPFD, 10); // out of the way of 3, 4
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    dup2(in, 3);
    dup2(out, 4);
    const char *name = program();
    execl(name, name, "--headless", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars",
          "--no-first-run", "--disable-background-networking", "--disable-component-update",
          "--disable-dev-shm-usage", "--disable-extensions", "--force-device-scale-factor=1",
          "--force-color-profile=srgb", geteuid() == 0 ? "--no-sandbox" : "--mute-audio", profile,
          size, "about:blank", (char *)NULL);
    _exit(127);
}

void support_browser_start(support_browser *b, int width, int height)
{
    memset(b, 0, sizeof *b);
    int to[2], from[2];
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    signal(SIGPIPE, SIG_IGN);
    b->profile = support_temp_dir();
    fflush(NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1); // its orphans become ours, to be waited for
    b->pid = fork();
    assert_true(b->pid >= 0);
    if (b->pid == 0) {
        setpgid(0, 0);
        become_browser(b, to, from, width, height);
    }
    setpgid(b->pid, b->pid);
    close(to[0]);
    close(from[1]);
    b->to = to[1];
    b->from = from[0];
    yajl_val made = command(b, "Target.createTarget", "{\"url\":\"about:blank\"}");
    char parameters[200], session[80];
    snprintf(parameters, sizeof parameters, "{\"targetId\":\"%.80s\",\"flatten\":true}",
             YAJL_GET_STRING(at(made, "result", "targetId", NULL)));
    yajl_tree_free(made);
    made = command(b, "Target.attachToTarget", parameters);
    snprintf(session, sizeof session, "%s", YAJL_GET_STRING(at(made, "result", "sessionId", NULL)));
    yajl_tree_free(made);
    snprintf(b->page, sizeof b->page, "%s", session);
    snprintf(parameters, sizeof parameters,
             "{\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":false}", width,
             height);
    order(b, "Emulation.setDeviceMetricsOverride", parameters);
    order(b, "Page.enable", "{}");
    order(b, "Runtime.enable", "{}");
    order(b, "Log.enable", "{}");
}

void support_browser_stop(support_browser *b)
{
    close(b->to);
    close(b->from);
    // All of its processes: one that lives on would still write into the profile.
    kill(-b->pid, SIGKILL);
    while (waitpid(-b->pid, NULL, 0) > 0)
        ;
    support_remove_tree(b->profile);
    free(b->profile);
    free(b->buffer);
    memset(b, 0, sizeof *b);
}

// ---- what a person does -------------------------------------------------------------------------

void support_browser_open(support_browser *b, const char *path, const char *fragment)
{
    char *full = realpath(path, NULL), url[4200];
    assert_non_null(full);
    snprintf(url, sizeof url, "file://%.4000s%s", full, fragment);
    free(full);
    char *parameters = object("url", url, "");
    order(b, "Page.navigate", "{\"url\":\"about:blank\"}"); // so that the next one loads anew
    while (!b->loaded) {
        yajl_val message = receive(b);
        note_event(b, message);
        yajl_tree_free(message);
    }
    b->loaded = false;
    order(b, "Page.navigate", parameters);
    free(parameters);
    while (!b->loaded) {
        yajl_val message = receive(b);
        note_event(b, message);
        yajl_tree_free(message);
    }
    b->loaded = false;
}

char *support_browser_value(support_browser *b, const char *expression)
{
    size_t size = strlen(expression) + 16;
    char *wrapped = malloc(size);
    assert_non_null(wrapped);
    snprintf(wrapped, size, "String(%s)", expression);
    char *parameters = object("expression", wrapped, "");
    yajl_val message = command(b, "Runtime.evaluate", parameters);
    yajl_val value = at(message, "result", "result", "value");
    if (!YAJL_IS_STRING(value))
        fail_msg("no value: %s", expression);
    const char *found = YAJL_GET_STRING(value);
    char *text = strdup(found ? found : "");
    yajl_tree_free(message);
    free(parameters);
    free(wrapped);
    return text;
}

double support_browser_number(support_browser *b, const char *expression)
{
    char *text = support_browser_value(b, expression), *end;
    double value = strtod(text, &end);
    if (end == text || *end)
        fail_msg("%s is no number: %s", expression, text);
    free(text);
    return value;
}

void support_browser_key(support_browser *b, const char *key)
{
    char text[40] = "";
    if (!key[1])
        snprintf(text, sizeof text, ",\"text\":\"%s\"", key);
    char more[80];
    snprintf(more, sizeof more, ",\"type\":\"keyDown\"%s", text);
    char *down = object("key", key, more), *up = object("key", key, ",\"type\":\"keyUp\"");
    order(b, "Input.dispatchKeyEvent", down);
    order(b, "Input.dispatchKeyEvent", up);
    free(up);
    free(down);
}

void support_browser_click(support_browser *b, const char *selector)
{
    static const char *const kinds[] = {"mousePressed", "mouseReleased"};
    char expression[600], parameters[200];
    double place[2];
    for (int i = 0; i < 2; i++) {
        snprintf(expression, sizeof expression,
                 "((e) => { e.scrollIntoView({block: 'nearest'}); const r = "
                 "e.getBoundingClientRect(); return %s; })(document.querySelector('%.300s'))",
                 i ? "r.top + r.height / 2" : "r.left + r.width / 2", selector);
        place[i] = support_browser_number(b, expression);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(parameters, sizeof parameters,
                 "{\"type\":\"%s\",\"x\":%.1f,\"y\":%.1f,\"button\":\"left\",\"clickCount\":1}",
                 kinds[i], place[0], place[1]);
        order(b, "Input.dispatchMouseEvent", parameters);
    }
}

void support_browser_media(support_browser *b, const char *media)
{
    char *parameters = object("media", media, "");
    order(b, "Emulation.setEmulatedMedia", parameters);
    free(parameters);
}

void support_browser_still(support_browser *b, bool still)
{
    order(b, "Emulation.setEmulatedMedia",
          still ? "{\"features\":[{\"name\":\"prefers-reduced-motion\",\"value\":\"reduce\"}]}"
                : "{\"features\":[]}");
}

void support_browser_size(support_browser *b, int width, int height)
{
    char parameters[120];
    snprintf(parameters, sizeof parameters,
             "{\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":false}", width,
             height);
    order(b, "Emulation.setDeviceMetricsOverride", parameters);
}

void support_browser_scripts(support_browser *b, bool on)
{
    order(b, "Emulation.setScriptExecutionDisabled", on ? "{\"value\":false}" : "{\"value\":true}");
}

// ---- what a person sees -------------------------------------------------------------------------

static int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

static unsigned char *from_base64(const char *text, size_t *size)
{
    unsigned char *out = malloc(strlen(text) + 4);
    assert_non_null(out);
    uint32_t bits = 0;
    int have = 0;
    *size = 0;
    for (; *text && *text != '='; text++) {
        bits = bits << 6 | (uint32_t)base64_digit(*text);
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[(*size)++] = (unsigned char)(bits >> have);
        }
    }
    return out;
}

vd_image support_browser_screenshot(support_browser *b, const char *name)
{
    yajl_val message = command(b, "Page.captureScreenshot", "{\"format\":\"png\"}");
    size_t size;
    unsigned char *data = from_base64(YAJL_GET_STRING(at(message, "result", "data", NULL)), &size);
    yajl_tree_free(message);
    char file[64], *path;
    snprintf(file, sizeof file, "%.50s.png", name);
    const char *keep = getenv("VISDIAL_SCREENSHOTS");
    path = support_join(keep ? keep : b->profile, file);
    support_write_file(path, data, size);
    vd_image image;
    vd_error err = {0};
    if (vd_image_read(path, &image, &err))
        fail_msg("%s", err.text);
    free(path);
    free(data);
    return image;
}

int support_browser_printed(support_browser *b)
{
    yajl_val message =
        command(b, "Page.printToPDF",
                "{\"printBackground\":true,\"paperWidth\":8.27,\"paperHeight\":11.69}");
    size_t size;
    unsigned char *data = from_base64(YAJL_GET_STRING(at(message, "result", "data", NULL)), &size);
    yajl_tree_free(message);
    assert_true(size > 1000);
    assert_memory_equal(data, "%PDF", 4);
    const char *keep = getenv("VISDIAL_SCREENSHOTS");
    if (keep) {
        char *path = support_join(keep, "printed.pdf");
        support_write_file(path, data, size);
        free(path);
    }
    int pages = 0;
    static const char mark[] = "/Type /Page\n";
    for (size_t i = 0; i + sizeof mark <= size; i++)
        pages += memcmp(data + i, mark, sizeof mark - 1) == 0;
    free(data);
    return pages;
}
