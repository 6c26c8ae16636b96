# What a table of comm_sweep says in short: two operations with each other, or of each size and network
# the strategies that are to be read at a glance, then the best strategy beside the best of the
# library's algorithms.

# Sources of counts are quoted and hold commas: they become semicolons.
function plain(line,    n, part, i, text) {
    n = split(line, part, "\"")
    for (i = 1; i <= n; i++) {
        if (i % 2 == 0)
            gsub(",", ";", part[i])
        text = text part[i]
    }
    return text
}

function cell(name) {
    return field[column[name]]
}

function ratio() {
    return sprintf("%.2f [%.2f; %.2f]", cell("ratio"), cell("ratio_lo"), cell("ratio_hi"))
}

NR == 1 {
    n = split($0, field, ",")
    for (i = 1; i <= n; i++)
        column[field[i]] = i
    compares = FILENAME ~ /compare\.csv$/
    next
}

{
    split(plain($0), field, ",")
    verdict = cell("verdict")
    name = cell("name")
    key = sprintf("%-14s %9d bytes", cell("model"), cell("bytes"))
}

verdict ~ /^wrong/ {
    bad++
    print "WRONG: " key ", " name ": " verdict
}

cell("part") == "link" || verdict == "cannot run" { next }

compares {
    printf "%s  %-28s %10.1f us  %s times as fast as %s: %s\n", key, name, cell("latency_us"), ratio(),
        cell("other"), cell("compared")
    next
}

cell("part") == "best" && name ~ /^MPI_/ {
    theirs[key] = sprintf("%s %.1f us", name, cell("latency_us"))
    next
}

cell("part") == "best" {
    order[++n_best] = key
    ours[key] = sprintf("%s %.1f us", name, cell("latency_us"))
    words[key] = ratio() " " cell("compared")
    next
}

# A line a size or network: the library's call, and how much faster these are.
name == "MPI_Allreduce" {
    line[++n_lines] = sprintf("%s  %s %.1f us", key, cell("operation"), cell("latency_us"))
}
name == "allreduce" || name == "shm" { line[n_lines] = line[n_lines] "   " name " " ratio() }

END {
    if (n_lines > 0)
        print "Times as fast as the library's call, in the same turns:"
    for (i = 1; i <= n_lines; i++)
        print line[i]
    if (n_best > 0)
        print "Best strategy that sums and best algorithm of the library, timed anew in turns:"
    for (i = 1; i <= n_best; i++)
        printf "%s  %-34s %-48s %s\n", order[i], ours[order[i]], theirs[order[i]], words[order[i]]
    print NR - 1 " rows, " bad + 0 " wrong"
}
