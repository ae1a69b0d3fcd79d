# t: system tests (sharness, run by prove) of the programs in the build tree. contrib/check runs
# the tests of the cluster, t4xxx, after it has built and started the cluster.

# Runs after "all", in a make of its own: "all" is a second make, too, and two of them at once
# would both compile the common sources of programs and tests, and damage each other's files.
build-tests: all
	@$(MAKE) $(AM_MAKEFLAGS) $(check_PROGRAMS)
list-unit-tests:
	@for t in $(UNIT_TESTS); do echo $$t; done

SYSTEM_TESTS = $(wildcard $(srcdir)/t/t[0-3]*.t)
check-local: check-TESTS
	FLUXQ_SOURCE_DIR='$(abs_top_srcdir)' FLUXQ_BUILD_DIR='$(abs_top_builddir)' \
	  prove $(SYSTEM_TESTS)

clean-local:
	rm -rf t/trash\ directory.* t/test-results

.PHONY: build-tests list-unit-tests
