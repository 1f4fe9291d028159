// The command `visdial chat`: terminal, chat view and engine thread put together.
#include "tui/commands/command.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "tui/base/option_texts.h"
#include "tui/session/config.h"
#include "tui/session/history.h"
#include "tui/base/backend_choice.h"
#include "tui/session/loop.h"
#include "tui/session/session.h"
#include "tui/chat/recorder.h"
#include "tui/screen/theme.h"
#include "tui/session/service.h"
#include "tui/chat/chat.h"

enum {
    IMAGE,
    MODEL,
    ASSETS,
    DATA,
    FEATURES,
    IMAGES,
    DENSE,
    DECODER,
    BACKEND,
    RESUME,
    TRANSCRIPT,
    NO_TRANSCRIPT,
    THEME,
    FOLD,
    NO_MOUSE
};

const vd_option vd_cmd_chat_options[] = {
    {"image", "ID", "number of the picture to start with (default: the first)"},
    {"model", "MODEL", VD_HELP_MODEL " (default: base)"},
    {"assets", "DIR", VD_HELP_ASSETS},
    {"data", "FILE", VD_HELP_DATA},
    {"features", "FILE", VD_HELP_FEATURES},
    {"images", "DIR", VD_HELP_IMAGES},
    {"dense", "FILE", VD_HELP_DENSE},
    VD_DECODER_OPTION,
    VD_BACKEND_OPTION,
    {"resume", NULL, "continue the last conversation, with its models and branches"},
    {"transcript", "FILE", "write the transcript to FILE; with --resume continue from it"},
    {"no-transcript", NULL, "write no transcript"},
    {"theme", "NAME", "dark (default), light, mono or safe (for the colour-blind)"},
    {"fold", NULL, VD_HELP_FOLD},
    {"no-mouse", NULL, "leave the mouse to the terminal"},
    {0},
};

typedef struct chat_settings {
    const char *model; // as asked for here, NULL: the conversation's or the preferred one
    const char *preferred, *backend;
    vd_world_files files;
    vd_decoder_choice decoder;
    int64_t image; // -1: the first one
    bool mouse, fold;
    bool resume, no_transcript;
    const char *transcript;
    vd_theme_name theme;
} chat_settings;

// ---- the world as the view's source ------------------------------------------------------------

static size_t source_count(void *context)
{
    return vd_world_count(context);
}

static int64_t source_image_id(void *context, size_t index)
{
    return vd_world_image_id(context, index);
}

static const char *source_caption(void *context, size_t index)
{
    return vd_world_caption(context, index);
}

static void source_contents(void *context, size_t index, char *out, size_t size)
{
    vd_world_contents(context, index, out, size);
}

static vd_status source_find(void *context, int64_t image_id, size_t *index, vd_error *err)
{
    return vd_world_find(context, image_id, index, err);
}

static vd_status source_picture(void *context, size_t index, vd_image *out, vd_error *err)
{
    char *path = vd_world_picture_path(context, index, err);
    if (!path)
        return VD_NOT_FOUND;
    vd_status status = vd_image_read(path, out, err);
    vd_free(path);
    return status;
}

static const vd_visdial_round *round_of(const vd_world *world, size_t index, int round)
{
    const vd_visdial_dialog *dialog =
        vd_visdial_find(world->dialogs, vd_world_image_id(world, index));
    return dialog && round >= 0 && round < dialog->round_count ? &dialog->rounds[round] : NULL;
}

static bool source_human(void *context, size_t index, int round, vd_human *out)
{
    const vd_world *world = context;
    const vd_visdial_round *found = round_of(world, index, round);
    if (!found)
        return false;
    out->question = world->dialogs->questions[found->question];
    out->answer = found->answer >= 0 ? world->dialogs->answers[found->answer] : NULL;
    out->coreference = found->coreference;
    return true;
}

static const char *source_candidate(void *context, size_t index, int round, int which,
                                    float *relevance)
{
    const vd_world *world = context;
    const vd_visdial_round *found = round_of(world, index, round);
    if (!found || which < 0 || which >= found->option_count)
        return NULL;
    *relevance = found->relevance ? found->relevance[which] : -1;
    return world->dialogs->answers[found->options[which]];
}

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

// Adds what was just asked to the file. Without the file the chat goes on all the same.
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
    program->history = vd_history_path();
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
    bool letter = key.code < VD_KEY_NONE && !(key.modifiers & (VD_ALT | VD_CTRL)) &&
                  view->nav.line.length > 0 && program->letters++ < LETTERS;
    if (view->nav.pasting || letter)
        return true;
    program->letters = 0;
    return false;
}

static bool take_request_of_chat(void *context, vd_request *out)
{
    const chat_program *program = context;
    return vd_chat_take_request(program->view, out);
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
    vd_recorder_step(&program->recorder, program->view);
}

static vd_status run(chat_program *program, vd_error *err)
{
    const vd_loop_view loop = {.context = program,
                               .draw = draw_chat,
                               .key = key_to_chat,
                               .take_request = take_request_of_chat,
                               .event = event_to_chat,
                               .step = step_chat};
    return vd_loop_run(&loop, program->screen, program->worker, err);
}

static vd_status start_worker(chat_program *program, vd_error *err)
{
    void *lanes[VD_MODELS];
    for (int i = 0; i < VD_MODELS; i++)
        lanes[i] = program->service[i];
    return vd_worker_start(vd_service_serve, lanes, VD_MODELS, &program->worker, err);
}

