#!/usr/bin/env bash
# Tests campaigns that start emulated hosts: which processes run there, and that none is left, however the campaign ends.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

ci/netns.sh probe >"$tmp/probe.log" 2>&1
case $? in
0) check "hosts can be had" true ;;
3)
    cat "$tmp/probe.log"
    lacks "campaigns that bring their hosts up" netns
    finish
    exit
    ;;
*) check "hosts can be had" sh -c "cat '$tmp/probe.log'; exit 1" ;;
esac

# Programs get a home whose ci/netns.sh logs its calls.
export SCALEBENCH_HOME=$tmp/home
mkdir -p "$tmp/home/ci"
ln -s "$PWD/configs" "$PWD/plots" "$tmp/home"
cat >"$tmp/home/ci/netns.sh" <<END
#!/usr/bin/env bash
echo "\$\$ \$*" >>"$tmp/calls"
exec "$PWD/ci/netns.sh" "\$@"
END
chmod +x "$tmp/home/ci/netns.sh"

calls() { # word; prints the number of logged calls and clears the log
    grep -cw -- "$1" "$tmp/calls" 2>/dev/null
}

ours() { # prints names of namespaces of earlier holders
    local owner _
    while read -r owner _; do
        compgen -G "/run/netns/sb${owner}t*"
    done < <(grep -w hold "$tmp/calls")
}

are_up() {
    [ -n "$(ours)" ]
}

are_gone() {
    [ -z "$(ours)" ]
}

spec() { # name, steps
    cat >"$tmp/$1.yaml" <<END
name: $1
site: {kind: emulated, hosts: 3}
model: softmax_784
data: {set: digits, samples: 2000}
train: {global_batch: 64}
nodes: 2
ranks_per_node: 1
sync.strategy: ring
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 2, steps: $2, launches: 1..1}}
figures: []
END
}
spec rates 5
echo 'matrix: {site.rate: [100mbit, none, 1gbit]}' >>"$tmp/rates.yaml"
spec long 1000000

run() { # name
    "$scalebench" run "$tmp/$1.yaml" --out "$tmp/out"
}

column() { # name, campaign
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$tmp/out/$2/latest/summary.csv"
}

plan_brings_nothing_up() {
    expect 0 "netns.sh --hosts 3 --rate 100mbit --delay none exec $mpiexec -rmk user" \
        "$scalebench" plan "$tmp/rates.yaml" --commands --out "$tmp/out" && [ "$(calls probe)" -eq 3 ] &&
        [ "$(calls hold)" -eq 0 ]
}
check "a plan brings nothing up" plan_brings_nothing_up

rows_have_their_own_rate() {
    : >"$tmp/calls"
    run rates || return 1
    paste -d' ' <(column status rates) <(column kind rates) <(column link rates) | tee /dev/stderr |
        cmp - <(printf 'ok emulated %s delay none\n' 100mbit none 1gbit) || return 1
    [ "$(calls hold)" -eq 1 ] && [ "$(calls enter)" -eq 3 ] && are_gone
}
check "a rate is an axis, and the hosts go with the last launch" rows_have_their_own_rate

again_brings_nothing_up() {
    : >"$tmp/calls"
    run rates && [ "$(calls hold)" -eq 0 ]
}
check "finished points start no hosts" again_brings_nothing_up

queue() { # ID, host
    tc -n "$1-$2" qdisc show dev eth0
}

shapes_anew() {
    local ready id
    coproc HELD { "$tmp/home/ci/netns.sh" --hosts 2 hold; }
    local pid=$HELD_PID line=${HELD[1]}
    read -r ready id <&"${HELD[0]}"
    [ "$ready" = ready ] && queue "$id" node1 | tee /dev/stderr | grep -q "rate 1Gbit burst 262" || return 1
    echo "rate 100mbit delay none" >&"${HELD[1]}"
    read -r ready <&"${HELD[0]}"
    [ "$ready" = ready ] && queue "$id" node1 | tee /dev/stderr | grep -q "rate 100Mbit burst 64Kb " || return 1
    echo "rate none delay none" >&"${HELD[1]}"
    read -r ready <&"${HELD[0]}"
    [ "$ready" = ready ] && ! queue "$id" node1 | grep "rate" || return 1
    [ "$(ci/netns.sh enter "$id" hostname -I)" = "10.77.0.254 " ] || return 1
    exec {line}>&-
    wait "$pid" && are_gone
}
check "links are shaped anew, and hosts end with their line" shapes_anew

# Without rendezvous MPI_Finalize would hang in other programs; a user's own setting is kept.
sends_without_rendezvous() {
    spec own 3
    grep -vE "^(model|data|train|sync|measure)" "$tmp/own.yaml" >"$tmp/foreign.yaml"
    echo 'workload: {command: [true]}' >>"$tmp/foreign.yaml"
    "$scalebench" plan "$tmp/own.yaml" --commands | grep -c " UCX_RNDV_THRESH=inf " || return 1
    ! UCX_RNDV_THRESH=1m "$scalebench" plan "$tmp/own.yaml" --commands | grep "UCX_RNDV_THRESH" || return 1
    "$scalebench" plan "$tmp/foreign.yaml" --commands | grep "/true" &&
        ! "$scalebench" plan "$tmp/foreign.yaml" --commands | grep "UCX_RNDV_THRESH"
}
check "the trainer sends without a rendezvous, other programs do not" sends_without_rendezvous

