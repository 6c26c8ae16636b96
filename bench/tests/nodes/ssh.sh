#!/usr/bin/env bash
# Tests machines that are reached by ssh: a server in each of two namespaces of ci/netns.sh.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/hogs.sh

sshd=$(PATH=$PATH:/usr/sbin:/sbin type -P sshd)
if [ -z "$sshd" ] || ! type -P ssh >/dev/null; then
    lacks "campaigns over ssh" sshd
    finish
    exit
fi
ci/netns.sh probe >"$tmp/probe.log" 2>&1 || {
    cat "$tmp/probe.log"
    lacks "campaigns over ssh" netns
    finish
    exit
}

# A nested shell does not read ~/.bashrc.
ssh-keygen -q -t ed25519 -N '' -f "$tmp/host" && ssh-keygen -q -t ed25519 -N '' -f "$tmp/user"
mkdir -p "$tmp/bin"
cat >"$tmp/sshd" <<END
HostKey $tmp/host
AuthorizedKeysFile $tmp/user.pub
PasswordAuthentication no
UsePAM no
StrictModes no
PermitRootLogin yes
PidFile none
SetEnv SHLVL=2
END
cat >"$tmp/ssh" <<END
Host one
  HostName 10.77.0.1
Host two
  HostName 10.77.0.2
Host *
  IdentityFile $tmp/user
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
END
# Replaces a user's ~/.ssh/config; MPICH uses the first ssh of PATH.
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(type -P ssh)" "$tmp/ssh" >"$tmp/bin/ssh"

# $tmp/second has changes for the second machine; the campaign runs on the first. The machines share no memory, which UCX
# would find out on real machines.
cat >"$tmp/bin/with_machines" <<END
#!/usr/bin/env bash
mkdir -p /run/sshd
for i in 0 1; do
    ip netns exec "\$SCALEBENCH_NETNS-node\$i" unshare --uts --ipc --mount sh -c \\
        "hostname machine\$i; [ \$i = 0 ] || . $tmp/second; exec $sshd -D -e -f $tmp/sshd -o ListenAddress=10.77.0.\$((i + 1))" 2>>"$tmp/sshd.log" &
done
for address in 10.77.0.1 10.77.0.2; do
    until (: </dev/tcp/\$address/22) 2>/dev/null; do sleep 0.1; done
done
export PATH=$tmp/bin:\$PATH UCX_TLS=posix,sysv,cma,tcp,self UCX_NET_DEVICES=eth0
exec ip netns exec "\$SCALEBENCH_NETNS-node0" "\$@"
END
chmod +x "$tmp"/bin/*
: >"$tmp/second"

on_machines() { # command
    ci/netns.sh --rate none exec "$tmp/bin/with_machines" "$@"
}

cat >"$tmp/machines.yaml" <<END
name: machines
site: {kind: ssh, machines: [two, one], interface: eth0}
model: softmax_784
data: {set: digits, samples: 2000}
train: {global_batch: 64}
sync.strategy: ring
matrix: {nodes: auto}
ranks_per_node: 2
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 2, steps: 5, launches: 1..1}}
figures: []
END

columns() { # run, name...
    awk -F, -v names="${*:2}" 'BEGIN { n = split(names, name, " ") } { gsub(/"[^"]*"/, "quoted") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { for (i = 1; i <= n; i++) printf "%s%s", $at[name[i]], i < n ? " " : "\n" }' "$tmp/out/$1/latest/summary.csv"
}

# Both are this machine, so points on both are flagged.
runs() {
    on_machines "$scalebench" run "$tmp/machines.yaml" --out "$tmp/out" || return 1
    columns machines kind status ranks nodes node_list | tee /dev/stderr |
        cmp - <(printf '%s\n' "measured ok 2 1 machine1" "measured ok 4 2 machine1 machine0") &&
        [ "$(columns machines flags | grep -nw shared_machine | cut -d: -f1)" = 2 ]
}
check "machines are taken in their order, with the ranks of each" runs

run_alone() { # name
    on_machines "$scalebench" run "$tmp/machines.yaml" --out "$tmp/out" --fresh --set "name=$1 nodes=1 ranks_per_node=1 \
        model=lenet_21k sync.strategy=none measure.time.steps=1500 measure.time.launches=3..3" || return 1
    columns "$1" foreign_pct cpu_pct flags
}

alone_is_alone() {
    run_alone alone && columns alone foreign_pct cpu_pct | awk '!($1 != "" && $2 >= 20 && $1 + $2 < 110) { exit 1 }' &&
        [ -z "$(columns alone mhz)" ]
}

# Processor time of the rank, a descendant of sshd, must not count as that of others, also on a busy machine. The runner does
# not test its own processors.
others_are_told_apart() {
    alone_is_alone || alone_is_alone || alone_is_alone || return 1
    start_hogs
    run_alone beside
    local status=$?
    end_hogs
    [ "$status" -eq 0 ] && columns beside foreign_pct flags | awk '!($1 >= 20 && / busy( |$)/) { exit 1 }'
}
check "processor time of other programs is separated from that of the ranks" others_are_told_apart

samplers_know_the_interface() {
    on_machines "$scalebench" plan "$tmp/machines.yaml" --commands --set measure.resources=20ms | tee /dev/stderr |
        grep -q -- "--sample 0.02 --sample-to [^ ]* --nic eth0 -- "
}
check "machines are sampled by the interface that is named" samplers_know_the_interface

mark=ssh-$$.$RANDOM
has_begun() { # process; it may have failed
    processes "train_cnn.*record=$tmp/out/$mark" || ! kill -0 "$1"
}

a_kill_reaches_the_machines() {
    sed "s/^name: .*/name: $mark/; s/steps: 5,/steps: 1000000,/" "$tmp/machines.yaml" >"$tmp/long.yaml"
    set -m
    on_machines "$scalebench" run "$tmp/long.yaml" --out "$tmp/out" >"$tmp/long.log" 2>&1 &
    local all=$! runner
    set +m
    until_true has_begun "$all"
    runner=$(pgrep -of "^$scalebench run $tmp/long.yaml") || {
        cat "$tmp/long.log"
        return 1
    }
    kill -KILL "$runner"
    gone "record=$tmp/out/$mark" || return 1
    wait "$all"
    true
}
check "no rank outlives the campaign on any machine" a_kill_reaches_the_machines

