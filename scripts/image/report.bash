# Part of scripts/test-image and scripts/test-deb: what they say, and how they wait and fail.

patience_seconds=60
passed=0
failed=0

finish() {
    local status=${1-$?}
    clean_up
    ((status == 0 || failed > 0)) || failed=1
    printf '%d passed, %d failed\n' "$passed" "$failed"
    ((failed == 0)) || exit 1
}

say() { printf '%4ds  %s\n' "$SECONDS" "$*"; }

expect() { # what, expected, actual
    if [[ "$2" == "$3" ]]; then
        passed=$((passed + 1))
        say "passed  $1: $3"
    else
        failed=$((failed + 1))
        say "FAILED  $1: expected $2, got $3"
    fi
}

# Ends the run, because the remaining tests would be meaningless.
fail() {
    failed=$((failed + 1))
    say "FAILED  $*"
    if command -v podman >/dev/null && podman container exists "$name"; then podman logs --tail 20 "$name" 2>&1; fi
    exit 1
}

wait_until() { # what, command...
    local deadline=$((SECONDS + patience_seconds))
    until "${@:2}"; do
        ((SECONDS < deadline)) || fail "$1: not within $patience_seconds s"
        sleep 0.1
    done
}
