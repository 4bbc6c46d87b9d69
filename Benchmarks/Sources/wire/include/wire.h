/* HTTP/1.1 on loopback, as little of it as measuring needs: who meets anything unexpected ends the process. */
#ifndef WIRE_H
#define WIRE_H

#include <stddef.h>

void wire_fail(const char *what);

/* Lets the process have as many descriptors as the system allows. */
void wire_raise_descriptors(void);

int wire_dial(int port);

/* Sends a request; `headers` are whole lines, each with its end. */
void wire_say(int descriptor, const char *method, const char *path, const char *headers, const char *body);

/* Reads one answer, which comes in one piece on loopback, and gives its status. */
int wire_hear(int descriptor, char *answer, size_t capacity);

/* Copies the text of a member whose name is given as `"name":"`. */
void wire_copy_member(const char *body, const char *name, char *value, size_t capacity);

/* Seconds on a clock that nobody sets. */
double wire_now(void);

#endif
