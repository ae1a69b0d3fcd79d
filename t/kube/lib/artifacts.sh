# shellcheck shell=bash
# lib/artifacts.sh: what the cluster is made of, and where in the cache each piece is.
#
# A piece's place is named after its version and a digest of all that it is made
# from: $CACHE/store/NAME-VERSION-DIGEST/. It comes into being by one rename, so a
# directory with that name is whole, and a change of a pin changes only the names of
# the pieces that it concerns.

# binary, entry of `versions` and directory below go/, Go package
readonly BINARIES="\
kube-apiserver          kubernetes k8s.io/kubernetes/cmd/kube-apiserver
kube-controller-manager kubernetes k8s.io/kubernetes/cmd/kube-controller-manager
kube-scheduler          kubernetes k8s.io/kubernetes/cmd/kube-scheduler
kubelet                 kubernetes k8s.io/kubernetes/cmd/kubelet
kubectl                 kubernetes k8s.io/kubernetes/cmd/kubectl
etcd                    etcd       go.etcd.io/etcd/server/v3
coredns                 coredns    .
kwok                    kwok       sigs.k8s.io/kwok/cmd/kwok"
readonly IMAGES="pause busybox"

version_of() { # ENTRY of `versions`
    awk -v m="$1" '$1 == m { print $2 }' "$KUBE/versions"
}

digest() { sha256sum | cut -c1-12; }

binary_place() { # ENTRY BINARY
    local dir=$KUBE/go/$1
    echo "$CACHE/store/$2-$(version_of "$1")-$(cat "$dir"/* | digest)"
}

image_place() { # IMAGE
    echo "$CACHE/store/image-$1-$({ cat "$KUBE/image" "$KUBE/lib/images.sh" "$KUBE/lib/pause.c"
        [[ $1 == pause ]] || cat "$(command -v busybox)"; } | digest)"
}

# Every piece as a line "NAME PLACE".
artifacts() {
    local binary entry image
    while read -r binary entry _; do
        echo "$binary $(binary_place "$entry" "$binary")"
    done <<<"$BINARIES"
    for image in $IMAGES; do
        echo "$image.tar $(image_place "$image")"
    done
}

missing_artifacts() {
    local name place
    artifacts | while read -r name place; do
        [[ -f $place/$name ]] || echo "$name"
    done
}
