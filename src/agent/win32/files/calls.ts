import { inLibrary } from '../native.ts';
import { processCalls } from '../process/calls.ts';

/** Access rights of files. All calls work on an open handle, so that the entry that was checked is the one that is changed. */
export const aclCalls = {
  ...inLibrary('kernel32.dll', {
    CreateFileW: {
      prototype:
        'void *__stdcall CreateFileW(str16 path, uint32_t access, uint32_t share, void *security, uint32_t disposition, uint32_t flags, void *template)',
      why: 'Opens a file, a directory or the link itself (FILE_FLAG_OPEN_REPARSE_POINT), never its target; alone, as a lock',
    },
    GetFileInformationByHandle: {
      prototype: 'int __stdcall GetFileInformationByHandle(void *file, void *information)',
      why: 'Reads whether it is a directory or a link, and its number of hard links (Wine has no links)',
    },
    LocalFree: {
      prototype: 'void *__stdcall LocalFree(void *memory)',
      why: 'Frees the security descriptor built from SDDL',
    },
  }),
  ...inLibrary('advapi32.dll', {
    GetKernelObjectSecurity: {
      prototype:
        'int __stdcall GetKernelObjectSecurity(void *file, uint32_t parts, void *descriptor, uint32_t length, _Out_ uint32_t *needed)',
      why: 'Reads owner and access list (Wine derives them from the file mode)',
    },
    ConvertStringSecurityDescriptorToSecurityDescriptorW: {
      prototype:
        'int __stdcall ConvertStringSecurityDescriptorToSecurityDescriptorW(str16 text, uint32_t revision, _Out_ void **descriptor, void *bytes)',
      why: 'Builds owner and access list from SDDL',
    },
    SetKernelObjectSecurity: {
      prototype: 'int __stdcall SetKernelObjectSecurity(void *file, uint32_t parts, void *descriptor)',
      why: 'Sets owner and access list of one entry, not of what is below it (Wine accepts it without effect)',
    },
  }),
  CloseHandle: processCalls.CloseHandle,
};

/** Certificates that the machine trusts. */
export const certStoreCalls = inLibrary('crypt32.dll', {
  CertOpenStore: {
    prototype:
      'void *__stdcall CertOpenStore(uintptr_t provider, uint32_t encoding, uintptr_t cryptProvider, uint32_t flags, str16 name)',
    why: 'Opens LocalMachine\\ROOT',
  },
  CertEnumCertificatesInStore: {
    prototype: 'void *__stdcall CertEnumCertificatesInStore(void *store, void *previous)',
    why: 'Lists the certificates; frees the previous context',
  },
  CertAddEncodedCertificateToStore: {
    prototype:
      'int __stdcall CertAddEncodedCertificateToStore(void *store, uint32_t encoding, void *der, uint32_t bytes, uint32_t disposition, void *context)',
    why: 'Adds a certificate',
  },
  CertDeleteCertificateFromStore: {
    prototype: 'int __stdcall CertDeleteCertificateFromStore(void *context)',
    why: 'Removes a certificate that the agent has added; frees its context',
  },
  CertCloseStore: {
    prototype: 'int __stdcall CertCloseStore(void *store, uint32_t flags)',
    why: 'Closes the store, which completes the changes, and reports contexts that were left open',
  },
});

/** Machine variables themselves are in the registry. */
export const environmentCalls = inLibrary('user32.dll', {
  SendMessageTimeoutW: {
    prototype:
      'intptr_t __stdcall SendMessageTimeoutW(intptr_t window, uint32_t message, uintptr_t first, str16 second, uint32_t flags, uint32_t limitMs, _Out_ uintptr_t *result)',
    why: 'Notifies open programs, such as a shell, that machine variables have changed',
  },
});

/** The registry of the machine. */
export const registryCalls = inLibrary('advapi32.dll', {
  RegOpenKeyExW: {
    prototype:
      'uint32_t __stdcall RegOpenKeyExW(void *parent, str16 path, uint32_t options, uint32_t access, _Out_ void **key)',
    why: 'Opens a key to read or change its values, and to check whether it exists',
  },
  RegCreateKeyExW: {
    prototype:
      'uint32_t __stdcall RegCreateKeyExW(void *parent, str16 path, uint32_t reserved, void *kind, uint32_t options, uint32_t access, void *security, _Out_ void **key, _Out_ uint32_t *disposition)',
    why: 'Creates the volatile key that identifies this boot',
  },
  RegQueryInfoKeyW: {
    prototype:
      'uint32_t __stdcall RegQueryInfoKeyW(void *key, void *kind, void *kindLength, void *reserved, void *keys, void *longestKey, void *longestKind, void *values, void *longestName, void *longestValue, void *security, void *lastWrite)',
    why: 'Reads when the key that identifies this boot was created',
  },
  RegQueryValueExW: {
    prototype:
      'uint32_t __stdcall RegQueryValueExW(void *key, str16 name, void *reserved, _Out_ uint32_t *type, void *data, _Inout_ uint32_t *bytes)',
    why: 'Reads the Windows version, the host names, pending reboots and variables of services',
  },
  RegEnumValueW: {
    prototype:
      'uint32_t __stdcall RegEnumValueW(void *key, uint32_t index, void *name, _Inout_ uint32_t *nameLength, void *reserved, _Out_ uint32_t *type, void *data, _Inout_ uint32_t *bytes)',
    why: 'Lists the machine variables',
  },
  RegSetValueExW: {
    prototype:
      'uint32_t __stdcall RegSetValueExW(void *key, str16 name, uint32_t reserved, uint32_t type, void *data, uint32_t bytes)',
    why: 'Sets a machine variable, and the variables of a service (Wine stores those, but ignores them)',
  },
  RegDeleteValueW: {
    prototype: 'uint32_t __stdcall RegDeleteValueW(void *key, str16 name)',
    why: 'Removes a machine variable, and the variables of a service',
  },
  RegFlushKey: {
    prototype: 'uint32_t __stdcall RegFlushKey(void *key)',
    why: 'Writes the services of a swap of files to disk, so that a power cut does not lose them',
  },
  RegCloseKey: {
    prototype: 'uint32_t __stdcall RegCloseKey(void *key)',
    why: 'Closes a registry key',
  },
});
