#include "tui/session/session.h"

#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "features/text/tokenize.h"
#include "engine/backend/open.h"
#include "tui/session/own_pictures.h"
#include "tui/session/remark.h"
#include "tui/session/spelling.h"

void vd_reply_clear(vd_reply *reply)
{
    if (!reply)
        return;
    for (int i = 0; i < reply->words; i++)
        g_free(reply->word[i]);
    g_free(reply->typed);
    g_free(reply->question);
    g_free(reply->remark);
    g_free(reply->given);
    g_free(reply->generated);
    vd_answer_clear(&reply->answer);
    memset(reply, 0, sizeof *reply);
}

vd_status vd_reply_copy(const vd_reply *from, vd_reply *to, vd_error *err)
{
    *to = *from;
    to->typed = g_strdup(from->typed);
    to->question = g_strdup(from->question);
    to->remark = g_strdup(from->remark);
    to->given = g_strdup(from->given);
    to->generated = g_strdup(from->generated);
    for (int i = 0; i < to->words; i++)
        to->word[i] = g_strdup(from->word[i]);
    vd_status status = vd_answer_copy(&from->answer, &to->answer, err);
    if (status)
        vd_reply_clear(to);
    return status;
}

// ---- loading ------------------------------------------------------------------------------------

// The pool's file that a model names: beside the model, else in the world's directory. *out is NULL
// when the model names none or the world's own pool.
static vd_status own_pool_path(const vd_session *session, char **out, vd_error *err)
{
    *out = NULL;
    const char *name = vd_model_metadata(session->model, "pool");
    const char *model = vd_model_path(session->model);
    if (!name || !*name)
        return VD_OK;
    if (strchr(name, '/'))
        return vd_error_set(err, VD_FORMAT,
                            "%.300s: names the pool '%.100s'; expected a file name without '/'",
                            model, name);
    const char *slash = strrchr(model, '/');
    int directory = slash ? (int)(slash - model) + 1 : 0;
    const char *asset_directory = session->world->directory;
    // The pool of a world that is made of files has only what people answered there.
    bool in_world = !session->world->files && (size_t)directory == strlen(asset_directory) + 1 &&
                    strncmp(model, asset_directory, strlen(asset_directory)) == 0;
    bool usual = strcmp(name, "pool.txt") == 0;
    if (in_world && usual)
        return VD_OK;
    *out = g_strdup_printf("%.*s%s", directory, model, name);
    if (access(*out, F_OK) == 0)
        return VD_OK;
    g_free(*out);
    *out = usual ? NULL : g_strdup_printf("%s/%s", asset_directory, name);
    return VD_OK;
}

char *vd_session_vectors_path(const vd_model *model)
{
    static const char suffix[] = ".safetensors";
    const char *path = vd_model_path(model);
    size_t cut = g_str_has_suffix(path, suffix) ? strlen(suffix) : 0;
    return g_strdup_printf("%.*s.vectors%s", (int)(strlen(path) - cut), path, suffix);
}

const int32_t *vd_session_fold(vd_session *session)
{
    const vd_answer_pool *answers = session->answers;
    if (!session->group)
        session->group = vd_fold_answers((const char *const *)answers->answer, answers->count);
    return session->group;
}

static vd_status load_pool(vd_session *session, vd_error *err)
{
    char *path;
    vd_status status = own_pool_path(session, &path, err);
    if (status)
        return status;
    session->answers = path ? &session->own : &session->world->pool;
    if (path)
        status = vd_answer_pool_read(path, &session->own, err);
    session->pool_path = path ? path : g_strdup(session->world->pool_path);
    if (status)
        return status;
    if (session->answers->count == 0 || session->answers->count > INT32_MAX / VD_MAX_CANDIDATE)
        return vd_error_set(err, VD_FORMAT,
                            "%.300s: its pool holds %zu answers; expected at least one",
                            vd_model_path(session->model), session->answers->count);
    return vd_answer_pool_tokens(session->answers, vd_model_vocab(session->model), &session->tokens,
                                 &session->lengths, err);
}

