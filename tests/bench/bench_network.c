// The network at its public size, in alternation with PyTorch (mvan_torch.py): what a question
// costs, a new picture, an answer that enters the history, a pool, evaluating, training, starting,
// memory, and waiting. The last lines are the table.
//
//   bench_network [WHAT]...   only the measurements whose names begin with one of these:
//                             question rank picture append evaluate train start memory idle
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdbool.h>

#include "engine/base/alloc.h"
#include "engine/model/dialog.h"
#include "engine/model/pool.h"
#include "engine/train/trainer.h"
#include "tests/bench/figures.h"
#include "tests/bench/machine.h"
#include "tests/bench/torch.h"
#include "tests/support/full_size.h"
#include "tests/support/step.h"

enum { PATH = 1024, SHOWN = 10000, LARGE = 340000 };

static const char *directory = "build/bench";
static char model_path[PATH], half_path[PATH], batch_path[PATH], world_path[PATH];

// ---- one conversation ---------------------------------------------------------------------------

typedef struct chat {
    vd_model *model;
    vd_pool *pool;
    vd_dialog *dialog;
} chat;

static vd_status new_dialog(const chat *c, vd_dialog **out, vd_error *err)
{
    vd_batch b = full_size_batch(1);
    return vd_dialog_new(c->model, c->pool, b.image, b.regions, b.history, b.history_length[0], out,
                         err);
}

// The dialog when the tenth question is asked, with a pool of `count` answers.
static vd_status open_chat(const char *path, int count, int repeat, chat *c, vd_error *err)
{
    vd_batch b = full_size_batch(1);
    int32_t *tokens = NULL, *lengths = NULL;
    *c = (chat){0};
    vd_status status = vd_model_load(path, &c->model, err);
    if (status == VD_OK)
        status = vd_model_pack(c->model, err); // as a chat does
    if (status == VD_OK)
        status = full_size_pool(count, repeat, &tokens, &lengths, err);
    if (status == VD_OK)
        status =
            vd_pool_new(c->model, tokens, lengths, count, VD_MAX_CANDIDATE, NULL, &c->pool, err);
    vd_free(tokens);
    vd_free(lengths);
    if (status == VD_OK)
        status = new_dialog(c, &c->dialog, err);
    for (int r = 1; status == VD_OK && r < FULL_ROUNDS; r++)
        status = vd_dialog_append(c->dialog, b.history + (size_t)r * VD_MAX_HISTORY,
                                  b.history_length[r], err);
    return status;
}

static void close_chat(chat *c)
{
    vd_dialog_free(c->dialog);
    vd_pool_free(c->pool);
    vd_model_free(c->model);
    *c = (chat){0};
}

static vd_status ask(const chat *c, series *s, vd_error *err)
{
    vd_batch b = full_size_batch(1);
    const int last = FULL_ROUNDS - 1;
    vd_answer answer;
    double cpu = cpu_now(), start = bench_now();
    vd_status status = vd_dialog_ask(c->dialog, b.question + (size_t)last * VD_MAX_QUESTION,
                                     b.question_length[last], NULL, &answer, err);
    s->wall[s->count] = bench_now() - start;
    s->cpu[s->count++] = cpu_now() - cpu;
    if (status == VD_OK)
        vd_answer_clear(&answer);
    return status;
}

// A series without its first run, which is the warm-up.
static void forget(series *s)
{
    s->count = 0;
}

static void forget_torch(series *s)
{
    for (int i = 0; i < MOST_TORCHES; i++)
        forget(&s[i]);
}

