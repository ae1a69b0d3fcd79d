/* userfiles.c - see userfiles.h */
#include "exec/kube/files/userfiles.h"

#include "exec/kube/core/names.h"
#include "exec/mounts.h"

#define TEXT_MAX ((size_t)64 << 10)
#define FIELD_MAX 1024
#define SHELL "/bin/sh"
#define NOBODY 65534u

static const struct userfile {
    const char *name, *place;
    int (*write) (const struct exec_user *user, struct strbuf *text);
} files[] = {
    { "passwd", "/etc/passwd", userfiles_passwd },
    { "group", "/etc/group", userfiles_group },
};

static bool is_field (const char *text)
{
    size_t len = text ? strlen (text) : 0;

    for (size_t i = 0; i < len; i++)
        if (text[i] == ':' || (unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return len > 0 && len <= FIELD_MAX;
}

/* Adds the name if it is valid there, and does not belong to another user. */
static void add_name (struct strbuf *text, const char *name, unsigned id)
{
    bool taken = name
                 && ((!strcmp (name, "root") && id != 0)
                     || (!strcmp (name, "nobody") && id != NOBODY)
                     || (!strcmp (name, "nogroup") && id != NOBODY));

    if (is_field (name) && !taken)
        strbuf_adds (text, name);
    else
        strbuf_addf (text, "%u", id);
}

int userfiles_passwd (const struct exec_user *user, struct strbuf *text)
{
    if (user->uid != 0)
        strbuf_adds (text, "root:x:0:0:root:/root:" SHELL "\n");
    add_name (text, user->name, (unsigned)user->uid);
    strbuf_addf (text, ":x:%u:%u::%s:" SHELL "\n", (unsigned)user->uid,
                 (unsigned)user->gid, is_field (user->home) ? user->home : "/");
    if (user->uid != NOBODY)
        strbuf_adds (text, "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n");
    return text->err;
}

static const char *group_name (const struct exec_user *user, gid_t gid)
{
    for (size_t i = 0; user->group_names && i < user->ngroups; i++)
        if (user->groups[i] == gid)
            return user->group_names[i];
    return NULL;
}

int userfiles_group (const struct exec_user *user, struct strbuf *text)
{
    bool root = user->gid == 0, nobody = user->gid == NOBODY;

    add_name (text, group_name (user, user->gid), (unsigned)user->gid);
    strbuf_addf (text, ":x:%u:\n", (unsigned)user->gid);
    for (size_t i = 0; i < user->ngroups; i++) {
        gid_t gid = user->groups[i];
        const char *name = group_name (user, gid);

        if (gid == user->gid || !name)
            continue;
        root |= gid == 0;
        nobody |= gid == NOBODY;
        add_name (text, name, (unsigned)gid);
        strbuf_addf (text, ":x:%u:", (unsigned)gid);
        add_name (text, user->name, (unsigned)user->uid);
        strbuf_addch (text, '\n');
    }
    if (!root)
        strbuf_adds (text, "root:x:0:\n");
    if (!nobody)
        strbuf_adds (text, "nogroup:x:65534:\n");
    return text->err;
}

/* Mounts of the queue there are the administrator's choice. */
static bool is_ours (const struct exec_job *job, const struct userfile *file)
{
    return !mounts_see (job->mounts, "/", file->place, false);
}

int userfiles_add_data (const struct exec_job *job, json_t *data)
{
    for (size_t i = 0; i < ARRAY_SIZE (files); i++) {
        autostrbuf struct strbuf text = STRBUF_INIT (TEXT_MAX);

        if (is_ours (job, &files[i])
            && (files[i].write (&job->user, &text) < 0
                || json_object_set_new (data, files[i].name,
                                        object_bytes (text.buf, text.len))
                       < 0))
            return -ENOMEM;
    }
    return 0;
}

int userfiles_add_items (const struct exec_job *job, json_t *items)
{
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (files); i++)
        if (is_ours (job, &files[i]))
            rc |= json_array_append_new (items,
                                         json_pack ("{s:s s:s s:i}", "key", files[i].name,
                                                    "path", files[i].name, "mode", 0444));
    return rc < 0 ? -ENOMEM : 0;
}

int userfiles_add_places (const struct exec_job *job, json_t *places)
{
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (files); i++)
        if (is_ours (job, &files[i]))
            rc |= json_array_append_new (
                places,
                json_pack ("{s:s s:s s:s s:b}", "name", "job", "mountPath",
                           files[i].place, "subPath", files[i].name, "readOnly", 1));
    return rc < 0 ? -ENOMEM : 0;
}
