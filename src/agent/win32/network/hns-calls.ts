import type { CallTable } from '../native.ts';

/** The Host Networking Service; the library is there only once the Containers feature is enabled. */
export const hnsCalls = {
  HNSCall: {
    dll: 'vmcompute.dll',
    prototype: 'int32_t __stdcall HNSCall(str16 method, str16 path, str16 request, _Out_ void **response)',
    why: 'Reads and removes networks of containers, and makes the endpoint that kube-proxy sends from',
    proof: 'double',
  },
  CoTaskMemFree: {
    dll: 'ole32.dll',
    prototype: 'void __stdcall CoTaskMemFree(void *memory)',
    why: 'Frees the answers of the Host Networking Service',
    proof: 'wine',
  },
} as const satisfies CallTable;
