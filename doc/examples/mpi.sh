#!/bin/sh
#SBATCH --job-name=pi
#SBATCH --nodes=2 --ntasks=4
#SBATCH --time=5
#SBATCH --output=pi-%j.out
# Two parallel steps in one job: a command on all nodes, and the MPI program pi.c, compiled. The program is
# looked for in the directory from which the job was submitted, and then in PATH: on Kubernetes it may be in the
# image.
PATH=$PWD:$PATH
fluxq-run --ntasks-per-node=1 --label sh -c 'echo "step $FLUXQ_STEP_ID on $FLUXQ_NODENAME"'
fluxq-run pi 1000000
