# doc and etc: files that are installed beside the programs. New pages need not be listed anywhere;
# dist-hook in the top Makefile.am takes all of doc/ and etc/ into a release.
man1_MANS = $(wildcard $(srcdir)/doc/man/*.1)
man5_MANS = $(wildcard $(srcdir)/doc/man/*.5)
man7_MANS = $(wildcard $(srcdir)/doc/man/*.7)
man8_MANS = $(wildcard $(srcdir)/doc/man/*.8)

doc_DATA = $(wildcard $(srcdir)/doc/*.md) $(srcdir)/doc/openapi.yaml $(srcdir)/doc/openapi-slurm.yaml
guidedir = $(docdir)/guide
guide_DATA = $(wildcard $(srcdir)/doc/guide/*.md)
exampledir = $(docdir)/examples
example_DATA = $(srcdir)/etc/fluxq.yaml $(srcdir)/etc/fluxqd-kube.conf $(wildcard $(srcdir)/doc/examples/*.c)
example_SCRIPTS = $(wildcard $(srcdir)/doc/examples/*.sh)

unitdir = $(prefix)/lib/systemd/system
UNITS = etc/fluxqd.service etc/fluxqd-user.conf etc/fluxq-launch@.service
nodist_unit_DATA = etc/fluxqd.service etc/fluxq-launch@.service $(srcdir)/etc/fluxq-launch.socket
nodist_example_DATA = etc/fluxqd-user.conf
$(UNITS): etc/%: $(srcdir)/etc/%.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc && sed -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@bindir[@]|$(bindir)|g' \
	  -e 's|@fluxqexecdir[@]|$(fluxqexecdir)|g' $< >$@.new && mv $@.new $@
CLEANFILES += $(UNITS)

# Completion for shells. bash and fish look for a file with the command's name, so each command has
# a link to the one file.
COMPLETED = fluxq $(COMMAND_LINKS) $(SLURM_COMMANDS)
COMPLETIONS = etc/completion/fluxq.bash etc/completion/_fluxq etc/completion/fluxq.fish
bashcompletiondir = $(datadir)/bash-completion/completions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
zshcompletiondir = $(datadir)/zsh/site-functions
nodist_zshcompletion_DATA = etc/completion/_fluxq
all-local: $(COMPLETIONS)
$(COMPLETIONS): etc/completion/%: $(srcdir)/etc/completion/%.in $(srcdir)/src/found.mk Makefile
	$(AM_V_GEN)$(MKDIR_P) etc/completion && sed -e 's|@COMMANDS[@]|$(COMPLETED)|' $< >$@.new && mv $@.new $@
CLEANFILES += $(COMPLETIONS)
install-completion: $(COMPLETIONS)
	$(MKDIR_P) "$(DESTDIR)$(bashcompletiondir)" "$(DESTDIR)$(fishcompletiondir)"
	$(INSTALL_DATA) etc/completion/fluxq.bash "$(DESTDIR)$(bashcompletiondir)/fluxq"
	$(INSTALL_DATA) etc/completion/fluxq.fish "$(DESTDIR)$(fishcompletiondir)/fluxq.fish"
	for l in $(filter-out fluxq,$(COMPLETED)); do \
	  ln -sf fluxq "$(DESTDIR)$(bashcompletiondir)/$$l"; \
	  ln -sf fluxq.fish "$(DESTDIR)$(fishcompletiondir)/$$l.fish"; done
uninstall-completion:
	for l in $(COMPLETED); do \
	  rm -f "$(DESTDIR)$(bashcompletiondir)/$$l" "$(DESTDIR)$(fishcompletiondir)/$$l.fish"; done
.PHONY: install-completion uninstall-completion
install-data-local: install-completion
uninstall-local: uninstall-completion
