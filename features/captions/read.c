// Reading captions; the layouts are in captions.h.
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/json_stream.h"
#include "features/captions/captions.h"
#include "features/dialogs/visdial.h"
#include "features/pictures/photos.h"

// ---- the form of the file -----------------------------------------------------------------------

// Places, then values.
enum { ROOT = 1, IMAGES, ANNOTATIONS, DATA, IMAGE, SENTENCES, SENTENCE, TOKENS, ANNOTATION };
enum { COCO_ID = ANNOTATION + 1, IMAGE_NUMBER, ID, SPLIT, RAW, TOKEN, OF_IMAGE, CAPTION };

static const vd_json_rule rules[] = {
    {0, NULL, VD_JSON_OBJECT, ROOT, true},
    {ROOT, "images", VD_JSON_ARRAY, IMAGES, false},
    {ROOT, "annotations", VD_JSON_ARRAY, ANNOTATIONS, false},
    {ROOT, "data", VD_JSON_OBJECT, DATA, false},
    {IMAGES, NULL, VD_JSON_OBJECT, IMAGE, false},
    {IMAGE, "cocoid", VD_JSON_INTEGER, COCO_ID, false},
    {IMAGE, "imgid", VD_JSON_INTEGER, IMAGE_NUMBER, false},
    {IMAGE, "id", VD_JSON_INTEGER, ID, false},
    {IMAGE, "split", VD_JSON_STRING, SPLIT, false},
    {IMAGE, "sentences", VD_JSON_ARRAY, SENTENCES, false},
    {SENTENCES, NULL, VD_JSON_OBJECT, SENTENCE, false},
    {SENTENCE, "tokens", VD_JSON_ARRAY, TOKENS, true},
    {SENTENCE, "raw", VD_JSON_STRING, RAW, false},
    {TOKENS, NULL, VD_JSON_STRING, TOKEN, false},
    {ANNOTATIONS, NULL, VD_JSON_OBJECT, ANNOTATION, false},
    {ANNOTATION, "image_id", VD_JSON_INTEGER, OF_IMAGE, true},
    {ANNOTATION, "caption", VD_JSON_STRING, CAPTION, true},
};

typedef struct annotation {
    vd_image_at of; // and its index in the file, from 0 on
    vd_caption caption;
} annotation;

typedef struct loading {
    vd_captions *captions;
    size_t image_room;
    bool karpathy, coco, visdial; // what was met

    bool in_image, in_sentence, in_annotation, has_sentences;
    int64_t coco_id, number, id; // of the image; -1: not given
    const char *split;
    vd_caption *sentence; // (sentence_room) of the image
    size_t sentences, sentence_room;
    const char *raw;
    int32_t token[VD_CAPTION_MOST]; // of the sentence
    int tokens;

    annotation now, *annotation;
    size_t annotations, annotation_room;
} loading;

static int64_t image_id(const loading *l)
{
    return l->coco_id >= 0 ? l->coco_id : l->number >= 0 ? l->number : l->id;
}

static void where(const void *context, char *text, size_t size)
{
    const loading *l = context;
    if (l->in_annotation) {
        snprintf(text, size, "annotation %zu", l->annotations + 1);
        return;
    }
    if (!l->in_image)
        return;
    if (image_id(l) >= 0)
        snprintf(text, size, "image %" PRId64, image_id(l));
    else
        snprintf(text, size, "image number %zu", l->captions->count + 1);
    if (l->in_sentence)
        vd_append(text, size, ", sentence %zu", l->sentences + 1);
}

// ---- values -------------------------------------------------------------------------------------

static vd_status keep_text(loading *l, vd_json_reader *reader, const vd_json_scalar *value,
                           const char **out)
{
    *out = vd_string_arena_text(&l->captions->arena, value->text, value->length);
    return *out ? VD_OK : vd_json_no_memory(reader);
}

// A call about words failed: its text becomes the reader's.
static vd_status pass_on(vd_json_reader *reader, vd_status status, const vd_error *why)
{
    return status ? vd_json_refuse(reader, status, "%s", why->text) : VD_OK;
}

