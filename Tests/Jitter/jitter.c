/* Delays the threads of a process at random, each time they return from waiting or from the disk; loaded with LD_PRELOAD.

   JITTER_MILLISECONDS is the longest delay (30), JITTER_PERCENT how many of the returns are delayed (20), and JITTER_SLOW how
   many threads in a hundred are delayed each time, by up to twice as much (10). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* Xorshift, with a state for each thread. */
static unsigned draw(void)
{
    static __thread unsigned state;
    while (state == 0)
        if (getrandom(&state, sizeof state, 0) < 0)
            state = (unsigned)gettid();
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void delay(void)
{
    static __thread int is_slow = -1;
    int error = errno;
    unsigned longest = 1000 * setting("JITTER_MILLISECONDS", 30);
    if (is_slow < 0)
        is_slow = draw() % 100 < setting("JITTER_SLOW", 10);
    if (longest > 0 && (is_slow || draw() % 100 < setting("JITTER_PERCENT", 20))) {
        unsigned microseconds = draw() % longest + (is_slow ? longest : 0);
        struct timespec rest = {microseconds / 1000000, microseconds % 1000000 * 1000};
        while (nanosleep(&rest, &rest) < 0)
            ;
    }
    errno = error;
}

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
    int result = REAL(epoll_wait)(epoll, events, count, timeout);
    if (result > 0)
        delay();
    return result;
}

int poll(struct pollfd *entries, nfds_t count, int timeout)
{
    int result = REAL(poll)(entries, count, timeout);
    if (result > 0 && timeout != 0)
        delay();
    return result;
}

int accept4(int listener, __SOCKADDR_ARG address, socklen_t *size, int flags)
{
    int result = REAL(accept4)(listener, address, size, flags);
    if (result >= 0)
        delay();
    return result;
}

int fdatasync(int file)
{
    int result = REAL(fdatasync)(file);
    delay();
    return result;
}
