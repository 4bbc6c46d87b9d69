/* Parks connections that wait for the end of one transition, lets them wait, and wakes them all with one end. */
#include "http.h"
#include "options.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

static void park(struct connection *waiting, const struct options *options, const char *id, int readiness)
{
    char path[128];

    snprintf(path, sizeof path, "/transitions/await?id=%s&until=ended&wait=120", id);
    for (int index = 0; index < options->clients; ++index) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &waiting[index]};
        connection_open(&waiting[index], options->port);
        http_send(&waiting[index], "GET", path, "", "");
        if (epoll_ctl(readiness, EPOLL_CTL_ADD, waiting[index].descriptor, &event) != 0)
            fail("epoll_ctl: %m");
    }
}

/* Reads the answers of all that wait, and how long after this instant each arrived. */
static struct samples receive_all(int readiness, int clients, uint64_t since)
{
    struct samples latencies = {0};
    struct epoll_event events[256];
    char body[8192];

    while (latencies.count < (size_t) clients) {
        int count = epoll_wait(readiness, events, 256, 30000);
        if (count <= 0)
            fail("only %zu of %d were woken", latencies.count, clients);
        for (int index = 0; index < count; ++index) {
            int status = http_receive(events[index].data.ptr, body, sizeof body);
            if (status != 200)
                fail("a client that waited was answered %d: %s", status, body);
            samples_add(&latencies, now() - since);
        }
    }
    return latencies;
}

/* The processor time that the process takes in so many seconds. */
static uint64_t processor_time_during(pid_t process, double seconds)
{
    const struct timespec duration = {.tv_sec = (time_t) seconds,
                                      .tv_nsec = (long) ((seconds - (double) (time_t) seconds) * 1e9)};
    uint64_t before = processor_time(process);

    nanosleep(&duration, NULL);
    return processor_time(process) - before;
}

void run_parked(const struct options *options)
{
    struct connection *waiting = allocate((size_t) options->clients, sizeof *waiting);
    struct connection *owner = allocate(1, sizeof *owner);
    char body[8192], id[32], token[64], proof[160];
    int readiness = epoll_create1(EPOLL_CLOEXEC);
    uint64_t memory, parked_memory, resting, used, begun, last;
    struct samples latencies;

    connection_open(owner, options->port);
    http_post(owner, "/transitions/start", "", "{\"scene\":\"parked\",\"leaseSeconds\":300}", 201, body, sizeof body);
    json_copy(body, "\"id\":\"", id, sizeof id);
    json_copy(body, "\"token\":\"", token, sizeof token);
    snprintf(proof, sizeof proof, "{\"id\":\"%s\",\"token\":\"%s\"}", id, token);
    memory = resident_memory(options->process);
    park(waiting, options, id, readiness);
    wait_until_idle(options->process);
    parked_memory = resident_memory(options->process) - memory;
    resting = processor_time_during(options->process, options->seconds);
    used = processor_time(options->process);
    begun = now();
    http_send(owner, "POST", "/transitions/end", "", proof);
    latencies = receive_all(readiness, options->clients, begun);
    last = now() - begun;
    used = processor_time(options->process) - used;
    if (http_receive(owner, body, sizeof body) != 200)
        fail("the end was refused: %s", body);
    printf("{\"parked\":%d,\"memory_bytes\":%lu,\"resting_seconds\":%g,\"resting_processor_seconds\":%.9f,"
           "\"waking_seconds\":%.9f,\"waking_processor_seconds\":%.9f}\n",
           options->clients, (unsigned long) parked_memory, options->seconds, (double) resting / 1e9,
           (double) last / 1e9, (double) used / 1e9);
    samples_store(&latencies, options->samples);
    for (int index = 0; index < options->clients; ++index)
        connection_close(&waiting[index]);
    connection_close(owner);
    free(waiting);
    free(owner);
}
