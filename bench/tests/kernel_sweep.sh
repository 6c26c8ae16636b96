#!/usr/bin/env bash
# Tests the sweep over operations and layers at tiny sizes, alone and as a campaign: its table, its verdicts (also on wrong
# results), its figure and its error messages.
# tier: rest
# cores: 1
# seconds: 30
set -u
. bench/tests/lib/tap.sh

sweep=$build/kernel_sweep
tiny=(--batch 3 --repeats 3)
run=$tmp/results/kernels_quick/latest

# Columns by name for awk, which sets col[] and skips the header.
# shellcheck disable=SC2016 # the names are awk's
fields='NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; n = NF; next }'

every_network_is_right() {
    expect 0 " rows, 0 beyond their bound" "$scalebench" run configs/kernels.yaml --out "$tmp/results" \
        --set "form=quick workload.options.plan=fast,exact" && cp "$run/kernels.csv" "$tmp/all.csv" || return 1
    awk -F, -v wanted="$(find configs/models -name '*.yaml' | wc -l)" "$fields"' NF != n || $(col["verdict"]) != "ok" { print; bad = 1 }
        { seen[$(col["model"])]; parts[$(col["part"])]; plans[$(col["plan"])] }
        END { for (m in seen) models++; exit bad || models != wanted || !("op" in parts) ||
            !("layer" in parts) || !("net" in parts) || !("fast" in plans) || !("exact" in plans) }' \
        "$tmp/all.csv"
}

header_is_the_table() {
    awk -F, '$1 == "kernels.csv" { print $2 }' "$run/columns.csv" | cmp - <(head -n 1 "$tmp/all.csv" | tr , '\n')
}

# Tests every layer alone, forward, and backward if an earlier layer has parameters; and all layers in the operations of
# the plan.
every_layer_is_there() {
    "$scalebench" model lenet_21k | awk 'NR > 2 && $1 !~ /^(total|parameters)/ { print $1 }' |
        sort >"$tmp/layers.txt"
    awk -F, "$fields"' $(col["model"]) == "lenet_21k" && $(col["plan"]) == "fast" &&
        $(col["part"]) == "layer" && $(col["pass"]) == pass { print $(col["layers"]) }' \
        pass=forward "$tmp/all.csv" | sort | cmp - "$tmp/layers.txt" &&
        awk -F, "$fields"' $(col["model"]) == "lenet_21k" && $(col["plan"]) == "fast" &&
        $(col["part"]) == "layer" && $(col["pass"]) == pass { print $(col["layers"]) }' \
            pass=backward "$tmp/all.csv" | sort | cmp - "$tmp/layers.txt" &&
        awk -F, "$fields"' $(col["model"]) == "lenet_21k" && $(col["plan"]) == "fast" &&
        $(col["part"]) == "op" && $(col["pass"]) == "forward" { print $(col["layers"]) }' \
            "$tmp/all.csv" | tr + '\n' | sort | cmp - "$tmp/layers.txt"
}

# Rates follow from their parts, and the ratios of two plans are reciprocal.
numbers_agree() {
    awk -F, "$fields"'
        function far(a, b) { return (a - b) ^ 2 > 1e-8 * b ^ 2 }
        $(col["flop"]) > 0 && far($(col["gflop_per_s"]), $(col["flop"]) / $(col["time_ms"]) / 1e6) ||
            far($(col["peak_pct"]), 100 * $(col["gflop_done_per_s"]) / $(col["peak_gflop_per_s"])) {
            print
            bad = 1
        }
        $(col["part"]) == "net" {
            key = $(col["model"]) $(col["pass"])
            if (key in ratio && far(ratio[key] * $(col["ratio"]), 1)) { print; bad = 1 }
            pairs += key in ratio
            ratio[key] = $(col["ratio"])
        }
        END { exit bad || pairs < 6 }' "$tmp/all.csv"
}

# A training step has the operations of both passes, takes at least as long as each, and its ratio is within those of its
# own rounds.
whole_steps_are_there() {
    awk -F, "$fields"'
        function far(a, b) { return (a - b) ^ 2 > 1e-8 * b ^ 2 }
        $(col["part"]) != "net" { next }
        { key = $(col["model"]) " " $(col["plan"]) }
        $(col["pass"]) != "train" {
            flop[key] += $(col["flop"])
            done[key] += $(col["flop_done"])
            if (least[key] < $(col["time_ms_lo"])) least[key] = $(col["time_ms_lo"])
            next
        }
        far($(col["flop"]), flop[key]) || far($(col["flop_done"]), done[key]) ||
            $(col["time_ms_hi"]) < least[key] || $(col["done_pct"]) <= 0 ||
            $(col["done_pct_lo"]) > $(col["done_pct"]) || $(col["done_pct_hi"]) < $(col["done_pct"]) ||
            far($(col["gflop_done_per_s"]), $(col["flop_done"]) / $(col["time_ms"]) / 1e6) {
            print
            bad = 1
        }
        { trained++ }
        END { exit bad || trained < 6 }' "$tmp/all.csv"
}

