// Where the time goes: the network at its public size, tenth question, an answer into the history,
// another picture, evaluating a dialog with and without its candidates' vectors, a training step;
// every operation of the backend with its products and the weights it reads, and the least wall and
// CPU time of many runs (CPU time is what other programs disturb least). Run bench_network first:
// it makes the model files.
//
//   bench_profile [ANSWERS [RUNS [FILE]]]   100 answers, 41 runs, build/bench/model.safetensors
#include "tests/bench/bench.h"

#include "engine/model/dialog.h"
#include "engine/model/model_private.h"
#include "engine/base/alloc.h"
#include "engine/model/pool.h"
#include "engine/train/trainer.h"
#include "tests/bench/figures.h"
#include "tests/support/full_size.h"
#include "tests/support/step.h"

enum { MOST = 128, LARGE = 100000, DIFFERENT = 10000 };

// Calls that have a label in common count as one.
typedef struct operation {
    char what[80];
    double flops, bytes; // of products, and of the matrices they are with
    double wall, cpu;    // milliseconds of this run
    double least_wall, least_cpu;
    int calls;
} operation;

static operation operations[MOST];
static int count_of_operations;
static vd_model *model;
static double wall_before, cpu_before;
static const vd_backend *cpu;

// The parameter that w lies in.
static const char *name_of(const void *w)
{
    const vd_layout *l = &model->layout;
    for (int i = 0; i < l->count; i++) {
        const char *name = l->parameter[i].name;
        const vd_tensor *t = vd_safetensors_find(model->file, name);
        const unsigned char *first = t->data;
        if ((const unsigned char *)w >= first &&
            (const unsigned char *)w < first + t->elements * vd_dtype_size(t->dtype))
            return name + (strncmp(name, "encoder.", 8) ? 0 : 8);
    }
    return "";
}

static void begin(void)
{
    cpu_before = cpu_now();
    wall_before = bench_now();
}

static operation *find(const char *what)
{
    for (operation *o = operations; o < operations + count_of_operations; o++)
        if (strcmp(o->what, what) == 0)
            return o;
    operation *o = &operations[count_of_operations < MOST - 1 ? count_of_operations++ : MOST - 1];
    *o = (operation){.least_wall = 1e30, .least_cpu = 1e30};
    snprintf(o->what, sizeof o->what, "%s", what);
    return o;
}

static void end(const char *what, double products, double numbers)
{
    double wall = bench_now() - wall_before, took = cpu_now() - cpu_before;
    operation *o = find(what);
    o->flops += 2 * products;
    o->bytes += numbers * (double)vd_dtype_size(model->weights.embed.type);
    o->wall += wall;
    o->cpu += took;
    o->calls++;
}

// What is multiplied, and the parameter that it is multiplied with.
static void end_product(const char *what, int m, int n, int k, const void *w, double numbers)
{
    char text[80];
    snprintf(text, sizeof text, "%s %d x %d x %d %s", what, m, k, n, name_of(w));
    end(text, (double)m * n * k, numbers);
}

// ---- the table, timed ---------------------------------------------------------------------------

static void products(bool ta, bool tb, vd_real beta, const vd_product *list, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)list[i].m * list[i].n * list[i].k;
    begin();
    cpu->products(ta, tb, beta, list, count);
    if (count == 1)
        end_product("product", list->m, list->n, list->k, list->b, (double)list->n * list->k);
    else
        end("products", sum, 0);
}

static void linear(const vd_real *x, const vd_matrix *w, const vd_real *b, vd_real *y, int rows)
{
    begin();
    cpu->linear(x, w, b, y, rows);
    end_product("linear", rows, w->rows, w->columns, w->data, (double)w->rows * w->columns);
}

static void linear_backward(const vd_real *x, const vd_matrix *w, const vd_real *dy, vd_real *dx,
                            int dx_stride, vd_real beta, const vd_matrix *dw, vd_real *db, int rows)
{
    begin();
    cpu->linear_backward(x, w, dy, dx, dx_stride, beta, dw, db, rows);
    end_product(dx && dw ? "linear_backward, twice" : "linear_backward", rows, w->rows, w->columns,
                w->data, (double)w->rows * w->columns);
}

static void lstm(const vd_lstm_pass *p, int directions)
{
    char text[80];
    double numbers = 4.0 * p->hidden * (p->in + p->hidden) * directions;
    begin();
    cpu->lstm(p, directions);
    snprintf(text, sizeof text, "lstm %d of %d %s", p->packed->tokens, p->in,
             name_of(p->weights->w_ih.data));
    end(text, p->packed->tokens * numbers, numbers);
}

