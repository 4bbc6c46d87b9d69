/* Gives a process another boot of the machine, that which ANOTHER_BOOT names a file of; loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static const char *place(const char *path)
{
    const char *another = getenv("ANOTHER_BOOT");
    return another != NULL && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? another : path;
}

#define OPENING(flags, call)                   \
    mode_t mode = 0;                           \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {   \
        va_list rest;                          \
        va_start(rest, flags);                 \
        mode = va_arg(rest, mode_t);           \
        va_end(rest);                          \
    }                                          \
    return call

int open(const char *path, int flags, ...)
{
    OPENING(flags, REAL(open)(place(path), flags, mode));
}

int open64(const char *path, int flags, ...)
{
    OPENING(flags, REAL(open64)(place(path), flags, mode));
}

int openat(int directory, const char *path, int flags, ...)
{
    OPENING(flags, REAL(openat)(directory, place(path), flags, mode));
}

int openat64(int directory, const char *path, int flags, ...)
{
    OPENING(flags, REAL(openat64)(directory, place(path), flags, mode));
}
