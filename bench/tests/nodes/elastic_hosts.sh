#!/usr/bin/env bash
# Tests the loss of a host with all its processes: an elastic run continues on a spare host or on the remaining ones.
# tier: rest
# cores: 2
# seconds: 10
set -u
. bench/tests/lib/tap.sh
export SCALEBENCH_HOME=$PWD
PATH=$PATH:/usr/sbin:/sbin

ci/netns.sh probe >"$tmp/probe.log" 2>&1
if [ $? -eq 3 ] || [ "$(id -u)" -ne 0 ]; then
    cat "$tmp/probe.log"
    lacks "hosts that are gone" netns
    finish
fi

cat >"$tmp/gone.yaml" <<END
name: gone
site: {kind: emulated, hosts: 3, rate: none}
model: softmax_784
data: {set: digits, samples: 2000}
train: {global_batch: 20, epochs: 40}
nodes: 2
ranks_per_node: 1
place.oversubscribe: allow
checkpoint.every_steps: 50
restart.budget: 1
sync.deadline: 5s
inject: {kind: fixed, sleep: 1ms}  # a host is lost before the run ends
measure: {retries: 0, time: {launches: 0}, accuracy: {seeds: [1]}}
figures: []
END

column() { # name, table
    awk -F, -v name="$1" '{ gsub(/"[^"]*"/, "quoted") } NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$2"
}

# The runner's ci/netns.sh holds the hosts.
name_of_host() { # runner, host
    local holder
    holder=$(pgrep -P "$1" -f 'netns\.sh .*hold') && compgen -G "/run/netns/sb${holder}t*-$2"
}

# Removes hosts in one step for observers: names before processes.
lose() { # runner, hosts
    local host name names=() pids=()
    for host in "${@:2}"; do
        name=$(name_of_host "$1" "$host") || return
        names+=("${name##*/}")
        mapfile -t -O ${#pids[@]} pids < <(ip netns pids "${name##*/}")
    done
    for name in "${names[@]}"; do ip netns del "$name" || return; done
    kill -KILL "${pids[@]}"
}

gone_hosts=(node1)
goes_on_without() { # folder, options
    local runner epochs="$1/gone/latest/launches/*/seed1-000/log.txt"
    "$scalebench" run "$tmp/gone.yaml" --out "$1" --set "${*:2}" &
    runner=$!
    if ! until_true eval "grep -qs '^epoch 3/' $epochs" || ! lose "$runner" "${gone_hosts[@]}"; then
        kill "$runner"
        return 1
    fi
    wait "$runner" || return
    gone "$1/" || return
    cat "$1/gone/latest/segments.csv"
    [ "$(column end "$1/gone/latest/segments.csv" | xargs)" = "died done" ] &&
        [ "$(column lost_steps "$1/gone/latest/raw.csv")" -le 50 ] &&
        [ "$(column epoch "$1/gone/latest/epochs.csv" | tail -n 1)" = 40 ]
}

takes_the_spare() {
    goes_on_without "$tmp/spare" restart.with=same &&
        [ "$(column node_list "$tmp/spare/gone/latest/raw.csv")" = "node0 node2" ]
}

takes_what_is_left() {
    goes_on_without "$tmp/left" restart.with=fewer site.hosts=2 &&
        [ "$(column segment_ranks "$tmp/left/gone/latest/raw.csv") $(column node_list "$tmp/left/gone/latest/raw.csv")" = "1 node0" ]
}

says_that_none_is() {
    ! goes_on_without "$tmp/none" restart.with=same site.hosts=2 >"$tmp/none.log" 2>&1 || return
    cat "$tmp/none.log"
    grep -q "1 of 2 nodes answer, and there is no spare one" "$tmp/none/gone/latest/raw.csv"
}

says_that_nobody_is_there() {
    local gone_hosts=(node0 node1) with
    for with in same fewer; do
        ! goes_on_without "$tmp/nobody_$with" "restart.with=$with site.hosts=2" || return
        grep "none of 2 nodes answers" "$tmp/nobody_$with/gone/latest/raw.csv" || return
    done
}

# The first segment resumes on the host that the second segment also uses.
says_that_a_later_one_is_missed() {
    local gone_hosts=(node0) log=$tmp/grows.log
    ! goes_on_without "$tmp/grows" "restart.with=same site.hosts=2 inject.kind=fixed inject.sleep=2ms elastic=[{epoch: 0, ranks: 1}, {epoch: 12, ranks: 2}]" \
        >"$log" 2>&1 || return
    cat "$log"
    grep -q "the next segment needs 2 nodes, but only 1 are up after ranks died" "$log" &&
        grep -q "restarting from its checkpoint on 1 rank" "$log" && gone "$tmp/grows/"
}

check "a spare host takes the place of one that is gone" takes_the_spare
check "the remaining host continues" takes_what_is_left
check "a run without a spare host ends with a message" says_that_none_is
check "a run without hosts ends with a message" says_that_nobody_is_there
check "a host missing in a later segment is reported" says_that_a_later_one_is_missed
finish
