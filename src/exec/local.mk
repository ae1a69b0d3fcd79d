# src/exec: executors; each folder below adds its sources in its own local.mk. The table of those
# that exist is generated (contrib/tables).
noinst_LIBRARIES += src/exec/libexec.a
src_exec_libexec_a_SOURCES = \
	src/exec/agentkey.c \
	src/exec/agentlink.c \
	src/exec/agentresize.c \
	src/exec/agentstream.c \
	src/exec/joblaunch.c \
	src/exec/mounts.c \
	src/exec/namespaces.c \
	src/exec/podset.c \
	src/exec/spaceset.c \
	src/exec/startclock.c \
	src/exec/topology.c
nodist_src_exec_libexec_a_SOURCES = src/exec/table.c
