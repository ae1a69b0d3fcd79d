#!/bin/sh
# A script with the directives of flux batch (RFC 36).
# flux: --job-name=dialect
# flux: -N2 -n2
# flux: --time-limit=5m
# flux: --output=dialect-{{id}}.out
echo "dialect: $FLUX_JOB_SIZE tasks on $FLUX_JOB_NNODES nodes"
