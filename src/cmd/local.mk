# src/cmd: fluxq, one binary for all commands, with one file for each (their table is generated).
# libcmd.a has everything except main(): unit tests also link it.
noinst_LIBRARIES += src/cmd/libcmd.a
src_cmd_libcmd_a_SOURCES = \
	src/cmd/client/broker.c \
	src/cmd/client/clusters.c \
	src/cmd/client/command.c \
	src/cmd/client/inside.c \
	src/cmd/client/job_option.c \
	src/cmd/client/named.c \
	src/cmd/client/send.c \
	src/cmd/client/shares.c \
	src/cmd/client/watch.c \
	src/cmd/complete.c \
	src/cmd/ctl_reserve.c \
	src/cmd/ctl_tokens.c \
	src/cmd/interactive/allocation.c \
	src/cmd/interactive/follow.c \
	src/cmd/interactive/hold.c \
	src/cmd/interactive/hold_environ.c \
	src/cmd/interactive/runstep.c \
	src/cmd/interactive/stepclient.c \
	src/cmd/print/columns.c \
	src/cmd/print/listing.c \
	src/cmd/print/nodegroup.c \
	src/cmd/print/print.c \
	src/cmd/print/lines.c \
	src/cmd/print/tsv.c \
	src/cmd/print/width.c \
	src/cmd/show/info_topology.c \
	src/cmd/show/show_job.c \
	src/cmd/show/show_named.c \
	src/cmd/show/show_priority.c \
	src/cmd/show/show_reservation.c \
	src/cmd/show/show_slurm.c \
	src/cmd/show/show_steps.c \
	src/cmd/slurm/accounts/entity.c \
	src/cmd/slurm/accounts/entity_fields.c \
	src/cmd/slurm/accounts/entity_lists.c \
	src/cmd/slurm/acct/acct_components.c \
	src/cmd/slurm/acct/acct_fields.c \
	src/cmd/slurm/acct/acct_json.c \
	src/cmd/slurm/acct/acct_rows.c \
	src/cmd/slurm/acct/acct_steps.c \
	src/cmd/slurm/acct/acct_time.c \
	src/cmd/slurm/acct/acct_values.c \
	src/cmd/slurm/acct/acct_walk.c \
	src/cmd/slurm/acct/sacct_match.c \
	src/cmd/slurm/acct/sacct_options.c \
	src/cmd/slurm/acct/squeue_steps.c \
	src/cmd/slurm/control/scontrol_jobs.c \
	src/cmd/slurm/control/scontrol_json.c \
	src/cmd/slurm/control/scontrol_reserve.c \
	src/cmd/slurm/control/scontrol_show.c \
	src/cmd/slurm/control/scontrol_show_job.c \
	src/cmd/slurm/control/scontrol_show_license.c \
	src/cmd/slurm/control/scontrol_show_node.c \
	src/cmd/slurm/control/scontrol_token.c \
	src/cmd/slurm/control/scontrol_show_step.c \
	src/cmd/slurm/control/scontrol_update.c \
	src/cmd/slurm/jobs/job_components.c \
	src/cmd/slurm/jobs/job_fields.c \
	src/cmd/slurm/jobs/job_filter.c \
	src/cmd/slurm/jobs/job_json.c \
	src/cmd/slurm/jobs/job_rows.c \
	src/cmd/slurm/jobs/job_sort.c \
	src/cmd/slurm/jobs/job_values.c \
	src/cmd/slurm/jobs/jobview.c \
	src/cmd/slurm/jobs/jobview_components.c \
	src/cmd/slurm/jobs/jobview_details.c \
	src/cmd/slurm/jobs/known_users.c \
	src/cmd/slurm/jobs/sprio_fields.c \
	src/cmd/slurm/jobs/squeue_options.c \
	src/cmd/slurm/nodes/node_json.c \
	src/cmd/slurm/nodes/nodeview.c \
	src/cmd/slurm/nodes/sinfo_fields.c \
	src/cmd/slurm/nodes/sinfo_lines.c \
	src/cmd/slurm/nodes/sinfo_options.c \
	src/cmd/slurm/nodes/sinfo_states.c \
	src/cmd/slurm/report/reports.c \
	src/cmd/slurm/report/usage.c \
	src/cmd/slurm/words/format.c \
	src/cmd/slurm/words/list_format.c \
	src/cmd/slurm/words/pairs.c \
	src/cmd/slurm/words/record.c \
	src/cmd/slurm/words/words.c \
	src/cmd/submit/submission.c \
	$(COMMANDS_FILES) $(SLURM_COMMANDS_FILES)
nodist_src_cmd_libcmd_a_SOURCES = src/cmd/table.c src/cmd/slurm/table.c
CMD_LIBS = src/cmd/libcmd.a $(NET_CLIENT_LIBS) $(READLINE_LIBS)

bin_PROGRAMS += src/cmd/fluxq
src_cmd_fluxq_SOURCES = src/cmd/main.c
src_cmd_fluxq_LDADD = $(CMD_LIBS)

if HAVE_CMOCKA
CMD_TESTS = src/cmd/test/test_complete src/cmd/print/test/test_lines \
	src/cmd/print/test/test_listing \
	src/cmd/slurm/test/test_format src/cmd/slurm/test/test_sacct \
	src/cmd/slurm/test/test_scontrol \
	src/cmd/slurm/test/test_sinfo
check_PROGRAMS += $(CMD_TESTS)
UNIT_TESTS += $(CMD_TESTS)
src_cmd_test_test_complete_SOURCES = src/cmd/test/test_complete.c
src_cmd_test_test_complete_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)
src_cmd_slurm_test_test_scontrol_SOURCES = src/cmd/slurm/test/test_scontrol.c
src_cmd_slurm_test_test_scontrol_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)
src_cmd_slurm_test_test_sacct_SOURCES = src/cmd/slurm/test/test_sacct.c
src_cmd_slurm_test_test_sacct_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)
src_cmd_slurm_test_test_sinfo_SOURCES = src/cmd/slurm/test/test_sinfo.c
src_cmd_slurm_test_test_sinfo_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)
src_cmd_print_test_test_lines_SOURCES = src/cmd/print/test/test_lines.c
src_cmd_print_test_test_lines_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)
src_cmd_print_test_test_listing_SOURCES = src/cmd/print/test/test_listing.c
src_cmd_print_test_test_listing_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)
src_cmd_slurm_test_test_format_SOURCES = src/cmd/slurm/test/test_format.c
src_cmd_slurm_test_test_format_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)
endif
