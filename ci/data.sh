#!/usr/bin/env bash
# Downloads MNIST and CIFAR-10 to data/, where the trainer finds them. Correct files are kept; interrupted downloads
# resume.
set -u
here=$PWD
cd "$(dirname "$0")/.." || exit 1

usage() {
    cat <<'TEXT'
usage: ci/data.sh [--to FOLDER] [--mirror URL] [--sums FILE] [mnist] [cifar10]

Downloads data sets (all, or those that are named) to FOLDER/mnist and FOLDER/cifar10. FOLDER is by
default data/ beside ci/, where every user of these programs finds it.
URL, or $SCALEBENCH_MIRROR, is a folder that holds the files and is tried instead of the usual hosts.
Files are checked by SHA-256 against ci/data.sums, or FILE where a mirror has packed them anew. One
that is wrong is kept as NAME.wrong and named with both sums.
Exit status: 0 all there, 1 a file could not be had, 2 bad usage or a program is missing.
TEXT
}

# Prints the mirrors of a set in the order of attempts.
mirrors_of() { # set
    case $1 in
    mnist)
        echo https://ossci-datasets.s3.amazonaws.com/mnist
        echo https://storage.googleapis.com/cvdf-datasets/mnist
        ;;
    cifar10) echo https://www.cs.toronto.edu/~kriz ;;
    esac
}

say() {
    echo "data: $*" >&2
}

sum_of() { # file
    sha256sum "$1" | cut -d ' ' -f 1
}

# Makes one attempt at one mirror and continues the partial file. Requests the whole file if the server does not send
# parts, or has no further part of a file whose checksum is wrong.
download() { # url, partial file
    local code status
    code=$(curl "${curl_options[@]}" -C - -o "$2" "$1")
    status=$?
    if [ "$status" -eq 33 ] || [ "$code" = 416 ]; then
        say "$1 cannot resume the download, which starts again"
        rm -f "$2"
        curl "${curl_options[@]}" -o "$2" "$1" >/dev/null
        status=$?
    fi
    return "$status"
}

# Renames a complete file. A file with a wrong checksum is put aside, not deleted.
accept() { # partial file, file, expected sum, where it is from
    local found
    found=$(sum_of "$1")
    if [ "$found" = "$3" ]; then
        mv "$1" "$2"
        return
    fi
    mv --backup=numbered "$1" "$2.wrong"
    say "$2: wrong SHA-256 of the file from $4: expected $3, found $found; kept as $2.wrong"
    return 1
}

fetch() { # set, name, sum
    local folder=$to/$1 file=$to/$1/$2 part=$to/$1/$2.part mirror
    if [ -e "$file" ]; then
        [ "$(sum_of "$file")" = "$3" ] && return
        say "$file: wrong SHA-256: expected $3, found $(sum_of "$file"); move it away to download it again"
        return 1
    fi
    mkdir -p "$folder" || return 1
    # An earlier call may have been killed before it renamed a complete file.
    if [ -e "$part" ] && [ "$(sum_of "$part")" = "$3" ]; then
        mv "$part" "$file"
        return
    fi
    for mirror in ${mirror_given:-$(mirrors_of "$1")}; do
        say "$file from $mirror"
        download "${mirror%/}/$2" "$part" && accept "$part" "$file" "$3" "$mirror" && return
    done
    say "$file: not found on any mirror. Set SCALEBENCH_MIRROR or --mirror."
    return 1
}

batches="data_batch_1.bin data_batch_2.bin data_batch_3.bin data_batch_4.bin data_batch_5.bin test_batch.bin
  batches.meta.txt"

# Unpacks the archive without its folder. Files are renamed when all are complete.
unpack_cifar10() {
    local folder=$to/cifar10 name missing=
    for name in $batches; do
        [ -e "$folder/$name" ] || missing=$name
    done
    [ -n "$missing" ] || return 0
    rm -rf "$folder/unpacked.part"
    mkdir "$folder/unpacked.part" &&
        tar -xzf "$folder/cifar-10-binary.tar.gz" -C "$folder/unpacked.part" --strip-components 1 || return 1
    for name in $batches; do
        mv "$folder/unpacked.part/$name" "$folder/$name" || return 1
    done
    rm -rf "$folder/unpacked.part"
}

# Makes a path of the caller absolute, since this script runs beside ci/.
from_here() { # path
    (cd "$here" && realpath -m "$1")
}

to=data
sums=ci/data.sums
mirror_given=${SCALEBENCH_MIRROR:-}
wanted=
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h)
        usage
        exit
        ;;
    --to | --mirror | --sums)
        [ $# -ge 2 ] || {
            say "$1 needs a value; see --help"
            exit 2
        }
        case $1 in
        --to) to=$(from_here "$2") ;;
        --mirror) mirror_given=$2 ;;
        --sums) sums=$(from_here "$2") ;;
        esac
        shift
        ;;
    mnist | cifar10) wanted="$wanted $1" ;;
    *)
        say "'$1' is unknown; known: mnist cifar10 --to --mirror --sums --help"
        exit 2
        ;;
    esac
    shift
done
for program in curl sha256sum tar; do
    command -v "$program" >/dev/null || {
        say "$program is missing; make deps-ci installs it"
        exit 2
    }
done
[ -r "$sums" ] || {
    say "cannot read $sums: expected lines of SHA-256 and SET/FILE"
    exit 2
}
curl_options=(--fail --location --retry 2 --connect-timeout 20 --speed-limit 1 --speed-time 60
    --write-out '%{http_code}')
[ -t 2 ] && curl_options+=(--progress-bar) || curl_options+=(--silent --show-error)

wanted=${wanted:-mnist cifar10}
failed=0
while read -r sum file; do
    set=${file%%/*}
    [[ " $wanted " != *" $set "* ]] || fetch "$set" "${file#*/}" "$sum" || failed=1
done <"$sums"
if [ "$failed" -eq 0 ] && [[ " $wanted " == *" cifar10 "* ]]; then
    unpack_cifar10 || failed=1
fi
exit "$failed"