static vd_status encode_pool(vd_session *session, vd_error *err)
{
    vd_decoders by;
    vd_status status = vd_decoder_of(session->model, &session->world->decoder, &by, err);
    if (status)
        return status;
    char *vectors = vd_session_vectors_path(session->model);
    vd_pool_free(session->pool); // of a backend that had no room for what follows
    session->pool = NULL;
    status = vd_pool_open(session->model, session->tokens, session->lengths,
                          (int)session->answers->count, VD_MAX_CANDIDATE, vectors, NULL,
                          &session->pool, err);
    if (status == VD_OK && session->world->decoder.made)
        status = vd_pool_score_by(session->pool, by, session->tokens, session->lengths,
                                  VD_MAX_CANDIDATE, err);
    g_free(vectors);
    return status;
}

// The model's weights and the pool's vectors go to the world's backend, or stay on the CPU when
// that has no room for them.
static vd_status start_computing(vd_session *session, vd_error *err)
{
    const vd_backend *backend = session->world->backend;
    vd_status status = load_pool(session, err);
    if (status)
        return status;
    if (!backend || backend == vd_model_backend(session->model))
        return encode_pool(session, err);
    vd_error *why = &session->fallback;
    if (vd_model_use(session->model, backend, why) == VD_OK && encode_pool(session, why) == VD_OK)
        return VD_OK;
    if (why->status == VD_INTERRUPTED || why->status == VD_USAGE)
        return vd_error_set(err, why->status, "%s", why->text);
    status = vd_model_use(session->model, vd_backend_cpu(), err);
    return status ? status : encode_pool(session, err);
}

static vd_status load(vd_session *session, const char *path, vd_error *err)
{
    const vd_world *world = session->world;
    vd_status status = vd_model_load(path, &session->model, err);
    if (status)
        return status;
    bool own = world->own && world->own->count > 0; // pictures, with any regions
    int expected = vd_model_config(session->model)->region;
    if (!own && world->regions->size != expected)
        return vd_regions_mismatch(world->regions, path, expected,
                                   "choose the model that was trained on these features", err);
    session->words.vocab = vd_model_vocab(session->model);
    return start_computing(session, err);
}

vd_status vd_session_new(vd_world *world, const char *model, vd_session **out, vd_error *err)
{
    *out = NULL;
    vd_error why = {0};
    char *path = vd_world_model_path(world->directory, model, &why);
    if (!path)
        return vd_error_set(err, why.status, "%s", why.text);
    vd_session *session = g_new0(vd_session, 1);
    session->world = world;
    vd_status status = load(session, path, err);
    g_free(path);
    if (status)
        vd_session_free(session);
    else
        *out = session;
    return status;
}

vd_status vd_session_settle(vd_session *session, vd_error *err)
{
    session->settled = true;
    return vd_model_pack(session->model, err);
}

void vd_turns_free(vd_turn *turns, int count)
{
    for (int i = 0; i < count && turns; i++) {
        g_free(turns[i].question);
        g_free(turns[i].answer);
    }
    g_free(turns);
}

// Removes all but the first `keep` turns; the caller shortens the dialog.
static void forget_turns(vd_session *session, int keep)
{
    while (session->turns > keep) {
        vd_turn *last = &session->turn[--session->turns];
        g_free(last->question);
        g_free(last->answer);
    }
}

void vd_session_free(vd_session *session)
{
    if (!session)
        return;
    vd_turns_free(session->turn, session->turns);
    vd_picture_regions_clear(&session->regions);
    vd_dialog_free(session->dialog);
    vd_pool_free(session->pool);
    g_free(session->group);
    vd_free(session->lengths);
    vd_free(session->tokens);
    vd_answer_pool_clear(&session->own);
    g_free(session->pool_path);
    vd_word_counts_clear(&session->words.more);
    vd_model_free(session->model);
    g_free(session);
}

const char *vd_session_fallback(const vd_session *session)
{
    return session->fallback.status ? session->fallback.text : NULL;
}

