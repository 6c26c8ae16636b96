/* Names of the values in a sample. This file is separate from node_samples.c, so that the sampler
 * needs no JSON library. */
#include "bench/resources/node_samples.h"

const char *const *sample_names(void)
{
    static const char *const names[] = {
#define SAMPLE(id, meaning) #id,
#include "bench/resources/sample.def"
    };
    return names;
}
