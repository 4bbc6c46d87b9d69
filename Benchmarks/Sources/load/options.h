/* What the command line says; each mode uses those it needs. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <sys/types.h>

struct options {
    const char *server;
    int port;
    pid_t process;
    int clients;
    double seconds;
    long count;
    /* True if all clients want one key. */
    int one_key;
    const char *method, *path, *body;
    int status;
    /* Where latencies go; NULL for nowhere. */
    const char *samples, *answers;
};

void run_race(const struct options *options);
void run_fairness(const struct options *options);
void run_parked(const struct options *options);
void run_streams(const struct options *options);
void run_kills(const struct options *options);
void run_repeat(const struct options *options);

#endif