# Differences between the machines are reported before anything runs.
second_has() { # exit status, text, command on the second machine
    echo "$3" >"$tmp/second"
    expect "$1" "$2" on_machines "$scalebench" run "$tmp/machines.yaml" --set "nodes=2 name=other" --out "$tmp/out"
    local status=$?
    : >"$tmp/second"
    return "$status"
}

builds_are_compared() {
    cp "$build/pin" "$tmp/pin" && printf '\0' >>"$tmp/pin" || return 1
    second_has 3 "site: ssh: machine two: program $build/pin is another build: SHA-256 $(sha256sum <"$tmp/pin" | head -c 12) there, $(
        sha256sum <"$build/pin" | head -c 12
    ) here" "mount --bind $tmp/pin $build/pin" &&
        second_has 3 "site: ssh: machine two: program $build/train_cnn is another build" "mount --bind /dev/null $build/train_cnn" &&
        second_has 3 "Install the same build there, at the same path" "mount -t tmpfs tmpfs $build" &&
        grep -q "site: ssh: two: .*$build/scalebench: " "$tmp/expect.log" && [ ! -e "$tmp/out/other" ]
}
check "a machine with another build, or none, is named" builds_are_compared

# Reads the previous run: points on both machines and on one.
classes_are_known() {
    local manifest=$tmp/out/machines/latest/manifest.json
    grep -q '"host:one": ".*, cores ' "$manifest" && grep -q '"host:two": ".*, cores ' "$manifest" || return 1
    sed 's/^\(model name.*: \).*/\1Another Kind/; t; s/^\(CPU part.*: \).*/\1Another Kind/' /proc/cpuinfo >"$tmp/cpuinfo"
    echo "mount --bind $tmp/cpuinfo /proc/cpuinfo" >"$tmp/second"
    expect 0 "the class of the machine two differs from" on_machines "$scalebench" run "$tmp/machines.yaml" \
        --out "$tmp/out" || return 1
    : >"$tmp/second"
    grep "two and one have different hardware (Another Kind, " "$tmp/expect.log" || return 1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print $at["nodes"], (" " $at["flags"] " " ~ / mixed /), ($at["cpus"] ~ /^Another Kind [+] ./),
            ($at["cpus"] ~ /^Another Kind/) }' "$tmp/out/machines/latest/summary.csv" | tee /dev/stderr |
        cmp - <(printf '%s\n' "1 0 0 1" "2 1 1 1")
}
check "the class of each machine is known, and two classes are marked" classes_are_known

# Ranks of a machine share its cores, regardless of the starting machine's.
cores_are_those_of_the_machines() {
    local core set="site.machines=[two] nodes=1"
    core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    expect 0 " --wait=block " on_machines taskset -c "$core" "$scalebench" plan "$tmp/machines.yaml" --commands \
        --set "$set place.oversubscribe=refuse" --out "$tmp/none" || return 1
    expect 0 " -n $(nproc) " on_machines taskset -c "$core" "$scalebench" plan "$tmp/machines.yaml" --commands \
        --set "$set ranks_per_node=full" --out "$tmp/none" || return 1
    echo "taskset -cp $core \$\$ >/dev/null" >"$tmp/second"
    expect 0 "2 ranks x 1 thread need 2 cores, this job may use 1" on_machines "$scalebench" plan \
        "$tmp/machines.yaml" --set "$set place.oversubscribe=refuse" --out "$tmp/none" &&
        expect 0 " --wait=yield " on_machines "$scalebench" plan "$tmp/machines.yaml" --commands --set "$set" --out "$tmp/none"
    local status=$?
    : >"$tmp/second"
    return "$status"
}
if [ "$(nproc)" -ge 2 ]; then
    check "the cores are those of the machines" cores_are_those_of_the_machines
else
    skip "the cores are those of the machines" "one core, where all machines have as many"
fi

a_machine_that_is_off() {
    expect 3 "site: ssh: 10.77.0.9: ssh: connect to host" on_machines "$scalebench" run "$tmp/machines.yaml" \
        --set "site.machines=[one,10.77.0.9] nodes=2 name=off" --out "$tmp/out"
}
check "an unreachable machine ends the campaign with the message of ssh" a_machine_that_is_off

what_cannot_be_is_said() {
    expect 3 "nodes = 3, but site.machines lists 2" "$scalebench" run "$tmp/machines.yaml" \
        --set "nodes=3" --out "$tmp/none" &&
        expect 2 "site: ssh needs machines, but site.machines is []" "$scalebench" run "$tmp/machines.yaml" \
            --set "site.machines=[] nodes=1" --out "$tmp/none" &&
        expect 2 "'-oProxyCommand=x' is not a host name" "$scalebench" run \
            "$tmp/machines.yaml" --set "site.machines=[-oProxyCommand=x] nodes=1" --out "$tmp/none"
}
check "machines that there are not are named" what_cannot_be_is_said
finish
