import type { CallTable } from '../native.ts';

/** Network adapters and the way out of the host. */
export const adapterCalls = {
  GetAdaptersAddresses: {
    dll: 'iphlpapi.dll',
    prototype:
      'uint32_t __stdcall GetAdaptersAddresses(uint32_t family, uint32_t flags, void *reserved, void *adapters, _Inout_ uint32_t *bytes)',
    why: 'Lists the network adapters with their addresses, which tell the Node of this host and its IP',
    proof: 'wine',
  },
  GetIpForwardTable2: {
    dll: 'iphlpapi.dll',
    prototype: 'uint32_t __stdcall GetIpForwardTable2(uint16_t family, _Out_ void **table)',
    why: 'Finds the default route: the address of its adapter is the one of the Node',
    proof: 'wine',
  },
  FreeMibTable: {
    dll: 'iphlpapi.dll',
    prototype: 'void __stdcall FreeMibTable(void *table)',
    why: 'Frees the table of routes',
    proof: 'wine',
  },
} as const satisfies CallTable;
