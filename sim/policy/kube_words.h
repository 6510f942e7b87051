/* kube_words.h - labels, taints, selectors and tolerations as text -> the structs of kube_filter.h.
 *
 *   labels, selectors   key=value,...
 *   taints              key[=value]:effect,...
 *   tolerations         key[=value][:effect],...   without a value: Exists; without an effect: any; "*": any taint
 *
 * Effects: NoSchedule, PreferNoSchedule, NoExecute; anything else counts as NoSchedule. Memory comes from the arena.
 * Tests: tests/test_kube_words.c */
#ifndef GPUPLAN_POLICY_KUBE_WORDS_H
#define GPUPLAN_POLICY_KUBE_WORDS_H

#include "base/arena.h"
#include "policy/kube_filter.h"

#include <stdbool.h>

/* False: memory is out. */
bool kube_read_facts(const char *labels, const char *taints, struct arena *arena,
                     struct kube_facts *facts);
bool kube_read_wish(const char *selector, const char *tolerations, struct arena *arena,
                    struct kube_wish *wish);

#endif
