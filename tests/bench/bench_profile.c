// Where the time goes: the network at its public size, tenth question, an answer into the history,
// another picture; every operation of the backend with its products and the weights it reads, and
// the least wall and CPU time of many runs (CPU time is what other programs disturb least). Run
// bench_network first: it makes the model files.
//
//   bench_profile [ANSWERS [RUNS [FILE]]]   100 answers, 41 runs, build/bench/model.safetensors
#include "tests/bench/bench.h"

#include "engine/dialog.h"
#include "engine/model_private.h"
#include "engine/alloc.h"
#include "tests/bench/figures.h"
#include "tests/support/full_size.h"

enum { MOST = 128, LARGE = 100000, DIFFERENT = 10000 };

typedef struct operation {
    char what[64];
    double flops, bytes; // of products, and of the matrices they are with
    double wall, cpu;    // milliseconds: the least of all runs
} operation;

static operation operations[MOST];
static int at, run; // the operation of this run
static vd_model *model;
static double wall_before, cpu_before;
static const vd_backend *cpu;

// The parameter that w lies in.
static const char *name_of(const vd_real *w)
{
    const vd_layout *l = &model->layout;
    for (int i = 0; i < l->count; i++) {
        const vd_parameter *p = &l->parameter[i];
        if (w >= model->block + p->offset && w < model->block + p->offset + p->elements)
            return p->name + (strncmp(p->name, "encoder.", 8) ? 0 : 8);
    }
    return "kept vectors";
}

static void begin(void)
{
    cpu_before = cpu_now();
    wall_before = bench_now();
}

static void end(const char *what, const char *with, double products, double numbers)
{
    double wall = bench_now() - wall_before, took = cpu_now() - cpu_before;
    operation *o = &operations[at++ % MOST];
    if (run == 0) {
        *o = (operation){.flops = 2 * products,
                         .bytes = numbers * (model->in_file ? 4 : 2),
                         .wall = wall,
                         .cpu = took};
        snprintf(o->what, sizeof o->what, "%s%s%s", what, with ? " " : "", with ? with : "");
    }
    o->wall = wall < o->wall ? wall : o->wall;
    o->cpu = took < o->cpu ? took : o->cpu;
}

// ---- the table, timed ---------------------------------------------------------------------------

static void gemm(bool ta, bool tb, int m, int n, int k, vd_real alpha, const vd_real *a, int lda,
                 const vd_real *b, int ldb, vd_real beta, vd_real *c, int ldc)
{
    begin();
    cpu->gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    end("gemm", name_of(b), (double)m * n * k, (double)n * k);
}

static void products(bool ta, bool tb, vd_real beta, const vd_product *list, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)list[i].m * list[i].n * list[i].k;
    begin();
    cpu->products(ta, tb, beta, list, count);
    end("products", NULL, sum, 0);
}

static void linear(const vd_real *x, const vd_real *w, const vd_real *b, vd_real *y, int rows,
                   int in, int out)
{
    begin();
    cpu->linear(x, w, b, y, rows, in, out);
    end("linear", name_of(w), (double)rows * out * in, (double)out * in);
}

static void lstm(const vd_lstm_pass *p, int directions)
{
    double numbers = 4.0 * p->hidden * (p->in + p->hidden) * directions;
    begin();
    cpu->lstm(p, directions);
    end("lstm", name_of(p->weights->w_ih), p->packed->tokens * numbers, numbers);
}