static void lstm_backward(const vd_lstm_pass *p, const vd_lstm_gradient *g, int directions)
{
    char text[80];
    double numbers = 4.0 * p->hidden * (p->in + p->hidden) * directions;
    begin();
    cpu->lstm_backward(p, g, directions);
    snprintf(text, sizeof text, "lstm_backward %d of %d", p->packed->tokens, p->in);
    end(text, 2 * p->packed->tokens * numbers, numbers);
}

#define TIMED(name, parameters, arguments)                                                         \
    static void name parameters                                                                    \
    {                                                                                              \
        begin();                                                                                   \
        cpu->name arguments;                                                                       \
        end(#name, 0, 0);                                                                          \
    }
TIMED(load_floats, (const float *host, vd_real *y, size_t n), (host, y, n))
TIMED(read_floats, (const vd_real *x, float *host, size_t n), (x, host, n))
TIMED(gated, (vd_gate gate, vd_real *pre, vd_real *y, int rows, int hidden),
      (gate, pre, y, rows, hidden))
TIMED(gated_backward, (vd_gate gate, vd_real *saved, const vd_real *dy, int rows, int hidden),
      (gate, saved, dy, rows, hidden))
TIMED(sigmoid_gate, (vd_real * pre, const vd_real *x, vd_real *y, size_t n), (pre, x, y, n))
TIMED(sigmoid_gate_backward,
      (vd_real * saved, const vd_real *x, const vd_real *dy, vd_real *dx, size_t n),
      (saved, x, dy, dx, n))
TIMED(map, (vd_function f, const vd_real *x, vd_real *y, size_t n), (f, x, y, n))
TIMED(relu_backward, (const vd_real *y, vd_real *dy, size_t n), (y, dy, n))
TIMED(add_scaled, (vd_real * y, vd_real a, const vd_real *x, size_t n), (y, a, x, n))
TIMED(dropout, (const vd_real *x, vd_real *y, size_t n, vd_real rate, uint64_t key),
      (x, y, n, rate, key))
TIMED(copy_rows,
      (const vd_real *x, int x_stride, const int *index, int rows, int width, vd_real *y,
       int y_stride),
      (x, x_stride, index, rows, width, y, y_stride))
TIMED(scatter_rows,
      (const vd_real *x, int x_stride, const int *index, int rows, int width, vd_real *y,
       int y_stride),
      (x, x_stride, index, rows, width, y, y_stride))
TIMED(embed, (const vd_matrix *table, const int32_t *id, int rows, vd_real *y),
      (table, id, rows, y))
TIMED(embed_backward, (const vd_matrix *dtable, const int32_t *id, int rows, const vd_real *dy),
      (dtable, id, rows, dy))
TIMED(add_rows, (const vd_real *table, const int *index, int rows, int width, vd_real *x),
      (table, index, rows, width, x))
TIMED(normalise_regions, (const vd_real *x, vd_real *y, int dialogs, int regions, int size),
      (x, y, dialogs, regions, size))
TIMED(context_attention,
      (const vd_geometry *span, int hidden, const vd_real *fq, const vd_real *fh, const vd_real *h,
       const vd_score_weights *score, vd_real rate, uint64_t key, vd_real *a, vd_real *c),
      (span, hidden, fq, fh, h, score, rate, key, a, c))
TIMED(context_attention_backward,
      (const vd_geometry *span, int hidden, const vd_real *fq, const vd_real *fh, const vd_real *h,
       const vd_score_weights *score, const vd_score_weights *dscore, vd_real rate, uint64_t key,
       const vd_real *a, vd_real *da, const vd_real *dc, vd_real *dfq, vd_real *dfh, vd_real *dh),
      (span, hidden, fq, fh, h, score, dscore, rate, key, a, da, dc, dfq, dfh, dh))
TIMED(topic_attention,
      (const vd_geometry *span, const size_t *start, const vd_real *a, vd_real *s,
       vd_real *weighted),
      (span, start, a, s, weighted))
TIMED(topic_attention_backward,
      (const vd_geometry *span, const size_t *start, const vd_real *a, const vd_real *s,
       vd_real *ds, vd_real *da),
      (span, start, a, s, ds, da))
TIMED(word_attention, (const vd_geometry *span, int regions, vd_real *m), (span, regions, m))
TIMED(word_attention_backward,
      (const vd_geometry *span, int regions, const vd_real *m, vd_real *dm), (span, regions, m, dm))
TIMED(softmax, (vd_real * x, int rows, int columns, int stride), (x, rows, columns, stride))
TIMED(region_attention,
      (const vd_geometry *span, int hidden, const vd_real *fm, const vd_real *fc,
       const vd_score_weights *score, vd_real rate, uint64_t key, vd_real *z, vd_real *norm,
       vd_real *g),
      (span, hidden, fm, fc, score, rate, key, z, norm, g))
TIMED(region_attention_backward,
      (const vd_geometry *span, int hidden, const vd_real *fm, const vd_real *fc,
       const vd_score_weights *score, const vd_score_weights *dscore, vd_real rate, uint64_t key,
       const vd_real *z, const vd_real *norm, const vd_real *g, vd_real *dg, vd_real *dfm,
       vd_real *dfc),
      (span, hidden, fm, fc, score, dscore, rate, key, z, norm, g, dg, dfm, dfc))
TIMED(region_pool,
      (const vd_geometry *span, const vd_real *g, const vd_real *m, int size, vd_real *y,
       int y_stride),
      (span, g, m, size, y, y_stride))
TIMED(region_pool_backward,
      (const vd_geometry *span, const vd_real *g, const vd_real *m, int size, const vd_real *dy,
       int y_stride, vd_real *dg, vd_real *dm),
      (span, g, m, size, dy, y_stride, dg, dm))
TIMED(gather,
      (const vd_real *products, const int32_t *option, int questions, int candidates, int distinct,
       vd_real *scores),
      (products, option, questions, candidates, distinct, scores))
TIMED(gather_backward,
      (const vd_real *dscores, const int32_t *option, int questions, int candidates, int distinct,
       vd_real *dproducts),
      (dscores, option, questions, candidates, distinct, dproducts))
TIMED(candidate_loss, (const vd_candidate_loss *loss), (loss))
TIMED(rank,
      (const vd_real *z, int n, float *score, float *probability, int32_t *order, int32_t *scratch),
      (z, n, score, probability, order, scratch))
TIMED(adam,
      (vd_real * w, const vd_real *g, vd_real *m, vd_real *v, size_t n, vd_real scale, double rate,
       const vd_moments *moments, int64_t step),
      (w, g, m, v, n, scale, rate, moments, step))
static vd_backend timed_table(void)
{
    vd_backend t = *cpu;
    t.products = products;
    t.linear = linear;
    t.linear_backward = linear_backward;
    t.lstm = lstm;
    t.lstm_backward = lstm_backward;
    t.load_floats = load_floats;
    t.read_floats = read_floats;
    t.gated = gated;
    t.gated_backward = gated_backward;
    t.sigmoid_gate = sigmoid_gate;
    t.sigmoid_gate_backward = sigmoid_gate_backward;
    t.map = map;
    t.relu_backward = relu_backward;
    t.add_scaled = add_scaled;
    t.dropout = dropout;
    t.copy_rows = copy_rows;
    t.scatter_rows = scatter_rows;
    t.embed = embed;
    t.embed_backward = embed_backward;
    t.add_rows = add_rows;
    t.normalise_regions = normalise_regions;
    t.context_attention = context_attention;
    t.context_attention_backward = context_attention_backward;
    t.topic_attention = topic_attention;
    t.topic_attention_backward = topic_attention_backward;
    t.word_attention = word_attention;
    t.word_attention_backward = word_attention_backward;
    t.softmax = softmax;
    t.region_attention = region_attention;
    t.region_attention_backward = region_attention_backward;
    t.region_pool = region_pool;
    t.region_pool_backward = region_pool_backward;
    t.gather = gather;
    t.gather_backward = gather_backward;
    t.candidate_loss = candidate_loss;
    t.rank = rank;
    t.adam = adam;
    return t;
}

// ---- what is measured ---------------------------------------------------------------------------

static vd_pool *pool, *kept; // of a chat; of the candidates of a dialog that is evaluated
static vd_dialog *dialog;
static vd_arena arena;
static vd_trainer *trainer;
static float scores[FULL_ROUNDS * FULL_CANDIDATES];

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

static vd_status do_evaluate(vd_error *err)
{
    vd_batch b = full_size_batch(1);
    return vd_model_scores(model, vd_model_config(model)->decoders, &arena, NULL, &b, scores, err);
}

static vd_status do_evaluate_kept(vd_error *err)
{
    vd_batch b = full_size_batch(1);
    return vd_model_scores(model, vd_model_config(model)->decoders, &arena, kept, &b, scores, err);
}

static vd_status do_step(vd_error *err)
{
    vd_batch b = full_size_batch(FULL_DIALOGS);
    double loss;
    return step_take(trainer, &b, 0.01, &loss, NULL, err);
}

// Operations that take at least 1/500 of the total, and one line for the rest.
static void print_operations(const char *what, int runs, double wall, double took)
{
    double rest_wall = 0, rest_cpu = 0, sum_wall = 0;
    printf("\n%-72s %5s %9s %8s %9s %9s %8s\n", what, "calls", "MFLOP", "MB", "wall ms", "CPU ms",
           "GFLOP/s");
    for (const operation *o = operations; o < operations + count_of_operations; o++) {
        sum_wall += o->least_wall;
        if (o->least_wall > wall / 500)
            printf("  %-70s %5d %9.1f %8.2f %9.3f %9.3f %8.1f\n", o->what, o->calls / runs,
                   o->flops / runs * 1e-6, o->bytes / runs * 1e-6, o->least_wall, o->least_cpu,
                   o->flops / runs / o->least_wall * 1e-6);
        else {
            rest_wall += o->least_wall;
            rest_cpu += o->least_cpu;
        }
    }
    printf("  %-70s %5s %9s %8s %9.3f %9.3f\n", "smaller operations", "", "", "", rest_wall,
           rest_cpu);
    printf("  %-70s %5s %9s %8s %9.3f %9.3f\n", "all of it, with what is between them", "", "", "",
           wall, took);
    printf("  %-70s %5s %9s %8s %9.3f\n", "of it between them, or lost to other programs", "", "",
           "", wall - sum_wall);
}

static void end_run(void)
{
    for (operation *o = operations; o < operations + count_of_operations; o++) {
        o->least_wall = o->wall < o->least_wall ? o->wall : o->least_wall;
        o->least_cpu = o->cpu < o->least_cpu ? o->cpu : o->least_cpu;
        o->wall = o->cpu = 0;
    }
}

static vd_status profile(const char *what, vd_status (*work)(vd_error *err), int runs,
                         vd_error *err)
{
    double wall = 1e30, took = 1e30;
    vd_status status = VD_OK;
    count_of_operations = 0;
    for (int run = 0; status == VD_OK && run < runs; run++) {
        double cpu_start = cpu_now(), start = bench_now();
        status = work(err);
        double w = bench_now() - start, c = cpu_now() - cpu_start;
        wall = w < wall ? w : wall;
        took = c < took ? c : took;
        end_run();
    }
    if (status == VD_OK)
        print_operations(what, runs, wall, took);
    return status;
}

static vd_status open_all(const char *path, int count, vd_error *err)
{
    int32_t *tokens = NULL, *lengths = NULL;
    vd_status status = vd_model_load(path, &model, err);
    if (status == VD_OK)
        status = vd_model_pack(model, err); // as a chat does
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

static vd_status open_trainer(const vd_backend *timed, vd_error *err)
{
    vd_config config = full_size_config();
    vd_train_options options = vd_train_defaults();
    options.margin = 1; // as the network that it is compared with
    vd_vocab *vocab = NULL;
    vd_status status = full_size_vocab(&vocab, err);
    if (status == VD_OK)
        status = vd_trainer_new(&config, vocab, &options, &trainer, err);
    if (status == VD_OK)
        status = vd_trainer_use(trainer, timed, err);
    vd_vocab_free(vocab);
    return status;
}

static vd_status profile_chat(int runs, vd_error *err)
{
    vd_status status = profile("question, round 10", do_question, runs, err);
    if (status == VD_OK)
        status = profile("an answer into the history", do_append, runs, err);
    if (status == VD_OK)
        status = profile("another picture", do_picture, runs, err);
    return status;
}

static vd_status profile_evaluation(int runs, vd_error *err)
{
    vd_batch b = full_size_batch(1);
    vd_status status = vd_pool_new(model, b.candidate, b.candidate_length, b.distinct,
                                   b.candidate_width, NULL, &kept, err);
    if (status == VD_OK)
        status = profile("evaluating a dialog", do_evaluate, runs, err);
    if (status == VD_OK)
        status = profile("evaluating a dialog, candidates kept", do_evaluate_kept, runs, err);
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
    printf("# %s, %ld answers, %s weights\n", path, count,
           model->weights.embed.type == VD_F32 ? "float32" : "16-bit");
    vd_status status = profile_chat((int)runs, &err);
    if (status == VD_OK)
        status = profile_evaluation((int)runs / 3 + 1, &err);
    if (status == VD_OK)
        status = open_trainer(&timed, &err);
    if (status == VD_OK)
        status = profile("training step, 4 dialogs", do_step, (int)runs / 14 + 1, &err);
    model->be = cpu;
    vd_trainer_free(trainer);
    vd_arena_free(&arena);
    vd_dialog_free(dialog);
    vd_pool_free(kept);
    vd_pool_free(pool);
    vd_model_free(model);
    return status == VD_OK ? 0 : bench_fail(&err);
}
