#include "kernels/cast16.h"

#include "kernels/simd_tables.h"

SIMD_DECLARE(struct cast16_functions, cast16)

const struct cast16_functions *cast16_get(enum isa isa)
{
    return cast16_for(isa);
}
