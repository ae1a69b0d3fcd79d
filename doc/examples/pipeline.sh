#!/bin/sh
# For the login shell, not for fluxq-submit: --wait gives the job's exit status, so jobs can be put
# together as other commands are. The second job runs only if the first went well, and gets
# what that has written.
set -e
first=$(fluxq-submit --wait -J count -- seq 1 100)
last=$(fluxq-logs --stdout "$first" | tail -n 1)
second=$(fluxq-submit --wait -J double -- expr "$last" \* 2)
fluxq-logs --stdout "$second" | sed 's/^/twice the last number is /'
