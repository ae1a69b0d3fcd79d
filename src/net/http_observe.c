/* http_observe.c - tells the server's observer of each answer, and where a request comes from
 *
 * A request takes the observer of the server when it begins, because it may be answered
 * after the server has ended.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "net/http_private.h"

/* -- the observer -- */

void http_server_set_observer (struct http_server *s, http_answered_f fn)
{
    s->observer = fn;
}

void http_request_observe (struct http_request *req)
{
    req->observer = req->server->observer;
    req->observer_arg = req->server->arg;
}

void http_request_answered (struct http_request *req, int status, const char *code)
{
    http_answered_f fn = req->observer;

    req->observer = NULL;
    if (fn)
        fn (req, status, code, req->observer_arg);
}

bool http_request_is_observed (const struct http_request *req)
{
    return req->observer;
}

void http_request_set_note (struct http_request *req, void *note)
{
    free (req->note);
    req->note = note;
}

void *http_request_note (const struct http_request *req)
{
    return req->note;
}

/* -- where it comes from -- */

const char *http_request_by (const struct http_request *req)
{
    return req->by;
}

void http_conn_note_address (struct http_conn *conn, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info (mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;

    if (address && address->sa_family == AF_INET)
        memcpy (&conn->address, address, sizeof (struct sockaddr_in));
    else if (address && address->sa_family == AF_INET6)
        memcpy (&conn->address, address, sizeof (struct sockaddr_in6));
}

static void print_address (const struct sockaddr_storage *address, char *buf)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    bool is_v6 = address->ss_family == AF_INET6;
    bool mapped = is_v6 && IN6_IS_ADDR_V4MAPPED (&v6->sin6_addr);
    char text[INET6_ADDRSTRLEN] = "";

    if (mapped)
        inet_ntop (AF_INET, &v6->sin6_addr.s6_addr[12], text, sizeof (text));
    else if (is_v6)
        inet_ntop (AF_INET6, &v6->sin6_addr, text, sizeof (text));
    else if (address->ss_family == AF_INET)
        inet_ntop (AF_INET, &v4->sin_addr, text, sizeof (text));
    snprintf (buf, HTTP_FROM_SIZE, is_v6 && !mapped ? "[%s]:%u" : "%s:%u", text,
              (unsigned)ntohs (is_v6 ? v6->sin6_port : v4->sin_port));
}

const char *http_request_from (const struct http_request *req, char buf[HTTP_FROM_SIZE])
{
    const struct http_conn *conn = req->conn;
    const char *from = conn ? conn->from : req->from;

    if (from || !conn || conn->guest)
        snprintf (buf, HTTP_FROM_SIZE, "%s", from ? from : "");
    else if (conn->listener->path)
        snprintf (buf, HTTP_FROM_SIZE, "pid %d", (int)conn->pid);
    else
        print_address (&conn->address, buf);
    return buf;
}

void http_request_keep_from (struct http_request *req)
{
    char buf[HTTP_FROM_SIZE];

    if (req->owned && req->observer && req->conn)
        req->from = strdup (http_request_from (req, buf));
}
