/* Parks many connections on one transition, lets them wait, and wakes them all with one end.
   Usage: parked PORT PID CONNECTIONS SECONDS; prints what they cost the process PID. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int dial(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_port = htons((uint16_t) port);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *) &address, sizeof address) != 0)
        fail("connect");
    return descriptor;
}

static void say(int descriptor, const char *method, const char *path, const char *body)
{
    char request[1024];
    int length = snprintf(request, sizeof request,
                          "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          method, path, strlen(body), body);

    if (write(descriptor, request, (size_t) length) != length)
        fail("write");
}

/* Reads one answer, which comes in one piece on loopback, and gives its status. */
static int hear(int descriptor, char *answer, size_t capacity)
{
    ssize_t count = read(descriptor, answer, capacity - 1);

    if (count <= 9)
        fail("read");
    answer[count] = '\0';
    return atoi(answer + 9);
}

static void copy_member(const char *body, const char *name, char *value, size_t capacity)
{
    const char *start = strstr(body, name);

    if (start == NULL)
        fail(name);
    start += strlen(name);
    snprintf(value, capacity, "%.*s", (int) strcspn(start, "\""), start);
}

static long resident_kibibytes(const char *pid)
{
    char path[64], line[256];
    long size = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/status", pid);
    file = fopen(path, "r");
    if (file == NULL)
        fail(path);
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
    struct rlimit limit;
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
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);

    control = dial(port);
    say(control, "POST", "/transitions/start", "{\"scene\":\"parked\",\"leaseSeconds\":300}");
    if (hear(control, answer, sizeof answer) != 201)
        fail(answer);
    copy_member(answer, "\"id\":\"", id, sizeof id);
    copy_member(answer, "\"token\":\"", token, sizeof token);
    snprintf(path, sizeof path, "/transitions/await?id=%s&until=ended&wait=120", id);
    before = resident_kibibytes(pid);
    descriptors = calloc((size_t) connections, sizeof *descriptors);
    for (int index = 0; index < connections; ++index) {
        descriptors[index] = dial(port);
        say(descriptors[index], "GET", path, "");
    }
    /* One more request goes in behind them: once it is answered, all are parked. */
    say(control, "GET", "/livez", "");
    hear(control, answer, sizeof answer);
    sleep(1);
    after = resident_kibibytes(pid);
    used = processor_time(pid);
    begun = now();
    sleep((unsigned) atoi(arguments[4]));
    printf("%d parked: %.1f KiB each; %.3f s of processor time in %.0f s of waiting\n", connections,
           (double) (after - before) / connections, processor_time(pid) - used, now() - begun);

    snprintf(body, sizeof body, "{\"id\":\"%s\",\"token\":\"%s\"}", id, token);
    begun = now();
    say(control, "POST", "/transitions/end", body);
    for (int index = 0; index < connections; ++index) {
        struct pollfd ready = {.fd = descriptors[index], .events = POLLIN};
        if (poll(&ready, 1, 10000) == 1 && hear(descriptors[index], answer, sizeof answer) == 200)
            ++answered;
    }
    printf("%d of them answered %.3f s after the end\n", answered, now() - begun);
    return answered == connections ? 0 : 1;
}
