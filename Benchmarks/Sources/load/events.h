/* A reader of a stream of events. */
#ifndef EVENTS_H
#define EVENTS_H

#include "http.h"

/* Opens a stream of a scene's events; returns when the server has opened it too. */
void events_open(struct connection *reader, int port, const char *scene, const char *headers);

/* Reads until there is a whole event with this name, and drops everything up to its end. */
void events_read_up_to(struct connection *reader, const char *name);

#endif
