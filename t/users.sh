# shellcheck shell=sh
# users.sh: included before lib.sh by suites that need users and groups of their own.
#
#     T_USERS='t-alice t-bob' T_GROUPS='t-crew:t-bob' && . "$(dirname "$0")/users.sh"
#     . "$(dirname "$0")/lib.sh"
#
# The suite starts again in a mount namespace in which /etc/passwd and /etc/group have these
# users and groups, too. They vanish with the suite, and other suites never see them. A group
# entry is NAME:MEMBER,MEMBER; each user also has a group of the same name. No two suites have the
# same uids at a time: a signal to all processes of a user stays in the suite. At most 16 names.
[ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: several users"; exit 1; }

users_mount()
{
    users_dir=$(mktemp -d /tmp/fluxq-users.XXXXXX) || return
    for users_file in passwd group; do
        # shellcheck disable=SC1003
        sed '$a\' "/etc/$users_file" >"$users_dir/$users_file" || return # also without a last newline
    done
    users_id=$((1000000 + $$ * 16))
    for users_name in $T_USERS; do
        users_id=$((users_id + 1))
        echo "$users_name:x:$users_id:$users_id::/nonexistent:/bin/sh" >>"$users_dir/passwd"
        echo "$users_name:x:$users_id:" >>"$users_dir/group"
    done
    for users_name in ${T_GROUPS:-}; do
        users_id=$((users_id + 1))
        echo "${users_name%%:*}:x:$users_id:${users_name#*:}" >>"$users_dir/group"
    done
    chmod 644 "$users_dir/passwd" "$users_dir/group" &&
        mount --bind "$users_dir/passwd" /etc/passwd && mount --bind "$users_dir/group" /etc/group &&
        rm -r "$users_dir"
}

if [ "${T_USERS_MADE:-}" != $$ ]; then
    # exec keeps the pid, so the copy in the namespace knows that it is the second start.
    export T_USERS_MADE=$$
    exec unshare -m --propagation private sh "$0" "$@"
fi
unset T_USERS_MADE
users_mount || { echo "Bail out! cannot make users for the test"; exit 1; }
