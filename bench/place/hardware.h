/* Describes the hardware of this machine. Hosts of the same type have the same description, except
 * for the boot id. */
#pragma once

#include <stddef.h>

#include "bench/place/place.h"

/* Writes the processor's name as the kernel reports it, such as "AMD EPYC 9354"; on ARM the part
 * number; "" if unknown. */
void hardware_cpu(char *text, size_t size);

/* Writes the boot id of the machine, which its containers and emulated hosts share; "" if
 * unknown. */
void hardware_machine(char *text, size_t size);

/* Writes the sizes of the first core's caches, from level 1 up: "32K 32K 1024K 36608K"; "" if
 * unknown. */
void hardware_caches(char *text, size_t size);

enum { HARDWARE_CLASS_BYTES = 1024 };

/* Writes the hardware class: processor, caches, cores, CPU quota, hardware threads and NUMA nodes.
 * Only launches of one class are comparable. */
void hardware_class(char text[HARDWARE_CLASS_BYTES], const struct place_machine *machine);
