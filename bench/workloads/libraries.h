/* Hash of the shared libraries that a process has loaded. */
#pragma once

#define LIBRARIES_HASH_BYTES 17

/* Writes 16 hexadecimal digits over the build ids of all loaded libraries, in order. Libraries
 * without a build id count by size and time of the file. Call it at the start of main: MPI loads
 * more libraries later. */
void libraries_hash(char hex[LIBRARIES_HASH_BYTES]);
