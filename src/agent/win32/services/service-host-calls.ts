import type { CallTable } from '../native.ts';

/** Being a Windows service. */
export const serviceHostCalls = {
  StartServiceCtrlDispatcherW: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall StartServiceCtrlDispatcherW(void *table)',
    why: 'Connects the process with the service manager; it returns when the service has stopped, so a thread of Windows is made to run it',
    proof: 'wine',
  },
  CreateThread: {
    dll: 'kernel32.dll',
    prototype:
      'void * __stdcall CreateThread(void *security, size_t stackBytes, void *start, void *parameter, uint32_t flags, void *id)',
    why: 'Runs the dispatcher: on a thread of the pool of Node it would keep the process from ever exiting',
    proof: 'wine',
  },
  RegisterServiceCtrlHandlerExW: {
    dll: 'advapi32.dll',
    prototype: 'void * __stdcall RegisterServiceCtrlHandlerExW(str16 name, void *handler, void *context)',
    why: 'Names the function that Windows calls to stop the service',
    proof: 'wine',
  },
  SetServiceStatus: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall SetServiceStatus(void *status, void *report)',
    why: 'Tells Windows that the service starts, runs, stops or has stopped, with check-points',
    proof: 'wine',
  },
  WaitForSingleObject: {
    dll: 'kernel32.dll',
    prototype: 'uint32_t __stdcall WaitForSingleObject(void *handle, uint32_t milliseconds)',
    why: 'Tells that the dispatcher has ended, as it does at once when the service manager did not start the process',
    proof: 'wine',
  },
  GetCurrentProcess: {
    dll: 'kernel32.dll',
    prototype: 'void * __stdcall GetCurrentProcess()',
    why: 'The process that is to end',
    proof: 'wine',
  },
  TerminateProcess: {
    dll: 'kernel32.dll',
    prototype: 'int __stdcall TerminateProcess(void *process, uint32_t exitCode)',
    why: 'Ends the agent at once; the exit of Node would first wait for native calls that still run',
    proof: 'wine',
  },
} as const satisfies CallTable;

/** Functions of ours that Windows calls. */
export const serviceCallbacks = {
  ServiceMain: 'void __stdcall ServiceMain(uint32_t count, void *texts)',
  HandlerEx: 'uint32_t __stdcall HandlerEx(uint32_t control, uint32_t eventType, void *eventData, void *context)',
} as const;
