/* process.c - see process.h
 */
#include "jobspec/attributes/process.h"

#include <signal.h>

#include "common/parse.h"

#define SYSTEM "jobspec: attributes.system"

void job_process_init (struct job_process *p)
{
    *p = (struct job_process){ .umask = -1 };
}

/* -- as users write them -- */

/* Copy the part before '@' to buf; returns the part after it, or NULL. */
static const char *split_at (const char *text, char *buf, size_t size)
{
    const char *at = strchr (text, '@');

    snprintf (buf, size, "%.*s", (int)strcspn (text, "@"), text);
    return at ? at + 1 : NULL;
}

int job_warning_parse (const char *text, struct job_warning *ret, const char *where,
                       struct error *err)
{
    struct job_warning w = { .before = JOB_WARNING_BEFORE };
    char name[32];
    int64_t seconds;

    if (text[0] == 'R' && text[1] == ':')
        return error_set (err, EINVAL,
                          "%s: 'R:' (for jobs that overlap a reservation) is not "
                          "supported by fluxq: advance reservations end no job early",
                          where);
    w.batch = text[0] == 'B' && text[1] == ':';
    const char *time = split_at (w.batch ? text + 2 : text, name, sizeof (name));
    int rc = parse_signal (name, &w.signum, where, err);
    if (rc == 0 && time) {
        rc = parse_int (time, 0, (int64_t)JOB_WARNING_LONGEST, &seconds, where, err);
        w.before = rc == 0 ? (double)seconds : 0;
    }
    if (rc == 0)
        *ret = w;
    return rc;
}

int job_warning_parse_flux (const char *text, struct job_warning *ret, const char *where,
                            struct error *err)
{
    struct job_warning w = { .signum = SIGUSR1, .before = JOB_WARNING_BEFORE };
    char name[32];
    const char *time = split_at (text, name, sizeof (name));
    int rc = name[0] ? parse_signal (name, &w.signum, where, err) : 0;

    if (rc == 0 && time)
        rc = parse_fsd (time, &w.before, where, err);
    if (rc == 0 && (w.before <= 0 || w.before > JOB_WARNING_LONGEST))
        rc =
            error_set (err, ERANGE, "%s: the time must be more than 0 and at most %.0f s",
                       where, JOB_WARNING_LONGEST);
    if (rc == 0)
        *ret = w;
    return rc;
}

int job_user_env_parse (const char *text, struct job_user_env *ret, const char *where,
                        struct error *err)
{
    struct job_user_env e = { .timeout = JOB_USER_ENV_TIMEOUT, .login = true };
    size_t digits = text ? strspn (text, "0123456789") : 0;
    const char *mode = text ? text + digits : "";
    char number[16];
    int64_t seconds;

    if (mode[0] && strcmp (mode, "S") != 0 && strcmp (mode, "L") != 0)
        return error_set (err, EINVAL,
                          "%s: '%.32s' is not [SECONDS][L|S]: L as a login shell, S not",
                          where, text);
    e.login = mode[0] != 'S';
    snprintf (number, sizeof (number), "%.*s", (int)digits, text ? text : "");
    if (digits > 0) {
        int rc = parse_int (number, 1, JOB_USER_ENV_LONGEST, &seconds, where, err);
        if (rc < 0)
            return rc;
        e.timeout = (int)seconds;
    }
    *ret = e;
    return 0;
}

/* -- to JSON -- */

static int put (json_t *o, const char *key, json_t *value)
{
    return json_object_set_new (o, key, value);
}

static int warning_to_json (const struct job_warning *w, json_t *options)
{
    json_t *o = json_pack ("{s:i s:f}", "signum", w->signum, "timeleft", w->before);

    if (o && w->batch)
        put (o, "batch", json_true ());
    if (o && w->steps)
        put (o, "steps", json_true ());
    return put (options, "signal", o);
}

static int rlimits_to_json (const struct rlimits *set, json_t *options)
{
    json_t *o = json_object ();
    int rc = 0;

    for (size_t i = 0; i < RLIMITS_COUNT; i++) {
        if (!(set->given >> i & 1))
            continue;
        bool any = set->soft[i] > INT64_MAX; /* RLIM_INFINITY, or practically so */
        rc |=
            put (o, rlimits_name (i), json_integer (any ? -1 : (json_int_t)set->soft[i]));
    }
    return rc | put (options, "rlimit", o);
}

int job_process_to_json (const struct job_process *p, json_t *options, json_t *own)
{
    char mask[8];
    int rc = 0;

    snprintf (mask, sizeof (mask), "%04o", (unsigned)p->umask & 0777);
    if (p->warn.signum)
        rc |= warning_to_json (&p->warn, options);
    if (p->rlimits.given)
        rc |= rlimits_to_json (&p->rlimits, options);
    if (p->umask >= 0)
        rc |= put (own, "umask", json_string (mask));
    if (p->nice != 0)
        rc |= put (own, "process-nice", json_integer (p->nice));
    if (p->user_env.timeout)
        rc |= put (own, "user-env",
                   json_pack ("{s:i s:b}", "timeout", p->user_env.timeout, "login",
                              p->user_env.login));
    return rc;
}

