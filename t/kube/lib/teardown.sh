# shellcheck shell=bash
# lib/teardown.sh: ends an instance, complete or partial. It asks the kernel for the instance's
# parts (namespace, cgroups, mounts) rather than the state directory, and does nothing if there
# are none.

teardown() {
    local bad=0
    end_processes || bad=1
    remove_cgroups "$NAME-node*" || bad=1
    remove_netns || bad=1
    restore_inotify || bad=1
    remove_state || bad=1
    return $bad
}

# Killing a node's first process ends everything in its pid namespace with it.
end_processes() {
    local pids
    for _ in {1..200}; do
        pids=$(pids_inside; pids_in_cgroups "$NAME-node*")
        [[ -n $pids ]] || return 0
        # shellcheck disable=SC2086
        kill -KILL $pids 2>/dev/null || true
        sleep 0.1
    done
    say "t/kube: these processes do not end: ${pids//$'\n'/ }"
    return 1
}

# The bridge and all addresses go with the namespace. /run/netns stays, as it belongs to iproute2.
# The directory of the handles stays, too: another cluster may be making its own handle there.
remove_netns() {
    if netns_exists; then
        inside ip link del "$BRIDGE" 2>/dev/null || true
    fi
    umount "$NETNS" 2>/dev/null || umount -l "$NETNS" 2>/dev/null || true
    rm -f "$NETNS" && rm -f "$NETNS_LINK"
    [[ ! -e $NETNS && ! -L $NETNS_LINK ]]
}

# Only a directory that `up` marked is removed; an empty directory is from an `up` that was killed
# before it could mark the directory.
remove_state() {
    [[ -e $RUN || -L $RUN ]] || return 0
    if [[ -O $RUN && ! -L $RUN ]] && rmdir "$RUN" 2>/dev/null; then return 0; fi
    if ! is_ours; then
        say "t/kube: $RUN was not made by t/kube/up for '$NAME': left alone"
        return 1
    fi
    local dir
    awk -v run="$RUN/" 'index($5, run) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
        while read -r dir; do umount -l "$dir"; done
    rm -rf --one-file-system "$RUN"
}
