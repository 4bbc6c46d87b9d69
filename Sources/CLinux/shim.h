#ifndef ARBITER_CLINUX_SHIM_H
#define ARBITER_CLINUX_SHIM_H

/* Declarations that Swift's Glibc module lacks. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Returns freed memory to the system; glibc keeps it for the thread that used it. */
static inline void arbiter_return_memory(void) { malloc_trim(0); }

/* The bytes that are in memory for nothing that was allocated: what was freed, and stacks. 0 if that cannot be told. */
static inline int64_t arbiter_unused_memory(void)
{
    unsigned long resident = 0, shared = 0;
    struct mallinfo2 used = mallinfo2();
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %lu %lu", &resident, &shared) != 2)
        resident = shared = 0;
    fclose(file);
    return (int64_t) (resident - shared) * sysconf(_SC_PAGESIZE) - (int64_t) (used.uordblks + used.hblkhd);
}

/* Exchanges two files or directories in one step. glibc declares renameat2 for _GNU_SOURCE only. */
static inline int arbiter_exchange(const char *one, const char *other)
{
    enum { exchange = 2 /* RENAME_EXCHANGE */ };
    return (int) syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, exchange);
}

/* Continues a CRC-32C (RFC 3720, appendix B.4; polynomial 0x1edc6f41, reflected), without the inversions before and
   after it. The processor computes it where it can. */
