#include "tests/support/fake_chat.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/networks/pass.h"
#include "tests/support/attentions.h"
#include "tests/support/fake_caption.h"
#include "tests/support/must.h"
#include "tui/base/shares.h"
#include "tui/session/own_pictures.h"
#include "tui/session/service.h"

static const char *const answers[FAKE_ANSWERS] = {"yes",
                                                  "no",
                                                  "it's red",
                                                  "blue",
                                                  "2",
                                                  "there are two of them",
                                                  "yes, i do",
                                                  "on the left",
                                                  "behind the cube",
                                                  "no, i don't see any",
                                                  "metal",
                                                  "3"};

static const char *const captions[FAKE_PICTURES] = {
    "two red balls are left of the large metal cube",
    ("there is one thing in front of everything else, and it is a small green cylinder made of "
     "rubber"),
    "a caf\xc3\xa9 table with a \xe7\x90\x83"};

static const char *other_caption; // instead of those
static fake_network network;

static const char *const questions[4] = {"is there a cube", "what color is it",
                                         "how many balls are there", "where is the cube"};

// ---- world --------------------------------------------------------------------------------------

// People had two candidates less than the pool, and judged those of the first round.
const vd_world *fake_chat_world(void)
{
    enum { OPTIONS = FAKE_ANSWERS - 2 };
    static const int32_t answered[4] = {0, 2, 4, -1}, coreference[4] = {0, 1, 0, -1};
    static int32_t options[OPTIONS];
    static float relevance[OPTIONS];
    static vd_visdial_round rounds[4];
    static vd_visdial_dialog dialogs[FAKE_PICTURES];
    static vd_visdial people = {.questions = (const char **)questions,
                                .question_count = 4,
                                .answers = (const char **)answers,
                                .dialog_count = FAKE_PICTURES,
                                .dialogs = dialogs};
    static vd_world world = {.directory = (char *)"tests/fixtures/chat", .dialogs = &people};
    for (int i = 0; i < OPTIONS; i++) {
        options[i] = i;
        relevance[i] = strncmp(answers[i], "yes", 3) == 0;
    }
    for (int i = 0; i < 4; i++)
        rounds[i] = (vd_visdial_round){.question = i,
                                       .answer = answered[i],
                                       .option_count = OPTIONS,
                                       .options = options,
                                       .relevance = i == 0 ? relevance : NULL,
                                       .coreference = coreference[i]};
    for (int i = 0; i < FAKE_PICTURES; i++)
        dialogs[i] = (vd_visdial_dialog){.image_id = 1000001 + i,
                                         .caption = other_caption ? other_caption : captions[i],
                                         .round_count = i == 2 ? 0 : 4,
                                         .rounds = rounds};
    vd_error err;
    if (!world.own)
        world.own = vd_own_pictures_new("assets/extractor.safetensors", NULL, NULL);
    if (!world.regions)
        must(vd_regions_open("tests/fixtures/chat/features.safetensors", &world.regions, &err),
             &err);
    return &world;
}

void fake_chat_network(fake_network other)
{
    network = other;
}

void fake_chat_caption(const char *text)
{
    other_caption = text;
    fake_chat_world();
}

// ---- engine -------------------------------------------------------------------------------------

static uint32_t hash(const char *text)
{
    uint32_t value = 2166136261u; // FNV-1a
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * 16777619u;
    return value;
}

static float *weights(size_t rows, size_t columns, uint32_t seed)
{
    float *out = vd_alloc(rows * columns, sizeof *out);
    assert_non_null(out);
    for (size_t row = 0; row < rows; row++) {
        double sum = 0;
        for (size_t i = 0; i < columns; i++) {
            seed = seed * 1664525u + 1013904223u;
            out[row * columns + i] = expf((float)(seed >> 16) / 65536.0f * 4.0f);
            sum += out[row * columns + i];
        }
        for (size_t i = 0; i < columns; i++)
            out[row * columns + i] = (float)(out[row * columns + i] / sum);
    }
    return out;
}

