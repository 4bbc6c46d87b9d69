#include "wire.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void wire_fail(const char *what)
{
    perror(what);
    exit(1);
}

void wire_raise_descriptors(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int wire_dial(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    int yes = 1;

    address.sin_port = htons((uint16_t) port);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *) &address, sizeof address) != 0)
        wire_fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return descriptor;
}

void wire_say(int descriptor, const char *method, const char *path, const char *headers, const char *body)
{
    char request[1024];
    int length = snprintf(request, sizeof request,
                          "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          "%sContent-Length: %zu\r\n\r\n%s",
                          method, path, headers, strlen(body), body);

    if (length >= (int) sizeof request || write(descriptor, request, (size_t) length) != length)
        wire_fail("write");
}

int wire_hear(int descriptor, char *answer, size_t capacity)
{
    ssize_t count = read(descriptor, answer, capacity - 1);

    if (count <= 9)
        wire_fail("read");
    answer[count] = '\0';
    return atoi(answer + 9);
}

void wire_copy_member(const char *body, const char *name, char *value, size_t capacity)
{
    const char *start = strstr(body, name);

    if (start == NULL)
        wire_fail(name);
    start += strlen(name);
    snprintf(value, capacity, "%.*s", (int) strcspn(start, "\""), start);
}

double wire_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}
