# shellcheck shell=bash
# lib/artifacts.sh: the parts of the cluster, and the place of each in the cache.
#
# The place of a part contains its version and a digest of all its inputs:
# $CACHE/store/NAME-VERSION-DIGEST/. One rename creates it, so a directory with that name is
# complete, and a change of a version changes only the names of the affected parts.

# binary, entry of `versions` and directory below go/, Go package
readonly BINARIES="\
kube-apiserver          kubernetes k8s.io/kubernetes/cmd/kube-apiserver
kube-controller-manager kubernetes k8s.io/kubernetes/cmd/kube-controller-manager
kube-scheduler          kubernetes k8s.io/kubernetes/cmd/kube-scheduler
kubelet                 kubernetes k8s.io/kubernetes/cmd/kubelet
kubectl                 kubernetes k8s.io/kubernetes/cmd/kubectl
etcd                    etcd       go.etcd.io/etcd/server/v3
coredns                 coredns    .
kwok                    kwok       sigs.k8s.io/kwok/cmd/kwok
helm-template           helm       .
kube-apiserver          kubernetes-1.37 k8s.io/kubernetes/cmd/kube-apiserver
kube-controller-manager kubernetes-1.37 k8s.io/kubernetes/cmd/kube-controller-manager
kube-scheduler          kubernetes-1.37 k8s.io/kubernetes/cmd/kube-scheduler
kueue                   kueue      sigs.k8s.io/kueue/cmd/kueue"
readonly IMAGES="pause busybox"
readonly OPTIONAL="kubernetes-1.37 kueue" # entries that are built only on request
WITH=()                                   # the requested entries

# Go module of each entry
readonly MODULES="\
kubernetes      k8s.io/kubernetes
etcd            go.etcd.io/etcd/server/v3
coredns         github.com/coredns/coredns
kwok            sigs.k8s.io/kwok
helm            helm.sh/helm/v3
kubernetes-1.37 k8s.io/kubernetes
kueue           sigs.k8s.io/kueue"

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

is_optional() { [[ " $OPTIONAL " == *" $1 "* ]]; } # ENTRY
is_wanted() { ! is_optional "$1" || [[ " ${WITH[*]} " == *" $1 "* ]]; }

# Prints every part as a line "NAME ENTRY PACKAGE PLACE"; of two with one name the later counts.
# The place is last because it may have blanks.
artifacts() {
    local binary entry package image
    while read -r binary entry package; do
        if is_wanted "$entry"; then
            echo "$binary $entry $package $(binary_place "$entry" "$binary")"
        fi
    done <<<"$BINARIES"
    for image in $IMAGES; do
        echo "$image.tar image - $(image_place "$image")"
    done
}

missing_artifacts() {
    local name entry package place
    artifacts | while read -r name entry package place; do
        [[ -f $place/$name ]] || echo "$name $entry $package $place"
    done
}
