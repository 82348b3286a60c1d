import { inLibrary } from '../native.ts';
import { processCalls } from '../process/calls.ts';

/** The service control manager. */
export const serviceCalls = inLibrary('advapi32.dll', {
  OpenSCManagerW: {
    prototype: 'void * __stdcall OpenSCManagerW(str16 machine, str16 database, uint32_t access)',
    why: 'Opens the service control manager, which every other call needs',
  },
  OpenServiceW: {
    prototype: 'void * __stdcall OpenServiceW(void *manager, str16 name, uint32_t access)',
    why: 'Opens one service with only the rights that the next call needs; error 1060 means that it does not exist',
  },
  CloseServiceHandle: {
    prototype: 'int __stdcall CloseServiceHandle(void *handle)',
    why: 'A deleted service is removed only when its last handle is closed',
  },
  EnumServicesStatusExW: {
    prototype:
      'int __stdcall EnumServicesStatusExW(void *manager, int level, uint32_t type, uint32_t state, void *buffer, uint32_t bytes, _Out_ uint32_t *needed, _Out_ uint32_t *returned, _Inout_ uint32_t *resume, str16 group)',
    why: 'Lists all services with state and process, to find the services of the agent and their dependents',
  },
  QueryServiceConfigW: {
    prototype: 'int __stdcall QueryServiceConfigW(void *service, void *buffer, uint32_t bytes, _Out_ uint32_t *needed)',
    why: 'Reads command, start type and dependencies, to compare them with the desired ones',
  },
  QueryServiceConfig2W: {
    prototype:
      'int __stdcall QueryServiceConfig2W(void *service, uint32_t level, void *buffer, uint32_t bytes, _Out_ uint32_t *needed)',
    why: 'Reads the description, which marks the services of the agent (Wine), and recovery, which Wine does not report (reading only)',
  },
  QueryServiceStatusEx: {
    prototype:
      'int __stdcall QueryServiceStatusEx(void *service, int level, void *buffer, uint32_t bytes, _Out_ uint32_t *needed)',
    why: 'Reads state and PID of one service while it starts or stops',
  },
  CreateServiceW: {
    prototype:
      'void * __stdcall CreateServiceW(void *manager, str16 name, str16 displayName, uint32_t access, uint32_t type, uint32_t start, uint32_t errorControl, str16 command, str16 group, void *tag, void *dependencies, str16 account, str16 password)',
    why: 'Creates a service with its final command, start type and dependencies',
  },
  ChangeServiceConfigW: {
    prototype:
      'int __stdcall ChangeServiceConfigW(void *service, uint32_t type, uint32_t start, uint32_t errorControl, str16 command, str16 group, void *tag, void *dependencies, str16 account, str16 password, str16 displayName)',
    why: 'Corrects command, start type and dependencies; an empty list clears dependencies',
  },
  ChangeServiceConfig2W: {
    prototype: 'int __stdcall ChangeServiceConfig2W(void *service, uint32_t level, void *info)',
    why: 'Sets description (Wine) and recovery actions, which Wine accepts without effect (reading only)',
  },
  StartServiceW: {
    prototype: 'int __stdcall StartServiceW(void *service, uint32_t count, void *texts)',
    why: 'Starts a service and its dependencies',
  },
  ControlService: {
    prototype: 'int __stdcall ControlService(void *service, uint32_t control, void *status)',
    why: 'Asks a service to stop',
  },
  DeleteService: {
    prototype: 'int __stdcall DeleteService(void *service)',
    why: 'Removes services of the agent in cleanup',
  },
  RegGetValueW: {
    prototype:
      'int32_t __stdcall RegGetValueW(intptr_t key, str16 subKey, str16 value, uint32_t types, void *type, void *buffer, _Inout_ uint32_t *bytes)',
    why: 'Reads the dependencies of a service where the service manager does not report them, as on Wine',
  },
});

/** Running as a Windows service. */
export const serviceHostCalls = {
  ...inLibrary('advapi32.dll', {
    StartServiceCtrlDispatcherW: {
      prototype: 'int __stdcall StartServiceCtrlDispatcherW(void *table)',
      why: 'Connects the process to the service manager; it returns when the service has stopped, so it runs on a thread of its own',
    },
    RegisterServiceCtrlHandlerExW: {
      prototype: 'void * __stdcall RegisterServiceCtrlHandlerExW(str16 name, void *handler, void *context)',
      why: 'Registers the function that Windows calls to stop the service',
    },
    SetServiceStatus: {
      prototype: 'int __stdcall SetServiceStatus(void *status, void *report)',
      why: 'Reports to Windows that the service starts, runs, stops or has stopped, with checkpoints',
    },
  }),
  ...inLibrary('kernel32.dll', {
    CreateThread: {
      prototype:
        'void * __stdcall CreateThread(void *security, size_t stackBytes, void *start, void *parameter, uint32_t flags, void *id)',
      why: 'Runs the dispatcher: on a thread of the Node pool it would keep the process from exiting',
    },
  }),
  WaitForSingleObject: processCalls.WaitForSingleObject,
  GetCurrentProcess: processCalls.GetCurrentProcess,
  TerminateProcess: processCalls.TerminateProcess,
};

/** Functions of the agent that Windows calls. */
export const serviceCallbacks = {
  ServiceMain: 'void __stdcall ServiceMain(uint32_t count, void *texts)',
  HandlerEx: 'uint32_t __stdcall HandlerEx(uint32_t control, uint32_t eventType, void *eventData, void *context)',
} as const;