static vd_status start_recorder(chat_program *program, const chat_settings *settings,
                                int64_t *image, const char **model, vd_error *err)
{
    if (settings->no_transcript)
        return VD_OK;
    return vd_recorder_start(&program->recorder, settings->resume, settings->transcript, image,
                             model, err);
}

static vd_status open_program(chat_program *program, const chat_settings *settings, vd_error *err)
{
    size_t index = 0;
    int64_t image = settings->image;
    const char *model = settings->preferred;
    vd_chosen_backend chosen;
    vd_status status = vd_choose_backend(settings->backend, 0, &chosen, err);
    if (!status)
        status = vd_world_open_files(&settings->files, &program->world, err);
    if (!status) {
        program->world->backend = chosen.backend;
        program->world->decoder = settings->decoder;
    }
    if (!status && vd_world_count(program->world) == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: holds no dialogs", program->world->directory);
    if (!status)
        status = start_recorder(program, settings, &image, &model, err);
    if (!status && image >= 0)
        status = vd_world_find(program->world, image, &index, err);
    for (int i = 0; i < VD_MODELS && !status; i++)
        status = vd_service_new(program->world, &program->service[i], err);
    if (status)
        return status;
    program->view = vd_alloc(1, sizeof *program->view);
    if (!program->view)
        return vd_error_memory(err, "the chat");
    vd_chat_source source = {
        .context = program->world,
        .count = source_count,
        .image_id = source_image_id,
        .caption = source_caption,
        .human = source_human,
        .candidate = source_candidate,
        .contents = source_contents,
        .find = source_find,
        .picture = source_picture,
    };
    uint64_t seed = (uint64_t)time(NULL) * 2654435761u ^ (uint64_t)getpid();
    status = vd_screen_open(settings->mouse, "`visdial ask` answers without a screen",
                            &program->screen, err);
    if (!status)
        status = vd_chat_init(program->view, &source, index,
                              settings->model ? settings->model : model, seed, err);
    if (!status)
        status = start_worker(program, err);
    if (!status) {
        program->view->theme = settings->theme;
        program->view->rankings.folded = settings->fold;
        load_history(program);
        vd_recorder_take_up(&program->recorder, program->view);
    }
    return status;
}

static void close_program(chat_program *program)
{
    vd_screen_close(program->screen); // first, so that leaving is felt at once
    vd_worker_free(program->worker);
    if (program->view && program->view->views)
        vd_chat_free(program->view);
    vd_free(program->view);
    vd_recorder_free(&program->recorder);
    vd_free(program->history);
    for (int i = 0; i < VD_MODELS; i++)
        vd_service_free(program->service[i]);
    vd_world_close(program->world);
}

static vd_status read_options(chat_settings *settings, int argc, char **argv, vd_error *err)
{
    vd_option_walk walk = {.options = vd_cmd_chat_options, .argc = argc, .argv = argv};
    const char *value;
    int option;
    while ((option = vd_option_next(&walk, &value, err)) >= 0) {
        vd_status status = VD_OK;
        if (option == IMAGE)
            status = vd_option_int("image", value, 0, INT64_MAX, &settings->image, err);
        else if (option == MODEL)
            settings->model = value;
        else if (option == ASSETS)
            settings->files.directory = value;
        else if (option == DATA)
            settings->files.data = value;
        else if (option == FEATURES)
            settings->files.features = value;
        else if (option == IMAGES)
            settings->files.images = value;
        else if (option == DENSE)
            settings->files.dense = value;
        else if (option == DECODER)
            status = vd_choose_decoder(value, &settings->decoder, err);
        else if (option == BACKEND)
            settings->backend = value;
        else if (option == RESUME)
            settings->resume = true;
        else if (option == TRANSCRIPT)
            settings->transcript = value;
        else if (option == NO_TRANSCRIPT)
            settings->no_transcript = true;
        else if (option == THEME && !vd_theme_find(value, &settings->theme))
            status = vd_error_set(
                err, VD_USAGE, "--theme: expected dark, light, mono or safe, found '%.40s'", value);
        else if (option == FOLD)
            settings->fold = true;
        else if (option == NO_MOUSE)
            settings->mouse = false;
        if (status)
            return status;
    }
    if (option == VD_OPTION_ERROR)
        return VD_USAGE;
    if (settings->no_transcript && (settings->resume || settings->transcript))
        return vd_error_set(err, VD_USAGE, "--no-transcript does not go with --%s",
                            settings->resume ? "resume" : "transcript");
    if (settings->resume && settings->image >= 0)
        return vd_error_set(
            err, VD_USAGE,
            "--resume continues with the picture of the conversation; leave --image out");
    if (walk.operands < argc)
        return vd_error_set(err, VD_USAGE,
                            "'%.80s' is not expected: questions are typed in the "
                            "chat, or given to `visdial ask`",
                            argv[walk.operands]);
    return VD_OK;
}

int vd_cmd_chat(int argc, char **argv)
{
    vd_preferences config = vd_preferences_defaults();
    chat_program program = {0};
    vd_error error = {0};
    vd_status status = vd_preferences_read(NULL, &config, &error);
    chat_settings settings = {.preferred = config.model,
                              .image = -1,
                              .mouse = config.mouse,
                              .fold = config.fold,
                              .theme = config.theme};
    if (!status)
        status = read_options(&settings, argc, argv, &error);
    if (!status)
        status = open_program(&program, &settings, &error);
    if (!status)
        status = run(&program, &error);
    close_program(&program);
    return status ? vd_command_fail("chat", &error) : 0;
}
