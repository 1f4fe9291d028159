// Where the program's plugins are: parts that need libraries which not every machine has.
#ifndef VD_PLUGIN_H
#define VD_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

enum { VD_PLUGIN_PATH = 4200 };

// The program's own directory, without a slash behind it; "" when that cannot be told.
void vd_program_directory(char *out, size_t room);

// The path of the plugin `name` in one of the directories (NULL-terminated list), or with NULL
// beside the program and in PREFIX/lib/visdial; false when it is in none. `looked` (of `room`
// bytes) gets the directories for a message.
bool vd_plugin_find(const char *const *directories, const char *name, char path[VD_PLUGIN_PATH],
                    char *looked, size_t room);

#endif
