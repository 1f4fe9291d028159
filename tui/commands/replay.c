// The command `visdial replay`. Runs a transcript again and compares every score; or prints a
// dialog of the data with the answers of several models.
#include "tui/commands/command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/base/file.h"
#include "tui/compare/compare.h"
#include "tui/base/progress.h"
#include "tui/transcript/transcript.h"
#include "tui/compare/cases_view.h"

typedef struct replaying {
    vd_corpus_paths paths;
    vd_cases_options options;
    const char *html, *markdown, *visdial;
    bool screen, no_check, force;
    vd_arguments given;
    vd_preferences wanted; // of the screen
    double tolerance;
    const char *path; // operand
} replaying;

static const vd_option options[] = {
    {"image", "ID", "show the dialog in the data about this picture",
     VD_INTO(replaying, options.image_id), INT64_MIN, INT64_MAX},
    {"screen", NULL, "show all dialogs in full screen, starting at --image",
     VD_INTO(replaying, screen)},
    {"model", "MODEL", VD_HELP_MODEL "; with --image: give two to four",
     VD_INTO(replaying, options), .read = vd_cases_add_model},
    VD_CORPUS_OPTIONS(replaying),
    VD_DECODER_OPTION(replaying, options, vd_cases_add_decoder,
                      "; default: the recorded one; with --image: all that the model has, and it "
                      "may be given once per model"),
    {"tolerance", "X",
     "largest relative difference allowed between a score and the recorded one (0.00001)",
     VD_INTO(replaying, tolerance), .least = 0, .most = 1},
    {"no-check", NULL, "do not run the transcript again", VD_INTO(replaying, no_check)},
    {"html", "FILE", "write the conversations as one self-contained HTML page",
     VD_INTO(replaying, html)},
    {"markdown", "FILE", "write the conversations as Markdown", VD_INTO(replaying, markdown)},
    {"visdial", "FILE", "write the conversations as VisDial JSON", VD_INTO(replaying, visdial)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(replaying, force)},
    {0},
};

static bool has_image(const replaying *r)
{
    return vd_arguments_have(&r->given, "image");
}

// ---- transcripts --------------------------------------------------------------------------------

// A model is loaded for its first answer and then kept.
typedef struct player {
    vd_world *world;
    struct {
        const char *name;
        vd_decoder_choice decoder;
        vd_session *session;
        vd_fingerprint model, pool;
    } loaded[8];
    int count;
    vd_decoder_choice decoder; // that the person names
    double tolerance;
    size_t answers, scores, differing; // scores that differ
    size_t changed;                    // answers with a difference
    size_t missing;                    // answers about pictures that cannot be opened
} player;

// The model of a record, with the decoders that ranked then, unless --decoder names others.
static vd_status load_model(player *p, const vd_record *record, int *out, vd_error *err)
{
    const char *name = record->sheet.side[0].name;
    vd_decoder_choice by = p->decoder.made ? p->decoder : record->reply.ranked;
    for (*out = 0; *out < p->count; ++*out)
        if (strcmp(p->loaded[*out].name, name) == 0 && p->loaded[*out].decoder.made == by.made &&
            p->loaded[*out].decoder.by == by.by)
            return VD_OK;
    if (p->count == (int)(sizeof p->loaded / sizeof *p->loaded))
        return vd_error_set(err, VD_USAGE, "more than %d models in one transcript", p->count);
    vd_session *session;
    p->world->decoder = by;
    vd_status status = vd_session_new(p->world, name, &session, err);
    if (status)
        return status;
    p->loaded[p->count].name = name;
    p->loaded[p->count].decoder = by;
    p->loaded[p->count].session = session;
    *out = p->count++;
    return vd_session_fingerprints(session, &p->loaded[*out].model, &p->loaded[*out].pool, err);
}

static void complain(const vd_record *record, const char *what)
{
    printf("line %zu, picture ", record->line);
    if (record->sheet.picture)
        printf("%s", record->sheet.picture);
    else
        printf("%" PRId64, record->sheet.image_id);
    printf(", round %d, %s: %s: %s\n", record->sheet.rounds + 1, record->sheet.side[0].model, what,
           record->reply.typed);
}

