#include "tui/answer/attention.h"
#include "tui/answer/json.h"
#include "tui/commands/command.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/backend/open.h"
#include "engine/base/json.h"
#include "tui/base/output.h"
#include "tui/session/remark.h"
#include "tui/session/session.h"
#include "tui/base/shares.h"

enum { MOST_LINE = 65536, BAR = 20, SHOWN_REGIONS = 3 };

typedef struct ask {
    const char *image, *model;
    vd_world_files files;
    vd_backend_choice backend;
    int top; // 0: the default
    bool json, utf8, fold, attention;
    bool refused;            // a question had no words
    vd_answer_group *folded; // (top) of the question that is answered now
    vd_world *world;
    vd_session *session;
    int asked;
} ask;

static const vd_option options[] = {
    {"image", "PICTURE", VD_HELP_IMAGE, VD_INTO(ask, image)},
    {"model", "MODEL", VD_HELP_MODEL " (default: best)", VD_INTO(ask, model)},
    {"assets", "DIR", VD_HELP_ASSETS, VD_INTO(ask, files.directory)},
    {"data", "FILE", VD_HELP_DATA, VD_INTO(ask, files.data)},
    {"features", "FILE", VD_HELP_FEATURES, VD_INTO(ask, files.features)},
    {"captioner", "FILE", VD_HELP_CAPTIONER, VD_INTO(ask, files.captioner)},
    {"top", "N", "how many answers to print (5; 10 with --json)", VD_INTO(ask, top), 1, 1000000},
    {"fold", NULL, VD_HELP_FOLD, VD_INTO(ask, fold)},
    VD_DECODER_OPTION(ask, files.decoder, vd_decoder_read, VD_DECODER_OF_ANSWERS),
    VD_BACKEND_OPTION(ask, backend),
    {"attention", NULL, "print every attention of the network", VD_INTO(ask, attention)},
    {"json", NULL, VD_HELP_JSON "; one per question", VD_INTO(ask, json)},
    {0},
};

// ---- JSON ---------------------------------------------------------------------------------------

static void json_utterance(yajl_gen json, const ask *a, const vd_generated_answer *said)
{
    char *text = vd_generated_answer_text(&a->session->words, said);
    vd_json_put(json, "{answer: %s, score: %.9g}", text, (double)said->score);
    g_free(text);
}

// Only of a model that has a generative decoder.
static void json_said(yajl_gen json, const ask *a, const vd_generated_answers *said)
{
    if (said->count == 0)
        return;
    vd_json_put(json, "says: [");
    for (int i = 0; i < said->count; i++)
        json_utterance(json, a, &said->beam[i]);
    vd_json_put(json, "], says_greedily:");
    json_utterance(json, a, &said->greedy);
}

static void print_json(const ask *a, const vd_sheet *sheet)
{
    const vd_reply *reply = sheet->side[0].reply;
    const char *doubt = vd_world_doubt(a->world, a->session->index);
    yajl_gen json = vd_output_object();
    vd_json_put(json, "question: %s", reply->typed);
    vd_sheet_json_words(json, &sheet->side[0]);
    vd_sheet_json_answers(json, "answers", &sheet->side[0], a->top);
    json_said(json, a, &reply->answer.generated);
    vd_sheet_json_attention(json, sheet, 0);
    char picture[256];
    vd_world_name(a->world, a->session->index, picture, sizeof picture);
    vd_json_put(json, "picture: %s, caption: %s, caption_by: %s", picture, sheet->caption,
                vd_caption_by_names[sheet->caption_by]);
    if (doubt)
        vd_json_put(json, "doubt: %s", doubt);
    vd_json_put(json, "model: %s", vd_model_name(a->session->model));
    if (a->files.decoder.made)
        vd_json_put(json, "decoder: %s", vd_decoders_name(vd_pool_decoders(a->session->pool)));
    vd_json_put(json, "backend: %s, milliseconds: %.9g", vd_model_backend(a->session->model)->name,
                reply->answer.milliseconds);
    if (*reply->remark)
        vd_json_put(json, "remark: %s", reply->remark);
    vd_output_object_end(json);
}

// ---- text ---------------------------------------------------------------------------------------

static void print_history(const vd_answer *answer)
{
    enum { A_LINE = 5 };
    const float *share = vd_answer_shares(answer, VD_AXIS_ENTRIES);
    if (!share)
        return;
    for (int i = 0; i < answer->rounds; i++) {
        char name[24];
        snprintf(name, sizeof name, i ? "round %d" : "caption", i);
        printf("%s%s %s",
               i == 0       ? "   history   "
               : i % A_LINE ? ", "
                            : ",\n             ",
               name, vd_percent((double)share[i]).text);
    }
    printf("\n");
}

