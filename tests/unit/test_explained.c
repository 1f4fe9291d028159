// What every network, and every decoder that looks at the dialog, shows of its work: the names of
// its attentions, and the stages with their texts, formulas and tables, held to
// tests/screen/expected/explained.txt.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "engine/base/token.h"
#include "engine/model/dialog.h"
#include "engine/networks/pass.h"
#include "tests/support/backend.h"
#include "tests/support/must.h"
#include "tests/support/random_model.h"
#include "tests/support/screens.h"
#include "tests/support/small_batch.h"
#include "tests/support/small_trainer.h"

static void write_attentions(GString *text, const vd_answer *answer)
{
    for (int i = 0; i < answer->attentions; i++) {
        const vd_attention *at = &answer->attention[i];
        char title[64];
        vd_attention_title(at, title, sizeof title);
        g_string_append_printf(text, "  attention %s: %s by %s\n", title, vd_axis_name(at->query),
                               vd_axis_name(at->key));
    }
}

static void write_values(GString *text, const char *what, const vd_trace_value *value, int count)
{
    for (int i = 0; i < count; i++)
        g_string_append_printf(text, "    %s %s (%s): %s\n", what, value[i].name, value[i].axes,
                               value[i].is);
}

static void write_stages(GString *text, const vd_trace *trace)
{
    for (int s = 0; s < trace->stages; s++) {
        const vd_trace_stage *stage = &trace->stage[s];
        g_string_append_printf(text, "  %d. %s\n    %s\n", s + 1, stage->title, stage->why);
        for (int i = 0; i < VD_STAGE_FORMULAS && stage->formula[i]; i++)
            g_string_append_printf(text, "    %s\n", stage->formula[i]);
        write_values(text, "in", stage->in, stage->ins);
        write_values(text, "out", stage->out, stage->outs);
        for (int i = 0; i < stage->tables; i++)
            g_string_append_printf(text, "    table %s\n", stage->table[i].title);
    }
}

// One question about three regions, after a caption and a round; the pool has two answers.
static void write_shown(GString *text, const vd_config *config)
{
    enum { W = VD_FIRST_WORD, P = 3, TO = 4 };
    static const int32_t candidate[] = {VD_START, W, VD_END, 0, VD_START, W + 1, W + 2, VD_END},
                         length[] = {3, 4}, question[] = {W + 3, W + 4, W + 5},
                         entry[] = {W + 5, W + 6, W + 7, W + 8};
    float image[P * SMALL_REGION];
    vd_error err;
    vd_model *model = support_random_model(config);
    vd_pool *pool;
    vd_dialog *dialog;
    vd_answer answer;
    vd_trace trace;
    for (size_t i = 0; i < sizeof image / sizeof *image; i++)
        image[i] = 0.1f * (float)(1 + i % 7);
    must(vd_model_use(model, support_backend(), &err), &err);
    must(vd_pool_new(model, candidate, length, 2, TO, NULL, &pool, &err), &err);
    must(vd_pool_score_by(pool, config->decoders, candidate, length, TO, &err), &err);
    must(vd_dialog_new(model, pool, image, P, entry, 4, &dialog, &err), &err);
    must(vd_dialog_append(dialog, entry, 3, &err), &err);
    must(vd_dialog_ask_if(dialog, question, 3, NULL, NULL, &answer, &trace, &err), &err);
    write_attentions(text, &answer);
    write_stages(text, &trace);
    vd_trace_clear(&trace);
    vd_answer_clear(&answer);
    vd_dialog_free(dialog);
    vd_pool_free(pool);
    vd_model_free(model);
}