static void compare_scores(player *p, const vd_record *record, const vd_reply *now)
{
    enum { SHOWN = 3 };
    const vd_answer *then = &record->reply.answer;
    int different = 0;
    p->answers++;
    if (now->answer.candidates != then->candidates) {
        complain(record, "the pool has a different number of answers");
        p->changed++;
        return;
    }
    for (int i = 0; i < then->candidates; i++) {
        double a = (double)then->score[i], b = (double)now->answer.score[i];
        if (a == -(double)INFINITY)
            continue; // of a large pool the best were recorded
        p->scores++;
        if (fabs(a - b) <= p->tolerance * fmax(1, fabs(a)))
            continue;
        if (different++ == 0)
            complain(record, "scores differ");
        if (different <= SHOWN)
            printf("    %s: %.7g was recorded, now it is %.7g\n", record->sheet.side[0].texts[i], a,
                   b);
    }
    if (different > SHOWN)
        printf("    and %d more\n", different - SHOWN);
    if (different && then->order[0] != now->answer.order[0])
        printf("    the answer was \"%s\", now it is \"%s\"\n",
               record->sheet.side[0].texts[then->order[0]],
               record->sheet.side[0].texts[now->answer.order[0]]);
    p->differing += (size_t)different;
    p->changed += different > 0;
}

