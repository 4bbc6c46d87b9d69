/* The floor: a libmicrohttpd handler that reads a body and gives a fixed answer as large as the arbiter's. It decides
   nothing, so no server based on this library can be faster. Usage: floor THREADS; prints its port. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char answer[] =
    "{\"id\":\"t-3m848pk66b70e\",\"scene\":\"bench-0\",\"state\":\"running\","
    "\"token\":\"aa92efd325410d18230f96692ce298ee\",\"fence\":1,\"scope\":\"scene\",\"leaseSeconds\":10,"
    "\"leaseRemaining\":10,\"ticketSeconds\":30,\"requestedAt\":\"2026-11-21T01:59:00.821Z\","
    "\"grantedAt\":\"2026-11-21T01:59:00.821Z\"}";

struct request {
    size_t size;
    char body[4096];
};

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **slot)
{
    struct request *request = *slot;
    struct MHD_Response *response;
    enum MHD_Result result;

    (void) context, (void) url, (void) method, (void) version;
    if (request == NULL) {
        *slot = calloc(1, sizeof *request);
        return *slot == NULL ? MHD_NO : MHD_YES;
    }
    if (*size > 0) {
        if (request->size + *size > sizeof request->body)
            return MHD_NO;
        memcpy(request->body + request->size, data, *size);
        request->size += *size;
        *size = 0;
        return MHD_YES;
    }
    response = MHD_create_response_from_buffer(sizeof answer - 1, (void *) answer, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, "Content-Type", "application/json; charset=utf-8");
    result = MHD_queue_response(connection, MHD_HTTP_CREATED, response);
    MHD_destroy_response(response);
    return result;
}

static void completed(void *context, struct MHD_Connection *connection, void **slot,
                      enum MHD_RequestTerminationCode reason)
{
    (void) context, (void) connection, (void) reason;
    free(*slot);
    *slot = NULL;
}

int main(int count, char **arguments)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned int threads = count > 1 ? (unsigned int) atoi(arguments[1]) : 2;
    struct MHD_Daemon *daemon;
    sigset_t signals;
    int signal;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, NULL,
                              MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_THREAD_POOL_SIZE, threads,
                              MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_END);
    if (daemon == NULL)
        return 1;
    printf("floor ready on http://127.0.0.1:%u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    sigwait(&signals, &signal);
    MHD_stop_daemon(daemon);
    return 0;
}
