#include "tui/measure/captions.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "assets/blocks/world.h"
#include "engine/base/alloc.h"
#include "tui/measure/corpus.h"
#include "tui/measure/meteor_jar.h"

const vd_caption_metric_name vd_caption_metric_names[VD_CAPTION_METRICS] = {
#define X(id, name, label, scale, digits) {name, label, scale, digits},
    VD_CAPTION_METRIC_LIST(X)
#undef X
};

// ---- sums ---------------------------------------------------------------------------------------

enum { COLUMNS = sizeof(vd_caption_sums) / sizeof(double) };

void vd_caption_sums_add(vd_caption_sums *into, const vd_caption_sums *from)
{
    double *to = (double *)into;
    const double *add = (const double *)from;
    for (size_t i = 0; i < COLUMNS; i++)
        to[i] += add[i];
}

static double ratio(double sum, double count)
{
    return count > 0.0 ? sum / count : NAN;
}

void vd_caption_sums_metrics(const vd_caption_sums *s, double *metric)
{
    vd_bleu_scores(&s->bleu, metric + VD_CAPTION_BLEU_1);
    metric[VD_CAPTION_ROUGE_L] = ratio(s->rouge, s->pictures);
    metric[VD_CAPTION_CIDER_D] = ratio(s->cider, s->pictures);
    metric[VD_CAPTION_METEOR] = NAN;
    metric[VD_CAPTION_METEOR_ES] = vd_meteor_score(&s->meteor);
    metric[VD_CAPTION_LENGTH] = ratio(s->words, s->pictures);
    metric[VD_CAPTION_NOVEL] = ratio(s->novel, s->compared);
    metric[VD_CAPTION_READ] = ratio(s->read, s->judged);
    metric[VD_CAPTION_FAITHFUL] = ratio(s->faithful, s->judged);
    metric[VD_CAPTION_DOUBTFUL] = ratio(s->doubtful, s->judged);
    metric[VD_CAPTION_BITS] = ratio(s->bits, s->judged);
    metric[VD_CAPTION_CHAIR_I] = ratio(s->absent, s->mentions);
    metric[VD_CAPTION_CHAIR_S] = ratio(s->hallucinating, s->judged);
    metric[VD_CAPTION_ATTRIBUTES] = ratio(s->wrong, s->attributes);
}

// ---- the judge ----------------------------------------------------------------------------------

typedef struct picture {
    const vd_captioned *image;
    const vd_tokens *reference; // (image->captions)
    const blocks_scene *scene;  // NULL: none
} picture;

struct vd_caption_judge {
    vd_captions *references;
    vd_caption_tokenizer tokenizer;
    const char *meteor_jar; // NULL: none
    vd_word_counts words;
    vd_string_arena arena; // tokens
    picture *picture;      // (references->count)
    vd_cider cider;
    blocks_scene *scenes;
    size_t scene_count;
    blocks_shares *shares;
    GHashTable *training; // captions of the training data, as tokens with blanks; NULL: none
};

// The tokens of a text with blanks between them (g_free), so that two texts can be compared.
static vd_status comparable(const char *text, char **out, vd_error *err)
{
    vd_words words;
    vd_status status = vd_caption_tokenize(text, VD_CAPTION_COCO, &words, err);
    *out = status ? NULL : g_strjoinv(" ", words.word);
    vd_words_clear(&words);
    return status;
}

static vd_status add_training(GHashTable *training, const vd_captioned *image, vd_error *err)
{
    vd_status status = VD_OK;
    for (int c = 0; c < image->captions && status == VD_OK; c++) {
        char *text;
        status = comparable(image->caption[c].text, &text, err);
        if (status == VD_OK)
            g_hash_table_add(training, text);
    }
    return status;
}

static vd_status read_training(vd_caption_judge *j, const char *path, vd_error *err)
{
    vd_captions *captions;
    vd_status status = vd_captions_read(path, &captions, err);
    if (status == VD_OK)
        status = vd_captions_choose(captions, "train", err);
    j->training = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; status == VD_OK && i < captions->count; i++)
        status = add_training(j->training, &captions->image[i], err);
    vd_captions_free(captions);
    return status;
}

