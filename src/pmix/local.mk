# src/pmix: fluxq-pmix, which serves PMIx to the tasks of a step. Built where OpenPMIx is installed.
FLUXQ_PMIX_SOURCES = \
	src/pmix/gather.c \
	src/pmix/link.c \
	src/pmix/main.c \
	src/pmix/nspace.c \
	src/pmix/parcels.c \
	src/pmix/server.c \
	src/pmix/taskplaces.c
EXTRA_DIST += $(FLUXQ_PMIX_SOURCES)
if HAVE_PMIX
fluxqexec_PROGRAMS += src/pmix/fluxq-pmix
src_pmix_fluxq_pmix_SOURCES = $(FLUXQ_PMIX_SOURCES)
# The library's headers call functions that banned.h forbids, so they come before it.
src_pmix_fluxq_pmix_CPPFLAGS = $(patsubst -I%,-isystem%,$(PMIX_CFLAGS)) -include pmix.h -include pmix_server.h $(AM_CPPFLAGS)
src_pmix_fluxq_pmix_LDADD = $(PROTOCOL_LIBS) $(PMIX_LIBS) -lpthread
# The agent of the build tree finds the helper beside itself.
noinst_SCRIPTS += src/shell/fluxq-pmix
src/shell/fluxq-pmix: src/pmix/fluxq-pmix
	$(AM_V_GEN)ln -sf ../pmix/fluxq-pmix $@
endif

if HAVE_CMOCKA
check_PROGRAMS += src/pmix/test/test_taskplaces
UNIT_TESTS += src/pmix/test/test_taskplaces
src_pmix_test_test_taskplaces_SOURCES = src/pmix/test/test_taskplaces.c src/pmix/taskplaces.c
src_pmix_test_test_taskplaces_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
endif
