#ifndef ARBITER_CMICROHTTPD_SHIM_H
#define ARBITER_CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* MHD_start_daemon is variadic, and Swift imports no variadic function, so every option is passed in the array.
   https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html#microhttpd_002dinit */
static inline struct MHD_Daemon *arbiter_MHD_start_daemon(unsigned int flags, MHD_AccessHandlerCallback handler,
                                                          void *handler_context,
                                                          const struct MHD_OptionItem *options)
{
    return MHD_start_daemon(flags, 0, NULL, NULL, handler, handler_context, MHD_OPTION_ARRAY, options,
                            MHD_OPTION_END);
}

/* An option item stores function pointers as intptr_t, and Swift cannot express that cast. */
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

/* These macros contain casts, so Swift does not import them. */
static const uint64_t arbiter_MHD_size_unknown = MHD_SIZE_UNKNOWN;
static const ssize_t arbiter_MHD_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t arbiter_MHD_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;

/* MHD_set_response_options is variadic. Without chunks, the body ends with the connection. */
static inline enum MHD_Result arbiter_MHD_forbid_chunks(struct MHD_Response *response)
{
    return MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/* The longest request id, content type and names of fields fit. */
enum { arbiter_MHD_common_fields_size = 512 };

/* Puts a text where the last one has ended, if there is room. Returns where it ends; NULL if there was no room, now or before. */
static inline char *arbiter_MHD_put(char *next, const char *end, const char *text)
{
    const size_t size = strlen(text);
    if (next == NULL || size >= (size_t) (end - next))
        return NULL;
    memcpy(next, text, size + 1);
    return next + size;
}

/* The time in the form of header fields (RFC 9110, section 5.6.7), until the next call on the same thread. libmicrohttpd would write it
   anew for each response. */
const char *arbiter_MHD_date(void);

/* Adds the fields that nearly every response has; no field for an empty text. libmicrohttpd allocates three times for
   every field, and refuses a line break in a value. So they are added as one field, with other bytes in the place of
   the line breaks, which are then written into libmicrohttpd's copy of the value. The texts have no control characters. */
static inline enum MHD_Result arbiter_MHD_add_common_fields(struct MHD_Response *response, const char *content_type,
                                                            const char *request_id)
{
    char lines[arbiter_MHD_common_fields_size];
    const char *const end = lines + sizeof lines;
    char *next = arbiter_MHD_put(arbiter_MHD_put(lines, end, "no-store\1\1Date: "), end, arbiter_MHD_date());
    if (*content_type)
        next = arbiter_MHD_put(arbiter_MHD_put(next, end, "\1\1Content-Type: "), end, content_type);
    if (*request_id)
        next = arbiter_MHD_put(arbiter_MHD_put(next, end, "\1\1X-Request-Id: "), end, request_id);
    if (next == NULL || MHD_add_response_header(response, "Cache-Control", lines) != MHD_YES)
        return MHD_NO;
    next = (char *) (uintptr_t) MHD_get_response_header(response, "Cache-Control");
    while (next != NULL && (next = strchr(next, '\1')) != NULL) {
        *next++ = '\r';
        *next++ = '\n';
    }
    return MHD_YES;
}

typedef size_t (*arbiter_MHD_UnescapeCallback)(void *context, struct MHD_Connection *connection, char *text);

static inline struct MHD_OptionItem arbiter_MHD_unescape(arbiter_MHD_UnescapeCallback callback, void *context)
{
    struct MHD_OptionItem item = {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t) callback, context};
    return item;
}

/* Ends the text after the question mark, so that libmicrohttpd does not see the query. It needs a record in the
   connection's memory for every parameter; if they do not fit, it forgets its own refusal and sends no answer. The text
   is libmicrohttpd's buffer, and const only in the callback's type. At least the end of the line follows the mark. */
static inline void arbiter_MHD_hide_query(const char *question_mark)
{
    ((char *) (uintptr_t) question_mark)[1] = '\0';
}

typedef void *(*arbiter_MHD_TargetCallback)(void *context, const char *target, struct MHD_Connection *connection);

static inline struct MHD_OptionItem arbiter_MHD_notify_target(arbiter_MHD_TargetCallback callback, void *context)
{
    struct MHD_OptionItem item = {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t) callback, context};
    return item;
}

/* Why a head could be read in two ways (RFC 9112, sections 2.2, 3, 5, 5.1 and 5.2). */
enum arbiter_MHD_Fault {
    arbiter_MHD_no_fault,
    arbiter_MHD_request_line_fault,
    /* A name that is not a token: it is empty, or there is a space before the colon. */
    arbiter_MHD_name_fault,
    /* A carriage return or another control character in a value. */
    arbiter_MHD_value_fault,
    /* The lines are not adjacent: one is folded, or contains NUL. */
    arbiter_MHD_line_fault,
};

/* A name of a header field. */
struct arbiter_MHD_Name {
    const char *text;
    size_t size;
};