static void split_words(vd_reply *reply, const char *typed)
{
    char *rest = reply->question;
    size_t length = strcspn(typed, "?");
    rest[length] = '\0';
    for (size_t at = 0; at < length;) {
        size_t word = strcspn(rest + at, " ");
        if (word > 0 && reply->words == VD_MAX_QUESTION - 2)
            reply->cut++;
        else if (word > 0) {
            reply->unknown[reply->words] = rest[at] == 'w' && rest[at + 1] == 'u';
            reply->word[reply->words++] = vd_strndup(rest + at, word);
        }
        at += word + 1;
    }
    reply->word[reply->words++] = vd_strdup("?");
}

// Those of an entry's words begin a row of the longest entry's.
static float *topic_weights(const vd_answer *answer, uint32_t seed)
{
    int words = answer->question_length, all = answer->history_start[answer->rounds];
    int width = support_entry_length(answer, answer->rounds - 1);
    float *share = vd_alloc((size_t)(words * all), sizeof *share);
    float *rows = weights((size_t)(answer->rounds * words), (size_t)width, seed);
    for (int r = 0; r < answer->rounds; r++)
        for (int i = 0; i < words; i++)
            memcpy(share + i * all + answer->history_start[r], rows + (r * words + i) * width,
                   (size_t)support_entry_length(answer, r) * sizeof *share);
    vd_free(rows);
    return share;
}

// Depends on the model, the question and all that was said before.
static void make_reply(const vd_chat *chat, const vd_request *request, bool full_size,
                       vd_reply *reply)
{
    const char *typed = request->text;
    *reply = (vd_reply){.typed = vd_strdup(typed), .question = vd_strdup(typed)};
    split_words(reply, typed);
    for (int i = 0; i < reply->words && !reply->remark; i++)
        if (reply->unknown[i])
            reply->remark = vd_format("%s: cube?", reply->word[i]);
    vd_answer *answer = &reply->answer;
    uint32_t seed = hash(typed) ^ hash(chat->lanes.lane[request->lane].model);
    for (int i = 0; i < request->turns; i++)
        seed ^= 31 * hash(request->history[i].answer);
    answer->candidates = FAKE_ANSWERS;
    answer->score = weights(1, FAKE_ANSWERS, seed);
    answer->probability = weights(1, FAKE_ANSWERS, seed);
    answer->order = vd_alloc(FAKE_ANSWERS, sizeof *answer->order);
    for (int i = 0; i < FAKE_ANSWERS; i++) {
        int at = i;
        while (at > 0 && answer->probability[answer->order[at - 1]] < answer->probability[i]) {
            answer->order[at] = answer->order[at - 1];
            at--;
        }
        answer->order[at] = i;
    }
    // A bound for memory, where nothing is said about that.
    answer->rounds = full_size || request->turns < 100 ? request->turns + 1 : 100;
    answer->question_length = reply->words;
    answer->regions = FAKE_REGIONS;
    answer->history_start = vd_alloc((size_t)answer->rounds + 1, sizeof *answer->history_start);
    for (int r = 0; r < answer->rounds; r++) {
        bool most = full_size || 5 + r >= VD_MAX_HISTORY;
        answer->history_start[r + 1] =
            answer->history_start[r] + (most ? VD_MAX_HISTORY - 1 : 5 + r);
    }
    size_t rounds = (size_t)answer->rounds, words = (size_t)reply->words;
    answer->attention = vd_alloc(4, sizeof *answer->attention);
    if (network == FAKE_MVAN)
        answer->attentions =
            support_mvan(answer, weights(1, rounds, seed + 1), topic_weights(answer, seed + 2),
                         weights(FAKE_REGIONS, words, seed + 3), weights(1, FAKE_REGIONS, seed + 4),
                         answer->attention);
    else if (network == FAKE_STEPS)
        answer->attentions =
            support_steps(answer, weights(1, rounds, seed + 1), weights(1, FAKE_REGIONS, seed + 3),
                          weights(1, FAKE_REGIONS, seed + 4), answer->attention);
    answer->milliseconds = 7.25;
}