// The number of a picture stands before an error about its text.
static vd_status numbers(vd_caption_judge *j, int64_t image, const char *text, vd_tokens *out,
                         vd_error *err)
{
    vd_error why = {0};
    vd_status status = vd_caption_numbers(&j->words, text, j->tokenizer, &j->arena, out, &why);
    return status ? vd_error_set(err, status, "image %" PRId64 ": %s", image, why.text) : VD_OK;
}

// The words of a reference that are tokens already, numbered as the judge's.
static vd_status take_tokens(vd_caption_judge *j, const vd_tokens *from, vd_tokens *out,
                             vd_error *err)
{
    int32_t *id = vd_string_arena_take(&j->arena, (size_t)from->count + 1, sizeof *id);
    vd_status status = id ? VD_OK : vd_error_memory(err, "references");
    for (int i = 0; i < from->count && status == VD_OK; i++) {
        const char *word = j->references->words.words[from->id[i]].text;
        status = vd_word_counts_add(&j->words, word, 1, err);
        if (status == VD_OK)
            id[i] = vd_word_counts_number(&j->words, word);
    }
    *out = (vd_tokens){id, from->count};
    return status;
}

static vd_status read_reference(vd_caption_judge *j, int64_t image, const vd_caption *caption,
                                vd_tokens *out, vd_error *err)
{
    return j->tokenizer == VD_CAPTION_GIVEN && j->references->tokenised
               ? take_tokens(j, &caption->words, out, err)
               : numbers(j, image, caption->text, out, err);
}

static vd_status add_picture(vd_caption_judge *j, const vd_captioned *image, picture *out,
                             vd_error *err)
{
    size_t count = (size_t)image->captions;
    vd_tokens *list = vd_string_arena_take(&j->arena, count, sizeof *list);
    vd_status status = list ? VD_OK : vd_error_memory(err, "references");
    for (size_t c = 0; c < count && status == VD_OK; c++)
        status = read_reference(j, image->image_id, &image->caption[c], &list[c], err);
    *out = (picture){.image = image, .reference = list};
    return status ? status : vd_cider_add(&j->cider, list, image->captions, err);
}

static vd_status add_pictures(vd_caption_judge *j, vd_error *err)
{
    size_t count = j->references->count;
    vd_status status = VD_OK;
    j->picture = g_new0(picture, count);
    for (size_t i = 0; i < count && status == VD_OK; i++)
        status = add_picture(j, &j->references->image[i], &j->picture[i], err);
    return status;
}

static vd_status add_scenes(vd_caption_judge *j, const char *path, vd_error *err)
{
    vd_status status = blocks_scenes_read(path, &j->scenes, &j->scene_count, err);
    if (status == VD_OK)
        status = blocks_shares_new(j->scenes, j->scene_count, &j->shares, err);
    for (size_t i = 0; i < j->references->count && status == VD_OK; i++) {
        int64_t id = j->picture[i].image->image_id;
        j->picture[i].scene = blocks_scenes_find(j->scenes, j->scene_count, id);
        if (!j->picture[i].scene)
            status = vd_error_set(err, VD_MISMATCH,
                                  "%.300s: no scene of image %" PRId64 ", which %.300s has", path,
                                  id, j->references->path);
    }
    return status;
}

vd_status vd_caption_judge_open(const vd_caption_paths *paths, vd_caption_judge **out,
                                vd_error *err)
{
    vd_caption_judge *j = g_new0(vd_caption_judge, 1);
    *out = NULL;
    j->meteor_jar = paths->meteor_jar;
    j->tokenizer = paths->tokens_given ? VD_CAPTION_GIVEN : VD_CAPTION_COCO;
    vd_status status = vd_captions_read(paths->references, &j->references, err);
    if (status == VD_OK && paths->split)
        status = vd_captions_choose(j->references, paths->split, err);
    if (status == VD_OK && paths->regions)
        status = vd_corpus_match_captions(j->references, paths->regions, paths->missing,
                                          !paths->told, err);
    if (status == VD_OK && paths->limit && paths->limit < j->references->count)
        j->references->count = paths->limit;
    if (status == VD_OK)
        status = add_pictures(j, err);
    if (status == VD_OK && paths->scenes)
        status = add_scenes(j, paths->scenes, err);
    if (status == VD_OK && paths->training)
        status = read_training(j, paths->training, err);
    if (status)
        vd_caption_judge_close(j);
    else
        *out = j;
    return status;
}

