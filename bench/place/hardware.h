/* What kind of machine this is, in words that hosts of one kind share. */
#pragma once

#include <stddef.h>

#include "bench/place/place.h"

/* The processor as the kernel names it: "AMD EPYC 9354", on ARM the number of its part; "" where it
 * does not. */
void hardware_cpu(char *text, size_t size);

/* The boot of the machine as the kernel names it, which all its hosts and containers share; "" where
 * it does not. */
void hardware_machine(char *text, size_t size);

/* Sizes of the first core's caches from the first level on: "32K 32K 1024K 36608K"; "" where the
 * kernel does not tell. */
void hardware_caches(char *text, size_t size);

/* The class of machine that launches are known by: processor, caches, and what of it may be used. */
enum { HARDWARE_CLASS_BYTES = 1024 };
void hardware_class(char text[HARDWARE_CLASS_BYTES], const struct place_machine *machine);
