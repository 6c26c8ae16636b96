/* Standard input, output and error, which whoever starts a program may have closed. */
#pragma once

/* Opens those of descriptors 0 to 2 that are closed on /dev/null. Comes first in every main: else a
 * file opened later becomes one of them, and what is printed is written into it. */
void descriptors_open_standard(void);
