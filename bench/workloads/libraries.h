/* Computes a hash of the shared libraries that this process has loaded, to find whether two
 * launches used the same libraries. */
#pragma once

#define LIBRARIES_HASH_BYTES 17

/* Writes the hash as 16 hexadecimal digits. The hash covers the build ids of all loaded libraries,
 * in order of loading. If a library has no build id, the hash covers the size and modification time
 * of its file instead. Call this function at the start of main, since MPI loads more libraries
 * later. */
void libraries_hash(char hex[LIBRARIES_HASH_BYTES]);
