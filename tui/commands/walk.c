// The walk through one answer without a screen: text, Markdown for slides, JSON for programs.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/answer/json.h"
#include "tui/commands/command.h"
#include "tui/base/output.h"
#include "tui/base/shares.h"
#include "tui/session/walk.h"
#include "tui/screen/wrap.h"

typedef struct walk_command {
    const char *image, *model, *assets;
    vd_decoder_choice decoder;
    vd_switches switches;
    bool markdown, json, utf8;
    vd_world *world;
    vd_session *session;
    const char *const *answers; // texts of the pool
} walk_command;

static vd_status add_switch(void *switches, const char *name, const char *text, vd_error *err)
{
    vd_switch one;
    vd_status status = vd_switch_parse(text, &one, err);
    if (status || vd_switches_has(switches, &one) || vd_switches_flip(switches, &one))
        return status;
    return vd_error_set(err, VD_USAGE, "--%s: more than %d changes", name, VD_SWITCHES);
}

static const vd_option options[] = {
    {"image", "ID", VD_HELP_IMAGE, VD_INTO(walk_command, image)},
    {"model", "MODEL", VD_HELP_MODEL " (default: base)", VD_INTO(walk_command, model)},
    {"assets", "DIR", VD_HELP_ASSETS, VD_INTO(walk_command, assets)},
    VD_DECODER_OPTION(walk_command, decoder, VD_DECODER_OF_ANSWERS),
    {"what-if", "CHANGE", "change this and answer again; may be given several times",
     VD_INTO(walk_command, switches), .read = add_switch},
    {"markdown", NULL, "print Markdown, for slides", VD_INTO(walk_command, markdown)},
    {"json", NULL, VD_HELP_JSON " with every vector", VD_INTO(walk_command, json)},
    {0},
};

enum { BAR = 20, SHOWN_ANSWERS = 5 };

// ---- text and Markdown --------------------------------------------------------------------------

// Text in Markdown: what could be markup is escaped.
static void put_text(const walk_command *c, const char *text)
{
    while (c->markdown && *text) {
        char piece[64];
        size_t length = strcspn(text, "\\`*_<>[]|#");
        snprintf(piece, sizeof piece, "%.*s", (int)(length < 60 ? length : 60), text);
        vd_output_text(stdout, piece);
        text += strlen(piece);
        if (*text && strlen(piece) == length)
            printf("\\%c", *text++);
    }
    vd_output_text(stdout, text);
}

static void pad(const char *text, int width)
{
    int used = vd_output_width(text);
    printf("%*s", used < width ? width - used : 0, "");
}

static void shape_text(const vd_walk_value *value, char *out, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < value->dims && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, i ? ", %d" : "%d", value->shape[i]);
}

static void print_values(const walk_command *c, const char *title, const vd_walk_value *value,
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

static void number_text(const vd_walk_table *table, int row, int column, char *out, size_t size)
{
    int at = row * table->columns + column;
    double value = table->value[at];
    if (table->text)
        snprintf(out, size, "%s", table->text[at]);
    else if (table->share)
        vd_percent(out, size, value);
    else if (value == floor(value) && fabs(value) < 1e6)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, "%.3f", value);
}

static void print_markdown_table(const walk_command *c, const vd_walk_table *table)
{
    char cell[64];
    printf("\n%s\n\n| |", table->title);
    for (int i = 0; i < table->columns; i++) {
        putchar(' ');
        put_text(c, table->column[i]);
        fputs(" |", stdout);
    }
    fputs("\n| --- |", stdout);
    for (int i = 0; i < table->columns; i++)
        fputs(" ---: |", stdout);
    putchar('\n');
    for (int row = 0; row < table->rows; row++) {
        fputs("| ", stdout);
        put_text(c, table->row[row]);
        fputs(" |", stdout);
        for (int i = 0; i < table->columns; i++) {
            number_text(table, row, i, cell, sizeof cell);
            putchar(' ');
            put_text(c, cell);
            fputs(" |", stdout);
        }
        putchar('\n');
    }
}

