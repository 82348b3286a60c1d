import type { CallTable } from '../native.ts';

/** Rights that a process has but does not use unless it says so. */
export const privilegeCalls = {
  GetCurrentProcess: {
    dll: 'kernel32.dll',
    prototype: 'void * __stdcall GetCurrentProcess()',
    why: 'The process whose rights are changed: the agent itself',
    proof: 'wine',
  },
  OpenProcessToken: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall OpenProcessToken(void *process, uint32_t access, _Out_ void **token)',
    why: 'Opens what Windows keeps of the rights of the agent',
    proof: 'wine',
  },
  LookupPrivilegeValueW: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall LookupPrivilegeValueW(str16 machine, str16 name, void *value)',
    why: 'The number of a privilege on this host',
    proof: 'wine',
  },
  AdjustTokenPrivileges: {
    dll: 'advapi32.dll',
    prototype:
      'int __stdcall AdjustTokenPrivileges(void *token, int disableAll, void *state, uint32_t bytes, void *before, void *needed)',
    why: 'An administrator who came by SSH may end the process of a service only with the privilege to debug',
    proof: 'wine',
  },
  CloseHandle: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall CloseHandle(void *handle)',
    why: 'Lets go of the rights',
    proof: 'wine',
  },
} as const satisfies CallTable;
