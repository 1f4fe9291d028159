#include "tui/measure/report.h"

#include <math.h>
#include <stdio.h>

#include "tui/base/output.h"

// ---- tables -------------------------------------------------------------------------------------

static void print_row(const char *name, const vd_metrics *metrics)
{
    vd_metrics_means mean = vd_metrics_mean(metrics);
    printf("%-18.18s %8zu", name, metrics->rounds);
    if (metrics->rounds)
        printf("  %6.4f  %6.4f  %6.4f  %7.3f  %6.4f", mean.recall[0], mean.recall[1],
               mean.recall[2], mean.mean_rank, mean.mrr);
    else
        printf("  %6s  %6s  %6s  %7s  %6s", "-", "-", "-", "-", "-");
    if (metrics->dense_rounds)
        printf("  %8zu  %6.4f  %9.4f\n", metrics->dense_rounds, mean.ndcg, mean.correct);
    else
        printf("  %8s  %6s  %9s\n", "-", "-", "-");
}

static void print_head(const char *what)
{
    printf("%-18s %8s  %6s  %6s  %6s  %7s  %6s  %8s  %6s  %9s\n", what, "rounds", "R@1", "R@5",
           "R@10", "mean", "MRR", "relevant", "NDCG", "correct@1");
}

static const char *distance_name(int distance, char *out, size_t size)
{
    if (distance == 0)
        snprintf(out, size, "none");
    else
        snprintf(out, size, "%d%s", distance, distance == VD_MEASURE_FAR ? "+" : "");
    return out;
}

// One end of the intervals, below the metrics.
static void print_bound(const char *name, const vd_interval *intervals, bool high)
{
    static const struct {
        int width, digits;
    } cell[VD_METRICS] = {{6, 4}, {6, 4}, {6, 4}, {7, 3}, {6, 4}, {6, 4}, {9, 4}};
    printf("%-18s %8s", name, "");
    for (int i = 0; i < VD_METRICS; i++) {
        double value = high ? intervals[i].high : intervals[i].low;
        if (i == VD_NDCG)
            printf("  %8s", "");
        if (isnan(value))
            printf("  %*s", cell[i].width, "-");
        else
            printf("  %*.*f", cell[i].width, cell[i].digits, value);
    }
    printf("\n");
}

static bool nothing_measured(const vd_metrics *metrics)
{
    return metrics->rounds == 0 && metrics->dense_rounds == 0;
}

// Rows below a heading of their own, left out when there are none.
static void print_places(const char *head, const vd_metrics *rows, int count,
                         const char *(*name)(int place, char *out, size_t size))
{
    char text[24];
    bool any = false;
    for (int i = 0; i < count; i++) {
        if (nothing_measured(&rows[i]))
            continue;
        if (!any) {
            printf("\n");
            print_head(head);
        }
        any = true;
        print_row(name(i, text, sizeof text), &rows[i]);
    }
}

static const char *round_name(int round, char *out, size_t size)
{
    snprintf(out, size, "%d", round + 1);
    return out;
}

void vd_measure_print(const vd_measure *measure, const vd_interval *intervals, double level)
{
    char name[24];
    print_head("");
    print_row("all", &measure->all);
    if (intervals) {
        snprintf(name, sizeof name, "  %g %% from", 100.0 * level);
        print_bound(name, intervals, false);
        print_bound("       to", intervals, true);
    }
    print_places("round", measure->round, measure->rounds, round_name);
    if (measure->family_count) {
        printf("\n");
        print_head("question family");
        for (size_t i = 0; i < measure->family_count; i++)
            print_row(measure->family[i].name, &measure->family[i].metrics);
    }
    print_places("rounds back", measure->coreference, VD_MEASURE_FAR + 1, distance_name);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void json_metrics(yajl_gen json, const vd_metrics *metrics)
{
    double sum[VD_METRICS], count[VD_METRICS];
    vd_metrics_sums(metrics, sum, count);
    yajl_gen_map_open(json);
    vd_output_string(json, "rounds");
    yajl_gen_integer(json, (long long)metrics->rounds);
    vd_output_string(json, "dense_rounds");
    yajl_gen_integer(json, (long long)metrics->dense_rounds);
    for (int i = 0; i < VD_METRICS; i++)
        if (count[i] > 0.0) {
            vd_output_string(json, vd_metric_name((vd_metric)i));
            vd_output_number(json, sum[i] / count[i]);
        }
    yajl_gen_map_close(json);
}

static void json_intervals(yajl_gen json, const vd_interval *intervals, double level)
{
    yajl_gen_map_open(json);
    vd_output_string(json, "level");
    vd_output_number(json, level);
    for (int i = 0; i < VD_METRICS; i++) {
        if (isnan(intervals[i].estimate))
            continue;
        vd_output_string(json, vd_metric_name((vd_metric)i));
        yajl_gen_array_open(json);
        vd_output_number(json, intervals[i].low);
        vd_output_number(json, intervals[i].high);
        yajl_gen_array_close(json);
    }
    yajl_gen_map_close(json);
}

void vd_measure_json(yajl_gen json, const vd_measure *measure, const vd_interval *intervals,
                     double level)
{
    char name[24];
    vd_output_string(json, "dialogs");
    yajl_gen_integer(json, (long long)measure->dialogs);
    vd_output_string(json, "all");
    json_metrics(json, &measure->all);
    if (intervals) {
        vd_output_string(json, "interval");
        json_intervals(json, intervals, level);
    }
    vd_output_string(json, "round");
    yajl_gen_array_open(json);
    for (int i = 0; i < measure->rounds; i++)
        json_metrics(json, &measure->round[i]);
    yajl_gen_array_close(json);
    vd_output_string(json, "family");
    yajl_gen_map_open(json);
    for (size_t i = 0; i < measure->family_count; i++) {
        vd_output_string(json, measure->family[i].name);
        json_metrics(json, &measure->family[i].metrics);
    }
    yajl_gen_map_close(json);
    vd_output_string(json, "rounds_back");
    yajl_gen_map_open(json);
    for (int i = 0; i <= VD_MEASURE_FAR; i++) {
        if (nothing_measured(&measure->coreference[i]))
            continue;
        vd_output_string(json, distance_name(i, name, sizeof name));
        json_metrics(json, &measure->coreference[i]);
    }
    yajl_gen_map_close(json);
}
