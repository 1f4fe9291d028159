// The command `visdial chat`: terminal, chat view and engine thread put together.
#include "tui/commands/command.h"

#include <glib.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/backend/open.h"
#include "engine/base/safetensors.h"
#include "tui/measure/corpus.h"
#include "tui/measure/score.h"
#include "tui/measure/verdict.h"
#include "tui/base/table.h"
#include "tui/session/config.h"
#include "tui/session/history.h"
#include "tui/session/loop.h"
#include "tui/session/session.h"
#include "tui/chat/recorder.h"
#include "tui/session/service.h"
#include "tui/chat/chat.h"

// One describes opened pictures; a second one stands beside it in the caption word by word.
typedef struct chat_captioners {
    const char *path[2];
    int count;
} chat_captioners;

static vd_status add_captioner(void *value, const char *name, const char *text, vd_error *err)
{
    chat_captioners *captioners = value;
    if (captioners->count == 2)
        return vd_error_set(err, VD_USAGE, "--%s: two at most, found a third, '%.300s'", name,
                            text);
    captioners->path[captioners->count++] = text;
    return VD_OK;
}

typedef struct chat_settings {
    const char *model;     // as asked for here, NULL: the conversation's or the preferred one
    vd_preferences wanted; // of the file, and of the options that change it
    vd_world_files files;
    chat_captioners captioners;
    vd_backend_choice backend;
    vd_missing missing;
    const char *image; // a number, a file or a folder; NULL: the first one
    char **opened;     // (opened_count) pictures and folders, borrowed
    int opened_count;
    bool no_mouse, no_motion;
    bool resume, no_transcript;
    const char *transcript, *session;
    bool sessions;
} chat_settings;

static const vd_option options[] = {
    {"image", "PICTURE",
     "the picture to start with: an image id, a picture file, a folder, or blocks:SEED for a new "
     "picture (default: the first)",
     VD_INTO(chat_settings, image)},
    {"model", "MODEL", VD_HELP_MODEL " (default: best)", VD_INTO(chat_settings, model)},
    {"assets", "DIR", VD_HELP_ASSETS, VD_INTO(chat_settings, files.directory)},
    {"data", "FILE", VD_HELP_DATA, VD_INTO(chat_settings, files.data)},
    {"features", "FILE", VD_HELP_FEATURES, VD_INTO(chat_settings, files.features)},
    {"captioner", "FILE", VD_HELP_CAPTIONER "; given twice: F11 shows both side by side",
     VD_INTO(chat_settings, captioners), .read = add_captioner},
    {"images", "DIR", VD_HELP_IMAGES, VD_INTO(chat_settings, files.images)},
    {"dense", "FILE", VD_HELP_DENSE, VD_INTO(chat_settings, files.dense)},
    VD_MISSING_OPTION(chat_settings, missing),
    VD_DECODER_OPTION(chat_settings, files.decoder, vd_decoder_read, VD_DECODER_OF_ANSWERS),
    VD_BACKEND_OPTION(chat_settings, backend),
    {"resume", NULL,
     "continue the last session that has a conversation, with those about all its pictures",
     VD_INTO(chat_settings, resume)},
    {"session", "NAME",
     "continue the session with this name, or start it (in the chat: /save NAME)",
     VD_INTO(chat_settings, session)},
    {"sessions", NULL, "list the sessions", VD_INTO(chat_settings, sessions)},
    {"transcript", "FILE", "write the transcript to FILE; with --resume: continue from it",
     VD_INTO(chat_settings, transcript)},
    {"no-transcript", NULL, "write no transcript", VD_INTO(chat_settings, no_transcript)},
    {"theme", "NAME",
     "auto (default: follows the terminal's background), light, dark, mono or safe (for "
     "colour-blind users)",
     VD_INTO(chat_settings, wanted.theme), .choices = VD_THEME_NAMES},
    {"picture", "MODE",
     "auto (default: the best that the terminal supports), kitty, sixel, iterm, cells or none",
     VD_INTO(chat_settings, wanted.pictures), .choices = VD_PICTURE_MODE_NAMES},
    {"fold", NULL, VD_HELP_FOLD, VD_INTO(chat_settings, wanted.fold)},
    {"no-motion", NULL, "turn animations off", VD_INTO(chat_settings, no_motion)},
    {"no-mouse", NULL, "leave the mouse to the terminal", VD_INTO(chat_settings, no_mouse)},
    {0},
};

