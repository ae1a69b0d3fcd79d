# src/match/request: the request of a job.
MATCH_REQUEST_SOURCES = \
	src/match/request/constraint.c \
	src/match/request/shape.c \
	src/match/request/shape_describe.c

if HAVE_CMOCKA
MATCH_REQUEST_TESTS = \
	src/match/request/test/test_constraint \
	src/match/request/test/test_shape \
	src/match/request/test/test_shape_torture
src_match_request_test_test_constraint_LDADD = $(MATCH_TEST_LIBS)
src_match_request_test_test_shape_LDADD = $(MATCH_TEST_LIBS)
src_match_request_test_test_shape_torture_LDADD = $(MATCH_TEST_LIBS)
src_match_request_test_test_shape_torture_LDFLAGS = $(AM_LDFLAGS) $(TORTURE_FLAGS)
endif
