#include "events.h"

#include <stdio.h>
#include <string.h>

static void read_up_to(struct connection *reader, const char *text)
{
    char *found;

    while ((found = strstr(reader->text, text)) == NULL)
        connection_receive(reader);
    connection_consume(reader, (size_t) (found - reader->text) + strlen(text));
}

void events_open(struct connection *reader, int port, const char *scene, const char *headers)
{
    char path[128];

    snprintf(path, sizeof path, "/scenes/%s/events", scene);
    connection_open(reader, port);
    http_send(reader, "GET", path, headers, "");
    read_up_to(reader, ": connected\n");
}

void events_read_up_to(struct connection *reader, const char *name)
{
    char line[128];

    snprintf(line, sizeof line, "event: %s\n", name);
    read_up_to(reader, line);
    read_up_to(reader, "\n\n");
}
