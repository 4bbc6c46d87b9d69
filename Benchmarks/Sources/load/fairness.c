/* Checks that grants follow the order of requests, while clients compete for one key. Each requests the lock without
   waiting, so that it knows when its place in the queue was acknowledged, and then waits for its turn. A grant overtakes
   another if it was requested after the other was acknowledged, and has a smaller fence. */
#include "http.h"
#include "options.h"
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct grant {
    uint64_t fence, requested_at, acknowledged_at;
};

struct competitor {
    pthread_t thread;
    int port;
    uint64_t until;
    atomic_int *inside;
    struct connection connection;
    struct grant *grants;
    size_t count, capacity;
};

static void keep(struct competitor *competitor, struct grant grant)
{
    if (competitor->count == competitor->capacity) {
        competitor->capacity = competitor->capacity == 0 ? 1024 : 2 * competitor->capacity;
        competitor->grants = realloc(competitor->grants, competitor->capacity * sizeof grant);
        if (competitor->grants == NULL)
            fail("no memory for %zu grants", competitor->capacity);
    }
    competitor->grants[competitor->count++] = grant;
}

/* Requests the lock, waits for it if it is not free, and releases it. */
static void take_turn(struct competitor *competitor)
{
    char body[8192], id[32], token[64], proof[160], wait[192];
    struct grant grant = {.requested_at = now()};
    int status;

    http_send(&competitor->connection, "POST", "/transitions/serialize", "", "{\"scene\":\"fair\"}");
    status = http_receive(&competitor->connection, body, sizeof body);
    grant.acknowledged_at = now();
    if (status != 201 && status != 202)
        fail("serialize was answered %d: %s", status, body);
    json_copy(body, "\"id\":\"", id, sizeof id);
    json_copy(body, "\"token\":\"", token, sizeof token);
    snprintf(proof, sizeof proof, "{\"id\":\"%s\",\"token\":\"%s\"}", id, token);
    snprintf(wait, sizeof wait, "{\"id\":\"%s\",\"token\":\"%s\",\"wait\":60}", id, token);
    if (status == 202)
        http_post(&competitor->connection, "/transitions/await", "", wait, 200, body, sizeof body);
    if (atomic_exchange(competitor->inside, 1) != 0)
        fail("two clients hold the lock at once");
    grant.fence = json_number(body, "\"fence\":");
    atomic_store(competitor->inside, 0);
    http_post(&competitor->connection, "/transitions/end", "", proof, 200, body, sizeof body);
    keep(competitor, grant);
}

static void *run(void *context)
{
    struct competitor *competitor = context;

    connection_open(&competitor->connection, competitor->port);
    while (now() < competitor->until)
        take_turn(competitor);
    connection_close(&competitor->connection);
    return NULL;
}

static int by_fence(const void *left, const void *right)
{
    const struct grant *first = left, *second = right;

    return (first->fence > second->fence) - (first->fence < second->fence);
}

/* The grants that overtook another. */
static size_t count_overtaking(struct grant *grants, size_t count)
{
    uint64_t earliest_acknowledged_later = UINT64_MAX;
    size_t overtaking = 0;

    qsort(grants, count, sizeof *grants, by_fence);
    for (size_t index = count; index-- > 0;) {
        if (index + 1 < count && grants[index].fence == grants[index + 1].fence)
            fail("the fence %lu was given twice", (unsigned long) grants[index].fence);
        if (grants[index].requested_at > earliest_acknowledged_later)
            ++overtaking;
        if (grants[index].acknowledged_at < earliest_acknowledged_later)
            earliest_acknowledged_later = grants[index].acknowledged_at;
    }
    return overtaking;
}

void run_fairness(const struct options *options)
{
    struct competitor *competitors = allocate((size_t) options->clients, sizeof *competitors);
    uint64_t until = now() + (uint64_t) (options->seconds * 1e9);
    struct competitor all = {0};
    atomic_int inside = 0;
    size_t overtaking;

    for (int index = 0; index < options->clients; ++index) {
        competitors[index].port = options->port;
        competitors[index].until = until;
        competitors[index].inside = &inside;
        errno = pthread_create(&competitors[index].thread, NULL, run, &competitors[index]);
        if (errno != 0)
            fail("cannot start a thread: %m");
    }
    for (int index = 0; index < options->clients; ++index) {
        pthread_join(competitors[index].thread, NULL);
        for (size_t grant = 0; grant < competitors[index].count; ++grant)
            keep(&all, competitors[index].grants[grant]);
        free(competitors[index].grants);
    }
    overtaking = count_overtaking(all.grants, all.count);
    printf("{\"grants\":%zu,\"overtaking\":%zu}\n", all.count, overtaking);
    if (overtaking > 0)
        fail("%zu of %zu grants overtook another", overtaking, all.count);
    free(all.grants);
    free(competitors);
}
