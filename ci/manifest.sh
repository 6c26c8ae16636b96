# shellcheck shell=bash
# Sourced by what measures without a campaign: its manifest.json, as that of a campaign in what both have.

quoted() { # words
    local text=${*//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

# Written when a sweep begins.
write_manifest() { # words of the command
    local word command=
    for word; do command="$command${command:+,}
    $(quoted "$word")"; done
    cat <<JSON
{
  "schema": 1,
  "started": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
  "command": [$command
  ],
  "machine": {
    "host": $(quoted "$(uname -n)"),
    "cpu": $(quoted "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"),
    "caches": $(quoted "$(cat /sys/devices/system/cpu/cpu0/cache/index*/size 2>/dev/null | paste -sd ' ' -)"),
    "kernel": $(quoted "$(uname -r)"),
    "cores": $(nproc)
  },
  "build": {
    "revision": $(quoted "$(git describe --always --dirty --abbrev=7 2>/dev/null | sed 's/-dirty$/ dirty/; t; s/$/ clean/')")
  }
}
JSON
}