// After the device failed: moves model, pool and conversation to the CPU.
static vd_status fall_back(vd_session *session, const vd_error *why, vd_error *err)
{
    bool chosen = session->dialog;
    vd_turn *turn = session->turn;
    int turns = session->turns;
    session->fallback = *why;
    vd_dialog_free(session->dialog);
    vd_pool_free(session->pool);
    session->dialog = NULL;
    session->pool = NULL;
    session->turn = NULL;
    session->turns = 0;
    vd_status status = vd_model_use(session->model, vd_backend_cpu(), err);
    if (status == VD_OK)
        status = encode_pool(session, err);
    if (status == VD_OK && session->settled)
        status = vd_session_settle(session, err);
    if (status == VD_OK && chosen)
        status = vd_session_picture(session, session->index, err);
    if (status == VD_OK && chosen)
        status = vd_session_continue(session, turn, turns, NULL, err);
    vd_turns_free(turn, turns);
    return status;
}

// Called after a call of the engine with its status and its error in *why. True: the device failed,
// the session now computes on the CPU, call again. Else *status and err are the result.
static bool is_retried(vd_session *session, vd_status *status, const vd_error *why, vd_error *err)
{
    if (*status == VD_OK)
        return false;
    if (!vd_backend_gave_up(vd_model_backend(session->model), *status)) {
        vd_error_set(err, *status, "%s", why->text);
        return false;
    }
    *status = fall_back(session, why, err);
    return *status == VD_OK;
}

vd_status vd_fingerprint_file(const char *path, vd_fingerprint *out, vd_error *err)
{
    unsigned char part[65536];
    size_t size, got = sizeof part;
    int file;
    *out = (vd_fingerprint){0};
    vd_status status = vd_file_open(path, &file, &size, err);
    if (status)
        return status;
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (uint64_t at = 0; !status && got == sizeof part; at += got) {
        status = vd_file_read_at(file, path, part, sizeof part, at, &got, err);
        g_checksum_update(sum, part, (gssize)got);
    }
    if (!status)
        g_strlcpy(out->text, g_checksum_get_string(sum), sizeof out->text);
    g_checksum_free(sum);
    close(file);
    return status;
}

vd_status vd_session_fingerprints(const vd_session *session, vd_fingerprint *model,
                                  vd_fingerprint *pool, vd_error *err)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (size_t i = 0; i < session->answers->count; i++) { // each with its NUL
        const char *text = session->answers->answer[i];
        g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
    }
    g_strlcpy(pool->text, g_checksum_get_string(sum), sizeof pool->text);
    g_checksum_free(sum);
    return vd_fingerprint_file(vd_model_path(session->model), model, err);
}

// ---- picture ------------------------------------------------------------------------------------

// When the device fails, the conversation is cleared before the CPU continues with the new picture.
static vd_status new_dialog(vd_session *session, const vd_picture_regions *regions,
                            const int32_t *caption, int length, vd_dialog **out, vd_error *err)
{
    vd_status status;
    vd_error why = {0};
    do {
        status = vd_dialog_new(session->model, session->pool, regions->features, regions->count,
                               caption, length, out, &why);
        if (vd_backend_gave_up(vd_model_backend(session->model), status)) {
            forget_turns(session, 0);
            vd_dialog_free(session->dialog);
            session->dialog = NULL;
        }
    } while (is_retried(session, &status, &why, err));
    return status;
}

static vd_status check_size(const vd_session *session, size_t index, int found, vd_error *err)
{
    char name[128];
    int expected = vd_model_config(session->model)->region;
    vd_world_name(session->world, index, name, sizeof name);
    return expected == found
               ? VD_OK
               : vd_error_set(err, VD_MISMATCH,
                              "%.200s expects regions of %d numbers, picture %s has %d; choose a "
                              "model that was trained on such features, or put others beside the "
                              "picture",
                              vd_model_path(session->model), expected, name, found);
}

vd_status vd_session_picture(vd_session *session, size_t index, vd_error *err)
{
    const vd_world *world = session->world;
    if (index >= vd_world_count(world))
        return vd_error_set(err, VD_NOT_FOUND, "there is no picture number %zu; %.300s has %zu",
                            index + 1, world->directory, vd_world_count(world));
    vd_picture_regions regions;
    vd_dialog *dialog = NULL;
    int32_t caption[VD_MAX_HISTORY];
    int length = 0;
    vd_status status = vd_world_regions(world, index, &regions, err);
    const char *text = vd_world_caption(world, index); // known with the regions
    if (status == VD_OK)
        status = check_size(session, index, regions.size, err);
    if (status == VD_OK)
        status = vd_caption_ids(session->model, &session->words, text, caption, &length, err);
    if (status == VD_OK)
        status = new_dialog(session, &regions, caption, length, &dialog, err);
    if (status == VD_OK) {
        forget_turns(session, 0);
        vd_dialog_free(session->dialog);
        vd_picture_regions_clear(&session->regions);
        session->dialog = dialog;
        session->regions = regions;
        session->index = index;
        session->caption = text;
        vd_picture_regions_forget_features(&session->regions);
        return VD_OK;
    }
    vd_picture_regions_clear(&regions);
    return status;
}

