// Transcripts as pages for people and as data.
#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "engine/base/json.h"
#include "tui/page/html.h"
#include "tui/page/markdown.h"
#include "tui/transcript/transcript.h"

// ---- a round as a sheet -------------------------------------------------------------------------

typedef struct round_sheet {
    vd_sheet sheet;
    char id[48], title[160];
} round_sheet;

static int index_of(const vd_sheet_side *side, const char *text)
{
    for (int i = 0; i < side->reply->answer.candidates; i++)
        if (strcmp(side->texts[i], text) == 0)
            return i;
    return -1;
}

// A conversation that changed its model may have the same one in two lanes.
static bool has_model(const vd_sheet *sheet, const vd_sheet_side *side)
{
    for (int i = 0; i < sheet->sides; i++)
        if (strcmp(sheet->side[i].model_hash.text, side->model_hash.text) == 0 &&
            strcmp(sheet->side[i].name, side->name) == 0)
            return true;
    return false;
}

// False when the file does not say how this round was answered.
static bool make_sheet(const vd_transcript_file *file, size_t index, int round, round_sheet *out)
{
    const vd_chat_record *dialog = &file->dialogs[index];
    const vd_record *own = vd_transcript_find(file, dialog, round, 0);
    if (!own)
        return false;
    snprintf(out->id, sizeof out->id, "dialog-%zu-%d", index + 1, round + 1);
    char name[96];
    vd_recorded_picture(dialog->picture, dialog->image_id, name, sizeof name);
    snprintf(out->title, sizeof out->title, "Picture %s, round %d of %d", name, round + 1,
             dialog->count);
    out->sheet = own->sheet;
    out->sheet.id = out->id;
    out->sheet.title = out->title;
    out->sheet.caption = dialog->caption;
    out->sheet.caption_by = dialog->caption_by;
    out->sheet.question = own->reply.typed;
    out->sheet.moved = -1;
    for (int lane = 1; lane < VD_MODELS; lane++) {
        const vd_record *record = vd_transcript_find(file, dialog, round, lane);
        if (record && !has_model(&out->sheet, &record->sheet.side[0]))
            out->sheet.side[out->sheet.sides++] = record->sheet.side[0];
    }
    for (int i = 0; i < out->sheet.sides; i++)
        out->sheet.side[i].chosen = index_of(&out->sheet.side[i], dialog->rounds[round].answer);
    return true;
}

// Whether small talk was said in the branch in use before this round; `count`: after the last one.
static bool is_before(const vd_chat_record *dialog, const vd_chat_record_aside *aside, int round)
{
    return aside->branch == dialog->branch &&
           (aside->before == round || (round == dialog->count && aside->before > round));
}

// How the parts of a conversation are written.
typedef struct dialog_form {
    void (*round)(vd_markup *, const vd_sheet *);
    const char *missing; // a round whose answer is not recorded: the question, the answer
    const char *aside;   // small talk: what was typed, the reply
} dialog_form;

static void put_dialog(const vd_transcript_file *file, size_t index, const dialog_form *form,
                       vd_markup *markup, int width, int height)
{
    const vd_chat_record *dialog = &file->dialogs[index];
    for (int round = 0; round <= dialog->count; round++) {
        round_sheet made;
        for (int i = 0; i < dialog->aside_count; i++)
            if (is_before(dialog, &dialog->asides[i], round))
                vd_markup_put(markup, form->aside, dialog->asides[i].typed,
                              dialog->asides[i].reply);
        if (round < dialog->count && make_sheet(file, index, round, &made)) {
            made.sheet.width = width;
            made.sheet.height = height;
            form->round(markup, &made.sheet);
        } else if (round < dialog->count) {
            vd_markup_put(markup, form->missing, dialog->rounds[round].question,
                          dialog->rounds[round].answer);
        }
    }
}

// ---- HTML ---------------------------------------------------------------------------------------

static const dialog_form html_form = {
    vd_html_sheet,
    "<article class=\"case\" tabindex=\"-1\"><p class=\"question\">%s</p><p class=\"answered\">%s"
    "</p><p class=\"note\">How this was answered is not in the transcript.</p></article>\n",
    "<article class=\"case\" tabindex=\"-1\"><p class=\"question\">%s</p><p class=\"note\">%s</p>"
    "</article>\n"};