static void print_text_table(const walk_command *c, const vd_walk_table *table)
{
    int width = 8, cell_width = table->text ? 22 : 9;
    char cell[64];
    for (int row = 0; row < table->rows; row++)
        if (vd_output_width(table->row[row]) > width)
            width = vd_output_width(table->row[row]);
    bool bar = table->columns == 1 && table->share;
    printf("\n   %s\n", table->title);
    for (int i = 0; i < table->columns; i++)
        if (!table->text && vd_output_width(table->column[i]) > cell_width)
            cell_width = vd_output_width(table->column[i]);
    if (table->columns > 1) {
        printf("   %*s", width, "");
        for (int i = 0; i < table->columns; i++) {
            fputs("  ", stdout);
            if (!table->text)
                pad(table->column[i], cell_width);
            vd_output_text(stdout, table->column[i]);
            if (table->text)
                pad(table->column[i], cell_width);
        }
        putchar('\n');
    }
    for (int row = 0; row < table->rows; row++) {
        fputs("   ", stdout);
        vd_output_text(stdout, table->row[row]);
        pad(table->row[row], width);
        for (int i = 0; i < table->columns; i++) {
            number_text(table, row, i, cell, sizeof cell);
            fputs("  ", stdout);
            if (!table->text)
                pad(cell, cell_width);
            vd_output_text(stdout, cell);
            if (table->text)
                pad(cell, cell_width);
        }
        if (bar) {
            fputs("  ", stdout);
            vd_output_bar(stdout, table->value[row], BAR, c->utf8);
        }
        putchar('\n');
    }
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
    printf(c->markdown ? "\n## %d. %s\n\n" : "\n%d. %s\n", number + 1, stage->title);
    print_why(c, stage->why);
    if (c->markdown)
        printf("In:\n\n");
    print_values(c, "in", stage->in, stage->ins);
    if (c->markdown)
        printf("\n```\n");
    for (int i = 0; i < 4 && stage->formula[i]; i++)
        printf(c->markdown ? "%s\n" : "        %s\n", stage->formula[i]);
    if (c->markdown)
        printf("```\n\nOut:\n\n");
    print_values(c, "out", stage->out, stage->outs);
    for (int i = 0; i < stage->tables; i++) {
        if (c->markdown)
            print_markdown_table(c, &stage->table[i]);
        else
            print_text_table(c, &stage->table[i]);
    }
}

// What a change takes from the first answer, in points of its share.
static void points_text(double before, double after, char *out, size_t size)
{
    snprintf(out, size, "%+.1f", 100 * (after - before));
}

static void effect_name(const vd_walk *walk, const vd_switch *what, char *out, size_t size)
{
    char name[64];
    vd_switch_name(what, name, sizeof name);
    if (what->kind == VD_SWITCH_WORD && what->index < walk->reply.words)
        snprintf(out, size, "%.40s (%.30s)", name, walk->reply.word[what->index]);
    else
        snprintf(out, size, "%s", name);
}

