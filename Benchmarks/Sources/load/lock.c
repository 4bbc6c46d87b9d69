#include "lock.h"

#include "support.h"

#include <string.h>

const struct lock_server *lock_server_named(const char *name)
{
    const struct lock_server *servers[] = {&arbiter_lock, &arbiter_session_lock, &floor_lock,
                                           &redis_lock,   &etcd_lock,            &etcd_lock_api};

    for (size_t index = 0; index < sizeof servers / sizeof *servers; ++index)
        if (strcmp(servers[index]->name, name) == 0)
            return servers[index];
    fail("there is no server %s", name);
}
