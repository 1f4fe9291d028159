// A world for tests, made in a second: eight pictures with features (and a ninth without), dialogs
// of three rounds about colours, four candidates a round, relevance, an answer pool and two small
// untrained models.
#ifndef VD_TEST_TINY_WORLD_H
#define VD_TEST_TINY_WORLD_H

enum {
    TINY_PICTURES = 8, // image ids 1..8
    TINY_BARE = 99,    // image id of the dialog without features
    TINY_REGIONS = 3,
    TINY_REGION_SIZE = 5,
    TINY_ANSWERS = 4
};

typedef struct tiny_world {
    char *directory; // with the files of a vd_world: dialogs.json, features.safetensors, ...
    char *train;     // train.json: the dialogs of pictures 1..8
    char *val;       // val.json: of 1..4
    char *dense;     // dense.json: relevance of every round of 1..4
    char *features;
    char *base, *improved;
} tiny_world;

void tiny_world_make(tiny_world *world);
void tiny_world_remove(tiny_world *world); // the files too

// A features file of the same pictures with regions of `size` numbers.
void tiny_world_features(const char *path, int size);
// A model of the given region size with this pool name (NULL: none). Its weights are those of base
// where the path says "base", others where it says "third", else those of improved. It has both
// decoders, or only the generative one, where the path says so; its answers look at the dialog
// where it says "looking".
void tiny_world_model(const tiny_world *world, const char *path, int size, const char *pool);

#endif
