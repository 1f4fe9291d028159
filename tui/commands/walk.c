// The walk through one answer without a screen: text, Markdown for slides, JSON for programs.
#include <math.h>
#include <string.h>

#include "engine/base/append.h"
#include "engine/base/json.h"
#include "tui/answer/json.h"
#include "tui/commands/command.h"
#include "tui/base/output.h"
#include "tui/base/shares.h"
#include "tui/page/markdown.h"
#include "tui/session/remark.h"
#include "tui/session/walk.h"
#include "tui/screen/wrap.h"

typedef struct walk_command {
    const char *image, *model;
    vd_world_files files; // the decoder, and where the models are
    vd_switches switches;
    bool markdown, json, utf8;
    vd_world *world;
    vd_session *session;
    const char *const *answers; // texts of the pool
    char picture[256];
    const char *doubt; // NULL: none
    vd_markup *out;
} walk_command;

static vd_status add_switch(void *switches, const char *name, const char *text, vd_error *err)
{
    return vd_switches_add(switches, VD_OF_ANSWER, name, text, err);
}

static const vd_option options[] = {
    {"image", "PICTURE", VD_HELP_IMAGE, VD_INTO(walk_command, image)},
    {"model", "MODEL", VD_HELP_MODEL " (default: best)", VD_INTO(walk_command, model)},
    {"assets", "DIR", VD_HELP_ASSETS, VD_INTO(walk_command, files.directory)},
    {"data", "FILE", VD_HELP_DATA, VD_INTO(walk_command, files.data)},
    {"features", "FILE", VD_HELP_FEATURES, VD_INTO(walk_command, files.features)},
    {"captioner", "FILE", VD_HELP_CAPTIONER, VD_INTO(walk_command, files.captioner)},
    VD_DECODER_OPTION(walk_command, files.decoder, vd_decoder_read, VD_DECODER_OF_ANSWERS),
    {"what-if", "CHANGE", "make this change and answer again; may be given several times",
     VD_INTO(walk_command, switches), .read = add_switch},
    {"markdown", NULL, "print Markdown, for slides", VD_INTO(walk_command, markdown)},
    {"json", NULL, VD_HELP_JSON "; with every vector", VD_INTO(walk_command, json)},
    {0},
};

enum { BAR = 20, SHOWN_ANSWERS = 5 };

// ---- text and Markdown --------------------------------------------------------------------------

static void put_table(const walk_command *c, vd_table *table)
{
    if (c->markdown)
        vd_markdown_table(c->out, table);
    else
        vd_table_print(table, 3, stdout);
    vd_table_clear(table);
}

// A further cell with a bar; none in Markdown.
static void add_bar(const walk_command *c, vd_table *table, double share, int width)
{
    char bar[VD_BAR_SIZE];
    if (!c->markdown)
        vd_table_more(table, "%s", vd_output_bar(bar, share, width, c->utf8));
}

static void shape_text(const vd_trace_value *value, char *out, size_t size)
{
    *out = '\0';
    for (int i = 0; i < value->dims; i++)
        vd_append(out, size, i ? ", %d" : "%d", value->shape[i]);
}

static void print_values(const walk_command *c, const char *title, const vd_trace_value *value,
                         int count)
{
    for (int i = 0; i < count; i++) {
        char shape[48];
        shape_text(&value[i], shape, sizeof shape);
        if (c->markdown)
            printf("* **%s** (%s) = (%s): %s\n", value[i].name, value[i].axes, shape, value[i].is);
        else
            printf("   %-4s %-6s (%s)%*s %s (%s)\n", i ? "" : title, value[i].name, shape,
                   (int)(strlen(shape) < 12 ? 12 - strlen(shape) : 0), "", value[i].is,
                   value[i].axes);
    }
}

