/* Names the version of oneDNN that this program was built with. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

/* Writes version and instruction set, such as "oneDNN 2.6.3 avx512_core_bf16". ERR_UNAVAILABLE if
 * the program was built without oneDNN. */
enum status onednn_name(char *text, size_t size, struct error *e);