static void html_models(vd_markup *html, const vd_transcript_file *file)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    vd_markup_put(html, "<table class=\"facts\"><tbody>");
    for (size_t i = 0; i < file->record_count; i++) {
        const vd_sheet_side *side = &file->records[i].sheet.side[0];
        if (g_hash_table_add(seen,
                             g_strconcat(side->model_hash.text, " ", side->pool_hash.text, NULL)))
            vd_markup_put(html,
                          "<tr><td><b>%s</b></td><td>model SHA-256 %s</td><td>pool of %d answers, "
                          "SHA-256 %s</td></tr>",
                          side->model, side->model_hash.text, side->reply->answer.candidates,
                          side->pool_hash.text);
    }
    vd_markup_put(html, "</tbody></table>\n");
}

static vd_status html_picture(vd_markup *html, const vd_world *world, const vd_chat_record *dialog,
                              int *width, int *height, vd_error *err)
{
    size_t index;
    *width = *height = 0;
    if (!world || vd_world_find(world, dialog->image_id, &index, NULL))
        return VD_OK;
    vd_error fault = {0};
    vd_image image;
    vd_status status = vd_world_image(world, index, &image, &fault);
    if (status == VD_NOT_FOUND)
        return VD_OK;
    if (status)
        return vd_error_set(err, status, "%s", fault.text);
    *width = image.width;
    *height = image.height;
    if (!dialog->again)
        vd_html_picture(html, dialog->image_id, &image);
    vd_image_clear(&image);
    return VD_OK;
}

// That answers about the picture mean nothing; NULL: they mean something, or it is not known.
static const char *doubt_of(const vd_world *world, const vd_chat_record *dialog)
{
    size_t index;
    bool found = world && vd_world_find(world, dialog->image_id, &index, NULL) == VD_OK;
    return found ? vd_world_doubt(world, index) : NULL;
}

static vd_status html_dialog(vd_markup *html, const vd_transcript_file *file, const vd_world *world,
                             size_t index, vd_error *err)
{
    const vd_chat_record *dialog = &file->dialogs[index];
    int width, height;
    vd_status status = html_picture(html, world, dialog, &width, &height, err);
    if (status)
        return status;
    vd_markup_put(html, "<section class=\"dialog\"><div class=\"dialog-head\">");
    if (width > 0)
        vd_markup_put(html,
                      "<svg class=\"picture\" viewBox=\"0 0 %d %d\" role=\"img\" "
                      "aria-label=\"Picture %lld\"><use href=\"#pic-%lld\"/></svg>",
                      width, height, (long long)dialog->image_id, (long long)dialog->image_id);
    char name[96];
    vd_recorded_picture(dialog->picture, dialog->image_id, name, sizeof name);
    vd_markup_put(html, "<div><h2>Picture %s</h2><p class=\"caption\"><i>%s</i>", name,
                  dialog->caption);
    if (dialog->caption_by != VD_CAPTION_PEOPLE)
        vd_markup_put(html, " <span class=\"note\">%s</span>",
                      vd_caption_by_text(dialog->caption_by));
    if (doubt_of(world, dialog))
        vd_markup_put(html, "</p><p class=\"doubt\">%s", doubt_of(world, dialog));
    vd_markup_put(html, "</p><ol>");
    for (int i = 0; i < dialog->count; i++)
        vd_markup_put(html,
                      "<li><a href=\"#dialog-%zu-%d\">%s</a> <span class=\"said\">%s</span></li>",
                      index + 1, i + 1, dialog->rounds[i].question, dialog->rounds[i].answer);
    vd_markup_put(html, "</ol></div></div>\n");
    put_dialog(file, index, &html_form, html, width, height);
    vd_markup_put(html, "</section>\n");
    return status;
}

static vd_status no_dialog(const vd_transcript_file *file, vd_error *err)
{
    return vd_error_set(err, VD_FORMAT, "%.400s: holds no conversation with a question",
                        file->path);
}

