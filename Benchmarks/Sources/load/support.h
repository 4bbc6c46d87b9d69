/* What every mode needs: failing, clocks, figures of the server's process, and samples. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Says what went wrong, in the format of printf (%m is the system's reason), and ends the process with status 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Nanoseconds on a monotonic clock. */
uint64_t now(void);

/* The processor time, in nanoseconds, that all threads of a process took so far, in user and system mode. */
uint64_t processor_time(pid_t process);

/* The same, of several processes together. */
uint64_t processor_time_of_all(const pid_t *processes, int count);

/* The resident memory of a process, in bytes. */
uint64_t resident_memory(pid_t process);

/* Waits until a process takes hardly any processor time, which means that it has done all that it was sent. */
void wait_until_idle(pid_t process);

/* Raises the limit of open files as far as the system allows. */
void raise_descriptors(void);

void *allocate(size_t count, size_t size);

/* Durations in nanoseconds. */
struct samples {
    uint64_t *values;
    size_t count;
    size_t capacity;
};

void samples_add(struct samples *samples, uint64_t value);

void samples_append(struct samples *samples, const struct samples *others);

/* Writes the values as 64-bit numbers of this machine to a file, and frees them. Without a path it only frees them. */
void samples_store(struct samples *samples, const char *path);

#endif