static inline uint32_t arbiter_crc32c_in_software(uint32_t crc, const unsigned char *bytes, size_t count)
{
    static const uint32_t halves[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ halves[crc & 15];
        crc = crc >> 4 ^ halves[crc & 15];
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2")))
static inline uint32_t arbiter_crc32c_in_hardware(uint32_t crc, const unsigned char *bytes, size_t count)
{
    uint64_t part, sum = crc;
    for (; count >= sizeof part; bytes += sizeof part, count -= sizeof part) {
        memcpy(&part, bytes, sizeof part);
        sum = __builtin_ia32_crc32di(sum, part);
    }
    crc = (uint32_t) sum;
    for (; count > 0; bytes++, count--) crc = __builtin_ia32_crc32qi(crc, *bytes);
    return crc;
}

static inline int arbiter_has_crc32c(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__)
#include <sys/auxv.h>
__attribute__((target("crc")))
static inline uint32_t arbiter_crc32c_in_hardware(uint32_t crc, const unsigned char *bytes, size_t count)
{
    uint64_t part;
    for (; count >= sizeof part; bytes += sizeof part, count -= sizeof part) {
        memcpy(&part, bytes, sizeof part);
        crc = __builtin_arm_crc32cd(crc, part);
    }
    for (; count > 0; bytes++, count--) crc = __builtin_arm_crc32cb(crc, *bytes);
    return crc;
}

static inline int arbiter_has_crc32c(void) { return (getauxval(AT_HWCAP) & 1 << 7 /* HWCAP_CRC32 */) != 0; }
#else
static inline uint32_t arbiter_crc32c_in_hardware(uint32_t crc, const unsigned char *bytes, size_t count)
{
    return arbiter_crc32c_in_software(crc, bytes, count);
}

static inline int arbiter_has_crc32c(void) { return 0; }
#endif

/* How many bytes have arrived on a TCP connection since it began; 0 if that is unknown. glibc's struct tcp_info lacks
   this field, and the kernel's header cannot be included together with glibc's, so the field is read by offset. */
static inline uint64_t arbiter_received_bytes(int descriptor)
{
    enum { option = 11 /* TCP_INFO */, place = 128 /* tcpi_bytes_received */ };
    unsigned char info[256];
    socklen_t size = sizeof info;
    uint64_t bytes = 0;
    if (getsockopt(descriptor, IPPROTO_TCP, option, info, &size) == 0 && size >= place + sizeof bytes)
        memcpy(&bytes, info + place, sizeof bytes);
    return bytes;
}

/* How many bytes have arrived that were not read; 0 if that is unknown. ioctl is variadic. */
static inline int arbiter_unread_bytes(int descriptor)
{
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : 0;
}

/* Whether the other end has closed the connection, or its side of it. */
static inline int arbiter_is_closed_by_peer(int descriptor)
{
    enum { closed = 0x2000 /* POLLRDHUP, which needs _GNU_SOURCE */ };
    struct pollfd entry = { .fd = descriptor, .events = closed };
    return poll(&entry, 1, 0) > 0;
}

/* The user and the group of the process that connected; struct ucred needs _GNU_SOURCE.
   Returns 0, or -1 if the descriptor is no connected Unix socket. */
struct arbiter_peer {
    int32_t process;
    uint32_t user;
    uint32_t group;
};

static inline int arbiter_peer_credentials(int descriptor, struct arbiter_peer *peer)
{
    enum { option = 17 /* SO_PEERCRED */ };
    socklen_t size = sizeof *peer;
    if (getsockopt(descriptor, SOL_SOCKET, option, peer, &size) != 0 || size != sizeof *peer)
        return -1;
    /* What a TCP socket gives. The process may be 0, if it is in another namespace. */
    return peer->user == UINT32_MAX ? -1 : 0;
}

/* The supplementary groups of that process: writes at most `room`, and returns how many there are; -1 if unknown. */
static inline int arbiter_peer_groups(int descriptor, uint32_t *groups, uint32_t room)
{
    enum { option = 59 /* SO_PEERGROUPS */ };
    socklen_t size = (socklen_t) (room * sizeof *groups);
    if (getsockopt(descriptor, SOL_SOCKET, option, groups, &size) == 0 || errno == ERANGE)
        return (int) (size / sizeof *groups);
    return -1;
}

/* open and fcntl are variadic. */
static inline int arbiter_open_lock(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Opens a regular file for reading, without waiting; EINVAL if it is anything else. */
static inline int arbiter_open_regular_file(const char *path)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return -1;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
        return descriptor;
    close(descriptor);
    errno = EINVAL;
    return -1;
}

/* Opens a directory and locks it, when nobody else has locked it. */
static inline int arbiter_lock_directory(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (descriptor < 0)
        return -1;
    while (flock(descriptor, LOCK_EX) != 0) {
        if (errno == EINTR)
            continue;
        close(descriptor);
        return -1;
    }
    return descriptor;
}

static inline int arbiter_close_on_exec(int descriptor)
{
    return fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/* bind and connect to the path of a Unix socket; ENAMETOOLONG if it does not fit. */
static inline int arbiter_unix_address(const char *path, struct sockaddr_un *address)
{
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    strcpy(address->sun_path, path);
    return 0;
}

static inline int arbiter_bind_unix(int descriptor, const char *path)
{
    struct sockaddr_un address;
    return arbiter_unix_address(path, &address) == 0
               ? bind(descriptor, (const struct sockaddr *) &address, sizeof address)
               : -1;
}

static inline int arbiter_connect_unix(int descriptor, const char *path)
{
    struct sockaddr_un address;
    return arbiter_unix_address(path, &address) == 0
               ? connect(descriptor, (const struct sockaddr *) &address, sizeof address)
               : -1;
}

/* What identifies a file; 0 if there is none. */
struct arbiter_file {
    uint64_t device;
    uint64_t inode;
    int32_t is_socket;
};

static inline int arbiter_file_at(const char *path, struct arbiter_file *file)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return 0;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    file->is_socket = S_ISSOCK(status.st_mode);
    return 1;
}

static inline int arbiter_file_of(int descriptor, struct arbiter_file *file)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return 0;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    file->is_socket = S_ISSOCK(status.st_mode);
    return 1;
}

/* The number of the user or of the group with this name; -1 if there is none. */
enum { arbiter_account_bytes = 1 << 20 };

static inline int64_t arbiter_user_number(const char *name)
{
    struct passwd entry, *found = NULL;
    char *room = malloc(arbiter_account_bytes);
    int64_t number = -1;
    if (room != NULL && getpwnam_r(name, &entry, room, arbiter_account_bytes, &found) == 0 && found != NULL)
        number = found->pw_uid;
    free(room);
    return number;
}

static inline int64_t arbiter_group_number(const char *name)
{
    struct group entry, *found = NULL;
    char *room = malloc(arbiter_account_bytes);
    int64_t number = -1;
    if (room != NULL && getgrnam_r(name, &entry, room, arbiter_account_bytes, &found) == 0 && found != NULL)
        number = found->gr_gid;
    free(room);
    return number;
}

/* What the process uses; 0, or -1 if /proc cannot be read. */
struct arbiter_process {
    double cpu_seconds;
    double started;
    uint64_t resident_bytes;
    uint64_t open_files;
    uint64_t most_files;
};

static inline int arbiter_process_usage(struct arbiter_process *process)
{
    struct rusage usage;
    struct rlimit limit;
    struct timespec boot, now;
    unsigned long pages = 0;
    unsigned long long start = 0;
    char text[2048];
    const char *fields;
    struct dirent *entry;
    DIR *files;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    fclose(file);
    process->resident_bytes = (uint64_t) pages * (uint64_t) sysconf(_SC_PAGESIZE);
    getrusage(RUSAGE_SELF, &usage);
    process->cpu_seconds = (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                           + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    getrlimit(RLIMIT_NOFILE, &limit);
    process->most_files = limit.rlim_cur;
    process->open_files = 0;
    if ((files = opendir("/proc/self/fd")) != NULL) {
        while ((entry = readdir(files)) != NULL)
            process->open_files += entry->d_name[0] != '.';
        closedir(files);
        /* Without the one that has just been closed. */
        process->open_files -= process->open_files > 0;
    }
    /* The 22nd field of /proc/self/stat is the start after the boot, in ticks (proc(5)). */
    process->started = 0;
    if ((file = fopen("/proc/self/stat", "re")) != NULL) {
        size_t size = fread(text, 1, sizeof text - 1, file);
        text[size] = 0;
        fclose(file);
        fields = strrchr(text, ')');
        if (fields != NULL
            && sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start) == 1) {
            clock_gettime(CLOCK_BOOTTIME, &boot);
            clock_gettime(CLOCK_REALTIME, &now);
            process->started = (double) now.tv_sec - (double) boot.tv_sec + (double) start / (double) sysconf(_SC_CLK_TCK);
        }
    }
    return 0;
}

/* Sends a datagram to a Unix socket. A name that begins with '@' is an abstract address, which no file stands for.
   Returns -1 if it cannot be sent within a second, for example because nobody reads. */
static inline int arbiter_send_datagram(const char *name, const char *message, size_t size)
{
    struct sockaddr_un address;
    const struct timeval patience = {.tv_sec = 1};
    if (arbiter_unix_address(name, &address) != 0)
        return -1;
    socklen_t length = sizeof address;
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
        /* All bytes of an abstract address count, so it ends with the name. */
        length = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(name));
    }
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    ssize_t sent;
    do
        sent = sendto(descriptor, message, size, MSG_NOSIGNAL, (const struct sockaddr *) &address, length);
    while (sent < 0 && errno == EINTR);
    close(descriptor);
    return sent == (ssize_t) size ? 0 : -1;
}

