/* fuzz_kubeconfig.c - any bytes as a kubeconfig; an accepted one has a server, and the target
 * opens no other file
 *
 * Parser: kube/kubeconfig.c jobspec/attributes/base64.c
 */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jobspec/attributes/base64.h"
#include "kube/kubeconfig.h"

static void check (const struct kubeconfig *kc)
{
    const struct httpc_tls *t = &kc->tls;
    const char *const pem[] = { t->ca_data, t->cert_data, t->key_data };

    assert (!strncmp (kc->server, "https://", 8) || !strncmp (kc->server, "http://", 7));
    assert (kc->server[strlen (kc->server) - 1] != '/');
    for (size_t i = 0; i < ARRAY_SIZE (pem); i++)
        assert (!pem[i] || strstr (pem[i], "-----BEGIN "));
}

static void check_base64 (const uint8_t *data, size_t size)
{
    autofree char *text = malloc (4 * (size / 3 + 1) + 1),
                  *back = malloc (BASE64_DECODED (4 * (size / 3 + 1)) + 1),
                  *any = malloc (BASE64_DECODED (size) + 1);

    assert (text && back && any);
    base64_encode (data, size, text);
    assert (base64_decode (text, strlen (text), back) == (ssize_t)size);
    assert (size == 0 || !memcmp (data, back, size));
    ssize_t n = base64_decode ((const char *)data, size, any);
    assert (n < 0 || (size_t)n <= BASE64_DECODED (size));
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    int fd = memfd_create ("kubeconfig", MFD_CLOEXEC);
    struct error err = { 0 };
    char path[64];

    check_base64 (data, size);
    if (memmem (data, size, "tokenFile", 9))
        size = 0; /* names a file of this machine */
    assert (fd >= 0 && write (fd, data, size) == (ssize_t)size);
    snprintf (path, sizeof (path), "/proc/self/fd/%d", fd);
    for (int i = 0; i < 2; i++) {
        struct kubeconfig *kc = kubeconfig_load (path, i ? "b" : NULL, &err);
        if (kc) {
            check (kc);
            assert (kubeconfig_refresh (kc, &err) == 0);
        } else
            fuzz_check_refusal (&err, "");
        kubeconfig_destroy (kc);
    }
    close (fd);
    return 0;
}
