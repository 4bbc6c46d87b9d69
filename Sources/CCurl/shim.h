#ifndef ARBITER_CCURL_SHIM_H
#define ARBITER_CCURL_SHIM_H

/* What Swift cannot call itself: libcurl's options are variadic. All transfers of one loop belong to one thread. */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct arbiter_transfer;

/* All transfers of a thread. */
typedef struct arbiter_loop {
    CURLM *multi;
    /* Those that have received something since it was last taken. */
    struct arbiter_transfer *ready;
} arbiter_loop;

/* One request. */
typedef struct arbiter_transfer {
    CURL *easy;
    arbiter_loop *loop;
    /* What its owner calls it. */
    long number;
    struct curl_slist *fields;
    char *body;
    size_t body_count;
    /* How much of the body was sent. */
    size_t body_sent;
    /* What has arrived and was not taken yet. */
    char *bytes;
    size_t count;
    size_t room;
    /* The next one that is ready. */
    struct arbiter_transfer *next;
    int is_ready;
    char error[CURL_ERROR_SIZE];
} arbiter_transfer;

static inline size_t arbiter_transfer_receive(char *bytes, size_t size, size_t count, void *context)
{
    arbiter_transfer *transfer = (arbiter_transfer *)context;
    size_t more = size * count;
    if (transfer->room - transfer->count < more) {
        size_t room = 2 * transfer->room + more;
        char *grown = (char *)realloc(transfer->bytes, room);
        if (grown == NULL)
            return 0;
        transfer->bytes = grown;
        transfer->room = room;
    }
    memcpy(transfer->bytes + transfer->count, bytes, more);
    transfer->count += more;
    if (!transfer->is_ready) {
        transfer->is_ready = 1;
        transfer->next = transfer->loop->ready;
        transfer->loop->ready = transfer;
    }
    return more;
}

static inline size_t arbiter_transfer_send(char *bytes, size_t size, size_t count, void *context)
{
    arbiter_transfer *transfer = (arbiter_transfer *)context;
    size_t rest = transfer->body_count - transfer->body_sent;
    size_t more = size * count < rest ? size * count : rest;
    memcpy(bytes, transfer->body + transfer->body_sent, more);
    transfer->body_sent += more;
    return more;
}

/* A socket that commands do not inherit: a session lives for as long as its connection is open. */
static inline curl_socket_t arbiter_transfer_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)context;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static inline void arbiter_transfer_free(arbiter_transfer *transfer)
{
    for (arbiter_transfer **link = &transfer->loop->ready; *link != NULL; link = &(*link)->next) {
        if (*link == transfer) {
            *link = transfer->next;
            break;
        }
    }
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->fields);
    free(transfer->body);
    free(transfer->bytes);
    free(transfer);
}

/* A request without a body; NULL if there is no memory. */
static inline arbiter_transfer *
arbiter_transfer_new(arbiter_loop *loop, long number, const char *url, const char *method)
{
    arbiter_transfer *transfer = (arbiter_transfer *)calloc(1, sizeof *transfer);
    if (transfer == NULL)
        return NULL;
    transfer->loop = loop;
    transfer->number = number;
    transfer->easy = curl_easy_init();
    if (transfer->easy == NULL) {
        free(transfer);
        return NULL;
    }
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* A scene named .. is no step upwards. */
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, arbiter_transfer_receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, arbiter_transfer_open);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
    /* An answer to HEAD has no body, whatever its length says. */
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    return transfer;
}

/* Gives it a body; 0 if there is no memory. libcurl sends a request again by itself if a connection that was used before has
   been closed. One that must not be sent twice fails then, because its body cannot be read again; if it has none, it gets
   a connection of its own, which has not been used before. */
static inline int
arbiter_transfer_set_body(arbiter_transfer *transfer, const void *bytes, size_t count, int may_be_sent_twice)
{
    transfer->body = (char *)malloc(count + 1);
    if (transfer->body == NULL)
        return 0;
    memcpy(transfer->body, bytes, count);
    transfer->body_count = count;
    curl_easy_setopt(transfer->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    if (may_be_sent_twice || count == 0) {
        curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, transfer->body);
        if (!may_be_sent_twice)
            curl_easy_setopt(transfer->easy, CURLOPT_FRESH_CONNECT, 1L);
    } else {
        /* Without a function that seeks, libcurl cannot begin again. */
        curl_easy_setopt(transfer->easy, CURLOPT_READFUNCTION, arbiter_transfer_send);
        curl_easy_setopt(transfer->easy, CURLOPT_READDATA, transfer);
    }
    return 1;
}

static inline void arbiter_transfer_set_socket(arbiter_transfer *transfer, const char *path)
{
    curl_easy_setopt(transfer->easy, CURLOPT_UNIX_SOCKET_PATH, path);
}

/* A file of certificates that are trusted, instead of the system's. */
static inline void arbiter_transfer_set_authority(arbiter_transfer *transfer, const char *path)
{
    curl_easy_setopt(transfer->easy, CURLOPT_CAINFO, path);
    /* Else those in the system's folder are trusted too. */
    curl_easy_setopt(transfer->easy, CURLOPT_CAPATH, NULL);
}

