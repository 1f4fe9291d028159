#include "tui/measure/measure.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>

#include "engine/base/json.h"
#include "tui/base/output.h"

// ---- tables -------------------------------------------------------------------------------------

const vd_measure_column vd_measure_columns[VD_METRICS] = {
    {"R@1", 6, 4}, {"R@5", 6, 4},  {"R@10", 6, 4},      {"mean", 7, 3},
    {"MRR", 6, 4}, {"NDCG", 6, 4}, {"correct@1", 9, 4},
};

// value: NaN when not known.
static void print_cell(int metric, double value)
{
    const vd_measure_column *column = &vd_measure_columns[metric];
    if (isnan(value))
        printf("  %*s", column->width, "-");
    else
        printf("  %*.*f", column->width, column->digits, value);
}

// The column before NDCG is the number of rounds with relevance.
static void print_row(const char *name, const vd_metrics *metrics)
{
    enum { NAME = 18 };
    int width = MIN(vd_output_width(name), NAME);
    printf("%.*s%*s %8zu", (int)vd_output_first(name, NAME), name, NAME - width, "",
           metrics->rounds);
    for (int i = 0; i < VD_METRICS; i++) {
        if (i == VD_NDCG && metrics->dense_rounds)
            printf("  %8zu", metrics->dense_rounds);
        else if (i == VD_NDCG)
            printf("  %8s", "-");
        print_cell(i, vd_metrics_mean(metrics, (vd_metric)i));
    }
    printf("\n");
}

static void print_head(const char *what)
{
    printf("%-18s %8s", what, "rounds");
    for (int i = 0; i < VD_METRICS; i++)
        printf("%s  %*s", i == VD_NDCG ? "  relevant" : "", vd_measure_columns[i].width,
               vd_measure_columns[i].label);
    printf("\n");
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
    printf("%-18s %8s", name, "");
    for (int i = 0; i < VD_METRICS; i++) {
        printf("%s", i == VD_NDCG ? "          " : "");
        print_cell(i, high ? intervals[i].high : intervals[i].low);
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
    vd_json_put(json, "{rounds: %zu, dense_rounds: %zu", metrics->rounds, metrics->dense_rounds);
    for (int i = 0; i < VD_METRICS; i++)
        if (vd_metrics_rounds(metrics, (vd_metric)i) > 0)
            vd_json_put(json, "%s: %.9g", vd_metric_name((vd_metric)i),
                        vd_metrics_mean(metrics, (vd_metric)i));
    vd_json_put(json, "}");
}

static void json_intervals(yajl_gen json, const vd_interval *intervals, double level)
{
    vd_json_put(json, "interval: {level: %.9g", level);
    for (int i = 0; i < VD_METRICS; i++)
        if (!isnan(intervals[i].estimate))
            vd_json_put(json, "%s: [%.9g, %.9g]", vd_metric_name((vd_metric)i), intervals[i].low,
                        intervals[i].high);
    vd_json_put(json, "}");
}

void vd_measure_json(yajl_gen json, const vd_measure *measure, const vd_interval *intervals,
                     double level)
{
    char name[24];
    vd_json_put(json, "dialogs: %zu, all:", measure->dialogs);
    json_metrics(json, &measure->all);
    if (intervals)
        json_intervals(json, intervals, level);
    vd_json_put(json, "round: [");
    for (int i = 0; i < measure->rounds; i++)
        json_metrics(json, &measure->round[i]);
    vd_json_put(json, "], family: {");
    for (size_t i = 0; i < measure->family_count; i++) {
        vd_json_put(json, "%s:", measure->family[i].name);
        json_metrics(json, &measure->family[i].metrics);
    }
    vd_json_put(json, "}, rounds_back: {");
    for (int i = 0; i <= VD_MEASURE_FAR; i++) {
        if (nothing_measured(&measure->coreference[i]))
            continue;
        vd_json_put(json, "%s:", distance_name(i, name, sizeof name));
        json_metrics(json, &measure->coreference[i]);
    }
    vd_json_put(json, "}");
}
