#include "engine/train/group_tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/alloc.h"

// What a process says first, and the first process' answers.
typedef struct vd_hello {
    uint64_t magic;
    int32_t rank, size;
} vd_hello;
enum { ANSWER_COME_IN, ANSWER_OTHER_SIZE, ANSWER_TAKEN };

static const uint64_t MAGIC = UINT64_C(0x31707563726456); // another byte order, another number

// Bytes of an array that are added and sent on at a time.
enum { PIECE_BYTES = 1 << 18 };

static struct {
    vd_group group;
    int *line; // (size) of the first process: its connections; of the others: one, to the first
    double piece[PIECE_BYTES / sizeof(double)];
    char trouble[160];
} tcp;

static double group_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- bytes --------------------------------------------------------------------------------------

static bool send_all(int line, const void *from, size_t bytes)
{
    for (const char *at = from; bytes > 0;) {
        ssize_t sent = send(line, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

// errno is 0 where the other side has closed the connection.
static bool receive_all(int line, void *to, size_t bytes)
{
    for (char *at = to; bytes > 0;) {
        ssize_t got = recv(line, at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? 0 : errno;
            return false;
        }
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

static void set_wait(int line, double seconds)
{
    struct timeval limit = {.tv_sec = (time_t)seconds,
                            .tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)};
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

// A line that stands for hours and has to notice that the other machine is gone.
static void set_line(int line)
{
    static const struct {
        int level, name, value;
    } option[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                  {SOL_SOCKET, SO_KEEPALIVE, 1},
                  {IPPROTO_TCP, TCP_KEEPIDLE, 30},
                  {IPPROTO_TCP, TCP_KEEPINTVL, 10},
                  {IPPROTO_TCP, TCP_KEEPCNT, 6}};
    for (size_t i = 0; i < sizeof option / sizeof *option; i++)
        setsockopt(line, option[i].level, option[i].name, &option[i].value, sizeof(int));
    set_wait(line, 0);
}

// ---- sums ---------------------------------------------------------------------------------------

static const char *lost(int rank)
{
    snprintf(tcp.trouble, sizeof tcp.trouble, "process %d has ended or cannot be reached%s%s", rank,
             errno ? ": " : "", errno ? strerror(errno) : "");
    return tcp.trouble;
}

static void add_floats(void *x, const void *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((float *)x)[i] += ((const float *)y)[i];
}

static void add_doubles(void *x, const void *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((double *)x)[i] += ((const double *)y)[i];
}

typedef void (*vd_adder)(void *x, const void *y, size_t n);

static const char *out_of_step(int rank, uint64_t found, uint64_t expected)
{
    snprintf(tcp.trouble, sizeof tcp.trouble,
             "process %d sums %llu bytes, process 0 %llu: were they started alike?", rank,
             (unsigned long long)found, (unsigned long long)expected);
    return tcp.trouble;
}

static const char *sum_at_first(char *x, size_t n, size_t size, vd_adder add)
{
    uint64_t found, bytes = (uint64_t)n * size;
    for (int r = 1; r < tcp.group.size; r++) {
        if (!receive_all(tcp.line[r], &found, sizeof found))
            return lost(r);
        if (found != bytes)
            return out_of_step(r, found, bytes);
    }
    for (size_t from = 0; from < bytes; from += PIECE_BYTES) {
        size_t piece = bytes - from < PIECE_BYTES ? bytes - from : PIECE_BYTES;
        for (int r = 1; r < tcp.group.size; r++) {
            if (!receive_all(tcp.line[r], tcp.piece, piece))
                return lost(r);
            add(x + from, tcp.piece, piece / size);
        }
        for (int r = 1; r < tcp.group.size; r++)
            if (!send_all(tcp.line[r], x + from, piece))
                return lost(r);
    }
    return NULL;
}

static const char *sum_at_others(char *x, size_t n, size_t size)
{
    uint64_t bytes = (uint64_t)n * size;
    if (!send_all(tcp.line[0], &bytes, sizeof bytes))
        return lost(0);
    for (size_t from = 0; from < bytes; from += PIECE_BYTES) {
        size_t piece = bytes - from < PIECE_BYTES ? bytes - from : PIECE_BYTES;
        if (!send_all(tcp.line[0], x + from, piece) || !receive_all(tcp.line[0], x + from, piece))
            return lost(0);
    }
    return NULL;
}

static const char *sum_floats_tcp(float *x, size_t n)
{
    return tcp.group.rank ? sum_at_others((char *)x, n, sizeof *x)
                          : sum_at_first((char *)x, n, sizeof *x, add_floats);
}

static const char *sum_doubles_tcp(double *x, size_t n)
{
    return tcp.group.rank ? sum_at_others((char *)x, n, sizeof *x)
                          : sum_at_first((char *)x, n, sizeof *x, add_doubles);
}

static void close_lines(void)
{
    for (int r = 0; tcp.line && r < tcp.group.size; r++)
        if (tcp.line[r] >= 0)
            close(tcp.line[r]);
    vd_free(tcp.line);
    tcp.line = NULL;
}

// All leave together, so that nobody closes what another still reads.
static void leave_tcp(void)
{
    double nothing = 0;
    (void)sum_doubles_tcp(&nothing, 1);
    close_lines();
}

// ---- meeting ------------------------------------------------------------------------------------

static vd_status find_address(const vd_rendezvous *where, struct addrinfo **out, vd_error *err)
{
    char port[16];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
    snprintf(port, sizeof port, "%d", where->port);
    int why = getaddrinfo(where->address, port, &hints, out);
    return why ? vd_error_set(err, VD_UNAVAILABLE,
                              "MASTER_ADDR: the machine '%.200s' is not known here: %s",
                              where->address, gai_strerror(why))
               : VD_OK;
}

static bool is_this_machine_only(const char *address)
{
    return strcmp(address, "localhost") == 0 || strcmp(address, "127.0.0.1") == 0 ||
           strcmp(address, "::1") == 0;
}

// A socket that listens on the port: of every network, or with a loopback address of that alone.
static vd_status start_listening(const vd_rendezvous *where, int *out, vd_error *err)
{
    struct addrinfo *at = NULL;
    vd_status status = find_address(where, &at, err);
    if (status)
        return status;
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((uint16_t)where->port)};
    const struct sockaddr *name = (const struct sockaddr *)&any;
    socklen_t length = sizeof any;
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = any.sin_port};
    if (is_this_machine_only(where->address)) {
        name = at->ai_addr;
        length = at->ai_addrlen;
    } else if (at->ai_family == AF_INET6) {
        name = (const struct sockaddr *)&any6;
        length = sizeof any6;
    }
    int again = 1, line = socket(name->sa_family, SOCK_STREAM, 0);
    if (line >= 0)
        setsockopt(line, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    if (line < 0 || bind(line, name, length) != 0 || listen(line, where->size) != 0) {
        status = vd_error_set(err, VD_UNAVAILABLE,
                              "process 0 cannot listen on port %d: %s; set MASTER_PORT to another "
                              "one, the same for all processes",
                              where->port, strerror(errno));
        if (line >= 0)
            close(line);
        line = -1;
    }
    freeaddrinfo(at);
    *out = line;
    return status;
}

// Who are you? A line that does not say so at once is somebody else's.
static void let_in(int line, int *missing)
{
    vd_hello hello;
    int32_t answer = ANSWER_COME_IN;
    set_wait(line, 2);
    if (!receive_all(line, &hello, sizeof hello) || hello.magic != MAGIC) {
        close(line);
        return;
    }
    if (hello.size != tcp.group.size)
        answer = ANSWER_OTHER_SIZE;
    else if (hello.rank < 1 || hello.rank >= tcp.group.size || tcp.line[hello.rank] >= 0)
        answer = ANSWER_TAKEN;
    if (answer == ANSWER_COME_IN) {
        set_line(line);
        tcp.line[hello.rank] = line;
        --*missing;
    } else {
        send_all(line, &answer, sizeof answer);
        close(line);
    }
}

static vd_status not_all_came(const vd_rendezvous *where, int missing, vd_error *err)
{
    char who[96] = "";
    for (int r = 1; r < where->size; r++) {
        size_t length = strlen(who);
        if (tcp.line[r] < 0 && length < sizeof who - 16)
            snprintf(who + length, sizeof who - length, "%s%d", length ? ", " : "", r);
    }
    return vd_error_set(err, VD_UNAVAILABLE,
                        "%d of %d processes did not come to %.200s, port %d, within %g s (ranks "
                        "%s); start each with its RANK and the same WORLD_SIZE, MASTER_ADDR and "
                        "MASTER_PORT",
                        missing, where->size, where->address, where->port, where->seconds, who);
}

static vd_status meet_as_first(const vd_rendezvous *where, vd_error *err)
{
    int door, missing = where->size - 1;
    double until = group_clock() + where->seconds;
    vd_status status = start_listening(where, &door, err);
    if (status)
        return status;
    while (missing > 0) {
        double left = until - group_clock();
        struct pollfd waiting = {.fd = door, .events = POLLIN};
        if (left <= 0 || (poll(&waiting, 1, (int)(left * 1000) + 1) < 0 && errno != EINTR))
            break;
        int line = waiting.revents & POLLIN ? accept(door, NULL, NULL) : -1;
        if (line >= 0)
            let_in(line, &missing);
    }
    close(door);
    if (missing > 0)
        return not_all_came(where, missing, err);
    for (int r = 1; r < where->size; r++) {
        int32_t answer = ANSWER_COME_IN;
        if (!send_all(tcp.line[r], &answer, sizeof answer))
            return vd_error_set(err, VD_UNAVAILABLE, "%s", lost(r));
    }
    return VD_OK;
}

// A connection to the first process, which may not be listening yet; -1 after the last moment.
static int connect_until(const struct addrinfo *at, double until)
{
    for (;;) {
        for (const struct addrinfo *a = at; a; a = a->ai_next) {
            int line = socket(a->ai_family, SOCK_STREAM, 0);
            if (line >= 0 && connect(line, a->ai_addr, a->ai_addrlen) == 0)
                return line;
            if (line >= 0)
                close(line);
        }
        if (group_clock() >= until)
            return -1;
        poll(NULL, 0, 50);
    }
}

static vd_status meet_the_first(const vd_rendezvous *where, vd_error *err)
{
    struct addrinfo *at = NULL;
    int32_t answer = ANSWER_COME_IN;
    const vd_hello hello = {MAGIC, where->rank, where->size};
    double until = group_clock() + where->seconds;
    vd_status status = find_address(where, &at, err);
    if (status)
        return status;
    int line = tcp.line[0] = connect_until(at, until);
    freeaddrinfo(at);
    if (line < 0)
        return vd_error_set(err, VD_UNAVAILABLE,
                            "process %d: nobody answers at %.200s, port %d, for %g s; is process 0 "
                            "(RANK=0) running, on the machine that MASTER_ADDR names?",
                            where->rank, where->address, where->port, where->seconds);
    // The first waits as long for the rest, and then says that they did not come.
    set_wait(line, where->seconds + 5);
    if (!send_all(line, &hello, sizeof hello) || !receive_all(line, &answer, sizeof answer))
        return vd_error_set(err, VD_UNAVAILABLE,
                            "process %d: who answers at %.200s, port %d, is no process 0, or gave "
                            "up waiting for the others",
                            where->rank, where->address, where->port);
    if (answer != ANSWER_COME_IN)
        return vd_error_set(
            err, VD_UNAVAILABLE,
            "process %d: process 0 at %.200s, port %d, %s; another training that listens there? "
            "Then set MASTER_PORT to another one",
            where->rank, where->address, where->port,
            answer == ANSWER_OTHER_SIZE ? "waits for another number of processes (WORLD_SIZE)"
                                        : "has a process of this rank already (RANK)");
    set_line(line);
    return VD_OK;
}

vd_status vd_group_tcp(const vd_rendezvous *where, const vd_group **out, vd_error *err)
{
    *out = NULL;
    close_lines();
    tcp.group = (vd_group){.abi = VD_GROUP_ABI,
                           .name = "TCP",
                           .rank = where->rank,
                           .size = where->size,
                           .local = where->local,
                           .sum_floats = sum_floats_tcp,
                           .sum_doubles = sum_doubles_tcp,
                           .leave = leave_tcp};
    tcp.line = vd_alloc((size_t)where->size, sizeof *tcp.line);
    if (!tcp.line)
        return vd_error_memory(err, "the connections of the processes");
    for (int r = 0; r < where->size; r++)
        tcp.line[r] = -1;
    vd_status status = where->rank ? meet_the_first(where, err) : meet_as_first(where, err);
    if (status == VD_OK)
        *out = &tcp.group;
    else
        close_lines();
    return status;
}
