#!/bin/sh
test_description='bash, zsh and fish complete the commands of both faces'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
completion=$FLUXQ_BUILD_DIR/etc/completion
start_broker

talk()
{
    python3 "$FLUXQ_SOURCE_DIR/t/helper/pty-talk.py" "$@"
}

# bash_words LINE: what bash offers at the end of the line.
bash_words()
{
    bash --norc -c '. "$1"; COMP_LINE=$2; COMP_POINT=${#2}; _fluxq "${2%% *}"; printf "%s\n" "${COMPREPLY[@]}"' bash "$completion/fluxq.bash" "$1" 2>&1 |
        grep -v "compopt: not currently"
}

fish_words()
{
    HOME=$PWD fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$completion/fluxq.fish" "$1" | sort
}

# prints WORD... -- COMMAND...: the command prints these words, one a line.
prints()
{
    : >wanted
    while [ "$1" != -- ]; do
        echo "$1" >>wanted && shift
    done
    shift && "$@" >out && test_cmp wanted out
}

job=$(fluxq-submit --hold -o /dev/null -- true)
touch script.sh

test_expect_success 'fluxq --complete prints the words that can follow, or that files can' '
    prints --partition -- fluxq --complete "sbatch --part" && prints --ntasks-per-node -- fluxq --complete "/opt/bin/srun -N2 --ntasks-per-n" &&
    prints batch -- fluxq --complete "sbatch -p b" && prints batch -- fluxq --complete "squeue --partition=other,b" &&
    prints node2 -- fluxq --complete "sbatch --nodelist=node0,node2" && prints $job -- fluxq --complete "scancel " &&
    prints :files -- fluxq --complete "sbatch -N 2 s" && prints :files -- fluxq --complete "fluxq-submit --output=s" &&
    prints requeue requeuehold -- fluxq --complete "scontrol -o req" && prints node -- fluxq --complete "scontrol show no" &&
    prints node3 -- fluxq --complete "scontrol show node node3" && prints $job -- fluxq --complete "scontrol hold " &&
    prints tres -- fluxq --complete "sacctmgr -n show t" && prints TopUsage -- fluxq --complete "sreport user " && prints -- fluxq --complete "sreport foo " &&
    prints drain -- fluxq --complete "fluxq-ctl dr" && prints drain -- fluxq --complete "fluxq ctl dr" && prints submit -- fluxq --complete "fluxq su" &&
    prints -- fluxq --complete "nosuch --x" && prints -- fluxq --complete "sba"
'

test_expect_success 'bash' '
    prints --partition -- bash_words "sbatch --part" && prints batch -- bash_words "sbatch --partition=b" &&
    prints node0,node3 -- bash_words "sbatch -w node0,node3" && prints $job -- bash_words "scancel $job" &&
    prints script.sh -- bash_words "fluxq-submit sc" && prints --queue -- bash_words "fluxq submit --queue"
'

test_expect_success 'bash leaves a command alone that is not fluxq'"'"'s' '
    mkdir -p other && printf "#!/bin/sh\n" >other/sbatch && chmod +x other/sbatch &&
    (PATH=$PWD/other:$PATH && prints "" -- bash_words "sbatch --part")
'

test_expect_success 'bash in a terminal' '
    talk bash --norc --noprofile -i <<-END
	send PS1="ready"; . $completion/fluxq.bash; bind "set bell-style none"\n
	expect ready\$
	send squeue --noh\t--part\tb\t\n
	expect --noheader --partition batch
	expect ready\$
	send exit\n
	end
	END
'

for shell in zsh fish; do
    command -v $shell >/dev/null && test_set_prereq "$(echo $shell | tr a-z A-Z)" || echo "# no $shell: apt-get install $shell"
done

test_expect_success ZSH 'zsh in a terminal' '
    mkdir -p zsh && cp "$completion/_fluxq" zsh/ &&
    HOME=$PWD talk zsh -f -i <<-END
	send PS1=rea""dy; fpath=("$PWD/zsh" \$fpath); autoload -U compinit; compinit -u -D; unsetopt beep\n
	expect ready
	send squeue --noh\t--part\tb\t\n
	expect (?s)noheader.*partition.*batch.*JobHeldUser
	expect ready
	send squeue --partition=b\t\n
	expect (?s)partition=batch.*JOBID
	expect ready
	send sbatch -w node0,node3\t-D / scri\t\n
	expect (?s)node0,node3.*script.sh
	expect ready
	send exit 0\n
	end
	END
'

test_expect_success FISH 'fish' '
    prints --partition -- fish_words "sbatch --part" && prints --partition=batch -- fish_words "sbatch --partition=b" &&
    prints node0,node3 -- fish_words "sbatch -w node0,node3" && prints $job -- fish_words "scancel $job" &&
    prints script.sh -- fish_words "fluxq-submit sc" && fish --no-execute "$completion/fluxq.fish"
'

test_expect_success 'make install installs them for each command' '
    make -s -C "$FLUXQ_BUILD_DIR" install-completion DESTDIR="$PWD/root" prefix=/usr &&
    for command in fluxq fluxq-submit sbatch squeue; do
        bash -n "root/usr/share/bash-completion/completions/$command" && test -e "root/usr/share/fish/vendor_completions.d/$command.fish" || return 1
    done &&
    make -s -C "$FLUXQ_BUILD_DIR" uninstall-completion DESTDIR="$PWD/root" prefix=/usr && ! find root -type l | grep .
'

test_done