starts() { # sets $runner and waits for its ranks
    : >"$tmp/calls"
    set -m
    "$scalebench" run "$tmp/long.yaml" --out "$tmp/out" --fresh >"$tmp/long.log" 2>&1 &
    runner=$!
    set +m
    until_true processes "record=$tmp/out/long"
}

ends() { # name of the test
    until_true are_gone || {
        ours
        return 1
    }
    gone "record=$tmp/out/long"
}

an_interrupt_takes_them_down() {
    starts || return 1
    are_up || return 1
    kill -INT "$runner"
    wait "$runner"
    [ $? -eq 130 ] && are_gone && ends
}
check "an interrupt takes all down" an_interrupt_takes_them_down

a_kill_takes_them_down() {
    starts || return 1
    kill -KILL "$runner"
    wait "$runner"
    ends
}
check "the death of the campaign takes all down" a_kill_takes_them_down

a_holder_is_replaced() {
    : >"$tmp/calls"
    sed 's/^name: .*/name: twice/; s/steps: 5, launches: 1..1/steps: 5, launches: 4..4/' \
        "$tmp/rates.yaml" >"$tmp/twice.yaml"
    run twice &
    local runner=$! holder
    until_true grep -qw enter "$tmp/calls" && read -r holder _ < <(grep -w hold "$tmp/calls")
    kill -KILL "$holder"
    wait "$runner" && [ "$(calls hold)" -eq 2 ] && are_gone
}
check "a campaign that loses its hosts makes others" a_holder_is_replaced

# Kills a runner and the holder of its hosts. Another test that starts hosts may remove them at once.
leaves_hosts() {
    local holder
    starts || return 1
    read -r holder _ < <(grep -w hold "$tmp/calls")
    kill -KILL "$runner" "$holder"
    wait "$runner"
    gone "record=$tmp/out/long" && are_up
}

# Names of dead owners are removed at the next start; those of living ones, or of other PID namespaces, are kept.
the_next_start_sweeps() {
    local id _ other=sb1t1n1-node0
    leaves_hosts || leaves_hosts || leaves_hosts || return 1
    coproc LIVING { ci/netns.sh hold; }
    local line=${LIVING[1]} living=$LIVING_PID
    read -r _ id <&"${LIVING[0]}"
    ip netns add "$other"
    local status=1
    ci/netns.sh exec true && are_gone && [ -e "/run/netns/$other" ] &&
        [ "$(compgen -G "/run/netns/$id-*" | wc -l)" -eq 3 ] && status=0
    ip netns del "$other"
    exec {line}>&-
    wait "$living"
    return "$status"
}
check "the next start removes only what dead runs left" the_next_start_sweeps

missing_tools_are_named() {
    local tc
    tc=$(readlink -f "$(PATH=$PATH:/usr/sbin:/sbin command -v tc)")
    expect 3 "site: emulated: tc is missing" unshare --mount sh -c \
        "mount --bind /dev/null '$tc' && exec '$scalebench' run '$tmp/rates.yaml' --out '$tmp/none'" &&
        [ "$(wc -l <"$tmp/expect.log")" -eq 1 ]
}
check "missing requirements are reported in one line" missing_tools_are_named

# Root of a user namespace that an unprivileged user made.
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$tmp/nobody" HOME="$tmp/nobody"
    SCALEBENCH_HOME="$PWD" SCALEBENCH_LOCKS="$tmp/nobody/locks")
mkdir -m 777 "$tmp/nobody"
chmod 755 "$tmp"
# One of the ten messages of five steps may leave before the first step.
as_a_user() {
    sed 's/^name: .*/name: user/' "$tmp/rates.yaml" >"$tmp/nobody/user.yaml"
    "${nobody[@]}" "$scalebench" run "$tmp/nobody/user.yaml" --out "$tmp/nobody/out" || return 1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["status"] != "ok" || $at["bytes_nic"] < 0.9 * $at["bytes_wire"] { wrong = 1 }
        END { exit wrong || NR != 4 }' "$tmp/nobody/out/user/latest/summary.csv"
}
if [ "$(id -u)" -ne 0 ]; then
    skip "a user has hosts in a namespace of users" "not root, who can become somebody else: all above is that"
elif "${nobody[@]}" ci/netns.sh probe >"$tmp/probe.log" 2>&1; then
    check "a user has hosts in a namespace of users" as_a_user
else
    skip "a user has hosts in a namespace of users" "$(tail -n 1 "$tmp/probe.log")"
fi
finish
