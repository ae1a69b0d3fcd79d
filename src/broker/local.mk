# src/broker: fluxqd
noinst_LIBRARIES += src/broker/libbroker.a
src_broker_libbroker_a_SOURCES = \
	src/broker/adopt.c \
	src/broker/api.c \
	src/broker/api_admin.c \
	src/broker/api_job.c \
	src/broker/api_list.c \
	src/broker/api_reserve.c \
	src/broker/array.c \
	src/broker/avoid.c \
	src/broker/broker.c \
	src/broker/callers.c \
	src/broker/cancel.c \
	src/broker/columns.c \
	src/broker/config.c \
	src/broker/config_queue.c \
	src/broker/config_value.c \
	src/broker/correspond.c \
	src/broker/deadline.c \
	src/broker/depend.c \
	src/broker/follow.c \
	src/broker/foresee.c \
	src/broker/history.c \
	src/broker/job_ids.c \
	src/broker/jobs.c \
	src/broker/jobuse.c \
	src/broker/lifecycle.c \
	src/broker/limit.c \
	src/broker/malleable.c \
	src/broker/moves.c \
	src/broker/namelist.c \
	src/broker/nodegroups.c \
	src/broker/nodes.c \
	src/broker/pause.c \
	src/broker/placing.c \
	src/broker/plan.c \
	src/broker/priority.c \
	src/broker/privacy.c \
	src/broker/queuenodes.c \
	src/broker/queueusers.c \
	src/broker/recover.c \
	src/broker/relay.c \
	src/broker/reload.c \
	src/broker/reservation.c \
	src/broker/reserve.c \
	src/broker/reserve_job.c \
	src/broker/resize.c \
	src/broker/sizes.c \
	src/broker/serialize.c \
	src/broker/start.c \
	src/broker/subuid.c \
	src/broker/submit.c \
	src/broker/suspects.c \
	src/broker/urgency.c \
	src/broker/userlimits.c \
	src/broker/users.c \
	src/broker/watch.c \
	src/broker/watchdog.c

sbin_PROGRAMS += src/broker/fluxqd
src_broker_fluxqd_SOURCES = src/broker/main.c
src_broker_fluxqd_LDADD = $(BROKER_LIBS)

if HAVE_CMOCKA
BROKER_TESTS = src/broker/test/test_config src/broker/test/test_moves \
	src/broker/test/test_queueusers src/broker/test/test_subuid
check_PROGRAMS += $(BROKER_TESTS)
UNIT_TESTS += $(BROKER_TESTS)
src_broker_test_test_config_LDADD = $(BROKER_LIBS) $(CMOCKA_LIBS)
src_broker_test_test_moves_LDADD = $(BROKER_LIBS) $(CMOCKA_LIBS)
src_broker_test_test_queueusers_LDADD = $(BROKER_LIBS) $(CMOCKA_LIBS)
src_broker_test_test_subuid_LDADD = $(BROKER_LIBS) $(CMOCKA_LIBS)
endif
