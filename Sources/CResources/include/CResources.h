#pragma once

#include <stddef.h>

// A file that the daemon serves.
struct arbiter_resource {
    // The path at which it is served, without the first "/".
    const char *path;
    const unsigned char *bytes;
    size_t count;
};

size_t arbiter_resource_count(void);

// The index is below the count.
struct arbiter_resource arbiter_resource_at(size_t index);
