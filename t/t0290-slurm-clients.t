#!/bin/sh
test_description='programs of others that are written for Slurm run unchanged'
. "$(dirname "$0")/lib.sh"

# t/clients/run installs the programs from PyPI into a directory of this test, without a blank in its name
# (dask-jobqueue does not quote it), and has a broker of its own. All clients, and the comparison with a real Slurm,
# are in `t/clients/run --all`.
if answer=$(python3 -m venv probe 2>&1 && probe/bin/python -m pip download --disable-pip-version-check --no-deps \
    --dest probe simple_slurm==0.3.6 2>&1); then
    test_set_prereq PYPI
elif ! echo "$answer" | grep -iqE 'connection|timed out|temporary failure in name resolution|unreachable'; then
    echo "$answer" | sed 's/^/# /'
    test_set_prereq PYPI # the reason is another one: the tests will show it
else
    echo "# no clients: PyPI cannot be reached from here"
fi

client()
{
    "$FLUXQ_SOURCE_DIR/t/clients/run" --no-slurm --cache "$FLUXQ_RUN/packages" "$@"
}

for name in simple_slurm dask_jobqueue submitit; do
    test_expect_success PYPI "$name submits work, and gets the results" "
        client $name >out 2>&1; status=\$?
        cat out && test \$status -eq 0 && grep '^$name .*fluxq  passed' out
    "
done

test_expect_success 'the runner names unknown clients, and fails if a client does' '
    test_expect_code 2 client nobody 2>err && grep "unknown client nobody; there are .*submitit" err &&
    mkdir -p copy/clients && cp "$FLUXQ_SOURCE_DIR"/t/clients/[a-z]* copy/clients &&
    printf "sbatch --parsable -o /dev/null --wrap true\nexit 3\n" >copy/clients/broken.sh &&
    test_expect_code 1 copy/clients/run --no-slurm --cache "$FLUXQ_RUN/packages" broken >out &&
    grep "^broken .*fluxq  FAILED" out && grep "exit status 3" out
'

test_expect_success 'the runner names the programs and the packages of R that a client lacks' '
    printf "# needs: nowhere\n" >copy/clients/lacking.sh && printf "# r-needs: nothing\n" >copy/clients/lacking_r.R &&
    mkdir bin && printf "#!/bin/sh\nexit 1\n" >bin/Rscript && chmod +x bin/Rscript &&
    test_expect_code 1 env PATH="$PWD/bin:$PATH" copy/clients/run --no-slurm lacking lacking_r >out &&
    grep "^lacking  *cannot run: this machine has no nowhere$" out &&
    grep "^lacking_r  *cannot run: this machine has no nothing (R)$" out
'

test_done