static void print_stage_table(const walk_command *c, const vd_walk_table *from)
{
    vd_table table = {0};
    char cell[64];
    bool has_bar = from->columns == 1 && from->share && !c->markdown;
    vd_markup_put(c->out, c->markdown ? "\n%s\n\n" : "\n   %s\n", from->title);
    vd_table_add(&table, "%s", "");
    for (int i = 0; i < from->columns; i++)
        vd_table_more(&table, "%s", from->column[i]);
    if (has_bar)
        vd_table_more(&table, "%s", "");
    for (int row = 0; row < from->rows; row++) {
        vd_table_add(&table, "%s", from->row[row]);
        for (int i = 0; i < from->columns; i++) {
            vd_walk_cell(from, row * from->columns + i, false, cell, sizeof cell);
            vd_table_more(&table, "%s", cell);
        }
        if (has_bar)
            add_bar(c, &table, from->value[row], BAR);
    }
    put_table(c, &table);
}

static void print_why(const walk_command *c, const char *why)
{
    enum { WIDTH = 76 };
    size_t length = strlen(why), offset = 0;
    vd_text_line line;
    if (c->markdown)
        printf("%s\n", why);
    while (!c->markdown && vd_wrap_next(why, length, WIDTH, &offset, &line))
        printf("   %.*s\n", (int)line.length, why + line.start);
    putchar('\n');
}

static void print_stage(const walk_command *c, const vd_walk_stage *stage, int number)
{
    vd_markup_put(c->out, c->markdown ? "\n## %d. %s\n\n" : "\n%d. %s\n", number + 1,
                  stage->of->title);
    print_why(c, stage->of->why);
    if (c->markdown && stage->of->ins > 0)
        printf("In:\n\n");
    print_values(c, "in", stage->of->in, stage->of->ins);
    if (c->markdown)
        printf("\n```\n");
    for (int i = 0; i < VD_STAGE_FORMULAS && stage->of->formula[i]; i++)
        printf(c->markdown ? "%s\n" : "        %s\n", stage->of->formula[i]);
    if (c->markdown)
        printf("```\n\nOut:\n\n");
    print_values(c, "out", stage->of->out, stage->of->outs);
    for (int i = 0; i < stage->tables; i++)
        print_stage_table(c, &stage->table[i]);
}

// A further cell with a gain right of zero, a loss left of it; none in Markdown.
static void add_signed_bar(const walk_command *c, vd_table *table, double value, int side)
{
    char gain[VD_BAR_SIZE], loss[VD_BAR_SIZE] = "";
    double cells = value < 0 ? fmin(-value, 1) * side : 0;
    int whole = (int)(cells + 0.25); // of the blocks that grow to the left there are few
    double rest = cells - whole;
    bool part = rest > 0.005;
    for (int i = 0; i < whole; i++)
        vd_append(loss, sizeof loss, c->utf8 ? "\u2588" : "-");
    const char *end = !part ? "" : !c->utf8 ? "-" : rest < 0.3 ? "\u2595" : "\u2590";
    if (!c->markdown)
        vd_table_more(table, "%*s%s%s%s%s", side - whole - part, "", end, loss,
                      c->utf8 ? "\u2502" : "|", vd_output_bar(gain, value, side, c->utf8));
}

static void print_effects(const walk_command *c, const vd_walk *walk)
{
    int first = walk->reply.answer.order[0];
    double before = (double)walk->reply.answer.probability[first];
    char name[96];
    vd_table table = {0};
    vd_markup_put(
        c->out,
        c->markdown
            ? "\n## Attention is not effect\n\nOne thing at a time is left out or changed: "
              "how the probability of **%s** (%.1f %%%s) changes by it, in percentage points.\n\n"
            : "\nAttention is not effect: one thing at a time is left out or changed\n   "
              "the answer is \"%s\" with %.1f %%%s; points: change of this probability\n\n",
        c->answers[first], 100 * before, walk->switches.count ? " before the change" : "");
    // Of a network that looks several times, the step that looked most at it.
    vd_table_add(&table,
                 c->markdown ? "left out or changed\t%sattention\tpoints\tanswer"
                             : "left out or changed\t%sattention\t\tpoints\t\tanswer",
                 vd_walk_looks(walk, VD_AXIS_REGIONS) > 1 ? "most " : "");
    for (int i = 0; i < walk->effects; i++) {
        const vd_effect *e = &walk->effect[i];
        bool flips = e->first != first;
        vd_walk_switch_name(walk, &e->what, name, sizeof name);
        vd_table_add(&table, "%s\t%s", name,
                     e->attention >= 0 ? vd_percent(e->attention).text : "");
        add_bar(c, &table, e->attention, BAR / 2);
        vd_table_more(&table, "%+.1f", 100 * (e->left - before));
        add_signed_bar(c, &table, e->left - before, BAR / 2);
        vd_table_more(&table, "%s%s", flips ? "now: " : "", flips ? c->answers[e->first] : "");
    }
    put_table(c, &table);
}

