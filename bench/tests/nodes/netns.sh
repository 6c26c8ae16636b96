#!/usr/bin/env bash
# Tests the hosts of ci/netns.sh: ranks communicate only over interfaces, campaigns run on them, nothing is left.
# tier: rest
# cores: 2
# seconds: 30
set -u
. bench/tests/lib/tap.sh

left() { # prints hosts whose owner has ended; others may run
    local name owner
    for name in $(ip netns | sed -n 's/^\(sb[0-9]*t[^ ]*\).*/\1/p' | sort); do
        owner=${name#sb}
        [ -d "/proc/${owner%%t*}" ] || echo "$name"
    done
}

usage_errors_are_explained() {
    expect 2 "program missing" ci/netns.sh run &&
        expect 2 "--hosts 1: 2 to 16" ci/netns.sh --hosts 1 run true &&
        expect 2 "--rate fast: 1gbit, 100mbit" ci/netns.sh --rate fast run true &&
        expect 2 "unknown command 'walk'; known: run exec probe hold enter sweep" ci/netns.sh walk true &&
        expect 1 "hosts 'sb1t1n1' not found here" ci/netns.sh enter sb1t1n1 true &&
        expect 2 "unknown option --speed" ci/netns.sh --speed 3 run true &&
        expect 0 "one rank on every host" ci/netns.sh --help
}
check "usage errors are explained" usage_errors_are_explained

ci/netns.sh exec true >"$tmp/start.log" 2>&1
case $? in
0) check "hosts can be made" true ;;
3)
    cat "$tmp/start.log"
    lacks "campaigns on emulated hosts" netns
    finish
    exit
    ;;
*) check "hosts can be made" sh -c "cat '$tmp/start.log'; exit 1" ;;
esac
before=$(left)

# A file system that is full with its first file, or has no further entry.
full_folders_are_named() {
    local size
    mkdir "$tmp/full"
    for size in size=4k size=8k,nr_inodes=2; do
        # shellcheck disable=SC2016 # expands in the other shell
        expect 3 " cannot be written: No space left on device; set TMPDIR to a folder with free space" unshare --mount sh -c \
            'mount -t tmpfs -o "$1" tmpfs "$0" && head -c 4096 /dev/zero >"$0/zeros" && TMPDIR=$0 exec ci/netns.sh exec true' \
            "$tmp/full" "$size" && grep "netns.sh: $tmp/full/sb" "$tmp/expect.log" || return 1
    done
}
if [ "$(id -u)" -eq 0 ]; then
    check "full folders are named" full_folders_are_named
else
    skip "full folders are named" "mounting wants root"
fi

cat >"$tmp/small.yaml" <<'END'
name: small
site: emulated
model: lenet_21k
data: {set: digits, samples: 2000}
train: {global_batch: 64}
ranks: 2
nodes: 2
matrix:
  sync.strategy: [ring, hierarchical, bucketed]
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 2, steps: 20, launches: 1..1}}
figures: []
END

column() { # name, campaign
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$tmp/out/${2:-small}/latest/summary.csv"
}

# Each of the two sends 2 (p-1)/p n = n bytes of gradient. Headers of 66 to 90 bytes on packets of up to 1514, and control
# messages, are below a tenth of it.
counts_what_crosses_the_network() {
    ci/netns.sh exec "$scalebench" run "$tmp/small.yaml" --out "$tmp/out" || return 1
    [ "$(column status | sort -u)" = ok ] && [ "$(column ranks_per_node | sort -u)" = 1 ] || return 1
    paste <(column bytes_wire) <(column bytes_nic) | tee /dev/stderr |
        awk '!($1 == 87360 && $2 >= $1 && $2 < 1.1 * $1) { wrong = 1 } END { exit wrong || NR != 3 }'
}
check "interfaces carry the bytes that are counted" counts_what_crosses_the_network

sed -e 's/^name: small/name: four/' -e 's/^ranks: 2/ranks: 4/' -e 's/^nodes: 2/nodes: 4/' \
    -e 's/\[ring, .*/[ring]/' -e 's/^figures: .*/figures: [time]/' "$tmp/small.yaml" >"$tmp/four.yaml"

# Each sends 2 (p-1)/p n. The hosts share the machine's cores, and the figure states their link.
four_hosts_share_the_cores() {
    local crowded=0
    [ "$(nproc)" -ge 4 ] || crowded=1
    ci/netns.sh --hosts 4 --rate 200mbit exec "$scalebench" run "$tmp/four.yaml" --out "$tmp/out" || return 1
    for name in status nodes bytes_wire link oversubscribed; do
        column "$name" four
    done | tee /dev/stderr | cmp - <(printf '%s\n' ok 4 131040 "200mbit delay none" "$crowded") &&
        grep -q "200mbit" "$tmp"/out/four/latest/time.svg
}
check "four hosts share the cores of this machine" four_hosts_share_the_cores

sed -e 's/^name: small/name: mixed/' -e '/^site:/d' -e '/^nodes:/d' -e '/^matrix:/d' \
    -e 's/^  sync.strategy: .*/cases: [{label: here, nodes: 1}, {label: there, site: emulated, nodes: 2}]/' \
    "$tmp/small.yaml" >"$tmp/mixed.yaml"