vd_status vd_session_open(const vd_world_files *files, const char *image, const char *model,
                          vd_world **world, vd_session **out, vd_error *err)
{
    size_t index;
    vd_session *session = NULL;
    vd_status status = vd_world_open_files(files, world, err);
    if (status == VD_OK)
        status = vd_world_named(*world, image, &index, err);
    if (status == VD_OK && !model)
        model = vd_world_next_model(*world, NULL, NULL);
    if (status == VD_OK)
        status = vd_session_new(*world, model, &session, err);
    if (session)
        status = vd_session_picture(session, index, err);
    *out = session;
    return status;
}

bool vd_session_has_picture(const vd_session *session, size_t index)
{
    return session->dialog && session->index == index &&
           session->caption == vd_world_caption(session->world, index);
}

// ---- conversation -------------------------------------------------------------------------------

// The tokens as the model saw them, and which of them its vocabulary lacks.
static vd_status see_words(const vd_vocab *vocab, vd_reply *reply, vd_error *err)
{
    char *text = g_strdup_printf("%s?", reply->question);
    vd_words words = {0};
    vd_status status = vd_tokenize(text, &words, err);
    g_free(text);
    for (int i = 0; i < reply->words && status == VD_OK; i++) {
        const char *word = (size_t)i < words.count ? words.word[i] : "";
        reply->unknown[i] = vd_vocab_id(vocab, word) == VD_UNKNOWN;
        reply->word[i] = g_strdup(word);
    }
    vd_words_clear(&words);
    return status;
}

vd_status vd_reply_see(vd_reply *reply, const vd_vocab *vocab, vd_error *err)
{
    int found = 0;
    vd_status status = vd_text_ids(vocab, reply->question, true, VD_MAX_QUESTION - 1, reply->ids,
                                   &reply->words, &found, err);
    if (status)
        return status;
    reply->cut = found > reply->words ? found - reply->words - 1 : 0; // the "?" is no word
    return see_words(vocab, reply, err);
}

static vd_status remark(const vd_session *session, vd_reply *reply, vd_error *err)
{
    char text[1024];
    vd_status status = vd_question_remark(reply, vd_model_vocab(session->model), session->world,
                                          session->index, text, sizeof text, err);
    if (status == VD_OK)
        reply->remark = g_strdup(text);
    return status;
}

static vd_status ask(vd_session *session, const char *typed, const atomic_int *stop,
                     vd_reply *reply, vd_error *err)
{
    const vd_vocab *vocab = vd_model_vocab(session->model);
    vd_status status = vd_read_typed(vocab, typed, &reply->question, err);
    if (status)
        return status;
    if (!*reply->question)
        return vd_error_set(err, VD_USAGE, "the question has no words");
    reply->typed = g_strdup(typed);
    status = vd_reply_see(reply, vocab, err);
    if (status == VD_OK)
        status = vd_reply_number(reply, session->model, &session->words, err);
    reply->ranked = (vd_decoder_choice){true, vd_pool_decoders(session->pool)};
    if (status == VD_OK)
        status = remark(session, reply, err);
    return status ? status
                  : vd_session_ask_if(session, reply->ids, reply->words, NULL, stop, &reply->answer,
                                      NULL, err);
}

vd_status vd_session_given(vd_session *session, vd_reply *reply, vd_error *err)
{
    vd_generated_answer given = reply->answer.given;
    int32_t ids[VD_MAX_CANDIDATE];
    int length = 0;
    vd_status status = VD_OK;
    if (vd_has_generative(vd_pool_decoders(session->pool))) // it is the pool's best
        status =
            vd_answer_oov_ids(&session->words, session->answers->answer[reply->answer.order[0]],
                              VD_MAX_CANDIDATE, ids, &length, err);
    for (int i = 0; i < given.length && i + 1 < length; i++)
        if (given.word[i] == VD_UNKNOWN)
            given.word[i] = ids[i + 1];
    if (status == VD_OK)
        reply->given = vd_generated_answer_text(&session->words, &given);
    return status;
}

