# Snakemake: rules as jobs of Slurm, a rule of two nodes with srun, a rule that fails and is tried again
# limit: 400
set -eu
cat >Snakefile <<'EOF'
rule all:
    input: "sum.txt", "mpi.txt", "again.txt"

rule number:
    output: "number.{n}.txt"
    resources: mem_mb=50, runtime=5
    shell: "echo {wildcards.n} >{output}"

rule sum:
    input: expand("number.{n}.txt", n=range(1, 4))
    output: "sum.txt"
    threads: 2
    resources: mem_mb=50, runtime=5
    shell: "cat {input} | paste -sd+ | tee /dev/stderr | sed 's/$/ = 6/' >{output} && test $SLURM_CPUS_PER_TASK = 2"

rule mpi:
    output: "mpi.txt"
    resources: mem_mb=50, runtime=5, tasks=2, nodes=2, mpi="srun"
    shell: "{resources.mpi} -n {resources.tasks} sh -c 'echo $SLURM_PROCID of $SLURM_NTASKS' | sort >{output}"

rule again:
    output: "again.txt"
    retries: 1
    resources: mem_mb=50, runtime=5
    shell: "if test -e tried; then echo second >{output}; else touch tried; exit 3; fi"
EOF
snakemake --executor slurm --jobs 4 --default-resources slurm_account=users slurm_partition=batch \
    --latency-wait 10 --slurm-init-seconds-before-status-checks 2 --seconds-between-status-checks 2 \
    --slurm-requeue >out 2>&1 || { cat out >&2 && exit 1; }
for file in sum.txt mpi.txt again.txt; do
    echo "$file: $(tr '\n' ';' <$file)"
done
test "$(cat sum.txt)" = "1+2+3 = 6"
test "$(tr '\n' ';' <mpi.txt)" = "0 of 2;1 of 2;"
grep -q second again.txt