static vd_status bench_question(torches *t, vd_error *err)
{
    enum { RUNS = 31 };
    chat full, half;
    series a = {0}, b = {0}, p[MOST_TORCHES] = {{.count = 0}};
    vd_status status = open_chat(model_path, FULL_CANDIDATES, FULL_CANDIDATES, &full, err);
    if (status != VD_OK)
        return status;
    status = open_chat(half_path, FULL_CANDIDATES, FULL_CANDIDATES, &half, err);
    for (int i = 0; status == VD_OK && i <= RUNS; i++) {
        status = ask(&full, &a, err);
        if (status == VD_OK)
            status = ask(&half, &b, err);
        if (i % 3 == 0)
            run_torch(t, "question", p);
        if (i == 0) {
            forget(&a);
            forget(&b);
            forget_torch(p);
        }
    }
    close_chat(&full);
    close_chat(&half);
    if (status != VD_OK)
        return status;
    detail("question, round 10, float32", &a);
    detail("question, round 10, 16-bit weights", &b);
    detail_torch(t, "question, round 10", p);
    // 34 million weights and 0.65 GFLOP a question.
    add_row("question to ranking, round 10, 100 cached candidates, float32", median(&a), p,
            floor_of(34e6 * 4, 0.65e9), 12, -1, "ms");
    add_row("the same, 16-bit weights", median(&b), p, floor_of(34e6 * 2, 0.65e9), 8, -1, "ms");
    return VD_OK;
}

static vd_status bench_rank(vd_error *err)
{
    enum { RUNS = 21 };
    const int counts[] = {FULL_CANDIDATES, SHOWN, LARGE},
              repeat[] = {FULL_CANDIDATES, SHOWN, SHOWN};
    chat c[3] = {{0}};
    series s[3] = {{.count = 0}};
    vd_status status = VD_OK;
    for (int k = 0; status == VD_OK && k < 3; k++)
        status = open_chat(model_path, counts[k], repeat[k], &c[k], err);
    if (status == VD_OK)
        vd_pool_halve(c[2].pool); // as a chat does with a pool of this size
    for (int i = 0; status == VD_OK && i <= RUNS; i++)
        for (int k = 0; status == VD_OK && k < 3; k++) {
            status = ask(&c[k], &s[k], err);
            if (i == 0)
                forget(&s[k]);
        }
    for (int k = 0; k < 3; k++)
        close_chat(&c[k]);
    if (status != VD_OK)
        return status;
    detail("question, pool of 100", &s[0]);
    detail("question, pool of 10,000", &s[1]);
    detail("question, pool of 340,000", &s[2]);
    for (int k = 1; k < 3; k++) {
        double more[MOST_RUNS];
        for (int i = 0; i < RUNS; i++)
            more[i] = s[k].wall[i] - s[0].wall[i];
        double took = median_of(more, RUNS);
        add_row(k == 1 ? "a pool of 10,000 on top" : "a pool of 340,000 on top",
                took > 0 ? took : 0, NULL,
                floor_of((double)counts[k] * FULL_HIDDEN * 2, counts[k] * 2.0 * FULL_HIDDEN),
                k == 1 ? 1 : 20, -1, "ms");
    }
    return VD_OK;
}

static vd_status bench_picture(vd_error *err)
{
    enum { RUNS = 21 };
    chat c;
    series s = {0};
    vd_status status = open_chat(model_path, FULL_CANDIDATES, FULL_CANDIDATES, &c, err);
    for (int i = 0; status == VD_OK && i <= RUNS; i++) {
        vd_dialog *other;
        double cpu = cpu_now(), start = bench_now();
        status = new_dialog(&c, &other, err);
        s.wall[s.count] = bench_now() - start;
        s.cpu[s.count++] = cpu_now() - cpu;
        vd_dialog_free(status == VD_OK ? other : NULL);
        if (i == 0)
            forget(&s);
    }
    close_chat(&c);
    if (status != VD_OK)
        return status;
    detail("another picture, features to ready", &s);
    // W1's image half, f_v, the history LSTM and two maps of the caption.
    double weights = 2648.0 * 2048 + 1024 * 2048 + 9.6e6 + 2.1e6;
    add_row("another picture, features to ready", median(&s), NULL,
            floor_of(weights * 4, (2648.0 + 1024) * 2048 * 2 * FULL_REGIONS), 15, -1, "ms");
    return VD_OK;
}

