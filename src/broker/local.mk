# src/broker: fluxqd. The services come from $(SERVICES_FILES).
noinst_LIBRARIES += src/broker/libbroker.a
src_broker_libbroker_a_SOURCES = \
	src/broker/api/api.c \
	src/broker/api/audit_note.c \
	src/broker/api/caller.c \
	src/broker/api/roles.c \
	src/broker/core/broker.c \
	src/broker/core/entry.c \
	src/broker/core/exec_job.c \
	src/broker/core/probe.c \
	src/broker/core/share_dir.c \
	src/broker/core/parts.c \
	src/broker/api/columns.c \
	src/broker/api/components.c \
	src/broker/services/audit/audit_file.c \
	src/broker/services/audit/audit_line.c \
	src/broker/config/config.c \
	src/broker/config/queue.c \
	src/broker/config/value.c \
	src/broker/services/depend/antecedents.c \
	src/broker/services/cancel_targets.c \
	src/broker/services/foresee.c \
	src/broker/services/history/history_fields.c \
	src/broker/services/history/history_row.c \
	src/broker/api/job_ids.c \
	src/broker/api/job_json.c \
	src/broker/core/jobs.c \
	src/broker/core/turn.c \
	src/broker/api/namelist.c \
	src/broker/api/privacy.c \
	src/broker/services/queueusers.c \
	src/broker/core/no_memory.c \
	src/broker/core/operators.c \
	src/broker/core/recover.c \
	src/broker/core/reload.c \
	src/broker/core/service.c \
	src/broker/services/inside/server.c \
	src/broker/services/reserve/realms.c \
	src/broker/services/reserve/reservation.c \
	src/broker/services/mail/message.c \
	src/broker/services/reserve/reserve_job.c \
	src/broker/services/reserve/reserve_nodes.c \
	src/broker/services/stream/carry.c \
	src/broker/services/stream/output_text.c \
	src/broker/services/submit/submission.c \
	src/broker/services/submit/submit_check.c \
	src/broker/services/submit/submit_details.c \
	src/broker/services/submit/submit_write.c \
	src/broker/core/sizes.c \
	src/broker/api/subuid.c \
	src/broker/core/users.c \
	src/broker/privileges.c \
	src/broker/watchdog.c $(SERVICES_FILES)
nodist_src_broker_libbroker_a_SOURCES = src/broker/core/table.c

sbin_PROGRAMS += src/broker/fluxqd
src_broker_fluxqd_SOURCES = src/broker/main.c
src_broker_fluxqd_LDADD = $(BROKER_LIBS)

if HAVE_CMOCKA
check_LIBRARIES += src/broker/core/test/libsmall.a
src_broker_core_test_libsmall_a_SOURCES = \
	src/broker/core/test/fake_agent.c \
	src/broker/core/test/fake_http.c \
	src/broker/core/test/small.c \
	src/broker/core/test/small_clock.c \
	src/broker/core/test/small_executor.c \
	src/broker/core/test/small_faults.c \
	src/broker/core/test/small_journal.c \
	src/broker/core/test/small_submit.c
SMALL_LIBS = src/broker/core/test/libsmall.a $(BROKER_LIBS) $(CMOCKA_LIBS)

