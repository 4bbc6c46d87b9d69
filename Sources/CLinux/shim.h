#ifndef ARBITER_CLINUX_SHIM_H
#define ARBITER_CLINUX_SHIM_H

/* Declarations that Swift's Glibc module lacks. */
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* How many bytes have arrived on a TCP connection since it began; 0 if that is unknown. glibc's struct tcp_info lacks
   this field, and the kernel's header cannot be included together with glibc's, so the field is read by offset. */
static inline uint64_t arbiter_received_bytes(int descriptor)
{
    enum { option = 11 /* TCP_INFO */, place = 128 /* tcpi_bytes_received */ };
    unsigned char info[256];
    socklen_t size = sizeof info;
    uint64_t bytes = 0;
    if (getsockopt(descriptor, IPPROTO_TCP, option, info, &size) == 0 && size >= place + sizeof bytes)
        memcpy(&bytes, info + place, sizeof bytes);
    return bytes;
}

/* How many of these bytes have not been read yet. ioctl is variadic, and Swift imports no variadic function. */
static inline uint64_t arbiter_unread_bytes(int descriptor)
{
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 && count > 0 ? (uint64_t) count : 0;
}

#endif