static vd_status bench_append(vd_error *err)
{
    enum { RUNS = 31 };
    chat c;
    series s = {0};
    vd_batch b = full_size_batch(1);
    const int last = FULL_ROUNDS - 1;
    vd_status status = open_chat(model_path, FULL_CANDIDATES, FULL_CANDIDATES, &c, err);
    for (int i = 0; status == VD_OK && i <= RUNS; i++) {
        vd_dialog_truncate(c.dialog, last);
        double cpu = cpu_now(), start = bench_now();
        status = vd_dialog_append(c.dialog, b.history + (size_t)last * VD_MAX_HISTORY,
                                  b.history_length[last], err);
        s.wall[s.count] = bench_now() - start;
        s.cpu[s.count++] = cpu_now() - cpu;
        if (i == 0)
            forget(&s);
    }
    close_chat(&c);
    if (status != VD_OK)
        return status;
    detail("an answer into the history", &s);
    add_row("an answer into the history", median(&s), NULL, floor_of((9.6e6 + 2.1e6) * 4, 0), 8, -1,
            "ms");
    return VD_OK;
}

// ---- many dialogs -------------------------------------------------------------------------------

// Whether candidate k begins with the first n words of candidate i.
static bool begins_alike(const vd_batch *b, int k, int i, int n)
{
    const int32_t *x = b->candidate + (size_t)i * VD_MAX_CANDIDATE;
    const int32_t *y = b->candidate + (size_t)k * VD_MAX_CANDIDATE;
    return b->candidate_length[k] >= n && memcmp(x, y, (size_t)n * sizeof *x) == 0;
}

static double distinct_words(const int32_t *ids, const int32_t *lengths, int width, int count)
{
    bool known[FULL_VOCAB] = {false};
    double distinct = 0;
    for (int i = 0; i < count; i++)
        for (int n = 0; n < lengths[i]; n++) {
            bool *at = &known[ids[(size_t)i * (size_t)width + (size_t)n]];
            distinct += !*at;
            *at = true;
        }
    return distinct;
}

// What the candidates' LSTM takes: inputs once for every distinct word, the second layer's for
// every distinct beginning, states once for every beginning that goes on.
static double candidate_flops(const vd_batch *b)
{
    double beginnings = 0, going_on = 0;
    for (int i = 0; i < b->distinct; i++)
        for (int n = 1; n <= b->candidate_length[i]; n++) {
            bool known = false, longer = n < b->candidate_length[i];
            for (int k = 0; !known && k < b->distinct; k++) {
                bool alike = k != i && begins_alike(b, k, i, n);
                known = alike && k < i;
                longer = longer || (alike && b->candidate_length[k] > n);
            }
            beginnings += !known;
            going_on += !known && longer;
        }
    const double h = FULL_HIDDEN, e = FULL_EMBED;
    double words = distinct_words(b->candidate, b->candidate_length, VD_MAX_CANDIDATE, b->distinct);
    return 2 * 4 * h * (words * e + beginnings * h + going_on * 2 * h);
}

// What the products of one dialog's scores take without its candidates.
static double encoder_flops(const vd_batch *b)
{
    double questions = 0, entries = 0;
    int n = b->dialogs * b->rounds;
    for (int k = 0; k < n; k++) {
        questions += b->question_length[k];
        entries += b->history_length[k];
    }
    double words = distinct_words(b->question, b->question_length, VD_MAX_QUESTION, n) +
                   distinct_words(b->history, b->history_length, VD_MAX_HISTORY, n);
    const double h = FULL_HIDDEN, e = FULL_EMBED, d = FULL_REGION, rounds = n;
    double images = (double)b->dialogs * FULL_REGIONS, regions = rounds * FULL_REGIONS;
    // A first word has no state before it.
    double states = questions + entries - 2 * rounds;
    double sum = 2 * 4 * h * (words * e + (questions + entries) * 2 * h + states * 2 * h);
    sum += (questions + entries) * 2 * h * 2 * h;
    sum += 2 * rounds * 2 * h * 2 * h + rounds * 4 * h * 4 * h; // context matching
    sum += questions * (4 * e * e + 2 * e * 2 * h);             // topic
    sum += images * (d * 2 * h + d * (d + 2 * e));              // image halves
    sum += questions * 2 * e * (d + 2 * e);                     // W1's text half, by words
    sum += regions * ((d + 2 * e) * d + d * 2 * h);             // views
    sum += rounds * (4 * h * 2 * h * 2 + (d + 4 * h) * h);
    return 2 * sum;
}

static double dialog_flops(const vd_batch *b)
{
    return encoder_flops(b) + candidate_flops(b);
}