void vd_caption_judge_close(vd_caption_judge *j)
{
    if (!j)
        return;
    if (j->training)
        g_hash_table_destroy(j->training);
    blocks_shares_free(j->shares);
    vd_free(j->scenes);
    vd_cider_clear(&j->cider);
    g_free(j->picture);
    vd_word_counts_clear(&j->words);
    vd_string_arena_clear(&j->arena);
    vd_captions_free(j->references);
    g_free(j);
}

const vd_captions *vd_caption_judge_references(const vd_caption_judge *judge)
{
    return judge->references;
}

// ---- measuring ----------------------------------------------------------------------------------

// What one caption is measured by.
typedef struct measuring {
    vd_caption_judge *judge;
    const vd_results *results;
    int32_t *stem;
    vd_tokens *generated; // (pictures)
    GHashTable *seen;
    vd_caption_measure *out;
} measuring;

static void judge_claim(measuring *m, const picture *p, const char *text, vd_caption_sums *sums)
{
    blocks_claim claim;
    sums->judged = 1.0;
    if (!blocks_claim_read(text, &claim))
        return;
    blocks_verdict verdict = blocks_claim_judge(&claim, p->scene);
    blocks_mentions mentions = blocks_claim_mentions(&claim, p->scene);
    sums->read = 1.0;
    sums->faithful = verdict == BLOCKS_TRUE;
    sums->doubtful = verdict == BLOCKS_DOUBTFUL;
    sums->bits = verdict == BLOCKS_TRUE ? blocks_shares_bits(m->judge->shares, &claim) : 0.0;
    sums->mentions = mentions.mentions;
    sums->absent = mentions.absent;
    sums->hallucinating = mentions.absent > 0;
    sums->attributes = mentions.attributes;
    sums->wrong = mentions.wrong;
    m->out->claimed[claim.sort]++;
    m->out->false_claims[claim.sort] += verdict == BLOCKS_FALSE;
}

static vd_status judge_novelty(measuring *m, const char *text, vd_caption_sums *sums, vd_error *err)
{
    char *key;
    vd_status status = comparable(text, &key, err);
    if (status)
        return status;
    sums->compared = m->judge->training != NULL;
    sums->novel = m->judge->training && !g_hash_table_contains(m->judge->training, key);
    g_hash_table_add(m->seen, key);
    return VD_OK;
}

static vd_status measure_picture(measuring *m, size_t i, vd_error *err)
{
    const picture *p = &m->judge->picture[i];
    const char *text = vd_results_find(m->results, p->image->image_id);
    const vd_tokens generated = m->generated[i];
    vd_caption_sums *sums = &m->out->picture[i];
    int references = p->image->captions;
    *sums = (vd_caption_sums){.pictures = 1.0, .words = generated.count};
    vd_bleu_add(&sums->bleu, generated, p->reference, references);
    sums->rouge = vd_rouge_l(generated, p->reference, references);
    sums->cider = vd_cider_score(&m->judge->cider, generated, p->reference, references);
    sums->meteor = vd_meteor_best(generated, p->reference, references, m->stem);
    if (p->scene)
        judge_claim(m, p, text, sums);
    vd_status status = judge_novelty(m, text, sums, err);
    vd_caption_sums_add(&m->out->all, sums);
    return status;
}

static vd_status check_results(const measuring *m, vd_error *err)
{
    const vd_captions *references = m->judge->references;
    size_t without = 0;
    int64_t first = 0;
    for (size_t i = 0; i < references->count; i++)
        if (!vd_results_find(m->results, references->image[i].image_id) && !without++)
            first = references->image[i].image_id;
    if (without)
        return vd_error_set(err, VD_MISMATCH,
                            "%.300s: %zu of the %zu pictures of %.300s have no caption here, the "
                            "first is image %" PRId64,
                            m->results->path, without, references->count, references->path, first);
    if (m->results->count == references->count)
        return VD_OK;
    for (size_t i = 0; i < m->results->count; i++) {
        first = m->results->list[i].image_id;
        if (!vd_captions_find(references, first))
            break;
    }
    return vd_error_set(err, VD_MISMATCH,
                        "%.300s: image %" PRId64 " is not among the %zu pictures of %.300s; is it "
                        "of another split?",
                        m->results->path, first, references->count, references->path);
}