finds_what_is_wrong() {
    expect 2 "--spoil: model lenet_21k has no layer 'conv9'" "$sweep" "${tiny[@]}" --model lenet_21k --spoil conv9 || return 1
    "$sweep" "${tiny[@]}" --model lenet_21k --spoil conv2 >"$tmp/spoilt.csv"
    [ $? -eq 1 ] || return 1
    awk -F, "$fields"' $(col["layers"]) == "conv1" && $(col["pass"]) == "forward" &&
            $(col["verdict"]) != "ok" { print; bad = 1 }
        $(col["layers"]) ~ /conv2/ && ($(col["pass"]) == "forward" || $(col["part"]) == "layer") {
            wrong[$(col["part"])] += $(col["verdict"]) == "exceeds bound"
        }
        END { exit bad || wrong["op"] != 1 || wrong["layer"] != 2 }' "$tmp/spoilt.csv"
}

# The table has the rows, the launch has failed, and the same command retries it.
a_run_with_a_wrong_result_fails() {
    cat >"$tmp/spoilt.yaml" <<END
ranks: 1
workload: {command: [kernel_sweep, --model=lenet_21k, --batch=3, --repeats=3, --spoil=conv2, "--record={record}"]}
measure: {time: {launches: 1..1}, retries: 0}
figures: []
END
    for _ in 1 2; do
        expect 1 "exit status 1: kernel_sweep: 10 results exceed their bound" "$scalebench" run "$tmp/spoilt.yaml" \
            --out "$tmp/results" || return 1
    done
    grep -q "^WRONG: lenet_21k fast layer conv2 forward" "$tmp/expect.log" &&
        [ "$(grep -c 'exceeds bound' "$tmp/results/spoilt/latest/kernels.csv")" -eq 10 ] &&
        [ "$(find "$tmp/results/spoilt/latest/launches/" -name log.txt | wc -l)" -eq 2 ]
}

# Existing rows are not measured again: one more network is one more launch.
resumes() {
    local kept=(--out "$tmp/results" --set)
    "$scalebench" run configs/kernels.yaml "${kept[@]}" "form=quick matrix.workload.options.net=[lenet_21k]" || return 1
    cp "$run/kernels.csv" "$tmp/one.csv"
    expect 0 "[2/2] net=softmax_784" "$scalebench" run configs/kernels.yaml "${kept[@]}" \
        "form=quick matrix.workload.options.net=[softmax_784,lenet_21k]" || return 1
    sed 1d "$tmp/one.csv" | cmp - <(grep ^lenet_21k, "$run/kernels.csv") && grep -q ^softmax_784, "$run/kernels.csv"
}

# Two instruction sets alternate like two plans, each with its own peak. Rounded operands are judged by their largest effect
# on results, and 16-bit storage halves the traffic: input and output of the second operation.
two_instruction_sets_take_turns() {
    local first=portable second
    second=$("$sweep" --model softmax_784 --batch 1 --repeats 1 --part ops | awk -F, "$fields"'{ print $(col["isa"]); exit }')
    "$sweep" "${tiny[@]}" --model vgg_mini --part ops --isa "$first,$second" >"$tmp/sets.csv" || return 1
    if grep -qw avx512_bf16 /proc/cpuinfo; then
        "$sweep" "${tiny[@]}" --model vgg_mini --part ops --isa "avx512,avx512_bf16" >>"$tmp/sets.csv" || return 1
    fi
    awk -F, "$fields"' $(col["part"]) == "op" && $(col["position"]) == 1 && $(col["pass"]) == "forward" {
            second_op[$(col["isa"])] = $(col["bytes"])
        }
        END { exit ("avx512_bf16" in second_op) && second_op["avx512_bf16"] > 0.6 * second_op["avx512"] }' "$tmp/sets.csv" &&
    awk -F, "$fields"' $1 == "model" || $(col["part"]) != "net" { next }
        $(col["verdict"]) != "ok" || $(col["unit_gflop_per_s"]) <= 0 ||
            $(col["isa"]) != $(col["other_isa"]) && $(col["ratio"]) <= 0 { print; bad = 1 }
        { pairs += $(col["other_isa"]) != "" }
        END { exit bad || pairs < 6 }' "$tmp/sets.csv"
}

takes_one_layer() {
    "$sweep" "${tiny[@]}" --model lenet_21k --isa portable --layer fc1 >"$tmp/one.csv" || return 1
    awk -F, "$fields"' $(col["layers"]) !~ /(^|\+)fc1(\+|$)/ || $(col["isa"]) != "portable" { bad = 1 }
        END { exit bad || NR < 3 }' "$tmp/one.csv"
}