/* Has each of these signals written to a pipe, whose other end is returned, unless it is ignored: then it stays so. Two bytes
   for each: its number, and 1 if it came from the kernel, as those of a terminal's keys do. */
static int arbiter_noted_signals = -1;

static inline void arbiter_note_signal(int number, siginfo_t *information, void *context)
{
    int error = errno;
    unsigned char note[2] = {(unsigned char) number, information->si_code == SI_KERNEL};
    (void) context;
    (void)!write(arbiter_noted_signals, note, sizeof note);
    errno = error;
}

static inline int arbiter_watch_signals(const int *numbers, size_t count)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    arbiter_noted_signals = ends[1];
    for (size_t index = 0; index < count; index++) {
        struct sigaction action;
        if (sigaction(numbers[index], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            continue;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = arbiter_note_signal;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigaction(numbers[index], &action, NULL);
    }
    return ends[0];
}

/* Starts a command, found by PATH, with the standard streams of this process. It gets SIGTERM when the thread that calls this
   ends. What it leaves behind becomes a child of this process. Returns its process id; -1 with the reason in *error if it cannot
   be started. */
static inline pid_t arbiter_start_command(char *const arguments[], char *const environment[], int *error)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        *error = errno;
        return -1;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        /* Threads of Dispatch block signals. */
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() == parent)
            execvpe(arguments[0], arguments, environment);
        int reason = errno;
        (void)!write(report[1], &reason, sizeof reason);
        _exit(127);
    }
    *error = child < 0 ? errno : 0;
    close(report[1]);
    if (child > 0 && read(report[0], error, sizeof *error) == sizeof *error) {
        waitpid(child, NULL, 0);
        child = -1;
    }
    close(report[0]);
    return child;
}

/* Waits until a child has ended: its exit code, or 128 and the number of the signal that ended it. What it has left behind and has
   ended too is let go of meanwhile. */
static inline int arbiter_wait_for(pid_t child)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(-1, &status, 0)) != child)
        if (ended < 0 && errno != EINTR)
            return 255;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The parent and the session of a process, which are the fourth and the sixth field of its stat (proc(5)), and whether it has
   ended; -1 if there is none. */
struct arbiter_relation {
    pid_t parent;
    pid_t session;
    int32_t has_ended;
};

static inline int arbiter_relation_of(pid_t process, struct arbiter_relation *relation)
{
    char path[32], text[1024], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int) process);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    const char *fields = strrchr(text, ')');
    if (fields == NULL || sscanf(fields, ") %c %d %*d %d", &state, &relation->parent, &relation->session) != 3)
        return -1;
    relation->has_ended = state == 'Z' || state == 'X';
    return 0;
}

/* fcntl is variadic. 0 if it has worked. */
static inline int arbiter_set_nonblocking(int descriptor)
{
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

/* A connection that blocks nobody and that commands do not inherit; the next one of a listening socket. */
static inline int arbiter_accept(int descriptor, struct sockaddr_storage *address, socklen_t *size)
{
    return accept4(descriptor, (struct sockaddr *) address, size, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* The columns and rows of a terminal; 0 if it is none, or does not know. */
static inline void arbiter_terminal_size(int descriptor, int *columns, int *rows)
{
    struct winsize size = {0};
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0)
        memset(&size, 0, sizeof size);
    *columns = size.ws_col;
    *rows = size.ws_row;
}

#endif