static vd_status add_token(loading *l, vd_json_reader *reader, const vd_json_scalar *value)
{
    char word[256];
    vd_error why = {0};
    if (value->length == 0 || value->length >= sizeof word)
        return vd_json_refuse(reader, VD_FORMAT, "a token of %zu bytes; expected 1 to %zu",
                              value->length, sizeof word - 1);
    if (l->tokens == VD_CAPTION_MOST)
        return vd_json_refuse(reader, VD_FORMAT, "more than %d tokens in a sentence",
                              VD_CAPTION_MOST);
    memcpy(word, value->text, value->length);
    word[value->length] = 0;
    vd_status status = vd_word_counts_add(&l->captions->words, word, 1, &why);
    if (status == VD_OK)
        l->token[l->tokens++] = vd_word_counts_number(&l->captions->words, word);
    return pass_on(reader, status, &why);
}

static vd_status read_caption(loading *l, const char *text, vd_caption *out, vd_error *err)
{
    *out = (vd_caption){.text = text};
    return vd_caption_numbers(&l->captions->words, text, VD_CAPTION_WORDS, &l->captions->arena,
                              &out->words, err);
}

static vd_status set_caption(loading *l, vd_json_reader *reader, const vd_json_scalar *value)
{
    vd_error why = {0};
    const char *text;
    vd_status status = keep_text(l, reader, value, &text);
    if (status)
        return status;
    return pass_on(reader, read_caption(l, text, &l->now.caption, &why), &why);
}

static vd_status on_value(void *context, vd_json_reader *reader, int id,
                          const vd_json_scalar *value)
{
    loading *l = context;
    switch (id) {
    case COCO_ID:
        return vd_json_whole(reader, "cocoid", value, INT64_MAX, &l->coco_id);
    case IMAGE_NUMBER:
        return vd_json_whole(reader, "imgid", value, INT64_MAX, &l->number);
    case ID:
        return vd_json_whole(reader, "id", value, INT64_MAX, &l->id);
    case SPLIT:
        return keep_text(l, reader, value, &l->split);
    case RAW:
        return keep_text(l, reader, value, &l->raw);
    case TOKEN:
        return add_token(l, reader, value);
    case OF_IMAGE:
        return vd_json_whole(reader, "image_id", value, INT64_MAX, &l->now.of.image_id);
    default: // CAPTION
        return set_caption(l, reader, value);
    }
}

// ---- containers ---------------------------------------------------------------------------------

static vd_status on_open(void *context, vd_json_reader *reader, int container)
{
    loading *l = context;
    l->coco |= container == ANNOTATIONS;
    if (container == IMAGE) {
        l->coco_id = l->number = l->id = -1;
        l->split = NULL;
        l->sentences = 0;
        l->has_sentences = false;
        l->in_image = true;
    } else if (container == SENTENCES) {
        l->has_sentences = l->karpathy = true;
    } else if (container == SENTENCE) {
        l->raw = NULL;
        l->tokens = 0;
        l->in_sentence = true;
    } else if (container == ANNOTATION) {
        l->now = (annotation){.of.at = l->annotations};
        l->in_annotation = true;
    } else if (container == DATA) {
        l->visdial = true; // read by who knows it
        return vd_json_refuse(reader, VD_MISMATCH, "VisDial dialogs");
    }
    return VD_OK;
}

// The tokens as a text.
static const char *joined(loading *l)
{
    const char *word[VD_CAPTION_MOST];
    for (int i = 0; i < l->tokens; i++)
        word[i] = l->captions->words.words[l->token[i]].text;
    char *text = vd_caption_text(word, l->tokens);
    const char *kept = vd_string_arena_text(&l->captions->arena, text, strlen(text));
    g_free(text);
    return kept;
}

static vd_status end_sentence(loading *l, vd_json_reader *reader)
{
    size_t size = (size_t)l->tokens * sizeof *l->token;
    int32_t *id = vd_string_arena_take(&l->captions->arena, (size_t)l->tokens + 1, sizeof *id);
    const char *text = l->raw ? l->raw : joined(l);
    if (!id || !text ||
        !vd_make_room(&l->sentence, &l->sentence_room, l->sentences + 1, sizeof *l->sentence))
        return vd_json_no_memory(reader);
    memcpy(id, l->token, size);
    l->sentence[l->sentences++] = (vd_caption){text, {id, l->tokens}};
    l->in_sentence = false;
    return VD_OK;
}

// A copy of captions in the arena; NULL when memory is out.
static const vd_caption *keep_captions(loading *l, const vd_caption *list, size_t count)
{
    vd_caption *kept = vd_string_arena_take(&l->captions->arena, count, sizeof *kept);
    if (kept && count)
        memcpy(kept, list, count * sizeof *kept);
    return kept;
}

