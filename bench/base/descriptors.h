/* Protects standard input, output and error of a program whose parent may have closed them. */
#pragma once

/* Opens closed descriptors among 0 to 2 on /dev/null. Must be the first call in main. Without it a
 * file opened later gets such a descriptor, and printed text overwrites that file. Writing to
 * standard output that was closed still fails, as on a full disk. */
void descriptors_open_standard(void);

/* Flushes standard output and returns the exit status of the program. Must be the last call in
 * main. If output could not be written, prints an error and returns 1 in place of 0. */
int descriptors_end_output(const char *program, int exit_status);