// Scores of a dialog, with its candidates' vectors from a pool or made on the way (NULL).
static vd_status score(const vd_model *model, vd_arena *arena, const vd_pool *pool,
                       const vd_batch *batch, series *s, vd_error *err)
{
    static float scores[FULL_ROUNDS * FULL_CANDIDATES];
    double cpu = cpu_now(), start = bench_now();
    vd_status status =
        vd_model_scores(model, vd_model_config(model)->decoders, arena, pool, batch, scores, err);
    s->wall[s->count] = bench_now() - start;
    s->cpu[s->count++] = cpu_now() - cpu;
    return status;
}

static vd_status bench_evaluate(torches *t, vd_error *err)
{
    enum { RUNS = 15 };
    vd_model *model = NULL;
    vd_arena arena = {0};
    vd_pool *pool = NULL;
    series a = {0}, k = {0}, p[MOST_TORCHES] = {{.count = 0}};
    vd_batch b = full_size_batch(1);
    vd_status status = vd_model_load(model_path, &model, err);
    if (status == VD_OK)
        status = vd_pool_new(model, b.candidate, b.candidate_length, b.distinct, b.candidate_width,
                             NULL, &pool, err);
    for (int i = 0; status == VD_OK && i <= RUNS; i++) {
        status = score(model, &arena, NULL, &b, &a, err);
        if (status == VD_OK)
            status = score(model, &arena, pool, &b, &k, err);
        run_torch(t, "dialog", p);
        if (i == 0) {
            forget(&a);
            forget(&k);
            forget_torch(p);
        }
    }
    vd_pool_free(pool);
    vd_arena_free(&arena);
    vd_model_free(model);
    if (status != VD_OK)
        return status;
    detail("evaluating a dialog", &a);
    detail("evaluating a dialog, candidates kept", &k);
    detail_torch(t, "evaluating a dialog", p);
    double flops = dialog_flops(&b), rate = flops / median(&a) * 1e-6;
    printf("%d distinct candidates; %.1f GFLOP, %.0f GFLOP/s\n", b.distinct, flops * 1e-9, rate);
    add_row("evaluating a dialog, 10 x 100 candidates", median(&a), p, floor_of(37e6 * 4, flops),
            -1, 10, "ms");
    add_row("the same, the data set's answers encoded before (visdial eval)", median(&k), p,
            floor_of(34e6 * 4, encoder_flops(&b)), -1, 10, "ms");
    add_row("evaluating's share of OpenBLAS's rate, candidates included",
            gigaflops > 0 ? 100 * rate / gigaflops : 0, NULL, -1, 60, -1, "%");
    return VD_OK;
}

static vd_status bench_train(torches *t, vd_error *err)
{
    enum { RUNS = 5 };
    vd_config config = full_size_config();
    vd_train_options options = vd_train_defaults();
    options.margin = 1; // as the network that it is compared with
    vd_vocab *vocab = NULL;
    vd_trainer *trainer = NULL;
    series a = {0}, p[MOST_TORCHES] = {{.count = 0}};
    vd_batch b = full_size_batch(FULL_DIALOGS);
    vd_status status = full_size_vocab(&vocab, err);
    if (status == VD_OK)
        status = vd_trainer_new(&config, vocab, &options, &trainer, err);
    for (int i = 0; status == VD_OK && i <= RUNS; i++) {
        double loss, cpu = cpu_now(), start = bench_now();
        status = step_take(trainer, &b, 0.01, &loss, NULL, err);
        a.wall[a.count] = bench_now() - start;
        a.cpu[a.count++] = cpu_now() - cpu;
        run_torch(t, "train", p);
        if (i == 0) {
            forget(&a);
            forget_torch(p);
        }
    }
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
    if (status != VD_OK)
        return status;
    detail("training step, 4 dialogs", &a);
    detail_torch(t, "training step, 4 dialogs", p);
    double flops = 3 * dialog_flops(&b);
    printf("%.0f GFLOP without what dropout adds, %.0f GFLOP/s\n", flops * 1e-9,
           flops / median(&a) * 1e-6);
    // Weights, gradient and two moments are read and written by Adam.
    add_row("training step, 4 dialogs", median(&a), p, floor_of(58.7e6 * 28, flops), -1, 8, "ms");
    return VD_OK;
}

// ---- the program --------------------------------------------------------------------------------