vd_status vd_session_ask(vd_session *session, const char *typed, const atomic_int *stop,
                         vd_reply *reply, vd_error *err)
{
    memset(reply, 0, sizeof *reply);
    if (!session->dialog)
        return vd_error_set(err, VD_USAGE, "no picture has been chosen to ask about");
    vd_status status = ask(session, typed, stop, reply, err);
    if (status == VD_OK && vd_attends(vd_model_config(session->model)))
        status = vd_session_given(session, reply, err);
    if (status == VD_OK && reply->answer.generated.count > 0)
        reply->generated = vd_generated_answer_text(&session->words, reply->answer.generated.beam);
    if (status)
        vd_reply_clear(reply);
    return status;
}

vd_status vd_session_ask_if(vd_session *session, const int32_t *ids, int words,
                            const vd_intervention *what_if, const atomic_int *stop, vd_answer *out,
                            vd_trace *trace, vd_error *err)
{
    if (!session->dialog)
        return vd_error_set(err, VD_USAGE, "no picture has been chosen to ask about");
    vd_error why = {0};
    vd_status status;
    do
        status = vd_dialog_ask_if(session->dialog, ids, words, what_if, stop, out, trace, &why);
    while (is_retried(session, &status, &why, err));
    return status;
}

static vd_status append_entry(vd_session *session, const int32_t *entry, int length, vd_error *err)
{
    vd_error why = {0};
    vd_status status;
    do
        status = vd_dialog_append(session->dialog, entry, length, &why);
    while (is_retried(session, &status, &why, err));
    return status;
}

// Encodes a turn and keeps a copy of it.
static vd_status append(vd_session *session, const vd_turn *turn, vd_error *err)
{
    int32_t entry[VD_MAX_HISTORY];
    int length = 0;
    char *question = NULL;
    vd_status status =
        vd_read_typed(vd_model_vocab(session->model), turn->question, &question, err);
    if (status == VD_OK)
        status = vd_turn_ids(session->model, &session->words, question, turn->answer, entry,
                             &length, err);
    if (status == VD_OK)
        status = append_entry(session, entry, length, err);
    g_free(question);
    if (status)
        return status;
    session->turn = g_renew(vd_turn, session->turn, session->turns + 1);
    session->turn[session->turns++] = (vd_turn){g_strdup(turn->question), g_strdup(turn->answer)};
    return VD_OK;
}

vd_status vd_session_accept(vd_session *session, vd_reply *reply, int chosen, vd_error *err)
{
    if (chosen < 0 || (size_t)chosen >= session->answers->count)
        return vd_error_set(err, VD_USAGE, "there is no answer %d in the pool of %zu", chosen,
                            session->answers->count);
    vd_turn turn = {reply->typed, session->answers->answer[chosen]};
    vd_status status = append(session, &turn, err);
    if (status == VD_OK)
        vd_reply_clear(reply);
    return status;
}

vd_status vd_session_continue(vd_session *session, const vd_turn *turns, int count,
                              const atomic_int *stop, vd_error *err)
{
    if (!session->dialog)
        return vd_error_set(err, VD_USAGE, "no picture has been chosen to ask about");
    int same = 0;
    while (same < count && same < session->turns &&
           strcmp(session->turn[same].question, turns[same].question) == 0 &&
           strcmp(session->turn[same].answer, turns[same].answer) == 0)
        same++;
    forget_turns(session, same);
    vd_dialog_truncate(session->dialog, same + 1);
    for (int i = same; i < count; i++) {
        if (stop && atomic_load(stop))
            return vd_error_set(err, VD_INTERRUPTED, "stopped after %d of %d turns", i, count);
        vd_status status = append(session, &turns[i], err);
        if (status)
            return status;
    }
    return VD_OK;
}

const char *const *vd_session_texts(const vd_session *session)
{
    return (const char *const *)session->answers->answer;
}
