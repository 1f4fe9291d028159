// One fake chat for a test program: every test starts and ends it, and looks at the same screen.
#ifndef VD_TEST_ONE_CHAT_H
#define VD_TEST_ONE_CHAT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/fake_chat.h"

static fake_chat fake;

static inline int start(void **state)
{
    (void)state;
    fake_chat_start(&fake);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    fake_chat_end(&fake);
    return 0;
}

static inline void expect(const char *text)
{
    assert_true(fake_chat_shows(&fake, text));
}

static inline const vd_round *last_round(void)
{
    assert_true(fake.chat.conversation.branch->count > 0);
    return &fake.chat.conversation.branch->rounds[fake.chat.conversation.branch->count - 1];
}

static inline const vd_response *last_take(void)
{
    return &last_round()->response[0];
}

#endif
