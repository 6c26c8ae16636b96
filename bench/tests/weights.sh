#!/usr/bin/env bash
# Compares the weights after three steps with the hashes in weights.csv, bit by bit: every network with every plan on every
# instruction set, and every strategy in each configuration at 2 and 3 ranks. A change that alters results on purpose writes
# the list again and explains why:
#     bench/tests/weights.sh write
# Compiler and libraries determine the last bit. If they differ from those in the list's first line, the test is skipped.
# tier: rest
# cores: 1
# seconds: 70
set -u
. bench/tests/lib/tap.sh
list=bench/tests/weights.csv
dirs=$tmp/records
mkdir -p "$dirs"

tools_here() {
    printf '# gcc %s, glibc %s, MPICH %s, %s\n' "$(gcc -dumpfullversion)" \
        "$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" \
        "$("$mpiexec" --version | sed -n 's/ *Version: *//p' | head -1)" "$(blis_of_a_record)"
}

blis_of_a_record() {
    hash_of avx2 softmax_784 reference 1 '' >/dev/null
    grep -ohE '"blas": ?"[^"]*"' "$dirs/rank.0.jsonl" | cut -d'"' -f4 | cut -d' ' -f1,2
}

# Selects BLIS' kernels for the instruction set by the numbers of blis.h 0.9: generic, haswell and skx. BLIS takes a name as 0,
# which needs AVX-512.
blis_arch() {
    case $1 in
    portable) echo 25 ;;
    avx2) echo 3 ;;
    avx512) echo 0 ;;
    esac
}

hash_of() { # isa, model, plan, ranks, options
    local set=shapes images=12
    [[ $("$scalebench" model "$2" --json) == *'"input":[1,'* ]] && set=digits
    [ "$2,$3" != vgg11_bn,reference ] || images=1 # its plain loops take a second an image
    rm -f "$dirs"/*
    # shellcheck disable=SC2086 # options are words
    SCALEBENCH_ISA=$1 BLIS_ARCH_TYPE=$(blis_arch "$1") "$mpiexec" -n "$4" "$train_cnn" --run time \
        --model "$2" --kernels.plan "$3" --data.set $set --data.samples 64 --train.global_batch $images \
        --train.optimizer adam --train.lr 0.001 --measure.time.warmup_steps 1 --measure.time.steps 2 \
        --wait yield --record "$dirs" $5 >&2 <&"$silence" || return
    grep -ohE '"hash": ?"[^"]*"' "$dirs/rank.0.jsonl" | tail -1 | cut -d'"' -f4
}

runs_here() { # isa
    [ "$1" = portable ] || grep -qwE "$1(vl)?" /proc/cpuinfo
}

# Prints the hash, or the one in the list if this processor cannot compute it.
hash_or_known() { # as hash_of
    if runs_here "$1"; then
        hash_of "$@"
    else
        grep -F "$1,$2,$3,$4,$5," $list | cut -d, -f6
    fi
}

names() { # kind
    "$scalebench" list "$1" | cut -d' ' -f1
}

# Prints every case: isa,model,plan,ranks,options. Random order of arrival gives random bits, so stale and asynchronous
# parameter servers, and fusion on three ranks, are left out.
cases() {
    local isa model plan options ranks
    for isa in portable avx2 avx512; do
        for model in $(names models); do
            for plan in fast exact reference; do
                echo "$isa,$model,$plan,1,"
            done
        done
    done
    {
        names strategies | grep -vx param_server | sed 's/^/--sync.strategy /'
        "$scalebench" list variants | grep -vE '^(usual|stale|async) ' |
            sed -E 's/^([a-z]+) +of ([a-z_]+):.*/--sync.strategy \2 --sync.variant \1/'
        names algorithms | grep -vx auto | sed 's/^/--sync.strategy allreduce --sync.algorithm /'
        names compressors | grep -vx none | sed 's/^/--sync.strategy allreduce_layer --sync.compress /'
        names precisions | grep -vx fp32 | sed 's/^/--train.precision /'
    } | while read -r options; do
        for ranks in 2 3; do
            [[ $options$ranks == *fusion3 ]] || echo "avx2,lenet_21k,fast,$ranks,$options"
        done
    done
}

holds() { # case, its hash in the list
    local now
    IFS=, read -r -a case <<<"$1"
    now=$(hash_of "${case[0]}" "${case[1]}" "${case[2]}" "${case[3]}" "${case[4]:-}") || return
    [ "$now" = "$2" ] || { echo "hash $now, in $list: $2" && return 1; }
}

if [ "${1:-}" = write ]; then
    {
        tools_here
        echo "isa,model,plan,ranks,options,weights_xxh3"
        cases | while IFS=, read -r isa model plan ranks options; do
            echo "$isa,$model,$plan,$ranks,$options,$(hash_or_known "$isa" "$model" "$plan" "$ranks" "$options")"
        done
    } >"$tmp/list"
    if grep ',$' "$tmp/list" >&2; then
        echo "$list stays as it is: these have no hash" >&2
        exit 1
    fi
    cp "$tmp/list" $list
    exit
fi

if [ "$(head -1 $list)" != "$(tools_here 2>/dev/null)" ]; then
    skip "weights" "the list is for $(head -1 $list | cut -c3-), here are $(tools_here 2>/dev/null | cut -c3-)"
else
    check "every case is in the list" diff <(cases | sort) \
        <(tail -n +3 $list | sed 's/,[^,]*$//' | sort)
    while IFS= read -r row; do
        what=${row%,*}
        if ! runs_here "${what%%,*}"; then
            skip "$what" "this processor has no ${what%%,*}"
            continue
        fi
        check "$what" holds "$what" "${row##*,}"
    done < <(tail -n +3 $list)
fi
finish
