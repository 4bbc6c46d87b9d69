/* Sends one request many times, with its number in place of each # in path and body: what the server keeps of it. */
#include "http.h"
#include "options.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

static void expand(const char *pattern, long number, char *text, size_t capacity)
{
    size_t size = 0;

    for (; *pattern != '\0' && size + 1 < capacity; ++pattern) {
        if (*pattern == '#')
            size += (size_t) snprintf(text + size, capacity - size, "%ld", number);
        else
            text[size++] = *pattern;
    }
    if (size >= capacity || *pattern != '\0')
        fail("a request is too long: %s", pattern);
    text[size] = '\0';
}

void run_repeat(const struct options *options)
{
    struct connection *connection = allocate(1, sizeof *connection);
    char path[256], request[1024], body[8192];
    uint64_t memory = resident_memory(options->process), used = processor_time(options->process), begun = now();

    connection_open(connection, options->port);
    for (long number = 0; number < options->count; ++number) {
        int status;
        expand(options->path, number, path, sizeof path);
        expand(options->body, number, request, sizeof request);
        http_send(connection, options->method, path, "", request);
        status = http_receive(connection, body, sizeof body);
        if (status != options->status)
            fail("%s %s was answered %d instead of %d: %s", options->method, path, status, options->status, body);
    }
    begun = now() - begun;
    used = processor_time(options->process) - used;
    printf("{\"requests\":%ld,\"seconds\":%.9f,\"processor_seconds\":%.9f,\"memory_bytes\":%ld}\n", options->count,
           (double) begun / 1e9, (double) used / 1e9, (long) (resident_memory(options->process) - memory));
    connection_close(connection);
    free(connection);
}
