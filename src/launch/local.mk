# src/launch: fluxq-launch, the part of the broker that is root, and the broker's side of it
noinst_LIBRARIES += src/launch/liblaunch.a
src_launch_liblaunch_a_SOURCES = \
	src/launch/launcher.c \
	src/launch/pass.c

fluxqexec_PROGRAMS += src/launch/fluxq-launch
src_launch_fluxq_launch_SOURCES = \
	src/launch/files.c \
	src/launch/main.c \
	src/launch/serve.c \
	src/launch/start.c
src_launch_fluxq_launch_LDADD = src/launch/liblaunch.a src/common/libcommon.a
