/* Denormals appear in momentum and in Adam's second moment, and slow some processors down a
 * hundredfold. They are flushed to zero if the processor supports it. */
#include "kernels/base/fp_mode.h"

#include <stdint.h>

#if defined(__x86_64__)
#include <pmmintrin.h>
#include <xmmintrin.h>

void fp_mode_set(void)
{
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
}

bool fp_mode_flushes(void)
{
    return _MM_GET_FLUSH_ZERO_MODE() == _MM_FLUSH_ZERO_ON &&
           _MM_GET_DENORMALS_ZERO_MODE() == _MM_DENORMALS_ZERO_ON;
}

#elif defined(__aarch64__)

/* Bit of the FPCR register that flushes denormal inputs and results to zero. */
#define FPCR_FZ ((uint64_t)1 << 24)

static uint64_t fpcr_read(void)
{
    uint64_t fpcr = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}

void fp_mode_set(void)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr_read() | FPCR_FZ));
}

bool fp_mode_flushes(void)
{
    return (fpcr_read() & FPCR_FZ) != 0;
}

#else

void fp_mode_set(void)
{
}

bool fp_mode_flushes(void)
{
    return false;
}

#endif
