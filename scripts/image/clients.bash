# Part of scripts/test-image: the requests of its clients, and what each client sees. Every client is a process of its
# own, which uses curl.

starters=8
waiters=5
clients=6
turns_each=5
# Longer than any wait, so that no client is cut off by its own limit.
longest_seconds=100

# --- Requests

# Prints the answer as one line of JSON, with the HTTP status as text in "status" ("000": no answer).
ask() { # method, path, [JSON, [options of curl...]]
    local body=()
    [[ -z ${3-} ]] || body=(--json "$3")
    { curl --silent --max-time "$longest_seconds" --request "$1" "${body[@]}" --write-out '\n"%{http_code}"' "${@:4}" \
        "http://$address$2" || true; } | jq --slurp --compact-output '(.[:-1] | add // {}) + {status: .[-1]}'
}

of() { jq --raw-output "$1" <<<"$2"; } # filter, JSON

end_of() { ask POST /transitions/end "$(of '{id, token} | tojson' "$1")"; } # the answer to start or serialize

ticket() { # scene, client
    jq --null-input --compact-output --arg scene "$1" --arg client "$2" \
        '{$scene, $client, leaseSeconds: 120, ticketSeconds: 120}'
}

waiting_ticket() { jq --compact-output '. + {wait: 60}' <<<"$(ticket "$@")"; } # scene, client

has_queue_of() { [[ $(of .queuedCount "$(ask GET "/scenes/$1")") == "$2" ]]; } # scene, count

# --- One holder at a time, in the order of the requests

# Takes `turns_each` turns in a scene, or the given number. Everything that no client should ever see becomes a line in
# the file `violations`; every turn becomes a line in the file `turns`, written by the client that has it.
take_turns() { # scene, client, [turns]
    local turn granted ended holders
    for ((turn = 1; turn <= ${3:-$turns_each}; turn++)); do
        granted=$(ask POST /transitions/serialize "$(waiting_ticket "$1" "$2")")
        # Only one process at a time can make a folder.
        mkdir "$work/$1.taken" || echo "$2 was granted a turn while another had one" >>"$work/violations"
        holders=$(of '[.running[].id] | join(" ")' "$(ask GET "/scenes/$1")")
        [[ $holders == "$(of .id "$granted")" ]] || echo "$2 saw others run: $holders, $granted" >>"$work/violations"
        echo "$2 $(of .fence "$granted")" >>"$work/$1.turns"
        rmdir "$work/$1.taken" || echo "another ended the turn of $2" >>"$work/violations"
        ended=$(end_of "$granted")
        [[ $(of '.status + .outcome' "$ended") == 200completed ]] || echo "$2: $ended" >>"$work/violations"
    done
}

expect_no_violations() {
    touch "$work/violations"
    cat "$work/violations"
    expect "turns that weren't alone, or went wrong" 0 "$(wc -l <"$work/violations")"
    rm "$work/violations"
}

expect_rising_fences() { # what, file of turns
    local verdict=rising
    cut -d ' ' -f 2 "$2" | sort --numeric-sort --unique --check=quiet || verdict="not rising: $(paste -sd ' ' "$2")"
    expect "$1" rising "$verdict"
}

try_starts() {
    local number processes=()
    for ((number = 1; number <= starters; number++)); do
        ask POST /transitions/start "$(ticket crowd "starter-$number")" >"$work/start-$number" &
        processes+=($!)
    done
    wait "${processes[@]}"
    cat "$work"/start-* >"$work/starts"
    holder=$(jq --compact-output 'select(.status == "201")' "$work/starts")
    expect "of $starters clients that start at once, run" 1 "$(grep -c . <<<"$holder")"
    expect "the others are told who holds the lock" "$((starters - 1))" \
        "$(jq --arg id "$(of .id "$holder")" 'select(.status == "409" and .holder.id == $id) | 1' "$work/starts" | wc -l)"
}

# Clients queue one after the other behind a holder, and get their turns in that order.
try_queue() {
    local number processes=()
    ask GET "/transitions/await?id=$(of .id "$holder")&until=ended&wait=60" >"$work/watched" &
    processes+=($!)
    echo "holder $(of .fence "$holder")" >"$work/crowd.turns"
    for ((number = 1; number <= waiters; number++)); do
        take_turns crowd "waiter-$number" 1 &
        processes+=($!)
        wait_until "waiter $number waits" has_queue_of crowd "$number"
    done
    expect "end of the holder" "200 completed" "$(of '.status + " " + .outcome' "$(end_of "$holder")")"
    wait "${processes[@]}" || fail "a client broke off"
    expect "await of another client" "200 completed" "$(of '.status + " " + .outcome' "$(cat "$work/watched")")"
    expect "turns in the order of the requests" "holder$(printf ' waiter-%d' $(seq "$waiters"))" \
        "$(cut -d ' ' -f 1 "$work/crowd.turns" | paste -sd ' ')"
    expect_rising_fences "their fences" "$work/crowd.turns"
    expect_no_violations
}

