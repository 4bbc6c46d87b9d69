#ifndef ARBITER_CCURL_SHIM_H
#define ARBITER_CCURL_SHIM_H

/* What Swift cannot call itself: libcurl's options are variadic. All transfers of one multi handle belong to one thread. */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* One request. */
typedef struct arbiter_transfer {
    CURL *easy;
    struct curl_slist *fields;
    char *body;
    /* What has arrived and was not taken yet. */
    char *bytes;
    size_t count;
    size_t room;
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
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->fields);
    free(transfer->body);
    free(transfer->bytes);
    free(transfer);
}

/* A request; NULL if there is no memory. The body may be NULL. A time of 0 is for a stream: it may last for ever, but not be
   silent for longer than silence. socket may be NULL; authority is a file of certificates that are trusted, or NULL. */
static inline arbiter_transfer *arbiter_transfer_new(
    const char *url, const char *socket, const char *authority, const char *method, const char *body,
    long milliseconds, long silence)
{
    arbiter_transfer *transfer = (arbiter_transfer *)calloc(1, sizeof *transfer);
    if (transfer == NULL)
        return NULL;
    transfer->easy = curl_easy_init();
    transfer->body = body == NULL ? NULL : strdup(body);
    if (transfer->easy == NULL || (body != NULL && transfer->body == NULL)) {
        arbiter_transfer_free(transfer);
        return NULL;
    }
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
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
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 5000L);
    if (socket != NULL)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, socket);
    if (authority != NULL)
        curl_easy_setopt(easy, CURLOPT_CAINFO, authority);
    if (transfer->body != NULL) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(transfer->body));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->body);
    }
    if (milliseconds > 0) {
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds);
    } else {
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, silence);
    }
    return transfer;
}

static inline void arbiter_transfer_add_field(arbiter_transfer *transfer, const char *field)
{
    struct curl_slist *fields = curl_slist_append(transfer->fields, field);
    if (fields != NULL)
        transfer->fields = fields;
}

/* 0 if it has begun. */
static inline int arbiter_transfer_begin(arbiter_transfer *transfer, CURLM *multi)
{
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->fields);
    return (int)curl_multi_add_handle(multi, transfer->easy);
}

/* Ends it, finished or not. */
static inline void arbiter_transfer_end(arbiter_transfer *transfer, CURLM *multi)
{
    curl_multi_remove_handle(multi, transfer->easy);
    arbiter_transfer_free(transfer);
}

/* The status of the answer; 0 before there is one. */
static inline long arbiter_transfer_status(arbiter_transfer *transfer)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* The seconds of Retry-After; 0 without it. */
static inline long arbiter_transfer_retry_after(arbiter_transfer *transfer)
{
    curl_off_t seconds = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &seconds);
    return (long)seconds;
}

/* The field Date of the answer; NULL without it. */
static inline const char *arbiter_transfer_date(arbiter_transfer *transfer)
{
    struct curl_header *field = NULL;
    return curl_easy_header(transfer->easy, "Date", 0, CURLH_HEADER, -1, &field) == CURLHE_OK ? field->value : NULL;
}

/* Forgets what has been taken. */
static inline void arbiter_transfer_take(arbiter_transfer *transfer) { transfer->count = 0; }

/* What went wrong. */
static inline const char *arbiter_transfer_error(arbiter_transfer *transfer, int result)
{
    return transfer->error[0] != '\0' ? transfer->error : curl_easy_strerror((CURLcode)result);
}

/* Moves all transfers on. */
static inline void arbiter_multi_perform(CURLM *multi)
{
    int running;
    curl_multi_perform(multi, &running);
}

/* Waits until a transfer can go on, or until curl_multi_wakeup. */
static inline void arbiter_multi_wait(CURLM *multi) { curl_multi_poll(multi, NULL, 0, 60000, NULL); }

/* A transfer that has finished, and its result; NULL if there is none. */
static inline arbiter_transfer *arbiter_multi_next_finished(CURLM *multi, int *result)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            char *transfer = NULL;
            *result = (int)message->data.result;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
            return (arbiter_transfer *)transfer;
        }
    }
    return NULL;
}

static inline CURLM *arbiter_multi_new(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    return curl_multi_init();
}

#endif
