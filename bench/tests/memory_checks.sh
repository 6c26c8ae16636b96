#!/usr/bin/env bash
# Tests a training step of every network for invalid reads and leaks: with valgrind and the AVX2 kernels, since valgrind
# does not know AVX-512, or in a build with sanitizers (make asan) with every plan. It runs two steps, since the first one
# allocates the memory of later steps.
#
# vgg11_bn takes minutes in valgrind; vgg_mini does the same with 1/16 of the channels. MEMORY_CHECKS=all runs both. Nothing
# is suppressed: MPICH's leaks are not definite ones.
# tier: rest
# cores: 1
# seconds: 70
set -u
. bench/tests/lib/tap.sh

is_sanitized() {
    grep -q __asan_init "$train_cnn" || grep -q __ubsan_handle "$train_cnn"
}

images_of() { # model; prints its generated data set
    grep -q '^input: \[1, 28, 28\]' "configs/models/$1.yaml" && echo digits || echo shapes
}

# An odd number of images, so that the last vector is never full.
steps_of() { # model, images, options..., command before the trainer --
    local model=$1 images=$2 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    "$@" "$train_cnn" --model "$model" --run time --measure.time.warmup_steps 1 --measure.time.steps 1 \
        --train.batch_per_rank "$images" --train.optimizer adam --data.samples 100 \
        --data.set "$(images_of "$model")" "${options[@]}"
}

# Fails on errors and definite leaks; memory that is reachable at exit is allowed.
run_valgrind() { # command and arguments
    valgrind --quiet --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --error-exitcode=9 "$@"
}

under_valgrind() { # model, images
    SCALEBENCH_ISA=avx2 steps_of "$1" "$2" -- run_valgrind
}

models=$(basename -s .yaml configs/models/*.yaml)
if is_sanitized; then
    for model in $models; do
        for plan in fast exact reference; do
            check "two steps of $model, plan $plan, under sanitizers" \
                steps_of "$model" 3 --kernels.plan "$plan" --
        done
    done
    finish
fi

if ! command -v valgrind >/dev/null; then
    lacks "steps under valgrind" valgrind
    finish
fi

# Tests that valgrind finds such errors.
cat >"$tmp/wrong.c" <<'END'
#include <stdlib.h>
int main(int argc, char **argv)
{
    char *lost = malloc(16);
    (void)argv;
    lost[argc] = 1;
    lost = NULL;
    return lost != NULL;
}
END
check "a program that leaks is made" "${CC:-gcc}" -O0 -g -o "$tmp/wrong" "$tmp/wrong.c"
check "valgrind reports a leak" expect 9 "definitely lost" run_valgrind "$tmp/wrong"

for model in $models; do
    if [ "$model" = vgg11_bn ] && [ "${MEMORY_CHECKS:-}" != all ]; then
        continue
    fi
    # Generates the images once without valgrind, in which 70,000 images take longer than the steps.
    steps_of "$model" 3 -- >/dev/null 2>&1
    check "two steps of $model under valgrind" under_valgrind "$model" 3
done
finish
