# src/exec/local: jobs as processes of this machine
src_exec_libexec_a_SOURCES += \
	src/exec/local/admin.c \
	src/exec/local/agents.c \
	src/exec/local/files.c \
	src/exec/local/local.c \
	src/exec/local/recover.c \
	src/exec/local/remains.c \
	src/exec/local/resize.c \
	src/exec/local/run.c \
	src/exec/local/spool.c