BROKER_TESTS = src/broker/api/test/test_admin \
	src/broker/api/test/test_columns \
	src/broker/api/test/test_job \
	src/broker/api/test/test_list \
	src/broker/api/test/test_roles \
	src/broker/api/test/test_routes \
	src/broker/api/test/test_subuid \
	src/broker/config/test/test_config \
	src/broker/core/test/test_service_example \
	src/broker/core/test/test_small \
	src/broker/core/test/test_start \
	src/broker/core/test/test_users \
	src/broker/services/audit/test/test_audit \
	src/broker/services/audit/test/test_audit_file \
	src/broker/services/depend/test/test_array \
	src/broker/services/depend/test/test_correspond \
	src/broker/services/depend/test/test_depend \
	src/broker/services/mail/test/test_message \
	src/broker/services/nodes/test/test_avoid \
	src/broker/services/nodes/test/test_nodes_come \
	src/broker/services/nodes/test/test_node_list \
	src/broker/services/nodes/test/test_nodegroups \
	src/broker/services/nodes/test/test_nodes \
	src/broker/services/nodes/test/test_queuenodes \
	src/broker/services/nodes/test/test_suspects \
	src/broker/services/reserve/test/test_reservation \
	src/broker/services/reserve/test/test_reservations \
	src/broker/services/reserve/test/test_reserve \
	src/broker/services/reserve/test/test_reserve_job \
	src/broker/services/resize/test/test_malleable \
	src/broker/services/resize/test/test_resize \
	src/broker/services/stream/test/test_follow \
	src/broker/services/stream/test/test_relay \
	src/broker/services/stream/test/test_watch \
	src/broker/services/test/test_adopt \
	src/broker/services/test/test_cancel \
	src/broker/services/test/test_deadline \
	src/broker/services/test/test_foresee \
	src/broker/services/test/test_retention \
	src/broker/services/test/test_history \
	src/broker/services/test/test_jobuse \
	src/broker/services/test/test_limit \
	src/broker/services/test/test_runsteps \
	src/broker/services/test/test_placing \
	src/broker/services/test/test_plan \
	src/broker/services/test/test_priority \
	src/broker/services/test/test_queues \
	src/broker/services/test/test_queueusers \
	src/broker/services/test/test_reasons \
	src/broker/services/test/test_requeue \
	src/broker/services/test/test_serialize \
	src/broker/services/test/test_submit \
	src/broker/services/test/test_urgency \
	src/broker/services/test/test_userlimits \
	src/broker/services/test/test_userusage
check_PROGRAMS += $(BROKER_TESTS)
UNIT_TESTS += $(BROKER_TESTS)
# With a table of its own, in which the example is.
nodist_src_broker_core_test_test_service_example_SOURCES = src/broker/core/test/table.c
src_broker_core_test_test_service_example_SOURCES = \
	src/broker/core/test/test_service_example.c
src_broker_core_test_test_service_example_LDADD = $(SMALL_LIBS)
src_broker_core_test_test_service_example_LDFLAGS = $(SMALL_FLAGS)
src/broker/core/test/table.c: $(srcdir)/src/found.mk contrib/gen-table
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SHELL) $(srcdir)/contrib/gen-table broker_service service_ \
	  broker_services broker/core/service.h $(SERVICES) delay >$@.tmp && mv $@.tmp $@
CLEANFILES += src/broker/core/test/table.c
src_broker_config_test_test_config_LDADD = $(BROKER_LIBS) $(CMOCKA_LIBS)
src_broker_services_nodes_test_test_node_list_LDADD = $(SMALL_LIBS)
src_broker_services_nodes_test_test_node_list_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_queues_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_queues_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_reasons_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_reasons_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_userusage_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_userusage_LDFLAGS = $(SMALL_FLAGS)
src_broker_api_test_test_list_LDADD = $(SMALL_LIBS)
src_broker_api_test_test_list_LDFLAGS = $(SMALL_FLAGS)
src_broker_api_test_test_admin_LDADD = $(SMALL_LIBS)
src_broker_api_test_test_admin_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_deadline_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_deadline_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_requeue_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_requeue_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_serialize_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_serialize_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_urgency_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_urgency_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_limit_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_limit_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_runsteps_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_runsteps_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_jobuse_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_jobuse_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_history_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_history_LDFLAGS = $(SMALL_FLAGS) -Wl,--wrap=journal_ended
src_broker_services_test_test_retention_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_retention_LDFLAGS = $(SMALL_FLAGS) -Wl,--wrap=journal_old \
	-Wl,--wrap=journal_txn_prune -Wl,--wrap=journal_compact -Wl,--wrap=history_missing