// ---- running -----------------------------------------------------------------------------------

typedef struct chat_program {
    vd_world *world;
    vd_service *service[VD_MODELS];
    vd_worker *worker;
    vd_screen *screen;
    vd_chat *view;
    int letters;      // taken since the last drawing
    char *history;    // file of the questions asked, NULL: none
    const char *kept; // the newest question that is in it
    vd_recorder recorder;
} chat_program;

// Adds the last question to the file. An error of the file does not end the chat.
static void keep_history(chat_program *program)
{
    const vd_line *line = &program->view->nav.line;
    const char *newest = line->count ? line->history[line->count - 1] : NULL;
    if (!program->history || newest == program->kept)
        return;
    program->kept = newest;
    vd_history_append(program->history, newest, NULL);
}

static void load_history(chat_program *program)
{
    vd_line *line = &program->view->nav.line;
    program->history = vd_state_path("history");
    if (program->history)
        vd_history_load(program->history, line, NULL);
    program->kept = line->count ? line->history[line->count - 1] : NULL;
}

static void draw_chat(void *context, vd_grid *grid)
{
    const chat_program *program = context;
    vd_chat_draw(program->view, grid);
}

static bool key_to_chat(void *context, vd_key key)
{
    enum { LETTERS = 64 }; // typed ones; a paste has an end
    chat_program *program = context;
    const vd_chat *view = program->view;
    vd_chat_key(program->view, key);
    bool letter = vd_key_is_typed(key) && view->nav.line.length > 0 && program->letters++ < LETTERS;
    if (view->nav.pasting || letter)
        return true;
    program->letters = 0;
    return false;
}

static void export_chat(const chat_program *program, const vd_request *request)
{
    vd_error err;
    vd_notice *notice = &program->view->notice;
    if (vd_recorder_export(program->view, (vd_export_kind)request->index, request->text, &err))
        vd_notice_complain(notice, "%s", err.text);
    else
        vd_notice_say(notice, "the conversation is in %s", request->text);
}

static bool take_request_of_chat(void *context, vd_request *out)
{
    const chat_program *program = context;
    if (!vd_lanes_take_request(&program->view->lanes, out))
        return false;
    if (out->kind == VD_REQUEST_EXPORT) {
        export_chat(program, out);
        out->kind = VD_REQUEST_SHOW;
    }
    return true;
}

static void event_to_chat(void *context, vd_event *event)
{
    chat_program *program = context;
    vd_recorder_event(&program->recorder, program->view, event);
}

static void step_chat(void *context)
{
    chat_program *program = context;
    program->letters = 0;
    keep_history(program);
    vd_recorder_handle_wish(&program->recorder, program->view);
    vd_recorder_step(&program->recorder, program->view);
}

static int pause_of_chat(void *context)
{
    const chat_program *program = context;
    return vd_chat_pause(program->view);
}

static void tick_chat(void *context)
{
    const chat_program *program = context;
    vd_chat_tick(program->view);
}

static vd_status converse(chat_program *program, vd_error *err)
{
    const vd_loop_view loop = {.context = program,
                               .draw = draw_chat,
                               .key = key_to_chat,
                               .take_request = take_request_of_chat,
                               .event = event_to_chat,
                               .step = step_chat,
                               .pause = pause_of_chat,
                               .tick = tick_chat};
    return vd_loop_run(&loop, program->screen, program->worker, err);
}

// Not by scenes beside data that were named: those would be read anew for every caption.
static void judge(const vd_world *world, vd_caption_sheet *sheet)
{
    if (!world->files || vd_world_own_path(world, sheet->wish.picture))
        vd_verdict_sheet(world, NULL, sheet, NULL);
    vd_score_sheet(world, sheet, NULL);
}

// On the thread of the lane.
static void serve_chat(void *context, const vd_request *request, const atomic_int *stop,
                       vd_event *event)
{
    vd_service_serve(context, request, stop, event);
    if (event->caption)
        judge(vd_service_world(context), event->caption);
}

static vd_status start_worker(chat_program *program, vd_error *err)
{
    void *lanes[VD_MODELS];
    for (int i = 0; i < VD_MODELS; i++)
        lanes[i] = program->service[i];
    return vd_worker_start(serve_chat, lanes, VD_MODELS, &program->worker, err);
}

