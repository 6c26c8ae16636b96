/* Protects standard input, output and error of a program whose parent may have closed them. */
#pragma once

/* Opens /dev/null for each closed descriptor among 0, 1 and 2. Must be the first call in main: a
 * file opened earlier could get descriptor 1 or 2, and printed text would overwrite this file.
 * Writing to a closed standard output still fails. */
void descriptors_open_standard(void);

/* Flushes standard output and returns exit_status. If output could not be written, prints an error,
 * and returns 1 in place of 0. Must be the last call in main. */
int descriptors_end_output(const char *program, int exit_status);
