/* Which work a plan leaves out, and with which kernels it does the rest: two tables. */
#pragma once

#include "kernels/desc/savings.h"

/* What a layer's work is done with; CHOICE_shape is what its shape calls for. */
enum kernel_choice {
    CHOICE_shape,
#define CHOICE(name, plans, summary) CHOICE_##name,
#include "kernels/ops/choices.def"
    KERNEL_CHOICES
};
