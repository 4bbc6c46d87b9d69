#define _GNU_SOURCE
#include "shim.h"
#include <dlfcn.h>
#include <stdarg.h>

typedef enum MHD_Result (*queue_function)(struct MHD_Connection *, unsigned int, struct MHD_Response *);

static queue_function queue_response;

/* Who is told of the answer that libmicrohttpd queues next on this thread, if that answer is a refusal of its own. */
static _Thread_local const struct arbiter_MHD_ErrorReader *reader_of_next;

__attribute__((constructor)) static void find_queue_response(void)
{
    *(void **) &queue_response = dlsym(RTLD_NEXT, "MHD_queue_response");
}

/* libmicrohttpd reports an error answer of its own in its log, without its connection, and queues it directly afterwards,
   unless another line says why not. */
static void read_log(void *context, const char *format, va_list arguments)
{
    static const char start[] = "Error processing request (HTTP response code is %u";
    (void) arguments;
    reader_of_next = strncmp(format, start, sizeof start - 1) == 0 ? context : NULL;
}

struct MHD_OptionItem arbiter_MHD_notify_error(const struct arbiter_MHD_ErrorReader *reader)
{
    struct MHD_OptionItem item = {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t) &read_log, (void *) reader};
    return item;
}

/* Takes the place of libmicrohttpd's function, which libmicrohttpd calls by its name too: what a program defines comes
   first. */
enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned int status, struct MHD_Response *response)
{
    const struct arbiter_MHD_ErrorReader *reader = reader_of_next;
    if (reader != NULL) {
        reader_of_next = NULL;
        reader->callback(reader->context, connection, status);
    }
    return queue_response(connection, status, response);
}
