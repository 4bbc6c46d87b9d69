#ifndef ARBITER_CGNUTLS_SHIM_H
#define ARBITER_CGNUTLS_SHIM_H

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdint.h>

/* The manual: https://www.gnutls.org/manual/gnutls.html */

enum { arbiter_sha256_bytes = 32 };

/* Writes the SHA-256 of the bytes; returns 0, or an error of GnuTLS. */
static inline int arbiter_sha256(const void *bytes, size_t count, uint8_t digest[arbiter_sha256_bytes])
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, count, digest);
}

/* Whether the bytes are the same, in a time that does not depend on them. */
static inline int arbiter_are_same(const void *left, const void *right, size_t count)
{
    return gnutls_memcmp(left, right, count) == 0;
}

#endif
