import { inLibrary } from '../native.ts';

/** Network adapters and routes. */
export const adapterCalls = inLibrary('iphlpapi.dll', {
  GetAdaptersAddresses: {
    prototype:
      'uint32_t __stdcall GetAdaptersAddresses(uint32_t family, uint32_t flags, void *reserved, void *adapters, _Inout_ uint32_t *bytes)',
    why: 'Lists the network adapters and their addresses, for the node IP',
  },
  GetIpForwardTable2: {
    prototype: 'uint32_t __stdcall GetIpForwardTable2(uint16_t family, _Out_ void **table)',
    why: 'Finds the default route: the address of its adapter is the node IP',
  },
  FreeMibTable: {
    prototype: 'void __stdcall FreeMibTable(void *table)',
    why: 'Frees the table of routes',
  },
});

/** Changes of routes. */
export const routeCalls = inLibrary('iphlpapi.dll', {
  CreateIpForwardEntry2: {
    prototype: 'uint32_t __stdcall CreateIpForwardEntry2(void *row)',
    why: 'Restores the route to the metadata service of AWS, which a reboot and the overlay network remove',
    proof: 'reading',
  },
  DeleteIpForwardEntry2: {
    prototype: 'uint32_t __stdcall DeleteIpForwardEntry2(void *row)',
    why: 'Removes that route over a gateway or adapter that is not used any more',
    proof: 'reading',
  },
});

/** The name of the host. */
export const computerNameCalls = {
  ...inLibrary('kernel32.dll', {
    GetComputerNameExW: {
      prototype: 'int __stdcall GetComputerNameExW(int format, void *text, _Inout_ uint32_t *length)',
      why: 'Reads host name and FQDN in the same way as the kubelet',
    },
    SetComputerNameExW: {
      prototype: 'int __stdcall SetComputerNameExW(int format, str16 name)',
      why: 'Renames the host from the next boot on',
    },
  }),
  ...inLibrary('netapi32.dll', {
    NetGetJoinInformation: {
      prototype: 'uint32_t __stdcall NetGetJoinInformation(str16 server, _Out_ void **name, _Out_ int *status)',
      why: 'Checks before a rename whether the host is a member of a domain',
    },
    NetApiBufferFree: {
      prototype: 'uint32_t __stdcall NetApiBufferFree(void *buffer)',
      why: 'Frees the name of the domain',
    },
  }),
};

/** The Host Networking Service; its library exists only once the Containers feature is enabled. */
export const hnsCalls = {
  ...inLibrary('vmcompute.dll', {
    HNSCall: {
      prototype: 'int32_t __stdcall HNSCall(str16 method, str16 path, str16 request, _Out_ void **response)',
      why: 'Reads and removes container networks, and creates the source VIP endpoint of kube-proxy',
      proof: 'double',
    },
  }),
  ...inLibrary('ole32.dll', {
    CoTaskMemFree: {
      prototype: 'void __stdcall CoTaskMemFree(void *memory)',
      why: 'Frees the responses of the Host Networking Service',
    },
  }),
};

/** TCP ports in use. */
export const listenerCalls = inLibrary('iphlpapi.dll', {
  GetExtendedTcpTable: {
    prototype:
      'uint32_t __stdcall GetExtendedTcpTable(void *table, _Inout_ uint32_t *bytes, int sorted, uint32_t family, int kind, uint32_t reserved)',
    why: 'Finds ports of kubelet and exporter that another program uses',
  },
});
