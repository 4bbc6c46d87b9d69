/* Measures how long a lock takes to pass from a killed process to the next in the queue, and a grant to reach readers
   of the scene. Usage: handover PORT KILLS GRANTS READERS; prints medians and maxima, in milliseconds. */
#include "wire.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct reader {
    int descriptor;
    size_t size;
    char text[16384];
};

static int compare(const void *left, const void *right)
{
    double difference = *(const double *) left - *(const double *) right;

    return (difference > 0) - (difference < 0);
}

static void report(const char *what, double *seconds, size_t count)
{
    qsort(seconds, count, sizeof *seconds, compare);
    printf("%-44s %12.3f %12.3f\n", what, seconds[count / 2] * 1000, seconds[count - 1] * 1000);
}

static int ask(int descriptor, const char *path, const char *headers, const char *body, char *answer, size_t capacity)
{
    wire_say(descriptor, "POST", path, headers, body);
    return wire_hear(descriptor, answer, capacity);
}

static void end(int descriptor, const char *granted)
{
    char id[32], token[64], body[128], answer[16384];

    wire_copy_member(granted, "\"id\":\"", id, sizeof id);
    wire_copy_member(granted, "\"token\":\"", token, sizeof token);
    snprintf(body, sizeof body, "{\"id\":\"%s\",\"token\":\"%s\"}", id, token);
    if (ask(descriptor, "/transitions/end", "", body, answer, sizeof answer) != 200)
        wire_fail(answer);
}

/* Follows the scene, in a session if its header is given; returns when the stream is open. */
static int follow(int port, const char *scene, const char *headers)
{
    char path[128], text[4096];
    size_t size = 0;
    int descriptor = wire_dial(port);

    snprintf(path, sizeof path, "/scenes/%s/events", scene);
    wire_say(descriptor, "GET", path, headers, "");
    do {
        ssize_t count = read(descriptor, text + size, sizeof text - 1 - size);
        if (count <= 0)
            wire_fail(path);
        size += (size_t) count;
        text[size] = '\0';
    } while (strstr(text, ": connected") == NULL);
    return descriptor;
}

/* Reads until the reader has an event with this name, and drops everything up to it. */
static void read_up_to(struct reader *reader, const char *event)
{
    char *found;

    for (;;) {
        ssize_t count;
        reader->text[reader->size] = '\0';
        found = strstr(reader->text, event);
        if (found != NULL)
            break;
        count = read(reader->descriptor, reader->text + reader->size, sizeof reader->text - 1 - reader->size);
        if (count <= 0)
            wire_fail(event);
        reader->size += (size_t) count;
    }
    found += strlen(event);
    reader->size -= (size_t) (found - reader->text);
    memmove(reader->text, found, reader->size);
}

/* Takes the lock in a session that a stream keeps alive, reports it, and never ends the transition. */
static void hold(int port, int said)
{
    char answer[16384], token[64], header[128];
    int descriptor = wire_dial(port);

    if (ask(descriptor, "/sessions", "", "{\"ttlSeconds\":300}", answer, sizeof answer) != 201)
        wire_fail(answer);
    wire_copy_member(answer, "\"token\":\"", token, sizeof token);
    snprintf(header, sizeof header, "Arbiter-Session: %s\r\n", token);
    follow(port, "killed", header);
    if (ask(descriptor, "/transitions/start", header, "{\"scene\":\"killed\",\"leaseSeconds\":300}", answer,
            sizeof answer) != 201)
        wire_fail(answer);
    if (write(said, "", 1) != 1)
        wire_fail("write");
    for (;;)
        pause();
}

