/* Protects standard input, output and error of a program whose parent may have closed them. */
#pragma once

/* Opens /dev/null as each of the descriptors 0 to 2 that is closed. Must be the first call in main.
 * Otherwise a file opened later would get such a descriptor, and printed text would overwrite that
 * file. If standard output was closed, writing to it still fails. */
void descriptors_open_standard(void);

/* Flushes standard output and returns the exit status of the program. Must be the last call in
 * main. If output could not be written, prints an error and returns 1 instead of 0. */
int descriptors_end_output(const char *program, int exit_status);
