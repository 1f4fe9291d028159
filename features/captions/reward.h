// CIDEr-D of generated captions as a reward (SCST: Rennie et al., CVPR 2017). Tokens are the
// words of the data set as captioners read them (captions.h), not coco-caption's; document
// frequencies are of the pictures given, counted once a picture.
#ifndef VD_CAPTION_REWARD_H
#define VD_CAPTION_REWARD_H

#include "engine/measure/cider.h"
#include "features/captions/captions.h"

typedef struct vd_caption_reward vd_caption_reward;

// Of the pictures that captions has now, which are not kept. with_end: </S> is a token of captions,
// references and frequencies, so that an incomplete end lowers the reward; without it captioners
// learn to stop at "... with a". Reference words that are not in the vocabulary stay different
// words.
vd_status vd_caption_reward_new(const vd_captions *captions, const vd_vocab *vocab, bool with_end,
                                vd_caption_reward **out, vd_error *err);
void vd_caption_reward_free(vd_caption_reward *reward); // NULL is fine

// 0..10 of a caption of a picture, which is counted from 0 in the order of the pictures. id: ids of
// the vocabulary without <S>; anything after the first </S> is ignored. count: of them, with
// </S>, 0..VD_CAPTION_MOST. Any number of threads at the same time.
double vd_caption_reward_of(const vd_caption_reward *reward, size_t picture, const int32_t *id,
                            int count);

#endif
