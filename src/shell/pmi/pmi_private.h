/* pmi_private.h - shared by pmi.c, pmi1.c, pmi2.c and pmi_mapping.c only
 *
 * Phases of a task:
 *
 *     NEW --init, version 1----------------------> READY --finalize--> FINALIZED
 *      |                                           ^   ^                   |
 *      +--init, version 2--> GREETED --fullinit----+   +-------init--------+
 *
 * The end of the socket or an error leads from each phase to closed. Some clients
 * initialise again on the same socket after finalize (MPI sessions).
 */
#pragma once

#include "common/strbuf.h"
#include "shell/pmi/kvs.h"
#include "shell/pmi/pmi.h"

/* Codes in replies, from pmi.h and pmi2.h of MPICH, which agree on these values. */
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

#define PMI_THRID_MAX 32 /* bytes of a thread id in PMI-2 (a pointer as text), with NUL */

struct pmi_task {
    enum pmi_phase phase;
    int version; /* 1 or 2; not valid in PMI_NEW */
    bool closed;
    bool fencing; /* the task is in the fence */
    bool aborted;
    bool spawning; /* PMI-1: between mcmd=spawn and endcmd */
    int64_t spawns;
    int64_t spawns_total;
    uint32_t nwaits;
    char fence_thrid[PMI_THRID_MAX];
    struct strbuf in; /* an incomplete command */
};

/* A task waits for a node attribute (PMI-2). */
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
    char *mapping;          /* NULL: longer than PMI_MAPPING_MAX bytes */
    struct kvs *kvs;
    struct kvs *attrs; /* attributes of this node */
    struct pmi_wait *waits;
    uint32_t nfencing;
    bool exchanging; /* from the call of exchange() until pmi_exchanged() */
};

/* Fields of one command. Names and values point into the task's buffer. */
#define PMI_FIELDS_MAX 32

struct pmi_field {
    const char *name;
    const char *value; /* NUL-terminated */
    size_t len;        /* length of value */
};

struct pmi_message {
    struct pmi_field fields[PMI_FIELDS_MAX]; /* further fields are ignored */
    size_t n;
};

/* Returns the first field of that name, or NULL. */
const struct pmi_field *pmi_field (const struct pmi_message *msg, const char *name);
/* Returns the value of the field, or other if there is no such field. */
const char *pmi_text (const struct pmi_message *msg, const char *name, const char *other);
/* Returns the value of the field, or other if the field is absent or not a 32-bit
 * number. */
int64_t pmi_number (const struct pmi_message *msg, const char *name, int64_t other);

/* One reply. It always has room, since everything that a reply contains is bounded. */
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

/* Commands that both versions have. */
enum pmi_rc pmi_put_into (struct kvs *kvs, const struct pmi_field *key,
                          const struct pmi_field *value);
/* Puts the value of field "value" under the key of field "key" into the KVS. */
enum pmi_rc pmi_put (struct pmi *pmi, const struct pmi_message *msg);
const char *pmi_rc_text (enum pmi_rc rc);
/* Returns the value of a key of the KVS or of the job, or NULL. */
const char *pmi_get (const struct pmi *pmi, const char *key, size_t len);
/* -EPROTO: the task is in the fence already. */
int pmi_fence (struct pmi *pmi, struct pmi_task *task, struct error *err);
void pmi_abort (struct pmi *pmi, struct pmi_task *task, int64_t code, const char *text);

/* PMI-1 and PMI-2. Return the length of the first command in data, 0: incomplete, or
 * -EPROTO. */
ssize_t pmi1_length (const char *data, size_t avail, struct error *err);
ssize_t pmi2_length (const char *data, size_t avail, struct error *err);
/* Carry out that command and modify its buffer. Negative errno: close the connection. */
int pmi1_command (struct pmi *pmi, struct pmi_task *task, char *data, size_t len,
                  struct error *err);
int pmi2_command (struct pmi *pmi, struct pmi_task *task, char *data, size_t len,
                  struct error *err);
/* Send the reply at the end of a fence. */
void pmi1_fenced (struct pmi *pmi, struct pmi_task *task, enum pmi_rc rc);
void pmi2_fenced (struct pmi *pmi, struct pmi_task *task, enum pmi_rc rc);

/* pmi_mapping.c: the value of PMI_process_mapping. 1: appended to out; 0: too long for
 * the bound of out; -ENOMEM. */
int pmi_mapping (const uint32_t *node_of, uint32_t ntasks, struct strbuf *out);
