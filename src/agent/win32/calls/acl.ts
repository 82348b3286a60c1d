import type { CallTable } from '../native.ts';

/** Who may read secrets. */
export const aclCalls = {
  ConvertStringSecurityDescriptorToSecurityDescriptorW: {
    dll: 'advapi32.dll',
    prototype:
      'int __stdcall ConvertStringSecurityDescriptorToSecurityDescriptorW(str16 text, uint32_t revision, _Out_ void **descriptor, void *bytes)',
    why: 'Makes the list of those who may read a secret',
    proof: 'wine',
  },
  GetSecurityDescriptorOwner: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall GetSecurityDescriptorOwner(void *descriptor, _Out_ void **owner, _Out_ int *defaulted)',
    why: 'Takes the owner out of it',
    proof: 'wine',
  },
  GetSecurityDescriptorDacl: {
    dll: 'advapi32.dll',
    prototype:
      'int __stdcall GetSecurityDescriptorDacl(void *descriptor, _Out_ int *present, _Out_ void **list, _Out_ int *defaulted)',
    why: 'Takes the list out of it',
    proof: 'wine',
  },
  SetNamedSecurityInfoW: {
    dll: 'advapi32.dll',
    prototype:
      'uint32_t __stdcall SetNamedSecurityInfoW(str16 path, int kind, uint32_t parts, void *owner, void *group, void *list, void *audit)',
    why: 'Keeps all but SYSTEM and Administrators away from keys and tokens (Wine accepts it, but has no such rights)',
    proof: 'wine',
  },
  LocalFree: {
    dll: 'kernel32.dll',
    prototype: 'void *__stdcall LocalFree(void *memory)',
    why: 'Frees the list',
    proof: 'wine',
  },
} as const satisfies CallTable;
