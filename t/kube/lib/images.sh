# shellcheck shell=bash
# lib/images.sh: the two images that every node gets, from what Debian has installed.

make_pause_image() { # DIRECTORY to work in; leaves pause.tar there
    gcc -std=gnu11 -Os -static -s -o "$1/pause" "$KUBE/lib/pause.c"
    "$KUBE/image" "$1/pause.tar" localhost/fluxq-pause:1 --file "/pause=$1/pause" \
        --entrypoint /pause --user 65535:65535
    rm "$1/pause"
}

make_busybox_image() { # DIRECTORY to work in; leaves busybox.tar there
    local busybox applet args=()
    busybox=$(command -v busybox)
    for applet in $("$busybox" --list); do
        [[ $applet == busybox ]] || args+=(--link "/bin/$applet=busybox")
    done
    "$KUBE/image" "$1/busybox.tar" docker.io/library/busybox:1 \
        --file "/bin/busybox=$busybox" "${args[@]}" --cmd sh \
        --text '/etc/passwd=root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' \
        --text '/etc/group=root:x:0:\nnogroup:x:65534:\n' \
        --link /usr/bin/env=../../bin/busybox \
        --dir /tmp=1777 --dir /root=700 --dir /dev --dir /proc --dir /sys \
        --dir /run --dir /var --dir /home
}
