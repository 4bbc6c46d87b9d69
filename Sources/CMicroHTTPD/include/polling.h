#pragma once

#include <stdint.h>

/* For how many nanoseconds until now bytes may have lain in the sockets of libmicrohttpd's threads without being read and
   acted on; 0 if there are none. */
int64_t arbiter_MHD_unheard(void);
