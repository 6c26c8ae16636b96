/* An examination for people: a table of nodes, one of links, what was found and what to do about it. */
#pragma once

#include <stdio.h>

#include "bench/doctor/diagnosis.h"

/* `width`: columns of the terminal, 0: without limit. */
void doctor_print(FILE *out, const struct examination *x, const struct diagnosis *d, int width);
