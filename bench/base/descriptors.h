/* Standard input, output and error, which whoever starts a program may have closed. */
#pragma once

/* Opens those of descriptors 0 to 2 that are closed on /dev/null. Comes first in every main: else a
 * file opened later becomes one of them, and what is printed is written into it. Output that was closed cannot be
 * written, as a full one. */
void descriptors_open_standard(void);

/* Comes last in every main that prints. Flushes standard output. If something could not be written there, reports it
 * and returns 1 in place of status 0. */
int descriptors_end_output(const char *program, int exit_status);
