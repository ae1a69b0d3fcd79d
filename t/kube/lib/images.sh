# shellcheck shell=bash
# lib/images.sh: the two images of every node, made from installed Debian packages.

make_pause_image() { # DIRECTORY to work in; leaves pause.tar there
    gcc -std=gnu11 -Os -static -s -o "$1/pause" "$KUBE/lib/pause.c"
    "$KUBE/image" "$1/pause.tar" localhost/fluxq-pause:1 --file "/pause=$1/pause" \
        --entrypoint /pause --user 65535:65535
    rm "$1/pause"
}

# Prints options of t/kube/image, one a line: busybox under all its names, users and directories.
busybox_options() {
    local busybox applet
    busybox=$(command -v busybox)
    printf '%s\n' --file "/bin/busybox=$busybox"
    for applet in $("$busybox" --list); do
        [[ $applet == busybox ]] || printf '%s\n' --link "/bin/$applet=busybox"
    done
    printf '%s\n' \
        --text '/etc/passwd=root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' \
        --text '/etc/group=root:x:0:\nnogroup:x:65534:\n' \
        --link /usr/bin/env=../../bin/busybox \
        --dir /tmp=1777 --dir /root=700 --dir /dev --dir /proc --dir /sys \
        --dir /run --dir /var --dir /home
}

make_busybox_image() { # DIRECTORY to work in; leaves busybox.tar there
    local options
    mapfile -t options < <(busybox_options)
    "$KUBE/image" "$1/busybox.tar" docker.io/library/busybox:1 "${options[@]}" --cmd sh
}
