#!/bin/sh
# A program that records the time of each step, so that its points have step_p95_ms, step_max_ms and trends:
#     workload: {command: [steps.sh, "{record}", "{ranks}"]}
# Each rank writes rank.N.jsonl in the folder {record}: a line of type hello, one line per step and a line of type
# end. A launch without the last line does not count. bench/record/metrics.def lists all fields. The fields below
# are required; use 0, "" or null if a program has no value.
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}} ranks=$2 steps=12 warmup=2 window=0
exec >"$1/rank.$rank.jsonl"

line() { # fields, in several words
    echo "{$*}"
}

line '"type": "hello", "schema": 1,' "\"rank\": $rank, \"ranks\": $ranks, \"host\": \"$(uname -n)\"," \
    '"mpi": "", "blas": "", "bound": "", "read_s": null, "precision": "", "model": "", "params": 0,' \
    '"flops_forward": 0, "flops_backward": 0, "dataset": "", "data_source": "", "batch": 0, "global_batch": 0,' \
    '"strategy": "", "sync_variant": "", "sync_algorithm": ""'

for step in $(seq 0 $((warmup + steps - 1))); do
    timed=false
    [ "$step" -lt "$warmup" ] || timed=true
    begin=$(date +%s%N)
    sleep 0.01 # the work
    end=$(date +%s%N)
    [ $timed = false ] || window=$((window + end - begin))
    line '"type": "step", "epoch": 0,' "\"step\": $step, \"timed\": $timed, \"begin_ns\": $begin, \"end_ns\": $end," \
        '"samples": 0, "load_ns": 0, "forward_ns": 0, "backward_ns": 0, "pack_ns": 0, "comm_total_ns": 0,' \
        '"comm_exposed_ns": 0, "arrive_ns": 0, "poll_ns": 0, "optimizer_ns": 0, "loss_sum": 0, "hash": ""'
done

line '"type": "end", "status": "ok",' "\"steps\": $((warmup + steps)), \"timed_steps\": $steps, \"window_ns\": $window," \
    '"window_cpu_ns": 0, "poll_ns": 0, "calls": 0, "bytes_payload": 0, "bytes_wire": 0, "messages_wire": 0,' \
    '"wire_source": "", "user_s": null, "sys_s": null, "rss_mib": null, "check": "", "weights_equal": null,' \
    '"first_difference": ""'
