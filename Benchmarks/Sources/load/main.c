/* The load generator. Usage: load MODE --port=PORT --pid=PID [options]; prints its figures as one JSON object, and
   writes latencies, in nanoseconds, as 64-bit numbers to the files that it is given. The figures of memory and processor
   time are those of the process PID. A race may be given several ports, among which it divides its clients, and several
   processes, whose processor time it adds.

   race      --server=NAME --clients=N --seconds=S [--count=CYCLES] [--one-key] [--samples=FILE]
   fairness  --clients=N --seconds=S
   parked    --clients=N --seconds=S [--samples=FILE]
   streams   --clients=N --count=GRANTS [--samples=FILE] [--answers=FILE]
   kills     --count=N [--samples=FILE]
   repeat    --count=N --method=NAME --path=PATH --body=TEXT --status=STATUS */
#include "options.h"
#include "support.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct option names[] = {
    {"server", required_argument, NULL, 's'}, {"port", required_argument, NULL, 'p'},
    {"pid", required_argument, NULL, 'i'},    {"clients", required_argument, NULL, 'c'},
    {"seconds", required_argument, NULL, 't'}, {"count", required_argument, NULL, 'n'},
    {"one-key", no_argument, NULL, 'k'},      {"method", required_argument, NULL, 'm'},
    {"path", required_argument, NULL, 'a'},   {"body", required_argument, NULL, 'b'},
    {"status", required_argument, NULL, 'e'}, {"samples", required_argument, NULL, 'f'},
    {"answers", required_argument, NULL, 'g'}, {NULL, 0, NULL, 0},
};

static const struct {
    const char *name;
    void (*run)(const struct options *options);
} modes[] = {
    {"race", run_race},       {"fairness", run_fairness}, {"parked", run_parked},
    {"streams", run_streams}, {"kills", run_kills},       {"repeat", run_repeat},
};

static void add_port(struct options *options, int port)
{
    if (options->port_count == MOST_PARTS)
        fail("there are more than %d ports", MOST_PARTS);
    options->ports[options->port_count++] = port;
    options->port = options->ports[0];
}

static void add_process(struct options *options, pid_t process)
{
    if (options->process_count == MOST_PARTS)
        fail("there are more than %d processes", MOST_PARTS);
    options->processes[options->process_count++] = process;
    options->process = options->processes[0];
}

static void take(struct options *options, int name, const char *value)
{
    switch (name) {
    case 's': options->server = value; break;
    case 'p': add_port(options, atoi(value)); break;
    case 'i': add_process(options, (pid_t) atoi(value)); break;
    case 'c': options->clients = atoi(value); break;
    case 't': options->seconds = atof(value); break;
    case 'n': options->count = atol(value); break;
    case 'k': options->one_key = 1; break;
    case 'm': options->method = value; break;
    case 'a': options->path = value; break;
    case 'b': options->body = value; break;
    case 'e': options->status = atoi(value); break;
    case 'f': options->samples = value; break;
    case 'g': options->answers = value; break;
    default: fail("see the head of main.c for the options");
    }
}

int main(int count, char **arguments)
{
    struct options options = {.server = "arbiter", .clients = 1, .method = "POST", .path = "/", .body = "", .status = 200};
    int name;

    while ((name = getopt_long(count, arguments, "", names, NULL)) != -1)
        take(&options, name, optarg);
    if (optind + 1 != count || options.port == 0 || options.process == 0 || options.clients < 1)
        fail("usage: load MODE --port=PORT --pid=PID [options]");
    raise_descriptors();
    for (size_t index = 0; index < sizeof modes / sizeof *modes; ++index) {
        if (strcmp(modes[index].name, arguments[optind]) == 0) {
            modes[index].run(&options);
            return 0;
        }
    }
    fail("there is no mode %s", arguments[optind]);
}
