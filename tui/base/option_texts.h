// Help texts of the options that several commands share, so that an option reads the same
// everywhere. A command may add its default, or a remark after ";" (tests/unit/test_command.c).
#ifndef VD_OPTION_TEXTS_H
#define VD_OPTION_TEXTS_H

#define VD_HELP_ASSETS      "directory of the bundled models, dialogs and pictures"
#define VD_HELP_BATCH       "dialogs per batch"
#define VD_HELP_DATA        "dialogs (VisDial JSON, or packed with `data pack`)"
#define VD_HELP_DECODER     "decoder that ranks: discriminative, generative or both"
#define VD_HELP_DENSE       "relevance of the candidates (VisDial dense annotations)"
#define VD_HELP_FEATURES    "region features of the pictures (any format of `visdial features`)"
#define VD_HELP_FOLD        "show answers that mean the same (\"yes\", \"yes it is\") as one"
#define VD_HELP_GATE        "activation of the gates: sigmoid, leaky-relu or elu"
#define VD_HELP_HALF        "write the model in half precision"
#define VD_HELP_IMAGES      "photos of the pictures, found by the image id at the end of the name"
#define VD_HELP_JSON        "print JSON: one object"
#define VD_HELP_IMAGE       "the picture: its number, or its own file"
#define VD_HELP_LIMIT       "use only the first N dialogs"
#define VD_HELP_MIN_COUNT   "how often a word must occur to be in the vocabulary (5)"
#define VD_HELP_MODEL       "base, improved or a model file"
#define VD_HELP_NO_PROGRESS "do not show progress"
#define VD_HELP_PICTURES    "directory of the pictures (default: \"pictures\" beside the data)"
#define VD_HELP_POSITIONS   "positions added to word vectors: none, sinusoidal, learned or as-printed"
#define VD_HELP_RESAMPLES   "bootstrap samples (10000)"
#define VD_HELP_THREADS     "threads that work at once"
#define VD_HELP_WATCH       "show the curves on the whole screen; q quits"

#endif