static const float boxes[FAKE_REGIONS][4] = {
    {0.10f, 0.15f, 0.35f, 0.50f}, {0.60f, 0.10f, 0.90f, 0.60f}, {0.30f, 0.60f, 0.55f, 0.95f},
    {0.05f, 0.70f, 0.20f, 0.90f}, {0.70f, 0.70f, 0.95f, 0.98f}, {0.0f, 0.0f, 1.0f, 1.0f}};

static void add_boxes(const fake_chat *fake, vd_event *event)
{
    if (fake->no_boxes)
        return;
    event->regions.boxes = vd_alloc(FAKE_REGIONS, sizeof *boxes);
    assert_non_null(event->regions.boxes);
    memcpy(event->regions.boxes, boxes, sizeof boxes);
    event->regions.count = FAKE_REGIONS;
}

static void note_history(fake_chat *fake, const vd_request *request)
{
    char *out = fake->history;
    size_t used = (size_t)snprintf(out, sizeof fake->history, "%d:", request->lane);
    for (int i = 0; i < request->turns && used < sizeof fake->history; i++)
        used += (size_t)snprintf(out + used, sizeof fake->history - used, " %s %s.",
                                 request->history[i].question, request->history[i].answer);
}

// ---- walk ---------------------------------------------------------------------------------------

static void fake_entry(vd_walk_entry *entry, int index, const vd_request *request, int length)
{
    if (index == 0)
        snprintf(entry->label, sizeof entry->label, "caption");
    else
        snprintf(entry->label, sizeof entry->label, "round %d: %.70s", index,
                 request->history[index - 1].question);
    entry->words.count = length;
    for (int j = 0; j < length; j++)
        snprintf(entry->words.word[j], sizeof entry->words.word[j], "word%d", j + 1);
}

// Of another network: a stage with a table, and one without.
static void other_trace(const vd_answer *answer, vd_trace *trace)
{
    static const char *const steps[] = {"step 1", "step 2"};
    assert_int_equal(vd_trace_make(2, trace, NULL), VD_OK);
    trace->stage[0] = (vd_trace_stage){.title = "Reading",
                                       .why = "The network reads picture and dialog.",
                                       .formula = {"e = f(q, v)"}};
    trace->stage[1] = (vd_trace_stage){.title = "Steps",
                                       .why = "It looks where the step before told it to look.",
                                       .formula = {"p_i = softmax(s_i)"}};
    if (answer->attentions == 0)
        return;
    double *figure = vd_trace_add_table(trace, &trace->stage[1], "Where each step looks",
                                        (vd_trace_table){.share = true,
                                                         .row = steps,
                                                         .column_axis = VD_AXIS_REGIONS,
                                                         .rows = 2,
                                                         .columns = FAKE_REGIONS});
    assert_non_null(figure);
    for (int i = 1; i < answer->attentions; i++)
        for (int k = 0; k < FAKE_REGIONS; k++)
            *figure++ = (double)answer->attention[i].share[k];
}

