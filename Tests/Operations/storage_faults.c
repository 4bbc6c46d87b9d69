/* Has calls of the system on files below a directory fail, hang, or say wrongly that they are done; loaded with LD_PRELOAD.

   STORAGE_FAULTS_BELOW is the directory, and STORAGE_FAULTS a file with a `struct fault` for each kind of call, in the order of
   `enum kind`, which storage_faults.py changes while the process runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { WRITE, SYNCHRONIZE, SYNCHRONIZE_DIRECTORY, RENAME, OPEN, CREATE, TRUNCATE, REMOVE, KINDS };

struct fault {
    /* The error of each call, or 0. */
    uint32_t error;
    /* How many bytes are written before the call fails or waits. */
    uint32_t bytes;
    /* While it is not 0, calls wait. */
    uint32_t hangs;
    /* If it is not 0, calls do nothing and say that they have succeeded. */
    uint32_t lies;
    /* How many calls have failed, lied or hung; the test reads it. */
    uint32_t met;
};

static struct fault *faults;
static const char *below;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("STORAGE_FAULTS");
    below = getenv("STORAGE_FAULTS_BELOW");
    int file = path == NULL || below == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return;
    void *place = mmap(NULL, KINDS * sizeof(struct fault), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (place != MAP_FAILED)
        faults = place;
}

static int is_below(const char *path)
{
    size_t length = strlen(below);
    return strncmp(path, below, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* The fault for a call, or NULL if it goes on as always. */
static struct fault *fault_at(enum kind kind, const char *path)
{
    if (faults == NULL || path == NULL || !is_below(path))
        return NULL;
    struct fault *fault = &faults[kind];
    int has_part = kind == WRITE && __atomic_load_n(&fault->bytes, __ATOMIC_SEQ_CST) > 0;
    if (!has_part && __atomic_load_n(&fault->hangs, __ATOMIC_SEQ_CST)) {
        __atomic_add_fetch(&fault->met, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&fault->hangs, __ATOMIC_SEQ_CST)) {
            struct timespec moment = {0, 1000000};
            nanosleep(&moment, NULL);
        }
    }
    if (!has_part && !__atomic_load_n(&fault->error, __ATOMIC_SEQ_CST) && !__atomic_load_n(&fault->lies, __ATOMIC_SEQ_CST))
        return NULL;
    __atomic_add_fetch(&fault->met, 1, __ATOMIC_SEQ_CST);
    return fault;
}

static struct fault *fault_in(enum kind kind, int file)
{
    if (faults == NULL)
        return NULL;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return NULL;
    path[length] = 0;
    return fault_at(kind, path);
}

static int failed(const struct fault *fault)
{
    if (fault->lies)
        return 0;
    errno = (int)fault->error;
    return -1;
}

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

/* A part may be written, as by a disk that has room for a part. */
#define WRITING(file, bytes_to_write, write_some, write_all)                             \
    struct fault *fault = fault_in(WRITE, file);                                         \
    if (fault != NULL && fault->lies)                                                    \
        return (ssize_t)(bytes_to_write);                                                \
    if (fault != NULL && fault->bytes > 0 && fault->bytes < (bytes_to_write)) {          \
        size_t part = __atomic_exchange_n(&fault->bytes, 0, __ATOMIC_SEQ_CST);           \
        return write_some;                                                               \
    }                                                                                    \
    return fault != NULL ? failed(fault) : write_all

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset)
{
    WRITING(file, count, REAL(pwrite)(file, bytes, part, offset), REAL(pwrite)(file, bytes, count, offset));
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset)
{
    WRITING(file, count, REAL(pwrite64)(file, bytes, part, offset), REAL(pwrite64)(file, bytes, count, offset));
}

ssize_t write(int file, const void *bytes, size_t count)
{
    WRITING(file, count, REAL(write)(file, bytes, part), REAL(write)(file, bytes, count));
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    struct fault *fault = fault_in(WRITE, file);
    return fault != NULL ? failed(fault) : REAL(writev)(file, parts, count);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset)
{
    struct fault *fault = fault_in(WRITE, file);
    return fault != NULL ? failed(fault) : REAL(pwritev)(file, parts, count, offset);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset)
{
    struct fault *fault = fault_in(WRITE, file);
    return fault != NULL ? failed(fault) : REAL(pwritev64)(file, parts, count, offset);
}

static enum kind kind_of_synchronizing(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && S_ISDIR(status.st_mode) ? SYNCHRONIZE_DIRECTORY : SYNCHRONIZE;
}

int fdatasync(int file)
{
    struct fault *fault = fault_in(kind_of_synchronizing(file), file);
    return fault != NULL ? failed(fault) : REAL(fdatasync)(file);
}

int fsync(int file)
{
    struct fault *fault = fault_in(kind_of_synchronizing(file), file);
    return fault != NULL ? failed(fault) : REAL(fsync)(file);
}

int ftruncate(int file, off_t size)
{
    struct fault *fault = fault_in(TRUNCATE, file);
    return fault != NULL ? failed(fault) : REAL(ftruncate)(file, size);
}

int ftruncate64(int file, off64_t size)
{
    struct fault *fault = fault_in(TRUNCATE, file);
    return fault != NULL ? failed(fault) : REAL(ftruncate64)(file, size);
}

int rename(const char *from, const char *to)
{
    struct fault *fault = fault_at(RENAME, to);
    return fault != NULL ? failed(fault) : REAL(rename)(from, to);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    struct fault *fault = fault_at(RENAME, to);
    return fault != NULL ? failed(fault) : REAL(renameat)(from_directory, from, to_directory, to);
}

int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags)
{
    struct fault *fault = fault_at(RENAME, to);
    return fault != NULL ? failed(fault) : REAL(renameat2)(from_directory, from, to_directory, to, flags);
}

int unlink(const char *path)
{
    struct fault *fault = fault_at(REMOVE, path);
    return fault != NULL ? failed(fault) : REAL(unlink)(path);
}

int unlinkat(int directory, const char *path, int flags)
{
    struct fault *fault = fault_at(REMOVE, path);
    return fault != NULL ? failed(fault) : REAL(unlinkat)(directory, path, flags);
}

/* Files that are opened to be read only do not meet a fault: a disk that is full or mounted read-only has them. */
static struct fault *fault_of_opening(const char *path, int flags)
{
    if (flags & O_CREAT && access(path, F_OK) != 0)
        return fault_at(CREATE, path);
    return (flags & O_ACCMODE) != O_RDONLY ? fault_at(OPEN, path) : NULL;
}

#define OPENING(path, flags, call)                            \
    mode_t mode = 0;                                          \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                  \
        va_list rest;                                         \
        va_start(rest, flags);                                \
        mode = va_arg(rest, mode_t);                          \
        va_end(rest);                                         \
    }                                                         \
    struct fault *fault = fault_of_opening(path, flags);      \
    return fault != NULL ? (errno = (int)fault->error, -1) : call

int open(const char *path, int flags, ...)
{
    OPENING(path, flags, REAL(open)(path, flags, mode));
}

int open64(const char *path, int flags, ...)
{
    OPENING(path, flags, REAL(open64)(path, flags, mode));
}

int openat(int directory, const char *path, int flags, ...)
{
    OPENING(path, flags, REAL(openat)(directory, path, flags, mode));
}

int openat64(int directory, const char *path, int flags, ...)
{
    OPENING(path, flags, REAL(openat64)(directory, path, flags, mode));
}
