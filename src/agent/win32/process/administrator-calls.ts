import type { CallTable } from '../native.ts';

/** Whether whoever runs the agent may do what it has to do. */
export const administratorCalls = {
  CreateWellKnownSid: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall CreateWellKnownSid(int kind, void *domain, void *sid, _Inout_ uint32_t *bytes)',
    why: 'Names the group of administrators, which is called otherwise in every language',
    proof: 'wine',
  },
  CheckTokenMembership: {
    dll: 'advapi32.dll',
    prototype: 'int __stdcall CheckTokenMembership(void *token, void *sid, _Out_ int *isMember)',
    why: 'Tells whether the user of the operator is an administrator, before anything is changed',
    proof: 'wine',
  },
} as const satisfies CallTable;
