/* The shared libraries that a process has loaded, as one number. */
#pragma once

#define LIBRARIES_HASH_BYTES 17

/* 16 hexadecimal digits over the build identities of what is loaded now, in order; of what has
 * none, over size and time of the file. Taken at the start of main: MPI loads more as it needs
 * it. */
void libraries_hash(char hex[LIBRARIES_HASH_BYTES]);
