#ifndef ARBITER_CMICROHTTPD_SHIM_H
#define ARBITER_CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <strings.h>

/* MHD_start_daemon is variadic, and Swift imports no variadic function: every option travels in the array.
   https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html#microhttpd_002dinit */
static inline struct MHD_Daemon *arbiter_MHD_start_daemon(unsigned int flags, MHD_AccessHandlerCallback handler,
                                                          void *handler_context,
                                                          const struct MHD_OptionItem *options)
{
    return MHD_start_daemon(flags, 0, NULL, NULL, handler, handler_context, MHD_OPTION_ARRAY, options,
                            MHD_OPTION_END);
}

/* Function pointers do not fit into the intptr_t of an option item without a cast that Swift has no word for. */
static inline struct MHD_OptionItem arbiter_MHD_notify_completed(MHD_RequestCompletedCallback callback, void *context)
{
    struct MHD_OptionItem item = {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t) callback, context};
    return item;
}

static inline struct MHD_OptionItem arbiter_MHD_notify_connection(MHD_NotifyConnectionCallback callback, void *context)
{
    struct MHD_OptionItem item = {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t) callback, context};
    return item;
}

/* Macros with casts, which Swift does not import. */
static const uint64_t arbiter_MHD_size_unknown = MHD_SIZE_UNKNOWN;
static const ssize_t arbiter_MHD_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t arbiter_MHD_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;

/* MHD_set_response_options is variadic. Without chunks the end of the connection is the end of the body. */
static inline enum MHD_Result arbiter_MHD_forbid_chunks(struct MHD_Response *response)
{
    return MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/* Takes every URI as it came: what percent signs mean is decided where malformed ones can be refused. */
static inline size_t arbiter_MHD_leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    size_t length = 0;
    (void) context;
    (void) connection;
    while (text[length] != '\0')
        ++length;
    return length;
}

static inline struct MHD_OptionItem arbiter_MHD_unescape_nothing(void)
{
    struct MHD_OptionItem item = {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t) &arbiter_MHD_leave_escaped, NULL};
    return item;
}

/* What says where a request ends, and for whom it is. */
struct arbiter_MHD_Framing {
    int hosts;
    int lengths;
    int chunked;
    int unknown_encodings;
};

static inline enum MHD_Result arbiter_MHD_count_framing(void *context, enum MHD_ValueKind kind, const char *name,
                                                        const char *value)
{
    struct arbiter_MHD_Framing *framing = context;
    (void) kind;
    if (strcasecmp(name, "Host") == 0)
        ++framing->hosts;
    else if (strcasecmp(name, "Content-Length") == 0)
        ++framing->lengths;
    else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        if (value != NULL && strcasecmp(value, "chunked") == 0)
            ++framing->chunked;
        else
            ++framing->unknown_encodings;
    }
    return MHD_YES;
}

/* Counts it in one pass, since most requests have little of it. */
static inline struct arbiter_MHD_Framing arbiter_MHD_framing(struct MHD_Connection *connection)
{
    struct arbiter_MHD_Framing framing = {0, 0, 0, 0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, &arbiter_MHD_count_framing, &framing);
    return framing;
}

/* How many header lines have a name. */
struct arbiter_MHD_Lines {
    const char *name;
    int count;
};

static inline enum MHD_Result arbiter_MHD_count_line(void *context, enum MHD_ValueKind kind, const char *name,
                                                     const char *value)
{
    struct arbiter_MHD_Lines *lines = context;
    (void) kind, (void) value;
    if (strcasecmp(name, lines->name) == 0)
        ++lines->count;
    return MHD_YES;
}

static inline int arbiter_MHD_line_count(struct MHD_Connection *connection, const char *name)
{
    struct arbiter_MHD_Lines lines = {name, 0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, &arbiter_MHD_count_line, &lines);
    return lines.count;
}

/* The union of MHD_get_connection_info, by member. */
static inline size_t arbiter_MHD_header_size(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

static inline int arbiter_MHD_connection_descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

#endif
