/* Parses lists of processors in the format of Linux: "0" or "0-3,8". */
#pragma once

#include <stdbool.h>

/* Maximum number of processors that Linux supports. Processor numbers are below CPUS_MAX. */
enum { CPUS_MAX = 8192 };

/* Parses a list into cpus[max]. Returns the number of processors, which may exceed max; -1 if the
 * list is malformed. */
int cpu_list_parse(const char *text, int *cpus, int max);

/* Sets cpus[i] for each processor i of a list. Returns false if the list is malformed. */
bool cpu_list_mark(bool cpus[CPUS_MAX], const char *text);

/* Returns whether the two lists have a processor in common. */
bool cpu_lists_meet(const char *a, const char *b);
