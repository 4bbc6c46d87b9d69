#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

void fail(const char *format, ...)
{
    va_list arguments;

    fputs("load: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static uint64_t nanoseconds(struct timespec time)
{
    return (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec;
}

uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return nanoseconds(time);
}

uint64_t processor_time(pid_t process)
{
    struct timespec time;
    clockid_t clock;

    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
        fail("the clock of process %d: %m", (int) process);
    return nanoseconds(time);
}

uint64_t processor_time_of_all(const pid_t *processes, int count)
{
    uint64_t sum = 0;

    for (int index = 0; index < count; ++index)
        sum += processor_time(processes[index]);
    return sum;
}

uint64_t resident_memory(pid_t process)
{
    unsigned long kibibytes = 0;
    char path[64], line[256];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int) process);
    file = fopen(path, "r");
    if (file == NULL)
        fail("%s: %m", path);
    while (fgets(line, sizeof line, file) != NULL)
        sscanf(line, "VmRSS: %lu", &kibibytes);
    fclose(file);
    return (uint64_t) kibibytes * 1024;
}

void wait_until_idle(pid_t process)
{
    const struct timespec window = {.tv_nsec = 200000000};
    const uint64_t busy = 4000000, patience = 60000000000u;
    uint64_t begun = now(), used, before;

    do {
        if (now() - begun > patience)
            fail("process %d has not become idle in a minute", (int) process);
        before = processor_time(process);
        nanosleep(&window, NULL);
        used = processor_time(process) - before;
    } while (used > busy);
}

void raise_descriptors(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL)
        fail("no memory for %zu times %zu bytes", count, size);
    return memory;
}

static void reserve(struct samples *samples, size_t count)
{
    size_t capacity = samples->capacity == 0 ? 1024 : samples->capacity;

    while (capacity < count)
        capacity *= 2;
    if (capacity == samples->capacity)
        return;
    samples->values = realloc(samples->values, capacity * sizeof *samples->values);
    if (samples->values == NULL)
        fail("no memory for %zu samples", capacity);
    samples->capacity = capacity;
}

void samples_add(struct samples *samples, uint64_t value)
{
    reserve(samples, samples->count + 1);
    samples->values[samples->count++] = value;
}

void samples_append(struct samples *samples, const struct samples *others)
{
    if (others->count == 0)
        return;
    reserve(samples, samples->count + others->count);
    memcpy(samples->values + samples->count, others->values, others->count * sizeof *others->values);
    samples->count += others->count;
}

void samples_store(struct samples *samples, const char *path)
{
    FILE *file;

    if (path != NULL) {
        file = fopen(path, "wb");
        if (file == NULL || fwrite(samples->values, sizeof *samples->values, samples->count, file) != samples->count ||
            fclose(file) != 0)
            fail("%s: %m", path);
    }
    free(samples->values);
    *samples = (struct samples) {0};
}
