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

/* Whether a private key is that of a certificate, both as PEM; returns 0, or an error of GnuTLS. */
static inline int arbiter_check_pair(const char *certificate, size_t certificate_size, const char *key, size_t key_size)
{
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t first = {(unsigned char *) certificate, (unsigned int) certificate_size};
    gnutls_datum_t second = {(unsigned char *) key, (unsigned int) key_size};
    int status = gnutls_certificate_allocate_credentials(&credentials);
    if (status != 0)
        return status;
    status = gnutls_certificate_set_x509_key_mem(credentials, &first, &second, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    return status < 0 ? status : 0;
}

/* How many certificates a PEM text has, or an error of GnuTLS. */
static inline int arbiter_count_authorities(const char *text, size_t size)
{
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t datum = {(unsigned char *) text, (unsigned int) size};
    int count = gnutls_certificate_allocate_credentials(&credentials);
    if (count != 0)
        return count;
    count = gnutls_certificate_set_x509_trust_mem(credentials, &datum, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    return count;
}

/* When the first certificate of a PEM text expires, in seconds since 1970; -1 if that is unknown. */
static inline int64_t arbiter_expiration(const char *text, size_t size)
{
    gnutls_x509_crt_t certificate;
    gnutls_datum_t datum = {(unsigned char *) text, (unsigned int) size};
    int64_t time = -1;
    if (gnutls_x509_crt_init(&certificate) != 0)
        return -1;
    if (gnutls_x509_crt_import(certificate, &datum, GNUTLS_X509_FMT_PEM) == 0)
        time = gnutls_x509_crt_get_expiration_time(certificate);
    gnutls_x509_crt_deinit(certificate);
    return time;
}

/* Has the handshake fail unless the peer shows a certificate that a trusted authority has signed for clients and that is
   valid now. To be called before the handshake. */
static inline void arbiter_require_peer(void *session)
{
    static gnutls_typed_vdata_st purpose = {GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *) GNUTLS_KP_TLS_WWW_CLIENT, 0};
    gnutls_session_t tls = (gnutls_session_t) session;
    gnutls_certificate_server_set_request(tls, GNUTLS_CERT_REQUIRE);
    gnutls_session_set_verify_cert2(tls, &purpose, 1, 0);
}

/* Writes the common name of the subject of the peer's certificate, with a NUL; returns 0, or -1 if the peer has shown
   none, or none that a trusted authority has signed for clients and that is valid now. */
static inline int arbiter_peer_common_name(void *session, char *name, size_t room)
{
    gnutls_session_t tls = (gnutls_session_t) session;
    gnutls_typed_vdata_st purpose = {GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *) GNUTLS_KP_TLS_WWW_CLIENT, 0};
    gnutls_x509_crt_t certificate;
    unsigned int status = 0, count = 0;
    const gnutls_datum_t *shown = gnutls_certificate_get_peers(tls, &count);
    int result = -1;
    if (shown == NULL || count == 0 || gnutls_certificate_verify_peers(tls, &purpose, 1, &status) != 0 || status != 0)
        return -1;
    if (gnutls_x509_crt_init(&certificate) != 0)
        return -1;
    if (gnutls_x509_crt_import(certificate, &shown[0], GNUTLS_X509_FMT_DER) == 0
        && gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &room) == 0)
        result = 0;
    gnutls_x509_crt_deinit(certificate);
    return result;
}

/* How many bytes GnuTLS has read of which it has not given anything. */
static inline size_t arbiter_pending_bytes(void *session)
{
    return gnutls_record_check_pending((gnutls_session_t) session);
}

/* Sends bytes, and that no more follow. What cannot be sent at once is left out. */
static inline void arbiter_say_last(void *session, const void *bytes, size_t count)
{
    gnutls_session_t tls = (gnutls_session_t) session;
    if (gnutls_record_send(tls, bytes, count) >= 0)
        gnutls_bye(tls, GNUTLS_SHUT_WR);
}

#endif