// As MVAN gives it, of numbers that are made up.
static void fake_trace(const vd_answer *answer, uint32_t seed, vd_trace *trace)
{
    enum { PARTS = 15 };
    if (network != FAKE_MVAN) {
        other_trace(answer, trace);
        return;
    }
    int e = 4, h = 6, d = 5, q = answer->question_length, r = answer->rounds;
    int p = answer->regions, region[FAKE_REGIONS];
    const vd_config config = {.vocab = 30, .embed = e, .hidden = h, .region = d};
    for (int i = 0; i < p; i++)
        region[i] = i;
    vd_pass pass = {.be = vd_backend_cpu(),
                    .config = &config,
                    .question_words = {.tokens = q},
                    .history_words = {.sequences = r,
                                      .start = answer->history_start,
                                      .tokens = answer->history_start[r]},
                    .regions = p,
                    .rows = p,
                    .row_image = region};
    const struct {
        vd_real **to;
        int rows, columns;
    } part[PARTS] = {{&pass.question.embedding, q, e},
                     {&pass.question.recurrent.y, q, 2 * h},
                     {&pass.question.sentence, 1, 2 * h},
                     {&pass.history.sentence, r, 2 * h},
                     {&pass.matched, 1, 2 * h},
                     {&pass.context_pair.gate, 1, 4 * h},
                     {&pass.context_pair.y, 1, 4 * h},
                     {&pass.gathered, q, e},
                     {&pass.topic_pair.gate, q, 2 * e},
                     {&pass.topic_pair.y, q, 2 * e},
                     {&pass.region_topic, p, 2 * e},
                     {&pass.view, p, d},
                     {&pass.fused, p, h},
                     {&pass.pooled, 1, d + 4 * h},
                     {&pass.encoded, 1, h}};
    for (uint32_t i = 0; i < PARTS; i++)
        *part[i].to = weights((size_t)part[i].rows, (size_t)part[i].columns, seed + i);
    const vd_axis_subsets subsets = {.count = {[VD_AXIS_QUESTIONS] = 1,
                                               [VD_AXIS_QUESTION_WORDS] = q,
                                               [VD_AXIS_ENTRIES] = r,
                                               [VD_AXIS_HISTORY_WORDS] = answer->history_start[r],
                                               [VD_AXIS_REGIONS] = p}};
    const vd_outcome outcome = {.attention = answer->attention,
                                .attentions = answer->attentions,
                                .candidates = answer->candidates,
                                .score = answer->score,
                                .probability = answer->probability};
    assert_int_equal(vd_trace_take(&pass, &subsets, &outcome, trace, NULL), VD_OK);
    for (int i = 0; i < PARTS; i++)
        vd_free(*part[i].to);
}

// The same question gives the same answer; with a switch, one as if another had been asked.
static vd_walk *fake_walk(const vd_chat *chat, const vd_request *request)
{
    vd_walk *walk = vd_alloc(1, sizeof *walk);
    assert_non_null(walk);
    make_reply(chat, request, false, &walk->reply);
    const vd_answer *answer = &walk->reply.answer;
    uint32_t seed = hash(request->text);
    fake_trace(answer, seed, &walk->trace);
    walk->config = (vd_config){.vocab = 30, .embed = 4, .hidden = 6, .region = 5};
    snprintf(walk->model, sizeof walk->model, "%s", chat->lanes.lane[request->lane].model);
    walk->entries = answer->rounds;
    walk->regions = answer->regions;
    walk->entry = vd_alloc((size_t)walk->entries, sizeof *walk->entry);
    walk->region = vd_alloc((size_t)walk->regions, sizeof *walk->region);
    assert_true(walk->entry && walk->region);
    for (int i = 0; i < walk->entries; i++)
        fake_entry(&walk->entry[i], i, request, support_entry_length(answer, i));
    vd_share order[FAKE_REGIONS];
    float *even = weights(1, FAKE_REGIONS, 0);
    const float *share = vd_answer_shares(answer, VD_AXIS_REGIONS);
    int count = vd_shares_top(share ? share : even, FAKE_REGIONS, 2, order, FAKE_REGIONS);
    vd_free(even);
    assert_int_equal(count, FAKE_REGIONS);
    for (int i = 0; i < count; i++)
        walk->region[i] = order[i].index;
    if (request->switches && request->switches->count > 0) {
        vd_request other = *request;
        char text[256], name[64];
        vd_switch_name(&request->switches->at[0], name, sizeof name);
        snprintf(text, sizeof text, "%.150s %s", request->text, name);
        other.text = text;
        walk->switches = *request->switches;
        make_reply(chat, &other, false, &walk->changed);
        fake_trace(&walk->changed.answer, hash(text), &walk->changed_trace);
    }
    if (!request->effects)
        return walk;
    walk->effect = vd_alloc(FAKE_REGIONS + 2, sizeof *walk->effect);
    assert_non_null(walk->effect);
    for (int i = 0; i < FAKE_REGIONS; i++)
        walk->effect[walk->effects++] = (vd_effect){.what = {VD_SWITCH_REGION, i, ""},
                                                    .attention = share ? order[i].share : -1,
                                                    .left = 0.1 * i,
                                                    .first = i};
    walk->effect[walk->effects++] =
        (vd_effect){.what = {VD_SWITCH_WORD, 0, ""}, .attention = 0.25, .left = 0.125, .first = 1};
    walk->effect[walk->effects++] = (vd_effect){.what = {VD_SWITCH_PICTURE, 0, ""},
                                                .attention = -1,
                                                .left = 0.5,
                                                .first = answer->order[0]};
    return walk;
}