sed -e 's/^name: small/name: several/' -e '/^ranks:/d' -e '/^nodes:/d' -e 's/bucketed/leader/' \
    "$tmp/small.yaml" >"$tmp/several.yaml"
cat >>"$tmp/several.yaml" <<'END'
cases:
  - {label: one, nodes: 1, ranks: 2}
  - {label: even, nodes: 2, ranks_per_node: 2}
  - {label: uneven, ranks: 3, ranks_per_node: 2}
  - {label: wide, nodes: 2, ranks_per_node: 3}
END

# A ring crosses between two hosts once in each direction, 2 (p-1)/p n; others send n; one host sends nothing.
ranks_of_a_host_share_memory() {
    ci/netns.sh exec "$scalebench" run "$tmp/several.yaml" --out "$tmp/out" || return 1
    [ "$(column status several | sort -u)" = ok ] || return 1
    paste -d' ' <(column ranks several) <(column nodes several) <(column strategy several) \
        <(column bytes_nic several) | tee /dev/stderr | awk '
        { sent = $2 == 1 ? 0 : $3 == "ring" ? 2 * ($1 - 1) / $1 * 87360 : 87360 }
        !($4 >= sent && $4 <= 1.1 * sent) { wrong = 1 } END { exit wrong || NR != 12 }'
}
check "ranks share memory on one host, but not between hosts" ranks_of_a_host_share_memory

# UCX's settings for the hosts do not apply to ranks elsewhere.
local_points_run_beside() {
    ci/netns.sh exec "$scalebench" run "$tmp/mixed.yaml" --out "$tmp/out" || return 1
    paste -d' ' <(column kind mixed) <(column status mixed) | tee /dev/stderr |
        cmp - <(printf '%s\n' "measured ok" "emulated ok")
}
check "local points run beside points on the hosts" local_points_run_beside

# The other hosts still reach the head when any host is removed.
head_keeps_its_address() {
    # shellcheck disable=SC2016 # beside the hosts
    ci/netns.sh --hosts 3 exec bash -c '
        address() { ip -o link show br0 | sed "s/.*ether //"; }
        before=$(address)
        for host in 0 1 2; do
            ip netns del "$SCALEBENCH_NETNS-node$host" || exit
            while ip link show "veth$host" >/dev/null 2>&1; do sleep 0.1; done
            echo "without node$host: $(address), before: $before"
            [ "$(address)" = "$before" ] || exit
        done'
}
check "the head keeps its address when hosts are gone" head_keeps_its_address

# Half of such runs used to hang in MPI_Finalize; a deadline ends hanging ones.
runs_end() {
    local i
    for ((i = 0; i < 4; i++)); do
        expect 0 "weights equal on all ranks" ci/netns.sh run "$train_cnn" --model lenet_21k \
            --data.set digits --data.samples 1000 --train.epochs 1 --sync.deadline 30s || return 1
        expect 0 "flat" timeout 60 ci/netns.sh run "$build/comm_sweep" --gradients 4KiB \
            --strategies ring,leader --turns 1 || return 1
    done
}
check "runs of trainer and sweep end" runs_end

# Hydra passes it to a shell on each host without quotes.
begins_wherever_it_lies() {
    local home="$tmp/somebody's checkout"
    mkdir "$home" && cp -r ci configs plots "$home" || return 1
    expect 0 "small" env SCALEBENCH_HOME="$home" "$scalebench" run "$tmp/small.yaml" \
        --set 'matrix.sync.strategy=[ring]' --out "$tmp/there"
}
check "hosts begin wherever the script lies" begins_wherever_it_lies

fails_in_order() {
    expect 2 "train_cnn: /nowhere: " ci/netns.sh run "$train_cnn" --model lenet_21k \
        --data.set mnist --data.path /nowhere || return 1
    [ "$(wc -l <"$tmp/expect.log")" -eq 1 ]
}
check "an error of all ranks is printed once" fails_in_order

# A rate or delay that the given hosts do not have is rejected.
another_link_is_refused() {
    expect 3 "site.rate = 100mbit and site.delay = none, but ci/netns.sh has made hosts with the link '1gbit delay none'" \
        ci/netns.sh exec "$scalebench" run "$tmp/small.yaml" --set site.rate=100mbit --out "$tmp/none"
}
check "given hosts are not taken for others" another_link_is_refused

passes_on_the_exit_status() {
    expect 7 "here" ci/netns.sh exec sh -c 'echo here; exit 7' && [ "$(left)" = "$before" ]
}
check "the command's exit status is passed on, and no host is left" passes_on_the_exit_status

# It ends by the signal; processes that it started end with the hosts.
is_gone_after_a_signal() {
    local mark="netns-$$.$RANDOM" pid
    ci/netns.sh run bash -c "exec -a $mark sleep 1000" &
    pid=$!
    until_true pgrep -f "^$mark" || return 1
    kill -TERM "$pid"
    wait "$pid"
    gone "^$mark" && [ "$(left)" = "$before" ]
}
check "a signal takes everything down" is_gone_after_a_signal
finish
