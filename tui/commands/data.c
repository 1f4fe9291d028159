// visdial data info|pack|vocab FILE: what a file of dialogs holds, packed for training, its words.
#include "tui/commands/command.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/model/model.h"
#include "engine/networks/batch.h"
#include "features/dialogs/dataset.h"
#include "features/dialogs/pack.h"
#include "features/text/tokenize.h"
#include "features/text/vocab_file.h"
#include "tui/measure/corpus.h"

enum { INFO, PACK, VOCAB };

typedef struct request {
    int verb;
    const char *file, *out, *model, *vocab;
    int64_t minimum, top;
    bool force;
} request;

static const vd_option options[] = {
    {"out", "FILE", "pack, vocab: the file to write", VD_INTO(request, out)},
    {"model", "MODEL", "info: list the words that this model does not know",
     VD_INTO(request, model)},
    {"vocab", "FILE",
     "info: list the words that are not in this vocabulary (JSON: a list of words that begins "
     "with <PAD>, <S>, </S>, <UNK>, or {\"word\": count}); pack: use these word counts",
     VD_INTO(request, vocab)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(request, force)},
    {"min-count", "N", VD_HELP_MIN_COUNT, VD_INTO(request, minimum), 1, VD_MOST_COUNT},
    {"top", "N", "info: how many unknown words to list (20)", VD_INTO(request, top), 0, 1000000000},
    {0},
};

static vd_status read_options(request *r, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, r, &given, err);
    if (status == VD_OK)
        status = vd_arguments_verb(&given, "info, pack or vocab", 1, &r->verb, err);
    if (status)
        return status;
    static const char *const others[] = {[INFO] = "out force",
                                         [PACK] = "model min-count top",
                                         [VOCAB] = "model vocab min-count top"};
    static const char *const why[] = {[INFO] = "is for pack and vocab, not info",
                                      [PACK] = "is for info; pack writes all words",
                                      [VOCAB] = "is not for vocab, which counts all words"};
    r->file = given.operand[1];
    status = vd_arguments_refuse(&given, others[r->verb], why[r->verb], err);
    if (status == VD_OK && r->verb != INFO)
        status = vd_arguments_need(&given, "out", err);
    if (status)
        return status;
    if (r->model && r->vocab)
        return vd_error_set(err, VD_USAGE, "--model and --vocab are two vocabularies; give one");
    return vd_output_check(&r->out, 1, (const char *const[]){r->file, r->vocab}, 2, r->force, err);
}

// ---- info: counting -----------------------------------------------------------------------------

typedef struct lengths {
    int64_t texts, words, longest, over;
} lengths;

typedef struct survey {
    const vd_visdial *data;
    vd_vocab *words;      // all that are said
    int64_t *occurrences; // (words) how often
    int64_t rounds, answered;
    int32_t fewest, most, candidates;                        // rounds a dialog; candidates a round
    int64_t questions_asked, answers_given, answers_offered; // different ones
    lengths question, answer, caption;
} survey;

static vd_status add_text(survey *s, const char *text, const char *end, int64_t limit,
                          lengths *length, vd_error *err)
{
    char *whole = g_strconcat(text, end, NULL);
    vd_words words;
    vd_status status = vd_tokenize(whole, &words, err);
    int64_t count = (int64_t)words.count;
    for (size_t i = 0; i < words.count; i++)
        s->occurrences[vd_vocab_id(s->words, words.word[i])]++;
    length->texts++;
    length->words += count;
    length->longest = count > length->longest ? count : length->longest;
    length->over += count > limit;
    vd_words_clear(&words);
    g_free(whole);
    return status;
}