// The words of people's questions, the frequent ones first.
static const vd_vocab *fake_vocab(void)
{
    static const char *const words[] = {"?",     "the",   "is",   "there", "what",  "color",
                                        "how",   "many",  "cube", "are",   "it",    "a",
                                        "where", "balls", "ball", "red",   "rubber"};
    static vd_vocab *vocab;
    vd_error err;
    if (!vocab)
        must(vd_vocab_from_words(words, sizeof words / sizeof *words, &vocab, &err), &err);
    return vocab;
}

static GHashTable *answers_index;

static void answer(fake_chat *fake, const vd_request *request, vd_status status)
{
    vd_event event = {
        .kind = request->kind, .serial = request->serial, .lane = request->lane, .status = status};
    switch ((int)request->kind) {
    case VD_REQUEST_MODEL:
        fake->models++;
        event.asked = vd_strdup(request->text);
        const char *slash = strrchr(request->text, '/');
        snprintf(event.model, sizeof event.model, "%s", slash ? slash + 1 : request->text);
        if (vd_fingerprint_file(request->text, &event.by.model, NULL) != VD_OK)
            g_strlcpy(event.by.model.text, request->text, sizeof event.by.model.text);
        snprintf(event.backend, sizeof event.backend, "cpu");
        if (!answers_index)
            answers_index = vd_pool_index(answers, FAKE_ANSWERS);
        event.pool = (vd_pool_texts){answers, FAKE_ANSWERS, NULL, answers_index};
        event.vocab = fake_vocab();
        if (fake->model_lost || strncmp(request->text, "no/", 3) == 0)
            event.status =
                vd_error_set(&event.error, VD_NOT_FOUND, "%s: no such model", request->text);
        break;
    case VD_REQUEST_PICTURE:
        fake->pictures++;
        add_boxes(fake, &event);
        break;
    case VD_REQUEST_ASK:
        fake->asked++;
        note_history(fake, request);
        if (status == VD_OK)
            make_reply(&fake->chat, request, fake->full_size, &event.reply);
        else
            vd_error_set(&event.error, status, "the engine says no");
        break;
    case VD_REQUEST_WALK:
        fake->walks++;
        if (fake->no_walk)
            event.status = vd_error_set(&event.error, VD_USAGE, "the engine says no");
        else
            event.walk = fake_walk(&fake->chat, request);
        break;
    case VD_REQUEST_CAPTION:
        fake->captions++;
        if (fake->no_caption)
            event.status = vd_error_set(&event.error, VD_USAGE, "the captioner says no");
        else
            event.caption = fake_caption(request->caption, FAKE_REGIONS, fake->history_of_captions);
        break;
    default:
        fail_msg("request %d is not the engine's", (int)request->kind);
    }
    vd_chat_event(&fake->chat, &event);
}

