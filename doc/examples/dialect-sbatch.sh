#!/bin/sh
# A script in sbatch's dialect; dialect-flux.sh and dialect-fluxq.sh ask for the same in theirs.
#SBATCH --job-name=dialect
#SBATCH -N 2 -n 2
#SBATCH --time=5
#SBATCH --output=dialect-%j.out
echo "$SLURM_JOB_NAME: $SLURM_NTASKS tasks on $SLURM_NNODES nodes"
