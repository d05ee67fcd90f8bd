#!/bin/sh
# Makes the two bases of the Dockerfile from Debian's packages and this machine's Node and npm, without a registry:
# localhost/tss-build-base and localhost/tss-base. Needs buildah and mmdebstrap.
# Options of buildah, such as --root, come from BUILDAH_OPTIONS.
set -eu

suite=bookworm
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# shellcheck disable=SC2086 # the options are several words
build() {
  tag=$1
  shift
  printf '%s\n' "$@" >"$folder/Containerfile"
  buildah ${BUILDAH_OPTIONS:-} bud --quiet --isolation chroot --layers --timestamp 0 --tag "$tag" --file "$folder/Containerfile" "$folder"
}

# As in distroless images: the C and C++ libraries, certificates and time zones, no shell and no package manager.
mmdebstrap --quiet --variant=extract --include=base-files,libc6,libgcc-s1,libstdc++6,tzdata,ca-certificates \
  "$suite" "$folder/base.tar"
build localhost/tss-base "FROM scratch" "ADD base.tar /"

mmdebstrap --quiet --variant=minbase --include=ca-certificates,libstdc++6 "$suite" "$folder/build-base.tar"
cp "$(node --print process.execPath)" "$folder/node"
cp -R "$(npm root --global)/npm" "$folder/npm"
build localhost/tss-build-base \
  "FROM scratch" \
  "ADD build-base.tar /" \
  "COPY node /usr/local/bin/node" \
  "COPY npm /usr/local/lib/node_modules/npm" \
  "RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm"