# Clients request their next turn as soon as the last one is over, all at once.
try_turns() {
    local number processes=()
    for ((number = 1; number <= clients; number++)); do
        take_turns rush "client-$number" &
        processes+=($!)
    done
    wait "${processes[@]}" || fail "a client broke off"
    expect "turns of $clients clients that contend" $((clients * turns_each)) "$(wc -l <"$work/rush.turns")"
    expect_rising_fences "their fences" "$work/rush.turns"
    expect_no_violations
}

try_storyboard() {
    local push declared
    declared=$(ask PUT /scenes/phone/storyboard '{"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}')
    expect "revision of a storyboard that is declared" "200 1" "$(of '"\(.status) \(.revision)"' "$declared")"
    push=$(ask POST /transitions/start '{"scene": "phone",
        "operation": {"type": "push", "navigation": "nav", "controller": "editor"}}')
    expect "revision after a push" "200 2" "$(of '"\(.status) \(.revision)"' "$(end_of "$push")")"
}

# --- What is still there after a restart

# Leaves a holder, a ticket whose owner doesn't wait, and a ticket whose owner waits when the daemon is killed.
leave_traces() {
    holder=$(ask POST /transitions/start "$(ticket kept menu)")
    queued=$(ask POST /transitions/serialize "$(ticket kept alert)")
    ask_with_key >"$work/cut" &
    cut_client=$!
    wait_until "two clients wait" has_queue_of kept 2
    queue=$(queue_of_kept)
    storyboard=$(ask GET /scenes/phone/storyboard)
    expect "start, serialize before the kill" "201 202" "$(of .status "$holder") $(of .status "$queued")"
}

ask_with_key() {
    ask POST /transitions/serialize "$(waiting_ticket kept sheet)" --header "Idempotency-Key: $name-sheet-0123456789abcdef"
}

queue_of_kept() { of '[.queue[] | .id, .client] | join(" ")' "$(ask GET /scenes/kept)"; }

find_traces() {
    local refused awaited again id
    id=$(of .id "$holder")
    wait "$cut_client"
    expect "answer to a client that waits when the daemon is killed" 000 "$(of .status "$(cat "$work/cut")")"

    expect "the holder, found by its id" "$(of '"running \(.fence)"' "$holder")" \
        "$(of '"\(.state) \(.fence)"' "$(ask GET "/transitions/$id")")"
    refused=$(ask POST /transitions/start "$(ticket kept other)")
    expect "start while it holds the lock" "409 $id" "$(of '"\(.status) \(.holder.id)"' "$refused")"
    expect "the queue behind it" "$queue" "$(queue_of_kept)"
    expect "the storyboard" "$storyboard" "$(ask GET /scenes/phone/storyboard)"
    expect "its revision" 2 "$(of .revision "$(ask GET /scenes/phone)")"

    # Both owners of tickets come back, each in a different way.
    ask POST /transitions/await "$(of '{id, token, wait: 60} | tojson' "$queued")" >"$work/awaited" &
    awaited=$!
    ask_with_key >"$work/again" &
    again=$!
    expect "end of the holder by its token" "200 completed" "$(of '.status + " " + .outcome' "$(end_of "$holder")")"
    wait "$awaited"
    awaited=$(cat "$work/awaited")
    expect "the first in the queue has its turn" "200 $(of .id "$queued") running" \
        "$(of '"\(.status) \(.id) \(.state)"' "$awaited")"
    expect "end of its turn" "200 completed" "$(of '.status + " " + .outcome' "$(end_of "$queued")")"
    wait "$again"
    again=$(cat "$work/again")
    expect "the next has its turn" "$queue running" \
        "$(of '"\(.id) \(.client)"' "$awaited") $(of '"\(.id) \(.client) \(.state)"' "$again")"
    expect "end of its turn" "200 completed" "$(of '.status + " " + .outcome' "$(end_of "$again")")"

    printf '%s\n' "$holder" "$awaited" "$again" | jq --raw-output '"\(.client) \(.fence)"' >"$work/kept.turns"
    expect_rising_fences "fences from before the kill to after it" "$work/kept.turns"
}