// Of several steps the last one; --attention and --json have them all.
static void print_regions(const vd_sheet *sheet)
{
    const vd_answer *answer = &sheet->side[0].reply->answer;
    vd_share top[SHOWN_REGIONS];
    const vd_attention *a = vd_answer_attention(answer, VD_AXIS_QUESTIONS, VD_AXIS_REGIONS);
    const float *share = a ? a->share : NULL;
    int count = share ? vd_shares_top(share, answer->regions, 2, top, SHOWN_REGIONS) : 0;
    int width = sheet->names ? -(int)strlen("12 yellow rubber cylinder") : 3;
    if (!share)
        printf("   regions   %s\n", VD_NO_REGIONS);
    for (int n = 0; n < count; n++) {
        const float *box = sheet->boxes ? sheet->boxes + (size_t)4 * (size_t)top[n].index : NULL;
        printf("%s%*s  %6s", n ? "             " : "   regions   ", width,
               vd_sheet_region(sheet, top[n].index).text, vd_percent(top[n].share).text);
        if (box && top[n].index < sheet->regions)
            printf("  (%.2f %.2f %.2f %.2f)", (double)box[0], (double)box[1], (double)box[2],
                   (double)box[3]);
        printf("%s", n || !box ? "" : "  x1 y1 x2 y2");
        if (n == 0 && a->of > 1)
            printf("  %s %d of %d", a->part, a->index + 1, a->of);
        printf("\n");
    }
}

// Where the question has no attention of its own to its words (as in mvan): the shares of words by
// what the regions look at.
static void print_word_shares(const vd_reply *reply)
{
    float share[VD_MAX_QUESTION];
    vd_share top[5];
    bool own = vd_answer_attention(&reply->answer, VD_AXIS_QUESTIONS, VD_AXIS_QUESTION_WORDS);
    if (own || vd_word_share(&reply->answer, 0) < 0)
        return;
    for (int i = 0; i < reply->words; i++)
        share[i] = (float)vd_word_share(&reply->answer, i);
    int count = vd_shares_top(share, reply->words, 0.9, top, sizeof top / sizeof *top);
    for (int n = 0; n < count; n++)
        printf("%s%s %s", n ? ", " : "   on words  ", reply->word[top[n].index],
               vd_percent(top[n].share).text);
    printf("\n");
}

// Without --attention the last ones of the question and of the answer's words.
static void print_further(const ask *asked, const vd_sheet *sheet)
{
    const vd_answer *answer = &sheet->side[0].reply->answer;
    const vd_attention *a;
    for (int i = 0; (a = vd_answer_further(answer, i)); i++) {
        char title[64], largest[800];
        bool matrix = a->query != VD_AXIS_QUESTIONS && a->query != VD_AXIS_ANSWER_WORDS;
        bool head = strcmp(a->part, VD_ATTENTION_HEAD) == 0; // their mean is shown
        if (!asked->attention && (matrix || head || a->index + 1 < a->of))
            continue;
        vd_attention_title(a, title, sizeof title);
        for (int row = 0; row < a->rows; row++) {
            vd_sheet_largest(sheet, 0, a, row, largest, sizeof largest);
            if (*largest)
                printf("   %s: %s\n", title, largest);
        }
    }
}

static void print_seen(const vd_reply *reply)
{
    printf("   seen      ");
    for (int i = 0; i < reply->words; i++) {
        bool unknown = reply->unknown[i];
        printf("%s%s%s%s", i ? " " : "", unknown ? "<UNK:" : "", reply->word[i],
               unknown ? ">" : "");
    }
    printf("\n");
}

static void print_words(const ask *a, const vd_generated_answer *said)
{
    char *text = vd_generated_answer_text(&a->session->words, said);
    printf("%s  (%.2f a word)\n", text, (double)said->score);
    g_free(text);
}

// Answers that are not from the pool.
static void print_said(const ask *a, const vd_answer *answer)
{
    const vd_generated_answers *said = &answer->generated;
    for (int i = 0; i < said->count && i < 3; i++) {
        fputs(i ? "             " : "   says      ", stdout);
        print_words(a, &said->beam[i]);
    }
    if (said->count == 0)
        return;
    fputs("   greedily  ", stdout);
    print_words(a, &said->greedy);
}

