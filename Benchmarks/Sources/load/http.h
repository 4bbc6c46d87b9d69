/* The part of HTTP/1.1 that measuring on loopback needs; an answer that is not expected ends the process. */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct connection {
    int descriptor;
    /* What was received and not yet consumed. */
    size_t size;
    char text[16384];
};

/* Connects to a port of 127.0.0.1. */
void connection_open(struct connection *connection, int port);

void connection_close(struct connection *connection);

void connection_send(struct connection *connection, const char *bytes, size_t size);

/* Waits for more bytes and puts them behind those in `text`, which ends with a NUL. */
void connection_receive(struct connection *connection);

/* Drops this many bytes from the front of `text`. */
void connection_consume(struct connection *connection, size_t size);

/* Sends a request; `headers` are whole lines with their line ends. */
void http_send(struct connection *connection, const char *method, const char *path, const char *headers,
               const char *body);

/* Reads one answer, whose body replaces `body`, and returns its status. */
int http_receive(struct connection *connection, char *body, size_t capacity);

/* Sends a POST and reads its answer, which must have this status. */
void http_post(struct connection *connection, const char *path, const char *headers, const char *request, int status,
               char *body, size_t capacity);

/* Copies the text of a member, whose name is given as `"name":"`. */
void json_copy(const char *body, const char *name, char *value, size_t capacity);

/* The number behind a name that is given as `"name":`, with the quotation mark of a number that is a string. */
unsigned long json_number(const char *body, const char *name);

#endif
