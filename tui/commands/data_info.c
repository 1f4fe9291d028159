// What `visdial data info` prints.
#include "tui/commands/data_info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/networks/batch.h"
#include "features/dialogs/dataset.h"
#include "features/text/tokenize.h"
#include "tui/base/output.h"

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

vd_status vd_data_info(const vd_visdial *data, const vd_vocab *vocab, int64_t top, vd_error *err)
{
    survey s = {.data = data};
    vd_status status = count_all(&s, err);
    if (status == VD_OK)
        print_survey(&s);
    if (status == VD_OK && vocab)
        print_unknown(&s, vocab, top);
    vd_free(s.said);
    vd_vocab_free(s.words);
    return status;
}