/* Where the value of a header field is: so many bytes behind the method of its request. */
struct arbiter_MHD_Field {
    int32_t start;
    uint32_t size;
    /* How many lines the field has; the value is that of the first. */
    uint32_t lines;
};

/* The header fields of a request that mean something, in the order of the names. */
struct arbiter_MHD_Fields {
    const struct arbiter_MHD_Name *names;
    size_t count;
    struct arbiter_MHD_Field *fields;
    /* Where a request begins in memory; values have their places from here. */
    const char *base;
};

static inline void arbiter_MHD_read_field(struct arbiter_MHD_Fields *fields, const char *name, size_t name_size,
                                          const char *value, size_t value_size)
{
    for (size_t index = 0; index < fields->count; ++index) {
        const struct arbiter_MHD_Name *known = &fields->names[index];
        if (known->size != name_size || strncasecmp(known->text, name, name_size) != 0)
            continue;
        struct arbiter_MHD_Field *field = &fields->fields[index];
        if (field->lines++ == 0 && value != NULL) {
            field->start = (int32_t) (value - fields->base);
            field->size = (uint32_t) value_size;
        }
        return;
    }
}

static inline enum MHD_Result arbiter_MHD_read_known(void *context, enum MHD_ValueKind kind, const char *name,
                                                     size_t name_size, const char *value, size_t value_size)
{
    struct arbiter_MHD_Fields *fields = context;
    (void) kind;
    /* Of the first request, only this is known. */
    if (fields->base == NULL)
        fields->base = value;
    arbiter_MHD_read_field(fields, name, name_size, value, value_size);
    return MHD_YES;
}

/* The number that a value begins with. */
static inline long arbiter_MHD_number(const void *value) { return value == NULL ? 0 : strtol(value, NULL, 10); }

static inline void arbiter_MHD_forget_fields(struct arbiter_MHD_Fields *fields, const char *base)
{
    fields->base = base;
    memset(fields->fields, 0, fields->count * sizeof *fields->fields);
}

/* Reads what has come of the fields of a request that is not whole. */
static inline void arbiter_MHD_read_known_fields(struct MHD_Connection *connection, struct arbiter_MHD_Fields *fields)
{
    arbiter_MHD_forget_fields(fields, fields->base);
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &arbiter_MHD_read_known, fields);
}

/* The fields that decide where a request ends and for which host it is. */
struct arbiter_MHD_Framing {
    int hosts;
    int lengths;
    int chunked;
    int unknown_encodings;
    enum arbiter_MHD_Fault fault;
    struct arbiter_MHD_Fields *fields;
    /* The name that was read last, or NULL. */
    const char *name;
    /* The end of the line that was read last. */
    const char *line_end;
};

static inline int arbiter_MHD_is_token(const char *text, size_t size)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t index = 0; index < size; ++index) {
        const char c = text[index];
        const char lower = (char) (c | 0x20);
        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && (c == '\0' || strchr(others, c) == NULL))
            return 0;
    }
    return size > 0;
}

static inline int arbiter_MHD_is_printable(const char *text, size_t size)
{
    for (size_t index = 0; index < size; ++index) {
        const unsigned char c = (unsigned char) text[index];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return 0;
    }
    return 1;
}

/* Whether a line begins directly after the end of the one before. libmicrohttpd parses in place and replaces both bytes
   of CRLF, or a bare LF, by NUL. A text that ends early at a NUL, or that was folded and so moved, leaves a gap. */
static inline int arbiter_MHD_follows(const char *line_end, const char *next)
{
    return next == line_end + 1 || (next == line_end + 2 && line_end[1] == '\0');
}

static inline enum MHD_Result arbiter_MHD_read_line(void *context, enum MHD_ValueKind kind, const char *name,
                                                    size_t name_size, const char *value, size_t value_size)
{
    struct arbiter_MHD_Framing *framing = context;
    (void) kind;
    arbiter_MHD_read_field(framing->fields, name, name_size, value, value_size);
    if (framing->fault != arbiter_MHD_no_fault)
        return MHD_YES;
    if (!arbiter_MHD_follows(framing->line_end, name)) {
        framing->fault = arbiter_MHD_line_fault;
        return MHD_YES;
    }
    framing->name = name;
    framing->line_end = value + value_size;
    if (!arbiter_MHD_is_token(name, name_size))
        framing->fault = arbiter_MHD_name_fault;
    else if (!arbiter_MHD_is_printable(value, value_size))
        framing->fault = arbiter_MHD_value_fault;
    else if (strcasecmp(name, "Host") == 0)
        ++framing->hosts;
    else if (strcasecmp(name, "Content-Length") == 0)
        ++framing->lengths;
    else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        if (strcasecmp(value, "chunked") == 0)
            ++framing->chunked;
        else
            ++framing->unknown_encodings;
    }
    return MHD_YES;
}

static inline size_t arbiter_MHD_header_size(struct MHD_Connection *connection);

