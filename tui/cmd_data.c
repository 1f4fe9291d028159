// visdial data info FILE: what a dialog file holds.
#include "tui/command.h"

#include <inttypes.h>
#include <stdbool.h>

#include "engine/alloc.h"
#include "engine/file.h"
#include "engine/json.h"
#include "engine/model.h"
#include "features/dataset.h"
#include "features/tokenize.h"
#include "tui/output.h"

enum { MODEL, VOCAB, MIN_COUNT, TOP };

const vd_option vd_cmd_data_options[] = {
    {"model", "FILE", "a model; its vocabulary says which words are unknown"},
    {"vocab", "FILE", "a vocabulary (list of words or {\"word\": count})"},
    {"min-count", "N", "words of --vocab counted less often are unknown (5)"},
    {"top", "N", "how many unknown words to list (20)"},
    {0},
};

// ---- vocabulary -------------------------------------------------------------

typedef struct counts_file {
    const char *path;
    vd_word_counts *counts;
    char *word; // of the key just read
    int depth;
    vd_status refused;
    vd_error *err;
} counts_file;

static int refuse(void *context, const char *found)
{
    counts_file *f = context;
    f->refused =
        vd_error_set(f->err, VD_FORMAT, "%s: found %s%.60s; expected one object of \"word\": count",
                     f->path, found, f->word ? f->word : "");
    return 0;
}

static int on_key(void *context, const unsigned char *text, size_t length)
{
    counts_file *f = context;
    vd_free(f->word);
    f->word = vd_strndup((const char *)text, length);
    if (!f->word)
        f->refused = vd_error_memory(f->err, "a word");
    return f->word != NULL;
}

static int on_integer(void *context, long long count)
{
    counts_file *f = context;
    if (!f->word || count < 0)
        return refuse(f, "a number that is no count at ");
    f->refused = vd_word_counts_add(f->counts, f->word, count, f->err);
    return f->refused == VD_OK;
}

static int on_double(void *context, double value)
{
    (void)value;
    return refuse(context, "a fraction at ");
}

static int on_null(void *context)
{
    return refuse(context, "null at ");
}

static int on_boolean(void *context, int value)
{
    (void)value;
    return refuse(context, "true or false at ");
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
    (void)text;
    (void)length;
    return refuse(context, "a string at ");
}

static int on_open(void *context)
{
    counts_file *f = context;
    return f->depth++ == 0 ? 1 : refuse(f, "an object at ");
}

static int on_array(void *context)
{
    return refuse(context, "a list at ");
}

static vd_status counts_to_vocab(const char *path, const char *json, size_t size, int64_t minimum,
                                 vd_vocab **out, vd_error *err)
{
    static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                             .yajl_boolean = on_boolean,
                                             .yajl_integer = on_integer,
                                             .yajl_double = on_double,
                                             .yajl_string = on_string,
                                             .yajl_start_map = on_open,
                                             .yajl_map_key = on_key,
                                             .yajl_start_array = on_array};
    counts_file f = {.path = path, .err = err};
    vd_status status = vd_word_counts_new(&f.counts, err);
    if (status == VD_OK)
        status = vd_json_read(path, json, size, &callbacks, &f, &f.refused, err);
    if (status == VD_OK)
        status = vd_word_counts_vocab(f.counts, minimum, out, err);
    vd_free(f.word);
    vd_word_counts_free(f.counts);
    return status;
}

static vd_status read_vocab(const char *path, int64_t minimum, vd_vocab **out, vd_error *err)
{
    char *json;
    size_t size;
    vd_status status = vd_file_read(path, (size_t)256 << 20, &json, &size, err);
    if (status != VD_OK)
        return status;
    status = json[strspn(json, " \t\r\n")] == '{'
                 ? counts_to_vocab(path, json, size, minimum, out, err)
                 : vd_vocab_from_json(json, size, path, out, err);
    vd_free(json);
    return status;
}

