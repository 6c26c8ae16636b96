# shellcheck shell=bash
# Makes slow hosts for `scalebench doctor`, on hosts of `ci/netns.sh exec`, in which this is sourced.

# Limits a host's interface to a percentage of a rate.
shape_host() { # host, Mbit/s, per cent
    local rate=$(($2 * $3 / 100))
    PATH=$PATH:/usr/sbin:/sbin tc -n "$SCALEBENCH_NETNS-$1" qdisc replace dev eth0 root handle 1: \
        tbf rate "${rate}mbit" burst $((rate * 262)) latency 10ms
}

# Prints the parent folder for cgroups that limit processors: this process's (version 1), or the top (version 2).
cgroups_of_cpu() {
    local own
    own=/sys/fs/cgroup/cpu$(sed -nE 's/^[0-9]+:([^:]*,)?cpu(,[^:]*)?://p' /proc/self/cgroup)
    if [ -w "$own/cgroup.procs" ] && [ -e "$own/cpu.shares" ]; then
        echo "${own%/}"
    elif grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null && [ -w /sys/fs/cgroup/cgroup.procs ]; then
        echo /sys/fs/cgroup
    else
        return 1
    fi
}

# Makes a cgroup limited to a percentage of one core and prints its folder; rmdir removes it.
limit_cores() { # name, per cent
    local group
    group=$(cgroups_of_cpu)/$1 || return 1
    mkdir -p "$group" || return 1
    if [ -e "$group/cpu.max" ]; then
        echo "$(($2 * 1000)) 100000" >"$group/cpu.max"
    else
        echo 100000 >"$group/cpu.cfs_period_us"
        echo $(($2 * 1000)) >"$group/cpu.cfs_quota_us"
    fi || return 1
    echo "$group"
}

# Writes a launcher for $SCALEBENCH_LAUNCHER that starts a host's processes in a cgroup.
launch_in() { # file, host, cgroup
    cat >"$1" <<END
#!/usr/bin/env bash
for word; do
    case \$word in -*) ;; *) break ;; esac
done
[ "\$word" != "$2" ] || echo \$\$ >"$3/cgroup.procs"
exec "$SCALEBENCH_LAUNCHER" "\$@"
END
    chmod +x "$1"
}
