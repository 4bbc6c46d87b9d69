/* Grants a lock again and again while readers follow the scene: how long after the request its answer arrives, and its
   event at each reader. */
#include "events.h"
#include "options.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

struct audience {
    struct connection *owner, *readers;
    int count, readiness;
    struct samples answers, events;
    char granted[8192];
};

/* Has the connection reported once, when there is something to read. */
static void watch(struct audience *audience, struct connection *connection, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = connection};

    if (epoll_ctl(audience->readiness, operation, connection->descriptor, &event) != 0)
        fail("epoll_ctl: %m");
}

static void receive(struct audience *audience, struct connection *connection, uint64_t since)
{
    if (connection == audience->owner) {
        samples_add(&audience->answers, now() - since);
        if (http_receive(connection, audience->granted, sizeof audience->granted) != 201)
            fail("a start was refused: %s", audience->granted);
    } else {
        events_read_up_to(connection, "transition.running");
        samples_add(&audience->events, now() - since);
    }
}

/* Starts a transition and reads its answer and its event at every reader. */
static void grant(struct audience *audience, const char *request)
{
    struct epoll_event ready[256];
    int missing = audience->count + 1;
    uint64_t begun;

    watch(audience, audience->owner, EPOLL_CTL_MOD);
    for (int index = 0; index < audience->count; ++index)
        watch(audience, &audience->readers[index], EPOLL_CTL_MOD);
    begun = now();
    http_send(audience->owner, "POST", "/transitions/start", "", request);
    while (missing > 0) {
        int count = epoll_wait(audience->readiness, ready, 256, 30000);
        if (count <= 0)
            fail("%d events did not arrive", missing);
        for (int index = 0; index < count; ++index)
            receive(audience, ready[index].data.ptr, begun);
        missing -= count;
    }
}

static void end(struct audience *audience)
{
    char body[8192], id[32], token[64], proof[160];

    json_copy(audience->granted, "\"id\":\"", id, sizeof id);
    json_copy(audience->granted, "\"token\":\"", token, sizeof token);
    snprintf(proof, sizeof proof, "{\"id\":\"%s\",\"token\":\"%s\"}", id, token);
    http_post(audience->owner, "/transitions/end", "", proof, 200, body, sizeof body);
    for (int index = 0; index < audience->count; ++index)
        events_read_up_to(&audience->readers[index], "transition.ended");
}

void run_streams(const struct options *options)
{
    struct audience *audience = allocate(1, sizeof *audience);
    char scene[64], request[128];

    audience->count = options->clients;
    audience->owner = allocate(1, sizeof *audience->owner);
    audience->readers = allocate((size_t) options->clients, sizeof *audience->readers);
    audience->readiness = epoll_create1(EPOLL_CLOEXEC);
    snprintf(scene, sizeof scene, "followed-by-%d", options->clients);
    snprintf(request, sizeof request, "{\"scene\":\"%s\",\"leaseSeconds\":300}", scene);
    connection_open(audience->owner, options->port);
    watch(audience, audience->owner, EPOLL_CTL_ADD);
    for (int index = 0; index < options->clients; ++index) {
        events_open(&audience->readers[index], options->port, scene, "");
        watch(audience, &audience->readers[index], EPOLL_CTL_ADD);
    }
    for (long index = 0; index < options->count; ++index) {
        grant(audience, request);
        end(audience);
    }
    printf("{\"grants\":%ld,\"readers\":%d}\n", options->count, options->clients);
    samples_store(&audience->answers, options->answers);
    samples_store(&audience->events, options->samples);
    for (int index = 0; index < options->clients; ++index)
        connection_close(&audience->readers[index]);
    connection_close(audience->owner);
    free(audience->readers);
    free(audience->owner);
    free(audience);
}
