/* http_options.c - see http_options.h */
#include "kube/http_options.h"

#define CONNECT_TIMEOUT_MS 10000L

static void set_blob (CURL *easy, CURLoption option, const char *data)
{
    struct curl_blob blob = { (void *)data, strlen (data), CURL_BLOB_COPY };

    curl_easy_setopt (easy, option, &blob);
}

/* The certificate is checked against server_name: requests name that host, but connect to
 * the URL's host. */
static int set_server_name (CURL *easy, const char *url, const char *name,
                            struct httpc_lists *lists)
{
    CURLU *u = curl_url ();
    char *host = NULL, *port = NULL, *changed = NULL;
    char to[600];
    int rc = -EINVAL;

    if (u && curl_url_set (u, CURLUPART_URL, url, 0) == CURLUE_OK
        && curl_url_get (u, CURLUPART_HOST, &host, 0) == CURLUE_OK
        && curl_url_get (u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK
        && curl_url_set (u, CURLUPART_HOST, name, 0) == CURLUE_OK
        && curl_url_get (u, CURLUPART_URL, &changed, 0) == CURLUE_OK) {
        snprintf (to, sizeof (to), "::%s:%s", host, port);
        lists->connect_to = curl_slist_append (NULL, to);
        if (lists->connect_to) {
            curl_easy_setopt (easy, CURLOPT_CONNECT_TO, lists->connect_to);
            curl_easy_setopt (easy, CURLOPT_URL, changed);
            rc = 0;
        }
    }
    curl_free (host);
    curl_free (port);
    curl_free (changed);
    curl_url_cleanup (u);
    return rc;
}

static int set_tls (CURL *easy, const char *url, const struct httpc_tls *tls,
                    struct httpc_lists *lists)
{
    const struct {
        const char *file, *data;
        CURLoption file_option, data_option;
    } parts[] = {
        { tls->ca_file, tls->ca_data, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB },
        { tls->cert_file, tls->cert_data, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB },
        { tls->key_file, tls->key_data, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB },
    };

    for (size_t i = 0; i < ARRAY_SIZE (parts); i++) {
        if (parts[i].data)
            set_blob (easy, parts[i].data_option, parts[i].data);
        else if (parts[i].file)
            curl_easy_setopt (easy, parts[i].file_option, parts[i].file);
    }
    if (tls->ca_data || tls->ca_file)
        curl_easy_setopt (easy, CURLOPT_CAPATH,
                          NULL); /* this one authority, without the system's */
    if (tls->insecure) {
        curl_easy_setopt (easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt (easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    return tls->server_name ? set_server_name (easy, url, tls->server_name, lists) : 0;
}

static int set_headers (CURL *easy, const char *const *headers, struct httpc_lists *lists)
{
    struct curl_slist *list = curl_slist_append (NULL, "Expect:");

    lists->headers = list;
    for (size_t i = 0; list && headers && headers[i]; i++)
        list = curl_slist_append (lists->headers, headers[i]);
    if (!list)
        return -ENOMEM;
    curl_easy_setopt (easy, CURLOPT_HTTPHEADER, lists->headers);
    return 0;
}

static void set_method (CURL *easy, const struct httpc_options *opt)
{
    if (opt->body) {
        curl_easy_setopt (easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)opt->body_len);
        curl_easy_setopt (easy, CURLOPT_COPYPOSTFIELDS, opt->body);
        curl_easy_setopt (easy, CURLOPT_CUSTOMREQUEST, opt->method);
    } else if (strcmp (opt->method, "POST") == 0) {
        curl_easy_setopt (easy, CURLOPT_POSTFIELDSIZE, 0L);
        curl_easy_setopt (easy, CURLOPT_COPYPOSTFIELDS, "");
    } else if (strcmp (opt->method, "GET") != 0)
        curl_easy_setopt (easy, CURLOPT_CUSTOMREQUEST, opt->method);
}

int httpc_set_options (CURL *easy, const struct httpc_options *opt,
                       struct httpc_lists *lists)
{
    curl_easy_setopt (easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt (easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt (easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
    curl_easy_setopt (easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt (easy, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt (easy, CURLOPT_TCP_KEEPINTVL, 10L);
    curl_easy_setopt (easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt (easy, CURLOPT_PIPEWAIT, 1L);
    if (curl_easy_setopt (easy, CURLOPT_URL, opt->url) != CURLE_OK)
        return -ENOMEM;
    if (opt->unix_socket) {
        curl_easy_setopt (easy, CURLOPT_UNIX_SOCKET_PATH, opt->unix_socket);
        curl_easy_setopt (easy, CURLOPT_PROXY, "");
        /* curl takes all sockets of one host name for one server: do not wait for
         * another's connection. */
        curl_easy_setopt (easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
        curl_easy_setopt (easy, CURLOPT_PIPEWAIT, 0L);
    }
    if (opt->connect_only) {
        curl_easy_setopt (easy, CURLOPT_CONNECT_ONLY, 1L);
        curl_easy_setopt (easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
        curl_easy_setopt (easy, CURLOPT_PIPEWAIT, 0L);
    }
    if (opt->timeout > 0)
        curl_easy_setopt (easy, CURLOPT_TIMEOUT_MS, (long)(opt->timeout * 1000));
    set_method (easy, opt);
    int rc = set_headers (easy, opt->headers, lists);
    if (rc == 0 && opt->tls)
        rc = set_tls (easy, opt->url, opt->tls, lists);
    return rc;
}
