# Part of scripts/test-image and scripts/test-deb: the container engine, the base images, the image, and the container
# that it runs in.

debian_image=localhost/transition-arbiter-debian
swift_image=localhost/transition-arbiter-swift
port_inside=8080
bases=${BASES:-made}

clean_up() {
    if command -v podman >/dev/null && [[ -v CONTAINERS_CONF ]]; then
        podman rm --force --time 1 "$name" >/dev/null 2>&1 || true
        podman volume rm "$name" >/dev/null 2>&1 || true
        podman network rm "$name" >/dev/null 2>&1 || true
        podman image umount "$image-context" >/dev/null 2>&1 || true
        local made
        for made in "$image" "$image-trivial" "$image-context"; do
            podman image rm --force "$made" >/dev/null 2>&1 || true
        done
    fi
    rm -rf "$work"
}

# --- The engine

# Whether containers can run here; if not, `reason` has the reason.
engine_runs() {
    reason=
    if [[ $EUID -ne 0 ]]; then
        reason="only root can run them without further settings"
        return 1
    fi
    scripts/install-packages podman buildah runc netavark aardvark-dns containernetworking-plugins catatonit iptables \
        mmdebstrap curl jq python3 || fail "the container engine can't be installed"
    local program
    for program in podman buildah runc; do
        if ! command -v "$program" >/dev/null; then
            reason="$program isn't installed"
            return 1
        fi
    done
    configure_engine
    if ! run_trivial_container >"$work/engine.log" 2>&1; then
        reason="a container of /bin/true fails:"$'\n'$(tail -n 3 "$work/engine.log")
        return 1
    fi
}

# The given limit, or this process's own one if it is lower, because a container cannot get a higher one.
limit() { # option of ulimit, limit
    local own
    own=$(ulimit -H "$1")
    if [[ $own == unlimited ]] || ((own > $2)); then echo "$2"; else echo "$own"; fi
}

configure_engine() {
    export CONTAINERS_CONF=$work/containers.conf
    cat >"$CONTAINERS_CONF" <<CONFIGURATION
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
[containers]
default_ulimits = ["nofile=$(limit -n 20000)", "nproc=$(limit -u 32768)"]
CONFIGURATION
}

# Builds and runs an image of only /bin/true, otherwise like the daemon's. A failure here cannot be the daemon's fault,
# and a later one is not the engine's.
run_trivial_container() {
    mkdir "$work/trivial" \
        && tar --create --dereference --absolute-names --file "$work/trivial/true.tar" \
            /bin/true $(ldd /bin/true | grep -o '/[^ ]*') \
        && printf '%s\n' 'FROM scratch' 'ADD true.tar /' 'RUN ["/bin/true"]' 'ENTRYPOINT ["/bin/true"]' \
            >"$work/trivial/Dockerfile" \
        && buildah build --quiet --network host --format docker --tag "$image-trivial" "$work/trivial" \
        && make_network \
        && run_container "$image-trivial" \
        && ends_well \
        && podman rm "$name" \
        && podman volume rm "$name"
}

ends_well() {
    local code
    code=$(podman wait "$name")
    [[ $code == 0 ]] || { echo "it ends with $code"; return 1; }
}

# The default network may share its addresses with a bridge that podman's other network backend left behind.
make_network() { podman network create --disable-dns "$name"; }

run_container() { # image
    podman run --detach --name "$name" --read-only --tmpfs /tmp --memory 256m --cap-drop ALL \
        --security-opt no-new-privileges --network "$name" --volume "$name:/data" \
        --publish "127.0.0.1::$port_inside" "$1"
}

# --- The base images

make_bases() {
    [[ $bases == made || $bases == registry ]] || fail "BASES=$bases: made or registry"
    [[ $bases == made ]] || return 0
    make_debian_base
    [[ -n ${WHOLE-} ]] || return 0
    find_toolchain
    make_swift_base
}

