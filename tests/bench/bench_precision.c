// What weights in 16 bits change: the scores and ranks of the candidates of four dialogs, by a
// random network of the public size in float32 and in 16 bits. Run bench_network first: it makes
// the model files.
//
//   bench_precision [FLOAT32 HALF]   build/bench/model.safetensors build/bench/half.safetensors
#include "tests/bench/bench.h"

#include <math.h>

#include "engine/model/model.h"
#include "engine/model/pool.h"
#include "tests/support/full_size.h"

enum { DIALOGS = 4, QUESTIONS = DIALOGS * FULL_ROUNDS, SCORES = QUESTIONS * FULL_CANDIDATES };

static vd_status score(const char *path, float *scores, vd_error *err)
{
    vd_batch batch = full_size_batch(DIALOGS);
    vd_model *model = NULL;
    vd_arena arena = {0};
    vd_status status = vd_model_load(path, &model, err);
    if (status == VD_OK)
        status = vd_model_scores(model, vd_model_config(model)->decoders, &arena, NULL, &batch,
                                 scores, err);
    vd_arena_free(&arena);
    vd_model_free(model);
    return status;
}

// Candidates of a question that score higher.
static int rank_of(const float *question, int candidate)
{
    int rank = 0;
    for (int i = 0; i < FULL_CANDIDATES; i++)
        rank += question[i] > question[candidate];
    return rank;
}

static double deviation(const float *x, int n)
{
    double mean = 0, square = 0;
    for (int i = 0; i < n; i++)
        mean += (double)x[i] / n;
    for (int i = 0; i < n; i++)
        square += ((double)x[i] - mean) * ((double)x[i] - mean) / n;
    return sqrt(square);
}

int main(int argc, char **argv)
{
    static float full[SCORES], half[SCORES];
    const char *of_full = argc > 2 ? argv[1] : "build/bench/model.safetensors";
    const char *of_half = argc > 2 ? argv[2] : "build/bench/half.safetensors";
    vd_error err = {0};
    bench_machine("bench_precision");
    if (score(of_full, full, &err) != VD_OK || score(of_half, half, &err) != VD_OK)
        return bench_fail(&err);
    double largest = 0;
    int moved = 0, farthest = 0, first = 0;
    for (int q = 0; q < QUESTIONS; q++)
        for (int i = 0; i < FULL_CANDIDATES; i++) {
            const float *a = full + q * FULL_CANDIDATES, *b = half + q * FULL_CANDIDATES;
            int before = rank_of(a, i), after = rank_of(b, i), distance = abs(after - before);
            largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
            moved += distance > 0;
            farthest = distance > farthest ? distance : farthest;
            first += before == 0 && after > 0;
        }
    printf("standard deviation of the scores     %.3g\n", deviation(full, SCORES));
    printf("largest difference of a score        %.2g\n", largest);
    printf("ranks that differ                    %d of %d, by at most %d\n", moved, SCORES,
           farthest);
    printf("questions whose first answer differs %d of %d\n", first, QUESTIONS);
    return 0;
}
