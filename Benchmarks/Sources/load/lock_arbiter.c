/* The arbiter: a key is a scene. A request that may wait is `serialize`, one that may not is `start`. The floor is asked
   the same, and always gives the same answer. With a session, every request names it, as those of the client libraries do. */
#include "lock.h"
#include "support.h"

#include <stdio.h>

static void arbiter_prepare(int port, const char *key)
{
    (void) port, (void) key;
}

static void arbiter_open(struct seat *seat, int port)
{
    seat->session[0] = 0;
    connection_open(&seat->connection, port);
}

static void session_open(struct seat *seat, int port)
{
    char body[512], token[64];

    arbiter_open(seat, port);
    http_post(&seat->connection, "/sessions", "", "{\"ttlSeconds\":3600}", 201, body, sizeof body);
    json_copy(body, "\"token\":\"", token, sizeof token);
    snprintf(seat->session, sizeof seat->session, "Arbiter-Session: %s\r\n", token);
}

static void arbiter_ask(struct seat *seat)
{
    char body[128];

    snprintf(body, sizeof body, seat->waits ? "{\"scene\":\"%s\",\"wait\":60}" : "{\"scene\":\"%s\"}", seat->key);
    http_send(&seat->connection, "POST", seat->waits ? "/transitions/serialize" : "/transitions/start", seat->session,
              body);
}

static void arbiter_receive_grant(struct seat *seat)
{
    char body[8192];
    int status = http_receive(&seat->connection, body, sizeof body);

    if (status != 201)
        fail("a request for the lock was answered %d: %s", status, body);
    json_copy(body, "\"id\":\"", seat->id, sizeof seat->id);
    json_copy(body, "\"token\":\"", seat->token, sizeof seat->token);
    seat->fence = json_number(body, "\"fence\":");
}

static void arbiter_release(struct seat *seat)
{
    char body[512];

    snprintf(body, sizeof body, "{\"id\":\"%s\",\"token\":\"%s\"}", seat->id, seat->token);
    http_send(&seat->connection, "POST", "/transitions/end", seat->session, body);
}

static void arbiter_receive_release(struct seat *seat)
{
    char body[8192];
    int status = http_receive(&seat->connection, body, sizeof body);

    if (status != 200)
        fail("an end was answered %d: %s", status, body);
}

static void floor_receive_release(struct seat *seat)
{
    char body[8192];

    http_receive(&seat->connection, body, sizeof body);
}

static void arbiter_close(struct seat *seat)
{
    connection_close(&seat->connection);
}

static void session_close(struct seat *seat)
{
    char body[512];

    http_post(&seat->connection, "/sessions/end", seat->session, "", 200, body, sizeof body);
    arbiter_close(seat);
}

const struct lock_server arbiter_lock = {
    .name = "arbiter",
    .has_fences = true,
    .prepare = arbiter_prepare,
    .open = arbiter_open,
    .ask = arbiter_ask,
    .receive_grant = arbiter_receive_grant,
    .release = arbiter_release,
    .receive_release = arbiter_receive_release,
    .close = arbiter_close,
};

const struct lock_server arbiter_session_lock = {
    .name = "arbiter-session",
    .has_fences = true,
    .prepare = arbiter_prepare,
    .open = session_open,
    .ask = arbiter_ask,
    .receive_grant = arbiter_receive_grant,
    .release = arbiter_release,
    .receive_release = arbiter_receive_release,
    .close = session_close,
};

const struct lock_server floor_lock = {
    .name = "floor",
    .has_fences = false,
    .prepare = arbiter_prepare,
    .open = arbiter_open,
    .ask = arbiter_ask,
    .receive_grant = arbiter_receive_grant,
    .release = arbiter_release,
    .receive_release = floor_receive_release,
    .close = arbiter_close,
};
