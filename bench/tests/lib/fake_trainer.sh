#!/usr/bin/env bash
# Replaces train_cnn in tests of the runner: writes the records of one timed step that took 40 ms / ranks. $FAKE_FAIL and
# $FAKE_HANG name a strategy whose ranks fail, or hang and ignore SIGTERM, with children in sessions of their own. Every
# process has the folder of the records in its command line.
set -u
source=generated dir='' asked=false
for argument; do
    case $argument in
    --record=*) dir=${argument#*=} ;;
    --sync.strategy=*) strategy=${argument#*=} ;;
    --identify) asked=true ;;
    esac
done
# A file of shell code that may change the records.
# shellcheck disable=SC1090 # of the test
[ -z "${FAKE_FACTS:-}" ] || . "$FAKE_FACTS"
facts='"precision":"f32","mpi":"none","blas":"none","dataset":"digits","data_source":"'$source'"'
if "$asked"; then
    echo "{$facts}"
    exit
fi
host=fake
[ -z "${FAKE_HOSTS:-}" ] || host=$(hostname) # each node's own
: >>"$dir/rank.$PMI_RANK.jsonl" # it has started
rank=$PMI_RANK ranks=$PMI_SIZE step_ns=$((40000000 / PMI_SIZE))

if [ "${FAKE_FAIL:-}" = "$strategy" ]; then
    echo "fake trainer: no luck" >&2
    exit 3
fi
if [ "${FAKE_HANG:-}" = "$strategy" ]; then
    trap '' TERM
    # shellcheck disable=SC2016 # expands in the other shell
    setsid bash -c 'exec -a "$0" sleep 300' "$dir" &
    setsid bash -c 'trap "" TERM; sleep 300; exit' "$dir" &
    touch "$dir/hangs.$rank"
    sleep 300
fi

cat >"$dir/rank.$rank.jsonl" <<END
{"type":"hello","schema":1,"rank":$rank,"ranks":$ranks,"host":"$host","pid":$$,"workload":"train_cnn",$facts,"model":"softmax_784","params":7850,"flops_forward":15680,"flops_backward":15680,"data_path":"generated","train_images":60000,"test_images":10000,"read_s":0.01,"optimizer":"sgd","lr":0.01,"seed":1,"strategy":"$strategy","sync_variant":"usual","sync_algorithm":"auto","overlap":"none","batch":$((100 / ranks)),"global_batch":100,"threads":1,"bound":"$rank","mpi_thread_level":"single","flushes_denormals":true,"timer_resolution_ns":1,"timer_overhead_ns":20}
{"type":"step","epoch":0,"step":1,"timed":true,"samples":$((100 / ranks)),"begin_ns":0,"end_ns":$step_ns,"load_ns":0,"forward_ns":$step_ns,"backward_ns":0,"pack_ns":0,"comm_total_ns":0,"comm_exposed_ns":0,"optimizer_ns":0,"arrive_ns":0,"poll_ns":0,"loss_sum":1.0,"correct":1,"hash":"0011223344556677"}
{"type":"epoch","epoch":0,"seconds":1.0,"steps":600,"samples":60000,"train_loss":0.3,"train_acc_pct":90.0,"lr":0.01}
{"type":"eval","epoch":0,"seconds":0.1,"samples":10000,"test_loss":0.3,"test_acc_pct":91.0}
{"type":"end","status":"ok","steps":1,"timed_steps":1,"window_ns":$step_ns,"window_cpu_ns":$step_ns,"poll_ns":0,"calls":1,"bytes_payload":31400,"bytes_wire":31400,"messages_wire":1,"wire_source":"none","user_s":0.1,"sys_s":0.0,"rss_mib":10.0,"check":"step","weights_equal":true,"first_difference":""}
END
