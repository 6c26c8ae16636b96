#include "kernels/base/isa.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "kernels/base/names.h"

#if defined(__x86_64__)
/* Returns whether the processor has F16C. Reads CPUID, because some compilers reject "f16c" in
 * __builtin_cpu_supports. */
static bool has_f16c(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

static bool has_amx_bf16(void)
{
    enum { TILE = 1 << 24, BF16 = 1 << 22 };
    unsigned a, b, c, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & TILE) != 0 && (d & BF16) != 0;
}

/* Requests the AMX tile registers, which Linux disables by default, and returns whether Linux
 * grants them (Documentation/arch/x86/xstate.rst). Repeated requests are harmless. */
static bool may_use_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}
#endif

enum isa isa_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
        return ISA_AVX2;
#endif
    return ISA_PORTABLE;
}

enum isa isa_best_bf16(void)
{
#if defined(__x86_64__)
    if (isa_best() == ISA_AVX512 && __builtin_cpu_supports("avx512bf16"))
        return has_amx_bf16() && may_use_tiles() ? ISA_AMX_BF16 : ISA_AVX512_BF16;
#endif
    return isa_best();
}

enum isa isa_exact(enum isa isa)
{
#if defined(__x86_64__)
    if (isa > ISA_AVX512)
        return ISA_AVX512;
#endif
    return isa;
}

enum isa isa_of_vectors(enum isa isa)
{
#if defined(__x86_64__)
    if (isa == ISA_AMX_BF16)
        return ISA_AVX512_BF16;
#endif
    return isa;
}

const char *const *isa_names(void)
{
    static const char *const names[ISAS] = {
#define ISA(id, name, summary) [ISA_##id] = #name,
#if !defined(__x86_64__)
#define ISA_OF_X86(id, name, summary)
#endif
#include "kernels/base/isas.def"
    };
    return names;
}

static enum isa limit = ISAS;

enum status isa_limit(const char *name, struct error *e)
{
    int wanted = name_index(name, isa_names(), ISAS), most = (int)isa_best_bf16();
    bool is_auto = strcmp(name, "auto") == 0;
    limit = is_auto || wanted < 0 ? ISAS : (enum isa)wanted;
    if (!is_auto && (wanted < 0 || wanted > most))
        return error_set(e, ERR_UNAVAILABLE,
                         "instruction set %s is not supported by this processor; use at most %s",
                         name, isa_names()[most]);
    return OK;
}

enum status isa_choose(enum isa *isa, bool bf16, struct error *e)
{
    const char *name = getenv("SCALEBENCH_ISA");
    *isa = bf16 ? isa_best_bf16() : isa_best();
    if (limit < *isa)
        *isa = limit;
    if (name == NULL || *name == '\0')
        return OK;
    int wanted = name_index(name, isa_names(), ISAS);
    if (wanted < 0) {
        char text[200];
        return error_set(e, ERR_ARGUMENT, "SCALEBENCH_ISA: %s",
                         name_explain(text, sizeof text, name, isa_names(), ISAS));
    }
    if (wanted > (int)isa_best_bf16())
        return error_set(e, ERR_ARGUMENT,
                         "SCALEBENCH_ISA: %s is not supported by this processor; use at most %s",
                         name, isa_names()[isa_best_bf16()]);
    if (wanted < (int)*isa)
        *isa = (enum isa)wanted;
    return OK;
}
