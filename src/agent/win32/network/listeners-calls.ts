import type { CallTable } from '../native.ts';

/** Who listens on which port. */
export const listenerCalls = {
  GetExtendedTcpTable: {
    dll: 'iphlpapi.dll',
    prototype:
      'uint32_t __stdcall GetExtendedTcpTable(void *table, _Inout_ uint32_t *bytes, int sorted, uint32_t family, int kind, uint32_t reserved)',
    why: 'Finds out whether somebody else has a port that our services need',
    proof: 'wine',
  },
} as const satisfies CallTable;
