// Whether a test is built with the address sanitizer. Arithmetic takes several times as long there,
// and errors of memory are found in the first steps: a test that trains takes few, and whether it
// learns is left to the other build.
#ifndef VD_TEST_SANITIZED_H
#define VD_TEST_SANITIZED_H

#if defined __has_feature // clang, GCC 14
#if __has_feature(address_sanitizer)
#define SUPPORT_SANITIZED 1
#endif
#elif defined __SANITIZE_ADDRESS__
#define SUPPORT_SANITIZED 1
#endif

#ifndef SUPPORT_SANITIZED
#define SUPPORT_SANITIZED 0
#endif

#endif
