import type { CallTable } from '../native.ts';

/** Who may read and write files. All of it works on an open handle, so that what was looked at is what is changed. */
export const aclCalls = {
  CreateFileW: {
    dll: 'kernel32.dll',
    prototype:
      'void *__stdcall CreateFileW(str16 path, uint32_t access, uint32_t share, void *security, uint32_t disposition, uint32_t flags, void *template)',
    why: 'Opens a file, a directory or a link itself (FILE_FLAG_OPEN_REPARSE_POINT), never what a link leads to',
    proof: 'wine',
  },
  GetFileInformationByHandle: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall GetFileInformationByHandle(void *file, void *information)',
    why: 'Tells whether it is a directory or a link, and how many names it has (Wine has no links)',
    proof: 'wine',
  },
  GetKernelObjectSecurity: {
    dll: 'advapi32.dll',
    prototype:
      'int __stdcall GetKernelObjectSecurity(void *file, uint32_t parts, void *descriptor, uint32_t length, _Out_ uint32_t *needed)',
    why: 'Reads owner and access list (Wine makes them up from the mode of the file)',
    proof: 'wine',
  },
  ConvertStringSecurityDescriptorToSecurityDescriptorW: {
    dll: 'advapi32.dll',
    prototype:
      'int __stdcall ConvertStringSecurityDescriptorToSecurityDescriptorW(str16 text, uint32_t revision, _Out_ void **descriptor, void *bytes)',
    why: 'Makes owner and access list from their notation as text',
    proof: 'wine',
  },
  SetKernelObjectSecurity: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall SetKernelObjectSecurity(void *file, uint32_t parts, void *descriptor)',
    why: 'Keeps all but SYSTEM and Administrators away; changes nothing below a directory (Wine accepts it, but has no such rights)',
    proof: 'wine',
  },
  LocalFree: {
    dll: 'kernel32.dll',
    prototype: 'void *__stdcall LocalFree(void *memory)',
    why: 'Frees what was made from text',
    proof: 'wine',
  },
  CloseHandle: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall CloseHandle(void *handle)',
    why: 'Lets go of the file',
    proof: 'wine',
  },
} as const satisfies CallTable;
