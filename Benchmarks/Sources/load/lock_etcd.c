/* etcd over its JSON gateway, with a lease for each client. A request that may not wait puts the key if it is absent,
   and the release deletes it; one that may wait uses the lock API. The server `etcd-lock` uses the lock API for both. The
   fence is the revision of the store. */
#include "lock.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY = 4096 };

static void encode_base64(const char *text, char *encoded, size_t capacity)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(text), size = 0;

    if ((length + 2) / 3 * 4 >= capacity)
        fail("the key %s is too long", text);
    for (size_t index = 0; index < length; index += 3) {
        unsigned long bits = 0;
        for (size_t offset = 0; offset < 3; ++offset)
            bits = bits << 8 | (index + offset < length ? (unsigned char) text[index + offset] : 0);
        for (size_t digit = 0; digit < 4; ++digit)
            encoded[size++] = index + digit > length ? '=' : digits[bits >> (18 - 6 * digit) & 63];
    }
    encoded[size] = '\0';
}

static void post(struct connection *connection, const char *path, const char *request, char *body)
{
    http_post(connection, path, "", request, 200, body, BODY);
}

static void etcd_prepare(int port, const char *key)
{
    struct connection *connection = allocate(1, sizeof *connection);
    char encoded[128], request[256], body[BODY];

    encode_base64(key, encoded, sizeof encoded);
    snprintf(request, sizeof request, "{\"key\":\"%s\"}", encoded);
    connection_open(connection, port);
    post(connection, "/v3/kv/deleterange", request, body);
    connection_close(connection);
    free(connection);
}

static void etcd_open(struct seat *seat, int port)
{
    char body[BODY];

    connection_open(&seat->connection, port);
    post(&seat->connection, "/v3/lease/grant", "{\"TTL\":600}", body);
    json_copy(body, "\"ID\":\"", seat->lease, sizeof seat->lease);
}

static void etcd_open_for_lock_api(struct seat *seat, int port)
{
    seat->waits = true;
    etcd_open(seat, port);
}

static void etcd_ask(struct seat *seat)
{
    char encoded[128], request[1024];

    encode_base64(seat->key, encoded, sizeof encoded);
    if (seat->waits)
        snprintf(request, sizeof request, "{\"name\":\"%s\",\"lease\":\"%s\"}", encoded, seat->lease);
    else
        snprintf(request, sizeof request,
                 "{\"compare\":[{\"key\":\"%s\",\"target\":\"CREATE\",\"createRevision\":\"0\"}],"
                 "\"success\":[{\"requestPut\":{\"key\":\"%s\",\"value\":\"aGVsZA==\",\"lease\":\"%s\"}}]}",
                 encoded, encoded, seat->lease);
    http_send(&seat->connection, "POST", seat->waits ? "/v3/lock/lock" : "/v3/kv/txn", "", request);
}

static void etcd_receive_grant(struct seat *seat)
{
    char body[BODY];
    int status = http_receive(&seat->connection, body, sizeof body);

    if (status != 200 || (!seat->waits && strstr(body, "\"succeeded\":true") == NULL))
        fail("a request for the lock was answered %d: %s", status, body);
    if (seat->waits)
        json_copy(body, "\"key\":\"", seat->id, sizeof seat->id);
    else
        encode_base64(seat->key, seat->id, sizeof seat->id);
    seat->fence = json_number(body, "\"revision\":\"");
}

static void etcd_release(struct seat *seat)
{
    char request[512];

    snprintf(request, sizeof request, "{\"key\":\"%s\"}", seat->id);
    http_send(&seat->connection, "POST", seat->waits ? "/v3/lock/unlock" : "/v3/kv/deleterange", "", request);
}

static void etcd_receive_release(struct seat *seat)
{
    char body[BODY];
    int status = http_receive(&seat->connection, body, sizeof body);

    if (status != 200 || (!seat->waits && strstr(body, "\"deleted\":\"1\"") == NULL))
        fail("a release was answered %d: %s", status, body);
}

static void etcd_close(struct seat *seat)
{
    char request[64], body[BODY];

    snprintf(request, sizeof request, "{\"ID\":\"%s\"}", seat->lease);
    post(&seat->connection, "/v3/lease/revoke", request, body);
    connection_close(&seat->connection);
}

const struct lock_server etcd_lock = {
    .name = "etcd",
    .has_fences = true,
    .prepare = etcd_prepare,
    .open = etcd_open,
    .ask = etcd_ask,
    .receive_grant = etcd_receive_grant,
    .release = etcd_release,
    .receive_release = etcd_receive_release,
    .close = etcd_close,
};

const struct lock_server etcd_lock_api = {
    .name = "etcd-lock",
    .has_fences = true,
    .prepare = etcd_prepare,
    .open = etcd_open_for_lock_api,
    .ask = etcd_ask,
    .receive_grant = etcd_receive_grant,
    .release = etcd_release,
    .receive_release = etcd_receive_release,
    .close = etcd_close,
};