/* The time from the kill of the holder to the grant of the next in the queue. */
static double kill_holder(int port, int next)
{
    char answer[16384];
    int ends[2];
    double begun, took;
    pid_t holder;

    if (pipe(ends) != 0 || (holder = fork()) < 0)
        wire_fail("fork");
    if (holder == 0)
        hold(port, ends[1]);
    close(ends[1]);
    if (read(ends[0], answer, 1) != 1)
        wire_fail("the holder");
    close(ends[0]);
    wire_say(next, "POST", "/transitions/serialize", "", "{\"scene\":\"killed\",\"wait\":60}");
    /* Enough time to get into the queue. */
    usleep(50000);
    begun = wire_now();
    kill(holder, SIGKILL);
    if (wire_hear(next, answer, sizeof answer) != 201)
        wire_fail(answer);
    took = wire_now() - begun;
    waitpid(holder, NULL, 0);
    end(next, answer);
    return took;
}

static void measure_kills(int port, int count)
{
    double *seconds = calloc((size_t) count, sizeof *seconds);
    int next = wire_dial(port);

    for (int index = 0; index < count; ++index)
        seconds[index] = kill_holder(port, next);
    report("from the kill to the next grant", seconds, (size_t) count);
    free(seconds);
    close(next);
}

/* Grants the lock repeatedly, by requests whose answers are grants, while this many readers follow the scene. */
static void measure_grants(int port, int grants, int readers)
{
    size_t count = (size_t) grants * (size_t) readers, heard = 0;
    double *answers = calloc((size_t) grants, sizeof *answers), *events = calloc(count, sizeof *events);
    struct reader *all = calloc((size_t) readers, sizeof *all);
    struct pollfd *ready = calloc((size_t) readers + 1, sizeof *ready);
    char answer[16384], scene[32], body[64], what[64];
    int owner = wire_dial(port);

    snprintf(scene, sizeof scene, "followed-%d", readers);
    snprintf(body, sizeof body, "{\"scene\":\"%s\"}", scene);
    /* The owner is read first, so that its answer does not wait behind a thousand events. */
    ready[0] = (struct pollfd) {.fd = owner, .events = POLLIN};
    for (int index = 0; index < readers; ++index) {
        all[index].descriptor = follow(port, scene, "");
        ready[index + 1] = (struct pollfd) {.fd = all[index].descriptor, .events = POLLIN};
    }
    for (int grant = 0; grant < grants; ++grant) {
        double begun = wire_now();
        int missing = readers + 1;
        wire_say(owner, "POST", "/transitions/start", "", body);
        while (missing > 0) {
            if (poll(ready, (nfds_t) readers + 1, 10000) <= 0)
                wire_fail("an event");
            for (int index = 0; index <= readers; ++index) {
                if (ready[index].revents == 0)
                    continue;
                if (index == 0) {
                    answers[grant] = wire_now() - begun;
                    if (wire_hear(owner, answer, sizeof answer) != 201)
                        wire_fail(answer);
                } else {
                    read_up_to(&all[index - 1], "event: transition.running\n");
                    events[heard++] = wire_now() - begun;
                }
                ready[index].fd = -1;
                ready[index].revents = 0;
                --missing;
            }
        }
        end(owner, answer);
        for (int index = 0; index < readers; ++index) {
            read_up_to(&all[index], "event: transition.ended\n");
            ready[index + 1].fd = all[index].descriptor;
        }
        ready[0].fd = owner;
    }
    snprintf(what, sizeof what, "from a start to its answer, %d following", readers);
    report(what, answers, (size_t) grants);
    snprintf(what, sizeof what, "from a start to its event at %d", readers);
    report(what, events, count);
    for (int index = 0; index < readers; ++index)
        close(all[index].descriptor);
    close(owner);
    free(answers);
    free(events);
    free(all);
    free(ready);
}

int main(int count, char **arguments)
{
    int port;

    if (count != 5) {
        fprintf(stderr, "usage: handover PORT KILLS GRANTS READERS\n");
        return 64;
    }
    port = atoi(arguments[1]);
    wire_raise_descriptors();
    printf("%-44s %12s %12s\n", "milliseconds", "median", "longest");
    measure_grants(port, atoi(arguments[3]), 1);
    measure_grants(port, atoi(arguments[3]), atoi(arguments[4]));
    measure_kills(port, atoi(arguments[2]));
    return 0;
}