static void print_effects(const walk_command *c, const vd_walk *walk)
{
    int first = walk->reply.answer.order[0];
    double before = (double)walk->reply.answer.probability[first];
    char name[96], share[16] = "", points[16];
    if (c->markdown) {
        printf("\n## Attention is not effect\n\nHow much attention each thing got, and how the "
               "answer changes without it: **");
        put_text(c, c->answers[first]);
        printf("** (%.1f %%).\n\n| without | attention | effect, points | first answer then |\n"
               "| --- | ---: | ---: | --- |\n",
               100 * before);
    } else {
        printf("\nAttention is not effect: one thing left out at a time\n   the answer is \"");
        vd_output_text(stdout, c->answers[first]);
        printf("\" with %.1f %%\n\n   %-22s attention%*s  effect, points\n", 100 * before,
               "without", BAR / 2 - 1, "");
    }
    for (int i = 0; i < walk->effects; i++) {
        const vd_effect *e = &walk->effect[i];
        effect_name(walk, &e->what, name, sizeof name);
        points_text(before, e->left, points, sizeof points);
        if (e->attention >= 0)
            vd_percent(share, sizeof share, e->attention);
        else
            share[0] = '\0';
        if (c->markdown) {
            fputs("| ", stdout);
            put_text(c, name);
            printf(" | %s | %s | ", share, points);
            put_text(c, c->answers[e->first]);
            fputs(" |\n", stdout);
            continue;
        }
        fputs("   ", stdout);
        vd_output_text(stdout, name);
        pad(name, 22);
        printf(" %6s ", share);
        vd_output_bar(stdout, e->attention > 0 ? e->attention : 0, BAR / 2, c->utf8);
        printf("  %6s ", points);
        vd_output_bar(stdout, fabs(e->left - before), BAR / 2, c->utf8);
        if (e->first != first) {
            fputs("  now: ", stdout);
            vd_output_text(stdout, c->answers[e->first]);
        }
        putchar('\n');
    }
}

static void print_change(const walk_command *c, const vd_walk *walk)
{
    const vd_answer *was = &walk->reply.answer, *is = &walk->changed.answer;
    printf(c->markdown ? "\n## What if\n\nChanged: " : "\nWhat if: ");
    for (int i = 0; i < walk->switches.count; i++) {
        char name[96];
        effect_name(walk, &walk->switches.at[i], name, sizeof name);
        fputs(i ? ", " : "", stdout);
        put_text(c, name);
    }
    printf("\n\n");
    if (c->markdown)
        printf("| place | answer | share | place before | share before |\n"
               "| ---: | --- | ---: | ---: | ---: |\n");
    else
        printf("   %-4s %-30s %8s   before\n", "now", "answer", "share");
    for (int i = 0; i < is->candidates && i < SHOWN_ANSWERS; i++) {
        int index = is->order[i];
        char share[16], before[16];
        vd_percent(share, sizeof share, (double)is->probability[index]);
        vd_percent(before, sizeof before, (double)was->probability[index]);
        printf(c->markdown ? "| %d | " : "   %-4d ", i + 1);
        put_text(c, c->answers[index]);
        if (c->markdown) {
            printf(" | %s | %d | %s |\n", share, vd_answer_place(was, index) + 1, before);
            continue;
        }
        pad(c->answers[index], 30);
        printf(" %8s   place %d, %s\n", share, vd_answer_place(was, index) + 1, before);
    }
}

