// Completing what is being typed: the longest start that all candidates share, and a list of them.
#ifndef VD_COMPLETE_H
#define VD_COMPLETE_H

#include <stddef.h>

typedef struct vd_completion {
    const char *typed; // so far
    char common[1024]; // what all of them start with
    int skip;          // of the matches, those that are not listed: they were before
    char list[256];    // as many of the others as fit, without the words and the directory before
    int listed;        // how many that are
    int matches;
} vd_completion;

// Takes a candidate when it starts with what was typed.
void vd_complete_add(vd_completion *completion, const char *candidate);
// Takes, in alphabetic order, the files and directories that start with the path typed
// (directories end in '/'), of the files only those with one of these endings (up to NULL); "~/" is
// the home directory. Hidden ones only when asked for. typed may have something before the path:
// `skip` bytes.
void vd_complete_paths(vd_completion *completion, size_t skip, const char *const *endings);

#endif
