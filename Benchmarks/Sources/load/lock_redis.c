/* Redis: a key is a list with one element, the token. BLPOP takes it or waits for it, RPUSH puts it back. The token is
   the fence: a release puts back the next number. */
#include "lock.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sends a command of at most three words. */
static void send_command(struct connection *connection, const char *name, const char *first, const char *second)
{
    const char *words[] = {name, first, second};
    int count = second == NULL ? 2 : 3, size;
    char command[512];

    size = snprintf(command, sizeof command, "*%d\r\n", count);
    for (int index = 0; index < count; ++index)
        size += snprintf(command + size, sizeof command - (size_t) size, "$%zu\r\n%s\r\n", strlen(words[index]),
                         words[index]);
    connection_send(connection, command, (size_t) size);
}

/* Reads one line without its end. */
static void receive_line(struct connection *connection, char *line, size_t capacity)
{
    char *end;

    while ((end = strstr(connection->text, "\r\n")) == NULL)
        connection_receive(connection);
    if ((size_t) (end - connection->text) >= capacity)
        fail("a line is too long: %s", connection->text);
    memcpy(line, connection->text, (size_t) (end - connection->text));
    line[end - connection->text] = '\0';
    connection_consume(connection, (size_t) (end + 2 - connection->text));
}

static void expect(struct connection *connection, const char *what, char first)
{
    char line[256];

    receive_line(connection, line, sizeof line);
    if (line[0] != first)
        fail("%s was answered %s", what, line);
}

static void redis_prepare(int port, const char *key)
{
    struct connection *connection = allocate(1, sizeof *connection);

    connection_open(connection, port);
    send_command(connection, "DEL", key, NULL);
    expect(connection, "DEL", ':');
    send_command(connection, "RPUSH", key, "1");
    expect(connection, "RPUSH", ':');
    connection_close(connection);
    free(connection);
}

static void redis_open(struct seat *seat, int port)
{
    connection_open(&seat->connection, port);
}

static void redis_ask(struct seat *seat)
{
    send_command(&seat->connection, "BLPOP", seat->key, "0");
}

/* An array of the key and the element, each as a line with its length and a line with its bytes. */
static void redis_receive_grant(struct seat *seat)
{
    char line[256];

    expect(&seat->connection, "BLPOP", '*');
    for (int index = 0; index < 2; ++index) {
        expect(&seat->connection, "BLPOP", '$');
        receive_line(&seat->connection, line, sizeof line);
    }
    seat->fence = strtoul(line, NULL, 10);
}

static void redis_release(struct seat *seat)
{
    snprintf(seat->token, sizeof seat->token, "%lu", (unsigned long) seat->fence + 1);
    send_command(&seat->connection, "RPUSH", seat->key, seat->token);
}

static void redis_receive_release(struct seat *seat)
{
    expect(&seat->connection, "RPUSH", ':');
}

static void redis_close(struct seat *seat)
{
    connection_close(&seat->connection);
}

const struct lock_server redis_lock = {
    .name = "redis",
    .has_fences = true,
    .prepare = redis_prepare,
    .open = redis_open,
    .ask = redis_ask,
    .receive_grant = redis_receive_grant,
    .release = redis_release,
    .receive_release = redis_receive_release,
    .close = redis_close,
};