// The ranking's first rows, each with a bar.
static void print_answers(const ask *a, const vd_sheet_side *side)
{
    char bar[VD_BAR_SIZE];
    int widest = 8, rows = vd_sheet_rows(side);
    rows = rows < a->top ? rows : a->top;
    for (int i = 0; i < rows; i++) {
        int width = vd_output_width(vd_sheet_text(side, vd_sheet_row(side, i).answer));
        if (width > widest && width <= 40)
            widest = width;
    }
    for (int i = 0; i < rows; i++) {
        vd_answer_group one = vd_sheet_row(side, i);
        const char *text = vd_sheet_text(side, one.answer);
        int width = vd_output_width(text);
        printf("   %s%*s ", text, width < widest ? widest - width : 0, "");
        printf(one.probability < 0.0005 ? " <0.1 %% " : "%5.1f %% ", 100 * one.probability);
        fputs(vd_output_bar(bar, one.probability, BAR, a->utf8), stdout);
        if (one.alike)
            printf(" with %d alike", one.alike);
        printf("\n");
    }
}

static void print_text(const ask *a, const vd_sheet *sheet)
{
    const vd_reply *reply = sheet->side[0].reply;
    printf("%s%d. %s\n", a->asked ? "\n" : "", a->asked + 1, reply->typed);
    print_answers(a, &sheet->side[0]);
    print_said(a, &reply->answer);
    print_history(&reply->answer);
    print_regions(sheet);
    print_further(a, sheet);
    print_word_shares(reply);
    print_seen(reply);
    if (reply->remark && *reply->remark)
        printf("   remark    %s\n", reply->remark);
}

// ---- asking -------------------------------------------------------------------------------------

// With --fold answers with the same meaning are one row.
static vd_sheet make_sheet(ask *a, const vd_reply *reply)
{
    const vd_picture_caption caption = vd_world_captioned(a->world, a->session->index);
    vd_sheet out = {.caption = caption.text,
                    .caption_by = caption.by,
                    .rounds = a->session->turns,
                    .boxes = a->session->regions.boxes,
                    .names = a->session->regions.names,
                    .regions = a->session->regions.count,
                    .sides = 1};
    out.history = out.rounds ? &a->session->turn[0] : NULL;
    out.side[0] =
        (vd_sheet_side){.reply = reply, .texts = vd_session_texts(a->session), .chosen = -1};
    if (!a->fold)
        return out;
    int most = a->top < reply->answer.candidates ? a->top : reply->answer.candidates;
    out.side[0].folded = a->folded = g_renew(vd_answer_group, a->folded, most);
    out.side[0].folded_count =
        vd_fold_ranking(&reply->answer, vd_session_fold(a->session), most, a->folded);
    return out;
}

static vd_status flush(vd_error *err)
{
    return fflush(stdout) == 0
               ? VD_OK
               : vd_error_set(err, VD_IO, "writing standard output: %s", strerror(errno));
}

// Small talk, which no model answers.
static void print_talk(const ask *a, const char *typed, const char *reply)
{
    if (!a->json) {
        printf("%s%d. %s\n   " VD_PROGRAM_SAYS "%s\n", a->asked ? "\n" : "", a->asked + 1, typed,
               reply);
        return;
    }
    yajl_gen json = vd_output_object();
    vd_json_put(json, "question: %s, remark: %s", typed, reply);
    vd_output_object_end(json);
}

static vd_status ask_one(ask *a, const char *question, vd_error *err)
{
    vd_reply reply;
    const char *talk = vd_small_talk(question);
    if (talk) {
        print_talk(a, question, talk);
        a->asked++;
        return flush(err);
    }
    vd_status status = vd_session_ask(a->session, question, NULL, &reply, err);
    if (status)
        return status;
    int first = reply.answer.order[0];
    vd_sheet sheet = make_sheet(a, &reply);
    if (a->json)
        print_json(a, &sheet);
    else
        print_text(a, &sheet);
    a->asked++;
    status = flush(err);
    if (status == VD_OK)
        status = vd_session_accept(a->session, &reply, first, err);
    vd_reply_clear(&reply);
    return status;
}

// A question without words is reported, with the number of its line (0: it was an argument); those
// behind it are asked.
static vd_status ask_or_report(ask *a, const char *question, int line, vd_error *err)
{
    vd_error why = {0};
    vd_status status = ask_one(a, question, err);
    if (status != VD_USAGE)
        return status;
    if (line)
        vd_error_set(&why, status, "standard input, line %d: %s", line, err->text);
    vd_command_complain("ask", line ? &why : err);
    *err = (vd_error){0};
    a->refused = true;
    return VD_OK;
}

