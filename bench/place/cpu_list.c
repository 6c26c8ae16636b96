#include "bench/place/cpu_list.h"

#include <stddef.h>
#include <stdlib.h>

/* Parses a number below CPUS_MAX. Returns the first character after it; NULL if there is no such
 * number. */
static const char *parse_number(const char *text, int *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    long value = strtol(text, &end, 10);
    if (value >= CPUS_MAX)
        return NULL;
    *number = (int)value;
    return end;
}

int cpu_list_parse(const char *text, int *cpus, int max)
{
    int n = 0;
    while (*text) {
        int low, high;
        if ((text = parse_number(text, &low)) == NULL)
            return -1;
        high = low;
        if (*text == '-' && (text = parse_number(text + 1, &high)) == NULL)
            return -1;
        if (high < low)
            return -1;
        for (int cpu = low; cpu <= high; cpu++, n++)
            if (n < max)
                cpus[n] = cpu;
        if (*text == ',' && text[1] != '\0')
            text++;
        else if (*text)
            return -1;
    }
    return n;
}

bool cpu_list_mark(bool cpus[CPUS_MAX], const char *text)
{
    int numbers[CPUS_MAX], n = cpu_list_parse(text, numbers, CPUS_MAX);
    for (int i = 0; i < n && i < CPUS_MAX; i++)
        cpus[numbers[i]] = true;
    return n >= 0;
}

bool cpu_lists_meet(const char *a, const char *b)
{
    bool in_a[CPUS_MAX] = {false};
    int numbers[CPUS_MAX], n = cpu_list_parse(b, numbers, CPUS_MAX);
    cpu_list_mark(in_a, a);
    for (int i = 0; i < n && i < CPUS_MAX; i++)
        if (in_a[numbers[i]])
            return true;
    return false;
}