static vd_status check_image(const loading *l, vd_json_reader *reader)
{
    if (image_id(l) < 0)
        return vd_json_refuse(reader, VD_FORMAT, "the image has no number; expected \"%s\"",
                              l->has_sentences ? "cocoid\" or \"imgid" : "id");
    if (l->has_sentences && !l->split)
        return vd_json_refuse(reader, VD_FORMAT, "the image has no \"split\", which is required");
    if (l->has_sentences && (!l->sentences || l->sentences > INT32_MAX))
        return vd_json_refuse(reader, VD_FORMAT, "the image has %zu sentences; expected 1 or more",
                              l->sentences);
    if (l->karpathy && !l->has_sentences)
        return vd_json_refuse(reader, VD_FORMAT, "the image has no \"sentences\", as others have");
    return VD_OK;
}

static vd_status end_image(loading *l, vd_json_reader *reader)
{
    vd_captions *captions = l->captions;
    if (check_image(l, reader))
        return VD_FORMAT;
    if (!vd_make_room(&captions->image, &l->image_room, captions->count + 1,
                      sizeof *captions->image))
        return vd_json_no_memory(reader);
    vd_captioned image = {.image_id = image_id(l),
                          .split = l->split ? l->split : "",
                          .captions = (int)l->sentences,
                          .caption = keep_captions(l, l->sentence, l->sentences)};
    if (!image.caption)
        return vd_json_no_memory(reader);
    captions->image[captions->count++] = image;
    l->in_image = false;
    return VD_OK;
}

static vd_status end_annotation(loading *l, vd_json_reader *reader)
{
    if (!vd_make_room(&l->annotation, &l->annotation_room, l->annotations + 1,
                      sizeof *l->annotation))
        return vd_json_no_memory(reader);
    l->annotation[l->annotations++] = l->now;
    l->in_annotation = false;
    return VD_OK;
}

static vd_status on_close(void *context, vd_json_reader *reader, int container)
{
    loading *l = context;
    return container == SENTENCE     ? end_sentence(l, reader)
           : container == IMAGE      ? end_image(l, reader)
           : container == ANNOTATION ? end_annotation(l, reader)
                                     : VD_OK;
}

static const vd_json_form form = {rules, sizeof rules / sizeof *rules, on_open, on_close, on_value,
                                  where};

// ---- what can only be checked when all is read --------------------------------------------------

// by_number: (count), sorted by image; each is there once.
static vd_status sort_images(const vd_captions *captions, vd_image_at *by_number, vd_error *err)
{
    for (size_t i = 0; i < captions->count; i++)
        by_number[i] = (vd_image_at){captions->image[i].image_id, i};
    const vd_image_at *twice = vd_image_at_sort(by_number, captions->count);
    return twice ? vd_error_set(err, VD_FORMAT,
                                "%.400s: image %" PRId64 " is there twice, at places %zu and %zu; "
                                "expected once",
                                captions->path, twice->image_id, twice[-1].at + 1, twice->at + 1)
                 : VD_OK;
}

static vd_status refuse_annotation(const loading *l, const annotation *a, vd_error *err)
{
    return vd_error_set(err, VD_FORMAT,
                        "%.400s: annotation %zu is of image %" PRId64
                        ", which is not in \"images\"",
                        l->captions->path, a->of.at + 1, a->of.image_id);
}

// The captions of one image, which are `count` neighbours in the sorted list.
static bool give_captions(loading *l, vd_captioned *image, const annotation *from, size_t count)
{
    vd_caption *list = vd_string_arena_take(&l->captions->arena, count, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = from[i].caption;
    image->caption = list;
    image->captions = (int)count;
    return list != NULL;
}

// Both sorted by image: each annotation goes to its image.
static vd_status join_annotations(loading *l, const vd_image_at *by_number, vd_error *err)
{
    size_t a = 0;
    for (size_t i = 0; i < l->captions->count; i++) {
        size_t end = a;
        vd_captioned *image = &l->captions->image[by_number[i].at];
        while (end < l->annotations && l->annotation[end].of.image_id == image->image_id)
            end++;
        if (!give_captions(l, image, l->annotation + a, end - a))
            return vd_error_memory(err, "captions");
        a = end;
        if (a < l->annotations && l->annotation[a].of.image_id < image->image_id)
            return refuse_annotation(l, &l->annotation[a], err);
    }
    return a < l->annotations ? refuse_annotation(l, &l->annotation[a], err) : VD_OK;
}

static vd_status refuse_uncaptioned(const vd_captions *captions, vd_error *err)
{
    size_t without = 0;
    int64_t first = 0;
    for (size_t i = 0; i < captions->count; i++)
        if (!captions->image[i].captions && !without++)
            first = captions->image[i].image_id;
    if (!without)
        return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%.400s: %zu of %zu images have no caption, the first is image %" PRId64
                        "; expected 1 or more each",
                        captions->path, without, captions->count, first);
}