# With the operations of one plan, the row of the whole network is last and nothing else is timed.
takes_one_part() {
    "$sweep" "${tiny[@]}" --model lenet_21k --part ops >"$tmp/ops.csv" &&
        "$sweep" "${tiny[@]}" --model lenet_21k --part layers >"$tmp/layers.csv" || return 1
    awk -F, "$fields"' $(col["part"]) == "layer" { bad = 1 } { last = $(col["pass"]) }
        END { exit bad || last != "train" }' "$tmp/ops.csv" &&
        awk -F, "$fields"' $(col["part"]) != "layer" { bad = 1 } END { exit bad || NR < 4 }' \
            "$tmp/layers.csv"
}

draws() {
    grep -q 'roof: ' "$run/roofline.svg" && [ -s "$run/roofline.png" ] || return 1
    rm "$run"/roofline.*
    expect 0 "roofline.svg" "$scalebench" figures "$run/kernels.csv" && [ -s "$run/roofline.svg" ] || return 1
    rm "$run"/roofline.*
    expect 0 "roofline.svg" "$scalebench" figures kernels_quick --out "$tmp/results" && [ -s "$run/roofline.svg" ]
}

# The copied reference is complete without launches: table, figure, its part of a page.
keeps() {
    mv "$tmp/results/kernels_quick" "$tmp/results/kernels"
    INTO=$tmp/kept OUT=$tmp/results BUILD=$build ci/references.sh keep kernels &&
        grep -q "roof: " "$tmp/kept/kernels/roofline.svg" &&
        expect 0 " rows, 0 beyond their bound" "$scalebench" table "$tmp/kept/kernels" &&
        expect 0 "1 figure of 1 run" "$scalebench" report "$tmp/kept/kernels" --output "$tmp/page.html" &&
        grep -q 'id="kernels-roofline"' "$tmp/page.html" &&
        expect 0 "1 figure of 1 run" "$scalebench" report kernels --out "$tmp/results" --output "$tmp/page.html" &&
        expect 2 "found sweeps: 'kernels' is a sweep (kernels.csv)" "$scalebench" compare kernels --out "$tmp/results"
}

# An operation that skips FLOPs is placed by its performed FLOPs, below the peak.
saved_operations_stand_under_the_roof() {
    mkdir -p "$tmp/roof"
    printf '%s\n' part,plan,model,pass,flop,flop_done,bytes,gflop_per_s,gflop_done_per_s,intensity,unit_gflop_per_s,memory_gbyte_per_s,isa,batch,blas,repeats \
        op,fast,saving,forward,3000,1000,10,300,100,300,120,10,avx2,1,BLIS,1 \
        op,fast,plain,forward,1000,1000,10,120,120,100,120,10,avx2,1,BLIS,1 >"$tmp/roof/kernels.csv"
    "$scalebench" figures "$tmp/roof/kernels.csv" >/dev/null || return 1
    # The first two of four marks belong to the legend; y grows downwards.
    sed -n "s/.*<use xlink:href='#gpPt[0-9]*' transform='translate(\([0-9.]*\),\([0-9.]*\)).*/\1 \2/p" "$tmp/roof/roofline.svg" |
        awk 'NR == 3 { x = $1; y = $2 } NR == 4 { exit !($1 == x && $2 < y) } END { if (NR < 4) exit 1 }'
}

check "every network agrees with the reference plan" every_network_is_right
check "the header is the table of columns" header_is_the_table
check "every layer is there" every_layer_is_there
check "numbers agree" numbers_agree
check "whole training steps have rows with their share of the peak" whole_steps_are_there
check "a wrong result is found" finds_what_is_wrong
check "a wrong result fails its launch, and is shown" a_run_with_a_wrong_result_fails
check "two instruction sets take turns" two_instruction_sets_take_turns
check "one layer, one instruction set" takes_one_layer
check "one part" takes_one_part
check "the roofline is drawn" draws
check "a run resumes" resumes
check "a run is kept" keeps
check "saved operations stand under the roof" saved_operations_stand_under_the_roof
check "an unknown network is named" expect 2 "lenet_21k" "$sweep" --model lenet_22k
check "a network is wanted" expect 2 "--model is missing" "$sweep"
check "an unknown layer is named" expect 2 "no layer 'conv9'" "$sweep" --model lenet_21k --layer conv9
check "an unknown part is named" expect 2 "known: all" "$sweep" --part stps
check "an unknown plan is named" expect 2 "nearest 'fast'" "$sweep" --plan fst
check "three plans are too many" expect 2 "found 3 names, expected 1..2" "$sweep" --model lenet_21k --plan fast,exact,reference
check "two plans and two sets are too many" expect 2 "expected at most two combinations" \
    "$sweep" --model lenet_21k --plan fast,exact --isa portable,avx2
check "an unknown set is named" expect 2 "nearest 'avx2'" "$sweep" --isa avx1
check "a batch of nothing is refused" expect 2 "1..65536" "$sweep" --batch 0
finish