static vd_status tokenize_results(measuring *m, vd_error *err)
{
    size_t count = m->judge->references->count;
    vd_status status = VD_OK;
    m->generated = g_new0(vd_tokens, count);
    m->out->picture = g_new0(vd_caption_sums, count);
    for (size_t i = 0; i < count && status == VD_OK; i++) {
        int64_t id = m->judge->picture[i].image->image_id;
        status = numbers(m->judge, id, vd_results_find(m->results, id), &m->generated[i], err);
    }
    return status ? status : vd_caption_stems(&m->judge->words, &m->stem, err);
}

// Tokens with blanks between them; none has METEOR's own mark in it.
static const char *joined(measuring *m, vd_tokens tokens, GStringChunk *kept)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < tokens.count; i++) {
        const char *word = m->judge->words.words[tokens.id[i]].text;
        if (!strstr(word, "|||"))
            g_string_append_printf(text, "%s%s", text->len ? " " : "", word);
    }
    const char *out = g_string_chunk_insert(kept, text->str);
    g_string_free(text, TRUE);
    return out;
}

static vd_status measure_meteor(measuring *m, vd_error *err)
{
    size_t count = m->out->pictures, references = 0;
    for (size_t i = 0; i < count; i++)
        references += (size_t)m->judge->picture[i].image->captions;
    GStringChunk *texts = g_string_chunk_new(4096);
    vd_meteor_pair *pair = g_new(vd_meteor_pair, count);
    const char **all = g_new(const char *, references), **next = all;
    for (size_t i = 0; i < count; i++) {
        const picture *p = &m->judge->picture[i];
        pair[i] = (vd_meteor_pair){joined(m, m->generated[i], texts), p->image->captions, next};
        for (int c = 0; c < p->image->captions; c++)
            *next++ = joined(m, p->reference[c], texts);
    }
    vd_status status = vd_meteor_jar_run(m->judge->meteor_jar, pair, count,
                                         &m->out->metric[VD_CAPTION_METEOR], err);
    g_free(all);
    g_free(pair);
    g_string_chunk_free(texts);
    return status;
}

vd_status vd_caption_measure_run(vd_caption_judge *judge, const vd_results *results,
                                 vd_caption_measure *out, vd_error *err)
{
    *out = (vd_caption_measure){.pictures = judge->references->count};
    measuring m = {.judge = judge, .results = results, .out = out};
    vd_error why = {0};
    vd_status status = check_results(&m, err);
    if (status)
        return status;
    m.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    status = tokenize_results(&m, &why);
    for (size_t i = 0; i < out->pictures && status == VD_OK; i++)
        status = measure_picture(&m, i, &why);
    if (status)
        vd_error_set(err, status, "%.300s: %s", results->path, why.text);
    out->distinct = g_hash_table_size(m.seen);
    vd_caption_sums_metrics(&out->all, out->metric);
    if (status == VD_OK && judge->meteor_jar)
        status = measure_meteor(&m, err);
    g_hash_table_destroy(m.seen);
    vd_free(m.stem);
    g_free(m.generated);
    if (status)
        vd_caption_measure_clear(out);
    return status;
}

void vd_caption_measure_clear(vd_caption_measure *measure)
{
    g_free(measure->picture);
    *measure = (vd_caption_measure){0};
}

// ---- intervals ----------------------------------------------------------------------------------

static void derive(const double *sum, double *metric)
{
    vd_caption_sums sums;
    memcpy(&sums, sum, sizeof sums);
    vd_caption_sums_metrics(&sums, metric);
}

static vd_sample sample_of(const vd_caption_measure *measure)
{
    return (vd_sample){.dialogs = measure->pictures,
                       .metrics = VD_CAPTION_METRICS,
                       .columns = COLUMNS,
                       .sum = (double *)measure->picture,
                       .derive = derive};
}

vd_status vd_caption_intervals(const vd_caption_measure *measure, const vd_caption_measure *other,
                               const vd_bootstrap_options *options, vd_interval *out, vd_error *err)
{
    vd_sample one = sample_of(measure);
    if (!other)
        return vd_bootstrap(&one, 1, options, out, err);
    vd_sample two = sample_of(other);
    return vd_bootstrap_paired(&two, 1, &one, 1, options, out, err);
}
