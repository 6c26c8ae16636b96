/* Lists of processors as Linux writes them: "0" or "0-3,8". */
#pragma once

#include <stdbool.h>

/* Linux knows at most this many processors. */
enum { CPUS_MAX = 8192 };

/* Numbers of a list into cpus[max]; returns how many there are (may exceed max), -1 if the list is
 * malformed. */
int cpu_list_parse(const char *text, int *cpus, int max);

/* Sets cpus[i] for each processor i of a list; false if the list is malformed. */
bool cpu_list_mark(bool cpus[CPUS_MAX], const char *text);

/* Whether some processor is in both lists. */
bool cpu_lists_meet(const char *a, const char *b);
