/* watchdog.c - see watchdog.h */
#include "broker/watchdog.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "common/log.h"
#include "common/parse.h"

#define FEEDS 3 /* messages in the time that systemd waits */

static struct {
    struct sockaddr_un to; /* sun_family 0: no socket */
    socklen_t len;
    uint64_t feed_ms; /* 0: no watchdog */
    uv_timer_t timer;
} dog;

static int64_t number_of (const char *variable)
{
    const char *text = getenv (variable);
    int64_t n;

    return text && parse_int (text, 1, INT64_MAX, &n, variable, NULL) == 0 ? n : 0;
}

static void tell (const char *text)
{
    if (dog.to.sun_family == 0)
        return;
    int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0
        || sendto (fd, text, strlen (text), MSG_NOSIGNAL | MSG_DONTWAIT,
                   (const struct sockaddr *)&dog.to, dog.len)
               < 0)
        log_warning ("systemd could not be told %s: %m", text);
    if (fd >= 0)
        close (fd);
}

void watchdog_init (void)
{
    const char *path = getenv ("NOTIFY_SOCKET");
    int64_t pid = number_of ("WATCHDOG_PID");

    if (path && (path[0] == '/' || path[0] == '@')
        && strlen (path) < sizeof (dog.to.sun_path)) {
        dog.to.sun_family = AF_UNIX;
        memcpy (dog.to.sun_path, path, strlen (path));
        dog.len = (socklen_t)(offsetof (struct sockaddr_un, sun_path) + strlen (path));
        if (path[0] == '@') /* an abstract name */
            dog.to.sun_path[0] = '\0';
    }
    if (pid == 0 || pid == getpid ())
        dog.feed_ms = (uint64_t)number_of ("WATCHDOG_USEC") / 1000 / FEEDS;
    unsetenv ("NOTIFY_SOCKET");
    unsetenv ("WATCHDOG_PID");
    unsetenv ("WATCHDOG_USEC");
}

static void feed (uv_timer_t *timer)
{
    (void)timer;
    tell ("WATCHDOG=1");
}

void watchdog_begin (uv_loop_t *loop)
{
    tell ("READY=1");
    if (dog.to.sun_family == 0 || dog.feed_ms == 0)
        return;
    uv_timer_init (loop, &dog.timer);
    uv_timer_start (&dog.timer, feed, 0, dog.feed_ms);
    uv_unref ((uv_handle_t *)&dog.timer);
}

void watchdog_end (void)
{
    tell ("STOPPING=1");
    if (dog.feed_ms > 0 && dog.to.sun_family != 0)
        uv_close ((uv_handle_t *)&dog.timer, NULL);
}