static void print_walk(const walk_command *c, const vd_walk *walk)
{
    bool changed = walk->switches.count > 0;
    printf(c->markdown ? "# " : "");
    put_text(c, walk->reply.typed);
    printf(c->markdown ? "\n\n*" : "\n   picture: ");
    put_text(c, vd_session_caption(c->session));
    printf(c->markdown ? "*\n\nModel %s: E = %d, H = %d, D = %d.\n"
                       : "\n   model %s: E = %d (word size), H = %d (LSTM size), D = %d (region "
                         "size)\n",
           walk->model, walk->config.embed, walk->config.hidden, walk->config.region);
    if (changed)
        print_change(c, walk);
    if (changed)
        printf(c->markdown ? "\nThe stages as they are with the change:\n"
                           : "\nThe stages as they are with the change\n");
    for (int i = 0; i < VD_WALK_STAGES; i++) {
        vd_walk_stage stage;
        vd_walk_stage_make(walk, changed, i, c->answers, &stage);
        print_stage(c, &stage, i);
        vd_walk_stage_clear(&stage);
    }
    print_effects(c, walk);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void json_values(yajl_gen json, const char *name, const vd_walk_value *value, int count)
{
    vd_output_string(json, name);
    yajl_gen_array_open(json);
    for (int i = 0; i < count; i++) {
        size_t size = 1;
        yajl_gen_map_open(json);
        vd_member_string(json, "name", value[i].name);
        vd_member_string(json, "is", value[i].is);
        vd_member_string(json, "axes", value[i].axes);
        vd_member_list(json, "shape");
        for (int d = 0; d < value[i].dims; d++) {
            size *= (size_t)value[i].shape[d];
            vd_output_number(json, value[i].shape[d]);
        }
        yajl_gen_array_close(json);
        if (value[i].value) {
            vd_member_list(json, "values");
            for (size_t k = 0; k < size; k++)
                vd_output_number(json, (double)value[i].value[k]);
            yajl_gen_array_close(json);
        }
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void json_table(yajl_gen json, const vd_walk_table *table)
{
    yajl_gen_map_open(json);
    vd_member_string(json, "title", table->title);
    vd_member_list(json, "columns");
    for (int i = 0; i < table->columns; i++)
        vd_output_string(json, table->column[i]);
    yajl_gen_array_close(json);
    vd_member_list(json, "rows");
    for (int row = 0; row < table->rows; row++) {
        yajl_gen_map_open(json);
        vd_member_string(json, "name", table->row[row]);
        vd_member_list(json, "values");
        for (int i = 0; i < table->columns; i++) {
            if (table->text)
                vd_output_string(json, table->text[row * table->columns + i]);
            else
                vd_output_number(json, table->value[row * table->columns + i]);
        }
        yajl_gen_array_close(json);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
}

static void json_stage(yajl_gen json, const vd_walk_stage *stage)
{
    yajl_gen_map_open(json);
    vd_member_string(json, "stage", stage->title);
    vd_member_string(json, "why", stage->why);
    vd_member_list(json, "formula");
    for (int i = 0; i < 4 && stage->formula[i]; i++)
        vd_output_string(json, stage->formula[i]);
    yajl_gen_array_close(json);
    json_values(json, "in", stage->in, stage->ins);
    json_values(json, "out", stage->out, stage->outs);
    vd_member_list(json, "tables");
    for (int i = 0; i < stage->tables; i++)
        json_table(json, &stage->table[i]);
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
}

static void json_effects(yajl_gen json, const walk_command *c, const vd_walk *walk)
{
    double before = (double)walk->reply.answer.probability[walk->reply.answer.order[0]];
    vd_member_list(json, "effects");
    for (int i = 0; i < walk->effects; i++) {
        const vd_effect *e = &walk->effect[i];
        char name[64];
        vd_switch_name(&e->what, name, sizeof name);
        yajl_gen_map_open(json);
        vd_member_string(json, "without", name);
        if (e->what.kind == VD_SWITCH_REGION)
            vd_member_number(json, "row", walk->region[e->what.index]);
        vd_output_string(json, "attention");
        if (e->attention >= 0)
            vd_output_number(json, e->attention);
        else
            yajl_gen_null(json);
        vd_member_number(json, "change", e->left - before);
        vd_member_string(json, "first", c->answers[e->first]);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static vd_status print_json(const walk_command *c, const vd_walk *walk, vd_error *err)
{
    const vd_sheet_side was = {.reply = &walk->reply, .texts = c->answers, .chosen = -1};
    const vd_sheet_side now = {.reply = &walk->changed, .texts = c->answers, .chosen = -1};
    yajl_gen json = yajl_gen_alloc(NULL);
    if (!json)
        return vd_error_memory(err, "JSON");
    yajl_gen_map_open(json);
    vd_member_string(json, "question", walk->reply.typed);
    vd_member_string(json, "caption", vd_session_caption(c->session));
    vd_member_string(json, "model", walk->model);
    vd_sheet_json_answers(json, "answers", &was, 2 * SHOWN_ANSWERS);
    if (walk->switches.count > 0) {
        vd_member_list(json, "what_if");
        for (int i = 0; i < walk->switches.count; i++) {
            char name[64];
            vd_switch_name(&walk->switches.at[i], name, sizeof name);
            vd_output_string(json, name);
        }
        yajl_gen_array_close(json);
        vd_sheet_json_answers(json, "changed_answers", &now, 2 * SHOWN_ANSWERS);
    }
    vd_member_list(json, "stages");
    for (int i = 0; i < VD_WALK_STAGES; i++) {
        vd_walk_stage stage;
        vd_walk_stage_make(walk, walk->switches.count > 0, i, c->answers, &stage);
        json_stage(json, &stage);
        vd_walk_stage_clear(&stage);
    }
    yajl_gen_array_close(json);
    json_effects(json, c, walk);
    yajl_gen_map_close(json);
    vd_output_json(stdout, json);
    return VD_OK;
}

// ---- the command --------------------------------------------------------------------------------

static vd_status read_options(walk_command *c, int argc, char **argv, vd_arguments *given,
                              vd_error *err)
{
    vd_status status = vd_arguments_read(options, argc, argv, c, given, err);
    if (status)
        return status;
    if (!c->image)
        return vd_error_set(err, VD_USAGE, "which picture? name one with --image ID");
    if (c->json && c->markdown)
        return vd_error_set(err, VD_USAGE, "--json and --markdown: choose one");
    if (given->count == 0)
        return vd_error_set(err, VD_USAGE, "no question; put it in quotes after the options");
    return VD_OK;
}

static vd_status open_session(walk_command *c, vd_error *err)
{
    size_t index = 0;
    vd_status status = vd_world_open(c->assets, &c->world, err);
    if (status == VD_OK)
        c->world->decoder = c->decoder;
    if (status == VD_OK)
        status = vd_world_named(c->world, c->image, &index, err);
    if (status == VD_OK)
        status = vd_session_new(c->world, c->model, &c->session, err);
    if (status == VD_OK)
        status = vd_session_picture(c->session, index, err);
    if (status)
        return status;
    c->answers = vd_session_texts(c->session);
    return VD_OK;
}

static vd_status say(walk_command *c, const char *question, vd_error *err)
{
    vd_reply reply = {0};
    vd_status status = vd_session_ask(c->session, question, NULL, &reply, err);
    if (status == VD_OK)
        status = vd_session_accept(c->session, &reply, reply.answer.order[0], err);
    vd_reply_clear(&reply);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    walk_command c = {.model = VD_DEFAULT_MODEL, .utf8 = vd_output_utf8()};
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
    if (status == VD_OK)
        status = c.json ? print_json(&c, walk, err) : (print_walk(&c, walk), VD_OK);
    if (status == VD_OK && fflush(stdout) != 0)
        status = vd_error_set(err, VD_IO, "writing standard output: %s", strerror(errno));
    vd_walk_free(walk);
    vd_session_free(c.session);
    vd_world_close(c.world);
    return status;
}

const vd_command vd_cmd_walk = {
    "walk",
    run,
    "walk through one answer, stage by stage, and ask what if",
    "--image ID [options] \"question\" ...",
    "The questions form one conversation; the walk explains the answer to the last one. For each "
    "stage of the network it shows the input, the formula, the numbers, the output and what the "
    "stage is for. Then it leaves out each region, round and word in turn and shows how the "
    "answer changes, beside the attention that each one got.\n"
    "CHANGE is one of: caption, region N, round N or word N (left out); word N=OTHER (replaced); "
    "attention 1..4 (made uniform); positions (removed, or added where the model has none); "
    "picture (made blank). Numbers start at 1; regions are ordered by their share of attention.",
    "  visdial walk --image 1000001 \"how many balls are there\" \"what color are they\"\n"
    "  visdial walk --image 1000001 --what-if \"region 1\" --markdown \"is there a cube\"\n",
    options,
    NULL};