// ---- counting ---------------------------------------------------------------

typedef struct lengths {
    int64_t texts, words, longest, over;
} lengths;

typedef struct survey {
    const vd_visdial *data;
    vd_vocab *words; // all that are said
    int64_t *said;   // (words) how often
    int64_t rounds, answered;
    int32_t fewest, most, candidates;                        // rounds a dialog; candidates a round
    int64_t questions_asked, answers_given, answers_offered; // different ones
    lengths question, answer, caption;
} survey;

static vd_status add_text(survey *s, const char *text, const char *end, int64_t limit,
                          lengths *length, vd_error *err)
{
    size_t size = strlen(text) + strlen(end) + 1;
    char *whole = vd_alloc(size, 1);
    if (!whole)
        return vd_error_memory(err, "a text");
    snprintf(whole, size, "%s%s", text, end);
    vd_words words;
    vd_status status = vd_tokenize(whole, &words, err);
    int64_t count = (int64_t)words.count;
    for (size_t i = 0; i < words.count; i++)
        s->said[vd_vocab_id(s->words, words.word[i])]++;
    length->texts++;
    length->words += count;
    length->longest = count > length->longest ? count : length->longest;
    length->over += count > limit;
    vd_words_clear(&words);
    vd_free(whole);
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
        // <S> and </S> take two of the network's places.
        status =
            add_text(s, s->data->answers[round->answer], "", VD_MAX_CANDIDATE - 3, &s->answer, err);
    }
    return status;
}

static vd_status count_all(survey *s, vd_error *err)
{
    unsigned char *asked = vd_alloc(s->data->question_count, 1);
    unsigned char *used = vd_alloc(s->data->answer_count, 1);
    vd_status status = vd_dataset_vocab(s->data, 1, &s->words, err);
    if (status == VD_OK)
        s->said = vd_alloc((size_t)vd_vocab_size(s->words), sizeof *s->said);
    if (status == VD_OK && (!asked || !used || !s->said))
        status = vd_error_memory(err, "counts");
    for (size_t d = 0; d < s->data->dialog_count && status == VD_OK; d++)
        status = add_dialog(s, &s->data->dialogs[d], asked, used, err);
    vd_free(used);
    vd_free(asked);
    return status;
}

// ---- report -----------------------------------------------------------------

static void print_lengths(const char *name, const lengths *length, int64_t different)
{
    printf("%-12s", name);
    if (length->texts == 0) {
        printf("none\n");
        return;
    }
    if (different > 0)
        printf("%" PRId64 " different, ", different);
    printf("%.1f words each, %" PRId64 " in the longest", (double)length->words / length->texts,
           length->longest);
    if (length->over > 0)
        printf(", %" PRId64 " longer than the network sees", length->over);
    printf("\n");
}

static void print_survey(const survey *s)
{
    const vd_visdial *data = s->data;
    printf("%-12s", "file");
    vd_output_text(stdout, data->path);
    printf("\n%-12s%s, split ", "version", data->version);
    vd_output_text(stdout, data->split);
    printf("\n%-12s%zu\n", "dialogs", data->dialog_count);
    printf("%-12s%" PRId64 ", ", "rounds", s->rounds);
    if (s->fewest == s->most)
        printf("%" PRId32 " a dialog", s->most);
    else
        printf("%" PRId32 " to %" PRId32 " a dialog", s->fewest, s->most);
    if (s->answered < s->rounds)
        printf(", %" PRId64 " without an answer", s->rounds - s->answered);
    printf("\n%-12s%" PRId32 " a round, %" PRId64 " different\n", "candidates", s->candidates,
           s->answers_offered);
    print_lengths("captions", &s->caption, 0);
    print_lengths("questions", &s->question, s->questions_asked);
    print_lengths("answers", &s->answer, s->answers_given);
    printf("%-12s%zu questions, %zu answers\n", "tables", data->question_count, data->answer_count);
    printf("%-12s%d different\n", "words", vd_vocab_size(s->words) - VD_FIRST_WORD);
}

