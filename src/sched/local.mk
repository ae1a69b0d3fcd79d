# src/sched: order, plan, reasons. The policies come from $(QUEUE_POLICIES_FILES).
noinst_LIBRARIES += src/sched/libsched.a
src_sched_libsched_a_SOURCES = \
	src/sched/giveback.c \
	src/sched/growth.c \
	src/sched/licenses.c \
	src/sched/order.c \
	src/sched/pass.c \
	src/sched/plan.c \
	src/sched/policy.c \
	src/sched/priority.c \
	src/sched/realm.c \
	src/sched/reason.c \
	src/sched/sched.c \
	src/sched/size.c \
	src/sched/usage.c \
	$(QUEUE_POLICIES_FILES)
nodist_src_sched_libsched_a_SOURCES = src/sched/policies/table.c

if HAVE_CMOCKA
SCHED_TESTS = \
	src/sched/test/test_giveback \
	src/sched/test/test_growth \
	src/sched/test/test_licenses \
	src/sched/test/test_order \
	src/sched/test/test_plan_random \
	src/sched/test/test_policy \
	src/sched/test/test_policy_example \
	src/sched/test/test_priority \
	src/sched/test/test_realm \
	src/sched/test/test_sched \
	src/sched/test/test_sched_random \
	src/sched/test/test_torture \
	src/sched/test/test_usage
check_PROGRAMS += $(SCHED_TESTS)
UNIT_TESTS += $(SCHED_TESTS)
SCHED_TEST_LIBS = src/match/test/libmatch_test.a $(SCHED_LIBS) $(CMOCKA_LIBS)
src_sched_test_test_giveback_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_growth_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_licenses_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_order_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_plan_random_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_policy_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_policy_example_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_priority_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_realm_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_sched_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_sched_random_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_torture_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
src_sched_test_test_usage_LDADD = $(SCHED_TEST_LIBS)
src_sched_test_test_usage_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
endif
