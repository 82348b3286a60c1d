import type { CallTable } from '../native.ts';

/** The name of the host. */
export const computerNameCalls = {
  GetComputerNameExW: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall GetComputerNameExW(int format, void *text, _Inout_ uint32_t *length)',
    why: 'Tells the host name and the fully qualified one, in the same way as the kubelet asks for it',
    proof: 'wine',
  },
  SetComputerNameExW: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall SetComputerNameExW(int format, str16 name)',
    why: 'Renames the host to the name of its Machine, from the next boot on',
    proof: 'wine',
  },
  NetGetJoinInformation: {
    dll: 'netapi32.dll',
    prototype: 'uint32_t __stdcall NetGetJoinInformation(str16 server, _Out_ void **name, _Out_ int *status)',
    why: 'Tells whether the host is member of a domain, which has to be asked before a rename',
    proof: 'wine',
  },
  NetApiBufferFree: {
    dll: 'netapi32.dll',
    prototype: 'uint32_t __stdcall NetApiBufferFree(void *buffer)',
    why: 'Frees the name of the domain',
    proof: 'wine',
  },
} as const satisfies CallTable;