// Words come in falling order of their counts.
static void print_unknown(const survey *s, const vd_vocab *vocab, int64_t top)
{
    int64_t all = 0, unknown = 0, different = 0;
    for (int32_t id = VD_FIRST_WORD; id < vd_vocab_size(s->words); id++) {
        bool known = vd_vocab_id(vocab, vd_vocab_word(s->words, id)) != VD_UNKNOWN;
        all += s->said[id];
        unknown += known ? 0 : s->said[id];
        different += !known;
    }
    printf("%-12s%" PRId64 " different, %" PRId64 " of %" PRId64 " words (%.2f %%)\n", "unknown",
           different, unknown, all, all ? 100.0 * (double)unknown / (double)all : 0.0);
    for (int32_t id = VD_FIRST_WORD; id < vd_vocab_size(s->words) && top > 0; id++) {
        if (vd_vocab_id(vocab, vd_vocab_word(s->words, id)) != VD_UNKNOWN)
            continue;
        printf("%12s%8" PRId64 "  ", "", s->said[id]);
        vd_output_text(stdout, vd_vocab_word(s->words, id));
        printf("\n");
        top--;
    }
}

// ---- the command ------------------------------------------------------------

typedef struct request {
    const char *file, *model, *vocab;
    int64_t minimum, top;
} request;

static vd_status read_options(request *r, int argc, char **argv, vd_error *err)
{
    vd_option_walk walk = {.options = vd_cmd_data_options, .argc = argc, .argv = argv};
    const char *value;
    int option;
    vd_status status = VD_OK;
    while (status == VD_OK && (option = vd_option_next(&walk, &value, err)) != VD_OPTION_END) {
        if (option == VD_OPTION_ERROR)
            return VD_USAGE;
        if (option == MODEL)
            r->model = value;
        else if (option == VOCAB)
            r->vocab = value;
        else
            status = vd_option_int(vd_cmd_data_options[option].name, value, option == TOP ? 0 : 1,
                                   1000000000, option == TOP ? &r->top : &r->minimum, err);
    }
    if (status != VD_OK)
        return status;
    int operands = argc - walk.operands;
    if (operands != 2 || strcmp(argv[walk.operands], "info") != 0)
        return vd_error_set(err, VD_USAGE, "expected: visdial data info FILE; see --help");
    if (r->model && r->vocab)
        return vd_error_set(err, VD_USAGE, "--model and --vocab are two vocabularies; give one");
    r->file = argv[walk.operands + 1];
    return VD_OK;
}

static vd_status info(const request *r, vd_error *err)
{
    vd_visdial *data = NULL;
    vd_model *model = NULL;
    vd_vocab *vocab = NULL;
    survey s = {0};
    vd_status status = VD_OK;
    if (r->model)
        status = vd_model_load(r->model, &model, err);
    else if (r->vocab)
        status = read_vocab(r->vocab, r->minimum, &vocab, err);
    if (status == VD_OK)
        status = vd_visdial_read(r->file, &data, err);
    if (status == VD_OK) {
        s.data = data;
        status = count_all(&s, err);
    }
    if (status == VD_OK) {
        print_survey(&s);
        if (model || vocab)
            print_unknown(&s, model ? vd_model_vocab(model) : vocab, r->top);
    }
    vd_free(s.said);
    vd_vocab_free(s.words);
    vd_visdial_free(data);
    vd_vocab_free(vocab);
    vd_model_free(model);
    return status;
}

int vd_cmd_data(int argc, char **argv)
{
    request r = {.minimum = 5, .top = 20};
    vd_error err = {0};
    vd_status status = read_options(&r, argc, argv, &err);
    if (status == VD_OK)
        status = info(&r, &err);
    return status ? vd_command_fail("data", &err) : 0;
}
