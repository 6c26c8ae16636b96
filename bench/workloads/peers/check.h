/* Options --check and --check=RANKS of a peer (a program compared with train_cnn). The runner
 * passes --check=RANKS to ask whether the peer can run on RANKS ranks. */
#pragma once

#include <stdbool.h>

/* Removes `--check` and `--check=RANKS` from the command line. Returns whether the command line had
 * one of them. */
bool peer_take_check(int *argc, char **argv);
