# src/match/policies: the order in which a match takes fitting vertices.
MATCH_POLICIES_SOURCES = \
	src/match/policies/policy.c \
	$(MATCH_POLICIES_FILES)

if HAVE_CMOCKA
MATCH_POLICIES_TESTS = \
	src/match/policies/test/test_policy \
	src/match/policies/test/test_policy_example
src_match_policies_test_test_policy_LDADD = $(MATCH_TEST_LIBS)
src_match_policies_test_test_policy_example_LDADD = $(MATCH_TEST_LIBS)
endif
