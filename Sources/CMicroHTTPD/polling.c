#include "polling.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>

enum {
    most_events = 127,
    /* As many as libmicrohttpd asks for, and nobody else here. */
    room_of_libmicrohttpd = 128,
    /* Threads beyond that are not known. The daemon has a few, and twice as many while it changes its certificate. */
    most_threads = 1024,
    /* A call that took longer has waited. */
    shortest_wait = 1000 * 1000,
};

enum { absent, waiting, serving };

/* A thread of libmicrohttpd that asks for events, serves all of them, and asks again. */
static struct thread {
    atomic_int state;
    atomic_int descriptor;
    /* Everything that had come by then has been served. */
    _Atomic int64_t heard;
    /* When it last began to fetch what there is; if it could not fetch everything, the time before that. */
    int64_t begun;
} threads[most_threads];

/* How many of them have been used. */
static atomic_int known;
static _Thread_local struct thread *own;
static pthread_key_t leaving;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void leave(void *thread) { atomic_store(&((struct thread *)thread)->state, absent); }

static void prepare(void) { pthread_key_create(&leaving, leave); }

static struct thread *enter(int descriptor)
{
    pthread_once(&once, prepare);
    for (int index = 0; index < most_threads; index++) {
        int expected = absent;
        if (!atomic_compare_exchange_strong(&threads[index].state, &expected, serving)) { continue; }
        atomic_store(&threads[index].descriptor, descriptor);
        threads[index].begun = now();
        atomic_store(&threads[index].heard, threads[index].begun);
        pthread_setspecific(leaving, &threads[index]);
        int before = atomic_load(&known);
        while (before <= index && !atomic_compare_exchange_weak(&known, &before, index + 1)) {}
        return &threads[index];
    }
    return NULL;
}

/* Takes the place of glibc's function in the whole process, libmicrohttpd included: what a program defines comes first.

   libmicrohttpd 0.9.75 asks for 128 events, and asks again before it serves any of them if there were exactly so many. It
   waits for further ones then as long as for the first. So no caller gets as many; the rest are told the next time. */
int epoll_wait(int descriptor, struct epoll_event *events, int room, int milliseconds)
{
    int most = room < most_events ? room : most_events;
    if (room != room_of_libmicrohttpd) { return epoll_pwait(descriptor, events, most, milliseconds, NULL); }
    if (own == NULL) { own = enter(descriptor); }
    if (own == NULL) { return epoll_pwait(descriptor, events, most, milliseconds, NULL); }
    int64_t before = now();
    atomic_store(&own->heard, own->begun);
    atomic_store(&own->state, waiting);
    int count = epoll_pwait(descriptor, events, most, milliseconds, NULL);
    int64_t after = now();
    bool has_waited = after - before > shortest_wait;
    /* While it waits, everything is served as it comes. */
    if (has_waited) { atomic_store(&own->heard, after); }
    if (has_waited || count < most_events) { own->begun = has_waited ? after : before; }
    atomic_store(&own->state, serving);
    return count;
}

int64_t arbiter_MHD_unheard(void)
{
    int64_t longest = 0;
    for (int index = 0; index < atomic_load(&known); index++) {
        int state = atomic_load(&threads[index].state);
        if (state == absent) { continue; }
        struct pollfd events = {.fd = atomic_load(&threads[index].descriptor), .events = POLLIN};
        /* A thread that waits has heard everything, unless it is about to wake. */
        if (state == waiting && poll(&events, 1, 0) == 0) { continue; }
        int64_t unheard = now() - atomic_load(&threads[index].heard);
        if (unheard > longest) { longest = unheard; }
    }
    return longest;
}
