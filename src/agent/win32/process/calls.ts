import { inLibrary } from '../native.ts';

/** Processes of services and their children. */
export const processCalls = inLibrary('kernel32.dll', {
  OpenProcess: {
    prototype: 'void * __stdcall OpenProcess(uint32_t access, int inherit, uint32_t pid)',
    why: 'Holds a process so that its PID is not reused; error 87 means that it has exited',
  },
  CloseHandle: {
    prototype: 'int __stdcall CloseHandle(void *handle)',
    why: 'Closes a handle: of a process, a snapshot, a token or a file',
  },
  WaitForSingleObject: {
    prototype: 'uint32_t __stdcall WaitForSingleObject(void *handle, uint32_t milliseconds)',
    why: 'Checks whether a process or thread has ended; an exit code of 259 would look like a running process',
  },
  TerminateProcess: {
    prototype: 'int __stdcall TerminateProcess(void *process, uint32_t exitCode)',
    why: 'Ends the process of a service that does not stop, its children, leftover shims, and the agent itself: the exit of Node waits for native calls',
  },
  GetProcessTimes: {
    prototype: 'int __stdcall GetProcessTimes(void *process, void *created, void *exited, void *kernel, void *user)',
    why: 'A process older than its parent is not its child: the PID of the parent was reused',
  },
  QueryFullProcessImageNameW: {
    prototype:
      'int __stdcall QueryFullProcessImageNameW(void *process, uint32_t flags, void *text, _Inout_ uint32_t *length)',
    why: 'Before ending a process by name, checks that the PID still belongs to that program',
  },
  CreateToolhelp32Snapshot: {
    prototype: 'void * __stdcall CreateToolhelp32Snapshot(uint32_t flags, uint32_t pid)',
    why: 'Lists all processes with name and parent',
  },
  Process32FirstW: {
    prototype: 'int __stdcall Process32FirstW(void *snapshot, void *entry)',
    why: 'The first process of the list',
  },
  Process32NextW: {
    prototype: 'int __stdcall Process32NextW(void *snapshot, void *entry)',
    why: 'The next process of the list',
  },
  GetCurrentProcess: {
    prototype: 'void * __stdcall GetCurrentProcess()',
    why: 'The agent itself: to enable its privileges, and to end it',
  },
});

/** Whether the agent runs with the rights of an administrator. */
export const administratorCalls = inLibrary('advapi32.dll', {
  CreateWellKnownSid: {
    prototype: 'int __stdcall CreateWellKnownSid(int kind, void *domain, void *sid, _Inout_ uint32_t *bytes)',
    why: 'The SID of the Administrators group; its name differs by language',
  },
  CheckTokenMembership: {
    prototype: 'int __stdcall CheckTokenMembership(void *token, void *sid, _Out_ int *isMember)',
    why: 'Checks for administrator rights before anything is changed',
  },
});

/** Privileges that a process holds but has to enable before use. */
export const privilegeCalls = {
  GetCurrentProcess: processCalls.GetCurrentProcess,
  CloseHandle: processCalls.CloseHandle,
  ...inLibrary('advapi32.dll', {
    OpenProcessToken: {
      prototype: 'int __stdcall OpenProcessToken(void *process, uint32_t access, _Out_ void **token)',
      why: 'Opens the access token of the agent',
    },
    LookupPrivilegeValueW: {
      prototype: 'int __stdcall LookupPrivilegeValueW(str16 machine, str16 name, void *value)',
      why: 'The LUID of a privilege on this host',
    },
    AdjustTokenPrivileges: {
      prototype:
        'int __stdcall AdjustTokenPrivileges(void *token, int disableAll, void *state, uint32_t bytes, void *before, void *needed)',
      why: 'Enables a privilege: over SSH, an administrator needs SeDebugPrivilege to end the process of a service',
    },
  }),
};