static void print_change(const walk_command *c, const vd_walk *walk)
{
    const vd_sheet sheet = {.sides = 2,
                            .side = {{.reply = &walk->reply, .texts = c->answers},
                                     {.reply = &walk->changed, .texts = c->answers}}};
    vd_table table = {0};
    printf(c->markdown ? "\n## What if\n\nChanged: " : "\nWhat if: ");
    for (int i = 0; i < walk->switches.count; i++) {
        char name[96];
        vd_walk_switch_name(walk, &walk->switches.at[i], name, sizeof name);
        vd_markup_put(c->out, i ? ", %s%s" : "%s%s", name,
                      vd_switch_leaves_out(&walk->switches.at[i]) ? " left out" : "");
    }
    printf("\n\n");
    vd_table_add(&table, "place\tanswer\tprobability\tplace before\tprobability before");
    for (int i = 0; i < vd_sheet_rows(&sheet.side[1]) && i < SHOWN_ANSWERS; i++) {
        const vd_answer_group row = vd_sheet_row(&sheet.side[1], i);
        const vd_sheet_move move = vd_sheet_moved(&sheet, 1, i);
        vd_table_add(&table, "%d\t%s\t%s\t%d\t%s", move.place + 1, c->answers[row.answer],
                     vd_percent(row.probability).text, move.before + 1,
                     vd_percent(row.probability - move.change).text);
    }
    put_table(c, &table);
    printf("\nThe stages as they are with the change%s\n", c->markdown ? ":" : "");
}

// The words of the question that the vocabulary lacks.
static void print_unknown(const walk_command *c, const vd_reply *reply)
{
    bool found = false;
    for (int i = 0; i < reply->words; i++) {
        if (!reply->unknown[i])
            continue;
        if (!found)
            vd_markup_put(c->out, c->markdown ? "\nNot in the vocabulary, read as <UNK>:"
                                              : "   not in the vocabulary, read as <UNK>:");
        vd_markup_put(c->out, " %s", reply->word[i]);
        found = true;
    }
    if (found)
        vd_markup_put(c->out, "\n");
}