vd_status vd_transcript_html(const vd_transcript_file *file, const vd_world *world,
                             const char *path, vd_error *err)
{
    vd_markup *html;
    if (file->dialog_count == 0)
        return no_dialog(file, err);
    vd_status status = vd_html_create(path, "A chat about pictures", "transcript", &html, err);
    if (status)
        return status;
    vd_markup_put(html,
                  "<header class=\"top\"><h1>A chat about pictures</h1><p>%zu "
                  "conversation%s. <span class=\"keys\"><kbd>j</kbd> <kbd>k</kbd> go from "
                  "question to question.</span></p></header>\n",
                  file->dialog_count, file->dialog_count == 1 ? "" : "s");
    for (size_t i = 0; i < file->dialog_count && status == VD_OK; i++)
        status = html_dialog(html, file, world, i, err);
    html_models(html, file);
    if (status == VD_OK)
        return vd_html_commit(html, err);
    vd_markup_abort(html);
    return status;
}

// ---- Markdown -----------------------------------------------------------------------------------

static const dialog_form markdown_form = {
    vd_markdown_sheet, "**%s** %s\n\nHow this was answered is not in the transcript.\n\n",
    "**%s**\n\n%s\n\n"};

vd_status vd_transcript_markdown(const vd_transcript_file *file, const vd_world *world,
                                 const char *path, vd_error *err)
{
    vd_markup *m;
    if (file->dialog_count == 0)
        return no_dialog(file, err);
    vd_status status = vd_markup_create(path, VD_MARKUP_MARKDOWN, &m, err);
    if (status)
        return status;
    vd_markup_put(m, "# A chat about pictures\n\n");
    for (size_t i = 0; i < file->dialog_count; i++) {
        const vd_chat_record *dialog = &file->dialogs[i];
        char name[96];
        vd_recorded_picture(dialog->picture, dialog->image_id, name, sizeof name);
        vd_markup_put(m, "## Picture %s\n\n", name);
        if (doubt_of(world, dialog))
            vd_markup_put(m, "**%s**\n\n", doubt_of(world, dialog));
        put_dialog(file, i, &markdown_form, m, 0, 0);
    }
    return vd_markup_commit(m, err);
}

// ---- VisDial JSON -------------------------------------------------------------------------------

enum { OPTIONS = 100 };

// Texts, each once.
typedef struct table {
    GPtrArray *text;
    GHashTable *index; // by text
} table;

static size_t table_index(const table *t, const char *text)
{
    return GPOINTER_TO_SIZE(g_hash_table_lookup(t->index, text));
}

static void table_add(table *t, const char *text)
{
    if (g_hash_table_contains(t->index, text))
        return;
    g_hash_table_insert(t->index, (char *)text, GSIZE_TO_POINTER((gsize)t->text->len));
    g_ptr_array_add(t->text, (char *)text);
}

static table table_new(void)
{
    return (table){g_ptr_array_new(), g_hash_table_new(g_str_hash, g_str_equal)};
}

static void table_free(table *t)
{
    g_ptr_array_free(t->text, TRUE);
    g_hash_table_destroy(t->index);
}

static void table_put(yajl_gen json, const table *t)
{
    vd_json_put_texts(json, (const char *const *)t->text->pdata, t->text->len);
}

typedef struct visdial {
    const vd_transcript_file *file;
    table questions, answers;
} visdial;

// The questions and answers of the conversations, and the best candidates of each round.
static void fill_tables(visdial *v)
{
    for (size_t i = 0; i < v->file->dialog_count; i++)
        for (int r = 0; r < v->file->dialogs[i].count; r++) {
            const vd_chat_record *dialog = &v->file->dialogs[i];
            const vd_record *record = vd_transcript_find(v->file, dialog, r, 0);
            table_add(&v->questions, record ? record->reply.question : dialog->rounds[r].question);
            table_add(&v->answers, dialog->rounds[r].answer);
            for (int k = 0; record && k < record->reply.answer.candidates && k < OPTIONS; k++)
                table_add(&v->answers, record->sheet.side[0].texts[record->reply.answer.order[k]]);
        }
}

