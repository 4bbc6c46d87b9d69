/* A lock as the servers offer it: asking, waiting for the grant, releasing. */
#ifndef LOCK_H
#define LOCK_H

#include "http.h"

#include <stdbool.h>
#include <stdint.h>

/* One client of one lock, with a connection of its own. */
struct seat {
    struct connection connection;
    const char *key;
    /* True if the lock may be held by another client, so that the request has to wait for it. */
    bool waits;
    /* What the server said at the grant, and the release repeats. */
    char id[256], token[64];
    uint64_t fence;
    /* The lease that the client's locks are bound to, on servers where it is made beforehand. */
    char lease[32];
    /* The header field that names the client's session, with its line end; empty if it has none. */
    char session[128];
};

struct lock_server {
    const char *name;
    /* True if a later grant of a key has a larger fence. */
    bool has_fences;
    /* Makes a key ready for clients. */
    void (*prepare)(int port, const char *key);
    /* Connects. */
    void (*open)(struct seat *seat, int port);
    /* Sends the request for the lock. */
    void (*ask)(struct seat *seat);
    /* Reads until the lock is granted. */
    void (*receive_grant)(struct seat *seat);
    /* Sends the release. */
    void (*release)(struct seat *seat);
    /* Reads the answer to it. */
    void (*receive_release)(struct seat *seat);
    void (*close)(struct seat *seat);
};

/* The server with this name: arbiter, arbiter-session, floor, redis, etcd or
   etcd-lock. */
const struct lock_server *lock_server_named(const char *name);

extern const struct lock_server arbiter_lock, arbiter_session_lock, floor_lock, redis_lock, etcd_lock, etcd_lock_api;

#endif