static vd_status start_recorder(chat_program *program, const chat_settings *settings,
                                int64_t *image, const char **model, vd_error *err)
{
    char *named = NULL;
    if (settings->no_transcript)
        return VD_OK;
    vd_status status = settings->session ? vd_saved_path(settings->session, &named, err) : VD_OK;
    bool resume = settings->resume || (named && access(named, F_OK) == 0);
    if (resume && (settings->image || settings->opened_count))
        status = vd_error_set(
            err, VD_USAGE, "--%s continues with the picture of the conversation; leave %s out",
            settings->resume ? "resume" : "session", settings->image ? "--image" : "pictures");
    if (status == VD_OK)
        status = vd_recorder_start(&program->recorder, resume, named ? named : settings->transcript,
                                   image, model, err);
    g_free(named);
    return status;
}

// Behind what was just said, if anything was.
static void remark(vd_chat *chat, const char *text)
{
    const vd_notice said = chat->notice;
    if (*text)
        vd_notice_complain(&chat->notice, "%s%s%s", said.text, *said.text ? "; " : "", text);
}

static bool is_folder(const char *path)
{
    return g_file_test(path, G_FILE_TEST_IS_DIR);
}

static vd_status open_picture(vd_world *world, const char *text, size_t *index, vd_error *err)
{
    return (is_folder(text) ? vd_world_open_path : vd_world_named)(world, text, index, err);
}

// A picture that is named is known to be one before the screen opens, a large one by how it begins;
// of a folder others may be good.
static vd_status check_picture(const vd_world *world, const char *name, size_t index, vd_error *err)
{
    enum { MOST_PIXELS = 4000000 }; // that are read without a screen
    vd_image image = {0};
    int width = 0, height = 0;
    if (!name || is_folder(name))
        return VD_OK;
    const char *path = vd_world_own_path(world, index);
    vd_status status = *path == '/' ? vd_image_size(path, &width, &height, err) : VD_OK;
    if (!status && (int64_t)width * height <= MOST_PIXELS)
        status = vd_world_image(world, index, &image, err);
    vd_image_clear(&image);
    return status;
}

// The same of a model that is asked for; it is loaded later.
static vd_status check_model(const chat_program *program, const char *model, vd_error *err)
{
    if (!model)
        return VD_OK;
    vd_safetensors *file = NULL;
    char *path = vd_world_model_path(program->world->directory, model, err);
    vd_status status = path ? vd_safetensors_open(path, &file, err) : err->status;
    vd_safetensors_close(file);
    g_free(path);
    return status;
}

// Those of the command line; *index: the one to start with.
static vd_status open_pictures(vd_world *world, const chat_settings *settings, size_t *index,
                               vd_error *err)
{
    vd_status status = VD_OK;
    size_t at;
    for (int i = 0; i < settings->opened_count && !status; i++)
        status = i ? vd_world_open_path(world, settings->opened[i], &at, err)
                   : open_picture(world, settings->opened[i], index, err);
    if (!status && settings->image)
        status = open_picture(world, settings->image, index, err);
    const char *first = settings->image          ? settings->image
                        : settings->opened_count ? settings->opened[0]
                                                 : NULL;
    return status || !vd_world_own_path(world, *index) ? status
                                                       : check_picture(world, first, *index, err);
}

// As asked for here, else `model`, that of the conversation or the preferred one; what is only
// preferred stops nothing where it is not there, and *lost says so.
static const char *choose_model(const chat_program *program, const chat_settings *settings,
                                const char *model, vd_error *lost)
{
    bool preferred = model && model == settings->wanted.model;
    if (settings->model)
        return settings->model;
    char *path = preferred ? vd_world_model_path(program->world->directory, model, lost) : NULL;
    g_free(path);
    return model && (path || !preferred) ? model : vd_world_next_model(program->world, NULL, NULL);
}

// It is loaded when it is first shown, and once here, so that its errors are seen.
static vd_status check_second(const char *path, vd_error *err)
{
    vd_captioner *captioner = NULL;
    vd_status status = path ? vd_captioner_load(path, &captioner, err) : VD_OK;
    vd_captioner_free(captioner);
    return status;
}

