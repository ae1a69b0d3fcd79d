/* link.c - whole frames over the socket to the agent, see link.h */
#include "pmix/link.h"

#include <pthread.h>
#include <sys/socket.h>

#include "common/io.h"

#define RECEIVE (2 * (FRAME_HEAD + FRAME_DATA_MAX))

struct pmix_link {
    int fd;
    pthread_mutex_t sending;
    char *buf; /* [RECEIVE] */
    size_t at, len;
};

struct pmix_link *pmix_link_create (int fd)
{
    struct pmix_link *link = calloc (1, sizeof (*link));

    if (link && !(link->buf = malloc (RECEIVE))) {
        free (link);
        return NULL;
    }
    if (!link)
        return NULL;
    link->fd = fd;
    pthread_mutex_init (&link->sending, NULL);
    return link;
}

void pmix_link_destroy (struct pmix_link *link)
{
    if (!link)
        return;
    close (link->fd);
    pthread_mutex_destroy (&link->sending);
    free (link->buf);
    free (link);
}

static void send_frame (struct pmix_link *link, const struct frame *frame)
{
    uint8_t head[FRAME_HEAD];

    frame_encode_head (frame, head);
    if (io_write_all (link->fd, head, sizeof (head)) < 0
        || io_write_all (link->fd, frame->data, frame->len) < 0)
        shutdown (link->fd, SHUT_RDWR);
}

void pmix_link_send (struct pmix_link *link, const struct frame *frame)
{
    pthread_mutex_lock (&link->sending);
    send_frame (link, frame);
    pthread_mutex_unlock (&link->sending);
}

void pmix_link_send_pieces (struct pmix_link *link, const struct frame *head,
                            const char *data, size_t len)
{
    struct frame piece = *head;

    do {
        piece.data = data;
        piece.len = (uint32_t)MIN (len, (size_t)FRAME_DATA_MAX);
        data += piece.len;
        len -= piece.len;
        piece.stream = len == 0;
        pmix_link_send (link, &piece);
    } while (len > 0);
}

int pmix_link_receive (struct pmix_link *link, struct frame *ret, struct error *err)
{
    for (;;) {
        ssize_t n = frame_parse (link->buf + link->at, link->len - link->at, ret);
        if (n < 0)
            return error_set (err, EPROTO, "the agent sent an invalid frame");
        if (n > 0) {
            link->at += (size_t)n;
            return 1;
        }
        memmove (link->buf, link->buf + link->at, link->len - link->at);
        link->len -= link->at;
        link->at = 0;
        n = recv (link->fd, link->buf + link->len, RECEIVE - link->len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? 0 : error_errno (err, errno, "the socket to the agent");
        link->len += (size_t)n;
    }
}