/* Checks the head again where it is in memory, because libmicrohttpd 0.9.75 accepts too much, and reads its fields, in one pass.
   `target_size` is the size of the target as it was sent. */
static inline struct arbiter_MHD_Framing arbiter_MHD_framing(struct MHD_Connection *connection, const char *method,
                                                             const char *target, size_t target_size,
                                                             const char *version,
                                                             struct arbiter_MHD_Fields *fields)
{
    struct arbiter_MHD_Framing framing = {0, 0, 0, 0, arbiter_MHD_no_fault, fields, NULL, NULL};
    const size_t method_size = strlen(method);
    const char *head_end = method + arbiter_MHD_header_size(connection);
    arbiter_MHD_forget_fields(fields, method);
    if (!arbiter_MHD_is_token(method, method_size) || target != method + method_size + 1 ||
        version != target + target_size + 1) {
        arbiter_MHD_read_known_fields(connection, fields);
        framing.fault = arbiter_MHD_request_line_fault;
        return framing;
    }
    framing.line_end = version + sizeof "HTTP/1.1" - 1;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &arbiter_MHD_read_line, &framing);
    if (framing.fault == arbiter_MHD_no_fault) {
        /* Only the empty line may follow. */
        const size_t rest = (size_t) (head_end - framing.line_end);
        if (rest < 2 || rest > 4)
            framing.fault = arbiter_MHD_line_fault;
        else
            for (size_t index = 1; index < rest; ++index)
                if (framing.line_end[index] != '\0')
                    framing.fault = arbiter_MHD_line_fault;
    }
    return framing;
}

/* Where the lines of a head begin, as libmicrohttpd has read it. A NUL that was sent looks in memory like the end of a name or of a
   line. So two heads may have the same bytes, although libmicrohttpd has read fewer lines of the one with such NULs. Its lines never
   begin before those of the other one with the same numbers. So the two were read in the same way if they have as many lines, and if
   the sums of their places are the same. */
struct arbiter_MHD_Lines {
    const char *base;
    size_t count;
    size_t starts;
};

static inline enum MHD_Result arbiter_MHD_count_line(void *context, enum MHD_ValueKind kind, const char *name,
                                                     size_t name_size, const char *value, size_t value_size)
{
    struct arbiter_MHD_Lines *lines = context;
    (void) kind, (void) name_size, (void) value, (void) value_size;
    ++lines->count;
    lines->starts += (size_t) (name - lines->base);
    return MHD_YES;
}

static inline struct arbiter_MHD_Lines arbiter_MHD_lines(struct MHD_Connection *connection, const char *base)
{
    struct arbiter_MHD_Lines lines = {base, 0, 0};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &arbiter_MHD_count_line, &lines);
    return lines;
}

static inline enum MHD_Result arbiter_MHD_read_trailer(void *context, enum MHD_ValueKind kind, const char *name,
                                                       size_t name_size, const char *value, size_t value_size)
{
    int *is_sound = context;
    (void) kind;
    *is_sound = *is_sound && arbiter_MHD_is_token(name, name_size) && arbiter_MHD_is_printable(value, value_size);
    return MHD_YES;
}

/* Whether the names of the trailer fields are tokens, and their values contain no control characters. */
static inline int arbiter_MHD_trailers_are_sound(struct MHD_Connection *connection)
{
    int is_sound = 1;
    MHD_get_connection_values_n(connection, MHD_FOOTER_KIND, &arbiter_MHD_read_trailer, &is_sound);
    return is_sound;
}

/* Access to the members of the union that MHD_get_connection_info returns. */
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

/* The GnuTLS session of a connection over TLS. */
static inline void *arbiter_MHD_tls_session(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info == NULL ? NULL : info->tls_session;
}

/* Has a connection closed within a second or two unless something happens on it. MHD_set_connection_option is variadic. */
static inline void arbiter_MHD_expire(struct MHD_Connection *connection)
{
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 1u);
}

/* What becomes readable when a daemon without threads has something to do. */
static inline int arbiter_MHD_epoll_descriptor(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

/* An option whose value is a text, which has to live as long as the daemon. */
static inline struct MHD_OptionItem arbiter_MHD_text(enum MHD_OPTION option, const char *text)
{
    struct MHD_OptionItem item = {option, 0, (void *) text};
    return item;
}

/* The pointer that was stored when the connection began. */
static inline void *arbiter_MHD_socket_context(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

/* Called on the thread that serves the connection, before libmicrohttpd answers with an error of its own. */
typedef void (*arbiter_MHD_ErrorCallback)(void *context, struct MHD_Connection *connection, unsigned int status);

struct arbiter_MHD_ErrorReader {
    arbiter_MHD_ErrorCallback callback;
    void *context;
};

/* Must be the first option, and needs MHD_USE_ERROR_LOG. The reader has to live as long as the daemon. */
struct MHD_OptionItem arbiter_MHD_notify_error(const struct arbiter_MHD_ErrorReader *reader);

#endif
