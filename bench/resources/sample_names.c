/* Apart from what reads samples: the sampler links no library. */
#include "bench/resources/node_samples.h"

const char *const *sample_names(void)
{
    static const char *const names[] = {
#define SAMPLE(id, meaning) #id,
#include "bench/resources/sample.def"
    };
    return names;
}