/* The certificate and the private key by which it shows who it is. */
static inline void arbiter_transfer_set_identity(arbiter_transfer *transfer, const char *certificate, const char *key)
{
    curl_easy_setopt(transfer->easy, CURLOPT_SSLCERT, certificate);
    curl_easy_setopt(transfer->easy, CURLOPT_SSLKEY, key);
}

/* A file with these bytes that is on no disk, and that commands do not inherit; -1 if the system has no room for it. */
static inline int arbiter_memory_file(const void *bytes, size_t count)
{
    const unsigned int close_on_exec = 1; /* MFD_CLOEXEC, which needs _GNU_SOURCE */
    int file = (int)syscall(SYS_memfd_create, "arbiter", close_on_exec);
    if (file < 0)
        return -1;
    for (size_t written = 0; written < count;) {
        ssize_t more = write(file, (const char *)bytes + written, count - written);
        if (more <= 0) {
            close(file);
            return -1;
        }
        written += (size_t)more;
    }
    return file;
}

/* How long it may take to connect, and in all, in milliseconds. */
static inline void arbiter_transfer_set_limit(arbiter_transfer *transfer, long connecting, long whole)
{
    curl_easy_setopt(transfer->easy, CURLOPT_CONNECTTIMEOUT_MS, connecting);
    if (whole > 0)
        curl_easy_setopt(transfer->easy, CURLOPT_TIMEOUT_MS, whole);
}

static inline void arbiter_transfer_add_field(arbiter_transfer *transfer, const char *field)
{
    struct curl_slist *fields = curl_slist_append(transfer->fields, field);
    if (fields != NULL)
        transfer->fields = fields;
}

/* 0 if it has begun. */
static inline int arbiter_transfer_begin(arbiter_transfer *transfer)
{
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->fields);
    return (int)curl_multi_add_handle(transfer->loop->multi, transfer->easy);
}

/* Ends it, finished or not. */
static inline void arbiter_transfer_end(arbiter_transfer *transfer)
{
    curl_multi_remove_handle(transfer->loop->multi, transfer->easy);
    arbiter_transfer_free(transfer);
}

/* Receives nothing more while it is paused; what was received before may still be taken. */
static inline void arbiter_transfer_pause(arbiter_transfer *transfer, int is_paused)
{
    curl_easy_pause(transfer->easy, is_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
}

/* The status of the answer; 0 before there is one. */
static inline long arbiter_transfer_status(arbiter_transfer *transfer)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Whether any part of the request was sent. */
static inline int arbiter_transfer_was_sent(arbiter_transfer *transfer)
{
    long bytes = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &bytes);
    return bytes > 0;
}

/* The field of the answer behind another one, or the first one; NULL if there is none. */
static inline struct curl_header *arbiter_transfer_next_field(arbiter_transfer *transfer, struct curl_header *previous)
{
    return curl_easy_nextheader(transfer->easy, CURLH_HEADER, -1, previous);
}

/* Forgets what has been taken. */
static inline void arbiter_transfer_take(arbiter_transfer *transfer) { transfer->count = 0; }

/* What went wrong. */
static inline const char *arbiter_transfer_error(arbiter_transfer *transfer, int result)
{
    return transfer->error[0] != '\0' ? transfer->error : curl_easy_strerror((CURLcode)result);
}

/* NULL if there is no memory. */
static inline arbiter_loop *arbiter_loop_new(void)
{
    arbiter_loop *loop = (arbiter_loop *)calloc(1, sizeof *loop);
    if (loop == NULL)
        return NULL;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    loop->multi = curl_multi_init();
    if (loop->multi == NULL) {
        free(loop);
        return NULL;
    }
    return loop;
}

/* To be called when no transfer is left. */
static inline void arbiter_loop_free(arbiter_loop *loop)
{
    curl_multi_cleanup(loop->multi);
    free(loop);
}

/* The one call that another thread may make. */
static inline void arbiter_loop_wake(arbiter_loop *loop) { curl_multi_wakeup(loop->multi); }

/* Moves all transfers on. */
static inline void arbiter_loop_perform(arbiter_loop *loop)
{
    int running;
    curl_multi_perform(loop->multi, &running);
}

/* Waits until a transfer can go on, until arbiter_loop_wake, or so many milliseconds. */
static inline void arbiter_loop_wait(arbiter_loop *loop, int milliseconds)
{
    curl_multi_poll(loop->multi, NULL, 0, milliseconds, NULL);
}

/* A transfer that has received something; NULL if there is none. */
static inline arbiter_transfer *arbiter_loop_next_ready(arbiter_loop *loop)
{
    arbiter_transfer *transfer = loop->ready;
    if (transfer != NULL) {
        loop->ready = transfer->next;
        transfer->next = NULL;
        transfer->is_ready = 0;
    }
    return transfer;
}

/* A transfer that has finished, and its result; NULL if there is none. */
static inline arbiter_transfer *arbiter_loop_next_finished(arbiter_loop *loop, int *result)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(loop->multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            char *transfer = NULL;
            *result = (int)message->data.result;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
            return (arbiter_transfer *)transfer;
        }
    }
    return NULL;
}

#endif
