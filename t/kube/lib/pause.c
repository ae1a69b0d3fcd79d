/* pause: the first process of every pod in the test cluster's pause image. It holds
 * the pod's namespaces, collects orphans and ends at SIGTERM or SIGINT. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int sig)
{
    (void)sig;
    _exit(0);
}

int main(void)
{
    sigset_t chld;
    int sig;

    signal(SIGTERM, end);
    signal(SIGINT, end);
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    for (;;) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        sigwait(&chld, &sig);
    }
}