static void serve(fake_chat *fake)
{
    vd_request request;
    while (vd_lanes_take_request(&fake->chat.lanes, &request)) {
        fake->stops += request.kind == VD_REQUEST_STOP;
        fake->leaves += request.kind == VD_REQUEST_LEAVE;
        fake->redraws += request.kind == VD_REQUEST_REDRAW;
        fake->suspends += request.kind == VD_REQUEST_SUSPEND;
        if (request.kind == VD_REQUEST_COPY)
            snprintf(fake->copied, sizeof fake->copied, "%s", request.text);
        if (request.kind == VD_REQUEST_EXPORT)
            snprintf(fake->exported, sizeof fake->exported, "%zu %s", request.index, request.text);
        if (request.kind == VD_REQUEST_MOUSE)
            fake->mouse = (int)request.index;
        if (request.kind == VD_REQUEST_ASK && fake->hold && request.lane == 0) {
            vd_request_clear(&fake->held);
            fake->held = request;
            continue;
        }
        if (request.kind < VD_REQUEST_STOP)
            answer(fake, &request, VD_OK);
        vd_request_clear(&request);
    }
}

void fake_chat_release(fake_chat *fake, vd_status status)
{
    answer(fake, &fake->held, status);
    vd_request_clear(&fake->held);
    serve(fake);
    vd_chat_draw(&fake->chat, &fake->grid);
}

// ---- driving ------------------------------------------------------------------------------------

void fake_chat_start(fake_chat *fake)
{
    network = FAKE_MVAN;
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    other_caption = NULL;
    bool lost = fake->model_lost, no_boxes = fake->no_boxes;
    *fake = (fake_chat){.model_lost = lost, .no_boxes = no_boxes, .mouse = -1};
    assert_int_equal(vd_chat_init(&fake->chat, fake_chat_world(), 0, "improved", 1, NULL), VD_OK);
    serve(fake);
    fake_chat_size(fake, 80, 24);
}

void fake_chat_end(fake_chat *fake)
{
    vd_request_clear(&fake->held);
    vd_chat_free(&fake->chat);
    vd_grid_free(&fake->grid);
}

void fake_chat_size(fake_chat *fake, int width, int height)
{
    vd_grid_resize(&fake->grid, width, height);
    vd_chat_draw(&fake->chat, &fake->grid);
}

vd_rect fake_chat_list(const fake_chat *fake)
{
    const vd_navigation *nav = &fake->chat.nav;
    int i = 0;
    while (i < nav->spot_count && *nav->spots[i].command)
        i++;
    assert_true(i < nav->spot_count);
    return nav->spots[i].at;
}

void fake_chat_key(fake_chat *fake, vd_key key)
{
    vd_chat_key(&fake->chat, key);
    serve(fake);
    vd_chat_draw(&fake->chat, &fake->grid);
}

static void type(fake_chat *fake, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        vd_cluster cluster;
        vd_cluster_next(text + at, length - at, &cluster);
        for (int i = 0; i < cluster.count; i++)
            fake_chat_key(fake, (vd_key){.code = cluster.code[i]});
        at += cluster.bytes;
    }
}

void fake_chat_keys(fake_chat *fake, const char *keys)
{
    while (*keys) {
        if (*keys == ' ') {
            keys++;
            continue;
        }
        if (*keys == '\'') {
            const char *end = strchr(keys + 1, '\'');
            assert_non_null(end);
            type(fake, keys + 1, (size_t)(end - keys - 1));
            keys = end + 1;
            continue;
        }
        char name[32];
        size_t length = strcspn(keys, " ");
        assert_true(length < sizeof name);
        memcpy(name, keys, length);
        name[length] = '\0';
        vd_key key;
        if (!vd_key_parse(name, &key))
            fail_msg("no key is called %s", name);
        fake_chat_key(fake, key);
        keys += length;
    }
}

char *fake_chat_text(fake_chat *fake)
{
    char *text = vd_grid_to_text(&fake->grid);
    assert_non_null(text);
    return text;
}

bool fake_chat_shows(fake_chat *fake, const char *text)
{
    char *screen = fake_chat_text(fake);
    bool found = strstr(screen, text) != NULL;
    if (!found)
        print_message("\"%s\" is not on the screen:\n%s", text, screen);
    vd_free(screen);
    return found;
}
