// How the program was called, for messages that say how to call it again.
#ifndef VD_CALLED_H
#define VD_CALLED_H

// name: argv[0], borrowed. One without a slash was found in PATH: then it is "visdial".
void vd_called_as(const char *name);
const char *vd_called(void);

#endif