static vd_status replay_one(player *p, const vd_record *record, vd_error *err)
{
    const vd_sheet *sheet = &record->sheet;
    vd_reply reply = {0};
    vd_fingerprint features;
    size_t index;
    int model;
    vd_error why = {0};
    vd_status status =
        sheet->picture ? vd_world_open_path(p->world, sheet->picture, &index, &why) : VD_OK;
    if (status == VD_NO_MEMORY)
        return vd_error_set(err, status, "%s", why.text);
    if (status) {
        complain(record, why.text);
        p->missing++;
        return VD_OK;
    }
    status = load_model(p, record, &model, err);
    if (status == VD_OK && !sheet->picture)
        status = vd_world_find(p->world, sheet->image_id, &index, err);
    if (status == VD_OK)
        status = vd_world_features_fingerprint(p->world, index, &features, err);
    if (status)
        return status;
    vd_session *session = p->loaded[model].session;
    if (strcmp(p->loaded[model].model.text, sheet->side[0].model_hash.text) != 0)
        complain(record, "the model file has changed");
    if (strcmp(p->loaded[model].pool.text, sheet->side[0].pool_hash.text) != 0)
        complain(record, "the pool has changed");
    if (sheet->features_hash.text[0] && strcmp(features.text, sheet->features_hash.text) != 0)
        complain(record, "the picture's features have changed");
    if (sheet->picture)
        vd_world_set_caption(p->world, index, sheet->caption, sheet->caption_by, NULL);
    if (!vd_session_has_picture(session, index))
        status = vd_session_picture(session, index, err);
    if (status == VD_OK)
        status = vd_session_continue(session, sheet->history, sheet->rounds, NULL, err);
    if (status == VD_OK)
        status = vd_session_ask(session, sheet->side[0].reply->typed, NULL, &reply, err);
    if (status == VD_OK)
        compare_scores(p, record, &reply);
    vd_reply_clear(&reply);
    return status;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static vd_status check(const replaying *r, const vd_transcript_file *file, vd_world *world,
                       vd_error *err)
{
    player p = {.world = world, .decoder = r->options.decoder[0], .tolerance = r->tolerance};
    vd_status status = VD_OK;
    const atomic_int *stop = vd_interrupt_watch();
    for (size_t i = 0; i < file->record_count && status == VD_OK; i++) {
        if (atomic_load(stop))
            status = vd_error_set(err, VD_INTERRUPTED, "interrupted after %zu of %zu answers", i,
                                  file->record_count);
        else
            status = replay_one(&p, &file->records[i], err);
    }
    vd_interrupt_release();
    for (int i = 0; i < p.count; i++)
        vd_session_free(p.loaded[i].session);
    if (status)
        return status;
    printf("%s: %zu answer%s, %zu scores, %zu differ\n", file->path, p.answers, plural(p.answers),
           p.scores, p.differing);
    if (file->cut)
        printf("%s: the last line is incomplete and was left out\n", file->path);
    char unchecked[96] = "";
    if (p.missing)
        snprintf(unchecked, sizeof unchecked,
                 "%zu answer%s not checked: the pictures cannot be opened", p.missing,
                 p.missing == 1 ? " was" : "s were");
    if (p.changed)
        return vd_error_set(err, VD_MISMATCH, "%.400s: %zu of %zu answers have changed%s%s",
                            file->path, p.changed, p.answers, p.missing ? "; " : "", unchecked);
    return p.missing ? vd_error_set(err, VD_NOT_FOUND, "%.400s: %s", file->path, unchecked) : VD_OK;
}

static vd_status keep_inputs(const replaying *r, const vd_transcript_file *file, vd_error *err)
{
    const char *out[] = {r->html, r->markdown, r->visdial};
    const char *in = file->path;
    return vd_output_check(out, sizeof out / sizeof *out, &in, 1, r->force, err);
}

// What was done instead of a check.
static void print_unchecked(const replaying *r, const vd_transcript_file *file)
{
    const char *out[] = {r->html, r->markdown, r->visdial};
    printf("%s: %zu conversation%s, %zu answer%s; nothing was asked again (--no-check)\n",
           file->path, file->dialog_count, plural(file->dialog_count), file->record_count,
           plural(file->record_count));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        if (out[i])
            printf("%s was written\n", out[i]);
}

static vd_status replay_transcript(const replaying *r, vd_error *err)
{
    vd_transcript_file file = {0};
    vd_world *world = NULL;
    vd_status status =
        r->path ? vd_transcript_read(r->path, &file, err) : vd_transcript_newest(&file, err);
    if (status == VD_OK)
        status = keep_inputs(r, &file, err);
    vd_world_files files = {.directory = r->paths.assets,
                            .data = r->paths.data,
                            .features = r->paths.features,
                            .images = r->paths.pictures};
    vd_recorded_files_use(&file.files, &files);
    const bool opened = !r->no_check || r->html;
    if (status == VD_OK && opened)
        status = vd_world_open_files(&files, &world, err);
    if (status == VD_OK && opened)
        vd_transcript_open_pictures(&file, world);
    if (status == VD_OK && r->html)
        status = vd_transcript_html(&file, world, r->html, err);
    if (status == VD_OK && r->markdown)
        status = vd_transcript_markdown(&file, world, r->markdown, err);
    if (status == VD_OK && r->visdial)
        status = vd_transcript_visdial(&file, r->visdial, err);
    if (status == VD_OK && r->no_check)
        print_unchecked(r, &file);
    else if (status == VD_OK)
        status = check(r, &file, world, err);
    vd_world_close(world);
    vd_transcript_clear(&file);
    return status;
}

// ---- a data set's dialog ------------------------------------------------------------------------

// Every question of the data has relevance.
static bool all_relevant(const vd_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        if (cases->at[i].side[0].metrics.dense_rounds == 0)
            return false;
    return true;
}

static vd_status step_through(const replaying *r, const vd_cases *cases, vd_error *err)
{
    const vd_case_filter filter = {.by = all_relevant(cases) ? VD_RIGHT_RELEVANT : VD_RIGHT_HUMAN};
    const vd_case *at = &cases->at[0];
    for (size_t i = 0; i < cases->count && has_image(r); i++)
        if (vd_case_dialog(cases, &cases->at[i])->image_id == r->options.image_id) {
            at = &cases->at[i];
            break;
        }
    if (has_image(r) && vd_case_dialog(cases, at)->image_id != r->options.image_id)
        return vd_error_set(err, VD_NOT_FOUND, "%.400s: no dialog about the picture %lld",
                            cases->corpus->data, (long long)r->options.image_id);
    return vd_cases_screen(cases, &filter, VD_CASE_BY_DIALOG, at, &r->wanted, err);
}

// The thesis' layout: the dialog so far, then each question with the human answer and the models'.
static void lay_out(const vd_cases *cases)
{
    const vd_visdial_dialog *dialog = vd_case_dialog(cases, &cases->at[0]);
    bool relevant = all_relevant(cases), utf8 = vd_output_utf8();
    vd_right by = relevant ? VD_RIGHT_RELEVANT : VD_RIGHT_HUMAN;
    printf("picture %" PRId64 ": %s\n", dialog->image_id, dialog->caption);
    printf("%s: %s\n", utf8 ? "\u2713" : "+",
           relevant ? "the first answer has relevance 1" : "the first answer is the human one");
    for (size_t i = 0; i < cases->count; i++) {
        printf("\n%4d  ", cases->at[i].round + 1);
        vd_case_print(cases, &cases->at[i], by, utf8);
    }
    vd_metrics sum[VD_MODELS] = {0};
    for (size_t i = 0; i < cases->count; i++)
        for (int side = 0; side < cases->models; side++)
            vd_metrics_merge(&sum[side], &cases->at[i].side[side].metrics);
    bool dense = sum[0].dense_rounds > 0;
    vd_table table = {0};
    vd_table_add(&table, dense ? "\tR@1\tMRR\tNDCG" : "\tR@1\tMRR");
    for (int side = 0; side < cases->models; side++)
        vd_table_add(&table, dense ? "%s\t%.2f\t%.3f\t%.3f" : "%s\t%.2f\t%.3f", cases->name[side],
                     vd_metrics_mean(&sum[side], VD_R1), vd_metrics_mean(&sum[side], VD_MRR),
                     vd_metrics_mean(&sum[side], VD_NDCG));
    printf("\n");
    vd_table_finish(&table, 0);
}

static vd_status replay_dialog(replaying *r, vd_error *err)
{
    vd_corpus corpus;
    vd_cases *cases = NULL;
    vd_status status = vd_corpus_open(&r->paths, &corpus, err);
    if (status)
        return status;
    r->options.stop = vd_interrupt_watch();
    r->options.quiet = !r->screen;
    status = vd_cases_new(&corpus, &r->options, &cases, err);
    vd_interrupt_release();
    if (status == VD_OK && r->screen)
        status = step_through(r, cases, err);
    else if (status == VD_OK)
        lay_out(cases);
    vd_cases_free(cases);
    vd_corpus_close(&corpus);
    return status;
}

// ---- command ------------------------------------------------------------------------------------

// A dialog of the data, not a transcript.
static bool is_of_data(const replaying *r)
{
    return has_image(r) || r->screen;
}

static vd_status check_data(replaying *r, vd_error *err)
{
    if (r->path)
        return vd_error_set(
            err, VD_USAGE,
            "--%s shows dialogs of the data, '%.80s' is a transcript; give one of them",
            has_image(r) ? "image" : "screen", r->path);
    vd_status status = vd_arguments_refuse(
        &r->given, "tolerance no-check html markdown visdial",
        "is about transcripts; `visdial compare --find ID` writes dialogs of the data", err);
    r->options.one = !r->screen;
    return status ? status : vd_cases_complete(&r->options, err);
}

static vd_status check_transcript(const replaying *r, vd_error *err)
{
    if (r->options.decoder[1].made)
        return vd_error_set(err, VD_USAGE, "--decoder: more than one is for --image only");
    return vd_arguments_refuse(&r->given, "model dense",
                               "is for --image or --screen; a transcript names its own models",
                               err);
}

static vd_status read_options(replaying *r, int argc, char **argv, vd_error *err)
{
    vd_status status = vd_arguments_read(options, argc, argv, r, &r->given, err);
    if (status == VD_OK)
        status = vd_arguments_most(&r->given, 1, err);
    if (status)
        return status;
    r->path = r->given.operand[0];
    return is_of_data(r) ? check_data(r, err) : check_transcript(r, err);
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    replaying r = {.tolerance = 1e-5};
    vd_status status = read_options(&r, argc, argv, err);
    if (status == VD_OK && r.screen)
        status = vd_cases_screen_ready(&r.wanted, err);
    if (status == VD_OK)
        status = is_of_data(&r) ? replay_dialog(&r, err) : replay_transcript(&r, err);
    return status;
}

const vd_command vd_cmd_replay = {
    "replay",
    run,
    "run a transcript again, or show a dialog from the data",
    "[FILE | --image ID] [options]",
    "FILE is a transcript that the chat wrote to $XDG_STATE_HOME/visdial/transcripts; the default "
    "is the newest with a conversation. It names its files; give --data, --features and --pictures "
    "where they have moved. Every question is asked again with the same history, and every score "
    "that differs from the recorded one is reported (exit code 5). --html, --markdown and "
    "--visdial write the conversations to a file.\n"
    "--image shows the dialog in the data about a picture: each question with the human "
    "answer, the answers of two to four models, whether they are right, and the rank that they "
    "give the human answer. " VD_HELP_COMPARED
    "--screen shows all dialogs. Without --data and --features the bundled "
    "dialogs are used.",
    "  visdial replay\n"
    "  visdial replay chat.jsonl --html chat.html --no-check\n"
    "  visdial replay --image 1000003\n"
    "  visdial replay --screen\n",
    .options = options};
