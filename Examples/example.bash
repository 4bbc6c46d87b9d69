# What the examples share, sourced by the `run` of each: it finds or builds programs, starts a daemon of the example's own, and
# ends every process that was started, when the play is over or on Ctrl-C.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A folder that is removed at the end.
scratch=$(mktemp -d)
daemon=
# Each process is started by setsid, and so has a group of its own, which is ended with its children.
groups=()
views=()

finish() {
    trap - EXIT
    local group
    for group in "${groups[@]}"; do kill -- "-$group" 2>/dev/null || true; done
    # The daemon goes last, so that each can say that it has ended.
    for group in "${groups[@]}"; do
        while kill -0 -- "-$group" 2>/dev/null; do sleep 0.05; done
    done
    if [[ $daemon ]]; then
        kill "$daemon" 2>/dev/null || true
        # By its own pid: a plain wait leaves out what has begun as a process substitution.
        while kill -0 "$daemon" 2>/dev/null; do sleep 0.05; done
    fi
    wait
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# The path of a program of this package: the one beside ARBITERD, or one that is built already, or else it is built now.
find_program() {
    local path
    for path in ${ARBITERD:+"${ARBITERD%/*}/$1"} "$PWD/.build/release/$1" "$PWD/.build/debug/$1"; do
        if [[ -x $path ]]; then
            echo "$path"
            return
        fi
    done
    build "$1"
    echo "$PWD/.build/release/$1"
}

build() {
    echo "Building $1, which takes some minutes if nothing is built yet." >&2
    scripts/build-release "$1" >&2
}

# The path of the views in Swift, which are built again when their sources have changed.
find_swift_view() {
    local path=.build/release/example-view
    if [[ ! -x $path || $(find Examples Sources/ArbiterClient -name '*.swift' -newer $path) ]]; then
        build example-view
    fi
    echo "$PWD/$path"
}

# The path of a Python that has httpx, which the client needs: that of the tests, or the user's, or one that is made now.
find_python() {
    local path
    for path in .build-python/bin/python python3 .build/examples-python/bin/python; do
        if "$path" -c 'import httpx, sys; assert sys.version_info >= (3, 11)' 2>/dev/null; then
            command -v "$path"
            return
        fi
    done
    scripts/python-environment Examples/requirements.txt .build/examples-python >&2
    echo .build/examples-python/bin/python
}

# Starts a daemon on a port that is free, which keeps nothing. Every client finds it by ARBITER_URL.
start_daemon() {
    local program output line
    program=${ARBITERD:-$(find_program arbiterd)}
    exec {output}< <(exec setsid "$program" --listen 127.0.0.1:0 --journal memory --log-level error "$@")
    daemon=$!
    # Its only line says where it listens.
    read -r line <&"$output"
    exec {output}<&-
    export ARBITER_URL=${line##* }
}

# Declares a scene and its tree.
storyboard() {
    curl --silent --show-error --fail --output /dev/null -X PUT --json "$2" "$ARBITER_URL/scenes/$1/storyboard"
}

# Starts a command in the background. On a terminal, each has a colour of its own.
view() {
    next_colour
    setsid "$@" &
    groups+=($!)
    views+=($!)
}

# The colour of the next process, if it writes to a terminal.
next_colour() {
    export VIEW_COLOUR='' VIEW_PLAIN=''
    if [[ -t 1 ]]; then
        VIEW_COLOUR=$'\e['$((31 + ${#views[@]} % 6))m
        VIEW_PLAIN=$'\e[0m'
    fi
}

# Waits until the views have ended. One that fails ends the play.
wait_for_views() {
    local process
    for process in "${views[@]}"; do wait "$process"; done
    views=()
}

# Says what is about to happen.
act() { printf '\n%s\n' "$*"; }
