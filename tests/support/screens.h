// Screens that a test draws, held to files.
#ifndef VD_TEST_SCREENS_H
#define VD_TEST_SCREENS_H

// `played` (freed here) must be tests/screen/expected/NAME.txt. VISDIAL_UPDATE=1 writes the file
// instead; read the difference before committing it.
void screens_expect(const char *name, char *played);

#endif
