#!/bin/sh
# t0180-image.t: the container image of fluxq, without a cluster. t4600 runs the image in a cluster.

test_description='contrib/image makes a complete, small and reproducible archive'
. "$(dirname "$0")/lib.sh"
image=$FLUXQ_SOURCE_DIR/contrib/image

# Unpacks into DIR the layers that the archive's index names by way of the manifest; fails if a
# digest is wrong.
unpack()
{
    mkdir -p "$2" && tar xf "$1" -C "$2" && (
        cd "$2/blobs/sha256" && for f in *; do
            echo "$f  $f" | sha256sum --check --quiet - || exit 1
        done
    ) &&
        manifest=$(jq -r '.manifests[0].digest' "$2/index.json") &&
        layer=$(jq -r '.layers[0].digest' "$2/blobs/sha256/${manifest#sha256:}") &&
        mkdir "$2/root" && tar xf "$2/blobs/sha256/${layer#sha256:}" -C "$2/root"
}

test_expect_success 'one build gives the same image bytes twice' '
    "$image" --output one.tar --tag localhost/fluxq:test >said && grep "^localhost/fluxq:test: one.tar, [0-9]* MiB" said &&
    "$image" --output two.tar --tag localhost/fluxq:test && cmp one.tar two.tar
'

test_expect_success 'index, manifest and configuration of the image fit together' '
    unpack one.tar one &&
    [ "$(jq -r ".manifests[0].annotations[\"io.containerd.image.name\"]" one/index.json)" = localhost/fluxq:test ] &&
    [ "$(jq -r ".[0].RepoTags[0]" one/manifest.json)" = localhost/fluxq:test ] &&
    config=$(jq -r .config.digest "one/blobs/sha256/${manifest#sha256:}") &&
    jq . "one/blobs/sha256/${config#sha256:}" >config.json &&
    [ "$(jq -r .config.User config.json)" = 65532:65532 ] &&
    [ "$(jq -r ".rootfs.diff_ids[0]" config.json)" = "$layer" ] &&
    [ -x "one/root$(jq -r ".config.Entrypoint[0]" config.json)" ]
'

test_expect_success 'the image has the needed programs and no needless files' '
    (cd one/root && find . -type f -o -type l) | sort >files &&
    grep "/sbin/fluxqd$" files && grep "/bin/fluxq-submit$" files && grep "/fluxq-shell$" files &&
    grep "/fluxq-run$" files && grep "^./etc/ssl/certs/ca-certificates.crt$" files && grep "^./usr/sbin/munged$" files &&
    ! grep "/sh$\|fluxq-match\|fluxq-pmix\|/man/\|\.[oa]$" files &&
    [ -x one/root/fluxq ] && [ -L one/root/fluxq/fluxq-shell ] &&
    grep "^fluxq:x:65532:65532:" one/root/etc/passwd
'

test_expect_success ROOT 'the programs of the image find all their libraries' '
    for program in "$(sed -n "s|^\.\(.*/sbin/fluxqd\)$|\1|p" files)" "$(sed -n "s|^\.\(.*/bin/fluxq-submit\)$|\1|p" files)" \
        /fluxq/fluxq-shell /usr/sbin/munged; do
        chroot one/root "$program" --version >version && [ -s version ] || return 1
    done
'

test_expect_success 'the agent copies itself under all its names if it has the requested version' '
    digest=$(sha256sum <"$FLUXQ_BUILD_DIR/src/shell/fluxq-shell") && digest=${digest%% *} && mkdir bin &&
    agent=one/root$(readlink one/root/fluxq/fluxq-shell) &&
    "$agent" install "$PWD/bin" "$digest" && "$agent" install "$PWD/bin" "$(echo $digest | cut -c1-10)" &&
    echo text >script && "$agent" install "$PWD/bin" "$digest" "$PWD/script" && cmp script bin/script && [ -x bin/script ] &&
    test_expect_code 1 "$agent" install "$PWD/bin" "$digest" "$PWD/none" 2>error && grep none error &&
    cmp "$agent" bin/fluxq-shell && bin/fluxq-run --help >help && grep fluxq-run help && bin/fluxq-bcast --help >help && grep fluxq-bcast help &&
    test_expect_code 5 "$agent" install "$PWD/bin" 0123456789 2>error && grep "must be of the broker.s version" error &&
    test_expect_code 1 "$agent" install "$PWD/nowhere" "$digest" 2>error && grep nowhere error &&
    test_expect_code 2 "$agent" install bin "$digest" 2>error && test_expect_code 2 "$agent" install "$PWD/bin" "" 2>error
'

test_expect_success 'wrong arguments are refused with a one-line error' '
    test_expect_code 1 "$image" --output x.tar --tag untagged 2>error && grep "untagged: a tag is missing" error &&
    test_expect_code 1 "$image" "$PWD/one" 2>error && grep "nothing is built there" error &&
    test_expect_code 1 "$image" --output nowhere/x.tar 2>error && grep nowhere error &&
    test_expect_code 2 "$image" --what 2>error && test_expect_code 2 "$image" --tag 2>error &&
    "$image" --help >help && grep -e "--output FILE" help
'

test_done