static vd_status add_dialog(survey *s, const vd_visdial_dialog *dialog, unsigned char *asked,
                            unsigned char *used, vd_error *err)
{
    enum { GIVEN = 1, OFFERED = 2 };
    s->rounds += dialog->round_count;
    s->fewest = s->fewest && s->fewest < dialog->round_count ? s->fewest : dialog->round_count;
    s->most = s->most > dialog->round_count ? s->most : dialog->round_count;
    vd_status status = add_text(s, dialog->caption, "", VD_MAX_HISTORY - 1, &s->caption, err);
    for (int32_t r = 0; r < dialog->round_count && status == VD_OK; r++) {
        const vd_visdial_round *round = &dialog->rounds[r];
        s->questions_asked += !asked[round->question];
        asked[round->question] = 1;
        status = add_text(s, s->data->questions[round->question], "?", VD_MAX_QUESTION - 1,
                          &s->question, err);
        for (int32_t i = 0; i < round->option_count; i++) {
            s->answers_offered += !(used[round->options[i]] & OFFERED);
            used[round->options[i]] |= OFFERED;
        }
        s->candidates = round->option_count > 0 ? round->option_count : s->candidates;
        if (round->answer < 0 || status != VD_OK)
            continue;
        s->answered++;
        s->answers_given += !(used[round->answer] & GIVEN);
        used[round->answer] |= GIVEN;
        // <S> is one of the tokens that the network reads.
        status =
            add_text(s, s->data->answers[round->answer], "", VD_CUT_CANDIDATE - 1, &s->answer, err);
    }
    return status;
}

static vd_status count_all(survey *s, vd_error *err)
{
    unsigned char *asked = g_new0(unsigned char, s->data->question_count);
    unsigned char *used = g_new0(unsigned char, s->data->answer_count);
    vd_status status = vd_dataset_own_vocab(s->data, 1, &s->words, err);
    if (status == VD_OK)
        s->occurrences = g_new0(int64_t, vd_vocab_size(s->words));
    for (size_t d = 0; d < s->data->dialog_count && status == VD_OK; d++)
        status = add_dialog(s, &s->data->dialogs[d], asked, used, err);
    g_free(used);
    g_free(asked);
    return status;
}

// ---- info: report -------------------------------------------------------------------------------

static void print_lengths(const char *name, const lengths *length, int64_t different)
{
    char kinds[40] = "", over[60] = "";
    if (different > 0)
        snprintf(kinds, sizeof kinds, "%" PRId64 " different, ", different);
    if (length->over > 0)
        snprintf(over, sizeof over, ", %" PRId64 " longer than the network sees", length->over);
    if (length->texts == 0)
        vd_output_row(name, "none");
    else
        vd_output_row(name, "%s%.1f words each, %" PRId64 " in the longest%s", kinds,
                      (double)length->words / length->texts, length->longest, over);
}

static void print_survey(const survey *s)
{
    const vd_visdial *data = s->data;
    char fewest[24] = "", without[48] = "";
    if (s->fewest != s->most)
        snprintf(fewest, sizeof fewest, "%" PRId32 " to ", s->fewest);
    if (s->answered < s->rounds)
        snprintf(without, sizeof without, ", %" PRId64 " without an answer",
                 s->rounds - s->answered);
    vd_output_row("file", "%s", data->path);
    vd_output_row("version", "%s, split %s", data->version, data->split);
    vd_output_row("dialogs", "%zu", data->dialog_count);
    vd_output_row("rounds", "%" PRId64 ", %s%" PRId32 " a dialog%s", s->rounds, fewest, s->most,
                  without);
    vd_output_row("candidates", "%" PRId32 " a round, %" PRId64 " different", s->candidates,
                  s->answers_offered);
    print_lengths("captions", &s->caption, 0);
    print_lengths("questions", &s->question, s->questions_asked);
    print_lengths("answers", &s->answer, s->answers_given);
    vd_output_row("tables", "%zu questions, %zu answers", data->question_count, data->answer_count);
    vd_output_row("words", "%d different", vd_vocab_size(s->words) - VD_FIRST_WORD);
}

// Words come in falling order of their counts.
static void print_unknown(const survey *s, const vd_vocab *vocab, int64_t top)
{
    int64_t all = 0, unknown = 0, different = 0;
    for (int32_t id = VD_FIRST_WORD; id < vd_vocab_size(s->words); id++) {
        bool known = vd_vocab_id(vocab, vd_vocab_word(s->words, id)) != VD_UNKNOWN;
        all += s->occurrences[id];
        unknown += known ? 0 : s->occurrences[id];
        different += !known;
    }
    vd_output_row("unknown", "%" PRId64 " different, %" PRId64 " of %" PRId64 " words (%.2f %%)",
                  different, unknown, all, all ? 100.0 * (double)unknown / (double)all : 0.0);
    for (int32_t id = VD_FIRST_WORD; id < vd_vocab_size(s->words) && top > 0; id++) {
        const char *word = vd_vocab_word(s->words, id);
        if (vd_vocab_id(vocab, word) != VD_UNKNOWN)
            continue;
        vd_output_row("", "%8" PRId64 "  %s", s->occurrences[id], word);
        top--;
    }
}

