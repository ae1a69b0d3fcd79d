#!/bin/sh
#SBATCH --job-name=hello
#SBATCH --nodes=2
#SBATCH --time=1
# A batch script as Slurm users write them; it runs on the first of the two nodes.
echo "hello from $(hostname): job $FLUXQ_JOB_ID has $SLURM_NNODES nodes: $SLURM_JOB_NODELIST"
sleep 2
echo "done at $(date +%T)"
