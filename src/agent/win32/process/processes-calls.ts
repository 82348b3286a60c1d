import type { CallTable } from '../native.ts';

/** Processes of services, and what they started. */
export const processCalls = {
  OpenProcess: {
    dll: 'kernel32.dll',
    prototype: 'void * __stdcall OpenProcess(uint32_t access, int inherit, uint32_t pid)',
    why: 'Holds a process, so that its number cannot pass to another one; error 87 tells that it has gone',
    proof: 'wine',
  },
  CloseHandle: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall CloseHandle(void *handle)',
    why: 'Lets go of a process or of a list of processes',
    proof: 'wine',
  },
  WaitForSingleObject: {
    dll: 'kernel32.dll',
    prototype: 'uint32_t __stdcall WaitForSingleObject(void *handle, uint32_t milliseconds)',
    why: 'Tells whether a process has ended; an exit code of 259 would look like a process that runs',
    proof: 'wine',
  },
  TerminateProcess: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall TerminateProcess(void *process, uint32_t exitCode)',
    why: 'Ends the process of a service that does not stop, its children, and shims that were left behind',
    proof: 'wine',
  },
  GetProcessTimes: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall GetProcessTimes(void *process, void *created, void *exited, void *kernel, void *user)',
    why: 'A process that is older than its parent is not its child: the number of the parent was used before',
    proof: 'wine',
  },
  QueryFullProcessImageNameW: {
    dll: 'kernel32.dll',
    prototype:
      'int __stdcall QueryFullProcessImageNameW(void *process, uint32_t flags, void *text, _Inout_ uint32_t *length)',
    why: 'Makes sure before the end of a process by name that its number is still that of the program',
    proof: 'wine',
  },
  CreateToolhelp32Snapshot: {
    dll: 'kernel32.dll',
    prototype: 'void * __stdcall CreateToolhelp32Snapshot(uint32_t flags, uint32_t pid)',
    why: 'Lists all processes with name and parent',
    proof: 'wine',
  },
  Process32FirstW: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall Process32FirstW(void *snapshot, void *entry)',
    why: 'The first process of the list',
    proof: 'wine',
  },
  Process32NextW: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall Process32NextW(void *snapshot, void *entry)',
    why: 'The next process of the list',
    proof: 'wine',
  },
} as const satisfies CallTable;
