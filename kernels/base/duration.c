#include "kernels/base/duration.h"

#include <stdio.h>

char *duration_text(char text[32], double seconds)
{
    long s = seconds > 0 ? (long)(seconds + 0.5) : 0;
    if (s < 60)
        snprintf(text, 32, "%ld s", s);
    else if (s < 3600)
        snprintf(text, 32, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, 32, "%ld h %ld min", s / 3600, s / 60 % 60);
    return text;
}
