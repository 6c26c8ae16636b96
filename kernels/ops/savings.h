/* Enumerations of savings (work that a plan skips) and of kernel choices. */
#pragma once

#include "kernels/desc/savings.h"

/* Kernel choice for a layer. CHOICE_shape: the default for the layer's shape. */
enum kernel_choice {
    CHOICE_shape,
#define CHOICE(name, plans, summary) CHOICE_##name,
#include "kernels/ops/choices.def"
    KERNEL_CHOICES
};