static const char *program(void)
{
    const char *path = getenv("VISDIAL_BIN");
    return path ? path : "build/visdial";
}

// Starts `visdial ask` with its output in a pipe.
static pid_t start_ask(const char *const *arguments, int *from)
{
    int out[2];
    if (pipe(out) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], 1);
        int quiet = open("/dev/null", O_WRONLY);
        if (quiet >= 0)
            dup2(quiet, 2);
        close(out[0]);
        close(out[1]);
        execv(program(), (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    close(out[1]);
    *from = out[0];
    return child;
}

// Milliseconds from the command to the end of its output; -1 when it failed.
static double ask_once(const char *const *arguments)
{
    char output[4096];
    int from, status;
    double start = bench_now();
    pid_t child = start_ask(arguments, &from);
    if (child < 0)
        return -1;
    while (read(from, output, sizeof output) > 0)
        ;
    double took = bench_now() - start;
    close(from);
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? took : -1;
}

static vd_status bench_start(vd_error *err)
{
    enum { RUNS = 15 };
    const char *small[] = {program(), "ask", "--image", "1000001", "how many balls are there?",
                           NULL};
    const char *full[] = {program(),  "ask",     "--assets", world_path, "--model",
                          model_path, "--image", "1",        "w4 w5 w6", NULL};
    series a = {0}, b = {0};
    for (int i = 0; i <= RUNS; i++) {
        a.wall[a.count++] = ask_once(small);
        b.wall[b.count++] = ask_once(full);
        if (a.wall[a.count - 1] < 0 || b.wall[b.count - 1] < 0)
            return vd_error_set(err, VD_IO, "%s ask failed", program());
        if (i == 0) {
            forget(&a);
            forget(&b);
        }
    }
    detail("start to answer, bundled model", &a);
    detail("start to answer, full-size model", &b);
    add_row("start of `visdial ask` to the answer, bundled model", median(&a), NULL, -1, 60, -1,
            "ms");
    add_row("the same, full-size model, 100 answers", median(&b), NULL, floor_of(70e6 * 4, 0), 150,
            -1, "ms");
    return VD_OK;
}

static long status_kilobytes(pid_t process, const char *field)
{
    char path[64], line[256];
    long kilobytes = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, field, strlen(field)) == 0)
            kilobytes = strtol(line + strlen(field) + 1, NULL, 10);
    if (in)
        fclose(in);
    return kilobytes;
}