src_broker_services_test_test_userlimits_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_userlimits_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_priority_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_priority_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_cancel_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_cancel_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_placing_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_placing_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_foresee_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_foresee_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_plan_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_plan_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_nodes_test_test_suspects_LDADD = $(SMALL_LIBS)
src_broker_services_nodes_test_test_suspects_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_nodes_test_test_queuenodes_LDADD = $(SMALL_LIBS)
src_broker_services_nodes_test_test_queuenodes_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_mail_test_test_message_LDADD = $(SMALL_LIBS)
src_broker_services_nodes_test_test_avoid_LDADD = $(SMALL_LIBS)
src_broker_services_mail_test_test_message_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_nodes_test_test_avoid_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_audit_test_test_audit_LDADD = $(SMALL_LIBS)
src_broker_services_audit_test_test_audit_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_audit_test_test_audit_file_LDADD = $(BROKER_LIBS) $(CMOCKA_LIBS)
src_broker_services_depend_test_test_array_LDADD = $(SMALL_LIBS)
src_broker_services_depend_test_test_array_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_depend_test_test_correspond_LDADD = $(SMALL_LIBS)
src_broker_services_depend_test_test_correspond_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_nodes_test_test_nodes_come_LDADD = $(SMALL_LIBS)
src_broker_services_nodes_test_test_nodes_come_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_queueusers_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_queueusers_LDFLAGS = $(SMALL_FLAGS)
src_broker_api_test_test_job_LDADD = $(SMALL_LIBS)
src_broker_api_test_test_job_LDFLAGS = $(SMALL_FLAGS)
src_broker_core_test_test_small_LDADD = $(SMALL_LIBS)
src_broker_core_test_test_small_LDFLAGS = $(SMALL_FLAGS)
src_broker_core_test_test_users_LDADD = $(BROKER_LIBS) $(CMOCKA_LIBS)
src_broker_core_test_test_users_LDFLAGS = -Wl,--wrap=clock_mono -Wl,--wrap=uv_queue_work \
	-Wl,--wrap=getpwuid_r
src_broker_core_test_test_start_LDADD = $(SMALL_LIBS)
src_broker_core_test_test_start_LDFLAGS = $(SMALL_FLAGS)
src_broker_api_test_test_columns_LDADD = $(SMALL_LIBS)
src_broker_api_test_test_columns_LDFLAGS = $(SMALL_FLAGS)
src_broker_api_test_test_roles_LDADD = $(SMALL_LIBS)
src_broker_api_test_test_roles_LDFLAGS = $(SMALL_FLAGS)
src_broker_api_test_test_routes_LDADD = $(SMALL_LIBS)
src_broker_api_test_test_routes_LDFLAGS = $(SMALL_FLAGS)
src_broker_api_test_test_subuid_LDADD = $(BROKER_LIBS) $(CMOCKA_LIBS)
src_broker_services_stream_test_test_watch_LDADD = $(SMALL_LIBS)
src_broker_services_stream_test_test_watch_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_stream_test_test_follow_LDADD = $(SMALL_LIBS)
src_broker_services_stream_test_test_follow_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_stream_test_test_relay_LDADD = $(SMALL_LIBS)
src_broker_services_stream_test_test_relay_LDFLAGS = $(SMALL_FLAGS) -Wl,--wrap=uv_timer_start
src_broker_services_resize_test_test_resize_LDADD = $(SMALL_LIBS)
src_broker_services_resize_test_test_resize_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_depend_test_test_depend_LDADD = $(SMALL_LIBS)
src_broker_services_depend_test_test_depend_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_nodes_test_test_nodes_LDADD = $(SMALL_LIBS)
src_broker_services_nodes_test_test_nodes_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_reserve_test_test_reserve_LDADD = $(SMALL_LIBS)
src_broker_services_reserve_test_test_reserve_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_reserve_test_test_reservation_LDADD = $(SMALL_LIBS)
src_broker_services_reserve_test_test_reservation_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_resize_test_test_malleable_LDADD = $(SMALL_LIBS)
src_broker_services_resize_test_test_malleable_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_adopt_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_adopt_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_reserve_test_test_reservations_LDADD = $(SMALL_LIBS)
src_broker_services_reserve_test_test_reservations_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_reserve_test_test_reserve_job_LDADD = $(SMALL_LIBS)
src_broker_services_reserve_test_test_reserve_job_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_test_test_submit_LDADD = $(SMALL_LIBS)
src_broker_services_test_test_submit_LDFLAGS = $(SMALL_FLAGS)
src_broker_services_nodes_test_test_nodegroups_LDADD = $(SMALL_LIBS)
src_broker_services_nodes_test_test_nodegroups_LDFLAGS = $(SMALL_FLAGS)
endif
