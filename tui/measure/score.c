#include "tui/measure/score.h"

#include "engine/base/alloc.h"
#include "engine/measure/meteor.h"
#include "features/captions/tokens.h"

// The words of all captions, as numbers; the last is the data's.
typedef struct sentences {
    vd_word_counts words;
    vd_string_arena arena;
    vd_tokens tokens[VD_CAPTION_SIDES + 1];
    int32_t *stem;
} sentences;

static vd_status number(sentences *s, const vd_caption_sheet *sheet, const char *caption,
                        vd_error *err)
{
    vd_status status = VD_OK;
    for (int i = 0; i <= VD_CAPTION_SIDES && status == VD_OK; i++)
        status = vd_caption_numbers(&s->words, i < VD_CAPTION_SIDES ? sheet->side[i].text : caption,
                                    VD_CAPTION_COCO, &s->arena, &s->tokens[i], err);
    return status ? status : vd_caption_stems(&s->words, &s->stem, err);
}

static vd_caption_score score_of(const sentences *s, int side)
{
    const vd_tokens *said = &s->tokens[side], *reference = &s->tokens[VD_CAPTION_SIDES];
    double bleu[VD_BLEU_ORDERS];
    vd_bleu sums = {0};
    vd_bleu_add(&sums, *said, reference, 1);
    vd_bleu_scores(&sums, bleu);
    vd_meteor meteor = vd_meteor_best(*said, reference, 1, s->stem);
    return (vd_caption_score){.known = true,
                              .bleu_1 = bleu[0],
                              .rouge_l = vd_rouge_l(*said, reference, 1),
                              .meteor_es = vd_meteor_score(&meteor)};
}

vd_status vd_score_sheet(const vd_world *world, vd_caption_sheet *sheet, vd_error *err)
{
    const vd_visdial_dialog *dialog = vd_world_dialog(world, sheet->wish.picture);
    sentences s = {0};
    if (sheet->captioners < VD_CAPTION_SIDES || !dialog || !*dialog->caption)
        return VD_OK;
    vd_status status = number(&s, sheet, dialog->caption, err);
    for (int i = 0; i < VD_CAPTION_SIDES && status == VD_OK; i++)
        sheet->side[i].score = score_of(&s, i);
    vd_free(s.stem);
    vd_string_arena_clear(&s.arena);
    vd_word_counts_clear(&s.words);
    return status;
}
