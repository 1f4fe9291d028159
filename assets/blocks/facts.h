// The facts about a scene: kinds of objects, how many, where. Everything in a dialog follows from
// them.
#ifndef BLOCKS_FACTS_H
#define BLOCKS_FACTS_H

#include <stdbool.h>

#include "assets/blocks/scene.h"

// Any conjunction of attributes: value[attribute], -1 = any.
typedef struct blocks_kind {
    int8_t value[BLOCKS_ATTRIBUTES];
} blocks_kind;

// A set of objects, a bit each.
typedef unsigned blocks_set;

typedef enum {
    BLOCKS_LEFT,
    BLOCKS_RIGHT,
    BLOCKS_FRONT,
    BLOCKS_BEHIND,
    BLOCKS_DIRECTIONS,
    BLOCKS_AROUND = BLOCKS_DIRECTIONS // any direction; as a place: the middle of the table
} blocks_direction;

extern const blocks_kind blocks_anything;

int blocks_values(blocks_attribute attribute); // how many values there are
const char *blocks_value_name(blocks_attribute attribute, int value);
static inline int blocks_value(const blocks_object *object, blocks_attribute attribute)
{
    return (int)object->value[attribute];
}
static inline int blocks_value_of(const blocks_scene *scene, int object, blocks_attribute attribute)
{
    return blocks_value(&scene->object[object], attribute);
}

// The kind that shares the attributes in `mask` (bit per attribute) with the object.
blocks_kind blocks_kind_of(const blocks_object *object, unsigned mask);
// value -1: without the attribute.
blocks_kind blocks_kind_with(blocks_kind kind, blocks_attribute attribute, int value);
blocks_kind blocks_such(blocks_attribute attribute, int value); // anything with that value
unsigned blocks_kind_mask(blocks_kind kind);                    // which attributes are given
bool blocks_kind_same(blocks_kind a, blocks_kind b);
bool blocks_is(const blocks_object *object, blocks_kind kind);

blocks_set blocks_all(const blocks_scene *scene);
blocks_set blocks_find(const blocks_scene *scene, blocks_kind kind);
int blocks_size_of(blocks_set set);
int blocks_number(const blocks_scene *scene, blocks_kind kind); // how many there are of it
int blocks_only(blocks_set set); // the one object of the set, -1 when there is not exactly one
static inline bool blocks_has(blocks_set set, int object)
{
    return set >> object & 1;
}

// The object of the set whose value is the least, the first of equal ones; -1: there is none.
// *second: the least value of the others, INFINITY: there are no others.
int blocks_least(blocks_set set, const double *value, double *second);
// The value all objects of the set share, -1 when they differ or there are none.
int blocks_shared(const blocks_scene *scene, blocks_set set, blocks_attribute attribute);
// The values that the objects of the set have, a bit each; how many these are.
unsigned blocks_values_in(const blocks_scene *scene, blocks_set set, blocks_attribute attribute);
int blocks_distinct(const blocks_scene *scene, blocks_set set, blocks_attribute attribute);

// How far a lies in the direction as seen from b, in table units; and whether it clearly does.
double blocks_beyond_by(const blocks_scene *scene, int a, blocks_direction direction, int b);
bool blocks_lies(const blocks_scene *scene, int a, blocks_direction direction, int b);
blocks_set blocks_toward(const blocks_scene *scene, blocks_direction direction, int from);
// Objects that a person might or might not count as lying there.
blocks_set blocks_doubtful(const blocks_scene *scene, blocks_direction direction, int from);
// The object of the set that lies clearly in the direction of all others (AROUND: clearly nearest
// the middle); -1 when none does.
int blocks_extreme(const blocks_scene *scene, blocks_set set, blocks_direction direction);
// The one that is nearest a corner of the picture, clearly nearer than all others and in that
// quarter; -1: none.
int blocks_corner(const blocks_scene *scene, bool right, bool back);
// The next in that direction after the `place` furthest of the set (0: blocks_extreme; not AROUND).
int blocks_ranked(const blocks_scene *scene, blocks_set set, blocks_direction direction, int place);
// The nearest object in that direction, where what lies sideways of the direction counts double:
// what stands in the column behind it. -1 when there is none or when two are about equally near.
int blocks_nearest(const blocks_scene *scene, blocks_direction direction, int from);
// Objects that clearly lie between two others: on the table and in the picture these are in nearly
// opposite directions. doubtful: those that a person might or might not count.
blocks_set blocks_between(const blocks_scene *scene, int a, int b, blocks_set *doubtful);
// Which of a and b is clearly nearer to the other object, on the table and in the picture; -1:
// none.
int blocks_nearer(const blocks_scene *scene, int to, int a, int b);
// Which part of the table: LEFT or RIGHT third, FRONT or BEHIND third (-1 = in the middle).
int blocks_side(const blocks_scene *scene, int object);
int blocks_depth(const blocks_scene *scene, int object);
// The objects in the left (right, front, back) part of the picture. doubtful: those near its
// middle.
blocks_set blocks_part(const blocks_scene *scene, blocks_direction direction, blocks_set *doubtful);

#endif
