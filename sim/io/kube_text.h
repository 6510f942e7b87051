/* kube_text.h - quantities as Kubernetes writes them (P75).
 *
 * A decimal number, then m (thousandths), k M G T P E (powers of 1000) or Ki Mi Gi Ti Pi Ei (of 1024); an exponent
 * e or E instead of a suffix. Nothing between them; 1K, 1gi and `1 Gi` are not legal.
 * Source: resource.Quantity of k8s.io/apimachinery. Tests: tests/test_kube_text.c */
#ifndef GPUPLAN_IO_KUBE_TEXT_H
#define GPUPLAN_IO_KUBE_TEXT_H

#include "base/quantity.h"

/* "500m", "0.5", "4": thousandths of a core, rounded up. */
bool kube_cpu(const char *text, size_t bytes, int64_t *out_milli, struct why *why);

/* "8Gi", "129M", "1e9": bytes, rounded up; thousandths of a byte are surely a slip and refused. */
bool kube_bytes(const char *text, size_t bytes, int64_t *out_bytes, struct why *why);

#endif
