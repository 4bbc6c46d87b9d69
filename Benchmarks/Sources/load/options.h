/* What the command line says; each mode uses those it needs. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <sys/types.h>

/* The most ports and processes. */
enum { MOST_PARTS = 16 };

struct options {
    const char *server;
    /* Where the server is reached: more than one port if it consists of several nodes. A mode that knows only one port
       uses the first. */
    int port, ports[MOST_PARTS], port_count;
    /* The processes of the server, of which a mode that looks at memory uses the first. */
    pid_t process, processes[MOST_PARTS];
    int process_count;
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
