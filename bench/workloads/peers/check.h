/* The question of a runner whether a peer can run: --check, or --check=RANKS. */
#pragma once

#include <stdbool.h>

/* Removes `--check` and `--check=RANKS` from the command line; returns whether there was one. */
bool peer_take_check(int *argc, char **argv);
