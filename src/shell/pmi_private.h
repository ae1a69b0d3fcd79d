/* pmi_private.h - what pmi.c, pmi1.c, pmi2.c and pmi_mapping.c share; nobody else includes it
 *
 * Phases of a task:
 *
 *     NEW --init, version 1----------------------> READY --finalize--> FINALIZED
 *      |                                           ^   ^                   |
 *      +--init, version 2--> GREETED --fullinit----+   +-------init--------+
 *
 * and from each to closed, by the end of the socket or an error. After finalize some clients
 * initialise again on the same socket (MPI sessions).
 */
#ifndef FLUXQ_SHELL_PMI_PRIVATE_H
#define FLUXQ_SHELL_PMI_PRIVATE_H

#include "common/macros.h"
#include "common/strbuf.h"
#include "shell/kvs.h"
#include "shell/pmi.h"

/* Codes of replies: those of pmi.h and pmi2.h of MPICH, which agree in these. */
enum pmi_rc {
    PMI_RC_OK = 0,
    PMI_RC_FAIL = -1,
    PMI_RC_INIT = 1,
    PMI_RC_NO_MEMORY = 2,
    PMI_RC_ARGUMENT = 3,
    PMI_RC_KEY = 4,
    PMI_RC_KEY_LENGTH = 5,
    PMI_RC_VALUE = 6,
    PMI_RC_VALUE_LENGTH = 7,
};

enum pmi_phase { PMI_NEW, PMI_GREETED, PMI_READY, PMI_FINALIZED };

#define PMI_THRID_MAX                                                                    \
    32 /* bytes of a thread's id in PMI-2, a pointer as text, with NUL */

struct pmi_task {
    enum pmi_phase phase;
    int version; /* 1 or 2, once it is not NEW */
    bool closed;
    bool fencing; /* it is in the fence */
    bool aborted;
    bool spawning; /* PMI-1: between mcmd=spawn and endcmd */
    int64_t spawns;
    int64_t spawns_total;
    uint32_t nwaits;
    char fence_thrid[PMI_THRID_MAX];
    struct strbuf in; /* an incomplete command */
};

/* Somebody waits for a node attribute (PMI-2). */
struct pmi_wait {
    struct pmi_wait *next;
    struct pmi_task *task;
    char thrid[PMI_THRID_MAX];
    char key[KVS_KEY_MAX + 1];
};

struct pmi {
    struct pmi_events events;
    void *ctx;
    char jobid[PMI_NAME_MAX + 1];
    uint32_t ntasks;
    uint32_t nlocal;
    struct pmi_task *tasks; /* [nlocal] */
    uint32_t *global;       /* [nlocal] */
    char *mapping;          /* NULL: cannot be said in PMI_MAPPING_MAX bytes */
    struct kvs *kvs;
    struct kvs *attrs; /* of this node */
    struct pmi_wait *waits;
    uint32_t nfencing;
    bool exchanging; /* exchange() was called, pmi_exchanged() was not */
};

/* Names and values of one command. Names and values point into the task's buffer. */
#define PMI_FIELDS_MAX 32

struct pmi_field {
    const char *name;
    const char *value; /* NUL-terminated */
    size_t len;        /* of value */
};

struct pmi_message {
    struct pmi_field fields[PMI_FIELDS_MAX]; /* what is beyond is not looked at */
    size_t n;
};

/* The first field of that name, or NULL. */
const struct pmi_field *pmi_field (const struct pmi_message *msg, const char *name);
/* Its value, or the other text. */
const char *pmi_text (const struct pmi_message *msg, const char *name, const char *other);
/* Its value, or other if it is absent or no number in 32 bits. */
int64_t pmi_number (const struct pmi_message *msg, const char *name, int64_t other);

/* One reply, which always has room: all that goes into one is bounded. */
struct pmi_reply {
    size_t len;
    char text[4096];
};

void pmi_reply_add (struct pmi_reply *reply, const char *text, size_t len);
void pmi_reply_addf (struct pmi_reply *reply, const char *fmt, ...) PRINTF_LIKE (2, 3);
void pmi_send (struct pmi *pmi, const struct pmi_task *task, const char *data,
               size_t len);

/* Number of the task in the step, for messages. */
uint32_t pmi_rank (const struct pmi *pmi, const struct pmi_task *task);

/* What commands of both versions do. */
enum pmi_rc pmi_put_into (struct kvs *kvs, const struct pmi_field *key,
                          const struct pmi_field *value);
/* The fields "key" and "value", into the KVS. */
enum pmi_rc pmi_put (struct pmi *pmi, const struct pmi_message *msg);
const char *pmi_rc_text (enum pmi_rc rc);
/* Value of a key of the KVS or of the job, NULL: there is none. */
const char *pmi_get (const struct pmi *pmi, const char *key, size_t len);
/* -EPROTO: it is in the fence already. */
int pmi_fence (struct pmi *pmi, struct pmi_task *task, struct error *err);
void pmi_abort (struct pmi *pmi, struct pmi_task *task, int64_t code, const char *text);

/* PMI-1 and PMI-2. The length of the first command in data, 0: it is incomplete, or -EPROTO. */
ssize_t pmi1_length (const char *data, size_t avail, struct error *err);
ssize_t pmi2_length (const char *data, size_t avail, struct error *err);
/* Carry out that command, which is altered. Negative errno: close the connection. */
int pmi1_command (struct pmi *pmi, struct pmi_task *task, char *data, size_t len,
                  struct error *err);
int pmi2_command (struct pmi *pmi, struct pmi_task *task, char *data, size_t len,
                  struct error *err);
/* The reply at the end of a fence. */
void pmi1_fenced (struct pmi *pmi, struct pmi_task *task, enum pmi_rc rc);
void pmi2_fenced (struct pmi *pmi, struct pmi_task *task, enum pmi_rc rc);

/* pmi_mapping.c: the value of PMI_process_mapping: 1 it was appended, 0 it does not fit in what
 * out may hold, -ENOMEM. */
int pmi_mapping (const uint32_t *node_of, uint32_t ntasks, struct strbuf *out);

#endif
