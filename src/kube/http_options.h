/* http_options.h - what a request asks of libcurl: URL, method, headers, TLS (used by
 * http.c)
 */
#pragma once

#include "kube/http.h"

#include <curl/curl.h>

/* Lists that curl borrows; the caller frees them after the handle. */
struct httpc_lists {
    struct curl_slist *headers, *connect_to;
};

/* Sets all of *opt but its callbacks and limits. 0, -ENOMEM, or -EINVAL: not a URL. */
int httpc_set_options (CURL *easy, const struct httpc_options *opt,
                       struct httpc_lists *lists);
