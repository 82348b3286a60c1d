import type { CallTable } from '../native.ts';

/** The service control manager. */
export const serviceCalls = {
  OpenSCManagerW: {
    dll: 'advapi32.dll',
    prototype: 'void * __stdcall OpenSCManagerW(str16 machine, str16 database, uint32_t access)',
    why: 'Every look at services and every change of them begins with it',
    proof: 'wine',
  },
  OpenServiceW: {
    dll: 'advapi32.dll',
    prototype: 'void * __stdcall OpenServiceW(void *manager, str16 name, uint32_t access)',
    why: 'Opens one service with just the rights the next call needs; error 1060 tells that it does not exist',
    proof: 'wine',
  },
  CloseServiceHandle: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall CloseServiceHandle(void *handle)',
    why: 'A deleted service vanishes only when its last handle is closed',
    proof: 'wine',
  },
  EnumServicesStatusExW: {
    dll: 'advapi32.dll',
    prototype:
      'int __stdcall EnumServicesStatusExW(void *manager, int level, uint32_t type, uint32_t state, void *buffer, uint32_t bytes, _Out_ uint32_t *needed, _Out_ uint32_t *returned, _Inout_ uint32_t *resume, str16 group)',
    why: 'Lists all services with state and process, to find those of ours and those that depend on them',
    proof: 'wine',
  },
  QueryServiceConfigW: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall QueryServiceConfigW(void *service, void *buffer, uint32_t bytes, _Out_ uint32_t *needed)',
    why: 'Command, start type and dependencies, to be compared with what they should be',
    proof: 'wine',
  },
  QueryServiceConfig2W: {
    dll: 'advapi32.dll',
    prototype:
      'int __stdcall QueryServiceConfig2W(void *service, uint32_t level, void *buffer, uint32_t bytes, _Out_ uint32_t *needed)',
    why: 'Description, which marks a service as ours (Wine), and recovery, which Wine does not tell (reading only)',
    proof: 'wine',
  },
  QueryServiceStatusEx: {
    dll: 'advapi32.dll',
    prototype:
      'int __stdcall QueryServiceStatusEx(void *service, int level, void *buffer, uint32_t bytes, _Out_ uint32_t *needed)',
    why: 'State and process of one service, while it starts or stops',
    proof: 'wine',
  },
  CreateServiceW: {
    dll: 'advapi32.dll',
    prototype:
      'void * __stdcall CreateServiceW(void *manager, str16 name, str16 displayName, uint32_t access, uint32_t type, uint32_t start, uint32_t errorControl, str16 command, str16 group, void *tag, void *dependencies, str16 account, str16 password)',
    why: 'Creates a service with its final command, start type and dependencies',
    proof: 'wine',
  },
  ChangeServiceConfigW: {
    dll: 'advapi32.dll',
    prototype:
      'int __stdcall ChangeServiceConfigW(void *service, uint32_t type, uint32_t start, uint32_t errorControl, str16 command, str16 group, void *tag, void *dependencies, str16 account, str16 password, str16 displayName)',
    why: 'Corrects command, start type and dependencies; an empty list clears the dependencies',
    proof: 'wine',
  },
  ChangeServiceConfig2W: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall ChangeServiceConfig2W(void *service, uint32_t level, void *info)',
    why: 'Sets description (Wine) and recovery actions, which Wine takes without effect (reading only)',
    proof: 'wine',
  },
  StartServiceW: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall StartServiceW(void *service, uint32_t count, void *texts)',
    why: 'Starts a service, and with it those it depends on',
    proof: 'wine',
  },
  ControlService: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall ControlService(void *service, uint32_t control, void *status)',
    why: 'Asks a service to stop',
    proof: 'wine',
  },
  DeleteService: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall DeleteService(void *service)',
    why: 'Removes services of ours in cleanup',
    proof: 'wine',
  },
  RegGetValueW: {
    dll: 'advapi32.dll',
    prototype:
      'int32_t __stdcall RegGetValueW(intptr_t key, str16 subKey, str16 value, uint32_t types, void *type, void *buffer, _Inout_ uint32_t *bytes)',
    why: 'Dependencies of a service where the service manager does not tell them, as on Wine',
    proof: 'wine',
  },
} as const satisfies CallTable;