static vd_status finish(loading *l, vd_error *err)
{
    vd_captions *captions = l->captions;
    if (l->karpathy == l->coco)
        return vd_error_set(err, VD_FORMAT,
                            "%.400s: expected captions: \"images\" with \"sentences\" (Karpathy's "
                            "splits), \"images\" and \"annotations\" (COCO), or VisDial dialogs",
                            captions->path);
    captions->tokenised = l->karpathy;
    captions->kind = l->karpathy ? "Karpathy split" : "COCO captions";
    if (captions->count == 0)
        return vd_error_set(err, VD_FORMAT, "%.400s: there are no \"images\"", captions->path);
    vd_image_at *by_number = vd_alloc(captions->count, sizeof *by_number);
    if (!by_number)
        return vd_error_memory(err, "captions");
    vd_status status = sort_images(captions, by_number, err);
    if (status == VD_OK && l->coco) {
        if (l->annotations)
            qsort(l->annotation, l->annotations, sizeof *l->annotation, vd_image_at_order);
        status = join_annotations(l, by_number, err);
    }
    vd_free(by_number);
    return status ? status : refuse_uncaptioned(captions, err);
}

// ---- VisDial ------------------------------------------------------------------------------------

static vd_status add_dialog(loading *l, const vd_visdial_dialog *dialog, const char *split,
                            vd_error *err)
{
    vd_captions *captions = l->captions;
    vd_caption *caption = vd_string_arena_take(&captions->arena, 1, sizeof *caption);
    const char *text =
        vd_string_arena_text(&captions->arena, dialog->caption, strlen(dialog->caption));
    if (!caption || !text)
        return vd_error_memory(err, "captions");
    vd_error why = {0};
    vd_status status = read_caption(l, text, caption, &why);
    if (status)
        return vd_error_set(err, status, "%.400s: image %" PRId64 ": %s", captions->path,
                            dialog->image_id, why.text);
    captions->image[captions->count++] = (vd_captioned){dialog->image_id, split, 1, caption};
    return VD_OK;
}

static vd_status read_visdial(loading *l, vd_error *err)
{
    vd_captions *captions = l->captions;
    vd_visdial *data;
    vd_status status = vd_visdial_open(captions->path, &data, err);
    if (status)
        return status;
    captions->kind = "VisDial captions";
    vd_free(captions->image);
    captions->count = 0;
    captions->image = vd_alloc(data->dialog_count, sizeof *captions->image);
    const char *split = vd_string_arena_text(&captions->arena, data->split, strlen(data->split));
    if (!captions->image || !split)
        status = vd_error_memory(err, "captions");
    for (size_t i = 0; i < data->dialog_count && status == VD_OK; i++)
        status = add_dialog(l, &data->dialogs[i], split, err);
    vd_visdial_free(data);
    vd_image_at *by_number = status ? NULL : vd_alloc(captions->count, sizeof *by_number);
    if (status == VD_OK)
        status =
            by_number ? sort_images(captions, by_number, err) : vd_error_memory(err, "captions");
    vd_free(by_number);
    return status;
}

// ---- the file -----------------------------------------------------------------------------------

static vd_status read_any(loading *l, vd_error *err)
{
    vd_error why = {0};
    vd_status status = vd_visdial_is_packed(l->captions->path, &l->visdial, err);
    if (status)
        return status;
    if (!l->visdial)
        status = vd_json_stream(l->captions->path, &form, l, &why);
    if (l->visdial)
        return read_visdial(l, err);
    return status ? vd_error_set(err, status, "%s", why.text) : finish(l, err);
}

vd_status vd_captions_read(const char *path, vd_captions **out, vd_error *err)
{
    loading l = {.captions = vd_alloc(1, sizeof *l.captions)};
    *out = NULL;
    if (!l.captions || !(l.captions->path = vd_strdup(path))) {
        vd_free(l.captions);
        return vd_error_memory(err, "captions");
    }
    vd_status status = read_any(&l, err);
    vd_free(l.sentence);
    vd_free(l.annotation);
    if (status)
        vd_captions_free(l.captions);
    else
        *out = l.captions;
    return status;
}