static vd_status print_walk(walk_command *c, const vd_walk *walk, vd_error *err)
{
    bool changed = walk->switches.count > 0;
    const vd_picture_caption caption = vd_world_captioned(c->session->world, c->session->index);
    const char *by = vd_caption_by_text(caption.by);
    vd_status status =
        vd_markup_create(NULL, c->markdown ? VD_MARKUP_MARKDOWN : VD_MARKUP_TEXT, &c->out, err);
    if (status)
        return status;
    vd_markup_put(c->out,
                  c->markdown ? "# %s\n\n*%s*%s%s\n\nModel %s: E = %d, H = %d, D = %d.\n"
                              : "%s\n   picture: %s%s%s\n   model %s: E = %d (word size), H = %d "
                                "(hidden size), D = %d (region size)\n",
                  walk->reply.typed, caption.text, *by ? ", " : "", by, walk->model,
                  walk->config.embed, walk->config.hidden, walk->config.region);
    if (c->doubt && c->markdown)
        vd_markup_put(c->out, "\n**%s**\n", c->doubt);
    print_unknown(c, changed && walk->changed.words ? &walk->changed : &walk->reply);
    if (changed)
        print_change(c, walk);
    for (int i = 0; i < walk->trace.stages; i++) {
        vd_walk_stage stage;
        vd_walk_stage_make(walk, changed, i, c->answers, &stage);
        print_stage(c, &stage, i);
        vd_walk_stage_clear(&stage);
    }
    print_effects(c, walk);
    return vd_markup_commit(c->out, err);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void json_values(yajl_gen json, const char *name, const vd_trace_value *value, int count)
{
    vd_json_put(json, "%s: [", name);
    for (int i = 0; i < count; i++) {
        size_t size = 1;
        vd_json_put(json, "{name: %s, is: %s, axes: %s, shape: [", value[i].name, value[i].is,
                    value[i].axes);
        for (int d = 0; d < value[i].dims; d++) {
            size *= (size_t)value[i].shape[d];
            vd_json_put(json, "%d", value[i].shape[d]);
        }
        vd_json_put(json, "]");
        if (value[i].value) {
            vd_json_put(json, "values:");
            vd_json_put_numbers(json, value[i].value, size);
        }
        vd_json_put(json, "}");
    }
    vd_json_put(json, "]");
}

static void json_table(yajl_gen json, const vd_walk_table *table)
{
    vd_json_put(json, "{title: %s, columns: [", table->title);
    for (int i = 0; i < table->columns; i++)
        vd_json_put(json, "%s", table->column[i]);
    vd_json_put(json, "], rows: [");
    for (int row = 0; row < table->rows; row++) {
        vd_json_put(json, "{name: %s, values: [", table->row[row]);
        for (int i = row * table->columns; i < (row + 1) * table->columns; i++)
            if (table->text)
                vd_json_put(json, "%s", table->text[i]);
            else
                vd_json_put(json, "%.9g", table->value[i]);
        vd_json_put(json, "]}");
    }
    vd_json_put(json, "]}");
}

static void json_stage(yajl_gen json, const vd_walk_stage *stage)
{
    vd_json_put(json, "{stage: %s, why: %s, formula: [", stage->of->title, stage->of->why);
    for (int i = 0; i < VD_STAGE_FORMULAS && stage->of->formula[i]; i++)
        vd_json_put(json, "%s", stage->of->formula[i]);
    vd_json_put(json, "]");
    json_values(json, "in", stage->of->in, stage->of->ins);
    json_values(json, "out", stage->of->out, stage->of->outs);
    vd_json_put(json, "tables: [");
    for (int i = 0; i < stage->tables; i++)
        json_table(json, &stage->table[i]);
    vd_json_put(json, "]}");
}

static void json_effects(yajl_gen json, const walk_command *c, const vd_walk *walk)
{
    double before = (double)walk->reply.answer.probability[walk->reply.answer.order[0]];
    vd_json_put(json, "effects: [");
    for (int i = 0; i < walk->effects; i++) {
        const vd_effect *e = &walk->effect[i];
        char what[96], name[96];
        vd_switch_name(&e->what, what, sizeof what);
        vd_walk_switch_name(walk, &e->what, name, sizeof name);
        vd_json_put(json, "{what_if: %s, name: %s, attention: %.9g, change: %.9g, first: %s}", what,
                    name, e->attention >= 0 ? e->attention : (double)NAN, e->left - before,
                    c->answers[e->first]);
    }
    vd_json_put(json, "]");
}

static void print_json(const walk_command *c, const vd_walk *walk)
{
    const vd_sheet_side was = {.reply = &walk->reply, .texts = c->answers, .chosen = -1};
    const vd_sheet_side now = {.reply = &walk->changed, .texts = c->answers, .chosen = -1};
    const vd_picture_caption caption = vd_world_captioned(c->session->world, c->session->index);
    yajl_gen json = vd_output_object();
    vd_json_put(json, "question: %s, picture: %s, caption: %s, caption_by: %s, model: %s",
                walk->reply.typed, c->picture, caption.text, vd_caption_by_names[caption.by],
                walk->model);
    if (c->doubt)
        vd_json_put(json, "doubt: %s", c->doubt);
    vd_sheet_json_answers(json, "answers", &was, 2 * SHOWN_ANSWERS);
    if (walk->switches.count > 0) {
        vd_json_put(json, "what_if: [");
        for (int i = 0; i < walk->switches.count; i++) {
            char name[64];
            vd_switch_name(&walk->switches.at[i], name, sizeof name);
            vd_json_put(json, "%s", name);
        }
        vd_json_put(json, "]");
        vd_sheet_json_answers(json, "changed_answers", &now, 2 * SHOWN_ANSWERS);
    }
    vd_json_put(json, "stages: [");
    for (int i = 0; i < walk->trace.stages; i++) {
        vd_walk_stage stage;
        vd_walk_stage_make(walk, walk->switches.count > 0, i, c->answers, &stage);
        json_stage(json, &stage);
        vd_walk_stage_clear(&stage);
    }
    vd_json_put(json, "]");
    json_effects(json, c, walk);
    vd_output_object_end(json);
}

// ---- the command --------------------------------------------------------------------------------

static vd_status read_options(walk_command *c, int argc, char **argv, vd_arguments *given,
                              vd_error *err)
{
    vd_status status = vd_arguments_read(options, argc, argv, c, given, err);
    if (status)
        return status;
    if (!c->image)
        return vd_error_set(err, VD_USAGE, "which picture? name it with --image PICTURE");
    if (c->json && c->markdown)
        return vd_error_set(err, VD_USAGE, "--json and --markdown: choose one");
    if (given->count == 0)
        return vd_error_set(err, VD_USAGE, "no question; put it in quotes after the options");
    const char *last = given->operand[given->count - 1];
    if (vd_small_talk(last))
        return vd_error_set(err, VD_USAGE,
                            "'%.80s' is not about the picture; expected a question such as \"how "
                            "many cubes are there\"",
                            last);
    return VD_OK;
}

static vd_status open_session(walk_command *c, vd_error *err)
{
    vd_status status = vd_session_open(&c->files, c->image, c->model, &c->world, &c->session, err);
    if (status)
        return status;
    size_t index = c->session->index;
    c->answers = vd_session_texts(c->session);
    vd_world_name(c->world, index, c->picture, sizeof c->picture);
    c->doubt = vd_world_doubt(c->world, index);
    if (c->doubt)
        fprintf(stderr, "%s\n", c->doubt);
    return VD_OK;
}

// As in a chat, "thanks" is in no history.
static vd_status say(walk_command *c, const char *question, vd_error *err)
{
    vd_reply reply = {0};
    if (vd_small_talk(question))
        return VD_OK;
    vd_status status = vd_session_ask(c->session, question, NULL, &reply, err);
    if (status == VD_OK)
        status = vd_session_accept(c->session, &reply, reply.answer.order[0], err);
    vd_reply_clear(&reply);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    walk_command c = {.utf8 = vd_output_utf8()};
    vd_arguments given;
    vd_walk *walk = NULL;
    vd_status status = read_options(&c, argc, argv, &given, err);
    if (status == VD_OK)
        status = open_session(&c, err);
    for (int i = 0; status == VD_OK && i < given.count - 1; i++)
        status = say(&c, given.operand[i], err);
    if (status == VD_OK)
        status = vd_walk_new(c.session, given.operand[given.count - 1], &c.switches, true, NULL,
                             &walk, err);
    if (status == VD_OK && c.json)
        print_json(&c, walk);
    else if (status == VD_OK)
        status = print_walk(&c, walk, err);
    vd_walk_free(walk);
    vd_session_free(c.session);
    vd_world_close(c.world);
    return status;
}

const vd_command vd_cmd_walk = {
    "walk",
    run,
    "walk through one answer, stage by stage; ask what-if questions",
    "--image PICTURE [options] \"question\" ...",
    "The questions form one conversation; the walk explains the answer to the last one. For each "
    "stage of the network it shows the input, the formula, the numbers, the output and what the "
    "stage is for. Then it leaves out each region, round and word in turn and shows how the "
    "answer changes, beside the attention that each one got.\n"
    "CHANGE is one of: caption, region N, round N or word N (left out); word N=OTHER (replaced); "
    "attention N or attention NAME (made uniform); positions (removed, or added where the model "
    "has none); picture (made blank). Numbers start at 1. A region has the same number in every "
    "command and on every screen; attentions are numbered as in the list of effects.",
    "  visdial walk --image 1000001 \"how many balls are there\" \"what color are they\"\n"
    "  visdial walk --image 1000001 --what-if \"region 1\" --markdown \"is there a cube\"\n",
    .options = options};