/* -- and back -- */

static int warning_from_json (struct job_warning *w, const json_t *options,
                              struct error *err)
{
    static const char where[] = SYSTEM ".shell.options.signal";
    int64_t signum = SIGUSR1;
    json_t *o;
    int rc = json_get_object (options, "signal", &o, JSON_OPTIONAL_KEY,
                              SYSTEM ".shell.options", err);

    if (rc <= 0)
        return rc;
    w->before = JOB_WARNING_BEFORE;
    if ((rc = json_get_int (o, "signum", 1, 64, &signum, JSON_OPTIONAL_KEY, where, err))
            < 0
        || (rc = json_get_double (o, "timeleft", 0, JOB_WARNING_LONGEST, &w->before,
                                  JSON_OPTIONAL_KEY, where, err))
               < 0
        || (rc = json_get_bool (o, "batch", &w->batch, JSON_OPTIONAL_KEY, where, err)) < 0
        || (rc = json_get_bool (o, "steps", &w->steps, JSON_OPTIONAL_KEY, where, err))
               < 0)
        return rc;
    w->signum = (int)signum;
    return 0;
}

static int rlimits_from_json (struct rlimits *set, const json_t *options,
                              struct error *err)
{
    static const char where[] = SYSTEM ".shell.options.rlimit";
    json_t *o, *value;
    const char *name;
    int rc = json_get_object (options, "rlimit", &o, JSON_OPTIONAL_KEY,
                              SYSTEM ".shell.options", err);

    if (rc <= 0)
        return rc;
    json_object_foreach (o, name, value) {
        int i = rlimits_find (name);
        int64_t n;
        if (i < 0)
            return error_set (err, EINVAL, "%s: '%.32s' is not a limit that fluxq sets",
                              where, name);
        rc = json_get_int (o, name, -1, INT64_MAX, &n, JSON_REQUIRED, where, err);
        if (rc < 0)
            return rc;
        set->given |= UINT32_C (1) << i;
        set->soft[i] = n < 0 ? RLIM_INFINITY : (rlim_t)n;
    }
    return 0;
}

static int umask_from_json (int *ret, const json_t *own, struct error *err)
{
    static const char where[] = SYSTEM ".fluxq";
    const char *text;
    int rc = json_get_string (own, "umask", &text, JSON_OPTIONAL_KEY, where, err);

    if (rc <= 0)
        return rc;
    size_t len = strlen (text);
    if (len < 1 || len > 4 || strspn (text, "01234567") != len
        || strtol (text, NULL, 8) > 0777)
        return error_set (err, EINVAL, "%s.umask: '%.16s' is not an octal number to 0777",
                          where, text);
    *ret = (int)strtol (text, NULL, 8);
    return 0;
}

static int user_env_from_json (struct job_user_env *e, const json_t *own,
                               struct error *err)
{
    static const char where[] = SYSTEM ".fluxq.user-env";
    int64_t timeout = JOB_USER_ENV_TIMEOUT;
    json_t *o;
    int rc =
        json_get_object (own, "user-env", &o, JSON_OPTIONAL_KEY, SYSTEM ".fluxq", err);

    if (rc <= 0)
        return rc;
    e->login = true;
    if ((rc = json_get_int (o, "timeout", 1, JOB_USER_ENV_LONGEST, &timeout,
                            JSON_OPTIONAL_KEY, where, err))
            < 0
        || (rc = json_get_bool (o, "login", &e->login, JSON_OPTIONAL_KEY, where, err))
               < 0)
        return rc;
    e->timeout = (int)timeout;
    return 0;
}

/* The object of this key in o, or NULL. */
static json_t *below (const json_t *o, const char *key)
{
    json_t *v = json_object_get (o, key);
    return json_is_object (v) ? v : NULL;
}

int job_process_from_json (struct job_process *p, const json_t *system, struct error *err)
{
    const json_t *options = below (below (system, "shell"), "options");
    const json_t *own = below (system, "fluxq");
    int64_t nice = 0;
    int rc = 0;

    job_process_init (p);
    if (options)
        rc = warning_from_json (&p->warn, options, err);
    if (options && rc == 0)
        rc = rlimits_from_json (&p->rlimits, options, err);
    if (rc < 0 || !own)
        return rc;
    if ((rc = umask_from_json (&p->umask, own, err)) < 0
        || (rc = user_env_from_json (&p->user_env, own, err)) < 0
        || (rc = json_get_int (own, "process-nice", -20, 19, &nice, JSON_OPTIONAL_KEY,
                               SYSTEM ".fluxq", err))
               < 0)
        return rc;
    p->nice = (int)nice;
    return 0;
}
