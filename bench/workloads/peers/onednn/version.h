/* Names the oneDNN library that is loaded at run time: version, instruction set, support of
 * bf16. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

/* Writes version and instruction set, such as "oneDNN 2.6.3 avx512_core_bf16". ERR_UNAVAILABLE if
 * the program was built without oneDNN. */
enum status onednn_name(char *text, size_t size, struct error *e);

/* Returns whether oneDNN computes with bf16 on this processor; false if the program was built
 * without oneDNN. */
bool onednn_has_bf16(void);
