# shellcheck shell=bash
# lib/inotify.sh: the one kernel parameter of the machine that clusters have to change.
#
# A node takes 8 inotify instances and root has 128 by default: enough for one cluster, not
# for a few. The first cluster that goes up raises the limit and notes what it was; the last
# one that goes down puts it back. An instance counts while its namespace has a name: `up`
# makes that before it comes here, and `down` takes it away before, so that of two that go
# down at once the later one sees that it is the last.

INOTIFY_NOTE=/run/fluxq-kube-inotify
INOTIFY_LIMIT=/proc/sys/fs/inotify/max_user_instances
INOTIFY_WANTED=8192

with_inotify_lock() { # COMMAND...
    (
        flock -w 30 8 || die "another t/kube command holds /run/netns"
        "$@"
    ) 8</run/netns
}

inotify_raise_locked() {
    local now
    now=$(<$INOTIFY_LIMIT)
    ((now < INOTIFY_WANTED)) || return 0
    [[ -e $INOTIFY_NOTE ]] || { echo "$now" >$INOTIFY_NOTE.new && mv $INOTIFY_NOTE.new $INOTIFY_NOTE; }
    echo $INOTIFY_WANTED >$INOTIFY_LIMIT
}

inotify_restore_locked() {
    local other
    for other in /run/netns/fluxq*-kube; do
        [[ ! -e $other ]] || return 0
    done
    [[ $(<$INOTIFY_LIMIT) != "$INOTIFY_WANTED" ]] || cat $INOTIFY_NOTE >$INOTIFY_LIMIT
    rm -f $INOTIFY_NOTE
}

raise_inotify() { with_inotify_lock inotify_raise_locked; }

restore_inotify() { # after the namespace's name has gone
    [[ ! -e $INOTIFY_NOTE ]] || { mkdir -p /run/netns && with_inotify_lock inotify_restore_locked; }
}
