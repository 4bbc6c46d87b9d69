/* Clients that take and release a lock as fast as they can: each its own, or all of them one. With one key, a holder
   releases only when another client has asked, so that every grant is a hand-over. Nothing else may be inside meanwhile,
   and fences must grow; otherwise the run fails. */
#include "lock.h"
#include "options.h"
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What the clients of one key know of each other. */
struct lane {
    char key[64];
    atomic_int inside;
    atomic_ulong fence, released_at;
    /* Clients that have sent a request and have no grant yet, and all that go on. */
    int asking, racing;
    pthread_mutex_t mutex;
    /* One of these has changed. */
    pthread_cond_t changed;
};

struct racer {
    pthread_t thread;
    struct race *race;
    struct lane *lane;
    struct seat seat;
    int port;
    uint64_t asked_at;
    long cycles;
    struct samples hand_overs;
};

struct race {
    const struct lock_server *server;
    const struct options *options;
    uint64_t until;
    long most_cycles;
    bool one_key;
    pthread_barrier_t start, finish, close;
};

static void ask(struct racer *racer)
{
    racer->race->server->ask(&racer->seat);
    racer->asked_at = now();
    if (!racer->race->one_key)
        return;
    pthread_mutex_lock(&racer->lane->mutex);
    ++racer->lane->asking;
    pthread_cond_signal(&racer->lane->changed);
    pthread_mutex_unlock(&racer->lane->mutex);
}

static void enter(struct racer *racer)
{
    struct lane *lane = racer->lane;
    uint64_t entered_at = now(), released_at = atomic_load(&lane->released_at);

    if (atomic_exchange(&lane->inside, 1) != 0)
        fail("two clients hold %s at once", lane->key);
    if (racer->race->server->has_fences && racer->seat.fence <= atomic_load(&lane->fence))
        fail("the fence of %s is %lu after %lu", lane->key, (unsigned long) racer->seat.fence,
             (unsigned long) atomic_load(&lane->fence));
    atomic_store(&lane->fence, racer->seat.fence);
    if (racer->race->one_key && released_at > racer->asked_at)
        samples_add(&racer->hand_overs, entered_at - released_at);
}

/* Waits until another client has asked, none is left that could, or the time is over. */
static void wait_for_company(struct racer *racer)
{
    struct lane *lane = racer->lane;
    const struct timespec until = {.tv_sec = (time_t) (racer->race->until / 1000000000u),
                                   .tv_nsec = (long) (racer->race->until % 1000000000u)};

    pthread_mutex_lock(&lane->mutex);
    --lane->asking;
    while (lane->asking == 0 && lane->racing > 1 &&
           pthread_cond_timedwait(&lane->changed, &lane->mutex, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&lane->mutex);
}

static void leave(struct racer *racer)
{
    atomic_store(&racer->lane->released_at, now());
    atomic_store(&racer->lane->inside, 0);
    racer->race->server->release(&racer->seat);
    racer->race->server->receive_release(&racer->seat);
}

static void retire(struct lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    --lane->racing;
    pthread_cond_signal(&lane->changed);
    pthread_mutex_unlock(&lane->mutex);
}

static void *run(void *context)
{
    struct racer *racer = context;
    struct race *race = racer->race;

    race->server->open(&racer->seat, racer->port);
    pthread_barrier_wait(&race->start);
    pthread_barrier_wait(&race->start);
    while (now() < race->until && (race->most_cycles == 0 || racer->cycles < race->most_cycles)) {
        ask(racer);
        race->server->receive_grant(&racer->seat);
        enter(racer);
        if (race->one_key)
            wait_for_company(racer);
        leave(racer);
        ++racer->cycles;
    }
    retire(racer->lane);
    pthread_barrier_wait(&race->finish);
    pthread_barrier_wait(&race->close);
    race->server->close(&racer->seat);
    return NULL;
}

static struct lane *make_lanes(const struct race *race, int count)
{
    struct lane *lanes = allocate((size_t) count, sizeof *lanes);
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    for (int index = 0; index < count; ++index) {
        pthread_mutex_init(&lanes[index].mutex, NULL);
        pthread_cond_init(&lanes[index].changed, &monotonic);
        snprintf(lanes[index].key, sizeof lanes[index].key, race->one_key ? "shared-%d" : "own-%d", index);
        race->server->prepare(race->options->port, lanes[index].key);
    }
    return lanes;
}

static struct racer *make_racers(struct race *race, struct lane *lanes, int clients)
{
    struct racer *racers = allocate((size_t) clients, sizeof *racers);

    for (int index = 0; index < clients; ++index) {
        racers[index].race = race;
        racers[index].lane = &lanes[race->one_key ? 0 : index];
        ++racers[index].lane->racing;
        racers[index].port = race->options->ports[index % race->options->port_count];
        racers[index].seat.key = racers[index].lane->key;
        racers[index].seat.waits = race->one_key;
        errno = pthread_create(&racers[index].thread, NULL, run, &racers[index]);
        if (errno != 0)
            fail("cannot start a thread: %m");
    }
    return racers;
}

/* Joins the clients and prints what they did in this time. */
static void report(struct racer *racers, int clients, uint64_t took, uint64_t used, const char *samples)
{
    struct samples hand_overs = {0};
    long cycles = 0, fewest = racers[0].cycles, most = 0;

    for (int index = 0; index < clients; ++index) {
        pthread_join(racers[index].thread, NULL);
        cycles += racers[index].cycles;
        fewest = racers[index].cycles < fewest ? racers[index].cycles : fewest;
        most = racers[index].cycles > most ? racers[index].cycles : most;
        samples_append(&hand_overs, &racers[index].hand_overs);
        free(racers[index].hand_overs.values);
    }
    if (cycles == 0)
        fail("no client got the lock");
    printf("{\"cycles\":%ld,\"seconds\":%.9f,\"processor_seconds\":%.9f,\"fewest\":%ld,\"most\":%ld,"
           "\"hand_overs\":%zu}\n",
           cycles, (double) took / 1e9, (double) used / 1e9, fewest, most, hand_overs.count);
    samples_store(&hand_overs, samples);
}

void run_race(const struct options *options)
{
    struct race race = {.server = lock_server_named(options->server),
                        .options = options,
                        .most_cycles = options->count / options->clients,
                        .one_key = options->one_key};
    unsigned int parties = (unsigned int) options->clients + 1;
    struct lane *lanes = make_lanes(&race, options->one_key ? 1 : options->clients);
    struct racer *racers;
    uint64_t begun, used;

    pthread_barrier_init(&race.start, NULL, parties);
    pthread_barrier_init(&race.finish, NULL, parties);
    pthread_barrier_init(&race.close, NULL, parties);
    racers = make_racers(&race, lanes, options->clients);
    pthread_barrier_wait(&race.start);
    used = processor_time_of_all(options->processes, options->process_count);
    begun = now();
    race.until = begun + (uint64_t) (options->seconds * 1e9);
    pthread_barrier_wait(&race.start);
    pthread_barrier_wait(&race.finish);
    begun = now() - begun;
    used = processor_time_of_all(options->processes, options->process_count) - used;
    pthread_barrier_wait(&race.close);
    report(racers, options->clients, begun, used, options->samples);
    free(racers);
    free(lanes);
}
