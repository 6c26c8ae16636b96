# shellcheck shell=sh
# Sourced by scripts, tests and make: lists the files of the sources and packs folders.

# Prints the files that git tracks or would track, as `git ls-files` does. An unpacked archive of `make dist` has no
# repository, so an empty one lends git's patterns and .gitignore.
source_files() ( # arguments of git ls-files
    if [ ! -e .git ]; then
        GIT_DIR=$(mktemp -d) || exit
        trap 'rm -rf "$GIT_DIR"' EXIT
        export GIT_DIR GIT_WORK_TREE="$PWD"
        git init -q || exit
    fi
    git ls-files -co --exclude-standard "$@"
)

# Copies the files that programs read at run time: specs, networks, plot scripts, published numbers and committed runs.
# `revision` then has the revision of the sources.
copy_read_files() ( # scalebench, folder
    set -e
    source_files -z configs plots results ci/netns.sh ci/end_of.sh ci/help.sh ci/data.sh ci/data.sums README.md LICENSE \
        CHANGELOG.md CITATION.cff | xargs -0 cp -P --parents -t "$2"
    "$1" --version | sed 's/.*(\(.*\))/\1/' >"$2/revision"
)

# Packs a folder so that equal contents give equal archives. Fails if the archive exceeds 64 MiB.
pack_folder() ( # folder, archive, options of tar...
    folder=$1 archive=$2 most_mib=64
    shift 2
    LC_ALL=C tar -C "$(dirname "$folder")" --sort=name --owner=0 --group=0 --numeric-owner "$@" \
        -cf "$archive.tar" "$(basename "$folder")" && gzip -9nc "$archive.tar" >"$archive.part" || exit 1
    rm "$archive.tar"
    bytes=$(stat -c %s "$archive.part")
    if [ "$bytes" -gt $((most_mib << 20)) ]; then
        echo "$archive.part has $((bytes >> 20)) MiB, expected at most $most_mib" >&2
        exit 1
    fi
    mv "$archive.part" "$archive"
)
