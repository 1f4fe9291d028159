// Ray tracing a scene: soft shadows, two materials, antialiased edges. Deterministic.
#ifndef BLOCKS_RENDER_H
#define BLOCKS_RENDER_H

#include "assets/blocks/scene.h"

// rgb: (BLOCKS_HEIGHT, BLOCKS_WIDTH, 3)
void blocks_render(const blocks_scene *scene, uint8_t *rgb);

// Fills in the objects' box, visible and total. An object that is not seen gets an empty box. id,
// unless NULL: which object is seen at each pixel's centre (BLOCKS_HEIGHT, BLOCKS_WIDTH), -1: none.
void blocks_render_measure(blocks_scene *scene, int8_t *id);

#endif