// skipped: pictures without features; lost: why the preferred model is not used.
static void start_view(chat_program *program, const chat_settings *settings, size_t skipped,
                       const vd_error *lost)
{
    const char *second = settings->captioners.path[1];
    program->view->theme = settings->wanted.theme;
    program->view->rankings.folded = settings->wanted.fold;
    vd_lanes_captioner(&program->view->lanes, second ? second : "");
    program->view->still = !settings->wanted.motion || settings->no_motion;
    load_history(program);
    if (skipped)
        vd_notice_say(&program->view->notice,
                      "%zu of %zu pictures have no features and are left out", skipped,
                      skipped + vd_world_count(program->world));
    vd_recorder_restore(&program->recorder, program->view);
    const vd_transcript *transcript = program->recorder.transcript;
    if (settings->transcript && !settings->resume && transcript &&
        !vd_transcript_elsewhere(transcript) && access(settings->transcript, F_OK) == 0)
        vd_notice_say(&program->view->notice,
                      "the transcript exists: this conversation is added to it");
    remark(program->view, settings->wanted.remark);
    remark(program->view, lost->text);
}

static vd_status open_program(chat_program *program, const chat_settings *settings, vd_error *err)
{
    vd_error lost = {0};
    size_t index = 0, skipped = 0;
    int64_t image = -1;
    const char *model = settings->wanted.model[0] ? settings->wanted.model : NULL;
    vd_world_files files = settings->files;
    files.captioner = settings->captioners.path[0];
    vd_status status = vd_backend_choose(settings->backend, 0, &files.backend, err);
    if (!status)
        status = check_second(settings->captioners.path[1], err);
    if (!status)
        status = start_recorder(program, settings, &image, &model, err);
    if (!status) {
        vd_recorder_set_files(&program->recorder, &files);
        status = vd_world_open_files(&files, &program->world, err);
    }
    if (!status)
        status = vd_world_read_relevance(program->world, err);
    if (!status && vd_world_count(program->world) == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: holds no dialogs", program->world->directory);
    if (!status)
        status = vd_visdial_match(program->world->dialogs, program->world->regions,
                                  settings->missing, &skipped, err);
    if (!status)
        status = vd_recorder_open_pictures(&program->recorder.resumed, program->world, err);
    if (!status && image >= 0)
        status = vd_world_find(program->world, image, &index, err);
    else if (!status)
        status = open_pictures(program->world, settings, &index, err);
    if (!status)
        status = check_model(program, settings->model, err);
    if (status)
        return status;
    for (int i = 0; i < VD_MODELS; i++)
        program->service[i] = vd_service_new(program->world);
    program->view = g_new0(vd_chat, 1);
    uint64_t seed = (uint64_t)time(NULL) * 2654435761u ^ (uint64_t)getpid();
    status =
        vd_screen_open(settings->wanted.mouse && !settings->no_mouse, settings->wanted.pictures,
                       "`visdial ask` answers without a screen", &program->screen, err);
    model = choose_model(program, settings, model, &lost);
    if (!status)
        status = vd_chat_init(program->view, program->world, index, model, seed, err);
    if (!status)
        status = start_worker(program, err);
    if (!status)
        start_view(program, settings, skipped, &lost);
    return status;
}

static void say_left(vd_left left)
{
    if (left.waiting)
        fprintf(stderr, "Questions without an answer yet: %d; they are asked when you continue\n",
                left.waiting);
    if (left.lost)
        fprintf(stderr, "Questions that were not answered: %d; Up finds them in the next chat\n",
                left.lost);
}

static void close_program(chat_program *program)
{
    char farewell[4400];
    vd_left left = {0};
    if (program->view && program->view->views)
        left = vd_recorder_leave(&program->recorder, program->view);
    bool more =
        program->screen && vd_recorder_farewell(&program->recorder, farewell, sizeof farewell);
    vd_screen_close(program->screen); // first, so that leaving is felt at once
    say_left(left);
    if (more)
        fprintf(stderr, "To continue this conversation: %s\n", farewell);
    vd_worker_free(program->worker);
    if (program->view && program->view->views)
        vd_chat_free(program->view);
    g_free(program->view);
    vd_recorder_free(&program->recorder);
    g_free(program->history);
    for (int i = 0; i < VD_MODELS; i++)
        vd_service_free(program->service[i]);
    vd_world_close(program->world);
}

// How many characters of a question there is room for in a line of the terminal; -1: all.
static int room_for_questions(const vd_saved *saved, size_t count)
{
    enum { BETWEEN = 2, WRITTEN = 16, ROUNDS = 6, LEAST = 16 };
    int name = 7, picture = 7, columns = vd_output_columns();
    for (size_t i = 0; i < count; i++) {
        name = (int)fmax(name, vd_output_width(saved[i].name));
        picture = (int)fmax(picture, vd_output_width(saved[i].picture));
    }
    int room = columns - name - WRITTEN - picture - ROUNDS - 4 * BETWEEN;
    return columns == 0 ? -1 : room < LEAST ? LEAST : room;
}

static vd_status list_sessions(vd_error *err)
{
    vd_saved *saved;
    size_t count;
    vd_table table = {0};
    vd_status status = vd_saved_list(&saved, &count, err);
    for (size_t i = 0; i < count; i++)
        vd_saved_look(&saved[i]);
    int room = room_for_questions(saved, count);
    vd_table_add(&table, "session\twritten\tpicture\trounds\tlast question");
    for (size_t i = 0; i < count; i++) {
        char when[32];
        struct tm parts;
        const char *question = saved[i].question;
        bool cut = room >= 0 && vd_output_width(question) > room;
        localtime_r(&saved[i].when.tv_sec, &parts);
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &parts);
        vd_table_add(&table, "%s\t%s\t%s\t%d\t%.*s%s", saved[i].name, when, saved[i].picture,
                     saved[i].rounds,
                     cut ? (int)vd_output_first(question, room - 3) : (int)strlen(question),
                     question, cut ? "..." : "");
    }
    if (count)
        vd_table_finish(&table, 0);
    else if (status == VD_OK)
        printf("there are no sessions yet\n");
    vd_table_clear(&table);
    g_free(saved);
    return status;
}

