// Stems of English words: Porter2 (Porter, "The English (Porter2) stemming algorithm",
// snowballstem.org, 2001), the stemmer of METEOR.
#ifndef VD_STEM_H
#define VD_STEM_H

enum { VD_STEM_MOST = 64 };

// The stem of a lower-case word, which is never longer than it, into stem. Words of VD_STEM_MOST
// bytes or more are their own stems, cut to VD_STEM_MOST - 1; so are those of one or two letters.
void vd_stem(const char *word, char stem[VD_STEM_MOST]);

#endif