// Starts the program on a terminal of its own, 80 x 24.
static pid_t start_chat(const char *const *arguments, int *terminal)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    pid_t child = forkpty(terminal, NULL, NULL, &size);
    if (child == 0) {
        setenv("TERM", "xterm-256color", 1);
        execv(program(), (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    return child;
}

// Until the program writes nothing any more for so long; false when it has ended.
static bool read_until_quiet(int terminal, int milliseconds)
{
    char output[65536];
    struct pollfd ready = {.fd = terminal, .events = POLLIN};
    while (poll(&ready, 1, milliseconds) > 0)
        if (read(terminal, output, sizeof output) <= 0)
            return false;
    return true;
}

static void end_chat(pid_t child, int terminal)
{
    kill(child, SIGTERM);
    read_until_quiet(terminal, -1);
    waitpid(child, NULL, 0);
    close(terminal);
}

static vd_status bench_memory(vd_error *err)
{
    enum { QUESTIONS = 10, LOAD_MS = 3000, ANSWER_MS = 1000 };
    const char question[] = "w4 w5 w6\r";
    char pool[PATH];
    int terminal;
    snprintf(pool, sizeof pool, "%s-large/world", directory);
    const char *arguments[] = {program(),  "chat",    "--assets", pool, "--model",
                               model_path, "--image", "1",        NULL};
    pid_t child = start_chat(arguments, &terminal);
    if (child < 0)
        return vd_error_set(err, VD_IO, "no pseudo-terminal");
    bool runs = read_until_quiet(terminal, LOAD_MS);
    for (int i = 0; runs && i < QUESTIONS; i++)
        runs = write(terminal, question, strlen(question)) > 0 &&
               read_until_quiet(terminal, ANSWER_MS);
    long resident = status_kilobytes(child, "VmRSS"), most = status_kilobytes(child, "VmHWM");
    end_chat(child, terminal);
    if (!runs || resident <= 0)
        return vd_error_set(err, VD_IO, "%s ended before its memory could be read", program());
    printf("resident after ten questions: %ld MB, at most %ld MB\n", resident / 1024, most / 1024);
    add_row("resident memory of a chat, full-size model, pool of 10,000", (double)resident / 1024,
            NULL, (34e6 * 4 + SHOWN * FULL_HIDDEN * 4.0) / 1048576, 350, -1, "MB");
    return VD_OK;
}

static vd_status bench_idle(vd_error *err)
{
    enum { SETTLE_MS = 3000, WATCH_MS = 5000 };
    char output[65536];
    int terminal;
    const char *arguments[] = {program(), NULL};
    pid_t child = start_chat(arguments, &terminal);
    if (child < 0)
        return vd_error_set(err, VD_IO, "no pseudo-terminal");
    double begin = bench_now(), before = -1;
    while (bench_now() - begin < SETTLE_MS + WATCH_MS) {
        struct pollfd ready = {.fd = terminal, .events = POLLIN};
        if (before < 0 && bench_now() - begin >= SETTLE_MS)
            before = process_time(child);
        if (poll(&ready, 1, 100) > 0 && read(terminal, output, sizeof output) <= 0)
            break;
    }
    double used = process_time(child) - before;
    end_chat(child, terminal);
    printf("CPU time while waiting five seconds for a key: %.3f ms\n", used);
    add_row("CPU time in 5 s of waiting for a key", used, NULL, 0, 1, -1, "ms");
    return VD_OK;
}

// ---- all of it ----------------------------------------------------------------------------------

static bool wanted(int argc, char **argv, const char *what)
{
    bool any = argc <= 1;
    for (int i = 1; i < argc; i++)
        any |= strncmp(what, argv[i], strlen(argv[i])) == 0;
    return any;
}

static vd_status make_files(vd_error *err)
{
    char large[PATH];
    snprintf(model_path, sizeof model_path, "%s/model.safetensors", directory);
    snprintf(half_path, sizeof half_path, "%s/half.safetensors", directory);
    snprintf(batch_path, sizeof batch_path, "%s/batch.safetensors", directory);
    snprintf(world_path, sizeof world_path, "%s/world", directory);
    snprintf(large, sizeof large, "%s-large", directory);
    if (access(batch_path, R_OK) == 0)
        return VD_OK; // `make clean` makes them anew
    vd_status status = full_size_world(large, SHOWN, err);
    return status == VD_OK ? full_size_write(directory, FULL_CANDIDATES, err) : status;
}

int main(int argc, char **argv)
{
    vd_error err = {0};
    bench_machine("bench_network");
    measure_machine();
    if (make_files(&err) != VD_OK)
        return bench_fail(&err);
    bool compared = wanted(argc, argv, "question") || wanted(argc, argv, "evaluate") ||
                    wanted(argc, argv, "train");
    torches t = {.count = 0};
    if (compared)
        t = torches_start("tests/bench/mvan_torch.py",
                          (const char *const[6]){"--model", model_path, "--batch", batch_path});
    vd_status status = VD_OK;
    if (wanted(argc, argv, "question"))
        status = bench_question(&t, &err);
    if (status == VD_OK && wanted(argc, argv, "rank"))
        status = bench_rank(&err);
    if (status == VD_OK && wanted(argc, argv, "picture"))
        status = bench_picture(&err);
    if (status == VD_OK && wanted(argc, argv, "append"))
        status = bench_append(&err);
    if (status == VD_OK && wanted(argc, argv, "evaluate"))
        status = bench_evaluate(&t, &err);
    if (status == VD_OK && wanted(argc, argv, "train"))
        status = bench_train(&t, &err);
    torches_stop(&t);
    if (status == VD_OK && wanted(argc, argv, "start"))
        status = bench_start(&err);
    if (status == VD_OK && wanted(argc, argv, "memory"))
        status = bench_memory(&err);
    if (status == VD_OK && wanted(argc, argv, "idle"))
        status = bench_idle(&err);
    print_table(&t);
    return status == VD_OK ? 0 : bench_fail(&err);
}
