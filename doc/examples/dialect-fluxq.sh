#!/bin/sh
# A script with the options of fluxq-submit.
#FLUXQ --job-name=dialect
#FLUXQ --nodes=2 --ntasks=2
#FLUXQ --time=5
#FLUXQ --output=dialect-%j.out
echo "$FLUXQ_JOB_NAME: $FLUXQ_NTASKS tasks on $FLUXQ_NNODES nodes"
