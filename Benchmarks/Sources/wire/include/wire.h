/* The little of HTTP/1.1 on loopback that measuring needs; anything unexpected ends the process. */
#ifndef WIRE_H
#define WIRE_H

#include <stddef.h>

void wire_fail(const char *what);

/* Raises the process's limit of descriptors as far as the system allows. */
void wire_raise_descriptors(void);

int wire_dial(int port);

/* Sends a request; `headers` are whole lines with their line ends. */
void wire_say(int descriptor, const char *method, const char *path, const char *headers, const char *body);

/* Reads one answer, which arrives in one piece on loopback, and returns its status. */
int wire_hear(int descriptor, char *answer, size_t capacity);

/* Copies the text of a member; its name is given as `"name":"`. */
void wire_copy_member(const char *body, const char *name, char *value, size_t capacity);

/* Seconds on a monotonic clock. */
double wire_now(void);

#endif
