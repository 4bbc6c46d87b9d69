/* Starts and ends transitions as fast as possible, each connection in its own scene.
   Usage: cycles PORT PID CONNECTIONS CYCLES; prints cycles per second, and the processor time that the process PID
   took for each request, in microseconds. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct client {
    pthread_t thread;
    int number;
    int port;
    long cycles;
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Sends a request and reads its answer; `Content-Length` determines the end of the body. */
static char *ask(int descriptor, const char *path, const char *body, char *answer, size_t capacity)
{
    char request[1024];
    size_t size = 0;
    char *end = NULL;
    int length = snprintf(request, sizeof request,
                          "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          path, strlen(body), body);

    if (write(descriptor, request, (size_t) length) != length)
        fail("write");
    for (;;) {
        ssize_t count = read(descriptor, answer + size, capacity - 1 - size);
        if (count <= 0)
            fail("read");
        size += (size_t) count;
        answer[size] = '\0';
        if (end == NULL && (end = strstr(answer, "\r\n\r\n")) != NULL)
            end += 4;
        if (end != NULL) {
            char *header = strcasestr(answer, "content-length:");
            if (header == NULL)
                fail("no Content-Length");
            if (size - (size_t) (end - answer) >= (size_t) atol(header + 15))
                break;
        }
    }
    if (strncmp(answer + 9, "20", 2) != 0) {
        fprintf(stderr, "%s\n", answer);
        exit(1);
    }
    return end;
}

static void copy_member(const char *body, const char *name, char *value, size_t capacity)
{
    const char *start = strstr(body, name);
    size_t length;

    if (start == NULL)
        fail(name);
    start += strlen(name);
    length = strcspn(start, "\"");
    if (length >= capacity)
        fail(name);
    memcpy(value, start, length);
    value[length] = '\0';
}

static void *run(void *context)
{
    struct client *client = context;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0), enabled = 1;
    char start[64], end[128], answer[8192], id[32], token[64];

    address.sin_port = htons((uint16_t) client->port);
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
    if (connect(descriptor, (struct sockaddr *) &address, sizeof address) != 0)
        fail("connect");
    snprintf(start, sizeof start, "{\"scene\":\"bench-%d\"}", client->number);
    for (long cycle = 0; cycle < client->cycles; ++cycle) {
        char *body = ask(descriptor, "/transitions/start", start, answer, sizeof answer);
        copy_member(body, "\"id\":\"", id, sizeof id);
        copy_member(body, "\"token\":\"", token, sizeof token);
        snprintf(end, sizeof end, "{\"id\":\"%s\",\"token\":\"%s\"}", id, token);
        ask(descriptor, "/transitions/end", end, answer, sizeof answer);
    }
    close(descriptor);
    return NULL;
}

/* The processor time of a process so far, in seconds. */
static double processor_time(const char *pid)
{
    char path[64];
    unsigned long user = 0, system = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                               &system) != 2)
        fail(path);
    fclose(file);
    return (double) (user + system) / (double) sysconf(_SC_CLK_TCK);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

int main(int count, char **arguments)
{
    struct client *clients;
    int connections;
    long cycles;
    double begun, used;

    if (count != 5) {
        fprintf(stderr, "usage: cycles PORT PID CONNECTIONS CYCLES\n");
        return 64;
    }
    connections = atoi(arguments[3]);
    cycles = atol(arguments[4]) / connections;
    clients = calloc((size_t) connections, sizeof *clients);
    begun = now();
    used = processor_time(arguments[2]);
    for (int number = 0; number < connections; ++number) {
        clients[number] = (struct client) {.number = number, .port = atoi(arguments[1]), .cycles = cycles};
        if (pthread_create(&clients[number].thread, NULL, run, &clients[number]) != 0)
            fail("pthread_create");
    }
    for (int number = 0; number < connections; ++number)
        pthread_join(clients[number].thread, NULL);
    begun = now() - begun;
    used = processor_time(arguments[2]) - used;
    printf("%.0f %.2f\n", (double) (cycles * connections) / begun, used * 1e6 / (double) (2 * cycles * connections));
    free(clients);
    return 0;
}
