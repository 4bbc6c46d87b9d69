/* Kills processes that hold a lock in a session: how long until the next in the queue is granted. */
#include "events.h"
#include "options.h"
#include "support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a process of its own: takes the lock in a session that a stream keeps alive, says so, and never releases it. */
static _Noreturn void hold(int port, int said)
{
    struct connection *owner = allocate(1, sizeof *owner), *life = allocate(1, sizeof *life);
    char body[8192], token[64], header[128];

    connection_open(owner, port);
    http_post(owner, "/sessions", "", "{\"ttlSeconds\":300}", 201, body, sizeof body);
    json_copy(body, "\"token\":\"", token, sizeof token);
    snprintf(header, sizeof header, "Arbiter-Session: %s\r\n", token);
    events_open(life, port, "killed", header);
    http_post(owner, "/transitions/start", header, "{\"scene\":\"killed\",\"leaseSeconds\":300}", 201, body,
              sizeof body);
    if (write(said, "", 1) != 1)
        fail("cannot say that the lock is held: %m");
    for (;;)
        pause();
}

static pid_t start_holder(int port)
{
    int ends[2];
    pid_t holder;
    char byte;

    fflush(stdout);
    if (pipe(ends) != 0 || (holder = fork()) < 0)
        fail("cannot start a process: %m");
    if (holder == 0)
        hold(port, ends[1]);
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1)
        fail("the process that was to hold the lock has ended");
    close(ends[0]);
    return holder;
}

/* The time from the kill of the holder to the grant of a ticket that was in the queue before. */
static uint64_t kill_holder(int port, struct connection *next)
{
    char body[8192], id[32], token[64], request[192];
    pid_t holder = start_holder(port);
    uint64_t begun, took;

    http_post(next, "/transitions/serialize", "", "{\"scene\":\"killed\"}", 202, body, sizeof body);
    json_copy(body, "\"id\":\"", id, sizeof id);
    json_copy(body, "\"token\":\"", token, sizeof token);
    snprintf(request, sizeof request, "{\"id\":\"%s\",\"token\":\"%s\",\"wait\":60}", id, token);
    http_send(next, "POST", "/transitions/await", "", request);
    begun = now();
    kill(holder, SIGKILL);
    if (http_receive(next, body, sizeof body) != 200)
        fail("the next in the queue was not granted: %s", body);
    took = now() - begun;
    waitpid(holder, NULL, 0);
    json_number(body, "\"fence\":");
    snprintf(request, sizeof request, "{\"id\":\"%s\",\"token\":\"%s\"}", id, token);
    http_post(next, "/transitions/end", "", request, 200, body, sizeof body);
    return took;
}

void run_kills(const struct options *options)
{
    struct connection *next = allocate(1, sizeof *next);
    struct samples latencies = {0};

    connection_open(next, options->port);
    for (long index = 0; index < options->count; ++index)
        samples_add(&latencies, kill_holder(options->port, next));
    printf("{\"kills\":%ld}\n", options->count);
    samples_store(&latencies, options->samples);
    connection_close(next);
    free(next);
}
