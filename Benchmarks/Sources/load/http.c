#define _GNU_SOURCE
#include "http.h"

#include "support.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void connection_open(struct connection *connection, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1;

    address.sin_port = htons((uint16_t) port);
    connection->size = 0;
    connection->text[0] = '\0';
    connection->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->descriptor < 0 ||
        connect(connection->descriptor, (struct sockaddr *) &address, sizeof address) != 0)
        fail("cannot connect to port %d: %m", port);
    setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void connection_close(struct connection *connection)
{
    close(connection->descriptor);
}

void connection_send(struct connection *connection, const char *bytes, size_t size)
{
    if (write(connection->descriptor, bytes, size) != (ssize_t) size)
        fail("cannot send: %m");
}

void connection_receive(struct connection *connection)
{
    ssize_t count;

    if (connection->size + 1 >= sizeof connection->text)
        fail("an answer is too long: %.200s", connection->text);
    count = read(connection->descriptor, connection->text + connection->size,
                 sizeof connection->text - 1 - connection->size);
    if (count < 0)
        fail("cannot receive: %m");
    if (count == 0)
        fail("the server has closed the connection after: %s", connection->text);
    connection->size += (size_t) count;
    connection->text[connection->size] = '\0';
}

void connection_consume(struct connection *connection, size_t size)
{
    connection->size -= size;
    memmove(connection->text, connection->text + size, connection->size + 1);
}

void http_send(struct connection *connection, const char *method, const char *path, const char *headers,
               const char *body)
{
    char request[2048];
    int length = snprintf(request, sizeof request,
                          "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          "%sContent-Length: %zu\r\n\r\n%s",
                          method, path, headers, strlen(body), body);

    if (length >= (int) sizeof request)
        fail("a request is too long: %s", path);
    connection_send(connection, request, (size_t) length);
}

int http_receive(struct connection *connection, char *body, size_t capacity)
{
    char *end, *header;
    size_t head, length;
    int status;

    while ((end = strstr(connection->text, "\r\n\r\n")) == NULL)
        connection_receive(connection);
    head = (size_t) (end + 4 - connection->text);
    header = strcasestr(connection->text, "\r\ncontent-length:");
    if (header == NULL || header > end)
        fail("an answer has no Content-Length: %s", connection->text);
    length = (size_t) atol(header + strlen("\r\ncontent-length:"));
    if (length >= capacity)
        fail("an answer is too long: %zu bytes", length);
    while (connection->size < head + length)
        connection_receive(connection);
    memcpy(body, connection->text + head, length);
    body[length] = '\0';
    status = atoi(connection->text + strlen("HTTP/1.1 "));
    connection_consume(connection, head + length);
    return status;
}

void http_post(struct connection *connection, const char *path, const char *headers, const char *request, int status,
               char *body, size_t capacity)
{
    int answered;

    http_send(connection, "POST", path, headers, request);
    answered = http_receive(connection, body, capacity);
    if (answered != status)
        fail("%s was answered %d instead of %d: %s", path, answered, status, body);
}

static const char *find(const char *body, const char *name)
{
    const char *start = strstr(body, name);

    if (start == NULL)
        fail("there is no %s in: %s", name, body);
    return start + strlen(name);
}

void json_copy(const char *body, const char *name, char *value, size_t capacity)
{
    const char *start = find(body, name);
    size_t length = strcspn(start, "\"");

    if (length >= capacity)
        fail("%s is too long in: %s", name, body);
    memcpy(value, start, length);
    value[length] = '\0';
}

unsigned long json_number(const char *body, const char *name)
{
    return strtoul(find(body, name), NULL, 10);
}
