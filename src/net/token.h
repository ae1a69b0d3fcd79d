/* token.h - JSON web tokens that name a user, signed with the site's key
 *
 *     struct token_key *key = token_key_read ("/etc/fluxq/token.key", NULL, &err);
 *     char *text = token_make (key, "ann", now, now + 1800, &err);  // "eyJ..."
 *     rc = token_read (key, text, now, &token, &err);               // token.user "ann"
 *
 * The claims are those of Slurm's auth/jwt: sun (the user's name), iat and exp (unix
 * times). The signature is HS256 with a secret file, or RS256 (RFC 7518) with a pair of
 * PEM files. A key has exactly one algorithm: a token with another one, or with none, is
 * refused, so that a public key never serves as a secret.
 *
 * token_make() and token_read() may run on worker threads at the same time: a key does not
 * change after it was read. No message quotes a token or a key.
 */
#pragma once

#include <stdint.h>

#include "common/error.h"

#define TOKEN_MAX 4096      /* bytes of a token */
#define TOKEN_USER_SIZE 257 /* a user's name and NUL */
#define TOKEN_SECRET_MIN 32 /* bytes of a secret: as many as HS256 has (RFC 7518, 3.2) */
#define TOKEN_KEY_MAX 16384 /* bytes of a key file */

struct token_key;

/* The contents of a token. */
struct token {
    char user[TOKEN_USER_SIZE];
    int64_t issued, expires; /* unix times */
};

/* secret: file with the secret of HS256, or, if `public` is given, the private key of
 * RS256; NULL with `public`: tokens are only read. The files must belong to root or to
 * this process's user; nobody else may read the secret (mode 0600) or write the public
 * key. NULL with a reason that names the file. */
struct token_key *token_key_read (const char *secret, const char *public,
                                  struct error *err);
/* A further reference; token_key_release() drops one and wipes the key with the last.
 * Both are thread-safe and accept NULL. */
struct token_key *token_key_keep (struct token_key *key);
void token_key_release (struct token_key *key);
bool token_key_can_sign (const struct token_key *key);

/* Returns the token, which the caller wipes and frees, or NULL with a reason. */
char *token_make (const struct token_key *key, const char *user, int64_t issued,
                  int64_t expires, struct error *err);
/* 0; -EACCES with a reason: too long, not signed with this key, expired, or without one
 * of the claims; -ENOMEM. */
int token_read (const struct token_key *key, const char *text, int64_t now,
                struct token *ret, struct error *err);
/* The claims of a token whose signature is not checked: what the sender says. 0, or
 * -EACCES: it is no token. */
int token_claims (const char *text, struct token *ret);
