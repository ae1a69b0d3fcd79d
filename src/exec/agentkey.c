/* agentkey.c - see agentkey.h */
#include "exec/agentkey.h"

#include "common/sha256.h"
#include "common/userdir.h"

#define TEXT_MAX 256

int agentkey_read (int dir, const char *name, uid_t owner, uint8_t ret[AGENT_KEY_SIZE],
                   struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (TEXT_MAX);

    int rc = userdir_read (dir, name, owner, &text, TEXT_MAX - 1, err);
    if (rc == 0 && agent_key_parse (text.buf, text.len, ret) < 0)
        rc = error_set (err, EINVAL, "%s is not a key", name);
    if (text.buf)
        secret_wipe (text.buf, text.len);
    return rc;
}
