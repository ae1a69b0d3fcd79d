#!/bin/sh
# Makes what a checkout lacks and a release has: the list of sources, configure, Makefile.in.
set -e
cd "$(dirname "$0")"
sh contrib/find-sources
exec autoreconf --force --install --warnings=all,no-portability
