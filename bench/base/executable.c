#include "bench/base/executable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns true if a line of /proc/self/maps, such as "7f00-7fff r-xp 0 08:01 12 /opt/a program",
 * covers `address`. */
static bool holds(const char *line, uintptr_t address)
{
    uintptr_t begin, end;
    return sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2 && begin <= address &&
           address < end;
}

static bool take_path(char *path, size_t size, char *line)
{
    const char *slash = strchr(line, '/');
    line[strcspn(line, "\n")] = '\0';
    return slash != NULL && snprintf(path, size, "%s", slash) < (int)size;
}

bool executable_path(char *path, size_t size)
{
    char line[4096 + 128];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (!found && maps != NULL && fgets(line, sizeof line, maps) != NULL)
        found = holds(line, (uintptr_t)&executable_path);
    if (maps != NULL)
        fclose(maps);
    return found && take_path(path, size, line);
}
