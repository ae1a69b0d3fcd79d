# doc and etc: files that are installed beside the programs. New pages need not be listed anywhere;
# dist-hook in the top Makefile.am takes all of doc/ and etc/ into a release.
man1_MANS = $(wildcard $(srcdir)/doc/man/*.1)
man5_MANS = $(wildcard $(srcdir)/doc/man/*.5)
man7_MANS = $(wildcard $(srcdir)/doc/man/*.7)
man8_MANS = $(wildcard $(srcdir)/doc/man/*.8)

doc_DATA = $(wildcard $(srcdir)/doc/*.md) $(srcdir)/doc/openapi.yaml
guidedir = $(docdir)/guide
guide_DATA = $(wildcard $(srcdir)/doc/guide/*.md)
exampledir = $(docdir)/examples
example_DATA = $(srcdir)/etc/fluxq.yaml $(srcdir)/etc/fluxqd-kube.conf $(wildcard $(srcdir)/doc/examples/*.c)
example_SCRIPTS = $(wildcard $(srcdir)/doc/examples/*.sh)

unitdir = $(prefix)/lib/systemd/system
nodist_unit_DATA = etc/fluxqd.service
etc/fluxqd.service: $(srcdir)/etc/fluxqd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc && sed -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@bindir[@]|$(bindir)|g' \
	  $(srcdir)/etc/fluxqd.service.in >$@.new && mv $@.new $@
CLEANFILES += etc/fluxqd.service
