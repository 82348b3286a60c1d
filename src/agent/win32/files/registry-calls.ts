import type { CallTable } from '../native.ts';

/** The registry of the machine. */
export const registryCalls = {
  RegOpenKeyExW: {
    dll: 'advapi32.dll',
    prototype:
      'uint32_t __stdcall RegOpenKeyExW(void *parent, str16 path, uint32_t options, uint32_t access, _Out_ void **key)',
    why: 'Opens a key to read or change its values, and tells whether it exists',
    proof: 'wine',
  },
  RegCreateKeyExW: {
    dll: 'advapi32.dll',
    prototype:
      'uint32_t __stdcall RegCreateKeyExW(void *parent, str16 path, uint32_t reserved, void *kind, uint32_t options, uint32_t access, void *security, _Out_ void **key, _Out_ uint32_t *disposition)',
    why: 'Makes the key that marks this boot: it lives in memory only',
    proof: 'wine',
  },
  RegQueryInfoKeyW: {
    dll: 'advapi32.dll',
    prototype:
      'uint32_t __stdcall RegQueryInfoKeyW(void *key, void *kind, void *kindLength, void *reserved, void *keys, void *longestKey, void *longestKind, void *values, void *longestName, void *longestValue, void *security, void *lastWrite)',
    why: 'Tells when the key that marks this boot was made',
    proof: 'wine',
  },
  RegQueryValueExW: {
    dll: 'advapi32.dll',
    prototype:
      'uint32_t __stdcall RegQueryValueExW(void *key, str16 name, void *reserved, _Out_ uint32_t *type, void *data, _Inout_ uint32_t *bytes)',
    why: 'Reads the version of Windows, the names of the host and what asks for a reboot',
    proof: 'wine',
  },
  RegEnumValueW: {
    dll: 'advapi32.dll',
    prototype:
      'uint32_t __stdcall RegEnumValueW(void *key, uint32_t index, void *name, _Inout_ uint32_t *nameLength, void *reserved, _Out_ uint32_t *type, void *data, _Inout_ uint32_t *bytes)',
    why: 'Lists the machine variables',
    proof: 'wine',
  },
  RegSetValueExW: {
    dll: 'advapi32.dll',
    prototype:
      'uint32_t __stdcall RegSetValueExW(void *key, str16 name, uint32_t reserved, uint32_t type, void *data, uint32_t bytes)',
    why: 'Sets a machine variable',
    proof: 'wine',
  },
  RegDeleteValueW: {
    dll: 'advapi32.dll',
    prototype: 'uint32_t __stdcall RegDeleteValueW(void *key, str16 name)',
    why: 'Removes a machine variable',
    proof: 'wine',
  },
  RegCloseKey: {
    dll: 'advapi32.dll',
    prototype: 'uint32_t __stdcall RegCloseKey(void *key)',
    why: 'Closes a key of the registry',
    proof: 'wine',
  },
} as const satisfies CallTable;
