#include <stddef.h>
#include <sys/epoll.h>

enum { most_events = 127 };

/* Takes the place of glibc's function in the whole process, libmicrohttpd included: what a program defines comes first.

   libmicrohttpd 0.9.75 asks for 128 events, and asks again before it serves any of them if there were exactly so many. It
   waits for further ones then as long as for the first. So no caller gets as many; the rest are told the next time. */
int epoll_wait(int descriptor, struct epoll_event *events, int room, int milliseconds)
{
    return epoll_pwait(descriptor, events, room < most_events ? room : most_events, milliseconds, NULL);
}