static void networks_and_decoders_show_their_work(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        vd_config with; // beside the sizes
    } further[] = {
        {"mvan, generative: lstm", {.decoders = VD_GENERATIVE}},
        {"mvan, generative: attention", {.decoders = VD_GENERATIVE, .answer = VD_ANSWER_ATTENTION}},
        {"mvan, generative: attention, pointer",
         {.decoders = VD_GENERATIVE, .answer = VD_ANSWER_ATTENTION, .copy = VD_COPY_POINTER}},
        {"mvan, generative: attention, copynet",
         {.decoders = VD_GENERATIVE, .answer = VD_ANSWER_ATTENTION, .copy = VD_COPY_COPYNET}},
        {"mvan, generative: conv", {.decoders = VD_GENERATIVE, .answer = VD_ANSWER_CONV}},
        {"lf, both: lstm", {.network = VD_NETWORK_LF, .decoders = VD_BOTH}},
        {"lf, both: attention, pointer",
         {.network = VD_NETWORK_LF,
          .decoders = VD_BOTH,
          .answer = VD_ANSWER_ATTENTION,
          .copy = VD_COPY_POINTER}},
        {"lf, both: conv",
         {.network = VD_NETWORK_LF, .decoders = VD_BOTH, .answer = VD_ANSWER_CONV}},
        {"dialog-transformer, generative: sequence",
         {.network = VD_NETWORK_DIALOG_TRANSFORMER,
          .decoders = VD_GENERATIVE,
          .answer = VD_ANSWER_SEQUENCE}},
        {"dialog-transformer, both: sequence",
         {.network = VD_NETWORK_DIALOG_TRANSFORMER,
          .decoders = VD_BOTH,
          .answer = VD_ANSWER_SEQUENCE}},
        {"lf-bu, additive", {.network = VD_NETWORK_LF_BU, .score_regions = VD_SCORE_ADDITIVE}},
        {"hrea, multi-head",
         {.network = VD_NETWORK_HREA, .score_rounds = VD_SCORE_MULTI_HEAD, .heads = 2}},
        {"memn2n, layer-wise", {.network = VD_NETWORK_MEMN2N, .tying = VD_TYING_LAYER_WISE}},
        {"memn2n, text qanet", {.network = VD_NETWORK_MEMN2N, .text = VD_TEXT_QANET}}};
    GString *text = g_string_new(NULL);
    for (int n = 0; n < VD_NETWORKS; n++) {
        vd_config config = small_config();
        config.network = (vd_network_kind)n;
        g_string_append_printf(text, "%s\n", vd_network_names[n]);
        write_shown(text, &config);
    }
    for (size_t i = 0; i < sizeof further / sizeof *further; i++) {
        vd_config config = further[i].with;
        const vd_config sizes = small_config();
        config.vocab = sizes.vocab;
        config.embed = sizes.embed;
        config.hidden = sizes.hidden;
        config.region = sizes.region;
        config.gate = sizes.gate;
        config.positions = sizes.positions;
        g_string_append_printf(text, "%s\n", further[i].name);
        write_shown(text, &config);
    }
    vd_config config = small_config();
    config.text = VD_TEXT_GRU;
    g_string_append(text, "mvan, text gru\n");
    write_shown(text, &config);
    screens_expect("explained", g_string_free(text, FALSE));
}

// More attentions than there is room for beside the gate, whose table is the last.
static void a_stage_has_room_for_its_gate(void **state)
{
    (void)state;
    enum { SHOWN = VD_STAGE_TABLES + 1, P = 2, H = 8 };
    const vd_config config = small_config();
    vd_arena arena = {.memory = support_backend()->memory};
    vd_tape tape = {.be = support_backend(), .arena = &arena};
    vd_pair_group group = {.query = {0, 1}, .key = {{0, P}}};
    vd_attention *seen;
    vd_attention_at at[SHOWN];
    float share[SHOWN * P] = {0};
    vd_trace trace;
    vd_error err;
    vd_real *zero = vd_arena_zeros(&arena, H);
    vd_value *s = vd_tape_constant(&tape, VD_AXIS_PAIRS, zero, P, 1);
    s->pairing = vd_tape_pairing(&tape, VD_AXIS_QUESTIONS, 1, VD_AXIS_REGIONS, P, &group, 1, "");
    for (int i = 0; i < SHOWN; i++) {
        vd_tape_show(&tape, s, "regions", i);
        at[i] = (vd_attention_at){.name = "regions",
                                  .query = VD_AXIS_QUESTIONS,
                                  .key = VD_AXIS_REGIONS,
                                  .rows = 1,
                                  .columns = P};
    }
    vd_tape_explain(&tape, &(vd_explained){.title = "", .gate = {"g", "a gate", s}});
    const vd_axis_subsets subsets = {.count = {[VD_AXIS_QUESTIONS] = 1, [VD_AXIS_REGIONS] = P}};
    must(vd_attentions_spread(at, SHOWN, share, &subsets, &seen, &err), &err);
    const vd_outcome outcome = {.attention = seen, .attentions = SHOWN};
    const vd_pass pass = {.be = tape.be, .config = &config, .tape = &tape, .encoded = zero};
    must(vd_encoder_trace(&pass, &subsets, &outcome, &trace, &err), &err);
    assert_int_equal(trace.stage[0].tables, VD_STAGE_TABLES);
    assert_string_equal(trace.stage[0].table[VD_STAGE_TABLES - 1].title, "g: a gate");
    vd_trace_clear(&trace);
    vd_attentions_free(seen, SHOWN);
    vd_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_and_decoders_show_their_work),
        cmocka_unit_test(a_stage_has_room_for_its_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