static int by_number(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

// The best candidates and the chosen answer, in the table's order, so that the order does not
// reveal it.
static void emit_options(yajl_gen json, const visdial *v, const vd_record *record,
                         const char *taken)
{
    const vd_answer *answer = &record->reply.answer;
    size_t option[OPTIONS], count = 0, truth = table_index(&v->answers, taken);
    bool there = false;
    for (int k = 0; k < answer->candidates && count < OPTIONS; k++) {
        option[count] = table_index(&v->answers, record->sheet.side[0].texts[answer->order[k]]);
        there |= option[count++] == truth;
    }
    if (!there)
        option[count < OPTIONS ? count++ : OPTIONS - 1] = truth;
    qsort(option, count, sizeof *option, by_number);
    vd_json_put(json, "answer_options: [");
    for (size_t k = 0; k < count; k++)
        vd_json_put(json, "%zu", option[k]);
    vd_json_put(json, "]");
    for (size_t k = 0; k < count; k++)
        if (option[k] == truth)
            vd_json_put(json, "gt_index: %zu", k);
}

static void emit_asides(yajl_gen json, const vd_chat_record *dialog, int round)
{
    for (int i = 0; i < dialog->aside_count; i++)
        if (is_before(dialog, &dialog->asides[i], round))
            vd_json_put(json, "[%d, %s, %s]", round, dialog->asides[i].typed,
                        dialog->asides[i].reply);
}

static void emit_dialog(yajl_gen json, const visdial *v, const vd_chat_record *dialog)
{
    vd_json_put(json, "{image_id: %" PRId64 ", caption: %s", dialog->image_id, dialog->caption);
    if (dialog->caption_by != VD_CAPTION_PEOPLE)
        vd_json_put(json, "caption_by: %s", vd_caption_by_names[dialog->caption_by]);
    vd_json_put(json, "dialog: [");
    for (int r = 0; r < dialog->count; r++) {
        const vd_record *record = vd_transcript_find(v->file, dialog, r, 0);
        const vd_turn *said = &dialog->rounds[r];
        vd_json_put(json, "{question: %zu, answer: %zu",
                    table_index(&v->questions, record ? record->reply.question : said->question),
                    table_index(&v->answers, said->answer));
        if (record && strcmp(record->reply.typed, record->reply.question) != 0)
            vd_json_put(json, "typed: %s", record->reply.typed);
        if (record)
            emit_options(json, v, record, said->answer);
        vd_json_put(json, "}");
    }
    if (dialog->aside_count)
        vd_json_put(json, "], asides: [");
    for (int r = 0; r <= dialog->count; r++)
        emit_asides(json, dialog, r);
    vd_json_put(json, "]}");
}

static yajl_gen_status emit_visdial(yajl_gen json, void *context)
{
    const visdial *v = context;
    vd_json_put(json, "{version: %s, split: transcript, data: {questions:", "1.0");
    table_put(json, &v->questions);
    vd_json_put(json, "answers:");
    table_put(json, &v->answers);
    vd_json_put(json, "dialogs: [");
    for (size_t i = 0; i < v->file->dialog_count; i++)
        if (!v->file->dialogs[i].later) // a dialog a picture: how the last one about it ended
            emit_dialog(json, v, &v->file->dialogs[i]);
    return vd_json_put(json, "]}}");
}

vd_status vd_transcript_visdial(const vd_transcript_file *file, const char *path, vd_error *err)
{
    if (file->dialog_count == 0)
        return no_dialog(file, err);
    visdial v = {file, table_new(), table_new()};
    fill_tables(&v);
    vd_status status = vd_json_write_file(path, emit_visdial, &v, err);
    table_free(&v.questions);
    table_free(&v.answers);
    return status;
}

// ---- pictures of one's own ----------------------------------------------------------------------

static void open_picture(const char *path, const char *caption, vd_caption_by by,
                         const vd_world *world)
{
    size_t index;
    if (path && vd_world_open_path(world, path, &index, NULL) == VD_OK)
        vd_world_set_caption(world, index, caption, by, NULL);
}

void vd_transcript_open_pictures(const vd_transcript_file *file, const vd_world *world)
{
    for (size_t i = 0; i < file->record_count; i++) {
        const vd_sheet *sheet = &file->records[i].sheet;
        open_picture(sheet->picture, sheet->caption, sheet->caption_by, world);
    }
    for (size_t i = 0; i < file->dialog_count; i++) {
        const vd_chat_record *dialog = &file->dialogs[i];
        open_picture(dialog->picture, dialog->caption, dialog->caption_by, world);
    }
}
