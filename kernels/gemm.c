/* Calls BLIS. Only this file includes blis.h. */
#include "kernels/gemm.h"

#include <blis.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__) && defined(BLIS_CONFIG_SKX) && defined(BLIS_CONFIG_HASWELL)
#include <cpuid.h>
#include <string.h>

/* Returns the processor family from CPUID leaf 1. The extended family is added if the base family
 * is 15. */
static unsigned cpu_family(void)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
        return 0;
    unsigned family = eax >> 8 & 15;
    return family == 15 ? family + (eax >> 20 & 255) : family;
}

static bool cpu_vendor_is(const char *vendor)
{
    unsigned eax = 0, text[3] = {0};
    return __get_cpuid(0, &eax, &text[0], &text[2], &text[1]) && !memcmp(text, vendor, 12);
}

static bool cpu_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

/* Returns the number of the BLIS kernel set to use, or -1 to leave the choice to BLIS. BLIS up to
 * 0.9 never uses AVX-512 on AMD processors, and uses portable C above family 25. On Intel
 * processors it uses AVX-512 only if it knows the processor's name. On a Zen 5 core, the Skylake
 * kernels (AVX-512) reach 230 GFLOP/s, and portable C reaches 42. */
static int choose_arch(void)
{
    enum { LAST_KNOWN_AMD_FAMILY = 25 };
    if (cpu_has_avx512())
        return BLIS_ARCH_SKX;
    if (cpu_vendor_is("GenuineIntel"))
        return -1;
    bool known = cpu_vendor_is("AuthenticAMD") && cpu_family() <= LAST_KNOWN_AMD_FAMILY;
    if (!known && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return BLIS_ARCH_HASWELL;
    return -1;
}
#else
static int choose_arch(void)
{
    return -1;
}
#endif

#ifdef SCALEBENCH_F64
#define GEMM_EX bli_dgemm_ex
#else
#define GEMM_EX bli_sgemm_ex
#endif

void gemm_init(void)
{
    int arch = choose_arch();
    if (arch >= 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", arch);
        setenv(GEMM_ARCH_TYPE, number, 0); /* a value set by the user takes precedence */
    }
    bli_init();
}

const char *gemm_library(void)
{
    /* The text is written at run time, since the version and the kernel set are only known then.
     * Every call writes the same text. */
    static _Thread_local char text[64];
    snprintf(text, sizeof text, "BLIS %s %s", bli_info_get_version_str(),
             bli_arch_string(bli_arch_query_id()));
    return text;
}

void gemm(size_t m, size_t n, size_t k, real *c, size_t ldc, struct gemm_operand a,
          struct gemm_operand b, bool add)
{
    /* Each product uses one thread, regardless of BLIS_NUM_THREADS and OMP_NUM_THREADS, because
     * several threads call gemm at once. The casts drop const because BLIS declares input operands
     * without const. */
    rntm_t one_thread = BLIS_RNTM_INITIALIZER;
    bli_rntm_set_num_threads(1, &one_thread);
    real one = 1, beta = add ? 1 : 0;
    real *a_data = (real *)(uintptr_t)a.data, *b_data = (real *)(uintptr_t)b.data;
    inc_t a_row = a.transposed ? 1 : (inc_t)a.ld, a_column = a.transposed ? (inc_t)a.ld : 1;
    inc_t b_row = b.transposed ? 1 : (inc_t)b.ld, b_column = b.transposed ? (inc_t)b.ld : 1;
    GEMM_EX(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, (dim_t)m, (dim_t)n, (dim_t)k, &one, a_data, a_row,
            a_column, b_data, b_row, b_column, &beta, c, (inc_t)ldc, 1, NULL, &one_thread);
}
