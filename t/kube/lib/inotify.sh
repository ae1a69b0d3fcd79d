# shellcheck shell=bash
# lib/inotify.sh: the only kernel parameter of the machine that clusters must change.
#
# A node uses 8 inotify instances and root has 128 by default: enough for one cluster, but not for
# several. The first cluster raises the limit and records the old value; the last cluster restores it.
# An instance counts while its namespace has a name: `up` makes the name before it calls these
# functions, and `down` removes the name before, so that of two clusters that end at the same time
# the later one sees that it is the last.

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

restore_inotify() { # after the namespace's name was removed
    [[ ! -e $INOTIFY_NOTE ]] || { mkdir -p /run/netns && with_inotify_lock inotify_restore_locked; }
}
