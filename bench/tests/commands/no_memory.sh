#!/usr/bin/env bash
# Tests commands without memory: whichever allocation of scalebench fails, they end with a message and their own exit
# status, not with a signal. Some tens of allocations per command are tried; FAULTS=all: every one.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

if grep -q __asan_init "$scalebench"; then
    skip "commands without memory" "sanitizers have an allocator of their own"
    finish
fi

# Fails the program's own allocation number $FAIL_AT. Failures inside libraries are not tested.
cat >"$tmp/fail.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static long count, wanted;
static Dl_info program;

static int fails(const void *caller)
{
    static int begun;
    Dl_info info;
    if (!begun) {
        begun = 1;
        wanted = getenv("FAIL_AT") != NULL ? atol(getenv("FAIL_AT")) : 0;
        dladdr((void *)getauxval(AT_PHDR), &program);
    }
    return dladdr(caller, &info) != 0 && info.dli_fbase == program.dli_fbase && ++count == wanted;
}
#define OR_FAIL(call) (fails(__builtin_return_address(0)) ? (errno = ENOMEM, (void *)0) : (call))

void *malloc(size_t n) { return OR_FAIL(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return OR_FAIL(__libc_calloc(n, size)); }
void *realloc(void *p, size_t n) { return OR_FAIL(__libc_realloc(p, n)); }
void *reallocarray(void *p, size_t n, size_t size)
{
    return OR_FAIL(size > 0 && n > SIZE_MAX / size ? (void *)0 : __libc_realloc(p, n * size));
}
char *strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = OR_FAIL(__libc_malloc(n));
    return copy != NULL ? memcpy(copy, text, n) : NULL;
}
char *strndup(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    char *copy = OR_FAIL(__libc_malloc(n + 1));
    if (copy != NULL) {
        memcpy(copy, text, n);
        copy[n] = '\0';
    }
    return copy;
}
__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FAIL_COUNT");
    FILE *out = path != NULL ? fopen(path, "w") : NULL;
    if (out != NULL) {
        fprintf(out, "%ld\n", count);
        fclose(out);
    }
}
END
check "an allocator that fails is made" "${CC:-gcc}" -shared -fPIC -O1 -w -o "$tmp/fail.so" "$tmp/fail.c"

with_memory_for() { # how many allocations, command...
    local at=$1
    shift
    env LD_PRELOAD="$tmp/fail.so" FAIL_AT="$at" FAIL_COUNT="$tmp/count" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
}

# Prints the first twenty numbers, then increasingly sparse ones.
numbers() { # how many there are
    if [ "${FAULTS:-}" = all ]; then seq "$1"; else
        awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i += i < 20 ? 1 : int(i / 8)) print i; print n }'
    fi
}

says_so() { # exit status of the undisturbed command, command...
    local want=$1 status at all tried=0
    shift
    with_memory_for 0 "$@"
    status=$?
    all=$(cat "$tmp/count")
    if [ "$status" -ne "$want" ] || [ "$all" -le 20 ]; then
        echo "exit status $status, $all allocations"
        cat "$tmp/err"
        return 1
    fi
    for at in $(numbers "$all"); do
        with_memory_for "$at" "$@"
        status=$?
        tried=$((tried + 1))
        if [ "$status" -ge 128 ] || { [ "$status" -ne "$want" ] && [ ! -s "$tmp/err" ]; }; then
            echo "allocation $at of $all: exit status $status"
            cat "$tmp/err"
            return 1
        fi
    done
    echo "$tried of $all allocations"
}

cat >"$tmp/cases.yaml" <<'END'
name: cases
scaling: strong
model: softmax_784
data: {set: digits}
train: {global_batch: 64}
cases:
  - {label: one}
  - {label: two, train.clip_norm: 0.1, matrix: {ranks: [1, 2, 3]}}
  - {label: theirs, workload: {command: [echo, "{ranks}"], metrics: ["x = ([0-9]+)"]}}
exclude: ["ranks > 2 and train.clip_norm > 0.05"]
figures: [time, {kind: line, x: ranks, y: step_ms, series: case, where: "ranks < 9"}]
END
run=results/reference/strong_scaling
cp -r "$run" "$tmp/run"

check "plan" says_so 0 "$scalebench" plan "$tmp/cases.yaml"
check "export" says_so 0 "$scalebench" export "$tmp/cases.yaml" --point 1 --output "$tmp/traces"
check "compare" says_so 0 "$scalebench" compare "$run" "$run" --output "$tmp/compared"
check "check" says_so 1 "$scalebench" check "$run" "speedup > 1 where ranks = 2 or not status != ok"
check "claims" says_so 0 "$scalebench" claims results/claims.yaml --output "$tmp/told"
check "table" says_so 0 "$scalebench" table "$run"
check "schema" says_so 0 "$scalebench" schema
check "figures" says_so 2 "$scalebench" figures "$tmp/run" \
    --set "figures=[{kind: line, x: ranks, y: step_ms, series: sync.strategy, published: {file: none.csv, keys: [ranks], values: [step_ms]}}]"
finish