static vd_status ask_stdin(ask *a, vd_error *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    vd_status status = VD_OK;
    for (int number = 1; !status && (length = getline(&line, &room, stdin)) >= 0; number++) {
        bool zero = strlen(line) != (size_t)length;
        while (length > 0 && strchr("\r\n", line[length - 1]) && !zero)
            line[--length] = '\0';
        if (zero || length > MOST_LINE)
            status =
                vd_error_set(err, VD_FORMAT, "standard input, line %d: %s; expected a question",
                             number, zero ? "holds a zero byte" : "longer than 65536 bytes");
        else if (line[strspn(line, " \t")])
            status = ask_or_report(a, line, number, err);
    }
    free(line);
    if (status == VD_OK && ferror(stdin))
        status = vd_error_set(err, VD_IO, "reading standard input: %s", strerror(errno));
    return status;
}

static void print_caption(const ask *a)
{
    char name[256], mark[48];
    const vd_picture_caption caption = vd_world_captioned(a->world, a->session->index);
    vd_world_name(a->world, a->session->index, name, sizeof name);
    vd_caption_mark(&caption, mark, sizeof mark);
    fprintf(stderr, *mark ? "picture %s: %s (%s)\n" : "picture %s: %s%s\n", name, caption.text,
            mark);
}

static vd_status open_session(ask *a, vd_error *err)
{
    vd_status status = vd_backend_choose(a->backend, 0, &a->files.backend, err);
    if (status == VD_OK)
        status = vd_session_open(&a->files, a->image, a->model, &a->world, &a->session, err);
    if (status == VD_OK && !a->json) {
        print_caption(a);
        int answers = (int)a->session->answers->count;
        fprintf(stderr,
                "model %s, %s%s%s, ranks %d answer%s of %s; %% are probabilities among these\n",
                vd_model_name(a->session->model), vd_model_backend(a->session->model)->name,
                a->files.decoder.made ? ", decoder " : "",
                a->files.decoder.made ? vd_decoders_name(a->files.decoder.by) : "", answers,
                answers == 1 ? "" : "s", a->session->pool_path);
        if (vd_session_fallback(a->session))
            fprintf(stderr, "running on the CPU: %s\n", vd_session_fallback(a->session));
    }
    if (status == VD_OK && vd_world_doubt(a->world, a->session->index))
        fprintf(stderr, "%s\n", vd_world_doubt(a->world, a->session->index));
    return status;
}

static vd_status read_options(ask *a, int argc, char **argv, vd_arguments *given, vd_error *err)
{
    vd_status status = vd_arguments_read(options, argc, argv, a, given, err);
    if (status)
        return status;
    if (!a->image)
        return vd_error_set(err, VD_USAGE, "which picture? name it with --image PICTURE");
    if (given->count == 0 && isatty(STDIN_FILENO))
        return vd_error_set(
            err, VD_USAGE,
            "no question: put it in quotes after the options, or pipe in questions, one per line");
    if (a->top == 0)
        a->top = a->json ? 10 : 5;
    return VD_OK;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    ask a = {.utf8 = vd_output_utf8()};
    vd_arguments given;
    vd_status status = read_options(&a, argc, argv, &given, err);
    if (status == VD_OK)
        status = open_session(&a, err);
    if (status == VD_OK && given.count == 0)
        status = ask_stdin(&a, err);
    for (int i = 0; status == VD_OK && i < given.count; i++)
        status = ask_or_report(&a, given.operand[i], 0, err);
    if (status == VD_OK && a.refused)
        status = VD_USAGE; // reported
    g_free(a.folded);
    vd_session_free(a.session);
    vd_world_close(a.world);
    return status;
}

const vd_command vd_cmd_ask = {
    "ask",
    run,
    "answer questions about a picture, without a screen",
    "--image PICTURE [options] [\"question\" ...]",
    "The questions form one conversation: the earlier questions, each with the model's first "
    "answer, are the history of the next. Without questions on the command line they are read "
    "from a pipe or file, one per line. Answers go to standard output, messages to standard "
    "error. Without --data the bundled pictures are used. In your own picture, the objects are "
    "detected, unless my.npz or my.safetensors beside my.png (or --features FILE) holds features.",
    "  visdial ask --image 1000003 \"what is on the left\" \"what color is it\"\n"
    "  echo \"how many cubes are there\" | visdial ask --image my.png --json\n",
    .options = options};
