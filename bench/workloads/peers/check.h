/* Options --check and --check=RANKS, by which the runner asks a peer whether it can run. */
#pragma once

#include <stdbool.h>

/* Removes `--check` and `--check=RANKS` from the command line. Returns whether the command line had
 * one of them. */
bool peer_take_check(int *argc, char **argv);