find_toolchain() {
    local swift
    swift=$(readlink -f "$(command -v swift)") || fail "Swift 6.3 is needed: https://www.swift.org/install/linux/"
    toolchain=$(dirname "$(dirname "$swift")")
    [[ $toolchain != /usr ]] || fail "the toolchain has to be in a folder of its own to be mounted; or BASES=registry"
    mounts=(--volume "$toolchain:$toolchain:ro")

    # Git may be told to take the packages from a folder.
    touch "$work/gitconfig"
    local key value folder
    while read -r key value; do
        git config --file "$work/gitconfig" --add "$key" "$value"
        folder=${key#url.}
        folder=${folder%.insteadof}
        # Two redirections may lead to one folder, which can be mounted only once.
        [[ ! -d $folder || " ${mounts[*]} " == *" $folder:$folder:ro "* ]] || mounts+=(--volume "$folder:$folder:ro")
    done < <(git config --get-regexp 'url\..*\.insteadof')
}

# A base image's tag is a digest of its recipe, so that a changed recipe makes a new image.
digest() { sha256sum | cut -c 1-12; }

make_debian_base() {
    # As in the official slim image: the same packages, no documentation, no translations, nothing that apt keeps.
    local options=(
        --variant=minbase
        --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr
        --dpkgopt='path-exclude=/usr/share/doc/*'
        --dpkgopt='path-include=/usr/share/doc/*/copyright'
        --dpkgopt='path-exclude=/usr/share/info/*'
        --dpkgopt='path-exclude=/usr/share/lintian/*'
        --dpkgopt='path-exclude=/usr/share/locale/*'
        --dpkgopt='path-exclude=/usr/share/man/*'
        --aptopt='Dir::Cache::pkgcache ""'
        --aptopt='Dir::Cache::srcpkgcache ""'
        --customize-hook='echo "APT::Keep-Downloaded-Packages \"false\";" >"$1/etc/apt/apt.conf.d/no-archives"'
    )
    debian_image+=:$(printf '%s\n' "${options[@]}" | digest)
    make_base "$debian_image" "${options[@]}"
}

make_base() { # image, options of mmdebstrap...
    podman image exists "$1" && return
    say "making $1"
    mmdebstrap --quiet "${@:2}" bookworm "$work/base.tar" >"$work/base.log" 2>&1 \
        || { tail -n 40 "$work/base.log"; fail "$1 can't be made"; }
    podman import --quiet "$work/base.tar" "$1" >/dev/null
    rm "$work/base.tar"
}

# What the toolchain needs from Debian around it; the toolchain itself is mounted.
make_swift_base() {
    mkdir "$work/swift"
    cp "$work/gitconfig" "$work/swift/"
    cat >"$work/swift/Dockerfile" <<DOCKERFILE
FROM $debian_image
RUN apt-get update && apt-get install -y --no-install-recommends \
    ca-certificates git gcc libc6-dev libstdc++-12-dev libcurl4-openssl-dev libxml2 libz3-4 libedit2 libncurses6 \
    libsqlite3-0 pkg-config tzdata && rm -rf /var/lib/apt/lists/*
COPY gitconfig /etc/gitconfig
ENV PATH=$toolchain/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
DOCKERFILE
    swift_image+=:$(cat "$work/swift/Dockerfile" "$work/gitconfig" | digest)
    podman image exists "$swift_image" && return
    say "making $swift_image"
    buildah build --quiet --network host --format docker --tag "$swift_image" "$work/swift" \
        >"$work/swift.log" 2>&1 || { tail -n 40 "$work/swift.log"; fail "$swift_image can't be made"; }
}

# --- The image

# If no container can run, copy-context replaces the engine; both must select the same files.
try_context() {
    mkdir "$work/context"
    scripts/image/copy-context "$work/context" || fail "the files for the build can't be told"
    printf 'FROM scratch\nCOPY . /\n' >"$work/Dockerfile.context"
    buildah build --quiet --format docker --file "$work/Dockerfile.context" --tag "$image-context" . >"$work/build.log" 2>&1 \
        || { tail -n 40 "$work/build.log"; fail "the files for the build can't be copied"; }
    list_files "$(podman image mount "$image-context")" >"$work/given"
    podman image umount "$image-context" >/dev/null
    list_files "$work/context" >"$work/copied"
    # Not tee /dev/stderr: that would empty the file where the output is written to one.
    diff "$work/given" "$work/copied" >"$work/differences" || cat "$work/differences" >&2
    expect "files of the build that copy-context copies too many or too few" 0 \
        "$(grep -c '^[<>]' "$work/differences" || true)"
}

# Every target has its sources among the files that .dockerignore lets through, and so has the C compiler what it embeds.
try_package() {
    local result=complete
    swift package --package-path "$work/context" describe --type json >"$work/package.json" 2>"$work/package.log" || result=incomplete
    (cd "$work/context" && grep -oE '#embed "[^"]+"' Sources/CResources/resources.c | cut -d '"' -f 2 |
        (cd Sources/CResources && xargs ls >/dev/null)) 2>>"$work/package.log" || result=incomplete
    [[ $result == complete ]] || tail -n 20 "$work/package.log"
    expect "the package of the files that .dockerignore lets through" complete "$result"
}

list_files() { (cd "$1" && find . ! -type d | LC_ALL=C sort); }

# WHOLE=1 builds the image as its users do. Otherwise the programs that `make programs` has built stand in for those that the
# Dockerfile's first stage compiles, and only its second stage is built.
build_image() {
    local options=() context=.
    [[ $bases == registry ]] || options=(--build-arg RUNTIME_IMAGE="$debian_image")
    if [[ -n ${WHOLE-} ]]; then
        [[ $bases == registry ]] || options+=("${mounts[@]}" --build-arg SWIFT_IMAGE="$swift_image")
        options+=(--file Dockerfile)
    else
        context=.build/tree
        sed -n '/^ARG RUNTIME_IMAGE/p; /^FROM ${RUNTIME_IMAGE}/,$ s|^COPY --from=build /out/\([a-z]*\) /out/\([a-z]*\) |COPY \1 \2 |; /^FROM ${RUNTIME_IMAGE}/,$p' \
            Dockerfile >"$work/Dockerfile.second"
        options+=(--file "$work/Dockerfile.second")
    fi
    say "building the image"
    local began=$SECONDS
    buildah build --network host "${options[@]}" --format docker --tag "$image" "$context" >"$work/build.log" 2>&1 \
        || { tail -n 40 "$work/build.log"; fail "the image doesn't build"; }
    say "built in $((SECONDS - began)) s: $(podman image inspect --format '{{.Size}}' "$image") bytes"
}

# --- The container

start_container() {
    podman network exists "$name" || make_network >/dev/null
    # Where no systemd runs, podman complains that it can't schedule the health check; try_health runs it by hand.
    run_container "$image" >"$work/run.log" 2>&1 || { cat "$work/run.log"; fail "the container doesn't start"; }
    address=$(podman port "$name" "$port_inside/tcp")
    wait_until "the daemon is ready" is_ready
    say "ready at $address"
}

is_ready() {
    [[ $(podman inspect --format '{{.State.Running}}' "$name") == true ]] || fail "the daemon has ended"
    [[ $(of .status "$(ask GET /readyz)") == 200 ]]
}

try_isolation() {
    expect "user id of the daemon" 10001 "$(podman exec "$name" stat --format %u /proc/1)"
    expect "/data can be written" yes "$(podman exec "$name" bash -c '[[ -w /data ]] && echo yes || echo no')"
    expect "/usr can be written" no "$(podman exec "$name" bash -c ': 2>/dev/null >/usr/x && echo yes || echo no')"
}

try_health() {
    local verdict=healthy
    podman healthcheck run "$name" >"$work/health.log" 2>&1 || verdict="unhealthy: $(tail -n 1 "$work/health.log")"
    expect "health check" healthy "$verdict"
}

# Like a machine that kills a process: no signal that it could handle, and no clean-up.
kill_container() {
    podman kill --signal KILL "$name" >/dev/null
    expect "exit code after SIGKILL" 137 "$(podman wait "$name")"
    podman rm "$name" >/dev/null
}

try_stop() {
    podman stop --time "$patience_seconds" "$name" >"$work/stop.log" 2>&1 \
        || { cat "$work/stop.log"; fail "the container doesn't stop"; }
    expect "exit code after SIGTERM" 0 "$(podman inspect --format '{{.State.ExitCode}}' "$name")"
}
