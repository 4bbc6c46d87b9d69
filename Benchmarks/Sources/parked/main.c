/* Parks many connections on one transition, lets them wait, and wakes them all with one end.
   Usage: parked PORT PID CONNECTIONS SECONDS; prints their costs for the process PID. */
#include "wire.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long resident_kibibytes(const char *pid)
{
    char path[64], line[256];
    long size = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/status", pid);
    file = fopen(path, "r");
    if (file == NULL)
        wire_fail(path);
    while (fgets(line, sizeof line, file) != NULL)
        sscanf(line, "VmRSS: %ld", &size);
    fclose(file);
    return size;
}

static double processor_time(const char *pid)
{
    char path[64];
    unsigned long user = 0, system = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                               &system) != 2)
        wire_fail(path);
    fclose(file);
    return (double) (user + system) / (double) sysconf(_SC_CLK_TCK);
}

int main(int count, char **arguments)
{
    char answer[16384], id[32], token[64], path[128], body[128];
    int connections, port, control, *descriptors, answered = 0;
    long before, after;
    double begun, used;
    const char *pid;

    if (count != 5) {
        fprintf(stderr, "usage: parked PORT PID CONNECTIONS SECONDS\n");
        return 64;
    }
    port = atoi(arguments[1]);
    pid = arguments[2];
    connections = atoi(arguments[3]);
    wire_raise_descriptors();
    control = wire_dial(port);
    wire_say(control, "POST", "/transitions/start", "", "{\"scene\":\"parked\",\"leaseSeconds\":300}");
    if (wire_hear(control, answer, sizeof answer) != 201)
        wire_fail(answer);
    wire_copy_member(answer, "\"id\":\"", id, sizeof id);
    wire_copy_member(answer, "\"token\":\"", token, sizeof token);
    snprintf(path, sizeof path, "/transitions/await?id=%s&until=ended&wait=120", id);
    before = resident_kibibytes(pid);
    descriptors = calloc((size_t) connections, sizeof *descriptors);
    for (int index = 0; index < connections; ++index) {
        descriptors[index] = wire_dial(port);
        wire_say(descriptors[index], "GET", path, "", "");
    }
    /* One more request follows them: when it is answered, all are parked. */
    wire_say(control, "GET", "/livez", "", "");
    wire_hear(control, answer, sizeof answer);
    sleep(1);
    after = resident_kibibytes(pid);
    used = processor_time(pid);
    begun = wire_now();
    sleep((unsigned) atoi(arguments[4]));
    printf("%d parked: %.1f KiB each; %.3f s of processor time in %.0f s of waiting\n", connections,
           (double) (after - before) / connections, processor_time(pid) - used, wire_now() - begun);

    snprintf(body, sizeof body, "{\"id\":\"%s\",\"token\":\"%s\"}", id, token);
    begun = wire_now();
    wire_say(control, "POST", "/transitions/end", "", body);
    for (int index = 0; index < connections; ++index) {
        struct pollfd ready = {.fd = descriptors[index], .events = POLLIN};
        if (poll(&ready, 1, 10000) == 1 && wire_hear(descriptors[index], answer, sizeof answer) == 200)
            ++answered;
    }
    printf("%d of them answered %.3f s after the end\n", answered, wire_now() - begun);
    return answered == connections ? 0 : 1;
}
