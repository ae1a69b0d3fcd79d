/* install.c - copies the program, its other names and files to a directory, see install.h
 */
#include "shell/agent/install.h"

#include <sys/stat.h>

#include "common/io.h"
#include "common/sha256.h"
#include "protocol/agent_api.h"
#include "protocol/inside.h"
#include "protocol/step_client.h"

#define PROGRAM "fluxq-shell " INSTALL_COMMAND
#define SELF "/proc/self/exe"
#define SELF_MAX ((size_t)8 << 20)
#define DIGITS_MIN 8
#define FILE_MAX ((size_t)1 << 20) /* the limit of a ConfigMap */

static void digest_of (const struct strbuf *program, char ret[SHA256_HEX_SIZE])
{
    struct sha256 ctx;
    uint8_t hash[SHA256_SIZE];

    sha256_init (&ctx);
    sha256_update (&ctx, program->buf, program->len);
    sha256_final (&ctx, hash);
    hex_encode (hash, sizeof (hash), ret);
}

static char *join (const char *dir, const char *name)
{
    char *path = NULL;

    return asprintf (&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

/* Adds a further name of the program. */
static int add_name (const char *dir, const char *name, const char *target,
                     struct error *err)
{
    autofree char *path = join (dir, name);

    if (!path)
        return error_no_memory (err, NULL);
    if (unlink (path) < 0 && errno != ENOENT)
        return error_errno (err, errno, "%s", path);
    return symlink (target, path) < 0 ? error_errno (err, errno, "%s", path) : 0;
}

static int install (const char *dir, const struct strbuf *program, struct error *err)
{
    autofree char *path = join (dir, "fluxq-shell");
    autofree char *slurm = join (dir, INSIDE_DIR);
    int rc = path ? io_write_file_atomic (path, program->buf, program->len, 0755, err)
                  : error_no_memory (err, NULL);

    if (rc == 0)
        rc = add_name (dir, STEP_CLIENT, "fluxq-shell", err);
    if (rc == 0)
        rc = add_name (dir, BCAST_CLIENT, "fluxq-shell", err);
    if (rc == 0 && (!slurm || (mkdir (slurm, 0755) < 0 && errno != EEXIST)))
        rc = error_errno (err, slurm ? errno : ENOMEM, "%s/" INSIDE_DIR, dir);
    for (size_t i = 0; rc == 0 && inside_clients[i]; i++)
        rc = add_name (slurm, inside_clients[i], "../fluxq-shell", err);
    return rc;
}

/* Copies the file to DIR under its own name. */
static int install_file (const char *dir, const char *file, struct error *err)
{
    const char *slash = strrchr (file, '/');
    autofree char *path = join (dir, slash ? slash + 1 : file);
    autostrbuf struct strbuf text = STRBUF_INIT (FILE_MAX + 1);

    if (!path)
        return error_no_memory (err, NULL);
    int rc = io_read_file (file, &text, FILE_MAX, err);
    return rc < 0 ? rc : io_write_file_atomic (path, text.buf, text.len, 0755, err);
}

int install_main (int argc, char **argv)
{
    autostrbuf struct strbuf program = STRBUF_INIT (SELF_MAX + 1);
    char digest[SHA256_HEX_SIZE];
    struct error err = { 0 };
    const char *wanted = argc >= 3 ? argv[2] : "";
    size_t digits = strlen (wanted);

    if (argc < 3 || argv[1][0] != '/' || digits < DIGITS_MIN
        || digits >= SHA256_HEX_SIZE) {
        fprintf (stderr,
                 PROGRAM ": expected an absolute directory and %d to %d digits of "
                         "a SHA-256\n",
                 DIGITS_MIN, SHA256_HEX_SIZE - 1);
        return 2;
    }
    if (io_read_file (SELF, &program, SELF_MAX, &err) < 0) {
        fprintf (stderr, PROGRAM ": %s\n", err.text);
        return 1;
    }
    digest_of (&program, digest);
    if (strncmp (digest, wanted, digits) != 0) {
        fprintf (stderr,
                 "the agent of this image is %.*s, the broker's own is %.*s: "
                 "kube.agent-image must be of the broker's version\n",
                 DIGITS_MIN, digest, DIGITS_MIN, wanted);
        return INSTALL_REFUSED;
    }
    int rc = install (argv[1], &program, &err);
    for (int i = 3; i < argc && rc == 0; i++)
        rc = install_file (argv[1], argv[i], &err);
    if (rc == 0)
        return 0;
    fprintf (stderr, PROGRAM ": %s\n", err.text);
    return 1;
}