// vocab may be NULL; else the `top` most frequent words it lacks are listed.
static vd_status print_info(const vd_visdial *data, const vd_vocab *vocab, int64_t top,
                            vd_error *err)
{
    survey s = {.data = data};
    vd_status status = count_all(&s, err);
    if (status == VD_OK)
        print_survey(&s);
    if (status == VD_OK && vocab)
        print_unknown(&s, vocab, top);
    g_free(s.occurrences);
    vd_vocab_free(s.words);
    return status;
}

static vd_status info(const request *r, vd_error *err)
{
    vd_visdial *data = NULL;
    vd_model *model = NULL;
    vd_vocab *vocab = NULL;
    vd_status status = VD_OK;
    if (r->model)
        status = vd_corpus_model(&(vd_corpus){0}, r->model, &model, err);
    else if (r->vocab)
        status = vd_vocab_read(r->vocab, r->minimum, &vocab, err);
    if (status == VD_OK)
        status = vd_visdial_read(r->file, &data, err);
    if (status == VD_OK)
        status = print_info(data, model ? vd_model_vocab(model) : vocab, r->top, err);
    vd_visdial_free(data);
    vd_vocab_free(vocab);
    vd_model_free(model);
    return status;
}

// ---- pack and vocab -----------------------------------------------------------------------------

static void print_written(const char *path, const char *what, size_t count, double began)
{
    struct stat about = {0};
    // Without --out nothing is written. NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
    double bytes = stat(path, &about) == 0 ? (double)about.st_size : 0;
    printf("%s: %zu %s, %.1f MB, %.1f s\n", path, count, what, bytes / 1e6, vd_seconds() - began);
}

static vd_status pack(const request *r, vd_error *err)
{
    double began = vd_seconds();
    vd_visdial *data = NULL;
    vd_word_counts counts = {0};
    const char *slash = strrchr(r->file, '/');
    vd_status status = r->vocab ? vd_word_counts_read(r->vocab, &counts, err) : VD_OK;
    if (status == VD_OK)
        status = vd_visdial_read(r->file, &data, err);
    if (status == VD_OK)
        status = vd_visdial_pack(data, r->vocab ? &counts : NULL, slash ? slash + 1 : r->file,
                                 r->out, err);
    if (status == VD_OK)
        print_written(r->out, "dialogs", data->dialog_count, began);
    vd_word_counts_clear(&counts);
    vd_visdial_free(data);
    return status;
}

static vd_status vocab(const request *r, vd_error *err)
{
    double began = vd_seconds();
    size_t written = 0;
    vd_visdial *data = NULL;
    vd_word_counts counts = {0};
    vd_status status = vd_visdial_read(r->file, &data, err);
    if (status == VD_OK)
        status = vd_visdial_count_words(data, false, &counts, err);
    if (status == VD_OK)
        status = vd_word_counts_write(&counts, r->out, &written, err);
    if (status == VD_OK)
        print_written(r->out, "words", written, began);
    vd_word_counts_clear(&counts);
    vd_visdial_free(data);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    static vd_status (*const verbs[])(const request *, vd_error *) = {info, pack, vocab};
    request r = {.minimum = VD_MIN_COUNT, .top = 20};
    vd_status status = read_options(&r, argc, argv, err);
    return status ? status : verbs[r.verb](&r, err);
}

const vd_command vd_cmd_data = {
    "data",
    run,
    "describe a dialog file, pack it or count its words",
    "info|pack|vocab FILE [options]",
    "info: print the number of dialogs and rounds, lengths and tables; with --model or --vocab "
    "also the words that these do not know.\n"
    "pack: write the tokens to a file that is mapped into memory and opens at once; all commands "
    "take it in place of the JSON.\n"
    "vocab: write how often each word occurs, as {\"word\": count}.",
    "  visdial data info val.json --model best\n"
    "  visdial data pack visdial_1.0_train.json --out train.packed\n"
    "  visdial data vocab visdial_1.0_train.json --out word_counts.json\n",
    options,
    "info pack vocab"};
