#include "shim.h"
#include <time.h>

const char *arbiter_MHD_date(void)
{
    static _Thread_local char text[sizeof "Sun, 06 Nov 1994 08:49:37 GMT"];
    static _Thread_local time_t written;
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != written || text[0] == '\0') {
        gmtime_r(&now.tv_sec, &parts);
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
        written = now.tv_sec;
    }
    return text;
}
