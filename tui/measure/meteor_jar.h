// METEOR 1.5 (Denkowski, Lavie 2014) as its authors' Java program computes it, called as
// coco-caption calls it:
//   java -jar -Xmx2G FILE - - -stdio -l en -norm
// It reads "SCORE ||| reference ||| ... ||| caption" and answers a line of statistics, then "EVAL
// ||| statistics ||| ..." of all pictures and answers a score a picture, and that of all.
#ifndef VD_METEOR_JAR_H
#define VD_METEOR_JAR_H

#include <stddef.h>

#include "engine/base/error.h"

typedef struct vd_meteor_pair {
    const char *caption; // tokens with blanks between them, without line breaks
    int references;
    const char *const *reference; // (references)
} vd_meteor_pair;

// score: 0..1 of all pictures. VD_NOT_FOUND if java or the jar is missing, VD_FORMAT if the output
// of java is not METEOR's. Its data must be beside the jar. Errors of java go to standard error.
vd_status vd_meteor_jar_run(const char *jar, const vd_meteor_pair *pair, size_t count,
                            double *score, vd_error *err);

#endif
