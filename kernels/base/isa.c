#include "kernels/base/isa.h"

#include <stdlib.h>

#include "kernels/base/names.h"

enum isa isa_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return ISA_AVX2;
#endif
    return ISA_PORTABLE;
}

const char *const *isa_names(void)
{
    static const char *const names[ISAS] = {
        [ISA_PORTABLE] = "portable",
#if defined(__x86_64__)
        [ISA_AVX2] = "avx2",
        [ISA_AVX512] = "avx512",
#endif
    };
    return names;
}

enum status isa_choose(enum isa *isa, struct error *e)
{
    const char *name = getenv("SCALEBENCH_ISA");
    *isa = isa_best();
    if (name == NULL || *name == '\0')
        return OK;
    int wanted = name_index(name, isa_names(), ISAS);
    if (wanted < 0) {
        char text[200];
        return error_set(e, ERR_ARGUMENT, "SCALEBENCH_ISA: %s",
                         name_explain(text, sizeof text, name, isa_names(), ISAS));
    }
    if (wanted > (int)*isa)
        return error_set(e, ERR_ARGUMENT,
                         "SCALEBENCH_ISA: this processor has no %s; its most is %s", name,
                         isa_names()[*isa]);
    *isa = (enum isa)wanted;
    return OK;
}