#define TIMED(name, parameters, arguments)                                                         \
    static void name parameters                                                                    \
    {                                                                                              \
        begin();                                                                                   \
        cpu->name arguments;                                                                       \
        end(#name, NULL, 0, 0);                                                                    \
    }
TIMED(load_floats, (const float *host, vd_real *y, size_t n), (host, y, n))
TIMED(read_floats, (const vd_real *x, float *host, size_t n), (x, host, n))
TIMED(fill_rows, (const vd_real *row, vd_real *y, int rows, int n), (row, y, rows, n))
TIMED(gated, (vd_gate gate, vd_real *pre, vd_real *y, int rows, int hidden),
      (gate, pre, y, rows, hidden))
TIMED(sigmoid_gate, (vd_real * pre, const vd_real *x, vd_real *y, size_t n), (pre, x, y, n))
TIMED(relu, (vd_real * x, size_t n), (x, n))
TIMED(embed, (const vd_real *table, const int32_t *id, int rows, int width, vd_real *y),
      (table, id, rows, width, y))
TIMED(add_rows, (const vd_real *table, const int *index, int rows, int width, vd_real *x),
      (table, index, rows, width, x))
TIMED(ends, (const vd_packed *p, int d, int h, const vd_real *y, vd_real *s), (p, d, h, y, s))
TIMED(normalise_regions, (const vd_real *x, vd_real *y, int d, int r, int s), (x, y, d, r, s))
TIMED(context_attention,
      (const vd_span *span, int hidden, const vd_real *fq, const vd_real *fh, const vd_real *h,
       const vd_linear_weights *score, vd_real rate, uint64_t key, vd_real *a, vd_real *c),
      (span, hidden, fq, fh, h, score, rate, key, a, c))
TIMED(topic_attention,
      (const vd_span *span, const size_t *start, const vd_real *a, vd_real *s, vd_real *w),
      (span, start, a, s, w))
TIMED(word_attention, (const vd_span *span, int regions, vd_real *m), (span, regions, m))
TIMED(join,
      (const vd_real *l, const int *lr, int ls, const vd_real *r, const int *rr, int rs, vd_real *y,
       int rows),
      (l, lr, ls, r, rr, rs, y, rows))
TIMED(region_attention,
      (const vd_span *span, int hidden, const vd_real *fm, const vd_real *fc,
       const vd_linear_weights *score, vd_real rate, uint64_t key, vd_real *z, vd_real *norm,
       vd_real *g),
      (span, hidden, fm, fc, score, rate, key, z, norm, g))
TIMED(region_pool,
      (const vd_span *span, const vd_real *g, const vd_real *m, int size, vd_real *y, int stride),
      (span, g, m, size, y, stride))
TIMED(rank, (const vd_real *z, int n, float *score, float *p, int32_t *order, int32_t *other),
      (z, n, score, p, order, other))

static vd_backend timed_table(void)
{
    vd_backend t = *cpu;
    t.gemm = gemm;
    t.products = products;
    t.linear = linear;
    t.lstm = lstm;
    t.load_floats = load_floats;
    t.read_floats = read_floats;
    t.fill_rows = fill_rows;
    t.gated = gated;
    t.sigmoid_gate = sigmoid_gate;
    t.relu = relu;
    t.embed = embed;
    t.add_rows = add_rows;
    t.ends = ends;
    t.normalise_regions = normalise_regions;
    t.context_attention = context_attention;
    t.topic_attention = topic_attention;
    t.word_attention = word_attention;
    t.join = join;
    t.region_attention = region_attention;
    t.region_pool = region_pool;
    t.rank = rank;
    return t;
}

// ---- what is measured ---------------------------------------------------------------------------

static vd_pool *pool;
static vd_dialog *dialog;

static vd_status new_dialog(vd_dialog **out, vd_error *err)
{
    vd_batch b = full_size_batch(1);
    return vd_dialog_new(model, pool, b.image, b.regions, b.history, b.history_length[0], out, err);
}

static vd_status append(int round, vd_error *err)
{
    vd_batch b = full_size_batch(1);
    vd_dialog_truncate(dialog, round);
    return vd_dialog_append(dialog, b.history + (size_t)round * VD_MAX_HISTORY,
                            b.history_length[round], err);
}

static vd_status do_question(vd_error *err)
{
    vd_batch b = full_size_batch(1);
    const int last = FULL_ROUNDS - 1;
    vd_answer answer;
    vd_status status = vd_dialog_ask(dialog, b.question + (size_t)last * VD_MAX_QUESTION,
                                     b.question_length[last], NULL, &answer, err);
    if (status == VD_OK)
        vd_answer_clear(&answer);
    return status;
}

static vd_status do_append(vd_error *err)
{
    return append(FULL_ROUNDS - 1, err);
}

static vd_status do_picture(vd_error *err)
{
    vd_dialog *other;
    vd_status status = new_dialog(&other, err);
    vd_dialog_free(status == VD_OK ? other : NULL);
    return status;
}

static void print_operations(const char *what, double wall, double took)
{
    enum { SHOWN_US = 20 };
    printf("\n%-58s %8s %8s %9s %9s\n", what, "MFLOP", "MB", "wall ms", "CPU ms");
    for (const operation *o = operations; o < operations + at; o++)
        if (o->wall * 1e3 > SHOWN_US)
            printf("  %-56s %8.1f %8.2f %9.3f %9.3f\n", o->what, o->flops * 1e-6, o->bytes * 1e-6,
                   o->wall, o->cpu);
    printf("  %-56s %8s %8s %9.3f %9.3f\n", "all of it, with what is between them", "", "", wall,
           took);
}

static vd_status profile(const char *what, vd_status (*work)(vd_error *err), int runs,
                         vd_error *err)
{
    double wall = 1e30, took = 1e30;
    vd_status status = VD_OK;
    for (run = 0; status == VD_OK && run < runs; run++) {
        at = 0;
        double cpu_start = cpu_now(), start = bench_now();
        status = work(err);
        double w = bench_now() - start, c = cpu_now() - cpu_start;
        wall = w < wall ? w : wall;
        took = c < took ? c : took;
    }
    if (status == VD_OK)
        print_operations(what, wall, took);
    return status;
}

static vd_status open_all(const char *path, int count, vd_error *err)
{
    int32_t *tokens = NULL, *lengths = NULL;
    vd_status status = vd_model_load(path, &model, err);
    if (status == VD_OK)
        status =
            full_size_pool(count, count < DIFFERENT ? count : DIFFERENT, &tokens, &lengths, err);
    if (status == VD_OK)
        status = vd_pool_new(model, tokens, lengths, count, VD_MAX_CANDIDATE, NULL, &pool, err);
    vd_free(tokens);
    vd_free(lengths);
    if (status == VD_OK && count >= LARGE)
        vd_pool_halve(pool); // as a chat does
    if (status == VD_OK)
        status = new_dialog(&dialog, err);
    for (int r = 1; status == VD_OK && r < FULL_ROUNDS; r++)
        status = append(r, err);
    return status;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : FULL_CANDIDATES;
    long runs = argc > 2 ? strtol(argv[2], NULL, 10) : 41;
    const char *path = argc > 3 ? argv[3] : "build/bench/model.safetensors";
    vd_error err = {0};
    bench_machine("bench_profile");
    if (count < 1 || count > 1000000 || runs < 1 || open_all(path, (int)count, &err) != VD_OK)
        return bench_fail(&err);
    cpu = model->be;
    vd_backend timed = timed_table();
    model->be = &timed;
    printf("# %s, %ld answers, %s weights\n", path, count, model->in_file ? "float32" : "16-bit");
    vd_status status = profile("question, round 10", do_question, (int)runs, &err);
    if (status == VD_OK)
        status = profile("an answer into the history", do_append, (int)runs, &err);
    if (status == VD_OK)
        status = profile("another picture", do_picture, (int)runs, &err);
    model->be = cpu;
    vd_dialog_free(dialog);
    vd_pool_free(pool);
    vd_model_free(model);
    return status == VD_OK ? 0 : bench_fail(&err);
}