static vd_status read_options(chat_settings *settings, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, settings, &given, err);
    if (status)
        return status;
    if (settings->no_transcript && (settings->resume || settings->transcript))
        return vd_error_set(err, VD_USAGE, "--no-transcript does not go with --%s",
                            settings->resume ? "resume" : "transcript");
    if (settings->session && (settings->no_transcript || settings->resume || settings->transcript))
        return vd_error_set(err, VD_USAGE, "--session does not go with --%s",
                            settings->resume          ? "resume"
                            : settings->no_transcript ? "no-transcript"
                                                      : "transcript");
    bool pictures = settings->image || given.count;
    for (int i = 0; i < given.count; i++)
        if (!vd_names_picture(given.operand[i]))
            return vd_error_set(err, VD_NOT_FOUND,
                                "'%.80s': there is no such picture; questions are typed in the "
                                "chat, or given to `visdial ask`",
                                given.operand[i]);
    if (settings->files.features && !settings->files.data && !pictures)
        return vd_error_set(err, VD_USAGE,
                            "--features without --data belong to your own picture: name it, as in "
                            "`visdial my.png --features my.npz`");
    settings->opened = given.operand;
    settings->opened_count = given.count;
    return VD_OK;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    chat_settings settings = {.wanted = vd_preferences_defaults()};
    chat_program program = {0};
    vd_status status = vd_preferences_read(NULL, &settings.wanted, err);
    if (!status)
        status = read_options(&settings, argc, argv, err);
    vd_keymap_rebind(settings.wanted.keys, settings.wanted.key_count);
    if (!status && settings.sessions)
        return list_sessions(err);
    if (!status)
        status = open_program(&program, &settings, err);
    if (!status)
        status = converse(&program, err);
    close_program(&program);
    vd_keymap_rebind(NULL, 0);
    return status;
}

const vd_command vd_cmd_chat = {
    "chat",
    run,
    "chat about a picture in full screen",
    "[options] [PICTURE ...]",
    "`visdial` without a command opens the chat; `visdial my.png` opens it with your own picture, "
    "`visdial blocks:7` with a new one. Its objects are detected, unless my.npz or my.safetensors "
    "beside it holds features. F8 steps through several pictures or a folder. The chat needs a "
    "terminal; `visdial ask` does not. F1 lists the keys and the /commands. Settings such as "
    "`theme = light`, `mouse = off` or `model = best` can be stored in "
    "$XDG_CONFIG_HOME/visdial/config; options override them. "
    "Without --data the bundled pictures are available, too.",
    "  visdial my.png\n  visdial chat --image 1000003 --model base\n  visdial chat --theme light\n",
    .options = options};
